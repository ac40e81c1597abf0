//! Networks and slow but plain answers that the tests compare with.
#![allow(dead_code, reason = "each test program uses a part of it")]

use anabranch_network::{Link, Network, Node, Path};
use anabranch_routing::{CostGraph, Length, LinkMask};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use proptest::prelude::*;

/// A network of nodes called by these names and links of 10 Mbps and 1 ms both ways.
pub fn two_way(names: &[&str], edges: &[(&str, &str)]) -> Network {
    let id =
        |name: &str| NodeId::from_index(names.iter().position(|other| *other == name).expect("a known name"));
    let link = |from, to| Link {
        from: id(from),
        to: id(to),
        capacity: Rate::from_bps(10_000_000),
        delay: Span::from_ms(1),
        loss: 0.0,
        weight: 1,
    };
    let links = edges.iter().flat_map(|&(a, b)| [link(a, b), link(b, a)]).collect();
    Network::new(names.iter().map(|&name| node(name)).collect(), links).expect("a valid network")
}

pub fn node(name: &str) -> Node {
    Node { name: name.into(), place: None }
}

/// The number of a node.
pub fn at(network: &Network, name: &str) -> NodeId {
    NodeId::from_index(network.nodes().iter().position(|node| node.name == name).expect("a known name"))
}

/// A path as a person writes it.
pub fn spell(network: &Network, path: &Path) -> String {
    let names: Vec<&str> = path.nodes(network).iter().map(|&node| network.node(node).name.as_str()).collect();
    names.join("-")
}

/// Abilene as of 2003, 11 nodes and 14 edges. Numbers of nodes are alphabetical.
pub fn abilene() -> Network {
    let names = [
        "Atlanta",
        "Chicago",
        "Denver",
        "Houston",
        "Indianapolis",
        "Kansas City",
        "Los Angeles",
        "New York",
        "Seattle",
        "Sunnyvale",
        "Washington",
    ];
    let edges = [
        ("New York", "Chicago"),
        ("New York", "Washington"),
        ("Chicago", "Indianapolis"),
        ("Washington", "Atlanta"),
        ("Seattle", "Sunnyvale"),
        ("Seattle", "Denver"),
        ("Sunnyvale", "Los Angeles"),
        ("Sunnyvale", "Denver"),
        ("Los Angeles", "Houston"),
        ("Denver", "Kansas City"),
        ("Kansas City", "Houston"),
        ("Kansas City", "Indianapolis"),
        ("Houston", "Atlanta"),
        ("Indianapolis", "Atlanta"),
    ];
    two_way(&names, &edges)
}

/// NSFNET, 14 nodes and 21 edges (a, b, delay in tenths of a millisecond), after Fukushima et
/// al. 2016; node "1" is number 0.
pub fn nsfnet() -> Network {
    const EDGES: [(u32, u32, u64); 21] = [
        (1, 2, 47),
        (1, 3, 70),
        (1, 8, 112),
        (2, 3, 28),
        (2, 4, 35),
        (3, 6, 84),
        (4, 5, 28),
        (4, 11, 91),
        (5, 6, 56),
        (5, 7, 28),
        (6, 10, 49),
        (6, 14, 84),
        (7, 8, 35),
        (8, 9, 35),
        (9, 10, 35),
        (9, 12, 14),
        (9, 13, 14),
        (11, 12, 28),
        (11, 13, 35),
        (12, 14, 14),
        (13, 14, 7),
    ];
    numbered(14, &EDGES.map(|(a, b, tenths)| (a, b, Span::from_us(tenths * 100))))
}

/// Nodes "1" to `count` with edges (a, b, delay) of 500 Mbps.
pub fn numbered(count: u32, edges: &[(u32, u32, Span)]) -> Network {
    let link = |from: u32, to: u32, delay| Link {
        from: NodeId(from - 1),
        to: NodeId(to - 1),
        capacity: Rate::from_bps(500_000_000),
        delay,
        loss: 0.0,
        weight: 1,
    };
    let links = edges.iter().flat_map(|&(a, b, delay)| [link(a, b, delay), link(b, a, delay)]).collect();
    let nodes = (1..=count).map(|number| node(&number.to_string())).collect();
    Network::new(nodes, links).expect("a valid network")
}

/// A small random directed multigraph: parallel links, parts that hang together badly, links and
/// nodes that are down. Costs are the delays in picoseconds, capacities a few bits per second.
#[derive(Clone, Debug)]
pub struct Sample {
    pub network: Network,
    pub mask: LinkMask,
}

