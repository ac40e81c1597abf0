//! The paths of a pair that no other path beats in delay, loss and bottleneck capacity at once.
//!
//! Whatever throughput model somebody chooses paths by later, the best path is one of these, as long as the
//! model says no more throughput for more delay, more loss or less capacity.

use crate::bounds::Bounds;
use crate::labels::{self, Aim, Field, Labels};
use crate::quality::{LinkQuality, PathQuality};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId, Span};
use thiserror::Error;

/// Ways that a search keeps at most, to all nodes together: about 100 MB, and some seconds.
const MOST_WAYS: usize = 1_000_000;

/// There are too many Pareto-optimal paths.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TooMany {
    /// More than were asked for.
    #[error("there are more than {limit} Pareto-optimal paths from {from:?} to {to:?}")]
    Paths {
        /// Name of the source.
        from: String,
        /// Name of the destination.
        to: String,
        /// How many were asked for at most.
        limit: usize,
    },
    /// More ways to nodes in between than a search can keep in memory.
    #[error("the search for Pareto-optimal paths from {from:?} to {to:?} keeps more than {most} ways")]
    Ways {
        /// Name of the source.
        from: String,
        /// Name of the destination.
        to: String,
        /// How many it can keep.
        most: usize,
    },
}

/// All Pareto-optimal paths from `from` to `to` in delay, loss and bottleneck capacity, over the links of
/// `network` for which `quality` knows one: least delay first, then least loss. Of paths that are equal in all
/// three only the first is there, by hops, node numbers and link ids. None from a node to itself.
///
/// # Errors
/// If there are more than `limit`, or more than the search can keep on its way.
pub fn pareto_paths(
    network: &Network,
    (from, to): (NodeId, NodeId),
    limit: usize,
    quality: impl Fn(LinkId) -> Option<LinkQuality>,
) -> Result<Vec<Path>, TooMany> {
    let qualities: Vec<Option<LinkQuality>> = network.link_ids().map(quality).collect();
    // Nothing is rounded here, so equals alone are a tie.
    let field = Field { network, qualities: &qualities, apart: Span::MAX };
    let bounds = Bounds::new(field, to, &[]);
    if from == to || !bounds.reaches(from) {
        return Ok(Vec::new());
    }
    let mut labels = Labels::new(network.nodes().len());
    let mut aim = All { bounds: &bounds, limit, points: Vec::new() };
    let open = |_: NodeId, _: LinkId, next: NodeId| next != from && bounds.reaches(next);
    let complete = labels.search(field, (from, PathQuality::EMPTY), open, &mut aim, MOST_WAYS);
    let points = aim.points;
    let name = |node| network.node(node).name.clone();
    if points.len() > limit {
        return Err(TooMany::Paths { from: name(from), to: name(to), limit });
    }
    if !complete {
        return Err(TooMany::Ways { from: name(from), to: name(to), most: MOST_WAYS });
    }
    let equal = |one: PathQuality, other: PathQuality| one.is_no_worse(other) && other.is_no_worse(one);
    let first = |point: PathQuality| {
        // A way is told apart from a point by its hops as well; the point's own are the fewest.
        let order = |quality| if equal(quality, point) { quality.hops } else { u32::MAX };
        let (_, label) = labels.first(to, order).expect("each point is a way's");
        labels::path(network, labels.links(label)).expect("the two ends differ")
    };
    Ok(points.into_iter().map(first).collect())
}

/// A search for all paths to one node that no other beats.
struct All<'a> {
    bounds: &'a Bounds,
    limit: usize,
    /// The paths that are known: none is better in everything than another.
    points: Vec<PathQuality>,
}

impl Aim for All<'_> {
    fn hopes(&self, node: NodeId, quality: PathQuality) -> bool {
        if self.points.len() > self.limit {
            return false;
        }
        // Equals in everything but hops may come first in order.
        let beaten = |best: PathQuality| {
            self.points.iter().any(|point| point.is_no_worse(best) && !best.is_no_worse(*point))
        };
        self.bounds.completed(node, quality).is_some_and(|best| !beaten(best))
    }

    /// Ways come in the order of delay, loss and capacity, so that no later one beats one that is here.
    fn keep(&mut self, node: NodeId, quality: PathQuality) -> bool {
        if node != self.bounds.to() {
            return true;
        }
        if !self.points.iter().any(|point| point.is_no_worse(quality)) {
            self.points.push(quality);
        }
        false
    }
}
