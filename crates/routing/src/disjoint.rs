//! Link-disjoint paths of the least total cost: J. W. Suurballe, "Disjoint paths in a network",
//! Networks 4, 1974; R. Bhandari, "Survivable Networks", 1999. It is the minimum-cost flow in
//! which every link carries at most one path.
//!
//! Links are directed, and the two directions of an edge are two links; but paths of least total
//! cost never use both, since exchanging their ends would save both crossings.

use crate::TreeTo;
use crate::flow::MinCostFlow;
use crate::graph::CostGraph;
use anabranch_network::Path;
use anabranch_units::NodeId;

/// `k` paths from `from` to `to` that share no link, or as many as exist.
///
/// See [`Disjoint::paths`].
#[must_use]
pub fn disjoint_paths(graph: &CostGraph<'_>, from: NodeId, to: NodeId, k: Option<usize>) -> Vec<Path> {
    let tree = TreeTo::new(graph, to);
    Disjoint::new(graph).paths(&tree, from, k)
}

/// Finds disjoint paths for one pair after another over one graph.
#[derive(Debug)]
pub struct Disjoint<'g> {
    graph: &'g CostGraph<'g>,
    flow: MinCostFlow<'g>,
}

impl<'g> Disjoint<'g> {
    /// For paths over this graph.
    #[must_use]
    pub fn new(graph: &'g CostGraph<'g>) -> Self {
        Self { graph, flow: MinCostFlow::new(graph, |_| 1) }
    }

    /// `k` paths from `from` to the destination of `tree` that share no link, or, if there are
    /// fewer or `k` is `None`, as many as exist. Of all such sets it is one of the least total
    /// cost and, among those, of the fewest hops in total; of several of these the choice is
    /// fixed but not canonical. The tree must be one of the same graph.
    ///
    /// The paths come in the order that [`crate::dijkstra`] states. None from the destination to
    /// itself.
    pub fn paths(&mut self, tree: &TreeTo, from: NodeId, k: Option<usize>) -> Vec<Path> {
        let parts = self.flow.solve(tree, from, k.map(|k| k as u64));
        parts.into_iter().map(|part| self.graph.path(part.links)).collect()
    }
}
