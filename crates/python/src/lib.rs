//! `anabranch._core`: the one door between Python and the engine.
//!
//! Plain data of a scenario go in, and stay: a [`resolved::Resolved`] is what Python holds of them, a [`setup::Setup`] is what
//! can run, and its methods are what can be asked. Columns come out as numpy arrays. Long calls release the interpreter lock, report progress and
//! hear Ctrl-C, all by [`watch::Watch`].

use pyo3::prelude::*;

mod algorithms;
mod balancer;
mod capture;
mod controller;
mod error;
mod exchange;
mod flows;
#[cfg(target_os = "linux")]
mod live;
mod network;
mod own;
mod paths;
mod plan;
mod quantity;
mod resolved;
mod run;
mod scenario;
mod setup;
mod simulation;
mod transport;
mod watch;
mod weights;
mod world;

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
    module.add_function(wrap_pyfunction!(quantity::parse_segments, module)?)?;
    module.add_function(wrap_pyfunction!(quantity::parse_speed, module)?)?;
    module.add_function(wrap_pyfunction!(algorithms::declarations, module)?)?;
    module.add_function(wrap_pyfunction!(algorithms::setup_leaves, module)?)?;
    module.add_function(wrap_pyfunction!(algorithms::resolve_algorithm, module)?)?;
    module.add_function(wrap_pyfunction!(algorithms::mean_loss, module)?)?;
    module.add_function(wrap_pyfunction!(transport::resolve_transport, module)?)?;
    module.add_function(wrap_pyfunction!(transport::transport_preset_names, module)?)?;
    module.add_function(wrap_pyfunction!(transport::transport_preset, module)?)?;
    module.add_function(wrap_pyfunction!(paths::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(run::drop_causes, module)?)?;
    module.add_function(wrap_pyfunction!(run::jain_index, module)?)?;
    module.add_function(wrap_pyfunction!(own::inside_own_code, module)?)?;
    module.add_class::<own::Ack>()?;
    module.add_class::<own::Report>()?;
    module.add_class::<own::LossEpisode>()?;
    module.add_class::<own::LostSegment>()?;
    module.add_class::<own::EcnFeedback>()?;
    module.add_class::<own::WaitingData>()?;
    module.add_class::<own::Subflow>()?;
    module.add_class::<own::PacketIn>()?;
    module.add_class::<own::RemovedEntry>()?;
    module.add_class::<own::LinkCounters>()?;
    module.add_class::<own::SwitchStatistics>()?;
    module.add_class::<own::LinkProbe>()?;
    module.add_class::<own::FlowEntry>()?;
    module.add_class::<own::Orders>()?;
    module.add_class::<own::ControlledLinks>()?;
    module.add_class::<controller::Controller>()?;
    module.add_function(wrap_pyfunction!(controller::clamped_window, module)?)?;
    module.add_class::<setup::Setup>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<scenario::Document>()?;
    module.add_class::<scenario::Other>()?;
    module.add_function(wrap_pyfunction!(scenario::edited_toml, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::scenario_tables, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::check_table, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::check_choice, module)?)?;
    module.add_class::<network::Network>()?;
    module.add_function(wrap_pyfunction!(world::plain_network, module)?)?;
    module.add_class::<resolved::Resolved>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<plan::PlannedPaths>()?;
    module.add_class::<plan::PathNames>()?;
    module.add_function(wrap_pyfunction!(plan::shares_by_weight, module)?)?;
    module.add_function(wrap_pyfunction!(plan::shares_along, module)?)?;
    module.add_function(wrap_pyfunction!(plan::text_of_path, module)?)?;
    module.add_function(wrap_pyfunction!(plan::nodes_of_path, module)?)?;
    module.add_class::<weights::WeightCases>()?;
    module.add_class::<simulation::Simulation>()?;
    #[cfg(target_os = "linux")]
    module.add_class::<live::LiveNetwork>()?;
    module.add_function(wrap_pyfunction!(run::draw, module)?)?;
    module.add_function(wrap_pyfunction!(balancer::draw_source_ports, module)?)?;
    module.add_function(wrap_pyfunction!(balancer::balancer_choices, module)?)?;
    module.add_function(wrap_pyfunction!(capture::analyze_captures, module)?)?;
    module.add_function(wrap_pyfunction!(exchange::exchanges, module)?)?;
    module.add("CaptureFileError", module.py().get_type::<capture::CaptureFileError>())?;
    module.add("OwnCodeError", module.py().get_type::<own::OwnCodeError>())?;
    module.add("ProblemError", module.py().get_type::<world::ProblemError>())?;
    module.add("SetupError", module.py().get_type::<error::SetupError>())?;
    Ok(())
}
