//! The network of a topology as a file that a page fetches: `make networks` writes one for each that has a name.

use crate::text::plain;
use anabranch_scenario::Scenario;
use anabranch_scenario::problem::Problem;
use anabranch_scenario::setup::PlainNetwork;
use anabranch_scenario::words::quoted;
use serde::Deserialize;
use serde_json::Map;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Most nodes of a network, as in topologies from files.
const MOST_NODES: usize = 100_000;
/// Most links of a network.
const MOST_LINKS: usize = 1_000_000;
/// More than any link has, in bit/s: a larger capacity is a mistake.
const LARGEST_CAPACITY_BPS: u64 = 1_000_000_000_000_000;

/// Such a file.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct NetworkFile {
    /// What a scenario writes as `network.topology` to have it.
    topology: Option<String>,
    /// What a scenario writes as `network.parameters`, for which a generator made it.
    #[serde(default)]
    parameters: Map<String, serde_json::Value>,
    /// Where it comes from, under which licence, and what was filled in; for people.
    #[serde(default, rename = "provenance")]
    _provenance: Vec<String>,
    network: PlainNetwork,
}

/// The name that `make networks` gives the file of a scenario's network: the topology in small letters, and with
/// parameters a hash of them.
#[must_use]
pub fn file_name(scenario: &Scenario) -> Option<String> {
    let topology = scenario.network.topology.as_deref()?.to_ascii_lowercase();
    let parameters = parameters(scenario);
    if parameters.is_empty() {
        return Some(format!("{topology}.json"));
    }
    let hash = Sha256::digest(serde_json::Value::Object(parameters).to_string());
    let hash: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("{topology}-{hash}.json"))
}

/// The network for a scenario from such a file; without a topology a scenario lists its nodes itself.
///
/// # Errors
/// If there is none and it needs one, if it is another's, or no network.
pub fn network_of(scenario: &Scenario, file: Option<&str>) -> Result<PlainNetwork, Problem> {
    let topology = scenario.network.topology.as_deref();
    let Some(json) = file else {
        return match topology {
            None => Ok(PlainNetwork { label: "this scenario".into(), ..PlainNetwork::default() }),
            Some(name) => Err(problem(
                "network.topology",
                format!(
                    "the page gave no network for {}; give the text of its file, which make networks writes",
                    quoted(name)
                ),
            )),
        };
    };
    let file: NetworkFile = serde_json::from_str(json).map_err(|error| {
        problem(
            "network",
            format!("what the page gave is no network: {error}; docs/browser.md has the format"),
        )
    })?;
    match (topology, &file.topology) {
        (None, None) => {}
        (Some(wanted), Some(given)) if wanted.eq_ignore_ascii_case(given) => {}
        (Some(wanted), given) => {
            let given = given.as_deref().map_or("one without a name".to_owned(), quoted);
            let message = format!("the page gave the network {given}; give that of {}", quoted(wanted));
            return Err(problem("network.topology", message));
        }
        (None, Some(given)) => {
            let message = format!(
                "the page gave the network {}, which the scenario does not name; write topology = {0}, or give none",
                quoted(given)
            );
            return Err(problem("network", message));
        }
    }
    check_parameters(scenario, &file.parameters)?;
    check(&file.network)
        .map_err(|message| problem("network", format!("what the page gave is no network: {message}")))?;
    Ok(file.network)
}

fn problem(place: &str, message: String) -> Problem {
    Problem { place: place.into(), message }
}

/// A generator's network is that of its parameters, and no other.
fn check_parameters(scenario: &Scenario, made_with: &Map<String, serde_json::Value>) -> Result<(), Problem> {
    let wanted = parameters(scenario);
    let keys: BTreeSet<&String> = wanted.keys().chain(made_with.keys()).collect();
    let Some(key) = keys.into_iter().find(|key| wanted.get(*key) != made_with.get(*key)) else {
        return Ok(());
    };
    let shown = |given: Option<&serde_json::Value>| {
        given.map_or("left out".to_owned(), |value| format!("{key} = {value}"))
    };
    let place = if wanted.contains_key(key) { format!("network.parameters.{key}") } else { "network".into() };
    let message = format!(
        "the network that the page gave was made with {}; here it is {}. Give the network of these parameters",
        shown(made_with.get(key)),
        shown(wanted.get(key)),
    );
    Err(problem(&place, message))
}

/// The parameters of its generator, by key.
fn parameters(scenario: &Scenario) -> Map<String, serde_json::Value> {
    scenario.network.parameters.0.iter().map(|(key, node)| (key.clone(), plain(node))).collect()
}

/// What topologies hold whose files Python reads.
fn check(network: &PlainNetwork) -> Result<(), String> {
    if network.nodes.len() > MOST_NODES || network.links.len() > MOST_LINKS {
        return Err(format!("it has more than {MOST_NODES} nodes or {MOST_LINKS} links"));
    }
    let mut names = BTreeSet::new();
    for node in &network.nodes {
        if node.name.is_empty() {
            return Err("a node has no name".into());
        }
        if !names.insert(node.name.as_str()) {
            return Err(format!("two nodes are named {}", quoted(&node.name)));
        }
        let is_on_earth = |(latitude, longitude): (f64, f64)| {
            (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude)
        };
        if !node.place.is_none_or(is_on_earth) {
            return Err(format!("the place of {} is not on the Earth", quoted(&node.name)));
        }
    }
    for (number, link) in network.links.iter().enumerate() {
        if let Some(end) = [&link.a, &link.b].into_iter().find(|end| !names.contains(end.as_str())) {
            return Err(format!("links[{number}] leads to {}, which is no node", quoted(end)));
        }
        if link.a == link.b {
            return Err(format!("links[{number}] leads from {} to itself", quoted(&link.a)));
        }
        if link.capacity_bps.is_some_and(|capacity| !(1..=LARGEST_CAPACITY_BPS).contains(&capacity)) {
            return Err(format!("capacity_bps of links[{number}] is not within 1 and 10^15"));
        }
        if link.delay_ps.is_some_and(|delay| delay > anabranch_units::Span::LONGEST_INPUT.as_ps()) {
            return Err(format!("delay_ps of links[{number}] is above 30 days"));
        }
        if link.length_km.is_some_and(|length| !(length.is_finite() && length >= 0.0)) {
            return Err(format!("length_km of links[{number}] is below zero"));
        }
    }
    Ok(())
}
