//! What the engine refuses, as Python's exceptions.

use anabranch_engine::EngineError;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

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

pub(crate) fn engine_error(error: EngineError) -> PyErr {
    match error {
        EngineError::Capture(error) => PyOSError::new_err(error.to_string()),
        EngineError::Past { .. } => value_error(error),
        EngineError::Conservation(_) => PyRuntimeError::new_err(error.to_string()),
        EngineError::Setup(error) => setup_error(&error.place, &error.problem),
        EngineError::Network(error) => setup_error("network", error),
        EngineError::Plan(error) => setup_error("plan", error),
    }
}

/// Plain data from JSON; a mistake in it has the place `what`.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| setup_error(what, error))
}
