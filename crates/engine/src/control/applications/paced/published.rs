//! The schedule as published (Gholizadeh 2019, sections 4.2 and 4.3.1).
//!
//! It rests on the thesis's assumptions: one link out of each access switch that flows share, one access
//! switch for all senders of a bottleneck, and less than `sInterval x capacity / segment` flows. Beyond them
//! it still runs, and queues grow, which [`Breach`] tells; the stretched schedule is for that.

use super::super::router::{KnownFlow, Router};
use super::PacedParameters;
use super::timing::Timing;
use crate::control::{Breach, MESSAGE_BYTES, Order, View};
use anabranch_transport::CycleParameters;
use anabranch_units::{FlowId, LinkId, NodeId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A product of rounded times that is this close below a whole number of segments is that number.
const ROUNDING: f64 = 1e-9;

/// Senders by access switch.
#[derive(Debug)]
pub struct Published {
    factors: PacedParameters,
    data: u32,
    epoch: u32,
    /// Open flows of each access switch, in the order of their arrival.
    senders: BTreeMap<NodeId, Vec<FlowId>>,
    /// The first link that flows of two access switches have shared.
    shared: Option<Breach>,
    /// The first access switch with too many flows.
    crowded: Option<Breach>,
}

/// Why new parameters are due.
#[derive(Clone, Copy)]
enum Cause {
    Syn(FlowId),
    Fin,
}

impl Published {
    pub fn new(factors: PacedParameters, data: u32) -> Self {
        Self { factors, data, epoch: 0, senders: BTreeMap::new(), shared: None, crowded: None }
    }

    /// A flow has opened: CTRLs to every sender of its access switch.
    pub fn on_open(&mut self, view: &View<'_>, router: &Router, flow: FlowId, out: &mut Vec<Order>) {
        let Some(access) = router.flow(flow).map(|flow_state| flow_state.access) else { return };
        self.senders.entry(access).or_default().push(flow);
        self.tell(view, router, access, Cause::Syn(flow), out);
    }

    /// A SYN has come again, because its CTRL is lost or late: the switch's senders are told anew. The thesis
    /// loses nothing.
    pub fn on_repeated_open(&mut self, view: &View<'_>, router: &Router, flow: FlowId, out: &mut Vec<Order>) {
        if let Some(access) = self.access_of(flow) {
            self.tell(view, router, access, Cause::Syn(flow), out);
        }
    }

    /// Assumptions that the run has broken.
    pub fn breaches(&self) -> Vec<Breach> {
        [self.shared, self.crowded].into_iter().flatten().collect()
    }

    /// Looks whether open flows of this access switch share a link with those of another one.
    fn look_at_links(&mut self, view: &View<'_>, router: &Router, access: NodeId) {
        if self.shared.is_some() || self.senders.len() < 2 {
            return;
        }
        let links = |senders: &Vec<FlowId>| -> BTreeSet<LinkId> {
            let flows = senders.iter().filter_map(|&id| router.flow(id));
            flows.flat_map(|flow| flow.forward.iter().copied()).collect()
        };
        let Some(links_of_access) = self.senders.get(&access).map(links) else { return };
        let others = self.senders.iter().filter(|(other, _)| **other != access);
        self.shared = others
            .flat_map(|(&other, senders)| {
                Some((other, *links(senders).intersection(&links_of_access).next()?))
            })
            .next()
            .map(|(other, link)| Breach::SharedLink {
                at: view.now,
                link,
                switches: (access.min(other), access.max(other)),
            });
    }

    fn access_of(&self, flow: FlowId) -> Option<NodeId> {
        self.senders.iter().find(|(_, senders)| senders.contains(&flow)).map(|(&access, _)| access)
    }

    /// A flow has closed: CTRLs to those that remain.
    pub fn on_close(
        &mut self,
        view: &View<'_>,
        router: &Router,
        (flow, _): (FlowId, &KnownFlow),
        out: &mut Vec<Order>,
    ) {
        let Some(access) = self.access_of(flow) else { return };
        self.senders.entry(access).or_default().retain(|&sender| sender != flow);
        self.tell(view, router, access, Cause::Fin, out);
    }

    /// Paths or links have changed: CTRLs to everyone.
    pub fn on_network_change(&mut self, view: &View<'_>, router: &Router, out: &mut Vec<Order>) {
        let switches: Vec<NodeId> = self.senders.keys().copied().collect();
        for access in switches {
            self.tell(view, router, access, Cause::Fin, out);
        }
    }

    fn tell(&mut self, view: &View<'_>, router: &Router, access: NodeId, cause: Cause, out: &mut Vec<Order>) {
        self.look_at_links(view, router, access);
        let ids = self.senders.get(&access).cloned().unwrap_or_default();
        let timing =
            |id: &FlowId| router.flow(*id).map(|flow_state| Timing::new(view, flow_state, self.data));
        let timings: Vec<Timing<'_>> = ids.iter().filter_map(timing).collect();
        let Some(first) = timings.first() else { return };
        self.epoch += 1;
        let n = timings.len() as u64;
        let longest = timings.iter().map(Timing::data_rtt).max().unwrap_or_default();
        let interval = longest.scaled(self.factors.gamma);
        let segments =
            timings.iter().map(|timing| self.segments(timing, interval)).fold(f64::INFINITY, f64::min);
        if self.crowded.is_none() && n as f64 > segments * (1.0 + ROUNDING) {
            self.crowded =
                Some(Breach::TooManyFlows { at: view.now, switch: access, flows: (n, segments as u64) });
        }
        let arrivals = ctrl_delays(view, access, &timings, cause);
        let last = arrivals.iter().copied().max().unwrap_or_default();
        let start = match cause {
            Cause::Syn(id) => {
                let index = ids.iter().position(|&sender| sender == id).unwrap_or_default();
                self.syn_ack_delay(view, access, &timings[index], n)
            }
            Cause::Fin => last,
        };
        for (index, ((timing, id), arrival)) in timings.iter().zip(&ids).zip(arrivals).enumerate() {
            let share = Span::from_ps((u128::from(interval.as_ps()) * index as u128 / u128::from(n)) as u64);
            let parameters = CycleParameters {
                epoch: self.epoch,
                delay_to_next_cycle: start.saturating_add(last.saturating_sub(arrival)),
                // Equation 4.12; a sender that is far away cannot start before the cycle does.
                initial_delay: share
                    .saturating_add(first.access(self.data))
                    .saturating_sub(timing.access(self.data)),
                interval,
                window_segments: self.window(timing, interval, n),
                inter_segment_delay: timing.spacing(),
            };
            out.push(Order::Control { flow: *id, switch: access, parameters });
        }
    }

    /// `sWnd` (equation 4.11).
    fn window(&self, timing: &Timing<'_>, interval: Span, n: u64) -> u32 {
        let segments = self.factors.alpha * self.segments(timing, interval) / n as f64;
        ((segments * (1.0 + ROUNDING)).floor() - 1.0).max(1.0) as u32
    }

    /// Segments that the bottleneck sends in an interval.
    fn segments(&self, timing: &Timing<'_>, interval: Span) -> f64 {
        let bits = timing.bottleneck().as_bps() as f64 * interval.as_ps() as f64 / 1e12;
        bits / (f64::from(self.data) * 8.0)
    }

    /// `CycleStartDelay` on a SYN: `SYNACKDelay` (equations 4.2 to 4.4).
    fn syn_ack_delay(&self, view: &View<'_>, access: NodeId, timing: &Timing<'_>, n: u64) -> Span {
        let message = view.channels.transmission_down(view.network, access, MESSAGE_BYTES);
        let queue = message.saturating_add(message.saturating_mul(n)).saturating_mul(n);
        let control_link =
            view.channels.delay_down(view.network, access, MESSAGE_BYTES).saturating_add(queue);
        let handshake = timing.rtt(MESSAGE_BYTES, MESSAGE_BYTES).saturating_add(timing.most_queueing());
        handshake
            .saturating_add(control_link)
            .scaled(self.factors.beta)
            .saturating_sub(timing.access(MESSAGE_BYTES))
    }
}

/// `CTRLDelay` of each sender, in order (equations 4.6, 4.8 and 4.9).
fn ctrl_delays(view: &View<'_>, access: NodeId, timings: &[Timing<'_>], cause: Cause) -> Vec<Span> {
    let message = view.channels.transmission_down(view.network, access, MESSAGE_BYTES);
    let base = view.channels.delay_down(view.network, access, MESSAGE_BYTES);
    let set_up = match cause {
        Cause::Syn(_) => message,
        Cause::Fin => Span::ZERO,
    };
    let delay = |(before, timing): (usize, &Timing<'_>)| {
        let queue = set_up.saturating_add(message.saturating_mul(before as u64));
        base.saturating_add(queue).saturating_add(timing.behind_an_ack())
    };
    timings.iter().enumerate().map(delay).collect()
}
