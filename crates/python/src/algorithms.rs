//! Algorithms that a scenario can name: their declarations, and the check of one.

use crate::error::{parse, setup_error, value_error};
use anabranch_engine::balancer::LoadBalancing;
use anabranch_engine::control::applications::ApplicationSetup;
use anabranch_engine::loss::{self, LossSetup};
use anabranch_engine::queues::Discipline;
use anabranch_engine::routing::{EstimatorSetup, Scheme};
use anabranch_engine::transport;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Every algorithm that a scenario can name, with its parameters, as JSON: a list of registries.
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
/// `kind` is the name of its registry. Raises SetupError with the first parameter that does not hold, and why, or if
/// the JSON is no such algorithm, ValueError for an unknown kind.
#[pyfunction]
pub fn resolve_algorithm(kind: &str, config_json: &str) -> PyResult<String> {
    macro_rules! resolved {
        ($registry:ty) => {
            resolved!($registry, check)
        };
        ($registry:ty, $check:ident) => {{
            let config: $registry = parse(kind, config_json)?;
            config.$check().map_err(|problem| setup_error(&problem.parameter, problem.problem))?;
            serde_json::to_string(&config).map_err(value_error)
        }};
    }
    match kind {
        "scheme" => resolved!(Scheme),
        "load_balancing" => resolved!(LoadBalancing),
        "loss" => resolved!(LossSetup),
        "queue" => resolved!(Discipline, verify),
        "application" => resolved!(ApplicationSetup),
        "estimator" => resolved!(EstimatorSetup),
        _ => Err(PyValueError::new_err(format!("no kind of algorithm {kind:?}"))),
    }
}

/// The share of packets that a loss model, given as JSON, takes in the long run.
///
/// Raises SetupError if the JSON is no loss model.
#[pyfunction]
pub fn mean_loss(loss_json: &str) -> PyResult<f64> {
    Ok(loss::mean_loss(&parse("loss", loss_json)?))
}
