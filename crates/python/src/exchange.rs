//! The segments of captured flows: a path in, columns out.

use crate::capture::capture_error;
use crate::watch::Watch;
use anabranch_capture::Exchange;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The exchanges of data and acknowledgments in a capture, packet by packet, those with most data first.
///
/// Returns a list of dicts, each with `segments` and `acknowledgments` (column name -> numpy array) and what is known of the
/// flow, and a list of sentences about the file.
///
/// Raises CaptureFileError if the file is no capture or has no TCP data with acknowledgments.
#[pyfunction]
#[pyo3(signature = (path, ports, progress=None))]
pub fn exchanges<'py>(
    py: Python<'py>,
    path: PathBuf,
    ports: Vec<u16>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyList>, Vec<String>)> {
    py.import("numpy")?;
    let mut watch = Watch::new(progress);
    let mut failure = None;
    let outcome = py.detach(|| {
        anabranch_capture::exchanges(&path, &ports, &mut || match watch.look(()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let (exchanges, notes) = outcome.map_err(capture_error)?;
    let list = PyList::empty(py);
    for exchange in exchanges {
        list.append(plain(py, exchange)?)?;
    }
    Ok((list, notes))
}

fn plain(py: Python<'_>, exchange: Exchange) -> PyResult<Bound<'_, PyDict>> {
    let segments = PyDict::new(py);
    let sent = exchange.segments;
    segments.set_item("time_s", sent.time_s.into_pyarray(py))?;
    segments.set_item("position", sent.position.into_pyarray(py))?;
    segments.set_item("bytes", sent.bytes.into_pyarray(py))?;
    segments.set_item("is_repeated", sent.is_repeated.into_pyarray(py))?;
    segments.set_item("timestamp", sent.timestamp.into_pyarray(py))?;
    segments.set_item("is_lost", sent.is_lost.into_pyarray(py))?;
    let acknowledgments = PyDict::new(py);
    let acks = exchange.acknowledgments;
    acknowledgments.set_item("time_s", acks.time_s.into_pyarray(py))?;
    acknowledgments.set_item("position", acks.position.into_pyarray(py))?;
    acknowledgments.set_item("delivered_bytes", acks.delivered_bytes.into_pyarray(py))?;
    acknowledgments.set_item("rtt_s", acks.rtt_s.into_pyarray(py))?;
    acknowledgments.set_item("sent_s", acks.sent_s.into_pyarray(py))?;
    acknowledgments.set_item("in_flight_bytes", acks.in_flight_bytes.into_pyarray(py))?;
    acknowledgments.set_item("window_bytes", acks.window_bytes.into_pyarray(py))?;
    acknowledgments.set_item("timestamp", acks.timestamp.into_pyarray(py))?;
    let plain = PyDict::new(py);
    plain.set_item("sender", &exchange.ends[0])?;
    plain.set_item("receiver", &exchange.ends[1])?;
    plain.set_item("began_unix_s", exchange.began_unix_s)?;
    plain.set_item("mss_bytes", exchange.mss_bytes)?;
    plain.set_item("option_bytes", exchange.option_bytes)?;
    plain.set_item("handshake_s", exchange.handshake_s)?;
    plain.set_item("completion_s", exchange.completion_s)?;
    plain.set_item("is_from_client", exchange.is_from_client)?;
    plain.set_item("offloaded", exchange.offloaded)?;
    plain.set_item("reordered", exchange.reordered)?;
    plain.set_item("duplicates", exchange.duplicates)?;
    plain.set_item("is_finished", exchange.is_finished)?;
    plain.set_item("is_multipath", exchange.is_multipath)?;
    plain.set_item("clock_steps", exchange.clock_steps)?;
    plain.set_item("segments", segments)?;
    plain.set_item("acknowledgments", acknowledgments)?;
    Ok(plain)
}
