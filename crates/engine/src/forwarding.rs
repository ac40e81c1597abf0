//! Where a packet goes next: source routes along a plan's paths, or tables hop by hop.

use crate::balancer::{Balancer, FlowKey};
use crate::packet::Packet;
use crate::random::Streams;
use crate::setup::Spread;
use anabranch_network::Network;
use anabranch_routing::Plan;
use anabranch_units::{Instant, LinkId, NodeId};
use std::collections::BTreeMap;

/// Cursor of a packet that is forwarded hop by hop.
pub const HOP_BY_HOP: u32 = u32::MAX;

/// A plan made ready for forwarding.
pub struct Forwarding {
    spread: Spread,
    streams: Streams,
    /// The links of all paths, one path after the other. Paths of replaced plans stay: packets
    /// may still be on them.
    path_links: Vec<LinkId>,
    /// Routes by pair; flows hold an index.
    routes: Vec<Option<PathChoice>>,
    pairs: BTreeMap<(NodeId, NodeId), u32>,
    /// Hop-by-hop tables by destination.
    tables: Vec<Option<Table>>,
    /// Plans installed so far; random streams of a later plan are its own.
    generation: u32,
}

enum PathChoice {
    /// First position in `path_links` of each path.
    Paths {
        starts: Vec<u32>,
        balancer: Balancer,
    },
    HopByHop,
}

/// Next hops towards one destination.
struct Table {
    /// The nodes that have next hops, in order.
    nodes: Vec<NodeId>,
    /// Those of each of these nodes.
    hops: Vec<NextHops>,
}

struct NextHops {
    links: Vec<LinkId>,
    balancer: Balancer,
}

/// Index of a pair's route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouteIndex(u32);

impl Forwarding {
    /// No routes yet, for these pairs.
    #[must_use]
    pub fn new(
        spread: Spread,
        streams: Streams,
        nodes: usize,
        pairs: impl Iterator<Item = (NodeId, NodeId)>,
    ) -> Self {
        let mut index = BTreeMap::new();
        for pair in pairs {
            let next = index.len() as u32;
            index.entry(pair).or_insert(next);
        }
        Self {
            spread,
            streams,
            path_links: Vec::new(),
            routes: index.iter().map(|_| None).collect(),
            pairs: index,
            tables: (0..nodes).map(|_| None).collect(),
            generation: 0,
        }
    }

    /// The index of a pair that was given to [`Forwarding::new`].
    #[must_use]
    pub fn index(&self, from: NodeId, to: NodeId) -> Option<RouteIndex> {
        self.pairs.get(&(from, to)).copied().map(RouteIndex)
    }

    /// Puts a plan in force. Pairs that it lacks have no route.
    pub fn install(&mut self, network: &Network, plan: &Plan) {
        self.routes.iter_mut().for_each(|route| *route = None);
        self.tables.iter_mut().for_each(|table| *table = None);
        for route in &plan.routes {
            let Some(&index) = self.pairs.get(&(route.from, route.to)) else { continue };
            let choice = if route.paths.is_empty() {
                PathChoice::HopByHop
            } else {
                let name = format!("{}->{}", network.node(route.from).name, network.node(route.to).name);
                let starts = route.paths.iter().map(|path| self.append(path.links.links())).collect();
                let weights = route.paths.iter().map(|path| path.weight).collect();
                PathChoice::Paths { starts, balancer: self.balancer(&name, "path", weights) }
            };
            self.routes[index as usize] = Some(choice);
        }
        for table in &plan.tables {
            let to = &network.node(table.to).name;
            let (mut nodes, mut hops) = (Vec::new(), Vec::new());
            for (node, links) in table.next.iter().filter(|(_, links)| !links.is_empty()) {
                let name = format!("{}=>{to}", network.node(*node).name);
                nodes.push(*node);
                hops.push(NextHops {
                    links: links.clone(),
                    balancer: self.balancer(&name, "next hop", vec![1.0; links.len()]),
                });
            }
            self.tables[table.to.index()] = Some(Table { nodes, hops });
        }
        self.generation += 1;
    }

    fn append(&mut self, links: &[LinkId]) -> u32 {
        let start = self.path_links.len() as u32;
        self.path_links.extend_from_slice(links);
        start
    }

    fn balancer(&self, name: &str, purpose: &str, weights: Vec<f64>) -> Balancer {
        let purpose = if self.generation == 0 {
            purpose.to_owned()
        } else {
            format!("{purpose} of plan {}", self.generation)
        };
        Balancer::new(self.spread, weights, self.streams.stream(name, &purpose))
    }

    /// Where the route of a new packet starts; `None` where there is no route.
    #[inline]
    pub fn start(&mut self, now: Instant, route: RouteIndex, key: FlowKey) -> Option<u32> {
        match self.routes[route.0 as usize].as_mut()? {
            PathChoice::HopByHop => Some(HOP_BY_HOP),
            PathChoice::Paths { starts, balancer } => Some(starts[balancer.choose(now, key)]),
        }
    }

    /// The link a packet leaves `node` on; `None` where there is no way.
    #[inline]
    pub fn next_link(
        &mut self,
        now: Instant,
        node: NodeId,
        packet: &mut Packet,
        key: impl FnOnce(&Packet) -> FlowKey,
    ) -> Option<LinkId> {
        if packet.cursor != HOP_BY_HOP {
            let link = self.path_links[packet.cursor as usize];
            packet.cursor += 1;
            return Some(link);
        }
        let table = self.tables[packet.destination.index()].as_mut()?;
        let hops = &mut table.hops[table.nodes.binary_search(&node).ok()?];
        let choice = hops.balancer.choose(now, key(packet));
        Some(hops.links[choice])
    }
}
