//! Routes by predicted TCP throughput: Vilela 2022, "TCP Best Path" (TCPBP), chapter 3.
//!
//! A path of delay `d`, the sum over its links, and loss `p = 1 - prod(1 - p_link)` has the metric
//! `f = d sqrt(p)`. The least f promises the most throughput, because TCP gets MSS/RTT x C/sqrt(p)
//! (M. Mathis et al., "The macroscopic behavior of the TCP congestion avoidance algorithm", ACM SIGCOMM
//! Computer Communication Review 27, 1997), which holds for about 1e-5 <= p <= 0.05.
//!
//! The search is the thesis's modified Dijkstra (section 3.3.1, algorithm 1): labels carry d and 1 - p, and
//! are ordered and relaxed by f. Ways to a node are ordered by f; where f is 0, by delay; then by hops, node
//! numbers and link ids as [`crate::dijkstra`] says.
//!
//! **Where p is 0 on all links f says nothing**, because it is 0 on every path: there the search finds the
//! path of least delay. So it does among the paths without loss of any network.
//!
//! **It need not find the least f.** Dijkstra's algorithm needs an isotonic metric: a way to a node that is
//! better than another must stay better when both go on over the same link. The thesis's proof of that
//! (section 3.2.1) shows something else: that sums and products do not depend on the order of the links of
//! *one* path. Two ways with different shares of delay and loss do change places. From 2 to 1 in the thesis's
//! network of ten nodes 2-3-1 (12.5 ms, 0.70 %) has a lower f than 2-8-5-1 (5.91 ms, 3.17 %), but behind link
//! 1-6 (1.5 ms, 0.9 %) a higher one. Node 1 keeps the former, and 2-8-5-1-6, the best path to 6, is missed.
//! [`mod@crate::exact`] finds it.
//!
//! Only paths from one source come out of a search, for that reason too: next hops by destination, put
//! together from several sources, could disagree and even loop. Packets have to follow the whole path.

use crate::dijkstra::order_of_ways;
use crate::labels;
use crate::path_metric::PathMetric;
use crate::quality::{LinkQuality, PathQuality};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

impl PathQuality {
    /// `d sqrt(p)`, in seconds (Vilela 2022, section 3.1); infinite where nothing arrives.
    #[must_use]
    pub fn metric(self) -> f64 {
        PathMetric::Tcpbp.value(self)
    }

    /// Whether a path of this quality is better than one of the other by more than the relative threshold:
    /// whether its f is below (1 - threshold) times the other's, or, where f says nothing, its delay. Hops and
    /// whatever else orders equals does not count.
    #[must_use]
    pub fn beats(self, other: Self, threshold: f64) -> bool {
        let unhopped = |path: Self| PathMetric::Tcpbp.rank(Self { hops: 0, ..path });
        let (ours, theirs) = (self.metric(), other.metric());
        let tells_apart = unhopped(self) < unhopped(other);
        if ours == theirs {
            let bound = (1.0 - threshold) * other.delay.as_ps() as f64;
            tells_apart && (self.delay.as_ps() as f64) < bound
        } else {
            tells_apart && (ours < (1.0 - threshold) * theirs || (threshold < 1.0 && theirs == f64::INFINITY))
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Label {
    quality: PathQuality,
    /// Last link of the way and the node it comes from; none at the source.
    last: Option<(NodeId, LinkId)>,
}

/// Paths from one source to every node, as the modified Dijkstra finds them.
#[derive(Clone, Debug)]
pub struct TcpbpTree {
    metric: PathMetric,
    from: NodeId,
    labels: Vec<Option<Label>>,
}

impl TcpbpTree {
    /// Paths from `from` over the links of `network` for which `quality` knows one; the others are not used.
    #[must_use]
    pub fn new(network: &Network, from: NodeId, quality: impl Fn(LinkId) -> Option<LinkQuality>) -> Self {
        Self::grow(network, PathMetric::Tcpbp, (from, PathQuality::EMPTY), |_, link, _| quality(link), None)
    }

    /// The same search by any metric of paths: from ways that begin with a quality, over the links for which
    /// `quality` knows one, given the node that a link leaves, the link and where it leads; to all nodes or
    /// until `to` is reached.
    pub(crate) fn grow(
        network: &Network,
        metric: PathMetric,
        (from, start): (NodeId, PathQuality),
        quality: impl Fn(NodeId, LinkId, NodeId) -> Option<LinkQuality>,
        to: Option<NodeId>,
    ) -> Self {
        let mut tree = Self { metric, from, labels: vec![None; network.nodes().len()] };
        tree.labels[from.index()] = Some(Label { quality: start, last: None });
        let mut settled = vec![false; network.nodes().len()];
        let mut frontier = BinaryHeap::from([Reverse((metric.rank(start), from))]);
        while let Some(Reverse((_, node))) = frontier.pop() {
            if Some(node) == to {
                break;
            }
            if std::mem::replace(&mut settled[node.index()], true) {
                continue;
            }
            let Some(here) = tree.labels[node.index()] else { continue };
            for &link in network.links_out(node) {
                let next = network.link(link).to;
                if settled[next.index()] {
                    continue;
                }
                let Some(of_link) = quality(node, link, next) else { continue };
                let label = Label { quality: here.quality.then(of_link), last: Some((node, link)) };
                if tree.relax(next, label) {
                    frontier.push(Reverse((metric.rank(label.quality), next)));
                }
            }
        }
        tree
    }

    /// Algorithm 1: a way to a node counts if it is the first in order so far. Returns whether it does.
    fn relax(&mut self, node: NodeId, label: Label) -> bool {
        let order = match &self.labels[node.index()] {
            None => Ordering::Less,
            Some(other) => self.metric.compare(label.quality, other.quality).then_with(|| {
                let parent = |node: NodeId| self.labels[node.index()]?.last.map(|(before, _)| before);
                // Links leave a node in the order of their ids, so that the first of parallel ones stays.
                label
                    .last
                    .zip(other.last)
                    .map_or(Ordering::Greater, |(new, old)| order_of_ways(new.0, old.0, parent))
            }),
        };
        let better = order == Ordering::Less;
        if better {
            self.labels[node.index()] = Some(label);
        }
        better
    }

    /// The source.
    #[must_use]
    pub const fn from(&self) -> NodeId {
        self.from
    }

    /// Delay and loss of the path to `to`, if there is one; that of no links at the source.
    #[must_use]
    pub fn quality(&self, to: NodeId) -> Option<PathQuality> {
        self.labels[to.index()].map(|label| label.quality)
    }

    /// The path to `to`; none at the source itself. The network must be the one that was searched.
    #[must_use]
    pub fn path(&self, network: &Network, to: NodeId) -> Option<Path> {
        labels::path(network, self.links(to))
    }

    /// The links of the path to `to`; none at the source, or where there is no path.
    pub(crate) fn links(&self, to: NodeId) -> Vec<LinkId> {
        let last = |node: NodeId| self.labels[node.index()]?.last;
        let back = std::iter::successors(last(to), |&(before, _)| last(before));
        let mut links: Vec<LinkId> = back.map(|(_, link)| link).collect();
        links.reverse();
        links
    }
}

/// The path from `from` to `to` that the modified Dijkstra finds, if there is one.
#[must_use]
pub fn tcpbp_path(
    network: &Network,
    from: NodeId,
    to: NodeId,
    quality: impl Fn(LinkId) -> Option<LinkQuality>,
) -> Option<Path> {
    TcpbpTree::new(network, from, quality).path(network, to)
}
