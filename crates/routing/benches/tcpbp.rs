//! Time of all pairs' TCPBP routes on one core, as published and exactly, with growth in the number of nodes; of
//! the best paths by the other metrics of whole paths; and of k best paths:
//! `cargo bench -p anabranch-routing --bench tcpbp`. Vilela 2022 gives 2.22 s for 100 nodes.

use anabranch_network::{Link, Network, Node};
use anabranch_routing::{ExactTree, KBest, LinkQuality, PathMetric, Search, TcpbpTree};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use std::time::{Duration, Instant};

/// Runs of which the quickest counts.
const RUNS: usize = 5;

fn main() {
    for nodes in [10, 25, 50, 100, 200] {
        // Twice as many edges as nodes are the density of the thesis's network of ten, the other a dense one.
        for edges in [2 * nodes, 10 * nodes] {
            let network = random_network(nodes, edges);
            let (elapsed, _) = (0..RUNS).map(|_| time(&network, published)).min().expect("a run");
            report(&network, "tcpbp, published", elapsed);
            for metric in PathMetric::ALL {
                let search = |network: &Network, from| exact(network, metric, from);
                let (elapsed, ways) = (0..RUNS).map(|_| time(&network, search)).min().expect("a run");
                report(&network, &format!("{metric:?}, exact"), elapsed);
                println!("    {:.2} ways kept per pair", ways as f64 / f64::from(nodes * nodes));
            }
        }
    }
    for nodes in [10, 25, 50, 100] {
        let network = random_network(nodes, 2 * nodes);
        for search in [Search::Published, Search::Exact] {
            let k_best = |network: &Network, from| k_best(network, search, from);
            let (elapsed, paths) = time(&network, k_best);
            report(&network, &format!("4 best by tcpbp, {search:?}: {paths} paths"), elapsed);
        }
    }
    let network = random_network(1000, 2000);
    for metric in PathMetric::ALL {
        let (elapsed, ways) = time(&network, |network, from| exact(network, metric, from));
        report(&network, &format!("{metric:?}, exact"), elapsed);
        println!("    {:.2} ways kept per pair", ways as f64 / 1e6);
    }
}

fn report(network: &Network, what: &str, elapsed: Duration) {
    let (nodes, links) = (network.nodes().len(), network.links().len());
    println!("{:10.3} ms  {nodes} nodes, {links} links, all pairs, {what}", elapsed.as_secs_f64() * 1e3);
}

fn quality(network: &Network) -> impl Fn(LinkId) -> Option<LinkQuality> {
    |link| Some(LinkQuality::of(network.link(link)))
}

/// Searches from a node; the number of ways kept, and a use of the result that no compiler leaves out.
fn published(network: &Network, from: NodeId) -> usize {
    let tree = TcpbpTree::new(network, from, quality(network));
    network.node_ids().filter(|&to| tree.quality(to).is_some()).count()
}

fn exact(network: &Network, metric: PathMetric, from: NodeId) -> usize {
    std::hint::black_box(ExactTree::new(network, metric, from, quality(network))).ways()
}

/// The number of paths.
fn k_best(network: &Network, search: Search, to: NodeId) -> usize {
    let mut finder = KBest::new(network, PathMetric::Tcpbp, search, quality(network));
    network.node_ids().map(|from| finder.paths(from, to).take(4).count()).sum()
}

fn time(network: &Network, search: impl Fn(&Network, NodeId) -> usize) -> (Duration, usize) {
    let start = Instant::now();
    let ways = network.node_ids().map(|from| search(network, from)).sum();
    (start.elapsed(), ways)
}

/// A ring, so that it hangs together, and edges between nodes drawn at random. Delays up to 10 ms and losses
/// up to 2 %, as in the thesis's network of ten, and 10, 40 or 100 Gbps, drawn apart from each other.
fn random_network(nodes: u32, edges: u32) -> Network {
    let mut draw = Draw(1);
    let mut links = Vec::new();
    for edge in 0..edges {
        let from = if edge < nodes { edge } else { draw.below(nodes) };
        let step = if edge < nodes { 1 } else { 1 + draw.below(nodes - 1) };
        let (from, to) = (NodeId(from), NodeId((from + step) % nodes));
        let delay = Span::from_us(10 + u64::from(draw.below(10_000)));
        let loss = f64::from(1 + draw.below(200)) / 1e4;
        let capacity = Rate::from_bps([10, 40, 100][draw.below(3) as usize] * 1_000_000_000);
        for (from, to) in [(from, to), (to, from)] {
            links.push(Link { from, to, capacity, delay, loss, weight: 1 });
        }
    }
    let nodes = (0..nodes).map(|number| Node { name: number.to_string(), place: None }).collect();
    Network::new(nodes, links).expect("a valid network")
}

/// Numbers that look random, by a linear congruence (D. E. Knuth, "The Art of Computer Programming", volume 2,
/// 3.3.4, table 1, line 26).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }
}
