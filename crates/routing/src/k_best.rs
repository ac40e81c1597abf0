//! K best loopless paths by a metric of whole paths: J. Y. Yen, Management Science 17, 1971, with the partition
//! of E. L. Lawler, Management Science 18, 1972, as in [`crate::yen`].
//!
//! There is one difference, and it matters: what a deviation is worth depends on the path before it. So the
//! search for it does not start anew at the node where it leaves, but from the delay, loss and capacity of the
//! path up to there; then every part of the paths gives its best, and the k best come in order. The search is
//! that of `labels.rs`, on what the prefix leaves of the network.
//!
//! [`Search::Published`] is what Vilela 2022 names in section 3.5.2 for its route candidates, the k_TCPBP best
//! paths: "Yen's algorithm based on the modified Dijkstra". There each deviation is what the modified Dijkstra
//! finds when it starts anew where the deviation leaves, as Yen's algorithm has it. Neither is it the best one,
//! nor do the paths come in order: a later one can be better than an earlier.

use crate::PathLimits;
use crate::bounds::Bounds;
use crate::hop_by_hop::Search;
use crate::labels::{Aim, Field, Labels};
use crate::limits::Spent;
use crate::marks::Marks;
use crate::path_metric::{PathMetric, Rank};
use crate::quality::{LinkQuality, PathQuality};
use crate::tcpbp::TcpbpTree;
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// The `k` best paths from `from` to `to` by `metric`, or as many as exist, over the links of `network` for
/// which `quality` knows one. None from a node to itself.
#[must_use]
pub fn k_best_paths(
    network: &Network,
    metric: PathMetric,
    search: Search,
    (from, to): (NodeId, NodeId),
    k: usize,
    quality: impl Fn(LinkId) -> Option<LinkQuality>,
) -> Vec<Path> {
    let mut finder = KBest::new(network, metric, search, quality);
    finder.paths(from, to).take(k).collect()
}

/// Finds k best paths for one pair after another.
#[derive(Debug)]
pub struct KBest<'n> {
    network: &'n Network,
    metric: PathMetric,
    search: Search,
    /// What a path may spend of delay and loss; `None` where paths have no limits.
    budget: Option<Spent>,
    qualities: Vec<Option<LinkQuality>>,
    labels: Labels,
    /// Nodes of the prefix from which a path deviates; it may not come back to them.
    prefix: Marks,
    /// What led the last search, with its tail: pairs of one destination mostly come one after another.
    last_bounds: Option<(Rc<Bounds>, Vec<LinkQuality>)>,
}

/// What all paths of a pair have in common: how they begin, where they are free, how they end.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// Quality of the links before the free part.
    pub(crate) start: PathQuality,
    /// Where the free part begins.
    pub(crate) from: NodeId,
    /// Links after the free part.
    pub(crate) tail: Vec<LinkQuality>,
}

impl<'n> KBest<'n> {
    /// For paths over the links of `network` for which `quality` knows one.
    #[must_use]
    pub fn new(
        network: &'n Network,
        metric: PathMetric,
        search: Search,
        quality: impl Fn(LinkId) -> Option<LinkQuality>,
    ) -> Self {
        Self::within(network, metric, (search, None), quality)
    }

    /// The same for paths within limits, if there are some. The published search knows none.
    pub(crate) fn within(
        network: &'n Network,
        metric: PathMetric,
        (search, limits): (Search, Option<PathLimits>),
        quality: impl Fn(LinkId) -> Option<LinkQuality>,
    ) -> Self {
        let seen = |quality| match limits {
            None => metric.seen(quality),
            Some(_) => metric.seen_within(quality),
        };
        let qualities = network.link_ids().map(|link| quality(link).map(seen)).collect();
        let count = network.nodes().len();
        let (labels, prefix) = (Labels::new(count), Marks::new(count));
        let budget = limits.map(PathLimits::budget);
        Self { network, metric, search, budget, qualities, labels, prefix, last_bounds: None }
    }

    /// Whether a path of this quality is within the limits.
    pub(crate) fn admits(&self, path: PathQuality) -> bool {
        admits(self.budget, path)
    }

