//! Room in bandwidth-delay products of a round-trip time that the flows give.

use super::network::Network;
use crate::network::with_rtt;
use crate::problem::Problems;
use crate::read::Quantity;
use crate::words::quoted;
use anabranch_engine::setup::LinkSetup;
use anabranch_units::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Gives queues in bandwidth-delay products their room, where all flows of their link have one base RTT.
///
/// `connections` and `datagrams` are the ends of all flows; those of datagrams count where there are no others. What can be
/// said before routes are chosen can be said only where there is one way between any two nodes. Where it cannot, a
/// problem asks for the round-trip time.
pub fn size_queues(
    network: &mut Network,
    connections: &[(u32, u32)],
    datagrams: &[(u32, u32)],
    problems: &mut Problems,
) {
    let waiting = std::mem::take(&mut network.unsized_queues);
    if waiting.is_empty() {
        return;
    }
    let has_controller = network.controller.is_some();
    let tree = if has_controller { None } else { Tree::of(network.node_count(), &network.links) };
    let mut rtts = tree.as_ref().map_or_else(BTreeMap::new, |tree| tree.rtts(datagrams, &network.links));
    if let Some(tree) = &tree {
        rtts.extend(tree.rtts(connections, &network.links));
    }
    // No packet comes to a link that no flow crosses.
    let unused = BTreeSet::from([0]);
    for unsized_queue in waiting {
        let link = &mut network.links[unsized_queue.link];
        let crossing = rtts.get(&unsized_queue.link).unwrap_or(&unused);
        let (least, most) = (*crossing.first().unwrap_or(&0), *crossing.last().unwrap_or(&0));
        if tree.is_some() && least == most {
            link.queue = unsized_queue.queue.setup(link.queue_rate(), Span::from_ps(least)).into();
            continue;
        }
        let reason = if has_controller {
            "needs a round-trip time where there is a controller".to_owned()
        } else if tree.is_none() {
            "needs a round-trip time: there are several ways between nodes of this network".to_owned()
        } else {
            let (least, most) = (Span::from_ps(least).text(), Span::from_ps(most).text());
            format!("of which round-trip time? Flows of {least} to {most} cross {}", link.name)
        };
        let Some((products, text)) = unsized_queue.queue.products() else { continue };
        problems.add_at(&unsized_queue.place, format!("{} {reason}; {}", quoted(text), with_rtt(products)));
    }
}

/// A network with one way between any two nodes.
struct Tree {
    parents: Vec<u32>,
    ids: BTreeMap<(u32, u32), usize>,
}

impl Tree {
    /// The network of these links; none where there are several ways, or one way only.
    fn of(nodes: usize, links: &[LinkSetup]) -> Option<Self> {
        let ids: BTreeMap<_, _> = links.iter().map(|link| (link.from.0, link.to.0)).zip(0..).collect();
        if ids.len() < links.len() || ids.keys().any(|&(from, to)| !ids.contains_key(&(to, from))) {
            return None;
        }
        let mut neighbours = vec![Vec::new(); nodes];
        ids.keys().for_each(|&(from, to)| neighbours[from as usize].push(to));
        let mut parents = vec![u32::MAX; nodes];
        for root in 0..nodes {
            if parents[root] != u32::MAX {
                continue;
            }
            parents[root] = root as u32;
            let mut waiting = vec![root as u32];
            while let Some(node) = waiting.pop() {
                for &neighbour in &neighbours[node as usize] {
                    if neighbour == parents[node as usize] {
                        continue;
                    }
                    if parents[neighbour as usize] != u32::MAX {
                        return None;
                    }
                    parents[neighbour as usize] = node;
                    waiting.push(neighbour);
                }
            }
        }
        Some(Self { parents, ids })
    }

    /// For each link that a flow crosses, there or back, the propagation delays both ways of its flows.
    fn rtts(&self, flows: &[(u32, u32)], links: &[LinkSetup]) -> BTreeMap<usize, BTreeSet<u64>> {
        let mut rtts: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        for &(from, to) in flows.iter().collect::<BTreeSet<_>>() {
            let hops = self.hops(from, to);
            let crossed: Vec<_> = hops
                .iter()
                .flat_map(|&(a, b)| [(a, b), (b, a)])
                .filter_map(|hop| self.ids.get(&hop))
                .collect();
            let rtt = crossed.iter().map(|&&link| links[link].delay.as_ps()).sum();
            for &link in crossed {
                rtts.entry(link).or_default().insert(rtt);
            }
        }
        rtts
    }

    /// The hops from one node to another, over their nearest common ancestor.
    fn hops(&self, from: u32, to: u32) -> Vec<(u32, u32)> {
        let (mut up, mut down) = (self.to_root(from), self.to_root(to));
        while !up.is_empty() && up.last() == down.last() {
            up.pop();
            down.pop();
        }
        up.extend(down.iter().rev().map(|&(node, parent)| (parent, node)));
        up
    }

    fn to_root(&self, mut node: u32) -> Vec<(u32, u32)> {
        let mut hops = Vec::new();
        while self.parents[node as usize] != node {
            hops.push((node, self.parents[node as usize]));
            node = self.parents[node as usize];
        }
        hops
    }
}
