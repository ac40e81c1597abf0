use crate::{LinkMask, Plan, Route, Table, WeightedPath};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId};

/// What is left of a plan where not everything is up: for plans made elsewhere, for which there
/// is no scheme to run again.
///
/// A path with an unusable link goes, and the weights of the others rise in proportion; a route of
/// which nothing is left goes too. A table loses the next hops that are unusable or from which
/// the table no longer leads to its destination. The plan must have passed [`Plan::check`].
#[must_use]
pub fn prune(plan: &Plan, network: &Network, mask: &LinkMask) -> Plan {
    let tables: Vec<Table> = plan.tables.iter().map(|table| prune_table(table, network, mask)).collect();
    let leads_on = |route: &Route| {
        let table = tables.iter().find(|table| table.to == route.to);
        table.is_some_and(|table| !table.next[route.from.index()].is_empty())
    };
    let prune_route = |route: &Route| {
        if route.paths.is_empty() {
            return leads_on(route).then(|| route.clone());
        }
        let paths = prune_paths(&route.paths, network, mask);
        (!paths.is_empty()).then_some(Route { from: route.from, to: route.to, paths })
    };
    Plan { routes: plan.routes.iter().filter_map(prune_route).collect(), tables }
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

fn prune_table(table: &Table, network: &Network, mask: &LinkMask) -> Table {
    let arrives = arriving(table, network, mask);
    let keep = |link: &LinkId| mask.usable(network, *link) && arrives[network.link(*link).to.index()];
    let next = table.next.iter().map(|next| next.iter().copied().filter(keep).collect()).collect();
    Table { to: table.to, next }
}

/// For each node, whether some usable way along the table leads to its destination.
fn arriving(table: &Table, network: &Network, mask: &LinkMask) -> Vec<bool> {
    let mut arrives = vec![false; network.nodes().len()];
    arrives[table.to.index()] = true;
    let mut to_visit: Vec<NodeId> = vec![table.to];
    while let Some(node) = to_visit.pop() {
        for &link in network.links_into(node) {
            let before = network.link(link).from;
            let used = table.next[before.index()].contains(&link) && mask.usable(network, link);
            if used && !arrives[before.index()] {
                arrives[before.index()] = true;
                to_visit.push(before);
            }
        }
    }
    arrives
}
