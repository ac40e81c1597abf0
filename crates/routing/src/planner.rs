//! Plans for many pairs at once: stubs share the paths between the places where they hang on the
//! core ([`crate::stubs`]), and sources share the tree of their destination.
//!
//! What a scheme finds for a pair is what it finds between the two tops of the pair, with the
//! forced links before and after: these add the same cost, hops and node numbers to every path,
//! so the order of paths that [`crate::dijkstra`] states stays.

use crate::ecmp::next_hops;
use crate::graph::CostGraph;
use crate::stubs::{Ends, Stubs};
use crate::{LinkMask, NextHopsTo, Plan, Route, TreeTo, Watch, WeightedPath};
use anabranch_network::Network;
use anabranch_units::{LinkId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Makes plans over one network in one state under one cost.
pub(crate) struct Planner<'n> {
    network: &'n Network,
    mask: &'n LinkMask,
    stubs: Stubs,
    core: CostGraph<'n>,
}

/// An entry of a table.
type NextHops = (NodeId, Vec<LinkId>);

/// Pairs by where they leave the core, where they enter it, and how much their stubs let through
/// in the unit of the scheme (`None`: they have none). Pairs that agree in these differ in nothing
/// that a search sees.
type Searches = BTreeMap<NodeId, BTreeMap<(NodeId, Option<u64>), Vec<Pending>>>;

/// A pair and its forced links; what lies between them is still to be found.
struct Pending {
    from: NodeId,
    to: NodeId,
    ascent: Vec<LinkId>,
    descent: Vec<LinkId>,
}

impl<'n> Planner<'n> {
    pub(crate) fn new(network: &'n Network, mask: &'n LinkMask, cost: impl Fn(LinkId) -> u64) -> Self {
        let stubs = Stubs::new(network);
        let core = CostGraph::within(network, mask, cost, |node| stubs.in_core(node));
        Self { network, mask, stubs, core }
    }

