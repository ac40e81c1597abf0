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
    /// Where a list of links that somebody else chose begins.
    laid: BTreeMap<Vec<LinkId>, u32>,
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
            laid: BTreeMap::new(),
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
        let old = old.map(|table| table.nodes.into_iter().zip(table.hops));
        let mut old: BTreeMap<NodeId, NextHops> = old.into_iter().flatten().collect();
        let (mut nodes, mut hops) = (Vec::new(), Vec::new());
        for (node, links) in table.next.iter().filter(|(_, links)| !links.is_empty()) {
            let unchanged = old.remove(node).filter(|hops| hops.links == *links);
            nodes.push(*node);
            hops.push(unchanged.unwrap_or_else(|| {
                let name = format!("{}=>{to}", network.node(*node).name);
                let balancer = self.balancer(&name, "next hop", vec![1.0; links.len()]);
                NextHops { links: links.clone(), balancer }
            }));
        }
        Table { nodes, hops }
    }

    fn append(&mut self, links: &[LinkId]) -> u32 {
        let start = self.path_links.len() as u32;
        self.path_links.extend_from_slice(links);
        start
    }

    /// Cursor of a packet that follows these links, which somebody else has chosen.
    pub fn lay(&mut self, links: &[LinkId]) -> u32 {
        if let Some(&start) = self.laid.get(links) {
            return start;
        }
        let start = self.append(links);
        self.laid.insert(links.to_vec(), start);
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
        let table = self.tables[packet.destination.index()].as_mut()?;
        let hops = &mut table.hops[table.nodes.binary_search(&node).ok()?];
        let choice = hops.balancer.choose(now, key(packet));
        Some(hops.links[choice])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balancer::mix;
    use crate::packet::Direction;
    use anabranch_network::{Link, Node};
    use anabranch_routing::{AdditiveMetric, LinkMask, Scheme};
    use anabranch_units::{FlowId, Rate, Span};
    use std::collections::BTreeSet;

    /// Host 0 at switch 1, hosts 4 and 5 at switch 3; between the switches a cable and node 2,
    /// whose two cables are as short together. Link 2n leads the way written, 2n + 1 back.
    fn network() -> Network {
        let link = |from, to, us| Link {
            from: NodeId(from),
            to: NodeId(to),
            capacity: Rate::from_bps(1_000_000),
            delay: Span::from_us(us),
            loss: 0.0,
        };
        let cables = [(0, 1, 1), (1, 3, 2), (1, 2, 1), (2, 3, 1), (3, 4, 1), (3, 5, 1)];
        let links = cables.iter().flat_map(|&(a, b, us)| [link(a, b, us), link(b, a, us)]).collect();
        let nodes = (0..6).map(|number| Node { name: number.to_string(), place: None }).collect();
        Network::new(nodes, links).expect("a valid network")
    }

    fn packet_to(destination: NodeId) -> Packet {
        Packet {
            flow: FlowId(0),
            direction: Direction::Forward,
            destination,
            bytes: 1500,
            cursor: HOP_BY_HOP,
            hops_left: 64,
            order: 0,
            channel: false,
        }
    }

    /// Flows from host 0 to host 4 take both ways, each from switch to switch along the table; the
    /// table knows no way from host 5, where no packet to 4 can be.
    #[test]
    fn tables_lead_hop_by_hop_over_all_equal_ways() {
        let (network, from, to) = (network(), NodeId(0), NodeId(4));
        let plan = Scheme::Ecmp { metric: AdditiveMetric::Delay }.plan(
            &network,
            &LinkMask::all_up(&network),
            &[(from, to)],
        );
        let ends = [(from, to), (NodeId(5), to)];
        let mut forwarding = Forwarding::new(Spread::Flow {}, Streams::new(1, 0), 6, ends.into_iter());
        forwarding.install(&network, &plan);
        let route = forwarding.index(from, to).expect("a pair that was given");
        let mut ways = BTreeSet::new();
        for index in 0..50 {
            let key = FlowKey { hash: mix(index + 1), index: index as u32 };
            assert_eq!(forwarding.start(Instant::ZERO, route, key), Some(HOP_BY_HOP));
            let (mut node, mut packet, mut way) = (from, packet_to(to), Vec::new());
            while node != to {
                let link = forwarding.next_link(Instant::ZERO, node, &mut packet, |_| key);
                let link = link.expect("every node on the way has a next hop");
                way.push(link.0);
                node = network.link(link).to;
            }
            ways.insert(way);
        }
        assert_eq!(ways, BTreeSet::from([vec![0, 2, 8], vec![0, 4, 6, 8]]));

        let stranger = forwarding.index(NodeId(5), to).expect("a pair that was given");
        let key = FlowKey { hash: 1, index: 0 };
        assert_eq!(forwarding.start(Instant::ZERO, stranger, key), None);
        let nowhere = forwarding.next_link(Instant::ZERO, NodeId(5), &mut packet_to(to), |_| key);
        assert_eq!(nowhere, None);
    }
}