impl Sample {
    /// The graph with the delays as costs.
    pub fn graph(&self) -> CostGraph<'_> {
        CostGraph::new(&self.network, &self.mask, |link| self.cost(link))
    }

    pub fn cost(&self, link: LinkId) -> u64 {
        self.network.link(link).delay.as_ps()
    }

    pub fn usable(&self) -> Vec<LinkId> {
        self.network.link_ids().filter(|&link| self.mask.usable(&self.network, link)).collect()
    }

    pub fn pairs(&self) -> Vec<(NodeId, NodeId)> {
        let nodes = || self.network.node_ids();
        nodes().flat_map(|from| nodes().map(move |to| (from, to))).collect()
    }

    pub fn length(&self, links: &[LinkId]) -> Length {
        links.iter().fold(Length::ZERO, |sum, &link| sum + Length::of_link(self.cost(link)))
    }

    /// All loop-free paths, in the order that the crate promises: by cost, hops, node numbers,
    /// link ids. Found by trying every one.
    pub fn all_paths(&self, from: NodeId, to: NodeId) -> Vec<Path> {
        let mut complete = Vec::new();
        let mut links = Vec::new();
        self.extend(&mut vec![from], &mut links, to, &mut complete);
        let mut paths: Vec<Path> =
            complete.into_iter().map(|links| Path::new(&self.network, links).expect("a path")).collect();
        paths.sort_by_key(|path| self.order(path));
        paths
    }

    /// What paths are sorted by.
    pub fn order(&self, path: &Path) -> (u128, usize, Vec<NodeId>, Vec<LinkId>) {
        let cost = path.links().iter().map(|&link| u128::from(self.cost(link))).sum();
        (cost, path.hops(), path.nodes(&self.network), path.links().to_vec())
    }

    fn extend(
        &self,
        nodes: &mut Vec<NodeId>,
        links: &mut Vec<LinkId>,
        to: NodeId,
        paths: &mut Vec<Vec<LinkId>>,
    ) {
        let here = nodes[nodes.len() - 1];
        if here == to {
            if !links.is_empty() {
                paths.push(links.clone());
            }
            return;
        }
        for link in self.usable() {
            let ends = self.network.link(link);
            if ends.from == here && !nodes.contains(&ends.to) {
                nodes.push(ends.to);
                links.push(link);
                self.extend(nodes, links, to, paths);
                nodes.pop();
                links.pop();
            }
        }
    }
}

/// Samples whose links differ in delay, loss and capacity, with few values of each, so that ties are frequent:
/// no delay, no loss and links that deliver nothing are among them, and so are links that are much alike.
pub fn lossy_samples(nodes: u32, links: usize) -> impl Strategy<Value = Sample> {
    const LOSSES: [f64; 7] = [0.0, 0.001, 0.01, 0.01, 0.02, 0.3, 1.0 - f64::EPSILON];
    let losses = prop::collection::vec(0usize..LOSSES.len(), links);
    // With one value of a quantity for all links, with some, and with nearly as many as links.
    let delays = prop_oneof![1u64..2, 0u64..4, 0u64..5_000];
    (delays.prop_flat_map(move |most| samples(nodes, links, 0..most + 1, 1..4)), losses, any::<bool>())
        .prop_map(|(mut sample, losses, lossless)| {
            for (link, loss) in sample.network.link_ids().zip(losses) {
                let (_, delay, of_link) = sample.network.link_attributes(link);
                *delay = Span::from_us(delay.as_ps() * 100);
                *of_link = if lossless { 0.0 } else { LOSSES[loss] };
            }
            sample
        })
}

/// The same network with hosts at its first nodes, each with an edge of its own kind.
pub fn with_hosts(sample: Sample, edges: usize) -> Sample {
    let (mut nodes, mut links) = (sample.network.nodes().to_vec(), sample.network.links().to_vec());
    for number in 0..edges.min(nodes.len()) {
        let (host, switch) = (NodeId::from_index(nodes.len()), NodeId::from_index(number / 2));
        nodes.push(Node { name: format!("host {number}"), place: None });
        for (from, to) in [(host, switch), (switch, host)] {
            links.push(Link {
                from,
                to,
                capacity: Rate::from_bps(1 + number as u64),
                delay: Span::from_us(number as u64 * 700),
                loss: [0.0, 0.03, 0.3, 1.0 - f64::EPSILON][number],
                weight: 1,
            });
        }
    }
    let network = Network::new(nodes, links).expect("a valid network");
    let mut mask = anabranch_routing::LinkMask::all_up(&network);
    for link in sample.network.link_ids() {
        mask.set_link(link, sample.mask.usable(&sample.network, link));
    }
    Sample { network, mask }
}

