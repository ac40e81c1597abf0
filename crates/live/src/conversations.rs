//! Which flow of the setup a packet of a host belongs to.
//!
//! Flows of the scenario have addresses and ports that the engine has drawn. Anything else that hosts say to each
//! other, such as programs of the user, takes a carrier: a flow of the setup between the two nodes that is there for
//! this and sends nothing of its own. Each five-tuple takes the next carrier of its pair, so that balancers treat them
//! as different flows, as long as there are carriers.

use crate::packet::FiveTuple;
use anabranch_engine::packet::Direction;
use anabranch_engine::transport::wire::Endpoint;
use anabranch_units::{FlowId, Instant, NodeId};
use std::collections::BTreeMap;

/// Where a packet goes in the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lane {
    pub(crate) flow: FlowId,
    pub(crate) direction: Direction,
    pub(crate) subflow: u8,
    /// Place among the conversations, of what is no flow of the scenario.
    pub(crate) conversation: Option<usize>,
}

/// What two hosts say to each other beside the flows of the scenario: a five-tuple and its reverse.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Protocol number of IP.
    pub protocol: u8,
    /// Who spoke first.
    pub source: Endpoint,
    /// To whom.
    pub destination: Endpoint,
    /// Its carrier, and whether the carrier goes the other way.
    pub carrier: FlowId,
    /// Nodes of both ends.
    pub nodes: (NodeId, NodeId),
    /// Its first and its latest packet.
    pub seen: (Instant, Instant),
    /// Packets and bytes that the source sent, and those that arrived.
    pub forth: Volume,
    /// Packets and bytes that the destination sent, and those that arrived.
    pub back: Volume,
}

/// What was sent one way, and what arrived.
#[derive(Clone, Copy, Default, Debug)]
pub struct Volume {
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes of IP packets sent.
    pub sent_bytes: u64,
    /// Packets that arrived.
    pub received_packets: u64,
    /// Bytes of IP packets that arrived.
    pub received_bytes: u64,
}

/// A subflow that begins anew on the addresses of one that was closed has another port, so many below: neither the engine draws
/// such a port (RFC 6335 section 6 has the dynamic ones) nor does a host choose it (net.ipv4.ip_local_port_range).
const PORTS_BELOW: u16 = 32_768;

/// The ends of a subflow that begins anew where one was closed.
pub(crate) fn anew((source, destination): (Endpoint, Endpoint)) -> (Endpoint, Endpoint) {
    (Endpoint { port: source.port - PORTS_BELOW, ..source }, destination)
}

/// The carriers between two nodes, and the next one to be taken.
struct Carriers {
    flows: Vec<FlowId>,
    next: usize,
}

/// All that is known of who talks to whom.
#[derive(Default)]
pub(crate) struct Conversations {
    lanes: BTreeMap<FiveTuple, (Lane, bool)>,
    owners: BTreeMap<[u8; 4], NodeId>,
    /// By the lower node and the higher one, from which carriers go to the higher one.
    carriers: BTreeMap<(NodeId, NodeId), Carriers>,
    all: Vec<Conversation>,
}

impl Conversations {
    /// A node has an address.
    pub(crate) fn own(&mut self, address: [u8; 4], node: NodeId) {
        self.owners.insert(address, node);
    }

    /// A subflow of the scenario runs between these ends, or, where it begins anew, between those of [`anew`].
    pub(crate) fn place(&mut self, flow: FlowId, subflow: u8, ends: (Endpoint, Endpoint)) {
        for (source, destination) in [ends, anew(ends)] {
            let tuple = FiveTuple::tcp((source.addr, source.port), (destination.addr, destination.port));
            let lane = |direction| (Lane { flow, direction, subflow, conversation: None }, false);
            self.lanes.insert(tuple, lane(Direction::Forward));
            self.lanes.insert(tuple.reversed(), lane(Direction::Backward));
        }
    }

    /// A flow from a lower node to a higher one carries what belongs to no flow of the scenario.
    pub(crate) fn carry(&mut self, (from, to): (NodeId, NodeId), flow: FlowId) {
        let carriers = self.carriers.entry((from, to)).or_insert(Carriers { flows: Vec::new(), next: 0 });
        carriers.flows.push(flow);
    }

    /// The lane of a packet that a host sends; `None` if it leads to no other host.
    pub(crate) fn lane(&mut self, tuple: FiveTuple, bytes: u32, now: Instant) -> Option<Lane> {
        let (lane, back) = match self.lanes.get(&tuple) {
            Some(&place) => place,
            None => self.begin(tuple, now)?,
        };
        if let Some(index) = lane.conversation {
            let conversation = &mut self.all[index];
            conversation.seen.1 = now;
            let volume = if back { &mut conversation.back } else { &mut conversation.forth };
            volume.sent_packets += 1;
            volume.sent_bytes += u64::from(bytes);
        }
        Some(lane)
    }

