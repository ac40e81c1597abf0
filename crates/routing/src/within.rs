//! Shortest paths within limits on delay and loss, the resource-constrained shortest path problem: label setting with
//! dominance (H. C. Joksch, Journal of Mathematical Analysis and Applications 14, 1966; Y. P. Aneja, V. Aggarwal,
//! K. P. K. Nair, Networks 13, 1983), led by the least length, delay and loss that are left to go.
//!
//! One way to a node makes another useless if it is no longer and has spent no more delay and no more loss, and comes
//! first in the order that [`crate::dijkstra`] states: then it does so behind any links that follow. If the first
//! comes back to a node there, cutting that loop out gives a shorter path that spends no more, so no path found loops.
//!
//! The problem is NP-hard, and the number of such ways can grow exponentially in contrived networks (M. R. Garey,
//! D. S. Johnson, 1979, ND30). A way that cannot keep the limits to its end is dropped at once, so that tight limits
//! make a search short.

use crate::graph::{Arc, CostGraph};
use crate::labels::spelling;
use crate::limits::Spent;
use crate::{AdditiveMetric, Length, LinkMask, TreeTo};
use anabranch_network::Network;
use anabranch_units::{LinkId, NodeId};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What links spend, and what is left to go at the least.
#[derive(Debug)]
pub(crate) struct Limited<'n> {
    /// By link.
    on: Vec<Spent>,
    delays: CostGraph<'n>,
    losses: CostGraph<'n>,
    /// For the destination asked for last: what every node still spends at the least, in each by itself.
    rest: Option<(NodeId, Vec<Spent>)>,
}

/// The limits on paths to one destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within<'a> {
    on: &'a [Spent],
    rest: &'a [Spent],
    budget: Spent,
}

impl<'n> Limited<'n> {
    /// Over the links between nodes to `keep`.
    pub(crate) fn new(network: &'n Network, mask: &LinkMask, keep: impl Fn(NodeId) -> bool) -> Self {
        let by = |metric: AdditiveMetric| {
            CostGraph::within(network, mask, |link| metric.cost(network, link), &keep)
        };
        let on = network.link_ids().map(|link| Spent::on(network, link)).collect();
        Self { on, delays: by(AdditiveMetric::Delay), losses: by(AdditiveMetric::Loss), rest: None }
    }

    /// For paths to a node that may spend so much.
    pub(crate) fn to(&mut self, to: NodeId, budget: Spent) -> Within<'_> {
        if self.rest.as_ref().is_none_or(|(destination, _)| *destination != to) {
            let (delays, losses) = (TreeTo::new(&self.delays, to), TreeTo::new(&self.losses, to));
            let least = |tree: &TreeTo, node| {
                let length = tree.length(node).map_or(u128::MAX, Length::cost);
                u64::try_from(length).unwrap_or(u64::MAX)
            };
            let nodes = (0..self.delays.node_count()).map(NodeId::from_index);
            let rest = nodes.map(|node| Spent::new(least(&delays, node), least(&losses, node))).collect();
            self.rest = Some((to, rest));
        }
        let rest = self.rest.as_ref().map_or(&[][..], |(_, rest)| rest);
        Within { on: &self.on, rest, budget }
    }
}

impl Within<'_> {
    /// What links spend.
    pub(crate) fn over(&self, links: impl IntoIterator<Item = LinkId>) -> Spent {
        links.into_iter().fold(Spent::NOTHING, |sum, link| sum.then(self.on[link.index()]))
    }

    /// Whether a path over these links keeps the limits.
    pub(crate) fn admits(&self, links: impl IntoIterator<Item = LinkId>) -> bool {
        self.over(links).within(self.budget)
    }

    /// What a way has spent behind an arc; `None` where nothing that goes on from there keeps the limits.
    pub(crate) fn behind(&self, spent: Spent, arc: Arc) -> Option<Spent> {
        let there = spent.then(self.on[arc.link.index()]);
        there.then(self.rest[arc.node.index()]).within(self.budget).then_some(there)
    }
}

/// A way to a node.
#[derive(Clone, Copy, Debug)]
struct Label {
    length: Length,
    spent: Spent,
    node: NodeId,
    /// The way that this one extends, and the arc by which it does; none at the start.
    last: Option<(u32, Arc)>,
}

