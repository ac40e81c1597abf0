//! Pings and UDP: what leaves, what answers, and how long it took.
//!
//! When a packet left follows from its number, so that packets carry no time.

use super::share::Share;
use super::way::Lane;
use super::{MAX_HOPS, Simulation};
use crate::capture::host_address;
use crate::error::SetupError;
use crate::forwarding::{Ends, Forwarding, PathStart};
use crate::latency::{Jitter, LatencyHistogram};
use crate::packet::{Direction, Family, Packet, PacketId, Steering};
use crate::ports::{SERVER_PORT, draw_source_port};
use crate::random::Streams;
use crate::reordering::Reordering;
use crate::setup::{DatagramSetup, DatagramSource, Setup};
use anabranch_transport::Segment;
use anabranch_transport::wire::{DATAGRAM_HEADERS, Datagram, DatagramKind, Endpoint};
use anabranch_units::{FlowId, Instant, NodeId, Span};

/// Tells the family of the answers from that of what they answer.
const ANSWERS: Family = 1 << 63;

/// A flow of datagrams, both ends.
pub(super) struct DatagramFlow {
    pub(super) setup: DatagramSetup,
    /// Its number among all flows of the run.
    pub(super) id: FlowId,
    pub(super) forward: Lane,
    /// The way back, where packets are answered.
    pub(super) backward: Option<Lane>,
    /// Packets handed to the network.
    pub(super) sent: u64,
    /// Packets that reached the other end, and answers that came back.
    pub(super) arrived: u64,
    pub(super) answers: u64,
    pub(super) measured: Measured,
    /// Since the last sample.
    pub(super) recent: Recent,
}

/// What its receiving end has seen: of UDP the destination, of a ping the source, which has the answers.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) reordering: Reordering,
    pub(super) latencies: LatencyHistogram,
    pub(super) jitter: Jitter,
}

/// Latencies since the last sample.
#[derive(Clone, Copy, Default)]
pub(super) struct Recent {
    pub(super) received: u64,
    pub(super) sum_ps: u128,
    pub(super) smallest: Option<Span>,
    pub(super) largest: Option<Span>,
}

impl Recent {
    fn record(&mut self, latency: Span) {
        self.received += 1;
        self.sum_ps += u128::from(latency.as_ps());
        self.smallest = Some(self.smallest.map_or(latency, |smallest| smallest.min(latency)));
        self.largest = self.largest.max(Some(latency));
    }
}

impl DatagramFlow {
    /// Those of a setup that has been checked. `subflows` connections have keys already.
    pub(super) fn all(
        setup: &Setup,
        share: &Share<'_>,
        streams: Streams,
        forwarding: &Forwarding,
        subflows: u32,
    ) -> Result<Vec<Self>, SetupError> {
        let flow = |&number: &u32| {
            let id = FlowId(setup.flows.len() as u32 + number);
            Self::new((id, &setup.datagrams[number as usize]), streams, forwarding, subflows + number)
        };
        share.datagrams.iter().map(flow).collect()
    }

    fn new(
        (id, flow): (FlowId, &DatagramSetup),
        streams: Streams,
        forwarding: &Forwarding,
        number: u32,
    ) -> Result<Self, SetupError> {
        let problem = || SetupError::new(format!("datagrams {}", flow.name), "its pair has no route index");
        let (source, destination) = endpoints(flow, streams);
        let ends = Ends { routing: flow.routing, from: flow.from, to: flow.to };
        let forth = forwarding.index(ends).ok_or_else(problem)?;
        let backward = if flow.source.is_answered() {
            let back = forwarding.index(ends.reversed()).ok_or_else(problem)?;
            Some(Lane::new(destination, source, 2 * number + 1, back))
        } else {
            None
        };
        Ok(Self {
            forward: Lane::new(source, destination, 2 * number, forth),
            backward,
            setup: flow.clone(),
            id,
            sent: 0,
            arrived: 0,
            answers: 0,
            measured: Measured::default(),
            recent: Recent::default(),
        })
    }

    /// The way that packets of a direction take.
    pub(super) fn lane(&self, direction: Direction) -> &Lane {
        match (direction, &self.backward) {
            (Direction::Backward, Some(back)) => back,
            _ => &self.forward,
        }
    }

    /// Where packets of a direction come from and go.
    pub(super) fn nodes(&self, direction: Direction) -> (NodeId, NodeId) {
        let DatagramSetup { from, to, .. } = self.setup;
        match direction {
            Direction::Forward => (from, to),
            Direction::Backward => (to, from),
        }
    }

    /// Packets that were received where their latency is measured.
    pub(super) fn received(&self) -> u64 {
        self.measured.latencies.count()
    }

