//! The best paths by a metric of whole paths, without exception, which Dijkstra's algorithm need not find: for
//! `tcpbp` the paths of highest predicted TCP throughput, which the thesis's modified Dijkstra (Vilela 2022,
//! algorithm 1) misses for some pairs.
//!
//! The metric grows with the delay and with the loss and falls with the capacity, and so does every path when a
//! link is added. Of two ways to a node the one that is worse in all of them therefore never leads to a better
//! path, and the best path is among those that no other beats in all. The search of `labels.rs` keeps these.
//!
//! The order of paths is that of [`crate::PathMetric::rank`], ties included; then node numbers and link ids. For
//! this a way that is worse in everything is kept as long as a tie in the rounded metric could still make it the
//! first.
//!
//! The number of such ways can grow exponentially in contrived networks. Two bounds keep it small in others.
//! No best path is longer in delay than the path of least loss to its end, nor than `f' / w` of any path's f'
//! and the least that a second of delay can cost there. And a way of more delay and less loss than another pays
//! only if what is left to go is long enough, which the first bound limits.

use crate::labels::{self, Aim, Field, Labels};
use crate::path_metric::PathMetric;
use crate::quality::{LinkQuality, PathQuality, UNBOUNDED};
use crate::tcpbp::TcpbpTree;
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Relative slack for bounds that come out of a comparison of losses. 1 - p is known to about 1e-16 for every
/// hop, and so p to about 1e-10 of itself for every hop from the least loss up at which these bounds are used.
const BOUND_SLACK: f64 = 1e-6;
/// See [`BOUND_SLACK`].
const LEAST_BOUNDING_LOSS: f64 = 1e-6;
/// Below this a number loses digits.
const LEAST_BOUNDING_DELIVERY: f64 = 1e-290;

/// The best paths from one source to every node.
#[derive(Clone, Debug)]
pub struct ExactTree {
    from: NodeId,
    labels: Labels,
    /// The best way to every node.
    best: Vec<Option<u32>>,
}

impl ExactTree {
    /// The best paths from `from` by `metric`, over the links of `network` for which `quality` knows one; the
    /// others are not used.
    #[must_use]
    pub fn new(
        network: &Network,
        metric: PathMetric,
        from: NodeId,
        quality: impl Fn(LinkId) -> Option<LinkQuality>,
    ) -> Self {
        let seen = |link| quality(link).map(|quality| metric.seen(quality));
        let qualities: Vec<Option<LinkQuality>> = network.link_ids().map(seen).collect();
        let field = Field::new(network, &qualities);
        let mut aim = FromOne {
            metric,
            horizon_s: horizon_s(field, metric, from),
            least_transit: least_transit(field),
        };
        let mut labels = Labels::new(network.nodes().len());
        let all = labels.search(field, (from, PathQuality::EMPTY), |_, _, _| true, &mut aim, usize::MAX);
        assert!(all, "there are as many ways as may be");
        let first = |node| labels.first(node, |quality| metric.rank(quality)).map(|(_, label)| label);
        let best = network.node_ids().map(first).collect();
        Self { from, labels, best }
    }

    /// The source.
    #[must_use]
    pub const fn from(&self) -> NodeId {
        self.from
    }

    /// What the metric looks at of the best path to `to`, if there is one; that of no links at the source.
    /// Where it does not look at delay and loss they are 0, and else the capacity is unbounded.
    #[must_use]
    pub fn quality(&self, to: NodeId) -> Option<PathQuality> {
        self.best[to.index()].map(|label| self.labels.quality(label))
    }

    /// The best path to `to`; none at the source itself. The network must be the one that was searched.
    #[must_use]
    pub fn path(&self, network: &Network, to: NodeId) -> Option<Path> {
        labels::path(network, self.labels.links(self.best[to.index()]?))
    }

    /// Ways kept to all nodes together: the size of the search.
    #[must_use]
    pub const fn ways(&self) -> usize {
        self.labels.count()
    }
}

/// The best path from `from` to `to` by `metric`, if there is one.
#[must_use]
pub fn exact_path(
    network: &Network,
    metric: PathMetric,
    from: NodeId,
    to: NodeId,
    quality: impl Fn(LinkId) -> Option<LinkQuality>,
) -> Option<Path> {
    ExactTree::new(network, metric, from, quality).path(network, to)
}

/// A search from one source for the best path to every node.
struct FromOne {
    metric: PathMetric,
    /// No best path to any node has more delay.
    horizon_s: f64,
    /// No loop-free path over links that deliver anything delivers less.
    least_transit: f64,
}

impl Aim for FromOne {
    fn hopes(&self, _: NodeId, quality: PathQuality) -> bool {
        quality.delay.as_secs_f64() <= self.horizon_s
    }

