//! From samples of a link to the value that routes are chosen by (Vilela 2022, sections 2.7.6 and 3.4).
//!
//! An estimator has a file, a variant in [`EstimatorSetup`] with its parameters, and a line in the macro `each`.

mod ewma;
mod granularity;
mod hte;
mod sma;

pub use ewma::Ewma;
pub use granularity::Granularity;
pub use hte::HypothesisTest;
pub use sma::MovingAverage;

use serde::{Deserialize, Serialize};

/// What has been measured once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sample {
    /// So many of so many, such as packets lost of packets sent; `of` is above zero.
    Share {
        /// How many.
        hits: u64,
        /// Of how many.
        of: u64,
    },
    /// A quantity, such as a delay in seconds.
    Value(f64),
}

impl Sample {
    /// As a number: the share, or the quantity.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Share { hits, of } => hits as f64 / of as f64,
            Self::Value(value) => value,
        }
    }
}

/// An estimator by name, with its parameters.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EstimatorSetup {
    /// Simple moving average.
    Sma {
        /// Samples that it is the mean of.
        window: u32,
    },
    /// Exponentially weighted moving average.
    Ewma {
        /// Weight of the newest sample, above 0 and at most 1.
        weight: f64,
    },
    /// Hypothesis testing estimator.
    Hte {
        /// Samples that the estimate is tested against, at least 2.
        window: u32,
        /// Probability of a change though the link is as it was, above 0 and below 1.
        significance: f64,
    },
}

/// An estimator at work.
#[derive(Clone, PartialEq, Debug)]
pub enum Estimator {
    /// Simple moving average.
    Sma(MovingAverage),
    /// Exponentially weighted moving average.
    Ewma(Ewma),
    /// Hypothesis testing estimator.
    Hte(HypothesisTest),
}

macro_rules! each {
    ($estimator:expr, $inner:ident => $call:expr) => {
        match $estimator {
            Estimator::Sma($inner) => $call,
            Estimator::Ewma($inner) => $call,
            Estimator::Hte($inner) => $call,
        }
    };
}

impl Estimator {
    /// One that has seen no sample.
    ///
    /// # Panics
    /// If a parameter is out of the range that [`EstimatorSetup`] states.
    #[must_use]
    pub fn new(setup: EstimatorSetup) -> Self {
        match setup {
            EstimatorSetup::Sma { window } => Self::Sma(MovingAverage::new(window as usize)),
            EstimatorSetup::Ewma { weight } => Self::Ewma(Ewma::new(weight)),
            EstimatorSetup::Hte { window, significance } => {
                Self::Hte(HypothesisTest::new(window as usize, significance))
            }
        }
    }

    /// Takes a sample.
    pub fn add(&mut self, sample: Sample) {
        each!(self, inner => inner.add(sample));
    }

    /// What it takes the link to be; `None` before the first sample.
    #[must_use]
    pub fn estimate(&self) -> Option<f64> {
        each!(self, inner => inner.estimate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [EstimatorSetup; 3] = [
        EstimatorSetup::Sma { window: 3 },
        EstimatorSetup::Ewma { weight: 0.5 },
        EstimatorSetup::Hte { window: 3, significance: 0.05 },
    ];

    /// Whatever smooths: nothing before the first sample, that sample after it, and a constant stays one.
    #[test]
    fn a_constant_is_its_own_estimate() {
        for setup in ALL {
            let mut estimator = Estimator::new(setup);
            assert_eq!(estimator.estimate(), None);
            for _ in 0..10 {
                estimator.add(Sample::Value(0.25));
                assert_eq!(estimator.estimate(), Some(0.25), "{setup:?}");
            }
        }
    }

    /// After a step to another constant all of them end there, within a window or as fast as the weights fall.
    #[test]
    fn every_estimator_follows_a_step() {
        for setup in ALL {
            let mut estimator = Estimator::new(setup);
            for hits in [10; 20].into_iter().chain([40; 20]) {
                estimator.add(Sample::Share { hits, of: 1000 });
            }
            let error = (estimator.estimate().expect("samples") - 0.04).abs();
            assert!(error < 0.03 * 0.5_f64.powi(19), "{setup:?}: {error}");
        }
    }
}
