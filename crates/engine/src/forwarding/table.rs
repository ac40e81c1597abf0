//! Next hops of all nodes towards one destination.

use crate::balancer::{Balancer, FlowKey};
use anabranch_routing::NextHopsTo;
use anabranch_units::{Instant, LinkId, NodeId};
use std::collections::BTreeMap;

/// A node has a place in all tables if one in so many of them has next hops of it: a search waits for what it compares,
/// while places that nobody asks for take memory alone.
const SPARSE: usize = 8;

/// The place of a node that is in few tables.
const NONE: u32 = u32::MAX;

/// The links on which a node sends towards a destination.
pub(super) enum NextHops {
    None,
    /// One, and nobody keeps entries.
    Only(LinkId),
    /// Equal ones, of which a hash chooses: in a fabric nearly all. They are in a list that many share.
    Hashed {
        salt: u64,
        /// Where the list begins.
        first: u32,
        count: u16,
    },
    /// Equal ones, of which a balancer chooses that all tables share in which this node has the same.
    Shared {
        balancer: u32,
        /// Where the list begins.
        first: u32,
        count: u16,
    },
    Several(Box<SeveralHops>),
}

/// Links of which a balancer of their own chooses.
pub(super) struct SeveralHops {
    pub(super) links: Box<[LinkId]>,
    pub(super) balancer: Balancer,
}

impl SeveralHops {
    /// Apart from hops without a choice, which stay small.
    #[inline(never)]
    pub(super) fn choose(&mut self, now: Instant, key: impl FnOnce() -> FlowKey) -> LinkId {
        self.links[self.balancer.choose(now, key())]
    }
}

impl NextHops {
    /// The links; `shared` has the lists that many share.
    pub(super) fn links<'a>(&'a self, shared: &'a [LinkId]) -> &'a [LinkId] {
        match self {
            Self::None => &[],
            Self::Only(link) => std::slice::from_ref(link),
            Self::Hashed { first, count, .. } | Self::Shared { first, count, .. } => {
                &shared[*first as usize..][..usize::from(*count)]
            }
            Self::Several(hops) => &hops.links,
        }
    }
}

/// Where nodes stand in tables. Those that many tables have, such as the switches of a fabric, have a place in each;
/// others, such as hosts that send to few destinations, are looked for.
#[derive(Default)]
pub(super) struct Places {
    by_node: Vec<u32>,
}

impl Places {
    /// For a network of so many nodes, and these tables.
    pub(super) fn new<'t>(nodes: usize, tables: impl Iterator<Item = &'t NextHopsTo>) -> Self {
        let (mut tables_of, mut count) = (vec![0_usize; nodes], 0);
        for table in tables {
            count += 1;
            for (node, _) in table.next.iter().filter(|(_, links)| !links.is_empty()) {
                tables_of[node.index()] += 1;
            }
        }
        let mut free = 0..NONE;
        let is_frequent = |tables: usize| tables > 0 && SPARSE * tables >= count;
        let place = |tables| if is_frequent(tables) { free.next().unwrap_or(NONE) } else { NONE };
        Self { by_node: tables_of.into_iter().map(place).collect() }
    }

    /// The place of a node; one that no table reaches where it has none.
    #[inline]
    pub(super) fn of(&self, node: NodeId) -> usize {
        self.by_node.get(node.index()).map_or(NONE, |&place| place) as usize
    }
}

/// Next hops towards one destination.
pub(super) struct Table {
    /// Those of nodes that have a place.
    placed: Box<[NextHops]>,
    /// Those of others, in the order of the nodes.
    others: Box<[(NodeId, NextHops)]>,
}

impl Table {
    /// Of these next hops, in the order of the nodes.
    pub(super) fn new(places: &Places, all: Vec<(NodeId, NextHops)>) -> Self {
        let end = |(node, _): &(NodeId, _)| Some(places.of(*node) + 1).filter(|&end| end <= NONE as usize);
        let room = all.iter().filter_map(end).max().unwrap_or(0);
        let mut placed: Box<[NextHops]> = (0..room).map(|_| NextHops::None).collect();
        let mut others = Vec::new();
        for (node, hops) in all {
            match placed.get_mut(places.of(node)) {
                Some(place) => *place = hops,
                None => others.push((node, hops)),
            }
        }
        Self { placed, others: others.into() }
    }

    /// The next hops of a node, of which the place is known.
    #[inline]
    pub(super) fn of(&mut self, place: usize, node: NodeId) -> Option<&mut NextHops> {
        if place < self.placed.len() {
            return Some(&mut self.placed[place]);
        }
        self.find(node)
    }

    #[inline(never)]
    fn find(&mut self, node: NodeId) -> Option<&mut NextHops> {
        let index = self.others.binary_search_by_key(&node, |&(node, _)| node).ok()?;
        Some(&mut self.others[index].1)
    }

    /// What it was made of; the places are those of then.
    pub(super) fn into_entries(self, places: &Places) -> BTreeMap<NodeId, NextHops> {
        let mut entries: BTreeMap<NodeId, NextHops> = self.others.into_iter().collect();
        let mut placed: Vec<Option<NextHops>> = self.placed.into_iter().map(Some).collect();
        for (node, &place) in (0..).map(NodeId).zip(&places.by_node) {
            let hops = placed.get_mut(place as usize).and_then(Option::take);
            entries.extend(hops.filter(|hops| !matches!(hops, NextHops::None)).map(|hops| (node, hops)));
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn four_next_hops_lie_in_a_line_of_the_cache() {
        assert_eq!(size_of::<NextHops>(), 16);
    }

    /// The next hop of a node in a table: another one for each.
    fn hop(to: u32, node: u32) -> LinkId {
        LinkId(100 * to + node)
    }

    proptest! {
        /// Whichever nodes tables have, each finds its own and no others, and gives back what it was made of; a node has a
        /// place where an eighth of the tables have it.
        #[test]
        fn tables_find_their_nodes(
            has in prop::collection::vec(prop::collection::btree_set(0u32..40, 0..12), 1..30),
            frequent in prop::collection::btree_set(0u32..40, 0..10),
        ) {
            let nodes: Vec<Vec<u32>> = has.iter().map(|destinations| destinations.union(&frequent).copied().collect()).collect();
            let planned: Vec<NextHopsTo> = (0..)
                .zip(&nodes)
                .map(|(to, nodes)| {
                    let next = nodes.iter().map(|&node| (NodeId(node), [hop(to, node)].into())).collect();
                    NextHopsTo { to: NodeId(to), next }
                })
                .collect();
            let places = Places::new(40, planned.iter());
            for node in 0..40 {
                let tables = nodes.iter().filter(|nodes| nodes.contains(&node)).count();
                let is_frequent = tables > 0 && 8 * tables >= nodes.len();
                prop_assert_eq!(places.of(NodeId(node)) < 40, is_frequent);
            }
            for (to, nodes) in (0..).zip(nodes) {
                let all = nodes.iter().map(|&node| (NodeId(node), NextHops::Only(hop(to, node)))).collect();
                let mut table = Table::new(&places, all);
                for node in 0..50 {
                    let next = table.of(places.of(NodeId(node)), NodeId(node));
                    let link = next.and_then(|hops| hops.links(&[]).first().copied());
                    prop_assert_eq!(link, nodes.contains(&node).then(|| hop(to, node)));
                }
                let entries: Vec<u32> = table.into_entries(&places).into_keys().map(|node| node.0).collect();
                prop_assert_eq!(entries, nodes);
            }
        }
    }
}
