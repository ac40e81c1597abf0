//! Minimum-cost flow by successive shortest paths, with node potentials that keep the costs of
//! the residual graph from below zero: J. Edmonds, R. M. Karp, Journal of the ACM 19, 1972;
//! N. Tomizawa, Networks 1, 1971. The tree of shortest paths to the destination, which all
//! sources share, gives the first potentials.

use crate::graph::CostGraph;
use crate::{Length, TreeTo};
use anabranch_units::{LinkId, NodeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flows over one graph, computed for one pair after another.
#[derive(Debug)]
pub(crate) struct MinCostFlow<'g> {
    graph: &'g CostGraph<'g>,
    /// Per link.
    capacity: Vec<u64>,
    /// Per link.
    flow: Vec<u64>,
    /// Links that have carried flow since the last start.
    touched: Vec<LinkId>,
    /// Length left to the destination, raised as flow fills the shortest ways. A residual link
    /// never is longer than the step in potential over it.
    potential: Vec<Length>,
    /// How much longer than its potential a way to each node is.
    excess: Vec<Length>,
    last: Vec<Option<Step>>,
    frontier: BinaryHeap<Reverse<(Length, NodeId)>>,
}

/// A step through the residual graph.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: NodeId,
    link: LinkId,
    /// Along the link; else back over it, which takes flow off.
    forward: bool,
}

/// Part of a flow: so much over these links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FlowPath {
    pub(crate) links: Vec<LinkId>,
    pub(crate) amount: u64,
}

impl<'g> MinCostFlow<'g> {
    /// For flows over this graph, with a capacity for each link.
    pub(crate) fn new(graph: &'g CostGraph<'g>, capacity: impl Fn(LinkId) -> u64) -> Self {
        let nodes = graph.node_count();
        Self {
            graph,
            capacity: graph.network().link_ids().map(capacity).collect(),
            flow: vec![0; graph.link_count()],
            touched: Vec::new(),
            potential: vec![Length::INFINITE; nodes],
            excess: vec![Length::INFINITE; nodes],
            last: vec![None; nodes],
            frontier: BinaryHeap::new(),
        }
    }

    /// A flow of `most` from `from` to the destination of `tree` or, if the links do not let so much
    /// through or `most` is `None`, a maximum flow: of all flows of this amount one of the least
    /// cost and, among those, the fewest hops. With capacity one on every link the amount is the
    /// number of paths.
    ///
    /// The flow comes as paths in the order that [`crate::dijkstra`] states: first the first of all
    /// that it can be taken apart into, with as much as it carries, and so on with the rest.
    pub(crate) fn solve(&mut self, tree: &TreeTo, from: NodeId, most: Option<u64>) -> Vec<FlowPath> {
        self.start(tree);
        if most == Some(0) || from == tree.to() || tree.length(from).is_none() {
            return Vec::new();
        }
        let first: Vec<LinkId> = tree.walk(from).map(|arc| arc.link).collect();
        let mut left = most;
        let sent = self.push_along(&first, left);
        left = left.map(|left| left - sent);
        while left != Some(0) {
            let Some(sent) = self.augment(from, tree.to(), left) else { break };
            left = left.map(|left| left - sent);
        }
        self.take_apart(from, tree.to())
    }

    fn start(&mut self, tree: &TreeTo) {
        for link in self.touched.drain(..) {
            self.flow[link.index()] = 0;
        }
        for (node, potential) in self.graph.network().node_ids().zip(&mut self.potential) {
            *potential = tree.length_or_infinite(node);
        }
    }

    /// Fills one path of the empty network with `most` or as much as fits, and says how much. It is
    /// shortest, so the potentials stay.
    fn push_along(&mut self, links: &[LinkId], most: Option<u64>) -> u64 {
        let amount = links.iter().map(|link| self.capacity[link.index()]).chain(most).min().unwrap_or(0);
        for &link in links {
            self.flow[link.index()] = amount;
            self.touched.push(link);
        }
        amount
    }

