//! Distributions of delays in bounded memory, and interarrival jitter.

use anabranch_units::{Histogram, Span};

/// Delays in ps, 256 steps to each doubling: their quantiles are within 1/512, 0.2 %.
pub type LatencyHistogram = Histogram<8>;

/// Interarrival jitter (RFC 3550 section 6.4.1 and appendix A.8), in picoseconds and without its rounding: how much the
/// delay changes from one packet to the next, in the order of arrival.
#[derive(Clone, Copy, Default, Debug)]
pub struct Jitter {
    latest: Option<Span>,
    smoothed: f64,
    changes: u64,
    sum_ps: u128,
}

impl Jitter {
    /// A packet arrives after so long a delay.
    pub fn record(&mut self, delay: Span) {
        if let Some(before) = self.latest.replace(delay) {
            let change = delay.as_ps().abs_diff(before.as_ps());
            self.smoothed += (change as f64 - self.smoothed) / 16.0;
            self.changes += 1;
            self.sum_ps += u128::from(change);
        }
    }

    /// The RFC's moving mean at the latest packet, in picoseconds; `None` before the second.
    #[must_use]
    pub fn smoothed_ps(&self) -> Option<f64> {
        (self.changes > 0).then_some(self.smoothed)
    }

    /// The mean over all packets, which the moving mean forgets; `None` before the second.
    #[must_use]
    pub fn mean_ps(&self) -> Option<f64> {
        (self.changes > 0).then(|| self.sum_ps as f64 / self.changes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix A.8 by hand: delays of 10, 26, 18 change by 16 and 8; J = 1, then 1 + 7/16, and the mean is 12.
    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let mut jitter = Jitter::default();
        jitter.record(Span::from_ps(10));
        assert_eq!((jitter.smoothed_ps(), jitter.mean_ps()), (None, None));
        jitter.record(Span::from_ps(26));
        assert_eq!((jitter.smoothed_ps(), jitter.mean_ps()), (Some(1.0), Some(16.0)));
        jitter.record(Span::from_ps(18));
        assert_eq!((jitter.smoothed_ps(), jitter.mean_ps()), (Some(1.4375), Some(12.0)));
    }
}
