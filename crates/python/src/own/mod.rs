//! Code of the user's own, which the engine calls in the middle of a run.
//!
//! Such a run keeps the interpreter lock. The engine expects no errors of its algorithms: the first that user code
//! raises is kept here, its hooks are called no more, and whoever runs the engine ends the run with it.

mod balancer;
mod congestion;
mod controller;
mod scheduler;
mod selector;
mod views;

use anabranch_engine::setup::{ApplicationSetup, LoadBalancing, Setup};
use anabranch_engine::transport::Brought;
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

pub(crate) use controller::{
    ControlledLinks, FlowEntry, LinkCounters, LinkProbe, Orders, PacketIn, RemovedEntry, SwitchStatistics,
    direction_named,
};
pub(crate) use scheduler::{Subflow, WaitingData};
pub(crate) use views::{Ack, EcnFeedback, LossEpisode, LostSegment, Report};

pyo3::create_exception!(
    _core,
    OwnCodeError,
    pyo3::exceptions::PyException,
    "Code of the user's own has failed; `args` are (what was bound, its hook, simulated_s), the cause is what it raised."
);

thread_local! {
    /// The first error in the run that this thread is at.
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// Whether this thread is inside the user's code.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A function of the user's that makes the algorithm of each connection.
#[derive(Debug)]
struct Code(Py<PyAny>);

/// Puts the user's code to where a setup names it; whether it names any. What has no code is refused by the check.
pub(crate) fn bind(setup: &mut Setup, makers: Vec<Py<PyAny>>) -> bool {
    let codes: Vec<_> = makers.into_iter().map(|make| Arc::new(Code(make))).collect();
    for transport in &mut setup.transports {
        if let Some(external) = transport.config.external_control_mut() {
            external.maker = Brought(codes.get(external.code).map(|code| Arc::clone(code) as _));
        }
        if let Some(external) = transport.config.external_scheduler_mut() {
            external.maker = Brought(codes.get(external.code).map(|code| Arc::clone(code) as _));
        }
        if let Some(external) = transport.config.external_selector_mut() {
            external.maker = Brought(codes.get(external.code).map(|code| Arc::clone(code) as _));
        }
    }
    if let LoadBalancing::External(external) = &mut setup.routing.load_balancing {
        external.maker = Brought(codes.get(external.code).map(|code| Arc::clone(code) as _));
    }
    if let Some(controller) = &mut setup.controller
        && let ApplicationSetup::External(external) = &mut controller.application
    {
        external.maker = Brought(codes.get(external.code).map(|code| Arc::clone(code) as _));
    }
    !codes.is_empty()
}

/// Runs `work` with the interpreter lock where it calls code of the user's, and without it otherwise.
///
/// # Errors
/// What the user's code has raised, or `work` has failed with.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    calls_python: bool,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    if !calls_python {
        return py.detach(work);
    }
    FAILURE.set(None);
    let done = work();
    FAILURE.take().map_or(done, Err)
}

/// Runs `work` without the interpreter lock, which calls of the user's code take one by one: other threads of Python
/// go on meanwhile.
///
/// # Errors
/// What the user's code has raised, or `work` has failed with.
pub(crate) fn run_beside<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    FAILURE.set(None);
    let done = py.detach(work);
    FAILURE.take().map_or(done, Err)
}

/// Whether the user's code has failed in this run.
pub(crate) fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// Calls the user's code, unless it has failed before; `None` where it fails.
///
/// `code` is what the setup has bound, `hook` what is called of it, `at_s` the simulated time.
fn guarded<T>(
    code: &Py<PyAny>,
    hook: &'static str,
    at_s: f64,
    call: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> Option<T> {
    if has_failed() {
        return None;
    }
    Python::attach(|py| {
        INSIDE.set(true);
        let answer = call(py);
        INSIDE.set(false);
        match answer {
            Ok(answer) => Some(answer),
            Err(cause) => {
                let error = OwnCodeError::new_err((code.clone_ref(py), hook, at_s));
                error.set_cause(py, Some(cause));
                FAILURE.set(Some(error));
                None
            }
        }
    })
}

/// Whether this thread is inside code of the user's that a run has called.
#[pyfunction]
pub(crate) fn inside_own_code() -> bool {
    INSIDE.get()
}
