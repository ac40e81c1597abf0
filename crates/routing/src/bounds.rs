//! What is left of a path to its destination, at best: bounds that lead the searches for one pair.

use crate::labels::Field;
use crate::quality::{LinkQuality, PathQuality};
use anabranch_units::{NodeId, Rate};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// More than what a product of probabilities differs by when it is taken in another order, over thousands of
/// links.
const PRODUCT_SLACK: f64 = 1e-11;

/// For every node the least delay, the least loss, the largest capacity and the fewest hops with which a path
/// can go on to one destination, each by itself.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    to: NodeId,
    rest: Vec<Option<PathQuality>>,
}

impl Bounds {
    /// For paths to `to`, each followed by links of a fixed tail.
    pub(crate) fn new(field: Field<'_>, to: NodeId, tail: &[LinkQuality]) -> Self {
        let end = PathQuality::of(tail.iter().copied());
        let delay = backwards(field, to, Reverse(end.delay), |Reverse(rest), link| {
            Reverse(rest.saturating_add(link.delay))
        });
        let delivery = backwards(field, to, end.delivery.to_bits(), |rest, link| {
            (f64::from_bits(rest) * link.delivery()).to_bits()
        });
        let capacity = backwards(field, to, end.capacity, |rest: Rate, link| rest.min(link.capacity));
        let hops = backwards(field, to, Reverse(end.hops), |Reverse(rest), _| Reverse(rest + 1));
        let rest = field.network.node_ids().map(|node| {
            let index = node.index();
            let (Reverse(delay), Reverse(hops)) = (delay[index]?, hops[index]?);
            let delivery = f64::from_bits(delivery[index]?);
            Some(PathQuality { delay, delivery, capacity: capacity[index]?, hops })
        });
        Self { to, rest: rest.collect() }
    }

    /// The destination, before the tail.
    pub(crate) const fn to(&self) -> NodeId {
        self.to
    }

    /// Whether a path leads from a node to the destination.
    pub(crate) fn reaches(&self, node: NodeId) -> bool {
        self.rest[node.index()].is_some()
    }

    /// No path that begins with a way of this quality to this node is better in anything, tail included.
    pub(crate) fn completed(&self, node: NodeId, so_far: PathQuality) -> Option<PathQuality> {
        let rest = self.rest[node.index()]?;
        let mut delivery = so_far.delivery * rest.delivery;
        if so_far.delivery > 0.0 && rest.delivery > 0.0 {
            // Not to be zero where the same product in another order is not.
            delivery = (delivery * (1.0 + PRODUCT_SLACK)).clamp(f64::MIN_POSITIVE, 1.0);
        }
        Some(PathQuality {
            delay: so_far.delay.saturating_add(rest.delay),
            delivery,
            capacity: so_far.capacity.min(rest.capacity),
            hops: so_far.hops + rest.hops,
        })
    }
}

/// The best value with which every node reaches `to`, largest first, when a link makes none better: Dijkstra.
fn backwards<V: Copy + Ord>(
    field: Field<'_>,
    to: NodeId,
    end: V,
    step: impl Fn(V, LinkQuality) -> V,
) -> Vec<Option<V>> {
    let mut best: Vec<Option<V>> = vec![None; field.network.nodes().len()];
    best[to.index()] = Some(end);
    let mut frontier = BinaryHeap::from([(end, to)]);
    while let Some((here, node)) = frontier.pop() {
        if Some(here) != best[node.index()] {
            continue;
        }
        for &link in field.network.links_into(node) {
            let Some(of_link) = field.qualities[link.index()] else { continue };
            let (before, there) = (field.network.link(link).from, step(here, of_link));
            // `None` comes before any value.
            if Some(there) > best[before.index()] {
                best[before.index()] = Some(there);
                frontier.push((there, before));
            }
        }
    }
    best
}
