//! Algorithms that a scenario can name: their declarations, and the check of one.

use crate::error::{parse, setup_error, value_error};
use anabranch_engine::balancer::LoadBalancing;
use anabranch_engine::control::applications::ApplicationSetup;
use anabranch_engine::loss::{self, LossSetup};
use anabranch_engine::queues::Discipline;
use anabranch_engine::routing::{ChosenScheme, EstimatorSetup};
use anabranch_engine::transport;
use anabranch_units::declaration::OutOfRange;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// Every algorithm that a scenario can name, with its parameters, as JSON: a list of registries.
///
/// A scheme of a planner in Python has its module as `planner`, the parameter with which it plans in place of the core, if
/// there is one, as `planner_with`, `demand` if it plans for bounds of the traffic, and `load_balancing` if it takes another
/// one than the other schemes where none is given.
#[pyfunction]
pub fn declarations() -> PyResult<String> {
    let every: Vec<_> = transport::described().into_iter().chain(anabranch_engine::described()).collect();
    serde_json::to_string(&every).map_err(value_error)
}

/// What a setup holds that is no algorithm of a registry, as JSON: a list of tables with their fields.
#[pyfunction]
pub fn setup_leaves() -> PyResult<String> {
    serde_json::to_string(&anabranch_engine::leaves()).map_err(value_error)
}

/// An algorithm outside the transport as JSON, every default filled in.
///
/// `kind` is the name of its registry; schemes of planners are taken, too. Raises SetupError with the first parameter
/// that does not hold, and why, or if the JSON is no such algorithm, ValueError for an unknown kind.
#[pyfunction]
pub fn resolve_algorithm(kind: &str, config_json: &str) -> PyResult<String> {
    match kind {
        "scheme" => verified(&chosen_scheme(config_json)?, ChosenScheme::verify),
        "load_balancing" => verified(&parse(kind, config_json)?, LoadBalancing::check),
        "loss" => verified(&parse(kind, config_json)?, LossSetup::check),
        "queue" => verified(&parse(kind, config_json)?, Discipline::verify),
        "application" => verified(&parse(kind, config_json)?, ApplicationSetup::check),
        "estimator" => verified(&parse(kind, config_json)?, EstimatorSetup::check),
        _ => Err(PyValueError::new_err(format!("no kind of algorithm {kind:?}"))),
    }
}

/// An algorithm as JSON, if its parameters hold.
fn verified<T: Serialize>(config: &T, verify: fn(&T) -> Result<(), OutOfRange>) -> PyResult<String> {
    verify(config).map_err(|problem| setup_error(&problem.parameter, problem.problem))?;
    serde_json::to_string(config).map_err(value_error)
}

fn chosen_scheme(config_json: &str) -> PyResult<ChosenScheme> {
    #[derive(Deserialize)]
    struct Named {
        algorithm: String,
    }
    let named: Named = parse("scheme", config_json)?;
    let data = &mut serde_json::Deserializer::from_str(config_json);
    ChosenScheme::read(&named.algorithm, data).map_err(|error| setup_error("scheme", error))
}

/// The share of packets that a loss model, given as JSON, takes in the long run.
///
/// Raises SetupError if the JSON is no loss model.
#[pyfunction]
pub fn mean_loss(loss_json: &str) -> PyResult<f64> {
    Ok(loss::mean_loss(&parse("loss", loss_json)?))
}
