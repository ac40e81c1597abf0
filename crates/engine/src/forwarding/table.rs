//! Next hops of all nodes towards one destination.

use super::NextHops;
use anabranch_units::NodeId;

/// So many nodes have places in a table though few of them have next hops.
const SMALL_RANGE: usize = 64;

/// Places for each node of a table that has next hops, at most, before they are searched: a search waits for what it
/// compares, while places that nobody asks for take memory alone.
const SPARSE: usize = 8;

/// Next hops towards one destination.
pub(super) struct Table {
    /// The nodes that have next hops, in order, where `hops` has no place for all of a range.
    nodes: Vec<NodeId>,
    /// Those of each of these nodes; or of all from `first` on.
    hops: Vec<NextHops>,
    first: usize,
}

impl Table {
    /// Of these next hops, in the order of the nodes.
    pub(super) fn new(all: Vec<(NodeId, NextHops)>) -> Self {
        let first = all.first().map_or(0, |(node, _)| node.index());
        let range = all.last().map_or(0, |(node, _)| node.index() + 1 - first);
        // Most tables have nearly all nodes, or all but hosts.
        if range > SMALL_RANGE.max(SPARSE * all.len()) {
            let (nodes, hops) = all.into_iter().unzip();
            return Self { nodes, hops, first };
        }
        let mut hops: Vec<NextHops> = (0..range).map(|_| NextHops::None).collect();
        for (node, next) in all {
            hops[node.index() - first] = next;
        }
        Self { nodes: Vec::new(), hops, first }
    }

    /// The next hops of a node.
    #[inline]
    pub(super) fn of(&mut self, node: NodeId) -> Option<&mut NextHops> {
        if self.nodes.is_empty() {
            return self.hops.get_mut(node.index().wrapping_sub(self.first));
        }
        self.find(node)
    }

    #[inline(never)]
    fn find(&mut self, node: NodeId) -> Option<&mut NextHops> {
        let place = self.nodes.binary_search(&node).ok()?;
        Some(&mut self.hops[place])
    }

    /// What it was made of.
    pub(super) fn into_entries(self) -> Vec<(NodeId, NextHops)> {
        if self.nodes.is_empty() {
            let all = (self.first..).map(NodeId::from_index).zip(self.hops);
            return all.filter(|(_, hops)| !matches!(hops, NextHops::None)).collect();
        }
        self.nodes.into_iter().zip(self.hops).collect()
    }
}
