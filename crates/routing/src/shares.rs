//! The packets of a pair on their way through a plan: the share that comes through each node and over each link, and the
//! paths that they take. Nothing else walks along a plan.

use crate::{Plan, Route, WeightedPath};
use anabranch_units::{LinkId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Which part of a pair's packets comes through nodes and over links.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Shares {
    /// Each node that has some; hop by hop, behind all that lead to it.
    pub nodes: Vec<(NodeId, f64)>,
    /// Each link that has some, in the order of the nodes.
    pub links: Vec<(LinkId, f64)>,
}

/// A path of a pair, whether a plan lists it or next hops make it, and its share of the packets.
pub type SharedPath = (Vec<LinkId>, f64);

/// Next hops towards a destination, with weights in whose proportion a node splits what comes through it.
#[derive(Clone, Copy)]
pub struct HopByHop<'n, Next> {
    /// The node behind each link.
    pub ends: &'n [NodeId],
    /// The links by which a node sends on, with their weights; none where it has no way.
    pub next: Next,
    /// The destination.
    pub to: NodeId,
}

impl<'n, Links, Next> HopByHop<'n, Next>
where
    Links: Iterator<Item = (LinkId, f64)>,
    Next: Fn(NodeId) -> Links,
{
    fn end(&self, link: LinkId) -> NodeId {
        self.ends[link.index()]
    }

    /// The links by which a node sends on; none at the destination.
    fn out(&self, node: NodeId) -> Vec<(LinkId, f64)> {
        if node == self.to { Vec::new() } else { (self.next)(node).collect() }
    }

    /// The shares of the packets from a node. Where next hops lead in a circle, what comes round is not sent on again.
    #[must_use]
    pub fn shares(&self, from: NodeId) -> Shares {
        let mut nodes: Vec<(NodeId, f64)> =
            self.in_order([from]).into_iter().map(|node| (node, 0.0)).collect();
        let place: BTreeMap<NodeId, usize> =
            nodes.iter().enumerate().map(|(at, &(node, _))| (node, at)).collect();
        nodes[place[&from]].1 = 1.0;
        let mut links = Vec::new();
        for at in 0..nodes.len() {
            let (node, share) = nodes[at];
            let out = self.out(node);
            let total: f64 = out.iter().map(|&(_, weight)| weight).sum();
            for (link, weight) in out {
                let part = share * weight / total;
                links.push((link, part));
                nodes[place[&self.end(link)]].1 += part;
            }
        }
        Shares { nodes, links }
    }

    /// The greatest sum of lengths over the paths from a node. Where next hops lead in a circle, nothing goes round.
    #[must_use]
    pub fn longest(&self, from: NodeId, length: impl Fn(LinkId) -> u64) -> u64 {
        let mut reached = BTreeMap::from([(from, 0)]);
        for node in self.in_order([from]) {
            let so_far = reached.get(&node).copied().unwrap_or(0);
            for (link, _) in self.out(node) {
                let end = reached.entry(self.end(link)).or_insert(0);
                *end = (*end).max(so_far + length(link));
            }
        }
        reached.get(&self.to).copied().unwrap_or(0)
    }

    /// What all nodes that send put on each link together, added to `on_links`; each sends so much. As by
    /// [`shares`](Self::shares), with one walk for all of them.
    pub fn add_loads(&self, sent: &BTreeMap<NodeId, f64>, on_links: &mut [f64]) {
        let mut through = sent.clone();
        for node in self.in_order(sent.keys().copied()) {
            let amount = through.get(&node).copied().unwrap_or(0.0);
            let out = self.out(node);
            let total: f64 = out.iter().map(|&(_, weight)| weight).sum();
            for (link, weight) in out {
                let part = amount * weight / total;
                on_links[link.index()] += part;
                *through.entry(self.end(link)).or_insert(0.0) += part;
            }
        }
    }

    /// The share of each node's packets that crosses a link, of those from which there is a way here.
    #[must_use]
    pub fn shares_on(
        &self,
        crossed: LinkId,
        from: impl IntoIterator<Item = NodeId>,
    ) -> BTreeMap<NodeId, f64> {
        let mut shares = BTreeMap::new();
        for node in self.in_order(from).into_iter().rev() {
            let out = self.out(node);
            let total: f64 = out.iter().map(|&(_, weight)| weight).sum();
            let part = |(link, weight): (LinkId, f64)| {
                let behind = shares.get(&self.end(link)).copied().unwrap_or(0.0);
                weight / total * (behind + if link == crossed { 1.0 } else { 0.0 })
            };
            let share = out.into_iter().map(part).sum();
            shares.insert(node, share);
        }
        shares
    }

    /// The nodes that packets come through, each behind all that lead to it: depth first, the last finished first.
    fn in_order(&self, from: impl IntoIterator<Item = NodeId>) -> Vec<NodeId> {
        let mut finished = Vec::new();
        let mut seen = BTreeSet::new();
        let mut stack: Vec<_> = from.into_iter().map(|node| (node, false)).collect();
        while let Some((node, is_done)) = stack.pop() {
            if is_done {
                finished.push(node);
            } else if seen.insert(node) {
                stack.push((node, true));
                let out = self.out(node);
                let behind = out.iter().rev().map(|&(link, _)| self.end(link));
                stack.extend(behind.filter(|node| !seen.contains(node)).map(|node| (node, false)));
            }
        }
        finished.reverse();
        finished
    }

    /// Every path of the packets from a node with its share; `None` if there are more than `most`. Where next hops
    /// lead in a circle, a path has no more links than the network.
    #[must_use]
    pub fn paths(&self, from: NodeId, most: usize) -> Option<Vec<SharedPath>> {
        let mut paths = Vec::new();
        let mut stack = vec![(from, Vec::new(), 1.0)];
        while let Some((node, path, share)) = stack.pop() {
            if node == self.to {
                paths.push((path, share));
            } else if path.len() < self.ends.len() {
                let out = self.out(node);
                let total: f64 = out.iter().map(|&(_, weight)| weight).sum();
                stack.extend(out.into_iter().rev().map(|(link, weight)| {
                    let longer: Vec<LinkId> = path.iter().copied().chain([link]).collect();
                    (self.end(link), longer, share * weight / total)
                }));
            }
            if paths.len() + stack.len() > most {
                return None;
            }
        }
        Some(paths)
    }
}