    /// All paths from `from` to `to`, best first (as published: in the order in which Yen's algorithm finds
    /// them), each found when it is asked for. None from a node to itself.
    pub fn paths(&mut self, from: NodeId, to: NodeId) -> impl Iterator<Item = Path> + use<'_, 'n> {
        let ends = Ends { start: PathQuality::EMPTY, from, tail: Vec::new() };
        let bounds = self.bounds(to, &ends.tail);
        let network = self.network;
        self.between(bounds, ends)
            .map(move |links| Path::new(network, links).expect("the links of a way join and make no loop"))
    }

    /// What leads searches to `to` and over a fixed tail from there.
    pub(crate) fn bounds(&mut self, to: NodeId, tail: &[LinkQuality]) -> Rc<Bounds> {
        if let Some((bounds, known_tail)) = &self.last_bounds
            && bounds.to() == to
            && known_tail == tail
        {
            return Rc::clone(bounds);
        }
        let bounds = Rc::new(Bounds::new(Field::new(self.network, &self.qualities), to, tail));
        self.last_bounds = Some((Rc::clone(&bounds), tail.to_vec()));
        bounds
    }

    /// The free parts of all paths between these ends, in order.
    pub(crate) fn between(
        &mut self,
        bounds: Rc<Bounds>,
        ends: Ends,
    ) -> impl Iterator<Item = Vec<LinkId>> + use<'_, 'n> {
        let mut paths = Paths { finder: self, candidates: BinaryHeap::new(), last: None, bounds, ends };
        if paths.ends.from != paths.bounds.to() {
            let nodes = vec![paths.ends.from];
            paths.add(Part { nodes, links: Vec::new(), quality: paths.ends.start, barred: Vec::new() });
        }
        paths
    }
}

/// All paths that begin with some links and do not go on with a barred one. The parts never overlap.
#[derive(Clone, Debug)]
struct Part {
    nodes: Vec<NodeId>,
    links: Vec<LinkId>,
    /// That of the links, and of those before the free part.
    quality: PathQuality,
    barred: Vec<LinkId>,
}

/// The best path of a part, in the order of comparison: at equal rank a path still to be found comes first,
/// because it may turn out to be the first in order.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Candidate {
    /// The rank of the path or, until it is found, one that none of the part comes before.
    rank: Rank,
    is_found: bool,
    /// All nodes; those of the part's prefix until the path is found.
    nodes: Vec<NodeId>,
    /// All links; those of the part's prefix until the path is found.
    links: Vec<LinkId>,
    /// How many links the part's prefix has.
    spur: usize,
    barred: Vec<LinkId>,
}

struct Paths<'a, 'n> {
    finder: &'a mut KBest<'n>,
    bounds: Rc<Bounds>,
    ends: Ends,
    candidates: BinaryHeap<Reverse<Candidate>>,
    /// The path given out last, whose deviations are not yet among the candidates.
    last: Option<Candidate>,
}

impl Iterator for Paths<'_, '_> {
    type Item = Vec<LinkId>;

    fn next(&mut self) -> Option<Vec<LinkId>> {
        if let Some(last) = self.last.take() {
            self.deviate(&last);
        }
        while let Some(Reverse(candidate)) = self.candidates.pop() {
            if candidate.is_found {
                let links = candidate.links.clone();
                self.last = Some(candidate);
                return Some(links);
            }
            self.find(candidate);
        }
        None
    }
}

impl Paths<'_, '_> {
    /// Splits what is left of the part that `path` was the best of: one part for each node at which another
    /// path may leave it.
    fn deviate(&mut self, path: &Candidate) {
        let mut quality = self.ends.start;
        for (spur, &link) in path.links.iter().enumerate() {
            if spur >= path.spur {
                let mut barred = if spur == path.spur { path.barred.clone() } else { Vec::new() };
                barred.push(link);
                let (nodes, links) = (path.nodes[..=spur].to_vec(), path.links[..spur].to_vec());
                self.add(Part { nodes, links, quality, barred });
            }
            quality = quality.then(self.finder.qualities[link.index()].expect("a path's links are usable"));
        }
    }

    /// Adds the best path of a part, still to be found, if the part may have any.
    fn add(&mut self, part: Part) {
        let KBest { network, metric, budget, qualities, prefix, .. } = &mut *self.finder;
        let Part { nodes, links, quality, barred } = part;
        prefix.clear();
        nodes.iter().for_each(|&node| prefix.set(node));
        let spur = nodes[links.len()];
        let first = Field::new(network, qualities).out(spur).filter_map(|(link, to, of_link)| {
            let open = !prefix.has(to) && !barred.contains(&link);
            let completed = self.bounds.completed(to, quality.then(of_link)).filter(|_| open)?;
            admits(*budget, completed).then(|| metric.rank(completed))
        });
        if let Some(rank) = first.min() {
            let spur = links.len();
            self.candidates.push(Reverse(Candidate { rank, is_found: false, nodes, links, spur, barred }));
        }
    }

