//! Path selectors in Python: a method that chooses the entropy value of each packet, and one that hears what became of it.

use super::{Code, guarded};
use anabranch_engine::transport::spray::paths::{ExternalSelector, Feedback, SelectorMaker};
use anabranch_units::Instant;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

impl SelectorMaker for Code {
    /// The function gets (planes, seed).
    fn selector(&self, planes: u16, seed: u64) -> Box<dyn ExternalSelector> {
        let made = guarded(&self.0, "start", 0.0, |py| {
            let object = self.0.bind(py).call1((planes, seed))?;
            let next = object.getattr("next")?.unbind();
            let on_feedback = object.getattr("on_feedback")?.unbind();
            Ok(Selector { code: self.0.clone_ref(py), next, on_feedback })
        });
        made.map_or_else(|| Box::new(Unmade) as Box<dyn ExternalSelector>, |made| Box::new(made))
    }
}

/// The selector of a flow.
#[derive(Debug)]
struct Selector {
    /// What made it.
    code: Py<PyAny>,
    next: Py<PyAny>,
    on_feedback: Py<PyAny>,
}

impl ExternalSelector for Selector {
    fn next(&mut self, now: Instant) -> u16 {
        let now_s = now.as_secs_f64();
        let chosen = guarded(&self.code, "next", now_s, |py| {
            let chosen = self.next.bind(py).call1((now_s,))?;
            chosen.extract::<u16>().or_else(|_| {
                Err(PyValueError::new_err(format!(
                    "has chosen {}; an entropy value is an integer from 0 to 65535",
                    chosen.repr()?
                )))
            })
        });
        chosen.unwrap_or(0)
    }

    fn on_feedback(&mut self, now: Instant, value: u16, feedback: Feedback) {
        let now_s = now.as_secs_f64();
        guarded(&self.code, "on_feedback", now_s, |py| {
            self.on_feedback.bind(py).call1((now_s, value, feedback.name())).map(|_| ())
        });
    }
}

/// A selector that could not be made. The run ends with the reason.
#[derive(Debug)]
struct Unmade;

impl ExternalSelector for Unmade {
    fn next(&mut self, _now: Instant) -> u16 {
        0
    }

    fn on_feedback(&mut self, _now: Instant, _value: u16, _feedback: Feedback) {}
}
