//! From samples of a link to the value that routes are chosen by.

use anabranch_units::Span;
use std::collections::VecDeque;

/// Simple moving average of the last samples (Vilela 2022, equation 2.4).
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

    /// Takes a sample.
    pub fn add(&mut self, sample: f64) {
        if self.samples.len() == self.window {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// The average; `None` before the first sample.
    #[must_use]
    pub fn estimate(&self) -> Option<f64> {
        let count = self.samples.len();
        (count > 0).then(|| self.samples.iter().sum::<f64>() / count as f64)
    }
}

/// The steps in which estimates are given (Vilela 2022, sections 3.4.1 and 4.1.2): too fine, and routes that
/// are as good as equal change places; too coarse, and they cannot be told apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Granularity {
    /// Step of a loss, 0..=1; zero leaves losses as they are.
    pub loss: f64,
    /// Step of a delay; zero leaves delays as they are.
    pub delay: Span,
}

impl Granularity {
    /// The probability in 0..=1 nearest to a loss, in whole steps.
    #[must_use]
    pub fn loss(&self, loss: f64) -> f64 {
        let steps = if self.loss > 0.0 { (loss / self.loss).round() * self.loss } else { loss };
        steps.clamp(0.0, 1.0)
    }

    /// The delay in whole steps; a half is rounded up.
    #[must_use]
    pub fn delay(&self, delay: Span) -> Span {
        if self.delay == Span::ZERO {
            return delay;
        }
        let (steps, rest) = (delay.as_ps() / self.delay.as_ps(), delay.as_ps() % self.delay.as_ps());
        let up = u64::from(rest >= self.delay.as_ps() - rest);
        self.delay.saturating_mul(steps + up)
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
            average.add(sample);
            average.estimate()
        });
        assert_eq!(after, [6.0, 4.5, 3.0, 1.0, 3.0].map(Some));
    }

    /// The thesis gives delays such as 2.5 ms and 10.6 ms, and losses in multiples of 0.01 %.
    #[test]
    fn estimates_come_in_steps() {
        let steps = Granularity { loss: 1e-4, delay: Span::from_us(100) };
        let us = |us| steps.delay(Span::from_us(us));
        assert_eq!([0, 49, 50, 2_549, 10_650].map(us), [0, 0, 100, 2_500, 10_700].map(Span::from_us));
        for (loss, rounded) in [(0.0, 0.0), (4e-5, 0.0), (0.01236, 0.0124), (-0.3, 0.0), (1.2, 1.0)] {
            assert!((steps.loss(loss) - rounded).abs() < 1e-12, "{loss}");
        }
        let exact = Granularity { loss: 0.0, delay: Span::ZERO };
        assert_eq!((exact.loss(0.012_345), exact.delay(Span::from_ps(7))), (0.012_345, Span::from_ps(7)));
    }
}
