//! Packet captures: paths in, columns out.

use crate::run::columns;
use crate::watch::Watch;
use anabranch_capture::{Analysis, CaptureError, Options, Summary, analyze};
use anabranch_units::Span;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::path::PathBuf;

pyo3::create_exception!(
    _core,
    CaptureFileError,
    PyValueError,
    "Captures that cannot be analysed; `args` are pairs of (place, problem)."
);

/// Analyses captures of one experiment.
///
/// `window_ps` is the length of the measuring window, None for all of the steady state; `interval_ps` that
/// of the intervals of the series. `progress(bytes, total_bytes)` is called now and then, if given. Ctrl-C
/// ends the work with KeyboardInterrupt; while standard input is read, it ends the reading, and `interrupted` in the
/// summary says so.
///
/// Returns a dict with `tables` (name -> column name -> numpy array, or list of str for names) and
/// `summary`.
///
/// Raises CaptureFileError if a file is no capture, or there is nothing in the files to be analysed.
#[pyfunction]
#[pyo3(signature = (paths, window_ps, interval_ps, ports, disjoint, threads, progress=None))]
#[expect(clippy::too_many_arguments, reason = "one function is the door; Python names them")]
pub fn analyze_captures<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    window_ps: Option<u64>,
    interval_ps: u64,
    ports: Vec<u16>,
    disjoint: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (window, interval) = (window_ps.map(Span::from_ps), Span::from_ps(interval_ps));
    let options = Options { window, interval, ports, disjoint, threads };
    let piped = paths.iter().any(|path| path.as_os_str() == anabranch_capture::STANDARD_INPUT);
    let mut watch = Watch::new(progress);
    let mut failure = None;
    let outcome = py.detach(|| {
        analyze(&paths, &options, |at| match watch.look((at.bytes, at.total_bytes)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })
    });
    // The signal that ended standard input may be one that nobody has looked for yet.
    let failure = failure.or_else(|| py.check_signals().err());
    match (outcome, failure) {
        (Ok(mut analysis), Some(error)) if piped && error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            analysis.summary.interrupt();
            result(py, analysis)
        }
        // What was read is the answer to Ctrl-C, and nothing else is.
        (Ok(analysis), Some(error))
            if !analysis.summary.interrupted || !error.is_instance_of::<PyKeyboardInterrupt>(py) =>
        {
            Err(error)
        }
        (Ok(analysis), _) => result(py, analysis),
        (Err(CaptureError::Interrupted), Some(error)) => Err(error),
        (Err(error), _) => Err(capture_error(error)),
    }
}

pub(crate) fn capture_error(error: CaptureError) -> PyErr {
    let problems: Vec<(String, String)> = match error {
        CaptureError::Files { files } => {
            files.into_iter().map(|file| (file.path.display().to_string(), file.problem)).collect()
        }
        CaptureError::TooManyRows { .. } => vec![("--interval".to_owned(), error.to_string())],
        other => vec![(String::new(), other.to_string())],
    };
    CaptureFileError::new_err((problems,))
}

fn result(py: Python<'_>, analysis: Analysis) -> PyResult<Bound<'_, PyDict>> {
    let tables = PyDict::new(py);
    for table in analysis.tables {
        tables.set_item(table.name, columns(py, table)?)?;
    }
    let result = PyDict::new(py);
    result.set_item("tables", tables)?;
    result.set_item("summary", summary(py, analysis.summary)?)?;
    Ok(result)
}

fn summary(py: Python<'_>, outcome: Summary) -> PyResult<Bound<'_, PyDict>> {
    let summary = PyDict::new(py);
    summary.set_item("began_unix_s", outcome.began_unix_s)?;
    summary.set_item("ended_s", outcome.ended_s)?;
    summary.set_item("t1_s", outcome.t1_s)?;
    summary.set_item("t2_s", outcome.t2_s)?;
    summary.set_item("window_start_s", outcome.window_start_s)?;
    summary.set_item("window_end_s", outcome.window_end_s)?;
    summary.set_item("throughput_mbps", outcome.throughput_mbps)?;
    summary.set_item("jain_index", outcome.jain_index)?;
    summary.set_item("subflows_established", outcome.established)?;
    summary.set_item("subflows_finished", outcome.finished)?;
    summary.set_item("subflows_lasting", outcome.lasting)?;
    summary.set_item("attempts_unanswered", outcome.unanswered)?;
    summary.set_item("packets", outcome.packets)?;
    summary.set_item("tcp_packets", outcome.tcp_packets)?;
    summary.set_item("bytes", outcome.bytes)?;
    summary.set_item("interrupted", outcome.interrupted)?;
    summary.set_item("warnings", outcome.warnings)?;
    Ok(summary)
}