    /// The longer what follows and the less it loses, the better for the way of less loss. So it is beaten for
    /// good if it is behind after the most delay that can follow without any loss. That it is narrower helps it
    /// nowhere, and need not harm it behind a bottleneck. Where losses leave too few digits there is no telling.
    fn beats(&self, best: PathQuality, quality: PathQuality) -> bool {
        if best.capacity < quality.capacity
            || self.horizon_s == f64::INFINITY
            || best.delivery * self.least_transit < LEAST_BOUNDING_DELIVERY
            || (self.metric.needs_loss() && quality.loss() < LEAST_BOUNDING_LOSS)
        {
            return false;
        }
        let rest_s = (self.horizon_s - quality.delay.as_secs_f64()).max(0.0);
        let reach = |of: PathQuality| (of.delay.as_secs_f64() + rest_s) * self.metric.weight(of);
        let as_narrow = PathQuality { capacity: quality.capacity, ..best };
        reach(quality) > reach(as_narrow) * (1.0 + BOUND_SLACK)
    }
}

/// What the least delivering path without a loop could deliver, other than nothing.
fn least_transit(field: Field<'_>) -> f64 {
    let deliveries = field.qualities.iter().flatten().map(|link| link.delivery());
    let least = deliveries.filter(|&delivery| delivery > 0.0).fold(1.0, f64::min);
    libm::pow(least, field.network.nodes().len() as f64)
}

/// A delay in seconds that no best path from `from` exceeds, to any node.
fn horizon_s(field: Field<'_>, metric: PathMetric, from: NodeId) -> f64 {
    if metric == PathMetric::Capacity {
        return f64::INFINITY;
    }
    let of = |_: NodeId, link: LinkId, _: NodeId| field.qualities[link.index()];
    let some_path = TcpbpTree::grow(field.network, metric, (from, PathQuality::EMPTY), of, None);
    let surest = surest(field, from);
    let widest = metric.looks_at_capacity().then(|| widest(field, from));
    let bounds = field.network.node_ids().filter_map(|node| {
        let (surest, quality) = (surest[node.index()]?, some_path.quality(node)?);
        let capacity = widest.as_ref().map_or(UNBOUNDED, |widest| widest[node.index()]);
        // A path of more delay loses no less than the surest, and so is worse than that if it is not wider.
        let says_nothing = surest.loss() <= 0.0 || surest.delivers_nothing();
        let beats_longer = says_nothing || surest.capacity >= capacity;
        let longest = if beats_longer { surest.delay.as_secs_f64() } else { f64::INFINITY };
        // d = f / w <= f' / least w for any f' that is reached.
        let least_weight = metric.weight(PathQuality { capacity, ..surest });
        let bounds = least_weight > 0.0
            && least_weight.is_finite()
            && !quality.delivers_nothing()
            && !(metric.needs_loss() && surest.loss() < LEAST_BOUNDING_LOSS);
        Some(if bounds { longest.min(metric.cost(quality) / least_weight) } else { longest })
    });
    bounds.fold(0.0, f64::max) * (1.0 + BOUND_SLACK)
}

/// The path of least loss to every node, of these that of least delay: Dijkstra, in the order of both.
fn surest(field: Field<'_>, from: NodeId) -> Vec<Option<PathQuality>> {
    let mut settled = vec![None; field.network.nodes().len()];
    let start = (!1.0f64.to_bits(), Span::ZERO, from, Reverse(UNBOUNDED));
    let mut frontier = BinaryHeap::from([Reverse(start)]);
    while let Some(Reverse((inverted_delivery, delay, node, Reverse(capacity)))) = frontier.pop() {
        if settled[node.index()].is_some() {
            continue;
        }
        let delivery = f64::from_bits(!inverted_delivery);
        let here = PathQuality { delay, delivery, capacity, hops: 0 };
        settled[node.index()] = Some(here);
        for (_, to, of_link) in field.out(node) {
            if settled[to.index()].is_none() {
                let there = here.then(of_link);
                frontier.push(Reverse((!there.delivery.to_bits(), there.delay, to, Reverse(there.capacity))));
            }
        }
    }
    settled
}

/// The largest bottleneck capacity of a path to every node; zero where there is none.
fn widest(field: Field<'_>, from: NodeId) -> Vec<Rate> {
    let mut widest = vec![Rate::ZERO; field.network.nodes().len()];
    let mut frontier = BinaryHeap::from([(UNBOUNDED, from)]);
    widest[from.index()] = UNBOUNDED;
    while let Some((here, node)) = frontier.pop() {
        if here < widest[node.index()] {
            continue;
        }
        for (_, to, of_link) in field.out(node) {
            let there = here.min(of_link.capacity);
            if there > widest[to.index()] {
                widest[to.index()] = there;
                frontier.push((there, to));
            }
        }
    }
    widest
}
