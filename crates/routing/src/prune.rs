use crate::{LinkMask, NextHopsTo, Plan, Route, WeightedPath};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is left of a plan where not everything is up: for plans made elsewhere, for which there
/// is no scheme to run again.
///
/// A path with an unusable link goes, and the weights of the others rise in proportion; a route of
/// which nothing is left goes too. A table loses the next hops that are unusable or from which
/// the table no longer leads to its destination. The plan must have passed [`Plan::check`].
#[must_use]
pub fn prune(plan: &Plan, network: &Network, mask: &LinkMask) -> Plan {
    let tables: Vec<NextHopsTo> = plan.tables.iter().map(|table| prune_table(table, network, mask)).collect();
    let by_destination: BTreeMap<NodeId, &NextHopsTo> =
        tables.iter().map(|table| (table.to, table)).collect();
    let leads_on =
        |route: &Route| by_destination.get(&route.to).is_some_and(|table| !table.at(route.from).is_empty());
    let prune_route = |route: &Route| {
        if route.paths.is_empty() {
            return leads_on(route).then(|| route.clone());
        }
        let paths = prune_paths(&route.paths, network, mask);
        (!paths.is_empty()).then_some(Route { from: route.from, to: route.to, paths })
    };
    let routes = plan.routes.iter().filter_map(prune_route).collect();
    let others = plan.others.iter().map(|other| prune(other, network, mask)).collect();
    Plan { routes, tables, others }
}

fn prune_paths(paths: &[WeightedPath], network: &Network, mask: &LinkMask) -> Vec<WeightedPath> {
    let alive = |path: &Path| path.links().iter().all(|&link| mask.usable(network, link));
    let mut left: Vec<WeightedPath> = paths.iter().filter(|path| alive(&path.links)).cloned().collect();
    // Where nothing went the weights stay as they are to the last bit.
    if left.len() < paths.len() {
        let sum: f64 = left.iter().map(|path| path.weight).sum();
        for path in &mut left {
            path.weight /= sum;
        }
    }
    left
}

fn prune_table(table: &NextHopsTo, network: &Network, mask: &LinkMask) -> NextHopsTo {
    let arrives = arriving(table, network, mask);
    let keep = |link: &LinkId| mask.usable(network, *link) && arrives.contains(&network.link(*link).to);
    let prune_entry = |(node, next): &(NodeId, Arc<[LinkId]>)| {
        let next: Arc<[LinkId]> = next.iter().copied().filter(keep).collect();
        (!next.is_empty()).then_some((*node, next))
    };
    NextHopsTo { to: table.to, next: table.next.iter().filter_map(prune_entry).collect() }
}

/// The nodes from which some usable way along the table leads to its destination.
fn arriving(table: &NextHopsTo, network: &Network, mask: &LinkMask) -> BTreeSet<NodeId> {
    let mut before: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for (node, next) in &table.next {
        for &link in next.iter().filter(|&&link| mask.usable(network, link)) {
            before.entry(network.link(link).to).or_default().push(*node);
        }
    }
    let mut arrives = BTreeSet::from([table.to]);
    let mut to_visit = vec![table.to];
    while let Some(node) = to_visit.pop() {
        for before in before.remove(&node).unwrap_or_default() {
            if arrives.insert(before) {
                to_visit.push(before);
            }
        }
    }
    arrives
}
