//! Scenarios as the core reads them.

use crate::error::{parse, value_error};
use anabranch_engine::setup::LinkSetup;
use anabranch_scenario as scenario;
use anabranch_scenario::algorithm::OwnAlgorithm;
use anabranch_scenario::node::{Node, Value};
use anabranch_scenario::problem::{Place, Problem, Problems};
use anabranch_scenario::read::Read;
use anabranch_scenario::setup::{Files, OwnCode, OwnKind, PlainNetwork, Planned, World, resolve};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

/// A mistake: its place and what is wrong.
type Told = (String, String);

/// A scenario as the core reads it.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Scenario {
    scenario: Option<scenario::Scenario>,
    /// What is wrong with them, each with its place.
    #[pyo3(get)]
    problems: Vec<Told>,
}

/// Files by a function of Python's that gives the text of one by its name, or raises ValueError with what is wrong.
struct Asked<'py>(Bound<'py, PyAny>);

impl Files for Asked<'_> {
    fn text(&self, name: &str) -> Result<String, String> {
        let answer = self.0.call1((name,)).and_then(|text| text.extract::<String>());
        answer.map_err(|error| error.value(self.0.py()).to_string())
    }
}

#[pymethods]
impl Scenario {
    /// `data` are plain data as a TOML parser returns them.
    #[new]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let root = node(data, 0)?;
        let mut problems = Problems::default();
        let scenario = scenario::Scenario::read(&root, &Place::Top, &mut problems);
        Ok(Self { scenario, problems: told(problems.into_told()) })
    }

    /// The scenario as the engine runs it, over the network of a topology as JSON: a dict with the setup as JSON, its
    /// flows as columns, and what else there is to know of it; or, with what is wrong, a list of that.
    ///
    /// `files` gives the text of a file by its name, `own` an algorithm of the user's own as JSON by its kind and class.
    fn resolve<'py>(
        &self,
        py: Python<'py>,
        network_json: &str,
        files: Bound<'py, PyAny>,
        own: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(scenario) = &self.scenario else {
            return Ok(self.problems.clone().into_pyobject(py)?.into_any());
        };
        let network: PlainNetwork = parse("network", network_json)?;
        let mut world = World { network: &network, files: &Asked(files), own: &mut AskedOwn(own) };
        let resolved = match resolve(scenario, &mut world) {
            Ok(resolved) => resolved,
            Err(problems) => return Ok(told(problems).into_pyobject(py)?.into_any()),
        };
        let answer = PyDict::new(py);
        answer.set_item("setup", json(&resolved.setup)?)?;
        answer.set_item("entries", json(&resolved.flows.entries)?)?;
        answer.set_item("never_begun", resolved.never_begun)?;
        if let Planned::Planner(scheme) = &resolved.planned {
            answer.set_item("planner", json(scheme)?)?;
        }
        let columns = resolved.flows;
        for (name, column) in [
            ("entry", columns.entry),
            ("number", columns.number),
            ("origin", columns.from),
            ("to", columns.to),
        ] {
            answer.set_item(name, column.into_pyarray(py))?;
        }
        for (name, column) in [("bytes", columns.bytes), ("start", columns.start), ("stop", columns.stop)] {
            answer.set_item(name, column.into_pyarray(py))?;
        }
        Ok(answer.into_any())
    }
}

/// Algorithms of the user's own by a function of Python's, which gives one as JSON, or raises ValueError.
struct AskedOwn<'py>(Bound<'py, PyAny>);

impl OwnCode for AskedOwn<'_> {
    fn algorithm(
        &mut self,
        kind: OwnKind,
        chosen: &OwnAlgorithm,
        _links: &[LinkSetup],
    ) -> Result<serde_json::Value, String> {
        let kind = format!("{kind:?}");
        let answer = self.0.call1((kind, &chosen.python)).and_then(|text| text.extract::<String>());
        let text = answer.map_err(|error| error.value(self.0.py()).to_string())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(value_error)
}

fn told(problems: Vec<Problem>) -> Vec<Told> {
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
