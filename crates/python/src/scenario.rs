//! Scenarios as the core reads them.

use crate::error::value_error;
use crate::network::Network;
use crate::resolved::Resolved;
use crate::world::{AskedCode, AskedFiles, Failure, Topology};
use anabranch_scenario as scenario;
use anabranch_scenario::node::{Node, Value};
use anabranch_scenario::problem::{Place, Problem, Problems};
use anabranch_scenario::read::Read;
use anabranch_scenario::setup::{World, resolve};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

/// A mistake: its place and what is wrong.
pub(crate) type Told = (String, String);

/// A scenario as the core reads it.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Scenario {
    scenario: Option<scenario::Scenario>,
    /// What is wrong with them, each with its place.
    #[pyo3(get)]
    problems: Vec<Told>,
}

#[pymethods]
impl Scenario {
    /// `data` are plain data as a TOML parser returns them.
    #[new]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let root = plain(data)?;
        let mut problems = Problems::default();
        let scenario = scenario::Scenario::read(&root, &Place::Top, &mut problems);
        Ok(Self { scenario, problems: told(problems.into_told()) })
    }

    /// The scenario as the engine runs it, over a topology: its network; its setup, or None; and what is wrong with it, each
    /// with its place.
    ///
    /// `is_generated` says that parameters of the scenario have made the topology. `files(name)` gives the text of a file,
    /// `own(kind, python, parameters, delays_ps, capacities_bps)` an algorithm of the user's own as JSON; a load balancer is
    /// told of the links. Both raise ProblemError with what is wrong; any other error ends the call.
    ///
    /// Raises ValueError if the scenario itself has problems.
    fn resolve(
        &self,
        py: Python<'_>,
        topology: Topology<'_>,
        is_generated: bool,
        files: Bound<'_, PyAny>,
        own: Bound<'_, PyAny>,
    ) -> PyResult<(Network, Option<Resolved>, Vec<Told>)> {
        let scenario = self.scenario.as_ref().ok_or_else(|| value_error("the scenario has problems"))?;
        let network = topology.into_plain(is_generated)?;
        let failure = Failure::default();
        let mut world = World {
            network: &network,
            files: &AskedFiles(files, &failure),
            own: &mut AskedCode(own, &failure),
        };
        let (mut network, resolved) = resolve(scenario, &mut world);
        failure.raise()?;
        match resolved {
            Ok(mut resolved) => {
                network.links = std::mem::take(&mut resolved.setup.links);
                let resolved = Resolved::new(py, resolved)?;
                Ok((Network(network), Some(resolved), Vec::new()))
            }
            Err(problems) => Ok((Network(network), None, told(problems))),
        }
    }
}

/// Plain data of Python's.
pub(crate) fn plain(data: &Bound<'_, PyAny>) -> PyResult<Node> {
    node(data, 0)
}

pub(crate) fn told(problems: Vec<Problem>) -> Vec<Told> {
    problems.into_iter().map(|problem| (problem.place, problem.message)).collect()
}

/// Tables and lists inside each other at most: a scenario needs ten, and data that hold themselves have no end.
const DEEPEST: usize = 100;

/// Python's plain data.
fn node(data: &Bound<'_, PyAny>, depth: usize) -> PyResult<Node> {
    if depth > DEEPEST {
        return Err(value_error("the data are nested too deeply"));
    }
    let value = if let Ok(value) = data.cast_exact::<PyBool>() {
        Value::Switch(value.is_true())
    } else if let Ok(value) = data.cast::<PyString>() {
        Value::Text(value.to_string())
    } else if let Ok(value) = data.cast_exact::<PyInt>() {
        match value.extract::<i128>() {
            Ok(value) => Value::Integer(value),
            Err(_) => Value::Huge(format!("a number of {} bits", value.call_method0("bit_length")?)),
        }
    } else if let Ok(value) = data.cast_exact::<PyFloat>() {
        Value::Float(value.value())
    } else if let Ok(entries) = data.cast::<PyDict>() {
        // None stands for what is left out.
        let given = entries.iter().filter(|(_, value)| !value.is_none());
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((key.to_string(), node(&value, depth + 1)?))
        };
        Value::Table(given.map(entry).collect::<PyResult<_>>()?)
    } else if let Ok(entries) = data.cast::<PyList>() {
        Value::List(entries.iter().map(|entry| node(&entry, depth + 1)).collect::<PyResult<_>>()?)
    } else {
        Value::Other(data.str()?.to_string())
    };
    Ok(value.into())
}
