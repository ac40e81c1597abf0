//! The network interface of a host with flows of `spray`: it turns to them one after another, a packet each, when its line
//! is free. Entropy value, order and time of sending are those of this moment, so that no packet waits in its own host,
//! and no round-trip time has that in it.

use super::{MAX_HOPS, Simulation};
use crate::forwarding::PathStart;
use crate::packet::{Direction, Packet, Steering};
use crate::setup::Setup;
use anabranch_network::Network;
use anabranch_transport::spray::{HEADERS, PathFacts, SpraySenderStats};
use anabranch_transport::{Segment, TransportConfig};
use anabranch_units::{Bytes, FlowId, Instant, LinkId, NodeId, Rate, Span};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The trains of a flow whose packets leave by turns ([`Flow::offload`](super::flow::Flow)): it has none.
pub(super) const BY_TURNS: usize = 0;

/// A host with such flows.
struct Nic {
    /// Its links, a plane each.
    lines: Vec<LinkId>,
    /// Flows that would send, in turn.
    ring: VecDeque<FlowId>,
    /// Flows of the host.
    flows: Vec<FlowId>,
    /// When the packet before has left by all lines together; with one line the link says it.
    free_at: Instant,
}

/// All of them; none where no flow is of `spray`.
#[derive(Default)]
pub(super) struct Nics {
    nics: Vec<Nic>,
    /// By flow: the number of its host.
    of_flow: Vec<Option<u32>>,
    /// By flow: whether it is in the ring.
    waits: Vec<bool>,
    /// By flow: whether its sender has heard of the last byte.
    done: Vec<bool>,
}

fn is_spray(setup: &Setup, transport: usize) -> bool {
    matches!(setup.transports[transport].config, TransportConfig::Spray(_))
}

/// The hosts that send by `spray`.
fn hosts(setup: &Setup) -> BTreeSet<NodeId> {
    setup.flows.iter().filter(|flow| is_spray(setup, flow.transport)).map(|flow| flow.from).collect()
}

impl Nics {
    /// How many there are of a setup.
    pub(super) fn count(setup: &Setup) -> usize {
        hosts(setup).len()
    }

    pub(super) fn new(setup: &Setup, network: &Network) -> Self {
        let hosts = hosts(setup);
        if hosts.is_empty() {
            return Self::default();
        }
        let places: BTreeMap<NodeId, u32> = hosts.iter().copied().zip(0..).collect();
        let of_flow: Vec<Option<u32>> = setup
            .flows
            .iter()
            .map(|flow| is_spray(setup, flow.transport).then(|| places[&flow.from]))
            .collect();
        let mut nics: Vec<Nic> = hosts
            .iter()
            .map(|&host| Nic {
                lines: network.links_out(host).to_vec(),
                ring: VecDeque::new(),
                flows: Vec::new(),
                free_at: Instant::ZERO,
            })
            .collect();
        for (index, nic) in of_flow.iter().enumerate() {
            if let Some(nic) = nic {
                nics[*nic as usize].flows.push(FlowId::from_index(index));
            }
        }
        let none = vec![false; of_flow.len()];
        Self { nics, waits: none.clone(), done: none, of_flow }
    }
}

/// What a sender may know of the way between two nodes along the given links.
pub(super) fn path_facts(
    network: &Network,
    (from, to): (NodeId, NodeId),
    links: &[LinkId],
    full_packet: u64,
) -> PathFacts {
    let sum = |links: &[LinkId]| together_bps(network, links);
    let lines = network.links_out(from);
    let rate = Rate::from_bps(sum(lines).min(sum(network.links_into(to))).max(1));
    let hop = |&link: &LinkId| {
        let link = network.link(link);
        let bytes = Bytes(full_packet + u64::from(HEADERS));
        link.delay.saturating_mul(2).saturating_add(link.capacity.time_for(bytes))
    };
    let base_rtt = links.iter().map(hop).fold(Span::ZERO, Span::saturating_add);
    PathFacts { rate, base_rtt, planes: lines.len().max(1) as u16 }
}

/// The capacity of links together in bits per second, or the largest that a number can be.
fn together_bps(network: &Network, links: &[LinkId]) -> u64 {
    links.iter().fold(0, |sum, &id| sum.saturating_add(network.link(id).capacity.as_bps()))
}

impl Simulation {
    /// A flow of `spray` may have something to send: it waits for its turn.
    #[inline(never)]
    pub(super) fn ask_nic(&mut self, id: FlowId) {
        let nics = &mut self.nics;
        let (Some(number), false) = (nics.of_flow[id.index()], nics.waits[id.index()]) else { return };
        if !self.flows[id.index()].sender.wants_to_send() {
            return;
        }
        nics.waits[id.index()] = true;
        let nic = &mut nics.nics[number as usize];
        nic.ring.push_back(id);
        if nic.ring.len() == 1 {
            let at = self.line_free_at(number).max(self.data.now);
            self.data.schedule.set(self.data.numbering.nic(number), at);
        }
    }