    /// Sends `most` or as much as fits along a shortest path of the residual graph, and says how
    /// much; `None` if there is no path.
    fn augment(&mut self, from: NodeId, to: NodeId, most: Option<u64>) -> Option<u64> {
        let visited = self.search(from, to)?;
        let longest = self.excess[to.index()];
        for node in visited {
            // Of the nodes visited none is farther than the destination.
            let raise = longest - self.excess[node.index()];
            self.potential[node.index()] += raise;
        }
        let last = &self.last;
        let back = std::iter::successors(last[to.index()], |step| last[step.from.index()]);
        let steps: Vec<Step> = back.collect();
        let room = |step: &Step| {
            let link = step.link.index();
            if step.forward { self.capacity[link] - self.flow[link] } else { self.flow[link] }
        };
        let amount = steps.iter().map(room).chain(most).min().expect("the two ends differ");
        for step in steps {
            let flow = &mut self.flow[step.link.index()];
            if step.forward {
                *flow += amount;
                self.touched.push(step.link);
            } else {
                *flow -= amount;
            }
        }
        Some(amount)
    }

    /// Finds the nodes nearer than `to`, and `to`, with the steps that lead there; `None` if it
    /// is out of reach.
    fn search(&mut self, from: NodeId, to: NodeId) -> Option<Vec<NodeId>> {
        self.excess.fill(Length::INFINITE);
        self.frontier.clear();
        self.excess[from.index()] = Length::ZERO;
        self.last[from.index()] = None;
        self.frontier.push(Reverse((Length::ZERO, from)));
        let mut visited = Vec::new();
        while let Some(Reverse((excess, node))) = self.frontier.pop() {
            if excess > self.excess[node.index()] {
                continue;
            }
            visited.push(node);
            if node == to {
                return Some(visited);
            }
            self.relax_all(node, excess);
        }
        None
    }

    fn relax_all(&mut self, node: NodeId, excess: Length) {
        let graph = self.graph;
        let here = self.potential[node.index()];
        for arc in graph.out(node) {
            let (link, there) = (arc.link.index(), self.potential[arc.node.index()]);
            if self.flow[link] < self.capacity[link] && there != Length::INFINITE {
                let step = Step { from: node, link: arc.link, forward: true };
                self.relax(arc.node, excess + (arc.length + there - here), step);
            }
        }
        for arc in graph.into(node) {
            if self.flow[arc.link.index()] > 0 {
                let there = self.potential[arc.node.index()];
                let step = Step { from: node, link: arc.link, forward: false };
                self.relax(arc.node, excess + (there - (arc.length + here)), step);
            }
        }
    }

    fn relax(&mut self, node: NodeId, excess: Length, step: Step) {
        if excess < self.excess[node.index()] {
            self.excess[node.index()] = excess;
            self.last[node.index()] = Some(step);
            self.frontier.push(Reverse((excess, node)));
        }
    }

    /// Takes the flow apart, shortest path first. A flow of least cost has no circles, since
    /// every link has a positive length, so nothing is left over.
    fn take_apart(&mut self, from: NodeId, to: NodeId) -> Vec<FlowPath> {
        let mut parts = Vec::new();
        while let Some(links) = self.shortest_in_flow(from, to) {
            let amount = links.iter().map(|link| self.flow[link.index()]).min().expect("a path has links");
            for link in &links {
                self.flow[link.index()] -= amount;
            }
            parts.push(FlowPath { links, amount });
        }
        debug_assert!(self.touched.iter().all(|link| self.flow[link.index()] == 0), "a circle in the flow");
        parts
    }

    /// The shortest path over links that carry flow, ties as everywhere.
    fn shortest_in_flow(&mut self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let graph = self.graph;
        let left = &mut self.excess;
        left.fill(Length::INFINITE);
        left[to.index()] = Length::ZERO;
        self.frontier.clear();
        self.frontier.push(Reverse((Length::ZERO, to)));
        while let Some(Reverse((length, node))) = self.frontier.pop() {
            if length > left[node.index()] {
                continue;
            }
            for arc in graph.into(node).iter().filter(|arc| self.flow[arc.link.index()] > 0) {
                let there = length + arc.length;
                if there < left[arc.node.index()] {
                    left[arc.node.index()] = there;
                    self.frontier.push(Reverse((there, arc.node)));
                }
            }
        }
        left[from.index()].finite()?;
        let (mut links, mut node) = (Vec::new(), from);
        while node != to {
            let onward = graph.out(node).iter().find(|arc| {
                let rest = left[arc.node.index()];
                self.flow[arc.link.index()] > 0
                    && rest < left[node.index()]
                    && arc.length + rest == left[node.index()]
            });
            let arc = onward.expect("a node at a finite length has a link that leads on");
            links.push(arc.link);
            node = arc.node;
        }
        Some(links)
    }
}
