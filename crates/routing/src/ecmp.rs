//! Equal-cost multipath: at every node all links that begin a path of least cost, as link-state
//! routing finds them (RFC 2328 section 16.1, step 2(d) and section 16.8) and forwards over
//! (RFC 2992).

use crate::graph::CostGraph;
use crate::{Table, TreeTo};
use anabranch_units::NodeId;

/// Next hops of every node towards `to`, over all paths of equal and least cost, however many
/// hops they have; parallel links of equal cost are all there. At each node they are in the order
/// of (next node, link id).
///
/// Where links cost nothing, a next hop must be nearer to the destination in hops if it is not in
/// cost, so that no packet can go in a circle.
#[must_use]
pub fn ecmp_table(graph: &CostGraph<'_>, to: NodeId) -> Table {
    let tree = TreeTo::new(graph, to);
    let next_hops = |node: NodeId| match tree.length(node) {
        None => Vec::new(),
        Some(here) => {
            let on_the_way = |arc: &&crate::graph::Arc| {
                tree.length(arc.node)
                    .is_some_and(|rest| rest < here && (arc.length + rest).cost() == here.cost())
            };
            graph.out(node).iter().filter(on_the_way).map(|arc| arc.link).collect()
        }
    };
    Table { to, next: graph.network().node_ids().map(next_hops).collect() }
}
