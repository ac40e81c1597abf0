//! Time of the two shortest paths for all pairs of a random network of 200 nodes, and of the
//! schemes for a third of these pairs: `cargo bench -p anabranch-routing`.

use anabranch_network::{Link, Network, Node};
use anabranch_routing::{AdditiveMetric, LinkMask, Scheme};
use anabranch_routing::{DisjointScheme, EcmpScheme, KShortestScheme, MaxFlowScheme, ShortestScheme};
use anabranch_units::{NodeId, Rate, Span};
use std::time::Instant;

const NODES: u32 = 200;
const EDGES: usize = 400;

fn main() {
    let network = random_network();
    let mask = LinkMask::all_up(&network);
    let all: Vec<(NodeId, NodeId)> =
        network.node_ids().flat_map(|from| network.node_ids().map(move |to| (from, to))).collect();
    let some: Vec<(NodeId, NodeId)> = all.iter().copied().step_by(3).collect();
    for metric in AdditiveMetric::NAMES.map(|(_, metric)| metric) {
        let k = Some(2);
        time(
            &network,
            &mask,
            &all,
            &Scheme::KShortest(KShortestScheme { k: 2, metric: metric.into(), limits: None }),
        );
        for scheme in [
            Scheme::Shortest(ShortestScheme { metric: metric.into(), limits: None }),
            Scheme::Ecmp(EcmpScheme { metric }),
            Scheme::Disjoint(DisjointScheme { k, metric }),
            Scheme::Disjoint(DisjointScheme { k: None, metric }),
            Scheme::MaxFlow(MaxFlowScheme { metric }),
        ] {
            time(&network, &mask, &some, &scheme);
        }
    }
}

fn time(network: &Network, mask: &LinkMask, pairs: &[(NodeId, NodeId)], scheme: &Scheme) {
    let start = Instant::now();
    let plan = scheme.plan(network, mask, pairs);
    let seconds = start.elapsed().as_secs_f64();
    let paths: usize = plan.routes.iter().map(|route| route.paths.len()).sum();
    println!("{seconds:.3} s  {} pairs, {paths} paths  {scheme:?}", plan.routes.len());
}

/// A ring, so that it hangs together, and edges between nodes drawn at random, each of a delay up
/// to 10 ms and of 10, 40 or 100 Gbps.
fn random_network() -> Network {
    let mut draw = Draw(1);
    let mut links = Vec::new();
    for edge in 0..EDGES {
        let from = if edge < NODES as usize { edge as u32 } else { draw.below(NODES) };
        let step = if edge < NODES as usize { 1 } else { 1 + draw.below(NODES - 1) };
        let (from, to) = (NodeId(from), NodeId((from + step) % NODES));
        let delay = Span::from_us(u64::from(draw.below(10_000)));
        let capacity = Rate::from_bps([10, 40, 100][draw.below(3) as usize] * 1_000_000_000);
        for (from, to) in [(from, to), (to, from)] {
            links.push(Link { from, to, capacity, delay, loss: 0.0, weight: 1 });
        }
    }
    let nodes = (0..NODES).map(|number| Node { name: number.to_string(), place: None }).collect();
    Network::new(nodes, links).expect("a valid network")
}

/// Numbers that look random, by a linear congruence (D. E. Knuth, "The Art of Computer
/// Programming", volume 2, 3.3.4, table 1, line 26).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }
}
