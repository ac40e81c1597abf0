//! What each node and link will have to do, estimated from flows and routes.

use super::fair::{self, Class};
use crate::link_setup::LinkSetup;
use crate::setup::{DatagramSetup, FlowSetup, Setup, SourceSetup, Variate};
use crate::variate::Sampler;
use anabranch_network::Network;
use anabranch_routing::Plan;
use anabranch_units::{Instant, LinkId, NodeId};
use std::collections::BTreeMap;

/// Payload of a packet.
const PAYLOAD: f64 = 1_448.0;

/// Acknowledgments for each packet with data.
const ACKS: f64 = 0.5;

/// Work at the ends of a flow for each packet with data, the arrival of a packet at a node being 1: the receiver takes it and
/// acknowledges, the sender sends it and takes the acknowledgment. By instructions, counted with ten flows (docs/speed.md):
/// 380 for a hop, 320 and 1,030 for each segment at the ends.
const RECEPTION: f64 = 0.8;
const SENDING: f64 = 2.7;

/// Draws of a variate whose mean is wanted.
const DRAWS: usize = 64;

/// Segments of a flow's first round trip (RFC 6928).
const FIRST_WINDOW: f64 = 10.0;

/// Round trips are taken to be no shorter.
const LEAST_ROUND_TRIP_S: f64 = 1e-6;

/// Work over the whole run, in arrivals of a packet at a node.
pub(super) struct Loads {
    /// Of each node.
    pub(super) nodes: Vec<f64>,
    /// Packets over each link.
    pub(super) links: Vec<f64>,
}

/// Flows between two nodes.
#[derive(Default)]
struct Pair {
    /// Round trips that all of them together have.
    round_trips: f64,
    /// Bytes that they have to send, and may.
    most: f64,
}

impl Loads {
    pub(super) fn total(&self) -> f64 {
        self.nodes.iter().sum()
    }

    /// Flows share links as [`fair::divide`] has it, by the round trips of their time: at a drop-tail queue windows grow alike
    /// with each (Lakshman and Madhow, IEEE/ACM ToN 5(3), 1997). A flow sends no more than it has to, and no more than slow
    /// start lets it send in its time.
    pub(super) fn estimate(setup: &Setup, network: &Network, plan: &Plan) -> Self {
        let ends = network.links().iter().map(|link| link.to).collect();
        let mut crossed = LinksOfPairs { ends, plan, links_of_pairs: BTreeMap::new() };
        let mut loads = Self { nodes: vec![0.0; setup.nodes.len()], links: vec![0.0; setup.links.len()] };
        for flow in &setup.datagrams {
            let packets = packets(setup, flow);
            loads.cross(setup, crossed.of(flow.routing, flow.from, flow.to), packets);
            loads.nodes[flow.to.index()] += RECEPTION * packets;
            if flow.source.is_answered() {
                loads.cross(setup, crossed.of(flow.routing, flow.to, flow.from), packets);
                loads.nodes[flow.from.index()] += RECEPTION * packets;
            }
        }
        let mut pairs: BTreeMap<(usize, NodeId, NodeId), Pair> = BTreeMap::new();
        for flow in &setup.flows {
            let seconds = seconds(setup, flow.start, flow.stop);
            let round_trip = crossed.delay_s(setup, flow.routing, flow.from, flow.to)
                + crossed.delay_s(setup, flow.routing, flow.to, flow.from);
            let round_trips = seconds / round_trip.max(LEAST_ROUND_TRIP_S);
            let of_slow_start = FIRST_WINDOW * PAYLOAD * libm::exp2(round_trips);
            let pair = pairs.entry((flow.routing, flow.from, flow.to)).or_default();
            pair.round_trips += round_trips;
            pair.most += wanted(setup, flow, seconds).min(of_slow_start);
        }
        // Whose packets find no way have nothing to share.
        pairs.retain(|&(routing, from, to), _| !crossed.of(routing, from, to).is_empty());
        let duration = setup.duration.as_secs_f64();
        let capacity = |link: &LinkSetup| link.queue_rate().as_bps() as f64 / 8.0 * duration;
        let capacities: Vec<f64> = setup.links.iter().map(capacity).collect();
        let class = |(ends, pair): (_, &Pair)| {
            let Pair { round_trips: weight, most } = *pair;
            Class { weight, most, links: &crossed.links_of_pairs[ends] }
        };
        let classes: Vec<_> = pairs.iter().map(class).collect();
        let amounts = fair::divide(&capacities, &classes);
        for (&(routing, from, to), bytes) in pairs.keys().zip(amounts) {
            let packets = bytes / PAYLOAD;
            loads.cross(setup, crossed.of(routing, from, to), packets);
            loads.cross(setup, crossed.of(routing, to, from), ACKS * packets);
            loads.nodes[to.index()] += RECEPTION * packets;
            loads.nodes[from.index()] += SENDING * packets;
        }
        loads
    }

    /// Packets cross links, each its share of them.
    fn cross(&mut self, setup: &Setup, crossed: &[(LinkId, f64)], packets: f64) {
        for &(link, share) in crossed {
            self.links[link.index()] += packets * share;
            self.nodes[setup.links[link.index()].to.index()] += packets * share;
        }
    }
}

/// Seconds from a start to a stop or the end of the run.
fn seconds(setup: &Setup, start: Instant, stop: Option<Instant>) -> f64 {
    let end = stop.map_or(f64::INFINITY, Instant::as_secs_f64).min(setup.duration.as_secs_f64());
    (end - start.as_secs_f64()).max(0.0)
}

/// Packets of a flow of datagrams.
fn packets(setup: &Setup, flow: &DatagramSetup) -> f64 {
    let gap = flow.sent_at(1).since(flow.start).as_secs_f64();
    seconds(setup, flow.start, flow.stop) / gap
}

/// Bytes that a flow has to send in its time.
fn wanted(setup: &Setup, flow: &FlowSetup, seconds: f64) -> f64 {
    match &flow.source {
        SourceSetup::Unlimited {} => f64::INFINITY,
        SourceSetup::Sized { bytes } => *bytes as f64,
        SourceSetup::Messages { size, gap } => seconds * 1e12 * mean(setup, size) / mean(setup, gap).max(1.0),
    }
}

/// Mean of some draws, which leave those of the run as they are.
fn mean(setup: &Setup, variate: &Variate) -> f64 {
    let Ok(sampler) = Sampler::new(variate) else { return 0.0 };
    let mut stream = setup.streams().stream("partition", "mean");
    (0..DRAWS).map(|_| sampler.sample(&mut stream)).sum::<f64>() / DRAWS as f64
}

/// The links between pairs of nodes, with the share of the packets that each gets.
struct LinksOfPairs<'w> {
    ends: Vec<NodeId>,
    plan: &'w Plan,
    links_of_pairs: BTreeMap<(usize, NodeId, NodeId), Vec<(LinkId, f64)>>,
}

impl LinksOfPairs<'_> {
    fn of(&mut self, routing: usize, from: NodeId, to: NodeId) -> &[(LinkId, f64)] {
        let Self { ends, plan, links_of_pairs } = self;
        links_of_pairs.entry((routing, from, to)).or_insert_with(|| {
            plan.at(routing).map(|plan| plan.shares(ends, from, to).links).unwrap_or_default()
        })
    }

    /// The mean delay of the links between two nodes, in seconds.
    fn delay_s(&mut self, setup: &Setup, routing: usize, from: NodeId, to: NodeId) -> f64 {
        let links = self.of(routing, from, to);
        links.iter().map(|&(link, share)| share * setup.links[link.index()].delay.as_secs_f64()).sum()
    }
}
