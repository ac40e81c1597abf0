//! Scenarios as the core reads them.

use crate::error::value_error;
use crate::network::Network;
use crate::resolved::Resolved;
use crate::world::{AskedCode, AskedFiles, Failure, Topology};
use anabranch_scenario as scenario;
use anabranch_scenario::described::{self, check, described};
use anabranch_scenario::field_path::Step;
use anabranch_scenario::node::{Node, Value};
use anabranch_scenario::problem::{Place, Problem, Problems};
use anabranch_scenario::read::Read;
use anabranch_scenario::setup::{World, resolve};
use anabranch_scenario::toml_edits::{Change, edited};
use anabranch_scenario::toml_text::{SyntaxMistake, extent_of, line_and_column, parse_with_positions};
use pyo3::exceptions::PyValueError;
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
    /// `data` are plain data as a TOML parser returns them; with `called`, as keywords in Python, and what is in them.
    #[new]
    #[pyo3(signature = (data, called=false))]
    fn new(data: &Bound<'_, PyAny>, called: bool) -> PyResult<Self> {
        let root = plain(data)?;
        let mut problems = noting(called);
        let scenario = scenario::Scenario::read(&root, &Place::Top, &mut problems);
        Ok(Self { scenario, problems: told(problems.into_told()) })
    }

    /// What a run needs and the scenario leaves out, each with its place: routes and loads need less.
    fn lacks_for_run(&self) -> Vec<Told> {
        self.scenario.as_ref().map_or_else(Vec::new, |scenario| told(scenario.lacks_for_run()))
    }

    /// The scenario as the engine runs it, over a topology: its network; its setup, or None; and what is wrong with it, each
    /// with its place.
    ///
    /// `is_generated` says that parameters of the scenario have made the topology. `files` has `text(name)` and
    /// `traffic(name)`: the text of a file, and the traffic that it lists, None for a CSV of rates.
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
        own_code: Bound<'_, PyAny>,
    ) -> PyResult<(Network, Option<Resolved>, Vec<Told>)> {
        let scenario = self.scenario.as_ref().ok_or_else(|| value_error("the scenario has problems"))?;
        let network = topology.into_plain(is_generated)?;
        let failure = Failure::default();
        let mut world = World {
            network: &network,
            files: &AskedFiles(files, &failure),
            own_code: &mut AskedCode(own_code, &failure),
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

/// A TOML text as plain data, with the place of each value in it.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Document {
    text: String,
    root: Node,
}

#[pymethods]
impl Document {
    /// Raises ValueError with everything that is wrong with the syntax, for each line a message and its line and
    /// column.
    #[new]
    fn new(text: String) -> PyResult<Self> {
        match parse_with_positions(&text) {
            Ok(root) => Ok(Self { text, root }),
            Err(mistakes) => {
                let located = |mistake: SyntaxMistake| (mistake.message, mistake.position);
                Err(PyValueError::new_err(mistakes.into_iter().map(located).collect::<Vec<_>>()))
            }
        }
    }

    /// The plain data: dicts, lists and single values.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value(py, &self.root)
    }

    /// Line and column of a place such as `traffic[0].from`, or of the table around it where nothing stands there;
    /// None where that is the whole text.
    fn position(&self, place: &str) -> Option<(usize, usize)> {
        let extent = extent_of(&self.root, place);
        (extent != self.root.extent).then(|| line_and_column(&self.text, extent.start))
    }
}

/// A part of a path: a key, or a place in a list.
#[derive(FromPyObject)]
pub enum PathStep {
    Entry(usize),
    Key(String),
}

impl From<PathStep> for Step {
    fn from(step: PathStep) -> Self {
        match step {
            PathStep::Entry(entry) => Self::Entry(entry),
            PathStep::Key(key) => Self::Key(key),
        }
    }
}

/// A TOML text with changes in place, each a path, one of `set`, `append` and `remove`, and a value as TOML.
///
/// Raises ValueError with what is wrong.
#[pyfunction]
pub fn edited_toml(text: &str, changes: Vec<(Vec<PathStep>, String, String)>) -> PyResult<String> {
    let change = |(steps, kind, value): (Vec<PathStep>, String, String)| {
        let change = match kind.as_str() {
            "set" => Change::Set(value),
            "append" => Change::Append(value),
            "remove" => Change::Remove,
            _ => return Err(PyValueError::new_err(format!("{kind} is no change"))),
        };
        Ok((steps.into_iter().map(Step::from).collect(), change))
    };
    let changes = changes.into_iter().map(change).collect::<PyResult<Vec<_>>>()?;
    edited(text, &changes).map_err(PyValueError::new_err)
}

/// What no field takes, such as a date, as a message shows it.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Other {
    text: String,
    huge: bool,
}

#[pymethods]
impl Other {
    /// `huge` is a whole number of more digits than any field takes.
    #[new]
    #[pyo3(signature = (text, huge=false))]
    const fn new(text: String, huge: bool) -> Self {
        Self { text, huge }
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String, bool))> {
        Ok((slf.getattr("__class__")?.unbind(), (slf.get().text.clone(), slf.get().huge)))
    }
}

/// A value as Python has it.
fn value<'py>(py: Python<'py>, of: &Node) -> PyResult<Bound<'py, PyAny>> {
    Ok(match &of.value {
        Value::Switch(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::Huge(text) => Bound::new(py, Other::new(text.clone(), true))?.into_any(),
        Value::Other(text) => Bound::new(py, Other::new(text.clone(), false))?.into_any(),
        Value::List(entries) => {
            let entries = entries.iter().map(|entry| value(py, entry)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, entries)?.into_any()
        }
        Value::Table(entries) => {
            let table = PyDict::new(py);
            for (key, entry) in entries {
                table.set_item(key, value(py, entry)?)?;
            }
            table.into_any()
        }
    })
}

/// Every table of a scenario as JSON: a list with the name, the text and the fields of each.
#[pyfunction]
pub fn scenario_tables() -> PyResult<String> {
    serde_json::to_string(&described()).map_err(value_error)
}

/// What is wrong with a table of a scenario that stands alone: places and messages.
///
/// `name` is that of its class, with the quantity in brackets for a distribution. Raises ValueError if there is none.
#[pyfunction]
pub fn check_table(name: &str, data: &Bound<'_, PyAny>, called: bool) -> PyResult<Vec<Told>> {
    let problems = check(name, &node(data, 0)?, noting(called));
    problems.map(told).ok_or_else(|| value_error(format!("no table {name}")))
}

fn noting(called: bool) -> Problems {
    if called { Problems::of_call() } else { Problems::default() }
}

/// What is wrong with the choice of an algorithm: places and messages.
#[pyfunction]
pub fn check_choice(kind: &str, data: &Bound<'_, PyAny>) -> PyResult<Vec<Told>> {
    Ok(told(described::check_choice(kind, &node(data, 0)?)))
}

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
    } else if let Ok(other) = data.cast_exact::<Other>() {
        let Other { text, huge } = other.get();
        if *huge { Value::Huge(text.clone()) } else { Value::Other(text.clone()) }
    } else {
        Value::Other(data.str()?.to_string())
    };
    Ok(value.into())
}