/// Samples of up to `nodes` nodes and `links` links, each link of a cost and capacity (bps) in
/// these ranges.
pub fn samples(
    nodes: u32,
    links: usize,
    cost: std::ops::Range<u64>,
    capacity: std::ops::Range<u64>,
) -> impl Strategy<Value = Sample> {
    (2..=nodes).prop_flat_map(move |count| {
        let link = (0..count, 1..count, cost.clone(), capacity.clone(), prop::bool::weighted(0.9));
        let links = prop::collection::vec(link, 0..=links);
        let nodes_up = prop::collection::vec(prop::bool::weighted(0.95), count as usize);
        (links, nodes_up).prop_map(move |(links, nodes_up)| sample(count, &links, &nodes_up))
    })
}

fn sample(count: u32, links: &[(u32, u32, u64, u64, bool)], nodes_up: &[bool]) -> Sample {
    let build = |&(from, step, cost, bps, _): &(u32, u32, u64, u64, bool)| Link {
        from: NodeId(from),
        to: NodeId((from + step) % count),
        capacity: Rate::from_bps(bps),
        delay: Span::from_ps(cost),
        loss: 0.0,
        // Of another order than the delays, and with ties.
        weight: 1 + (bps % 4) as u32,
    };
    let nodes = (0..count).map(|number| node(&number.to_string())).collect();
    let network = Network::new(nodes, links.iter().map(build).collect()).expect("a valid network");
    let mut mask = LinkMask::all_up(&network);
    for (id, link) in network.link_ids().zip(links) {
        mask.set_link(id, link.4);
    }
    for (id, &up) in network.node_ids().zip(nodes_up) {
        mask.set_node(id, up);
    }
    Sample { network, mask }
}

/// The ten nodes and 21 edges of Vilela 2022: ends, delay in microseconds, loss in 1/10,000.
const TEN_NODES: [(u32, u32, u64, u64); 21] = [
    (1, 3, 8_500, 30),
    (1, 5, 4_000, 181),
    (1, 6, 1_500, 90),
    (1, 9, 3_200, 12),
    (2, 3, 4_000, 40),
    (2, 5, 5_500, 79),
    (2, 8, 1_900, 116),
    (2, 9, 7_000, 196),
    (3, 4, 1_800, 2),
    (3, 6, 9_600, 116),
    (3, 7, 8_200, 144),
    (3, 10, 4_400, 192),
    (4, 5, 500, 5),
    (4, 7, 7_300, 130),
    (4, 10, 3_000, 37),
    (5, 6, 9_400, 137),
    (5, 8, 10, 23),
    (5, 9, 6_300, 57),
    (5, 10, 5_000, 39),
    (7, 9, 5_400, 119),
    (7, 10, 7_600, 68),
];

pub fn ten_nodes() -> Network {
    let link = |from: u32, to: u32, us, loss: u64| Link {
        from: NodeId(from - 1),
        to: NodeId(to - 1),
        capacity: Rate::from_bps(1_000_000_000),
        delay: Span::from_us(us),
        loss: loss as f64 / 10_000.0,
        weight: 1,
    };
    let both = |&(a, b, us, loss): &_| [link(a, b, us, loss), link(b, a, us, loss)];
    let nodes = (1..=10).map(|number: u32| node(&number.to_string())).collect();
    Network::new(nodes, TEN_NODES.iter().flat_map(both).collect()).expect("a valid network")
}

/// d sqrt(p) written out from the links of a path, given by its nodes.
pub fn by_hand(nodes: &[u32]) -> f64 {
    let edge = |a: u32, b: u32| {
        TEN_NODES.iter().find(|edge| (edge.0, edge.1) == (a.min(b), a.max(b))).expect("an edge")
    };
    let edges: Vec<_> = nodes.windows(2).map(|pair| edge(pair[0], pair[1])).collect();
    let seconds: f64 = edges.iter().map(|edge| edge.2 as f64 / 1e6).sum();
    let delivery: f64 = edges.iter().map(|edge| 1.0 - edge.3 as f64 / 1e4).product();
    seconds * (1.0 - delivery).sqrt()
}
