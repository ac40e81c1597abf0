//! Exponentially weighted moving average (Vilela 2022, section 2.7.6, after A. Woo, T. Tong, D. Culler,
//! "Taming the underlying challenges of reliable multihop routing in sensor networks", SenSys 2003).

use super::{Estimate, Sample};
use anabranch_units::declaration::above;

anabranch_units::parameters! {
    /// Exponentially weighted moving average.
    #[derive(Copy)]
    pub struct EwmaParameters {
        /// Weight of the newest sample. At 0.5 samples have the mean age that they have in a window of 3.
        weight: f64 = 0.5, above(0.0).at_most(1.0);
    }
}

/// `estimate = (1 - weight) estimate + weight sample`; the first sample is the first estimate.
///
/// The mean age of what it holds is that of a simple moving average over `2 / weight - 1` samples.
#[derive(Clone, PartialEq, Debug)]
pub struct Ewma {
    weight: f64,
    estimate: Option<f64>,
}

impl Ewma {
    /// With this weight of the newest sample.
    ///
    /// # Panics
    /// If the weight is not above 0 and at most 1.
    #[must_use]
    pub fn new(weight: f64) -> Self {
        assert!(weight > 0.0 && weight <= 1.0, "a weight of {weight} is not above 0 and at most 1");
        Self { weight, estimate: None }
    }
}

impl Estimate for Ewma {
    type Parameters = EwmaParameters;

    fn configured(parameters: &EwmaParameters) -> Self {
        Self::new(parameters.weight)
    }

    fn add(&mut self, sample: Sample) {
        let value = sample.value();
        self.estimate = Some(self.estimate.map_or(value, |old| old + self.weight * (value - old)));
    }

    fn estimate(&self) -> Option<f64> {
        self.estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 8; 8 + (0 - 8)/4 = 6; 6 + (2 - 6)/4 = 5; 5 + (9 - 5)/4 = 6.
    #[test]
    fn the_newest_sample_has_its_weight() {
        let mut average = Ewma::new(0.25);
        assert_eq!(average.estimate(), None);
        let after = [8.0, 0.0, 2.0, 9.0].map(|sample| {
            average.add(Sample::Value(sample));
            average.estimate()
        });
        assert_eq!(after, [8.0, 6.0, 5.0, 6.0].map(Some));
    }

    /// After a step of the samples the rest of the way falls by 1 - weight with each.
    #[test]
    fn a_step_is_followed_geometrically() {
        let mut average = Ewma::new(0.5);
        average.add(Sample::Value(0.0));
        for left in [0.5, 0.25, 0.125, 0.0625] {
            average.add(Sample::Share { hits: 4, of: 4 });
            assert_eq!(average.estimate(), Some(1.0 - left));
        }
    }

    #[test]
    fn a_weight_of_one_is_the_last_sample() {
        let mut average = Ewma::new(1.0);
        for sample in [3.0, 7.0] {
            average.add(Sample::Value(sample));
            assert_eq!(average.estimate(), Some(sample));
        }
    }
}
