//! Times and rates along a flow's paths, as the equations need them.

use super::super::router::KnownFlow;
use crate::control::channel::{links_delay, transmission};
use crate::control::{MESSAGE_BYTES, View};
use anabranch_units::{LinkId, Rate, Span};

/// A flow's paths as the equations see them. Bytes are those of whole packets.
#[derive(Clone, Copy)]
pub struct Timing<'t> {
    view: &'t View<'t>,
    flow: &'t KnownFlow,
    data: u32,
}

impl<'t> Timing<'t> {
    /// The timing of a flow whose data packets have `data` bytes.
    pub fn new(view: &'t View<'t>, flow: &'t KnownFlow, data: u32) -> Self {
        Self { view, flow, data }
    }

    /// `rtt(there, back)`: both ways without any queue, every link counted.
    pub fn rtt(&self, there: u32, back: u32) -> Span {
        let forward = links_delay(self.view.network, &self.flow.forward, there);
        forward.saturating_add(links_delay(self.view.network, &self.flow.backward, back))
    }

    /// `rtt` of a data segment and its ACK.
    pub fn data_rtt(&self) -> Span {
        self.rtt(self.data, MESSAGE_BYTES)
    }

    /// `btlBw`: the least capacity on the way there.
    pub fn bottleneck(&self) -> Rate {
        least_capacity(self.view, &self.flow.forward)
    }

    /// Time between segments at the rate of the bottleneck (equation 4.13).
    pub fn spacing(&self) -> Span {
        self.flow
            .forward
            .iter()
            .map(|&l| transmission(self.view.network, l, self.data))
            .max()
            .unwrap_or_default()
    }

    /// `AL`: delay of a packet of `bytes` on the sender's access link; none where the sender is at the switch
    /// itself.
    pub fn access(&self, bytes: u32) -> Span {
        self.access_link().map_or(Span::ZERO, |link| links_delay(self.view.network, &[link], bytes))
    }

    /// Delay of a message from the access switch to the sender behind an ACK that came just before it (the
    /// bound of equation 4.6).
    pub fn behind_an_ack(&self) -> Span {
        let Some(&link) = self.flow.backward.last().filter(|_| self.access_link().is_some()) else {
            return Span::ZERO;
        };
        let transmission = transmission(self.view.network, link, MESSAGE_BYTES);
        links_delay(self.view.network, &[link], MESSAGE_BYTES).saturating_add(transmission)
    }

    /// Time that an ACK takes up the link to the sender: how much too early a cycle may start (equation 4.7).
    pub fn error(&self) -> Span {
        let last = self.flow.backward.last();
        last.map_or(Span::ZERO, |&link| transmission(self.view.network, link, MESSAGE_BYTES))
    }

    /// `maxQDelay` (equation 4.3): a data segment ahead of the SYN and an ACK ahead of the SYN-ACK, each on the
    /// slowest link that flows share.
    pub fn most_queueing(&self) -> Span {
        let slowest = |links: &[LinkId], bytes: u32| {
            let shared: Vec<LinkId> = links.iter().copied().filter(|&link| self.is_shared(link)).collect();
            // Where every link belongs to one host, the host's own are what there is.
            let links = if shared.is_empty() { links } else { &shared };
            links.iter().map(|&link| transmission(self.view.network, link, bytes)).max().unwrap_or_default()
        };
        slowest(&self.flow.forward, self.data).saturating_add(slowest(&self.flow.backward, MESSAGE_BYTES))
    }

    fn access_link(&self) -> Option<LinkId> {
        self.flow.forward.first().copied().filter(|&l| !self.view.is_switch(self.view.network.link(l).from))
    }

    /// Whether a link leads from switch to switch.
    fn is_shared(&self, link: LinkId) -> bool {
        let link = self.view.network.link(link);
        self.view.is_switch(link.from) && self.view.is_switch(link.to)
    }
}

fn least_capacity(view: &View<'_>, links: &[LinkId]) -> Rate {
    links.iter().map(|&link| view.network.link(link).capacity).min().unwrap_or(Rate::ZERO)
}
