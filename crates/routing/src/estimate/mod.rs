//! From samples of a link to the value that routes are chosen by (Vilela 2022, sections 2.7.6 and 3.4).
//!
//! An estimator has a file with its parameters, and a line in the list `estimators!`.

mod ewma;
mod granularity;
mod hte;
mod sma;

pub use ewma::{Ewma, EwmaParameters};
pub use granularity::Granularity;
pub use hte::{HypothesisTest, HypothesisTestParameters};
pub use sma::{MovingAverage, MovingAverageParameters};

use anabranch_units::declaration::Parameters;

/// Most samples in a window: far beyond use, and a bound on memory.
const MOST_SAMPLES: u32 = 1_000_000;

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

/// What makes estimates of samples.
pub trait Estimate {
    /// What it lets a user choose.
    type Parameters: Parameters;

    /// One that has seen no sample; the parameters are within their bounds.
    fn configured(parameters: &Self::Parameters) -> Self;

    /// Takes a sample.
    fn add(&mut self, sample: Sample);

    /// What it takes the link to be; `None` before the first sample.
    fn estimate(&self) -> Option<f64>;
}

/// Makes the configuration, the estimator and the dispatch of one list.
macro_rules! estimators {
    ($( $name:literal => $variant:ident($estimator:ty) ),+ $(,)?) => {
        anabranch_units::registry! {
            /// What makes estimates of the samples of a link.
            #[derive(Copy)]
            pub enum EstimatorSetup: "estimator" {
                $( $name => $variant(<$estimator as Estimate>::Parameters), )+
            }
        }

        /// An estimator at work.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Estimator {
            $( #[doc = concat!("`", $name, "`.")] $variant($estimator), )+
        }

        impl Estimator {
            /// One that has seen no sample; the parameters are within their bounds.
            #[must_use]
            pub fn new(setup: EstimatorSetup) -> Self {
                match setup {
                    $( EstimatorSetup::$variant(parameters) => Self::$variant(Estimate::configured(&parameters)), )+
                }
            }

            /// Takes a sample.
            pub fn add(&mut self, sample: Sample) {
                match self { $( Self::$variant(estimator) => Estimate::add(estimator, sample), )+ }
            }

            /// What it takes the link to be; `None` before the first sample.
            #[must_use]
            pub fn estimate(&self) -> Option<f64> {
                match self { $( Self::$variant(estimator) => Estimate::estimate(estimator), )+ }
            }
        }
    };
}

estimators! {
    "sma" => Sma(MovingAverage),
    "ewma" => Ewma(Ewma),
    "hte" => Hte(HypothesisTest),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<EstimatorSetup> {
        EstimatorSetup::NAMES.iter().filter_map(|name| EstimatorSetup::named(name)).collect()
    }

    /// Whatever smooths: nothing before the first sample, that sample after it, and a constant stays one.
    #[test]
    fn a_constant_is_its_own_estimate() {
        for setup in all() {
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
        for setup in all() {
            let mut estimator = Estimator::new(setup);
            for hits in [10; 20].into_iter().chain([40; 20]) {
                estimator.add(Sample::Share { hits, of: 1000 });
            }
            let error = (estimator.estimate().expect("samples") - 0.04).abs();
            assert!(error < 0.03 * 0.5_f64.powi(19), "{setup:?}: {error}");
        }
    }
}
