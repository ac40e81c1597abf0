//! Time of every scheme on networks that are mostly hosts, each host sending to one other and
//! answered by it: `cargo bench -p anabranch-routing --bench hosts`.

use anabranch_network::{Link, Network, Node};
use anabranch_routing::{AdditiveMetric, LinkMask, Metric, Scheme, TcpbpMetric};
use anabranch_routing::{
    DisjointScheme, EcmpScheme, KShortestScheme, MaxFlowScheme, ShortestScheme, TcpbpExactScheme, TcpbpScheme,
};
use anabranch_units::{NodeId, Rate, Span};
use std::time::Instant;

fn main() {
    time("dumbbell, 10,000 hosts a side", dumbbell(10_000));
    time("leaf-spine, 32 leaves of 32 hosts, 16 spines", leaf_spine(32, 32, 16));
    time("fat-tree, k = 16, 1024 hosts", fat_tree(16));
}

/// A network in the making.
#[derive(Default)]
struct Builder {
    nodes: u32,
    edges: Vec<(u32, u32)>,
    hosts: Vec<u32>,
}

impl Builder {
    fn add(&mut self, count: u32) -> Vec<u32> {
        self.nodes += count;
        (self.nodes - count..self.nodes).collect()
    }

    fn add_hosts(&mut self, switch: u32, count: u32) {
        let hosts = self.add(count);
        self.edges.extend(hosts.iter().map(|&host| (host, switch)));
        self.hosts.extend(hosts);
    }

    fn join(&mut self, some: &[u32], others: &[u32]) {
        self.edges.extend(some.iter().flat_map(|&a| others.iter().map(move |&b| (a, b))));
    }

    fn build(self) -> (Network, Vec<NodeId>) {
        let link = |from, to| Link {
            from: NodeId(from),
            to: NodeId(to),
            capacity: Rate::from_bps(10_000_000_000),
            delay: Span::from_us(1),
            loss: 0.0,
            weight: 1,
        };
        let links = self.edges.iter().flat_map(|&(a, b)| [link(a, b), link(b, a)]).collect();
        let nodes = (0..self.nodes).map(|number| Node { name: number.to_string(), place: None }).collect();
        let hosts = self.hosts.into_iter().map(NodeId).collect();
        (Network::new(nodes, links).expect("a valid network"), hosts)
    }
}

fn dumbbell(hosts_a_side: u32) -> (Network, Vec<NodeId>) {
    let mut builder = Builder::default();
    let switches = builder.add(2);
    builder.join(&switches[..1], &switches[1..]);
    for switch in switches {
        builder.add_hosts(switch, hosts_a_side);
    }
    builder.build()
}

fn leaf_spine(leaves: u32, hosts_a_leaf: u32, spines: u32) -> (Network, Vec<NodeId>) {
    let mut builder = Builder::default();
    let (leaves, spines) = (builder.add(leaves), builder.add(spines));
    builder.join(&leaves, &spines);
    for leaf in leaves {
        builder.add_hosts(leaf, hosts_a_leaf);
    }
    builder.build()
}

/// M. Al-Fares, A. Loukissas, A. Vahdat, "A scalable, commodity data center network architecture",
/// SIGCOMM 2008, section 3: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches.
fn fat_tree(k: u32) -> (Network, Vec<NodeId>) {
    let half = k / 2;
    let mut builder = Builder::default();
    let core = builder.add(half * half);
    for _ in 0..k {
        let (edge, aggregation) = (builder.add(half), builder.add(half));
        builder.join(&edge, &aggregation);
        for (switch, core) in aggregation.iter().zip(core.chunks(half as usize)) {
            builder.join(&[*switch], core);
        }
        for switch in edge {
            builder.add_hosts(switch, half);
        }
    }
    builder.build()
}

/// Plans for every host sending to the one half the network away, and for the way back.
fn time(name: &str, (network, hosts): (Network, Vec<NodeId>)) {
    let partner = |index: usize| hosts[(index + hosts.len() / 2) % hosts.len()];
    let sends: Vec<(NodeId, NodeId)> =
        hosts.iter().enumerate().map(|(index, &host)| (host, partner(index))).collect();
    let pairs: Vec<(NodeId, NodeId)> =
        sends.iter().flat_map(|&(from, to)| [(from, to), (to, from)]).collect();
    let mask = LinkMask::all_up(&network);
    let (metric, k) = (AdditiveMetric::Hops, Some(4));
    println!("{name}");
    for scheme in [
        Scheme::Shortest(ShortestScheme { metric: metric.into(), limits: None }),
        Scheme::Ecmp(EcmpScheme { metric }),
        Scheme::KShortest(KShortestScheme { k: 4, metric: metric.into(), limits: None }),
        Scheme::Disjoint(DisjointScheme { k, metric }),
        Scheme::MaxFlow(MaxFlowScheme { metric }),
        Scheme::Shortest(ShortestScheme { metric: Metric::Capacity, limits: None }),
        Scheme::Tcpbp(TcpbpScheme { k: 1, metric: TcpbpMetric::Tcpbp }),
        Scheme::TcpbpExact(TcpbpExactScheme::default()),
    ] {
        let start = Instant::now();
        let plan = scheme.plan(&network, &mask, &pairs);
        let seconds = start.elapsed().as_secs_f64();
        let paths: usize = plan.routes.iter().map(|route| route.paths.len()).sum();
        let entries: usize = plan.tables.iter().map(|table| table.next.len()).sum();
        let sizes = format!("{} pairs, {paths} paths, {entries} entries of tables", plan.routes.len());
        println!("  {seconds:.3} s  {sizes}  {scheme:?}");
    }
}