/// The search, with the memory that the next one uses again.
#[derive(Debug)]
pub(crate) struct LabelSearch {
    labels: Vec<Label>,
    /// The ways kept to every node, shortest first.
    at: Vec<Vec<u32>>,
    touched: Vec<NodeId>,
    /// Ways to extend by (bound of the whole, length so far). The shorter way so far goes first among equal bounds,
    /// so that all ways of a length to a node are known when the first of them is extended.
    frontier: BinaryHeap<Reverse<(Length, Length, u32)>>,
}

impl LabelSearch {
    /// For graphs of so many nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        let at = vec![Vec::new(); nodes];
        Self { labels: Vec::new(), at, touched: Vec::new(), frontier: BinaryHeap::new() }
    }

    /// The shortest way from a node, where a path has spent so much already, to the destination of `tree` over arcs
    /// that `open` leaves open, given the node that an arc leaves.
    pub(crate) fn run(
        &mut self,
        graph: &CostGraph<'_>,
        (tree, within): (&TreeTo, Within<'_>),
        (from, spent): (NodeId, Spent),
        open: impl Fn(NodeId, &Arc) -> bool,
    ) -> Option<(Length, Vec<Arc>)> {
        self.clear();
        self.push(tree, Label { length: Length::ZERO, spent, node: from, last: None });
        let mut best: Option<u32> = None;
        while let Some(Reverse((bound, _, number))) = self.frontier.pop() {
            if best.is_some_and(|best| bound > self.labels[best as usize].length) {
                break;
            }
            let Label { length, spent, node, .. } = self.labels[number as usize];
            if node == tree.to() {
                if best.is_none_or(|best| self.order(number, best) == Ordering::Less) {
                    best = Some(number);
                }
                continue;
            }
            if !self.keep(number) {
                continue;
            }
            for &arc in graph.out(node).iter().filter(|arc| open(node, arc)) {
                if tree.length_or_infinite(arc.node) == Length::INFINITE {
                    continue;
                }
                if let Some(spent) = within.behind(spent, arc) {
                    let (length, last) = (length + arc.length, Some((number, arc)));
                    self.push(tree, Label { length, spent, node: arc.node, last });
                }
            }
        }
        best.map(|best| (self.labels[best as usize].length, self.way(best)))
    }

    fn clear(&mut self) {
        for node in self.touched.drain(..) {
            self.at[node.index()].clear();
        }
        self.labels.clear();
        self.frontier.clear();
    }

    fn push(&mut self, tree: &TreeTo, label: Label) {
        let number = u32::try_from(self.labels.len()).expect("memory ends before 2^32 ways");
        let bound = label.length + tree.length_or_infinite(label.node);
        self.frontier.push(Reverse((bound, label.length, number)));
        self.labels.push(label);
    }

    /// Whether a way is to be kept and extended. Notes it at its node if so; if it is a better spelling of one that is
    /// there, it takes its place.
    fn keep(&mut self, number: u32) -> bool {
        let Label { length, spent, node, last } = self.labels[number as usize];
        for place in 0..self.at[node.index()].len() {
            let other = self.at[node.index()][place];
            let other_label = self.labels[other as usize];
            if !other_label.spent.within(spent) {
                continue;
            }
            if other_label.length < length || self.order(other, number) != Ordering::Greater {
                return false;
            }
            if other_label.spent == spent {
                // Nothing that extends the other has been looked at: it is longer, so comes later.
                self.labels[other as usize].last = last;
                return false;
            }
        }
        if self.at[node.index()].is_empty() {
            self.touched.push(node);
        }
        self.at[node.index()].push(number);
        true
    }

    /// Which of two ways of equal length to one node comes first.
    fn order(&self, left: u32, right: u32) -> Ordering {
        spelling(left, right, |label| {
            let Label { node, last, .. } = self.labels[label as usize];
            (node, last.map(|(before, arc)| (before, arc.link)))
        })
    }

    fn way(&self, number: u32) -> Vec<Arc> {
        let last = |number: u32| self.labels[number as usize].last;
        let back = std::iter::successors(last(number), |&(before, _)| last(before));
        let mut arcs: Vec<Arc> = back.map(|(_, arc)| arc).collect();
        arcs.reverse();
        arcs
    }
}
