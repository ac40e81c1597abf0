//! The routes of a run, by the schemes of the core.

use anabranch_engine::network::Network;
use anabranch_engine::routing::{Plan, Scheme};
use anabranch_scenario::problem::Problem;
use anabranch_scenario::routing::RouteChoice;
use anabranch_scenario::setup::Resolved;
use anabranch_scenario::words::{quoted, thousands};
use anabranch_units::NodeId;

/// The plan of a run: that of `[routing]`, and those of traffic that has routes of its own as its others.
///
/// # Errors
/// Limits of paths that leave a pair none.
///
/// # Panics
/// If a plan is made elsewhere, which [`crate::lacks::of_plans`] tells.
pub fn plan(resolved: &Resolved, usual: &RouteChoice, network: &Network) -> Result<Plan, Vec<Problem>> {
    let others = resolved.own_routes.iter().map(|routes| (routes.place.as_str(), &routes.choice));
    let choices = std::iter::once(("routing", usual)).chain(others);
    let schemes = resolved.setup.routing.schemes().map(|scheme| scheme.expect("a scheme of the core"));
    let mut plans = Vec::new();
    let mut problems = Vec::new();
    for (number, ((place, choice), scheme)) in choices.zip(schemes).enumerate() {
        let (plan, without) = planned(resolved, number, scheme, network);
        if choice.max_delay.is_some() || choice.max_loss.is_some() {
            problems.extend(beyond_limits(resolved, place, choice, &without));
        }
        plans.push(plan);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let first = plans.remove(0);
    Ok(Plan { others: plans, ..first })
}

/// A plan, and the pairs that have no route in it.
fn planned(
    resolved: &Resolved,
    number: usize,
    scheme: &Scheme,
    network: &Network,
) -> (Plan, Vec<(NodeId, NodeId)>) {
    let pairs = resolved.setup.pairs_of(number);
    let plan = scheme.plan(network, &resolved.setup.data_mask(network), &pairs);
    let without = pairs.into_iter().filter(|&(from, to)| plan.route(from, to).is_none()).collect();
    (plan, without)
}

fn beyond_limits(
    resolved: &Resolved,
    place: &str,
    choice: &RouteChoice,
    without: &[(NodeId, NodeId)],
) -> Option<Problem> {
    let &(from, to) = without.first()?;
    let limit = if choice.max_delay.is_some() { "max_delay" } else { "max_loss" };
    let both = choice.max_delay.is_some() && choice.max_loss.is_some();
    let name = |node: NodeId| quoted(&resolved.setup.nodes[node.index()].name);
    let others = without.len() as u64 - 1;
    let more = match others {
        0 => String::new(),
        1 => ", and 1 other pair has none".to_owned(),
        _ => format!(", and {} other pairs have none", thousands(others)),
    };
    let message = format!(
        "leaves no path from {} to {}{}{more}; allow more, or leave it out",
        name(from),
        name(to),
        if both { " that keeps max_loss, too" } else { "" },
    );
    Some(Problem { place: format!("{place}.{limit}"), message })
}
