//! Plans and runs: JSON in, JSON and columns out.

use anabranch_engine::network::Network;
use anabranch_engine::records::{Column, Table};
use anabranch_engine::routing::{LinkMask, Plan};
use anabranch_engine::setup::{Setup, Variate};
use anabranch_engine::variate::Sampler;
use anabranch_engine::{EngineError, Outcome, Progress, Simulation};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::ControlFlow;

pyo3::create_exception!(
    _core,
    SetupError,
    PyValueError,
    "A setup or plan that the engine refuses; `args` are (place, problem)."
);

pub(crate) fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn setup_error(place: &str, problem: impl ToString) -> PyErr {
    SetupError::new_err((place.to_owned(), problem.to_string()))
}

fn engine_error(error: EngineError) -> PyErr {
    match error {
        EngineError::Capture(error) => PyOSError::new_err(error.to_string()),
        EngineError::Conservation(_) => PyRuntimeError::new_err(error.to_string()),
        EngineError::Setup(error) => setup_error(&error.place, &error.problem),
        EngineError::Network(error) => setup_error("network", error),
        EngineError::Plan(error) => setup_error("plan", error),
    }
}

pub(crate) fn parse<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| setup_error(what, error))
}

/// The network of a setup that holds, and what of it carries data.
pub(crate) fn checked(setup_json: &str) -> PyResult<(Network, LinkMask)> {
    let setup: Setup = parse("setup", setup_json)?;
    let network = setup.check().map_err(engine_error)?;
    let mask = setup.data_mask(&network);
    Ok((network, mask))
}

/// The routes that the setup's scheme computes for every pair of its flows, both ways, as JSON.
///
/// Raises SetupError if the setup does not hold or has no scheme.
#[pyfunction]
pub fn plan(py: Python<'_>, setup_json: &str) -> PyResult<String> {
    let setup: Setup = parse("setup", setup_json)?;
    let network = setup.check().map_err(engine_error)?;
    let Some(scheme) = &setup.routing.scheme else {
        return Err(setup_error("routing.scheme", "there is none to compute routes with"));
    };
    let pairs = setup.pairs();
    let plan = py.detach(|| scheme.plan(&network, &setup.data_mask(&network), &pairs));
    serde_json::to_string(&plan).map_err(value_error)
}

/// Runs a setup over a plan.
///
/// `progress(simulated_s, packet_hops)` is called now and then, if given. Ctrl-C ends the run early;
/// what was measured until then is returned all the same, with `interrupted` true.
///
/// Returns a dict with `tables` (name -> column name -> numpy array, or list of str for names) and
/// `summary` (ended_s, interrupted, packet_hops, events, jain_index).
///
/// Raises SetupError if the setup or plan does not hold, OSError if a capture cannot be written.
#[pyfunction]
#[pyo3(signature = (setup_json, plan_json, progress=None))]
pub fn simulate<'py>(
    py: Python<'py>,
    setup_json: &str,
    plan_json: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let setup: Setup = parse("setup", setup_json)?;
    let plan: Plan = parse("plan", plan_json)?;
    let mut failure = None;
    let outcome = py.detach(|| {
        let simulation = Simulation::new(setup, plan)?;
        simulation.run(|at| match report(progress.as_ref(), at) {
            Ok(flow) => flow,
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })
    });
    let outcome = outcome.map_err(engine_error)?;
    if let Some(error) = failure {
        return Err(error);
    }
    result(py, outcome)
}

/// Hears Ctrl-C and tells Python how far the run is.
fn report(progress: Option<&Py<PyAny>>, at: Progress) -> PyResult<ControlFlow<()>> {
    Python::attach(|py| {
        let interrupt = |error: PyErr| {
            if error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
                Ok(ControlFlow::Break(()))
            } else {
                Err(error)
            }
        };
        if let Err(error) = py.check_signals() {
            return interrupt(error);
        }
        if let Some(progress) = progress
            && let Err(error) = progress.call1(py, (at.now.as_secs_f64(), at.packet_hops))
        {
            return interrupt(error);
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn result(py: Python<'_>, outcome: Outcome) -> PyResult<Bound<'_, PyDict>> {
    let tables = PyDict::new(py);
    for table in outcome.tables {
        tables.set_item(table.name, columns(py, table)?)?;
    }
    let summary = PyDict::new(py);
    summary.set_item("ended_s", outcome.ended.as_secs_f64())?;
    summary.set_item("interrupted", outcome.interrupted)?;
    summary.set_item("packet_hops", outcome.progress.packet_hops)?;
    summary.set_item("events", outcome.progress.events)?;
    summary.set_item("jain_index", outcome.jain_index)?;
    let result = PyDict::new(py);
    result.set_item("tables", tables)?;
    result.set_item("summary", summary)?;
    Ok(result)
}

fn columns(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Integers(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::Numbers(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::Texts(values) => columns.set_item(name, PyList::new(py, values)?)?,
        }
    }
    Ok(columns)
}

/// `count` draws of a variate from the stream (seed, replication, name, purpose), in base units.
///
/// Raises ValueError if the variate does not hold.
#[pyfunction]
pub fn draw<'py>(
    py: Python<'py>,
    variate_json: &str,
    seed: u64,
    replication: u64,
    name: &str,
    purpose: &str,
    count: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let variate: Variate = parse("variate", variate_json)?;
    let sampler = Sampler::new(&variate).map_err(value_error)?;
    let mut stream = anabranch_engine::random::Streams::new(seed, replication).stream(name, purpose);
    let values: Vec<f64> = (0..count).map(|_| sampler.sample(&mut stream)).collect();
    Ok(values.into_pyarray(py))
}
