//! What each node and link will have to do, estimated from flows and routes.

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

/// Work at the host that receives a packet, beside its arrival; the arrival at a node is 1.
const RECEPTION: f64 = 1.0;

/// Draws of a variate whose mean is wanted.
const DRAWS: usize = 64;

/// Work over the whole run, in arrivals of a packet at a node.
pub(super) struct Loads {
    /// Of each node.
    pub(super) nodes: Vec<f64>,
    /// Packets over each link.
    pub(super) links: Vec<f64>,
}

impl Loads {
    pub(super) fn total(&self) -> f64 {
        self.nodes.iter().sum()
    }

    /// Each flow without end gets its share of the narrowest link of its way, which all that cross the link have alike.
    pub(super) fn estimate(setup: &Setup, network: &Network, plan: &Plan) -> Self {
        let ends = network.links().iter().map(|link| link.to).collect();
        let mut crossed = LinksOfPairs { ends, plan, links_of_pairs: BTreeMap::new() };
        let mut flows_over = vec![0.0; setup.links.len()];
        for flow in &setup.flows {
            for &(link, share) in crossed.of(flow.routing, flow.from, flow.to) {
                flows_over[link.index()] += share;
            }
        }
        let mut loads = Self { nodes: vec![0.0; setup.nodes.len()], links: vec![0.0; setup.links.len()] };
        for flow in &setup.flows {
            let there = crossed.of(flow.routing, flow.from, flow.to);
            let shares = there.iter().map(|&(link, _)| {
                setup.links[link.index()].queue_rate().as_bps() as f64 / flows_over[link.index()].max(1.0)
            });
            let narrowest = shares.fold(f64::INFINITY, f64::min);
            if !narrowest.is_finite() {
                continue;
            }
            let packets = bytes(setup, flow, narrowest / 8.0) / PAYLOAD;
            loads.add(setup, there, packets, flow.to);
            loads.add(setup, crossed.of(flow.routing, flow.to, flow.from), ACKS * packets, flow.from);
        }
        for flow in &setup.datagrams {
            let packets = packets(setup, flow);
            loads.add(setup, crossed.of(flow.routing, flow.from, flow.to), packets, flow.to);
            if flow.source.is_answered() {
                loads.add(setup, crossed.of(flow.routing, flow.to, flow.from), packets, flow.from);
            }
        }
        loads
    }

    fn add(&mut self, setup: &Setup, crossed: &[(LinkId, f64)], packets: f64, to: NodeId) {
        for &(link, share) in crossed {
            self.links[link.index()] += packets * share;
            self.nodes[setup.links[link.index()].to.index()] += packets * share;
        }
        self.nodes[to.index()] += RECEPTION * packets;
    }
}

/// Packets of a flow of datagrams.
fn packets(setup: &Setup, flow: &DatagramSetup) -> f64 {
    let end = flow.stop.map_or(f64::INFINITY, Instant::as_secs_f64).min(setup.duration.as_secs_f64());
    let gap = flow.sent_at(1).since(flow.start).as_secs_f64();
    (end - flow.start.as_secs_f64()).max(0.0) / gap
}

/// Bytes of a flow that gets at most this rate, in bytes per second.
fn bytes(setup: &Setup, flow: &FlowSetup, most: f64) -> f64 {
    let begin = flow.start.as_secs_f64();
    let end = flow.stop.map_or(f64::INFINITY, |stop| stop.as_secs_f64()).min(setup.duration.as_secs_f64());
    let time = (end - begin).max(0.0);
    let wanted = match &flow.source {
        SourceSetup::Unlimited {} => f64::INFINITY,
        SourceSetup::Sized { bytes } => *bytes as f64,
        SourceSetup::Messages { size, gap } => time * 1e12 * mean(setup, size) / mean(setup, gap).max(1.0),
    };
    wanted.min(most * time)
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
}
