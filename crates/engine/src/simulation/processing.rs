//! Packets that a node has got and not yet looked at: the processing delays of hosts, routers and the controller.

use super::Simulation;
use crate::error::{EngineError, SetupError};
use crate::packet::{Packet, PacketId, Steering};
use crate::random::{Stream, Streams};
use crate::setup::Setup;
use crate::variate::{Sampler, Variate};
use anabranch_units::{Instant, LinkId, NodeId, Span, rarely};
use std::collections::VecDeque;

/// The nodes that take their time.
pub(super) struct Processing {
    processors: Vec<Processor>,
    /// By node, places in `processors`: for packets that are for the node, and for those that it passes on.
    hosts: Vec<Option<u32>>,
    routers: Vec<Option<u32>>,
    /// The controller, and its place.
    controller: Option<(NodeId, u32)>,
}

/// What takes its time for a packet, and what it has got meanwhile, in order.
struct Processor {
    delay: Sampler,
    draws: Stream,
    /// It begins with a packet when it is done with the one before. Otherwise each has its delay from its arrival on.
    one_by_one: bool,
    /// When it is done with a packet, and the link that this came over.
    waiting: VecDeque<(Instant, PacketId, LinkId)>,
    /// When it is done with the last one.
    done: Instant,
}

impl Processing {
    /// Of a checked setup; `None` if nothing takes any time.
    pub(super) fn new(setup: &Setup, streams: Streams) -> Result<Option<Box<Self>>, EngineError> {
        let nowhere = vec![None; setup.nodes.len()];
        let mut all =
            Self { processors: Vec::new(), hosts: nowhere.clone(), routers: nowhere, controller: None };
        let stream = |node: NodeId, purpose| streams.stream(&setup.nodes[node.index()].name, purpose);
        for (index, host) in setup.hosts.iter().enumerate() {
            let Some(delay) = &host.processing_delay else { continue };
            let place = format!("hosts[{index}].processing_delay");
            all.hosts[host.node.index()] =
                Some(all.add(delay, place, stream(host.node, "processing"), false)?);
        }
        for (index, router) in setup.routers.iter().enumerate() {
            let place = format!("routers[{index}].processing_delay");
            let Some(delay) = &router.processing_delay else { continue };
            let draws = stream(router.node, "passing on");
            all.routers[router.node.index()] = Some(all.add(delay, place, draws, false)?);
        }
        if let Some(controller) = &setup.controller
            && let Some(delay) = &controller.processing_delay
        {
            let draws = stream(controller.node, "controlling");
            let place = all.add(delay, "controller.processing_delay".into(), draws, true)?;
            all.controller = Some((controller.node, place));
        }
        Ok((!all.processors.is_empty()).then(|| Box::new(all)))
    }

    fn add(
        &mut self,
        delay: &Variate,
        place: String,
        draws: Stream,
        one_by_one: bool,
    ) -> Result<u32, EngineError> {
        let delay = Sampler::new(delay).map_err(|error| SetupError::new(place, error.to_string()))?;
        let (waiting, done) = (VecDeque::new(), Instant::ZERO);
        self.processors.push(Processor { delay, draws, one_by_one, waiting, done });
        Ok(self.processors.len() as u32 - 1)
    }

    /// How many there are of a setup.
    pub(super) fn count(setup: &Setup) -> usize {
        let hosts = setup.hosts.iter().filter(|host| host.processing_delay.is_some()).count();
        let controllers = setup.controller.iter().filter(|it| it.processing_delay.is_some()).count();
        let routers = setup.routers.iter().filter(|router| router.processing_delay.is_some()).count();
        hosts + routers + controllers
    }

    /// Who takes time for a packet at a node, if anybody does.
    fn place(&self, node: NodeId, packet: &Packet) -> Option<u32> {
        if packet.destination != node {
            return self.routers[node.index()];
        }
        if packet.steering == Steering::Channel {
            return self.controller.filter(|&(controller, _)| controller == node).map(|(_, place)| place);
        }
        self.hosts[node.index()]
    }

    /// Packets that wait, for the books.
    pub(super) fn packets(&self) -> impl Iterator<Item = PacketId> {
        self.processors.iter().flat_map(|one| one.waiting.iter().map(|&(_, packet, _)| packet))
    }
}

impl Processor {
    /// Takes a packet in. It is looked at behind all that came before.
    fn take(&mut self, now: Instant, packet: PacketId, over: LinkId) {
        let delay = Span::from_ps(self.delay.sample(&mut self.draws) as u64);
        let due = if self.one_by_one {
            now.max(self.done).saturating_add(delay)
        } else {
            now.saturating_add(delay).max(self.done)
        };
        self.done = due;
        self.waiting.push_back((due, packet, over));
    }

    fn next_event(&self) -> Option<Instant> {
        self.waiting.front().map(|&(due, _, _)| due)
    }
}

impl Simulation {
    /// A packet is at the other end of a link, where it is looked at now or later.
    #[inline]
    pub(super) fn arrive(&mut self, node: NodeId, packet: PacketId, over: LinkId) {
        if rarely(self.processing.is_some()) {
            self.arrive_late(node, packet, over);
        } else {
            self.look_at(node, packet, over);
        }
    }

    #[inline(never)]
    fn arrive_late(&mut self, node: NodeId, packet: PacketId, over: LinkId) {
        let place = self.processing.as_ref().and_then(|all| all.place(node, self.data.pool.get(packet)));
        let (Some(all), Some(place)) = (&mut self.processing, place) else {
            return self.look_at(node, packet, over);
        };
        let processor = &mut all.processors[place as usize];
        processor.take(self.data.now, packet, over);
        self.data.schedule.put(self.data.numbering.processor(place), processor.next_event());
    }

    /// A node looks at the packet that has waited longest.
    #[inline(never)]
    pub(super) fn on_processor(&mut self, place: u32) {
        let Some(all) = &mut self.processing else { return };
        let processor = &mut all.processors[place as usize];
        let first = processor.waiting.pop_front();
        self.data.schedule.put(self.data.numbering.processor(place), processor.next_event());
        if let Some((_, packet, over)) = first {
            self.look_at(self.data.links[over.index()].to(), packet, over);
        }
    }
}