    /// When the lines of a host have sent what they have.
    fn line_free_at(&self, number: u32) -> Instant {
        let nic = &self.nics.nics[number as usize];
        match nic.lines[..] {
            [line] => self.data.links[line.index()].free_at(),
            _ => nic.free_at,
        }
    }

    /// The line of a host is free: the next of its flows sends a packet.
    #[inline(never)]
    pub(super) fn on_nic(&mut self, number: u32) {
        let (now, source) = (self.data.now, self.data.numbering.nic(number));
        let free_at = self.line_free_at(number);
        if free_at > now {
            // Answers have gone ahead.
            self.data.schedule.set(source, free_at);
            return;
        }
        while let Some(id) = self.nics.nics[number as usize].ring.pop_front() {
            self.nics.waits[id.index()] = false;
            let Some(segment) = self.flows[id.index()].sender.poll_transmit(now) else { continue };
            let bytes = segment.packet_len();
            self.put_in_by_entropy(id, Direction::Forward, &segment);
            let next = self.flows[id.index()].sender.next_timeout();
            self.data.set_timer(self.data.numbering.sender(id), next);
            let wants = self.flows[id.index()].sender.wants_to_send();
            let nic = &mut self.nics.nics[number as usize];
            if wants {
                self.nics.waits[id.index()] = true;
                nic.ring.push_back(id);
            }
            if nic.lines.len() > 1 {
                let rate = together_bps(&self.data.network, &nic.lines);
                nic.free_at = now + Rate::from_bps(rate.max(1)).time_for(Bytes(u64::from(bytes)));
            }
            break;
        }
        if !self.nics.nics[number as usize].ring.is_empty() {
            let at = self.line_free_at(number).max(now);
            self.data.schedule.set(source, at);
        }
    }

    /// An end of a flow of `spray` has taken a packet of this direction, and may have to send.
    #[inline(never)]
    pub(super) fn answer_spray(&mut self, id: FlowId, direction: Direction) {
        match direction {
            Direction::Forward => {
                while let Some(segment) = self.flows.end(id).agent.poll_transmit(self.data.now) {
                    self.put_in_by_entropy(id, Direction::Backward, &segment);
                }
            }
            Direction::Backward => {
                let is_done = |stats: &SpraySenderStats| stats.acknowledged_at.is_some();
                if self.flows[id.index()].sender.spray_stats().is_some_and(is_done)
                    && !std::mem::replace(&mut self.nics.done[id.index()], true)
                {
                    self.count_done(id);
                }
                self.flush_sender(id);
            }
        }
    }

    /// A packet of `spray` enters the network by its entropy value.
    fn put_in_by_entropy(&mut self, id: FlowId, direction: Direction, segment: &Segment) {
        let now = self.data.now;
        let ends = match direction {
            Direction::Forward => {
                let flow = &mut self.flows[id.index()];
                flow.note_sent(now, segment, segment);
                &mut flow.forward
            }
            Direction::Backward => &mut self.flows.end(id).backward,
        };
        ends.injected += 1;
        let lane = ends.lanes.get_mut(0);
        let order = lane.data_packets;
        lane.data_packets += u32::from(segment.payload > 0);
        let entropy = segment.entropy();
        let start = self.data.forwarding.start_by_entropy(now, lane.route.index(), (&lane.key, entropy));
        let (steering, cursor) = start.map_or((Steering::Path, 0), PathStart::steering);
        let packet = Packet {
            bytes: segment.packet_len(),
            flow: id,
            direction,
            subflow: 0,
            destination: ends.to,
            steering: steering.by_entropy(),
            cursor,
            hops_left: MAX_HOPS,
        };
        let node = ends.from;
        let number = self.data.pool.insert(packet, order, segment);
        self.data.pool.set_entropy(number, entropy);
        if start.is_none() {
            return self.data.drop_unreachable(number);
        }
        match self.data.forwarding.first_hop(&packet, node, entropy) {
            Some(line) => self.data.send(line, number),
            None => self.data.forward(&self.flows, node, number),
        }
    }

    /// Tells the senders of hosts with several lines which of these are up.
    pub(super) fn tell_planes(&mut self) {
        for nic in self.nics.nics.iter().filter(|nic| nic.lines.len() > 1) {
            for (plane, line) in (0..).zip(&nic.lines) {
                let is_up = self.data.links[line.index()].is_up();
                for id in &nic.flows {
                    self.flows[id.index()].sender.on_plane(plane, is_up);
                }
            }
        }
    }
}
