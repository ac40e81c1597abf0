//! Packets that a host has got and not yet looked at: its processing delay, on the way in.

use super::Simulation;
use crate::error::{EngineError, SetupError};
use crate::packet::PacketId;
use crate::random::{Stream, Streams};
use crate::setup::Setup;
use crate::variate::Sampler;
use anabranch_units::{Instant, NodeId, Span};
use std::collections::VecDeque;

/// The hosts that take their time.
pub(super) struct Processing {
    hosts: Vec<Processor>,
    /// Place in `hosts`, by node.
    places: Vec<Option<u32>>,
}

/// A host that takes its time, and what it has got meanwhile, in order.
struct Processor {
    delay: Sampler,
    draws: Stream,
    waiting: VecDeque<(Instant, PacketId)>,
}

impl Processing {
    /// Of a checked setup; `None` if no host takes any time.
    pub(super) fn new(setup: &Setup, streams: Streams) -> Result<Option<Box<Self>>, EngineError> {
        let mut all = Self { hosts: Vec::new(), places: vec![None; setup.nodes.len()] };
        for (index, host) in setup.hosts.iter().enumerate() {
            let Some(variate) = &host.processing_delay else { continue };
            let delay = Sampler::new(variate).map_err(|error| {
                SetupError::new(format!("hosts[{index}].processing_delay"), error.to_string())
            })?;
            let draws = streams.stream(&setup.nodes[host.node.index()].name, "processing");
            all.places[host.node.index()] = Some(all.hosts.len() as u32);
            all.hosts.push(Processor { delay, draws, waiting: VecDeque::new() });
        }
        Ok((!all.hosts.is_empty()).then(|| Box::new(all)))
    }

    /// Packets that wait, for the books.
    pub(super) fn packets(&self) -> impl Iterator<Item = PacketId> {
        self.hosts.iter().flat_map(|host| host.waiting.iter().map(|&(_, packet)| packet))
    }
}

impl Processor {
    /// Takes a packet in. It is looked at behind all that came before.
    fn take(&mut self, now: Instant, packet: PacketId) {
        let delay = Span::from_ps(self.delay.sample(&mut self.draws) as u64);
        let due = now.saturating_add(delay);
        let due = self.waiting.back().map_or(due, |&(last, _)| due.max(last));
        self.waiting.push_back((due, packet));
    }

    fn next_event(&self) -> Option<Instant> {
        self.waiting.front().map(|&(due, _)| due)
    }
}

impl Simulation {
    /// A packet has come to the host that it is for, which looks at it now or later.
    #[inline]
    pub(super) fn arrive(&mut self, node: NodeId, packet: PacketId) {
        if self.processing.is_some() {
            self.arrive_late(node, packet);
        } else {
            self.deliver(packet);
        }
    }

    #[inline(never)]
    fn arrive_late(&mut self, node: NodeId, packet: PacketId) {
        let place = self.processing.as_ref().and_then(|all| all.places[node.index()]);
        let (Some(all), Some(place)) = (&mut self.processing, place) else { return self.deliver(packet) };
        let host = &mut all.hosts[place as usize];
        host.take(self.data.now, packet);
        self.data.schedule.put(self.data.numbering.host(place), host.next_event());
    }

    /// A host looks at the packet that has waited longest.
    #[inline(never)]
    pub(super) fn on_host(&mut self, place: u32) {
        let Some(all) = &mut self.processing else { return };
        let host = &mut all.hosts[place as usize];
        let packet = host.waiting.pop_front();
        self.data.schedule.put(self.data.numbering.host(place), host.next_event());
        if let Some((_, packet)) = packet {
            self.deliver(packet);
        }
    }
}
