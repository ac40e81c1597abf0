//! Paths for SEMPER (G. Garcia-Aviles, "SEMPER: A Stateless Traffic Engineering Solution based on MP-TCP for
//! WAN networks", 2017, section IV): link-disjoint paths between the edge routers of two nodes, and for the
//! way back the same paths in the same order, so that a hash that is the same in both directions sends the
//! segments and acknowledgments of a subflow along the same path.
//!
//! The thesis has P parallel paths between two routers, to which hosts hang by one link each. Here the edge
//! routers are where the stubs of a pair join the core, and the paths are those that cost least there and
//! back together, in the order that [`crate::dijkstra`] states, seen from the node of the lower number. Only
//! edges with both directions usable count. A pair that such edges do not connect gets the disjoint paths of
//! each direction, which then need not agree.

use super::{MOST_PATHS, Wanted};
use crate::mirror::Mirror;
use crate::planner::Planner;
use crate::{AdditiveMetric, Disjoint, LinkMask, Plan, Route, Watch, WeightedPath};
use anabranch_network::{Network, Path};
use anabranch_units::declaration::at_least;
use anabranch_units::{LinkId, NodeId};
use std::collections::BTreeSet;

anabranch_units::choice! {
    /// How much of the packets each path gets.
    pub enum PathShares {
        /// Equal parts.
        "equal" => Equal,
        /// Parts by the capacity of its narrowest link between the edge routers, there or back.
        "capacity" => Capacity,
    }
}

anabranch_units::parameters! {
    /// Link-disjoint paths between the edge routers, the same ones there and back (Garcia-Aviles 2017).
    #[derive(Copy, Eq)]
    pub struct SemperScheme {
        /// Most paths of a pair; left out, as many as there are.
        k: Option<u32> = None, at_least(1).at_most(MOST_PATHS);
        /// What each path gets.
        shares: PathShares = PathShares::Equal;
        /// What a short path is short in, there and back together.
        metric: AdditiveMetric = AdditiveMetric::Hops;
    }
}

impl SemperScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        let Wanted { network, mask, pairs } = wanted;
        let cost = |link| self.metric.cost(network, link);
        semper_plan(network, mask, pairs, (self.k.map(|k| k as usize), self.shares), cost, watch)
    }
}

/// Up to `k` paths for each pair, or as many as there are.
fn semper_plan<E>(
    network: &Network,
    mask: &LinkMask,
    pairs: &[(NodeId, NodeId)],
    (k, shares): (Option<usize>, PathShares),
    cost: impl Fn(LinkId) -> u64,
    watch: &mut Watch<'_, E>,
) -> Result<Plan, E> {
    let mirror = Mirror::new(network);
    let mut two_way = mask.clone();
    for link in network.link_ids() {
        let back = mirror.link(link).is_some_and(|back| mask.usable(network, back));
        if !back {
            two_way.set_link(link, false);
        }
    }
    let there_and_back = |link| cost(link).saturating_add(mirror.link(link).map_or(0, &cost));
    let narrowest = |path: &Path| {
        let rate = |link: LinkId| network.link(link).capacity.as_bps();
        let edge = |&link: &LinkId| mirror.link(link).map_or(rate(link), |back| rate(link).min(rate(back)));
        path.links().iter().map(edge).min().unwrap_or(0)
    };
    let mut find = |mask, pairs: &[(NodeId, NodeId)], cost: &dyn Fn(LinkId) -> u64| {
        let planner = Planner::new(network, mask, cost);
        let mut finder = Disjoint::new(planner.core());
        planner.paths(
            pairs,
            |_| 1,
            watch,
            |tree, from, _, _| Ok(weighted(finder.paths(tree, from, k), shares, narrowest)),
        )
    };
    let forth: BTreeSet<(NodeId, NodeId)> =
        pairs.iter().map(|&(from, to)| (from.min(to), from.max(to))).collect();
    let forth: Vec<_> = forth.into_iter().collect();
    let both_ways = find(&two_way, &forth, &there_and_back)?;
    let wanted: BTreeSet<(NodeId, NodeId)> = pairs.iter().copied().collect();
    let mut routes = Vec::new();
    for route in both_ways.routes {
        if wanted.contains(&(route.to, route.from)) {
            routes.push(reversed(network, &mirror, &route));
        }
        if wanted.contains(&(route.from, route.to)) {
            routes.push(route);
        }
    }
    let connected: BTreeSet<_> = routes.iter().map(|route| (route.from, route.to)).collect();
    let one_way: Vec<_> = wanted.difference(&connected).copied().collect();
    if !one_way.is_empty() {
        routes.extend(find(mask, &one_way, &cost)?.routes);
    }
    routes.sort_by_key(|route| (route.from, route.to));
    Ok(Plan { routes, ..Plan::default() })
}

fn weighted(paths: Vec<Path>, shares: PathShares, narrowest: impl Fn(&Path) -> u64) -> Vec<WeightedPath> {
    let weight = |path: &Path| match shares {
        PathShares::Equal => 1.0,
        PathShares::Capacity => narrowest(path) as f64,
    };
    let weights: Vec<f64> = paths.iter().map(weight).collect();
    let total: f64 = weights.iter().sum();
    let share = |(links, weight)| WeightedPath { links, weight: weight / total };
    paths.into_iter().zip(weights).map(share).collect()
}

/// The route of the reverse pair over the same edges.
fn reversed(network: &Network, mirror: &Mirror, route: &Route) -> Route {
    let back = |path: &WeightedPath| {
        let links = mirror.path(path.links.links()).expect("every edge of it has both directions");
        let links = Path::new(network, links).expect("a path backwards is a path");
        WeightedPath { links, weight: path.weight }
    };
    Route { from: route.to, to: route.from, paths: route.paths.iter().map(back).collect() }
}