    /// Searches the best path of a part and puts it back as found, if there is one.
    fn find(&mut self, mut candidate: Candidate) {
        let KBest { network, metric, search, budget, qualities, labels, prefix, .. } = &mut *self.finder;
        let (bounds, tail) = (&self.bounds, &self.ends.tail);
        prefix.clear();
        candidate.nodes.iter().for_each(|&node| prefix.set(node));
        let spur = candidate.nodes[candidate.spur];
        let of_links = candidate.links.iter().map(|link| qualities[link.index()].expect("usable"));
        let so_far = of_links.fold(self.ends.start, PathQuality::then);
        let open = |node: NodeId, link: LinkId, to: NodeId| {
            !prefix.has(to) && bounds.reaches(to) && (node != spur || !candidate.barred.contains(&link))
        };
        let of = |node, link: LinkId, to| qualities[link.index()].filter(|_| open(node, link, to));
        let grow = |start| TcpbpTree::grow(network, *metric, (spur, start), of, Some(bounds.to()));
        let with_tail = |quality: PathQuality| tail.iter().copied().fold(quality, PathQuality::then);
        let some_path = match search {
            // Yen's algorithm starts anew at a spur; what comes before the free part is no choice of its.
            Search::Published if candidate.spur > 0 || !candidate.barred.is_empty() => {
                grow(PathQuality::EMPTY)
            }
            Search::Published | Search::Exact => grow(so_far),
        };
        let Some(reached) = some_path.quality(bounds.to()) else { return };
        let links = match search {
            Search::Published => some_path.links(bounds.to()),
            Search::Exact => {
                let reached = with_tail(reached);
                let best = admits(*budget, reached).then(|| metric.rank(reached));
                let mut aim = ToOne { metric: *metric, budget: *budget, bounds, tail, best };
                let mut field = Field::new(network, qualities);
                if *metric == PathMetric::Capacity {
                    // Where delays are seen, for limits, they are no part of the rank: hops break its ties.
                    field.apart = Span::MAX;
                }
                let all = labels.search(field, (spur, so_far), open, &mut aim, usize::MAX);
                assert!(all, "there are as many ways as may be");
                let first = labels.first(bounds.to(), |quality| {
                    let whole = with_tail(quality);
                    (!admits(*budget, whole), metric.rank(whole))
                });
                let Some(((false, _), label)) = first else { return };
                labels.links(label)
            }
        };
        let quality = links.iter().map(|link| qualities[link.index()].expect("usable"));
        let rank = metric.rank(with_tail(quality.fold(so_far, PathQuality::then)));
        debug_assert!(rank >= candidate.rank, "a bound is not above what it bounds");
        candidate.rank = rank;
        candidate.is_found = true;
        candidate.nodes.extend(links.iter().map(|&link| network.link(link).to));
        candidate.links.extend(links);
        self.candidates.push(Reverse(candidate));
    }
}

/// A search for the best path to one node.
struct ToOne<'a> {
    metric: PathMetric,
    budget: Option<Spent>,
    bounds: &'a Bounds,
    tail: &'a [LinkQuality],
    /// The best rank that is known to be reached.
    best: Option<Rank>,
}

impl Aim for ToOne<'_> {
    fn hopes(&self, node: NodeId, quality: PathQuality) -> bool {
        self.bounds.completed(node, quality).is_some_and(|path| {
            admits(self.budget, path) && self.best.is_none_or(|best| self.metric.rank(path) <= best)
        })
    }

    fn keep(&mut self, node: NodeId, quality: PathQuality) -> bool {
        if node != self.bounds.to() {
            return true;
        }
        let whole = self.tail.iter().copied().fold(quality, PathQuality::then);
        if admits(self.budget, whole) {
            let rank = self.metric.rank(whole);
            self.best = Some(self.best.map_or(rank, |best| best.min(rank)));
        }
        false
    }
}

/// Whether a path of this quality spends no more than its budget.
fn admits(budget: Option<Spent>, path: PathQuality) -> bool {
    budget.is_none_or(|budget| Spent::over(path).within(budget))
}
