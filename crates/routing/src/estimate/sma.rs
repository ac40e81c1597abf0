//! Simple moving average (Vilela 2022, equation 2.4).

use super::{Estimate, MOST_SAMPLES, Sample};
use anabranch_units::declaration::at_least;
use std::collections::VecDeque;

anabranch_units::parameters! {
    /// Simple moving average.
    #[derive(Copy)]
    pub struct MovingAverageParameters {
        /// Number of samples that it is the mean of (Vilela 2022, section 4.1.2).
        window: u32 = 3, at_least(1).at_most(MOST_SAMPLES);
    }
}

/// The mean of the last samples.
#[derive(Clone, PartialEq, Debug)]
pub struct MovingAverage {
    window: usize,
    samples: VecDeque<f64>,
}

impl MovingAverage {
    /// Over the last `window` samples; while there are fewer, over these.
    ///
    /// # Panics
    /// If `window` is zero.
    #[must_use]
    pub fn new(window: usize) -> Self {
        assert!(window > 0, "an average needs a sample");
        Self { window, samples: VecDeque::new() }
    }
}

impl Estimate for MovingAverage {
    type Parameters = MovingAverageParameters;

    fn configured(parameters: &MovingAverageParameters) -> Self {
        Self::new(parameters.window as usize)
    }

    fn add(&mut self, sample: Sample) {
        if self.samples.len() == self.window {
            self.samples.pop_front();
        }
        self.samples.push_back(sample.value());
    }

    fn estimate(&self) -> Option<f64> {
        let count = self.samples.len();
        (count > 0).then(|| self.samples.iter().sum::<f64>() / count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_is_that_of_the_last_samples() {
        let mut average = MovingAverage::new(3);
        assert_eq!(average.estimate(), None);
        let after = [6.0, 3.0, 0.0, 0.0, 9.0].map(|sample| {
            average.add(Sample::Value(sample));
            average.estimate()
        });
        assert_eq!(after, [6.0, 4.5, 3.0, 1.0, 3.0].map(Some));
    }

    /// Shares count alike, whatever they are shares of: the thesis takes the mean of its samples.
    #[test]
    fn a_share_of_few_counts_as_much_as_one_of_many() {
        let mut average = MovingAverage::new(2);
        average.add(Sample::Share { hits: 1, of: 4 });
        average.add(Sample::Share { hits: 3, of: 400 });
        assert_eq!(average.estimate(), Some((0.25 + 0.0075) / 2.0));
    }
}
