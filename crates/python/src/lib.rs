//! `anabranch._core`: the one door between Python and the engine.
//!
//! Plain data go in as JSON, columns come out as numpy arrays. Long calls release the interpreter
//! lock, report progress and hear Ctrl-C.

use pyo3::prelude::*;

mod balancer;
mod capture;
mod paths;
mod quantity;
mod run;
mod transport;

/// The version of the package, the same in Rust and Python.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The compiled core of Anabranch.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(quantity::parse_span, module)?)?;
    module.add_function(wrap_pyfunction!(quantity::parse_rate, module)?)?;
    module.add_function(wrap_pyfunction!(quantity::parse_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(quantity::parse_packets, module)?)?;
    module.add_function(wrap_pyfunction!(quantity::parse_speed, module)?)?;
    module.add_function(wrap_pyfunction!(transport::transport_preset_names, module)?)?;
    module.add_function(wrap_pyfunction!(transport::transport_preset, module)?)?;
    module.add_function(wrap_pyfunction!(paths::candidate_paths, module)?)?;
    module.add_function(wrap_pyfunction!(paths::pareto_paths, module)?)?;
    module.add_function(wrap_pyfunction!(paths::check_hop_by_hop, module)?)?;
    module.add_function(wrap_pyfunction!(paths::metric_fallback, module)?)?;
    module.add_function(wrap_pyfunction!(paths::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(run::plan, module)?)?;
    module.add_function(wrap_pyfunction!(run::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(run::draw, module)?)?;
    module.add_function(wrap_pyfunction!(balancer::draw_source_ports, module)?)?;
    module.add_function(wrap_pyfunction!(balancer::balancer_choices, module)?)?;
    module.add_function(wrap_pyfunction!(capture::analyze_captures, module)?)?;
    module.add("CaptureFileError", module.py().get_type::<capture::CaptureFileError>())?;
    module.add("SetupError", module.py().get_type::<run::SetupError>())?;
    Ok(())
}
