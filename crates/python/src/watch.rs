//! What every long call does now and then: it hears Ctrl-C, and tells Python how far the work is.

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// Time between two looks: too short for a person to notice, and too long to slow the work down.
const BETWEEN: Duration = Duration::from_millis(20);

/// Watches over one long call, which runs without the interpreter lock.
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    next: Option<Instant>,
}

impl Watch {
    /// With a function of Python's that is to hear of the progress, if there is one.
    pub(crate) const fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { progress, next: None }
    }

    /// To be called often; `progress` gets `args`.
    ///
    /// # Errors
    /// KeyboardInterrupt after Ctrl-C, or what `progress` raises: the work must end with it.
    pub(crate) fn look<A>(&mut self, args: A) -> PyResult<()>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        let now = Instant::now();
        if self.next.is_some_and(|next| now < next) {
            return Ok(());
        }
        self.next = Some(now + BETWEEN);
        Python::attach(|py| {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, args).map(drop))
        })
    }
}

/// Whether somebody wants the work to end, rather than that something is wrong.
pub(crate) fn is_interrupt(error: &PyErr) -> bool {
    Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py))
}
