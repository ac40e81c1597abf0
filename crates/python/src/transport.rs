//! Transport presets.

use anabranch_engine::transport;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Names of the transport presets.
#[pyfunction]
pub fn transport_preset_names() -> Vec<&'static str> {
    transport::PRESETS.iter().map(|(name, _)| *name).collect()
}

/// One preset's choices as JSON. Raises ValueError for an unknown name.
#[pyfunction]
pub fn transport_preset(name: &str) -> PyResult<String> {
    let config = transport::preset(name).ok_or_else(|| {
        let known = transport_preset_names().join(", ");
        PyValueError::new_err(format!("no transport {name:?}; there are {known}"))
    })?;
    serde_json::to_string(&config).map_err(|error| PyValueError::new_err(error.to_string()))
}
