//! Larger networks, which only the benches run.

use crate::common::Builder;
use anabranch_engine::routing::{AdditiveMetric, EcmpScheme, Metric, Scheme, ShortestScheme};
use anabranch_engine::setup::SourceSetup;
use anabranch_units::{Instant, NodeId, Rate, Span};

/// A fat tree of switches with `ports` ports (Al-Fares 2008): `ports` pods of `ports / 2` edge and aggregation switches each,
/// `ports²/4` core switches and `ports³/4` hosts. Every host sends to the one in the next pod at the same place, without end.
pub fn fat_tree(ports: usize, rate: Rate, duration: Span) -> Builder {
    let mut b = Builder::new(duration);
    let (half, delay, queue) = (ports / 2, Span::from_us(1), 200);
    let cores: Vec<NodeId> = (0..half * half).map(|i| b.node(&format!("core {i}"))).collect();
    let mut hosts = Vec::new();
    for pod in 0..ports {
        let aggregation: Vec<NodeId> = (0..half).map(|i| b.node(&format!("aggregation {pod}.{i}"))).collect();
        for (i, &switch) in aggregation.iter().enumerate() {
            for &core in &cores[i * half..(i + 1) * half] {
                b.link(switch, core, rate, delay, queue);
            }
        }
        for i in 0..half {
            let edge = b.node(&format!("edge {pod}.{i}"));
            for &switch in &aggregation {
                b.link(edge, switch, rate, delay, queue);
            }
            for j in 0..half {
                let host = b.node(&format!("host {pod}.{i}.{j}"));
                b.link(host, edge, rate, delay, queue);
                hosts.push(host);
            }
        }
    }
    let cubic = b.transport("cubic");
    for (i, &from) in hosts.iter().enumerate() {
        let to = hosts[(i + half * half) % hosts.len()];
        b.flow(from, to, cubic, SourceSetup::Unlimited {}, Instant::ZERO);
    }
    b.setup.routing.scheme = Some(Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Hops }));
    b
}

/// A backbone of as many nodes and edges as Cogentco has in the Topology Zoo: a ring with chords. Every node sends 20 kB to
/// every other one, at times spread over the first second.
pub fn all_pairs(duration: Span) -> Builder {
    const NODES: usize = 197;
    const CHORDS: usize = 48;
    let mut b = Builder::new(duration);
    let rate = Rate::from_bps(1_000_000_000);
    let nodes: Vec<NodeId> = (0..NODES).map(|i| b.node(&format!("node {i}"))).collect();
    for i in 0..NODES {
        b.link(nodes[i], nodes[(i + 1) % NODES], rate, Span::from_us(300 + 37 * (i as u64 % 11)), 500);
    }
    for i in 0..CHORDS {
        let from = i * NODES / CHORDS;
        let to = (from + 40 + 13 * (i % 7)) % NODES;
        b.link(nodes[from], nodes[to], rate, Span::from_us(900 + 41 * (i as u64 % 13)), 500);
    }
    let cubic = b.transport("cubic");
    let pairs = NODES * (NODES - 1);
    for number in 0..pairs {
        let from = number % NODES;
        let to = (from + 1 + number / NODES) % NODES;
        let start = Instant::ZERO + Span::from_us((1_000_000 * number / pairs) as u64);
        b.flow(nodes[from], nodes[to], cubic, SourceSetup::Sized { bytes: 20_000 }, start);
    }
    b.setup.routing.scheme = Some(Scheme::Shortest(ShortestScheme { metric: Metric::Delay, limits: None }));
    b
}
