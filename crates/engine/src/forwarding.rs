//! Where a packet goes next: source routes along a plan's paths, or tables hop by hop.

use crate::balancer::{Balancer, FlowKey};
use crate::packet::Packet;
use crate::random::Streams;
use crate::setup::Spread;
use anabranch_network::Network;
use anabranch_routing::{Plan, Route, Table as PlanTable};
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
        balancer: Box<Balancer>,
    },
    HopByHop,
}

/// Next hops of every node towards one destination.
struct Table {
    hops: Vec<Option<NextHops>>,
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

    /// Puts a plan in force. Pairs that it lacks have no route. What is the same as before keeps its
    /// balancer: a change elsewhere moves no flow and no flowlet.
    pub fn install(&mut self, network: &Network, plan: &Plan) {
        let mut old: Vec<_> = self.routes.iter_mut().map(Option::take).collect();
        for route in &plan.routes {
            let Some(&index) = self.pairs.get(&(route.from, route.to)) else { continue };
            let index = index as usize;
            let unchanged = old[index].take().filter(|choice| self.is_same(choice, route));
            self.routes[index] = Some(unchanged.unwrap_or_else(|| self.choice(network, route)));
        }
        let mut old: Vec<_> = self.tables.iter_mut().map(Option::take).collect();
        for table in &plan.tables {
            let old = old[table.to.index()].take();
            self.tables[table.to.index()] = Some(self.table(network, table, old));
        }
        self.generation += 1;
    }

    fn is_same(&self, choice: &PathChoice, route: &Route) -> bool {
        let PathChoice::Paths { starts, balancer } = choice else { return route.paths.is_empty() };
        let weights: Vec<f64> = route.paths.iter().map(|path| path.weight).collect();
        balancer.has_weights(&weights)
            && starts.iter().zip(&route.paths).all(|(&start, path)| {
                // The rest of the list may belong to other paths, but a path ends at its destination.
                self.path_links[start as usize..].starts_with(path.links.links())
            })
    }

    fn choice(&mut self, network: &Network, route: &Route) -> PathChoice {
        if route.paths.is_empty() {
            return PathChoice::HopByHop;
        }
        let name = format!("{}->{}", network.node(route.from).name, network.node(route.to).name);
        let starts = route.paths.iter().map(|path| self.append(path.links.links())).collect();
        let weights = route.paths.iter().map(|path| path.weight).collect();
        PathChoice::Paths { starts, balancer: Box::new(self.balancer(&name, "path", weights)) }
    }

    fn table(&self, network: &Network, table: &PlanTable, old: Option<Table>) -> Table {
        let to = &network.node(table.to).name;
        let mut old = old.map_or_else(Vec::new, |table| table.hops);
        let hops = table.next.iter().enumerate().map(|(node, links)| {
            if links.is_empty() {
                return None;
            }
            let before = old.get_mut(node).and_then(Option::take);
            Some(before.filter(|hops| hops.links == *links).unwrap_or_else(|| {
                let name = format!("{}=>{to}", network.nodes()[node].name);
                let balancer = self.balancer(&name, "next hop", vec![1.0; links.len()]);
                NextHops { links: links.clone(), balancer }
            }))
        });
        Table { hops: hops.collect() }
    }

    fn append(&mut self, links: &[LinkId]) -> u32 {
        let start = self.path_links.len() as u32;
        self.path_links.extend_from_slice(links);
        start
    }

    /// The salt is the same in every plan, so that flows come back to their ways when a link does; the
    /// random choices of a later plan are its own.
    fn balancer(&self, name: &str, purpose: &str, weights: Vec<f64>) -> Balancer {
        let mut stream = self.streams.stream(name, purpose);
        let salt = stream.next_u64();
        if self.generation > 0 {
            stream = self.streams.stream(name, &format!("{purpose} of plan {}", self.generation));
        }
        Balancer::new(self.spread, weights, salt, stream)
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
        let hops = self.tables[packet.destination.index()].as_mut()?.hops[node.index()].as_mut()?;
        let choice = hops.balancer.choose(now, key(packet));
        Some(hops.links[choice])
    }
}