    /// What searches look at: all but the stubs.
    pub(crate) const fn core(&self) -> &CostGraph<'n> {
        &self.core
    }

    /// A plan of paths. `find` answers for a node of the core and the root of a tree, and for how
    /// much the paths may carry together, in the unit in which `capacity` says how much a link
    /// carries (`None`: as much as they can). It calls what it is given last before each further path.
    pub(crate) fn paths<E>(
        &self,
        pairs: &[(NodeId, NodeId)],
        capacity: impl Fn(LinkId) -> u64,
        watch: &mut Watch<'_, E>,
        mut find: impl FnMut(
            &TreeTo,
            NodeId,
            Option<u64>,
            &mut dyn FnMut() -> Result<(), E>,
        ) -> Result<Vec<WeightedPath>, E>,
    ) -> Result<Plan, E> {
        let mut routes = Vec::new();
        for (to, searches) in self.sort_out(pairs, capacity, watch)? {
            let mut tree = None;
            for ((from, room), pending) in searches {
                if from == to {
                    routes.extend(pending.into_iter().map(|pair| self.only_route(pair)));
                    continue;
                }
                watch(routes.len())?;
                let tree = tree.get_or_insert_with(|| TreeTo::new(&self.core, to));
                let found = find(tree, from, room, &mut || watch(routes.len()))?;
                if !found.is_empty() {
                    routes.extend(pending.into_iter().map(|pair| self.route_over(pair, &found)));
                }
            }
        }
        routes.sort_by_key(|route| (route.from, route.to));
        Ok(Plan { routes, tables: Vec::new() })
    }

    /// The pairs whose stubs let them through, by the search that they have in common.
    fn sort_out<E>(
        &self,
        pairs: &[(NodeId, NodeId)],
        capacity: impl Fn(LinkId) -> u64,
        watch: &mut Watch<'_, E>,
    ) -> Result<Searches, E> {
        let mut searches = Searches::new();
        let distinct: BTreeSet<(NodeId, NodeId)> =
            pairs.iter().copied().filter(|(from, to)| from != to).collect();
        for (from, to) in distinct {
            watch(0)?;
            let Ends { ascent, top, descent } = self.stubs.between(from, to);
            let ascent: Option<Vec<LinkId>> = ascent.into_iter().map(|stub| self.up(stub)).collect();
            let descent: Option<Vec<LinkId>> = descent.into_iter().map(|stub| self.down(stub)).collect();
            let (Some(ascent), Some(descent)) = (ascent, descent) else { continue };
            let room = ascent.iter().chain(&descent).map(|&link| capacity(link)).min();
            if room != Some(0) {
                let pair = Pending { from, to, ascent, descent };
                searches.entry(top.1).or_default().entry((top.0, room)).or_default().push(pair);
            }
        }
        Ok(searches)
    }

    /// The route of a pair that has one path at most, and whose stubs let it through.
    fn only_route(&self, pair: Pending) -> Route {
        let Pending { from, to, ascent, descent } = pair;
        let links = self.core.path([ascent, descent].concat());
        Route { from, to, paths: vec![WeightedPath { links, weight: 1.0 }] }
    }

    /// The route of a pair, given the paths through the core.
    fn route_over(&self, pair: Pending, found: &[WeightedPath]) -> Route {
        let Pending { from, to, ascent, descent } = pair;
        if ascent.is_empty() && descent.is_empty() {
            return Route { from, to, paths: found.to_vec() };
        }
        let whole = |path: &WeightedPath| WeightedPath {
            links: self.core.path([&ascent, path.links.links(), &descent].concat()),
            weight: path.weight,
        };
        Route { from, to, paths: found.iter().map(whole).collect() }
    }

    /// A plan of tables of next hops, one for each destination that some source can reach.
    ///
    /// A table has entries for all of the core and for the stubs between it and the pairs. That is
    /// where packets to the destination can be, even those sent before something failed.
    pub(crate) fn tables<E>(&self, pairs: &[(NodeId, NodeId)], watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        let mut sources: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
        for &(from, to) in pairs.iter().filter(|(from, to)| from != to) {
            sources.entry(to).or_default().insert(from);
        }
        let mut by_root: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for &to in sources.keys() {
            by_root.entry(self.stubs.root(to)).or_default().push(to);
        }
        let mut plan = Plan::default();
        for (root, destinations) in by_root {
            watch(plan.routes.len())?;
            let in_core = next_hops(&self.core, root);
            for to in destinations {
                let table = self.table(to, root, &in_core, &sources[&to]);
                let connected = sources[&to].iter().filter(|&&from| !table.at(from).is_empty());
                let before = plan.routes.len();
                plan.routes.extend(connected.map(|&from| Route { from, to, paths: Vec::new() }));
                if plan.routes.len() > before {
                    plan.tables.push(table);
                }
            }
        }
        plan.routes.sort_by_key(|route| (route.from, route.to));
        plan.tables.sort_by_key(|table| table.to);
        Ok(plan)
    }

    /// The table of a destination, given the next hops of the core towards the root of its stubs.
    fn table(
        &self,
        to: NodeId,
        root: NodeId,
        in_core: &[NextHops],
        sources: &BTreeSet<NodeId>,
    ) -> NextHopsTo {
        let mut next: BTreeMap<NodeId, Vec<LinkId>> = BTreeMap::new();
        let leads = |next: &BTreeMap<NodeId, Vec<LinkId>>, node| node == to || next.contains_key(&node);
        let mut stub = to;
        while let Some(edge) = self.stubs.edge(stub) {
            if let (Some(link), true) = (self.down(stub), leads(&next, stub)) {
                next.insert(edge.parent, vec![link]);
            }
            stub = edge.parent;
        }
        if leads(&next, root) {
            next.extend(in_core.iter().cloned());
        }
        for &from in sources {
            // Highest first: a stub leads on if its parent does.
            for stub in self.stubs.between(from, to).ascent.into_iter().rev() {
                let parent = self.stubs.edge(stub).map(|edge| edge.parent);
                if let (Some(link), true) = (self.up(stub), parent.is_some_and(|parent| leads(&next, parent)))
                {
                    next.insert(stub, vec![link]);
                }
            }
        }
        NextHopsTo { to, next: next.into_iter().collect() }
    }

    /// The usable link from a stub to its parent.
    fn up(&self, stub: NodeId) -> Option<LinkId> {
        self.stubs.edge(stub)?.up.filter(|&link| self.mask.usable(self.network, link))
    }

    /// The usable link to a stub from its parent.
    fn down(&self, stub: NodeId) -> Option<LinkId> {
        self.stubs.edge(stub)?.down.filter(|&link| self.mask.usable(self.network, link))
    }
}
