//! Runs: a setup and a plan in, columns out.

use crate::error::{engine_error, parse, value_error};
use crate::own;
use crate::watch::{Watch, is_interrupt};
use anabranch_engine::control::Breach;
use anabranch_engine::partition::Cut;
use anabranch_engine::queues::DropCause;
use anabranch_engine::records::{Column, Table};
use anabranch_engine::routing::Plan;
use anabranch_engine::setup::{Setup, Variate};
use anabranch_engine::variate::Sampler;
use anabranch_engine::{Outcome, Progress, Simulation};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// A whole run on as many cores at most; `Setup.simulate` says the rest.
pub(crate) fn simulate(
    py: Python<'_>,
    (setup, plan): (Arc<Setup>, Arc<Plan>),
    calls_python: bool,
    (cores, before_tables): (u32, Option<Py<PyAny>>),
    mut watch: Watch,
) -> PyResult<Bound<'_, PyDict>> {
    let mut failure = None;
    let (mut one_core, mut parts) = (None, 1);
    let outcome = own::run(py, calls_python, || {
        let cut = match cores {
            0 | 1 => None,
            _ if calls_python => {
                one_core = Some("it calls code of your own, one call after the other".to_owned());
                None
            }
            _ => {
                let network = setup.check().map_err(engine_error)?;
                let cut = Cut::find(&setup, &network, &plan, cores as usize);
                cut.map_err(|reason| one_core = Some(reason.to_string())).ok()
            }
        };
        let report = |at: Progress| {
            failure = watch.look((at.now.as_secs_f64(), at.packet_hops)).err();
            if failure.is_some() || own::has_failed() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        parts = cut.as_ref().map_or(1, Cut::count);
        let outcome = match cut {
            Some(cut) => Simulation::joined_parts(&setup, &plan, &cut, report).and_then(|whole| {
                let called =
                    before_tables.map_or(Ok(()), |call| Python::attach(|py| call.call0(py).map(drop)));
                failure = failure.take().or(called.err());
                whole.finish()
            }),
            None => Simulation::run_whole(setup, plan, report),
        };
        outcome.map_err(engine_error)
    })?;
    match failure {
        Some(error) if !is_interrupt(&error) => Err(error),
        _ => {
            let result = result(py, outcome)?;
            result.set_item("one_core", one_core)?;
            result.set_item("cores", parts)?;
            Ok(result)
        }
    }
}

/// What a run would take on so many cores; `Setup.critical_path` says the rest.
pub(crate) fn critical_path<'py>(
    py: Python<'py>,
    (setup, plan): (&Arc<Setup>, &Arc<Plan>),
    cores: u32,
    clock: &Py<PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let network = setup.check().map_err(engine_error)?;
    let cut = match cores {
        0 | 1 => Cut::new(setup, vec![0; setup.nodes.len()]),
        _ => Cut::find(setup, &network, plan, cores as usize),
    };
    let cut = match cut {
        Ok(cut) => cut,
        Err(reason) => {
            result.set_item("one_core", reason.to_string())?;
            return Ok(result);
        }
    };
    let mut failure = None;
    let read = || {
        let seconds = clock.call0(py).and_then(|seconds| seconds.extract::<f64>(py));
        let seconds = seconds.map_err(|error| failure = Some(error)).unwrap_or_default();
        Duration::from_secs_f64(seconds.max(0.0))
    };
    let (outcome, path) = Simulation::critical_path(setup, plan, &cut, read).map_err(engine_error)?;
    if let Some(error) = failure {
        return Err(error);
    }
    result.set_item("cores", cut.count())?;
    result.set_item("lookahead_s", cut.lookahead().as_secs_f64())?;
    result.set_item("longest_s", path.longest.as_secs_f64())?;
    result.set_item("largest_s", path.largest.as_secs_f64())?;
    result.set_item("work_s", path.work.as_secs_f64())?;
    result.set_item("strides", path.strides)?;
    result.set_item("packet_hops", outcome.progress.packet_hops)?;
    Ok(result)
}

pub(crate) fn result(py: Python<'_>, outcome: Outcome) -> PyResult<Bound<'_, PyDict>> {
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
    summary.set_item("delivered_mbps", outcome.delivered_mbps)?;
    summary.set_item("packets_lost", outcome.packets_lost)?;
    let result = PyDict::new(py);
    result.set_item("tables", tables)?;
    result.set_item("summary", summary)?;
    let lost = outcome.lost_captures.into_iter().map(|lost| (lost.file, lost.at.as_secs_f64(), lost.reason));
    result.set_item("lost_captures", lost.collect::<Vec<_>>())?;
    let breaches = outcome.breaches.into_iter().map(|breach| match breach {
        Breach::SharedLink { at, link, switches } => {
            (at.as_secs_f64(), Some(link.0), vec![switches.0.0, switches.1.0], None)
        }
        Breach::TooManyFlows { at, switch, flows } => (at.as_secs_f64(), None, vec![switch.0], Some(flows)),
    });
    result.set_item("breaches", breaches.collect::<Vec<_>>())?;
    Ok(result)
}

pub(crate) fn columns(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    // Ctrl-C during its first import is an error here, and a panic in the conversion.
    py.import("numpy")?;
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Integers(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::Numbers(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::Texts(values) => columns.set_item(name, PyList::new(py, values.iter())?)?,
            Column::Choices { names, places } => columns.set_item(name, (names, places.into_pyarray(py)))?,
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

/// Jain's fairness index of numbers; None where nothing is shared.
#[pyfunction]
pub fn jain_index(shares: Vec<f64>) -> Option<f64> {
    anabranch_units::jain_index(shares)
}

/// The causes for which links drop packets: column of the table of links, and a name for people.
#[pyfunction]
pub fn drop_causes() -> Vec<(&'static str, &'static str)> {
    DropCause::on_links().map(|cause| (cause.column(), cause.label())).collect()
}
