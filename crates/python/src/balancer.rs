//! Balancers by themselves: what the engine's would choose, without a run.

use anabranch_engine::balancer::{Balancer, Choices, FlowKey};
use anabranch_engine::capture::host_address;
use anabranch_engine::random::Streams;
use anabranch_engine::setup::LoadBalancing;
use anabranch_engine::transport::wire::Endpoint;
use anabranch_engine::{balancer, ports};
use anabranch_units::{Instant, NodeId};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `count` source ports as the engine draws them for the connection `name`: the first draws of the stream
/// (seed, replication, name, "connection"). Each dynamic port is equally likely at each draw.
#[pyfunction]
pub fn draw_source_ports(
    py: Python<'_>,
    seed: u64,
    replication: u64,
    name: &str,
    count: usize,
) -> Py<PyArray1<u16>> {
    let mut stream = Streams::new(seed, replication).stream(name, "connection");
    let ports: Vec<u16> = (0..count).map(|_| ports::draw_source_port(&mut stream)).collect();
    ports.into_pyarray(py).unbind()
}

/// The path, counted from 0, that the balancer of a pair gives to each of these subflows, which send their
/// first packets in this order.
///
/// `load_balancing_json` is the load balancing of a setup, `weights` has one positive number for each path. A subflow is
/// (source node, source port, destination node, destination port), nodes by their numbers. Those that draw
/// at random draw from the stream (1, 0, "balancer", "path"), and `flow` has the salt 0.
///
/// Raises ValueError on load balancing that is none, and on weights that are none, not positive or not finite.
#[pyfunction]
pub fn balancer_choices(
    py: Python<'_>,
    load_balancing_json: &str,
    weights: Vec<f64>,
    subflows: Vec<(u32, u16, u32, u16)>,
) -> PyResult<Py<PyArray1<u64>>> {
    let refused = |error: &dyn std::fmt::Display| PyValueError::new_err(format!("load_balancing: {error}"));
    let load_balancing: LoadBalancing =
        serde_json::from_str(load_balancing_json).map_err(|error| refused(&error))?;
    load_balancing.check().map_err(|error| refused(&error))?;
    if weights.is_empty() {
        return Err(PyValueError::new_err("weights: there is no path; give each a weight above zero"));
    }
    let wrong = weights.iter().position(|weight| !(*weight > 0.0 && weight.is_finite()));
    if let Some(index) = wrong {
        let text =
            format!("weights[{index}]: {} is no weight; it must be above zero and finite", weights[index]);
        return Err(PyValueError::new_err(text));
    }
    let identities: Vec<u64> = (1..=weights.len() as u64).map(balancer::mix).collect();
    let stream = Streams::new(1, 0).stream("balancer", "path");
    let mut balancer = Balancer::new(
        load_balancing,
        Choices { weights: &weights, identities: &identities, salt: 0, stream },
    );
    let end = |node, port| Endpoint { addr: host_address(NodeId(node)), port };
    let choices: Vec<u64> = (0u32..)
        .zip(subflows)
        .map(|(index, (from, source, to, destination))| {
            let key = FlowKey::new(end(from, source), end(to, destination), index);
            balancer.choose(Instant::ZERO, key) as u64
        })
        .collect();
    Ok(choices.into_pyarray(py).unbind())
}