/// The share on each link of packets that take these paths, in the order of the paths.
pub fn shares_along<'p>(paths: impl IntoIterator<Item = (&'p [LinkId], f64)>) -> Vec<(LinkId, f64)> {
    let mut shares = Vec::new();
    let mut place = BTreeMap::new();
    for (links, weight) in paths {
        for &link in links {
            let at = *place.entry(link).or_insert(shares.len());
            if at == shares.len() {
                shares.push((link, 0.0));
            }
            shares[at].1 += weight;
        }
    }
    shares
}

impl Plan {
    /// The next hops towards a destination, which share equally; none where the plan has no table for it.
    #[must_use]
    pub fn next_hops<'n>(
        &'n self,
        ends: &'n [NodeId],
        to: NodeId,
    ) -> HopByHop<'n, impl Fn(NodeId) -> NextLinks<'n>> {
        let table = self.table(to);
        let next = move |node| {
            let links = table.map_or(&[][..], |table| table.at(node));
            links.iter().map(equally as fn(&LinkId) -> (LinkId, f64))
        };
        HopByHop { ends, next, to }
    }

    /// The shares of a pair's packets, by its paths or hop by hop; none without a route. The plan must be in order, as
    /// a checked one is.
    ///
    /// `ends` is the node behind each link.
    #[must_use]
    pub fn shares(&self, ends: &[NodeId], from: NodeId, to: NodeId) -> Shares {
        match self.route(from, to) {
            None => Shares::default(),
            Some(Route { paths, .. }) if paths.is_empty() => self.next_hops(ends, to).shares(from),
            Some(Route { paths, .. }) => along(ends, from, paths),
        }
    }

    /// What all routes put on each link together; each carries so much, in the order of the routes. The plan must be in
    /// order, as a checked one is.
    #[must_use]
    pub fn loads(&self, ends: &[NodeId], amounts: &[f64]) -> Vec<f64> {
        let mut on_links = vec![0.0; ends.len()];
        let mut hop_by_hop: BTreeMap<NodeId, BTreeMap<NodeId, f64>> = BTreeMap::new();
        for (route, &amount) in self.routes.iter().zip(amounts).filter(|(_, amount)| **amount != 0.0) {
            if route.paths.is_empty() {
                *hop_by_hop.entry(route.to).or_default().entry(route.from).or_insert(0.0) += amount;
            }
            for path in &route.paths {
                path.links.links().iter().for_each(|link| on_links[link.index()] += amount * path.weight);
            }
        }
        for (to, sent) in hop_by_hop {
            self.next_hops(ends, to).add_loads(&sent, &mut on_links);
        }
        on_links
    }

    /// The share of each route's packets that crosses a link, in the order of the routes. The plan must be in order.
    #[must_use]
    pub fn shares_on(&self, ends: &[NodeId], crossed: LinkId) -> Vec<f64> {
        let mut senders: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for route in self.routes.iter().filter(|route| route.paths.is_empty()) {
            senders.entry(route.to).or_default().push(route.from);
        }
        let hop_by_hop: BTreeMap<NodeId, BTreeMap<NodeId, f64>> = senders
            .into_iter()
            .map(|(to, from)| (to, self.next_hops(ends, to).shares_on(crossed, from)))
            .collect();
        let share = |route: &Route| {
            if route.paths.is_empty() {
                return hop_by_hop.get(&route.to).and_then(|shares| shares.get(&route.from)).copied();
            }
            let crossing = route.paths.iter().filter(|path| path.links.links().contains(&crossed));
            Some(crossing.map(|path| path.weight).sum())
        };
        self.routes.iter().map(|route| share(route).unwrap_or(0.0)).collect()
    }

    /// The paths of a pair with their shares, those that next hops make included; `None` if these are more than
    /// `most`. None of them without a route. The plan must be in order, as a checked one is.
    #[must_use]
    pub fn shared_paths(
        &self,
        ends: &[NodeId],
        from: NodeId,
        to: NodeId,
        most: usize,
    ) -> Option<Vec<SharedPath>> {
        match self.route(from, to) {
            None => Some(Vec::new()),
            Some(Route { paths, .. }) if paths.is_empty() => self.next_hops(ends, to).paths(from, most),
            Some(Route { paths, .. }) => {
                Some(paths.iter().map(|path| (path.links.links().to_vec(), path.weight)).collect())
            }
        }
    }

    /// Whether packets of any pair have a choice.
    #[must_use]
    pub fn splits(&self) -> bool {
        let mut hops = self.tables.iter().flat_map(|table| &table.next);
        self.routes.iter().any(|route| route.paths.len() > 1) || hops.any(|(_, links)| links.len() > 1)
    }
}

/// Links of a table, of which each has the same weight.
pub type NextLinks<'n> = std::iter::Map<std::slice::Iter<'n, LinkId>, fn(&LinkId) -> (LinkId, f64)>;

fn equally(link: &LinkId) -> (LinkId, f64) {
    (*link, 1.0)
}

fn along(ends: &[NodeId], from: NodeId, paths: &[WeightedPath]) -> Shares {
    let links = shares_along(paths.iter().map(|path| (path.links.links(), path.weight)));
    let mut nodes = vec![(from, 1.0)];
    let mut place = BTreeMap::new();
    for &(link, share) in &links {
        let node = ends[link.index()];
        let at = *place.entry(node).or_insert(nodes.len());
        if at == nodes.len() {
            nodes.push((node, 0.0));
        }
        nodes[at].1 += share;
    }
    Shares { nodes, links }
}
