//! Plans for many pairs at once: stubs share the paths between the places where they hang on the
//! core ([`crate::stubs`]), and sources share the tree of their destination.
//!
//! What a scheme finds for a pair is what it finds between the two tops of the pair, with the
//! forced links before and after: these add the same cost, hops and node numbers to every path,
//! so the order of paths that [`crate::dijkstra`] states stays.

use crate::ecmp::{SharedLists, next_hops};
use crate::graph::CostGraph;
use crate::limits::Spent;
use crate::stubs::Stubs;
use crate::within::Limited;
use crate::{Length, LinkMask, NextHopsTo, PathLimits, Plan, Route, TreeTo, Watch, WeightedPath};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Sorting out a pair takes less time than a look at the clock.
const PAIRS_BETWEEN_LOOKS: usize = 1024;

/// Makes plans over one network in one state under one cost.
pub(crate) struct Planner<'n> {
    network: &'n Network,
    mask: &'n LinkMask,
    stubs: Stubs,
    core: CostGraph<'n>,
    /// What a path may spend of delay and loss.
    budget: Spent,
}

/// An entry of a table.
type NextHops = (NodeId, Arc<[LinkId]>);

/// What the stubs of a pair leave to the paths between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Room {
    /// How much the stubs let through in the unit of the scheme; `None`: the pair has none.
    pub(crate) flow: Option<u64>,
    /// What the stubs have not spent of the limits.
    pub(crate) budget: Spent,
}

/// A pair whose stubs let it through; what lies between them is still to be found.
#[derive(Clone, Copy)]
struct Pending {
    from: NodeId,
    to: NodeId,
    /// Its place in the order of (from, to).
    place: usize,
    /// Where it enters the core, and where it leaves it.
    top: (NodeId, NodeId),
    room: Room,
}

impl Pending {
    /// Pairs that agree in this differ in nothing that a search sees; those of one tree stand together.
    fn search(&self) -> (NodeId, NodeId, Room) {
        (self.top.1, self.top.0, self.room)
    }

    fn route(&self, paths: Vec<WeightedPath>) -> Route {
        Route { from: self.from, to: self.to, paths }
    }
}

impl<'n> Planner<'n> {
    pub(crate) fn new(network: &'n Network, mask: &'n LinkMask, cost: impl Fn(LinkId) -> u64) -> Self {
        let stubs = Stubs::new(network);
        let core = CostGraph::within(network, mask, cost, |node| stubs.in_core(node));
        Self { network, mask, stubs, core, budget: Spent::UNLIMITED }
    }

    /// The same for paths within limits, and what their searches need.
    pub(crate) fn limited(self, limits: PathLimits) -> (Self, Limited<'n>) {
        let limited = Limited::new(self.network, self.mask, |node| self.stubs.in_core(node));
        (Self { budget: limits.budget(), ..self }, limited)
    }

