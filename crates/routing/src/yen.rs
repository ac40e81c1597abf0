//! K shortest loopless paths: J. Y. Yen, "Finding the k shortest loopless paths in a network",
//! Management Science 17, 1971, with the partition of E. L. Lawler, Management Science 18, 1972,
//! under which no path is found twice. The tree of shortest paths to the destination, which all
//! sources share, bounds what is left of a path from below: mostly it gives the deviation without
//! a search, and else it leads an A* search (P. E. Hart, N. J. Nilsson, B. Raphael, IEEE
//! Transactions on Systems Science and Cybernetics 4, 1968). A search is put off until its bound
//! is the least of all, so that many are never made.

use crate::dijkstra::order_of_ways;
use crate::graph::{Arc, CostGraph};
use crate::limits::Spent;
use crate::marks::Marks;
use crate::within::{LabelSearch, Within};
use crate::{Length, TreeTo};
use anabranch_network::Path;
use anabranch_units::{LinkId, NodeId};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The `k` shortest paths from `from` to `to`, or as many as exist, in the order that
/// [`crate::dijkstra`] states.
#[must_use]
pub fn k_shortest_paths(graph: &CostGraph<'_>, from: NodeId, to: NodeId, k: usize) -> Vec<Path> {
    let tree = TreeTo::new(graph, to);
    KShortest::new(graph).paths(&tree, from).take(k).collect()
}

/// Finds k shortest paths for one pair after another over one graph.
#[derive(Debug)]
pub struct KShortest<'g> {
    graph: &'g CostGraph<'g>,
    /// Nodes of the prefix from which a path deviates; it may not come back to them.
    prefix: Marks,
    search: Search,
    label_search: LabelSearch,
}

impl<'g> KShortest<'g> {
    /// For paths over this graph.
    #[must_use]
    pub fn new(graph: &'g CostGraph<'g>) -> Self {
        let count = graph.node_count();
        let (search, label_search) = (Search::new(count), LabelSearch::new(count));
        Self { graph, prefix: Marks::new(count), search, label_search }
    }

    /// All paths from `from` to the destination of `tree`, shortest first, each found when it is
    /// asked for. None from the destination to itself. The tree must be one of the same graph.
    pub fn paths<'a>(
        &'a mut self,
        tree: &'a TreeTo,
        from: NodeId,
    ) -> impl Iterator<Item = Path> + use<'a, 'g> {
        self.paths_within(tree, from, None)
    }

    /// The same among the paths within limits, if there are some.
    pub(crate) fn paths_within<'a>(
        &'a mut self,
        tree: &'a TreeTo,
        from: NodeId,
        within: Option<Within<'a>>,
    ) -> impl Iterator<Item = Path> + use<'a, 'g> {
        let mut paths = Paths { finder: self, tree, within, candidates: BinaryHeap::new(), last: None };
        let links: Vec<LinkId> = tree.walk(from).map(|arc| arc.link).collect();
        if let (Some(length), false) = (tree.length(from), links.is_empty()) {
            let mut first =
                Candidate { length, is_found: false, nodes: vec![from], links, spur: 0, barred: Vec::new() };
            if within.is_none_or(|within| within.admits(first.links.iter().copied())) {
                first.is_found = true;
                first.nodes.extend(tree.walk(from).map(|arc| arc.node));
            } else {
                first.links.clear();
            }
            paths.candidates.push(Reverse(first));
        }
        paths
    }
}

/// The shortest path of one part of all paths: of those that begin with the first `spur` links
/// of `links` and do not go on with a barred one. The parts never overlap.
///
/// The fields are in the order of comparison: at equal length a path still to be found comes
/// first, because it may turn out to be the first in order.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Candidate {
    /// The length of the path or, until it is found, a lower bound.
    length: Length,
    is_found: bool,
    /// All nodes; up to the one after `spur` links until the path is found.
    nodes: Vec<NodeId>,
    /// All links; `spur` of them until the path is found.
    links: Vec<LinkId>,
    spur: usize,
    barred: Vec<LinkId>,
}

