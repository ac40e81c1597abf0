//! Transports: their presets and their check.

use crate::error::{parse, setup_error, value_error};
use anabranch_engine::transport::{self, TransportConfig};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The choices of a transport as JSON, every default filled in.
///
/// Raises SetupError with the first parameter that does not hold, and why.
#[pyfunction]
pub fn resolve_transport(config_json: &str) -> PyResult<String> {
    let config: TransportConfig = parse("transport", config_json)?;
    let checked = config.check().and_then(|()| config.check_together());
    checked.map_err(|problem| setup_error(&problem.parameter, problem.problem))?;
    serde_json::to_string(&config).map_err(value_error)
}

/// Names of the transport presets.
#[pyfunction]
pub fn transport_preset_names() -> Vec<&'static str> {
    transport::PRESETS.iter().map(|(name, _)| *name).collect()
}

/// One preset's choices as JSON. Raises ValueError for an unknown name.
#[pyfunction]
pub fn transport_preset(name: &str) -> PyResult<String> {
    let config = transport::preset(name).ok_or_else(|| {
        let names = transport_preset_names().join(", ");
        PyValueError::new_err(format!("no transport {name:?}; there are {names}"))
    })?;
    serde_json::to_string(&config).map_err(value_error)
}