    /// What searches look at: all but the stubs.
    pub(crate) const fn core(&self) -> &CostGraph<'n> {
        &self.core
    }

    /// A plan of paths. `find` answers for a node of the core and the root of a tree, and for the room of
    /// the paths: how much they may carry together, in the unit in which `capacity` says how much a link
    /// carries (`None`: as much as they can), and what each may spend. It calls what it is given last before each further path.
    pub(crate) fn paths<E>(
        &self,
        pairs: &[(NodeId, NodeId)],
        capacity: impl Fn(LinkId) -> u64,
        watch: &mut Watch<'_, E>,
        mut find: impl FnMut(
            &TreeTo,
            NodeId,
            Room,
            &mut dyn FnMut() -> Result<(), E>,
        ) -> Result<Vec<WeightedPath>, E>,
    ) -> Result<Plan, E> {
        let pending = self.sort_out(pairs, capacity, watch)?;
        let mut routes: Vec<Option<Route>> = vec![None; pending.len()];
        let mut done = 0;
        let mut tree: Option<TreeTo> = None;
        for alike in pending.chunk_by(|one, other| one.search() == other.search()) {
            let (to, from, room) = alike[0].search();
            let pair_paths = if from == to {
                None
            } else {
                watch(done)?;
                let tree = match &mut tree {
                    Some(tree) if tree.to() == to => tree,
                    other => other.insert(TreeTo::new(&self.core, to)),
                };
                Some(find(tree, from, room, &mut || watch(done))?)
            };
            let Some(pair_paths) = pair_paths else {
                for pair in alike {
                    let links = self.whole(pair, 0, std::iter::empty());
                    routes[pair.place] = Some(pair.route(vec![WeightedPath { links, weight: 1.0 }]));
                }
                done += alike.len();
                continue;
            };
            if pair_paths.is_empty() {
                continue;
            }
            for pair in &alike[1..] {
                routes[pair.place] = Some(pair.route(self.around(pair, pair_paths.clone())));
            }
            routes[alike[0].place] = Some(alike[0].route(self.around(&alike[0], pair_paths)));
            done += alike.len();
        }
        Ok(Plan { routes: routes.into_iter().flatten().collect(), ..Plan::default() })
    }

    /// A plan of the shortest path of each pair.
    pub(crate) fn shortest<E>(
        &self,
        pairs: &[(NodeId, NodeId)],
        watch: &mut Watch<'_, E>,
    ) -> Result<Plan, E> {
        let pending = self.sort_out(pairs, |_| u64::MAX, watch)?;
        let mut routes: Vec<Option<Route>> = vec![None; pending.len()];
        let mut done = 0;
        for to_one in pending.chunk_by(|one, other| one.top.1 == other.top.1) {
            watch(done)?;
            let tree = TreeTo::new(&self.core, to_one[0].top.1);
            for pair in to_one.iter().filter(|pair| tree.length(pair.top.0).is_some()) {
                let hops = tree.length(pair.top.0).map_or(0, Length::hops);
                let between = tree.walk(pair.top.0).map(|arc| arc.link);
                let links = self.whole(pair, hops as usize, between);
                routes[pair.place] = Some(pair.route(vec![WeightedPath { links, weight: 1.0 }]));
            }
            done += to_one.len();
        }
        Ok(Plan { routes: routes.into_iter().flatten().collect(), ..Plan::default() })
    }

    /// The pairs whose stubs let them through, those of one search side by side.
    fn sort_out<E>(
        &self,
        pairs: &[(NodeId, NodeId)],
        capacity: impl Fn(LinkId) -> u64,
        watch: &mut Watch<'_, E>,
    ) -> Result<Vec<Pending>, E> {
        let mut distinct: Vec<(NodeId, NodeId)> =
            pairs.iter().copied().filter(|(from, to)| from != to).collect();
        if !distinct.is_sorted_by(|one, other| one < other) {
            distinct.sort_unstable();
            distinct.dedup();
        }
        let mut pending = Vec::with_capacity(distinct.len());
        for (number, (from, to)) in distinct.into_iter().enumerate() {
            if number % PAIRS_BETWEEN_LOOKS == 0 {
                watch(0)?;
            }
            let top = self.stubs.top(from, to);
            let up = || self.stubs.climb(from, top.0).map(|stub| self.up(stub));
            let down = || self.stubs.climb(to, top.1).map(|stub| self.down(stub));
            if up().chain(down()).all(|link| link.is_some()) {
                let flow = up().chain(down()).flatten().map(&capacity).min();
                let budget = self.left(up().chain(down()).flatten());
                if let (Some(budget), true) = (budget, flow != Some(0)) {
                    let room = Room { flow, budget };
                    pending.push(Pending { from, to, place: pending.len(), top, room });
                }
            }
        }
        let nodes = self.core.node_count();
        let mut sorted = by_node(&pending, nodes, |pair| pair.top.0);
        sorted = by_node(&sorted, nodes, |pair| pair.top.1);
        for same_ends in sorted.chunk_by_mut(|one, other| one.top == other.top) {
            same_ends.sort_by_key(|pair| pair.room);
        }
        Ok(sorted)
    }

    /// What links leave of the budget; `None` where they break the limits.
    fn left(&self, mut links: impl Iterator<Item = LinkId>) -> Option<Spent> {
        if self.budget == Spent::UNLIMITED {
            return Some(self.budget);
        }
        links.try_fold(self.budget, |left, link| Spent::on(self.network, link).left_of(left))
    }

    /// The path of a pair, given the links between its stubs and how many they are.
    fn whole(&self, pair: &Pending, hops: usize, between: impl Iterator<Item = LinkId>) -> Path {
        let climb = |from, top| self.stubs.steps(from, top);
        let hops = climb(pair.from, pair.top.0) + hops + climb(pair.to, pair.top.1);
        let mut links = Vec::with_capacity(hops);
        links.extend(self.stubs.climb(pair.from, pair.top.0).filter_map(|stub| self.up(stub)));
        links.extend(between);
        let below = links.len();
        links.extend(self.stubs.climb(pair.to, pair.top.1).filter_map(|stub| self.down(stub)));
        links[below..].reverse();
        self.core.path(links)
    }

    /// The paths of a pair, given those through the core.
    fn around(&self, pair: &Pending, mut paths: Vec<WeightedPath>) -> Vec<WeightedPath> {
        if pair.top != (pair.from, pair.to) {
            for path in &mut paths {
                let between = path.links.links();
                path.links = self.whole(pair, between.len(), between.iter().copied());
            }
        }
        paths
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
        let (mut plan, mut lists) = (Plan::default(), SharedLists::default());
        for (root, destinations) in by_root {
            watch(plan.routes.len())?;
            let in_core = next_hops(&self.core, root, &mut lists);
            for to in destinations {
                let table = self.table((to, root), &in_core, &sources[&to], &mut lists);
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
        (to, root): (NodeId, NodeId),
        in_core: &[NextHops],
        sources: &BTreeSet<NodeId>,
        lists: &mut SharedLists,
    ) -> NextHopsTo {
        let mut next: BTreeMap<NodeId, Arc<[LinkId]>> = BTreeMap::new();
        let leads = |next: &BTreeMap<NodeId, _>, node| node == to || next.contains_key(&node);
        let mut stub = to;
        while let Some(edge) = self.stubs.edge(stub) {
            if let (Some(link), true) = (self.down(stub), leads(&next, stub)) {
                next.insert(edge.parent, lists.shared(std::iter::once(link)));
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
                    next.insert(stub, lists.shared(std::iter::once(link)));
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

/// Pairs in the order of a node of theirs; those of one node stay as they stand.
fn by_node(pairs: &[Pending], nodes: usize, node: impl Fn(&Pending) -> NodeId) -> Vec<Pending> {
    let mut place = vec![0_usize; nodes + 1];
    for pair in pairs {
        place[node(pair).index() + 1] += 1;
    }
    for index in 0..nodes {
        place[index + 1] += place[index];
    }
    let mut sorted = pairs.to_vec();
    for pair in pairs {
        let next = &mut place[node(pair).index()];
        sorted[*next] = *pair;
        *next += 1;
    }
    sorted
}
