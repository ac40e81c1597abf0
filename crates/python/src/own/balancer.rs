//! Load balancers in Python: a method that chooses a route for each packet.

use super::{Code, guarded};
use anabranch_engine::balancer::{BalancerMaker, ExternalBalancer, ExternalChoice};
use anabranch_units::Instant;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

impl BalancerMaker for Code {
    /// The function gets (weights, links of each choice, seed).
    fn balancer(&self, choices: &[ExternalChoice], seed: u64) -> Box<dyn ExternalBalancer> {
        let made = guarded(&self.0, "start", 0.0, |py| {
            let weights: Vec<f64> = choices.iter().map(|choice| choice.weight).collect();
            let links: Vec<Vec<u32>> =
                choices.iter().map(|choice| choice.links.iter().map(|link| link.0).collect()).collect();
            let object = self.0.bind(py).call1((weights, links, seed))?;
            let choose = object.getattr("choose")?.unbind();
            Ok(Balancer { code: self.0.clone_ref(py), choose, count: choices.len() })
        });
        made.map_or_else(|| Box::new(Unmade) as Box<dyn ExternalBalancer>, |made| Box::new(made))
    }
}

/// The balancer of a pair of nodes, or of a node.
#[derive(Debug)]
struct Balancer {
    /// What made it.
    code: Py<PyAny>,
    choose: Py<PyAny>,
    count: usize,
}

impl ExternalBalancer for Balancer {
    fn choose(&mut self, now: Instant, flow: u32) -> usize {
        let now_s = now.as_secs_f64();
        let chosen = guarded(&self.code, "choose", now_s, |py| {
            let chosen = self.choose.bind(py).call1((now_s, flow))?;
            match chosen.extract::<usize>() {
                Ok(place) if place < self.count => Ok(place),
                _ => Err(PyValueError::new_err(format!(
                    "has chosen {}; it must be a place in paths, from 0 to {}",
                    chosen.repr()?,
                    self.count - 1
                ))),
            }
        });
        chosen.unwrap_or(0)
    }
}

/// A balancer that could not be made. The run ends with the reason.
#[derive(Debug)]
struct Unmade;

impl ExternalBalancer for Unmade {
    fn choose(&mut self, _now: Instant, _flow: u32) -> usize {
        0
    }
}