    /// When the next packet leaves.
    pub(super) fn next_event(&self) -> Option<Instant> {
        self.setup.leaves_at(self.sent)
    }

    /// A packet is where its latency is measured.
    fn measure(&mut self, now: Instant, order: u32, is_repeat: bool) {
        if is_repeat {
            self.measured.reordering.on_repeat();
            return;
        }
        let latency = now.since(self.setup.sent_at(u64::from(order)));
        self.measured.reordering.on_arrival(order);
        self.measured.latencies.record(latency.as_ps());
        self.measured.jitter.record(latency);
        self.recent.record(latency);
    }
}

/// What a packet of a flow of this number is on the wire; `sequence` is its place in order of sending.
pub(super) fn on_the_wire(
    (id, source): (FlowId, DatagramSource),
    packet: &Packet,
    sequence: u32,
) -> Datagram {
    let kind = match packet.direction {
        Direction::Forward => source.request(),
        Direction::Backward => DatagramKind::EchoReply,
    };
    Datagram { kind, identifier: id.0 as u16, sequence, bytes: packet.bytes }
}

/// Addresses and ports of a flow. Balancers see a ping by its addresses alone, because ICMP has no ports.
fn endpoints(flow: &DatagramSetup, streams: Streams) -> (Endpoint, Endpoint) {
    let ports = match flow.source {
        DatagramSource::Ping { .. } => (0, 0),
        DatagramSource::Udp { .. } => {
            (draw_source_port(&mut streams.stream(&flow.name, "connection")), SERVER_PORT)
        }
    };
    let end = |node, port| Endpoint { addr: host_address(node), port };
    (end(flow.from, ports.0), end(flow.to, ports.1))
}

impl Simulation {
    /// The next packet of a flow leaves.
    pub(super) fn on_datagrams(&mut self, number: u32) {
        let flow = &mut self.data.datagrams[number as usize];
        let order = flow.sent as u32;
        flow.sent += 1;
        let next = flow.next_event();
        self.data.schedule.put(self.data.numbering.datagrams(number), next);
        self.put_in_datagram(number, Direction::Forward, order, None);
    }

    /// A packet of a flow without a connection is at its end; perhaps a copy of it has been there before.
    #[inline(never)]
    pub(super) fn receive_datagram(&mut self, id: PacketId, packet: &Packet, is_repeat: bool) {
        let (order, family) = (self.data.pool.order(id), self.data.pool.family(id));
        let number = packet.flow.0 - self.flows.len() as u32;
        let flow = &mut self.data.datagrams[number as usize];
        if self.data.taps.watches_hosts() {
            let to = flow.nodes(packet.direction).1;
            self.data.taps.datagram_at(to, self.data.now, (packet, order), flow);
        }
        match (packet.direction, flow.setup.source.is_answered()) {
            (Direction::Forward, true) => {
                flow.arrived += 1;
                // What comes twice is answered twice; the answers are of one family, too.
                self.put_in_datagram(
                    number,
                    Direction::Backward,
                    order,
                    family.map(|family| family | ANSWERS),
                );
            }
            (Direction::Forward, false) => {
                flow.arrived += 1;
                flow.measure(self.data.now, order, is_repeat);
            }
            (Direction::Backward, _) => {
                flow.answers += 1;
                flow.measure(self.data.now, order, is_repeat);
            }
        }
    }

    fn put_in_datagram(&mut self, number: u32, direction: Direction, order: u32, family: Option<Family>) {
        let flow = &self.data.datagrams[number as usize];
        let lane = flow.lane(direction);
        let start = self.data.forwarding.start(self.data.now, lane.route.index(), &lane.key);
        let (steering, cursor) = start.map_or((Steering::Path, 0), PathStart::steering);
        let (node, destination) = flow.nodes(direction);
        let bytes = flow.setup.packet_bytes;
        let packet = Packet {
            flow: FlowId(self.flows.len() as u32 + number),
            destination,
            bytes,
            cursor,
            hops_left: MAX_HOPS,
            direction,
            subflow: 0,
            steering,
        };
        if self.data.taps.watches_hosts() {
            self.data.taps.datagram_at(node, self.data.now, (&packet, order), flow);
        }
        // Queues look at a segment for its ECN field, which is that of a packet that cannot be marked.
        let payload = (bytes - DATAGRAM_HEADERS) as u16;
        let id = self.data.pool.insert(packet, order, &Segment { payload, ..Segment::default() });
        if let Some(family) = family {
            self.data.pool.set_family(id, family);
        }
        if start.is_none() {
            self.data.drop_unreachable(id);
            return;
        }
        self.data.forward(&self.flows, node, id);
    }
}
