//! What a scenario may need and a page has not: told at its place, with what to do.

use anabranch_scenario::Scenario;
use anabranch_scenario::problem::{Problem, Problems};
use anabranch_scenario::setup::{Files, PlainTraffic, Planned, Resolved};
use anabranch_scenario::words::quoted;
use std::collections::BTreeMap;

/// The files that a page gave, by the names that the scenario has for them.
pub struct PageFiles<'f>(pub &'f BTreeMap<String, String>);

impl Files for PageFiles<'_> {
    fn text(&self, name: &str) -> Result<String, String> {
        let missing = || format!("{} cannot be read: the page gave no file of this name", quoted(name));
        self.0.get(name).cloned().ok_or_else(missing)
    }

    /// Nothing: other formats than CSV are read in Python, which does not run here.
    fn traffic(&self, _name: &str) -> Result<Option<PlainTraffic>, String> {
        Ok(None)
    }
}

/// What is seen in the scenario itself.
#[must_use]
pub fn of_scenario(scenario: &Scenario) -> Vec<Problem> {
    let mut problems = Problems::default();
    for number in 0..scenario.capture.len() {
        let message = "a capture is a file, and a page writes none; leave [[capture]] out";
        problems.add_at(&format!("capture[{number}]"), message);
    }
    for lacks in scenario.lacks_for_run() {
        problems.add_at(&lacks.place, lacks.message);
    }
    problems.into_told()
}

/// Plans that are made in Python.
#[must_use]
pub fn of_plans(resolved: &Resolved) -> Vec<Problem> {
    let mut problems = Problems::default();
    let others = resolved.own_routes.iter().map(|routes| (routes.place.as_str(), &routes.planned));
    for (place, planned) in std::iter::once(("routing", &resolved.planned)).chain(others) {
        let message = match planned {
            // Who has no code of the user's own has told so where it was asked for.
            Planned::Core(_) | Planned::Own(_) => continue,
            Planned::Planner(configuration) => {
                let name = configuration.get("algorithm").and_then(|name| name.as_str()).unwrap_or_default();
                format!("{} is planned in Python, which does not run here", quoted(name))
            }
        };
        problems.add_at(
            &format!("{place}.scheme"),
            format!("{message}; choose a scheme that the core plans, such as \"k-shortest\""),
        );
    }
    problems.into_told()
}

/// Bytes of a flow with few packets: both ends, its setup and its row of the tables. Measured: 1,660 in a page, for each of
/// 20,000 and of 40,000.
const FLOW_BYTES: u64 = 1_600;
/// Bytes of a row of a series; measured in a page with two million rows of links: 101.
const ROW_BYTES: u64 = 100;
/// What a module of WebAssembly with addresses of 32 bits may have.
const MOST_BYTES: u64 = 1 << 32;

/// A run that cannot fit into the memory of a page. The estimate is a lower bound.
#[must_use]
pub fn of_memory(resolved: &Resolved) -> Option<Problem> {
    let setup = &resolved.setup;
    let flows = (resolved.flows.number.len() + setup.datagrams.len()) as u64;
    let probes = &setup.probes;
    let samples = probes.interval.map_or(0, |interval| setup.duration.as_ps() / interval.as_ps().max(1));
    let each = flows * u64::from(probes.flows) + setup.links.len() as u64 * u64::from(probes.links);
    let rows = samples.saturating_mul(each);
    let (in_flows, in_rows) = (flows * FLOW_BYTES, rows.saturating_mul(ROW_BYTES));
    if in_flows.saturating_add(in_rows) <= MOST_BYTES {
        return None;
    }
    let has = "need more than 4.3 GB of memory, and a page has no more";
    Some(if in_rows > in_flows {
        let message = format!("{rows} rows of series {has}; sample less often, or set flow_series to false");
        Problem { place: "run.sample_interval".into(), message }
    } else {
        let message = format!("{flows} flows {has}; simulate fewer flows, or run it outside of a browser");
        Problem { place: "traffic".into(), message }
    })
}
