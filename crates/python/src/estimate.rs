//! Estimates of links, for a controller that measures real ones.

use crate::error::parse;
use anabranch_engine::routing::{Estimator, EstimatorSetup, Granularity, LinkQuality, PathQuality, Sample};
use anabranch_units::Span;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What makes estimates of the samples of a link: an `estimator` of a setup.
///
/// Raises SetupError if the text is none.
#[pyclass(module = "anabranch._core")]
pub struct LinkEstimator {
    estimator: Estimator,
}

#[pymethods]
impl LinkEstimator {
    #[new]
    fn new(estimator_json: &str) -> PyResult<Self> {
        let setup: EstimatorSetup = parse("estimator", estimator_json)?;
        Ok(Self { estimator: Estimator::new(setup) })
    }

    /// So many of so many, such as packets lost of packets sent.
    ///
    /// Raises ValueError if there are none, or fewer than hits.
    fn add_share(&mut self, hits: u64, of: u64) -> PyResult<()> {
        if of == 0 || hits > of {
            return Err(PyValueError::new_err(format!("{hits} of {of} is no share")));
        }
        self.estimator.add(Sample::Share { hits, of });
        Ok(())
    }

    /// A quantity, such as a delay in seconds.
    fn add_value(&mut self, value: f64) {
        self.estimator.add(Sample::Value(value));
    }

    /// What the link is taken to be; None before the first sample.
    fn estimate(&self) -> Option<f64> {
        self.estimator.estimate()
    }
}

/// The loss nearest to one in whole steps, and the delay in picoseconds; a step of 0 leaves them as they are.
#[pyfunction]
pub fn in_steps(loss: f64, delay: u64, loss_step: f64, delay_step: u64) -> (f64, u64) {
    let steps = Granularity { loss: loss_step, delay: Span::from_ps(delay_step) };
    (steps.loss(loss), steps.delay(Span::from_ps(delay)).as_ps())
}

/// Whether a path is better by d sqrt(p) than another by more than a relative threshold; each is the loss and the delay
/// in picoseconds of its links.
#[pyfunction]
pub fn tcpbp_beats(path: Vec<(f64, u64)>, other: Vec<(f64, u64)>, threshold: f64) -> bool {
    let quality = |links: Vec<(f64, u64)>| {
        PathQuality::of(links.into_iter().map(|(loss, delay)| LinkQuality::new(Span::from_ps(delay), loss)))
    };
    quality(path).beats(quality(other), threshold)
}