    /// A packet of a conversation arrives.
    pub(crate) fn arrived(&mut self, index: usize, direction: Direction, bytes: u32) {
        let conversation = &mut self.all[index];
        let starts_lower = conversation.nodes.0 < conversation.nodes.1;
        let forth = starts_lower == (direction == Direction::Forward);
        let volume = if forth { &mut conversation.forth } else { &mut conversation.back };
        volume.received_packets += 1;
        volume.received_bytes += u64::from(bytes);
    }

    /// Two hosts begin to talk.
    fn begin(&mut self, tuple: FiveTuple, now: Instant) -> Option<(Lane, bool)> {
        let from = *self.owners.get(&tuple.source.0)?;
        let to = *self.owners.get(&tuple.destination.0)?;
        let carriers = self.carriers.get_mut(&(from.min(to), from.max(to)))?;
        let carrier = carriers.flows[carriers.next % carriers.flows.len()];
        carriers.next += 1;
        let end = |(addr, port)| Endpoint { addr, port };
        let index = self.all.len();
        self.all.push(Conversation {
            protocol: tuple.protocol,
            source: end(tuple.source),
            destination: end(tuple.destination),
            carrier,
            nodes: (from, to),
            seen: (now, now),
            forth: Volume::default(),
            back: Volume::default(),
        });
        let (forth, back) = if from < to {
            (Direction::Forward, Direction::Backward)
        } else {
            (Direction::Backward, Direction::Forward)
        };
        let lane = |direction| Lane { flow: carrier, direction, subflow: 0, conversation: Some(index) };
        self.lanes.insert(tuple.reversed(), (lane(back), true));
        // Last: without ports, both ways may be one.
        self.lanes.insert(tuple, (lane(forth), false));
        Some((lane(forth), false))
    }

    /// All conversations, in the order of their first packets.
    pub(crate) fn finish(self) -> Vec<Conversation> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [u8; 4] = [10, 0, 0, 1];
    const B: [u8; 4] = [10, 0, 0, 2];

    fn table() -> Conversations {
        let mut table = Conversations::default();
        table.own(A, NodeId(1));
        table.own(B, NodeId(2));
        let end = |addr, port| Endpoint { addr, port };
        table.place(FlowId(0), 3, (end(A, 50_000), end(B, 5001)));
        table.carry((NodeId(1), NodeId(2)), FlowId(7));
        table.carry((NodeId(1), NodeId(2)), FlowId(8));
        table
    }

    #[test]
    fn a_subflow_of_the_scenario_has_its_lane_both_ways() {
        let mut table = table();
        let tuple = FiveTuple::tcp((A, 50_000), (B, 5001));
        let lane = |direction| Lane { flow: FlowId(0), direction, subflow: 3, conversation: None };
        assert_eq!(table.lane(tuple, 1500, Instant::ZERO), Some(lane(Direction::Forward)));
        assert_eq!(table.lane(tuple.reversed(), 40, Instant::ZERO), Some(lane(Direction::Backward)));
        assert!(table.finish().is_empty());
    }

    /// The second conversation is begun by the higher node: its carrier goes the other way.
    #[test]
    fn each_conversation_takes_the_next_carrier_and_is_counted() {
        let mut table = table();
        let (first, second) = (FiveTuple::tcp((A, 1), (B, 80)), FiveTuple::tcp((B, 2), (A, 80)));
        let mut go = |tuple, bytes| {
            let lane = table.lane(tuple, bytes, Instant::ZERO).expect("known hosts");
            table.arrived(lane.conversation.expect("no flow"), lane.direction, bytes);
            (lane.flow, lane.direction)
        };
        assert_eq!(go(first, 1500), (FlowId(7), Direction::Forward));
        assert_eq!(go(first.reversed(), 40), (FlowId(7), Direction::Backward));
        assert_eq!(go(second, 100), (FlowId(8), Direction::Backward));
        assert_eq!(go(second.reversed(), 900), (FlowId(8), Direction::Forward));
        let all = table.finish();
        let received = |of: &Conversation| (of.forth.received_bytes, of.back.received_bytes);
        assert_eq!(all.iter().map(received).collect::<Vec<_>>(), [(1500, 40), (100, 900)]);
        assert!(all.iter().all(|of| of.forth.sent_packets == 1 && of.back.sent_packets == 1));
    }

    #[test]
    fn what_leads_to_no_host_has_no_lane() {
        let out = FiveTuple::tcp((A, 1), ([192, 0, 2, 1], 80));
        assert_eq!(table().lane(out, 40, Instant::ZERO), None);
    }
}