struct Paths<'a, 'g> {
    finder: &'a mut KShortest<'g>,
    tree: &'a TreeTo,
    within: Option<Within<'a>>,
    candidates: BinaryHeap<Reverse<Candidate>>,
    /// The path given out last, whose deviations are not yet among the candidates.
    last: Option<Candidate>,
}

impl Iterator for Paths<'_, '_> {
    type Item = Path;

    fn next(&mut self) -> Option<Path> {
        if let Some(last) = self.last.take() {
            self.deviate(&last);
        }
        while let Some(Reverse(candidate)) = self.candidates.pop() {
            if candidate.is_found {
                let path = self.finder.graph.path(candidate.links.clone());
                self.last = Some(candidate);
                return Some(path);
            }
            self.find(candidate);
        }
        None
    }
}

impl Paths<'_, '_> {
    /// Splits what is left of the part that `path` was the shortest of: one part for each node at
    /// which another path may leave it.
    fn deviate(&mut self, path: &Candidate) {
        self.finder.prefix.clear();
        let mut length = Length::ZERO;
        for (spur, &node) in path.nodes[..path.links.len()].iter().enumerate() {
            self.finder.prefix.set(node);
            if spur >= path.spur {
                let mut barred = if spur == path.spur { path.barred.clone() } else { Vec::new() };
                barred.push(path.links[spur]);
                self.branch(path, spur, length, barred);
            }
            let arc = self.finder.graph.out(node).iter().find(|arc| arc.link == path.links[spur]);
            length += arc.expect("the links of a path are in the graph").length;
        }
    }

    /// Adds the part of the paths that leave `path` after `spur` links, if it is not empty.
    /// `length` is that of these links.
    fn branch(&mut self, path: &Candidate, spur: usize, length: Length, barred: Vec<LinkId>) {
        let KShortest { graph, prefix, .. } = &*self.finder;
        let spent = self.spent(&path.links[..spur]);
        let mut least: Option<(Length, Arc)> = None;
        for &arc in graph.out(path.nodes[spur]) {
            let rest = self.tree.length_or_infinite(arc.node);
            if rest == Length::INFINITE || prefix.has(arc.node) || barred.contains(&arc.link) {
                continue;
            }
            if self.within.is_some_and(|within| within.behind(spent, arc).is_none()) {
                continue;
            }
            let bound = arc.length + rest;
            if least.is_none_or(|(least, _)| bound < least) {
                least = Some((bound, arc));
            }
        }
        let Some((bound, arc)) = least else { return };
        let mut candidate = Candidate {
            length: length + bound,
            is_found: false,
            nodes: path.nodes[..=spur].to_vec(),
            links: path.links[..spur].to_vec(),
            spur,
            barred,
        };
        // Where the shortest path from the next node stays clear of the prefix and within the limits it
        // meets the bound, and no path that does comes before it.
        let deviation = || std::iter::once(arc).chain(self.tree.walk(arc.node));
        let whole = || candidate.links.iter().copied().chain(deviation().map(|arc| arc.link));
        if !self.tree.walk(arc.node).any(|arc| prefix.has(arc.node))
            && self.within.is_none_or(|within| within.admits(whole()))
        {
            candidate.is_found = true;
            for arc in deviation() {
                candidate.nodes.push(arc.node);
                candidate.links.push(arc.link);
            }
        }
        self.candidates.push(Reverse(candidate));
    }

    /// What links spend of the limits; nothing where there are none.
    fn spent(&self, links: &[LinkId]) -> Spent {
        self.within.map_or(Spent::NOTHING, |within| within.over(links.iter().copied()))
    }

