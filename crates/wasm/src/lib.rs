//! Scenarios in a browser: text and a network in, tables out.

use anabranch_engine::records::{Column, Table};
use anabranch_engine::setup::Setup;
use anabranch_engine::{Outcome, Simulation};
use anabranch_scenario::Scenario;
use anabranch_scenario::problem::{Place, Problem, Problems};
use anabranch_scenario::read::Read;
use anabranch_scenario::setup::{Files, NoOwnCode, PlainNetwork, World, resolve};
use anabranch_scenario::toml_text::{extent_of, line_and_column, parse};
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;
use wasm_bindgen::prelude::*;

/// A page has no files beside a scenario.
struct NoFiles;

impl Files for NoFiles {
    fn text(&self, name: &str) -> Result<String, String> {
        Err(format!("\"{name}\" cannot be read: a page has no files"))
    }
}

/// Runs a scenario over a network; the answer is JSON: tables by name, each with its columns.
///
/// # Errors
/// Every mistake of the scenario, a line each, with its line and column in the text.
#[wasm_bindgen]
pub fn run(text: &str, network_json: &str) -> Result<String, JsError> {
    simulated(text, network_json).map_err(|message| JsError::new(&message))
}

/// What [`run`] does, without a page.
///
/// # Errors
/// As [`run`].
pub fn simulated(text: &str, network_json: &str) -> Result<String, String> {
    let setup = resolved(text, network_json)?;
    let shown = |error: &dyn std::fmt::Display| error.to_string();
    let network = setup.check().map_err(|error| shown(&error))?;
    let mask = setup.data_mask(&network);
    let scheme = setup.routing.schemes().next().flatten().ok_or("no routing scheme")?;
    let plan = scheme
        .plan_watched(&network, &mask, &setup.pairs_of(0), &mut |_| Ok::<(), String>(()))
        .map_err(|error| error.to_string())?;
    let simulation = Simulation::new(setup, plan).map_err(|error| shown(&error))?;
    let outcome = simulation.run(|_| ControlFlow::Continue(())).map_err(|error| shown(&error))?;
    Ok(answer(&outcome).to_string())
}

fn resolved(text: &str, network_json: &str) -> Result<Setup, String> {
    let root = parse(text).map_err(|problems| lines(problems, None))?;
    let told = |problems: Vec<Problem>| lines(problems, Some((text, &root)));
    let mut problems = Problems::default();
    let Some(scenario) = Scenario::read(&root, &Place::Top, &mut problems) else {
        return Err(told(problems.into_told()));
    };
    if !scenario.capture.is_empty() {
        return Err("capture: a page writes no files; leave it out".into());
    }
    let network: PlainNetwork = serde_json::from_str(network_json).map_err(|error| error.to_string())?;
    let mut world = World { network: &network, files: &NoFiles, own: &mut NoOwnCode };
    let mut resolved = resolve(&scenario, &mut world).1.map_err(told)?;
    if resolved.planned.core().is_none()
        || resolved.own_routes.iter().any(|routes| routes.planned.core().is_none())
    {
        return Err(
            "routing.scheme: its plan is made in Python, which does not run here; choose another scheme"
                .into(),
        );
    }
    resolved.setup.flows = resolved.flows.slices().setups().expect("every entry is there");
    Ok(resolved.setup)
}

/// Mistakes, a line each, with line and column where a text has them.
fn lines(problems: Vec<Problem>, document: Option<(&str, &anabranch_scenario::node::Node)>) -> String {
    let line = |problem: Problem| match document {
        None => problem.to_string(),
        Some((text, root)) => {
            let (line, column) = line_and_column(text, extent_of(root, &problem.place).start);
            format!("line {line}, column {column}: {problem}")
        }
    };
    problems.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn answer(outcome: &Outcome) -> Value {
    let tables: Map<_, _> =
        outcome.tables.iter().map(|table| (table.name.to_owned(), columns(table))).collect();
    json!({
        "packet_hops": outcome.progress.packet_hops,
        "delivered_mbps": outcome.delivered_mbps,
        "tables": tables,
    })
}

fn columns(table: &Table) -> Value {
    let column = |column: &Column| match column {
        Column::Integers(values) => json!(values),
        Column::Numbers(values) => json!(values),
        Column::Texts(values) => json!(values),
        Column::Choices { places, names } => {
            json!(places.iter().map(|&place| names[place as usize]).collect::<Vec<_>>())
        }
    };
    table
        .columns
        .iter()
        .map(|(name, values)| ((*name).to_owned(), column(values)))
        .collect::<Map<_, _>>()
        .into()
}
