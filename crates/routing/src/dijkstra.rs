//! Shortest paths from and to one node: E. W. Dijkstra, "A note on two problems in connexion with
//! graphs", Numerische Mathematik 1, 1959.
//!
//! All paths between two nodes are totally ordered: by cost; then fewer hops; then the numbers of
//! the nodes along the path, the first difference deciding, lowest first (1-2-4-5 comes before
//! 1-3-6-5); then, between parallel links, the link ids in the same way. The shortest path is the
//! first in this order, and k shortest paths are the first k. Every part of a shortest path is
//! itself shortest in this order, so the paths to one node form a tree, and so do those from one.

use crate::Length;
use crate::graph::{Arc, CostGraph};
use anabranch_network::Path;
use anabranch_units::{LinkId, NodeId};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The shortest path from `from` to `to`, if there is one.
#[must_use]
pub fn shortest_path(graph: &CostGraph<'_>, from: NodeId, to: NodeId) -> Option<Path> {
    TreeTo::new(graph, to).path(graph, from)
}

/// Shortest paths from every node to one destination.
#[derive(Clone, Debug)]
pub struct TreeTo {
    to: NodeId,
    length: Vec<Length>,
    next: Vec<Option<Arc>>,
}

impl TreeTo {
    /// The shortest paths to `to`.
    #[must_use]
    pub fn new(graph: &CostGraph<'_>, to: NodeId) -> Self {
        let (length, order) = lengths(graph.node_count(), |node| graph.into(node), to);
        let mut next = vec![None; graph.node_count()];
        for &node in order.iter().filter(|&&node| node != to) {
            // In the order of the arcs, so the first that fits is the lowest node and link.
            let on_the_way = |arc: &&Arc| {
                let rest = length[arc.node.index()];
                rest < length[node.index()] && arc.length + rest == length[node.index()]
            };
            next[node.index()] = graph.out(node).iter().find(on_the_way).copied();
        }
        Self { to, length, next }
    }

    /// The destination.
    #[must_use]
    pub const fn to(&self) -> NodeId {
        self.to
    }

    /// Length of the shortest path from `from`; zero at the destination.
    #[must_use]
    pub fn length(&self, from: NodeId) -> Option<Length> {
        self.length[from.index()].finite()
    }

    /// First link of the shortest path from `from`.
    #[must_use]
    pub fn next(&self, from: NodeId) -> Option<LinkId> {
        self.next[from.index()].map(|arc| arc.link)
    }

    /// The shortest path from `from`; none at the destination itself.
    #[must_use]
    pub fn path(&self, graph: &CostGraph<'_>, from: NodeId) -> Option<Path> {
        let hops = self.length(from)?.hops() as usize;
        let mut links = Vec::with_capacity(hops);
        links.extend(self.walk(from).map(|arc| arc.link));
        (!links.is_empty()).then(|| graph.path(links))
    }

    /// Length from `from`, [`Length::INFINITE`] where there is no way.
    #[inline]
    pub(crate) fn length_or_infinite(&self, from: NodeId) -> Length {
        self.length[from.index()]
    }

    /// The shortest path from `from`, link by link.
    pub(crate) fn walk(&self, from: NodeId) -> impl Iterator<Item = Arc> + '_ {
        std::iter::successors(self.next[from.index()], |arc| self.next[arc.node.index()])
    }
}

/// Shortest paths from one source to every node.
#[derive(Clone, Debug)]
pub struct TreeFrom {
    from: NodeId,
    length: Vec<Length>,
    last: Vec<Option<Arc>>,
}

impl TreeFrom {
    /// The shortest paths from `from`.
    #[must_use]
    pub fn new(graph: &CostGraph<'_>, from: NodeId) -> Self {
        let (length, order) = lengths(graph.node_count(), |node| graph.out(node), from);
        let mut last: Vec<Option<Arc>> = vec![None; graph.node_count()];
        // Nearest first: the way to a node's predecessors is settled before its own.
        for &node in order.iter().filter(|&&node| node != from) {
            let mut best: Option<Arc> = None;
            for &arc in graph.into(node) {
                let before = length[arc.node.index()];
                if before >= length[node.index()] || before + arc.length != length[node.index()] {
                    continue;
                }
                let parent = |node: NodeId| last[node.index()].map(|arc| arc.node);
                if best.is_none_or(|best| order_of_ways(arc.node, best.node, parent) == Ordering::Less) {
                    best = Some(arc);
                }
            }
            last[node.index()] = best;
        }
        Self { from, length, last }
    }

    /// The source.
    #[must_use]
    pub const fn from(&self) -> NodeId {
        self.from
    }

    /// Length of the shortest path to `to`; zero at the source.
    #[must_use]
    pub fn length(&self, to: NodeId) -> Option<Length> {
        self.length[to.index()].finite()
    }

    /// Last link of the shortest path to `to`.
    #[must_use]
    pub fn last(&self, to: NodeId) -> Option<LinkId> {
        self.last[to.index()].map(|arc| arc.link)
    }

    /// The shortest path to `to`; none at the source itself.
    #[must_use]
    pub fn path(&self, graph: &CostGraph<'_>, to: NodeId) -> Option<Path> {
        let back = std::iter::successors(self.last[to.index()], |arc| self.last[arc.node.index()]);
        let mut links: Vec<LinkId> = back.map(|arc| arc.link).collect();
        links.reverse();
        (!links.is_empty()).then(|| graph.path(links))
    }
}

/// Which of two ways of equal length through a tree has the lower node numbers, the first
/// difference deciding. A way is given by its last node; `parent` steps back towards the root.
pub(crate) fn order_of_ways(
    mut left: NodeId,
    mut right: NodeId,
    parent: impl Fn(NodeId) -> Option<NodeId>,
) -> Ordering {
    let mut order = Ordering::Equal;
    // Before the node where they part both ways are the same, so the last difference found on the
    // way back is the first from the root.
    while left != right {
        order = left.cmp(&right);
        let (Some(before_left), Some(before_right)) = (parent(left), parent(right)) else { break };
        (left, right) = (before_left, before_right);
    }
    order
}

/// Length between `root` and every node over `arcs`, and the nodes reached, nearest first.
fn lengths<'g>(count: usize, arcs: impl Fn(NodeId) -> &'g [Arc], root: NodeId) -> (Vec<Length>, Vec<NodeId>) {
    let mut length = vec![Length::INFINITE; count];
    let mut order = Vec::with_capacity(count);
    let mut frontier = BinaryHeap::from([Reverse((Length::ZERO, root))]);
    length[root.index()] = Length::ZERO;
    while let Some(Reverse((here, node))) = frontier.pop() {
        if here > length[node.index()] {
            continue;
        }
        order.push(node);
        for arc in arcs(node) {
            let there = here + arc.length;
            if there < length[arc.node.index()] {
                length[arc.node.index()] = there;
                frontier.push(Reverse((there, arc.node)));
            }
        }
    }
    (length, order)
}