    /// Searches the shortest path of a part and puts it back as found, if there is one.
    fn find(&mut self, mut candidate: Candidate) {
        let spent = self.spent(&candidate.links);
        let KShortest { graph, prefix, search, label_search } = &mut *self.finder;
        prefix.clear();
        for &node in &candidate.nodes {
            prefix.set(node);
        }
        let spur = candidate.nodes[candidate.spur];
        let bound_at_spur = candidate.length;
        let shortest = match self.within {
            None => search.run(graph, self.tree, spur, prefix, &candidate.barred),
            Some(within) => {
                let open = |node: NodeId, arc: &Arc| {
                    !prefix.has(arc.node) && (node != spur || !candidate.barred.contains(&arc.link))
                };
                label_search.run(graph, (self.tree, within), (spur, spent), open)
            }
        };
        let Some((rest, arcs)) = shortest else { return };
        let length = candidate.links.iter().zip(&candidate.nodes).fold(Length::ZERO, |sum, (link, &node)| {
            let arc = graph.out(node).iter().find(|arc| arc.link == *link);
            sum + arc.expect("the links of a path are in the graph").length
        });
        candidate.length = length + rest;
        debug_assert!(candidate.length >= bound_at_spur, "a bound is not above what it bounds");
        candidate.is_found = true;
        for arc in arcs {
            candidate.nodes.push(arc.node);
            candidate.links.push(arc.link);
        }
        self.candidates.push(Reverse(candidate));
    }
}

/// A* search, with the memory that it uses again.
#[derive(Debug)]
struct Search {
    seen: Marks,
    length: Vec<Length>,
    /// Link by which a node is reached, with the node it comes from.
    last: Vec<Option<(NodeId, Arc)>>,
    /// Nodes to visit by (bound of the whole, length so far). The shorter way so far goes first
    /// among equal bounds, so that all ways to a node are known when the node is visited.
    frontier: BinaryHeap<Reverse<(Length, Length, NodeId)>>,
}

impl Search {
    fn new(count: usize) -> Self {
        let (length, last) = (vec![Length::INFINITE; count], vec![None; count]);
        Self { seen: Marks::new(count), length, last, frontier: BinaryHeap::new() }
    }

    /// The shortest path from `spur` to the destination of `tree` that keeps off the nodes of
    /// `prefix` and does not begin with a barred link.
    fn run(
        &mut self,
        graph: &CostGraph<'_>,
        tree: &TreeTo,
        spur: NodeId,
        prefix: &Marks,
        barred: &[LinkId],
    ) -> Option<(Length, Vec<Arc>)> {
        self.seen.clear();
        self.frontier.clear();
        self.seen.set(spur);
        self.length[spur.index()] = Length::ZERO;
        self.last[spur.index()] = None;
        self.frontier.push(Reverse((tree.length_or_infinite(spur), Length::ZERO, spur)));
        while let Some(Reverse((_, length, node))) = self.frontier.pop() {
            if node == tree.to() {
                return Some((length, self.way_to(node)));
            }
            if length > self.length[node.index()] {
                continue;
            }
            for arc in graph.out(node) {
                let open = !prefix.has(arc.node) && (node != spur || !barred.contains(&arc.link));
                if open && tree.length_or_infinite(arc.node) != Length::INFINITE {
                    self.relax(tree, node, *arc, length + arc.length);
                }
            }
        }
        None
    }

    /// Notes that `arc`, which leaves `node`, gives a way of `length`.
    fn relax(&mut self, tree: &TreeTo, node: NodeId, arc: Arc, length: Length) {
        let there = arc.node.index();
        let least = if self.seen.has(arc.node) { self.length[there] } else { Length::INFINITE };
        if length < least {
            self.seen.set(arc.node);
            self.length[there] = length;
            self.last[there] = Some((node, arc));
            let bound = length + tree.length_or_infinite(arc.node);
            self.frontier.push(Reverse((bound, length, arc.node)));
        } else if length == least {
            let parent = |node: NodeId| self.last[node.index()].map(|(parent, _)| parent);
            let (rival, _) = self.last[there].expect("the way back to the spur, of length zero, is barred");
            if order_of_ways(node, rival, parent) == Ordering::Less {
                self.last[there] = Some((node, arc));
            }
        }
    }

    fn way_to(&self, node: NodeId) -> Vec<Arc> {
        let back = std::iter::successors(self.last[node.index()], |(parent, _)| self.last[parent.index()]);
        let mut arcs: Vec<Arc> = back.map(|(_, arc)| arc).collect();
        arcs.reverse();
        arcs
    }
}
