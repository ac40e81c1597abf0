//! Equal-cost multipath: at every node all links that begin a path of least cost, as link-state
//! routing finds them (RFC 2328 section 16.1, step 2(d) and section 16.8) and forwards over
//! (RFC 2992).

use crate::graph::{self, CostGraph};
use crate::{NextHopsTo, TreeTo};
use anabranch_units::{LinkId, NodeId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Next hops of every node towards `to`, over all paths of equal and least cost, however many
/// hops they have; parallel links of equal cost are all there. At each node they are in the order
/// of (next node, link id).
///
/// Where links cost nothing, a next hop must be nearer to the destination in hops if it is not in
/// cost, so that no packet can go in a circle.
#[must_use]
pub fn ecmp_table(graph: &CostGraph<'_>, to: NodeId) -> NextHopsTo {
    NextHopsTo { to, next: next_hops(graph, to, &mut SharedLists::default()) }
}

/// The entries of the table to `to`, for every node from which there is a way.
pub(crate) fn next_hops(
    graph: &CostGraph<'_>,
    to: NodeId,
    lists: &mut SharedLists,
) -> Vec<(NodeId, Arc<[LinkId]>)> {
    let tree = TreeTo::new(graph, to);
    let next_hops = |node: NodeId| {
        let here = tree.length(node).filter(|_| node != to)?;
        let on_the_way = |arc: &&graph::Arc| {
            tree.length(arc.node).is_some_and(|rest| rest < here && (arc.length + rest).cost() == here.cost())
        };
        Some((node, lists.shared(graph.out(node).iter().filter(on_the_way).map(|arc| arc.link))))
    };
    graph.network().node_ids().filter_map(next_hops).collect()
}

/// Lists of links, each kept once.
#[derive(Default)]
pub(crate) struct SharedLists {
    lists: BTreeSet<Arc<[LinkId]>>,
    /// Room to put a list together.
    next: Vec<LinkId>,
}

impl SharedLists {
    /// The list of these links.
    pub(crate) fn shared(&mut self, links: impl Iterator<Item = LinkId>) -> Arc<[LinkId]> {
        self.next.clear();
        self.next.extend(links);
        if let Some(list) = self.lists.get(&self.next[..]) {
            return Arc::clone(list);
        }
        let list: Arc<[LinkId]> = self.next.as_slice().into();
        self.lists.insert(Arc::clone(&list));
        list
    }
}
