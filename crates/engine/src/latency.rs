//! Quantiles of delays in bounded memory, and interarrival jitter.

use anabranch_units::Span;

/// Buckets of an octave, which is all values from a power of two to the next: as many as eight bits tell apart.
const BUCKETS: usize = 1 << BITS;
const BITS: u32 = 8;

/// A histogram of delays with buckets of equal relative width, as HdrHistogram has them: each octave has 256. The middle
/// of a bucket is within 1/512, 0.2 %, of any delay in it. An octave takes 2 KiB once it has a delay, and there are
/// at most 57, whatever the number of delays. Smallest, largest and mean are exact.
#[derive(Clone, Default, Debug)]
pub struct LatencyHistogram {
    octaves: Vec<Option<Box<[u64; BUCKETS]>>>,
    count: u64,
    sum_ps: u128,
    smallest: u64,
    largest: u64,
}

impl LatencyHistogram {
    /// Adds a delay.
    pub fn record(&mut self, delay: Span) {
        let ps = delay.as_ps();
        let (octave, bucket) = place(ps);
        if octave >= self.octaves.len() {
            self.octaves.resize(octave + 1, None);
        }
        self.octaves[octave].get_or_insert_with(|| Box::new([0; BUCKETS]))[bucket] += 1;
        self.smallest = if self.count == 0 { ps } else { self.smallest.min(ps) };
        self.largest = self.largest.max(ps);
        self.count += 1;
        self.sum_ps += u128::from(ps);
    }

    /// Delays so far.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Mean of the delays in picoseconds; `None` without any.
    #[must_use]
    pub fn mean_ps(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ps as f64 / self.count as f64)
    }

    /// The delay below or at which `per_mille` thousandths of all delays lie, by nearest rank; `None` without any. The
    /// first and the last rank, and so 0 and 1000, are exact; others are within 1/512 of the delay of their rank.
    #[must_use]
    pub fn quantile(&self, per_mille: u64) -> Option<Span> {
        if self.count == 0 {
            return None;
        }
        let rank = (u128::from(self.count) * u128::from(per_mille)).div_ceil(1000) as u64;
        if rank <= 1 {
            return Some(Span::from_ps(self.smallest));
        }
        if rank >= self.count {
            return Some(Span::from_ps(self.largest));
        }
        let mut below = 0;
        let bucket = self.counts().find(|&(_, _, count)| {
            below += count;
            below >= rank
        });
        bucket.map(|(low, width, _)| {
            let middle = low + (width - 1) / 2;
            Span::from_ps(middle.clamp(self.smallest, self.largest))
        })
    }

    /// The distribution, a step for each bucket that has a delay: its largest delay, and how many it has.
    pub fn steps(&self) -> impl Iterator<Item = (Span, u64)> {
        self.counts().map(|(low, width, count)| (Span::from_ps((low + (width - 1)).min(self.largest)), count))
    }

    /// Smallest value, width and count of each bucket that is not empty, in order.
    fn counts(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let octaves = self.octaves.iter().enumerate();
        octaves.filter_map(|(octave, counts)| counts.as_ref().map(|counts| (octave, counts))).flat_map(
            |(octave, counts)| {
                counts.iter().enumerate().filter(|(_, count)| **count > 0).map(move |(bucket, &count)| {
                    let shift = octave.saturating_sub(1);
                    let leading = if octave == 0 { 0 } else { BUCKETS as u64 };
                    ((leading + bucket as u64) << shift, 1 << shift, count)
                })
            },
        )
    }
}

/// Octave and bucket of a value. Octave 0 has the values below 256, each in a bucket of its own.
fn place(value: u64) -> (usize, usize) {
    let octave = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
    let bucket = value >> octave.saturating_sub(1);
    (octave as usize, bucket as usize % BUCKETS)
}

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
    use proptest::prelude::*;

    fn histogram(delays: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        delays.iter().for_each(|&ps| histogram.record(Span::from_ps(ps)));
        histogram
    }

    proptest! {
        /// Against the sorted list, over all magnitudes: from one picosecond to half a year.
        #[test]
        fn quantiles_are_those_of_the_sorted_list(
            delays in prop::collection::vec((0u32..64).prop_flat_map(|bits| 0..=u64::MAX >> bits), 1..300),
            per_mille in 0u64..=1000,
        ) {
            let found = histogram(&delays).quantile(per_mille).expect("there are delays").as_ps();
            let mut sorted = delays;
            sorted.sort_unstable();
            let rank = (sorted.len() as u64 * per_mille).div_ceil(1000).max(1);
            let exact = sorted[rank as usize - 1];
            prop_assert!(found.abs_diff(exact) <= exact / 512, "{found} for {exact}");
        }

        /// The steps give the share of delays up to each of their values exactly.
        #[test]
        fn steps_are_the_distribution(delays in prop::collection::vec(0u64..1 << 40, 1..200)) {
            let mut below = 0;
            for (largest, count) in histogram(&delays).steps() {
                below += count;
                let exact = delays.iter().filter(|&&delay| delay <= largest.as_ps()).count();
                prop_assert_eq!(below, exact as u64);
            }
            prop_assert_eq!(below, delays.len() as u64);
        }
    }

    #[test]
    fn equal_delays_are_exact() {
        let histogram = histogram(&[12_345_678_901; 10]);
        for per_mille in [0, 500, 999, 1000] {
            assert_eq!(histogram.quantile(per_mille), Some(Span::from_ps(12_345_678_901)));
        }
        assert_eq!(histogram.mean_ps(), Some(12_345_678_901.0));
        assert_eq!(LatencyHistogram::default().quantile(500), None);
    }

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
