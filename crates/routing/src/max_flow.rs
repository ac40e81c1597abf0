//! Maximum flow between two nodes, as paths with shares: of all maximum flows one of the least
//! cost, so that long paths carry no more than they must. L. R. Ford, D. R. Fulkerson, "Flows in
//! Networks", 1962; found by successive shortest paths, as J. Edmonds and R. M. Karp, Journal of
//! the ACM 19, 1972, do.

use crate::TreeTo;
use crate::flow::MinCostFlow;
use crate::graph::CostGraph;
use anabranch_network::Path;
use anabranch_units::{LinkId, NodeId, Rate};

/// A path and how much of a maximum flow it carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathFlow {
    /// The path.
    pub path: Path,
    /// The rate over it.
    pub rate: Rate,
}

/// A maximum flow from `from` to `to` under the capacities of the network.
///
/// See [`MaxFlow::paths`].
#[must_use]
pub fn max_flow(graph: &CostGraph<'_>, from: NodeId, to: NodeId) -> Vec<PathFlow> {
    let tree = TreeTo::new(graph, to);
    MaxFlow::new(graph).paths(&tree, from)
}

/// Finds maximum flows for one pair after another over one graph.
#[derive(Debug)]
pub struct MaxFlow<'g> {
    graph: &'g CostGraph<'g>,
    flow: MinCostFlow<'g>,
}

impl<'g> MaxFlow<'g> {
    /// For flows over this graph under the capacities of its network.
    #[must_use]
    pub fn new(graph: &'g CostGraph<'g>) -> Self {
        let capacity = |link: LinkId| graph.network().link(link).capacity.as_bps();
        Self { graph, flow: MinCostFlow::new(graph, capacity) }
    }

    /// A maximum flow from `from` to the destination of `tree`, as loop-free paths, shortest
    /// first. Of all maximum flows it is one of the least total cost (rate x cost of the path);
    /// of several of these the choice is fixed but not canonical. The tree must be one of the
    /// same graph.
    ///
    /// The paths come in the order that [`crate::dijkstra`] states; no path where there is no
    /// way, and none from the destination to itself.
    pub fn paths(&mut self, tree: &TreeTo, from: NodeId) -> Vec<PathFlow> {
        self.paths_up_to(tree, from, None)
    }

    /// The same, but a flow of no more than `most`, if that is given.
    pub(crate) fn paths_up_to(&mut self, tree: &TreeTo, from: NodeId, most: Option<Rate>) -> Vec<PathFlow> {
        let parts = self.flow.solve(tree, from, most.map(Rate::as_bps));
        let path = |links| self.graph.path(links);
        parts
            .into_iter()
            .map(|part| PathFlow { path: path(part.links), rate: Rate::from_bps(part.amount) })
            .collect()
    }
}
