//! Quantiles of times in little memory, for each of very many flows.

/// Buckets of an octave, which is all values from a power of two to the next.
const BUCKETS: u64 = 1 << BITS;
const BITS: u32 = 6;

/// A histogram with buckets of equal relative width, as HdrHistogram has them: each octave has 64, so that the
/// middle of a bucket is within 1/128, 0.8 %, of each value in it. It takes four bytes for each bucket from
/// the smallest value's to the largest's: a kilobyte where they are sixteenfold apart. Count, mean, smallest
/// and largest value are exact.
#[derive(Clone, Default, Debug)]
#[repr(align(64))]
pub(crate) struct Histogram {
    counts: Vec<u32>,
    /// The bucket of the first count.
    first: usize,
    count: u64,
    /// Of 584 years in ns at most.
    sum: u64,
    smallest: u64,
    largest: u64,
}

impl Histogram {
    /// Adds a value.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        self.add(bucket(value), 1);
        self.sum = self.sum.saturating_add(value);
        self.smallest = if self.count == 0 { value } else { self.smallest.min(value) };
        self.largest = self.largest.max(value);
        self.count += 1;
    }

    #[inline]
    fn add(&mut self, bucket: usize, more: u32) {
        let at = bucket.wrapping_sub(self.first);
        if at >= self.counts.len() {
            return self.widen(bucket, more);
        }
        self.counts[at] = self.counts[at].saturating_add(more);
    }

    #[cold]
    fn widen(&mut self, bucket: usize, more: u32) {
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let more = self.first - bucket;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = bucket;
        }
        let at = bucket - self.first;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] = self.counts[at].saturating_add(more);
    }

    /// Adds all values of another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.smallest = if self.count == 0 { other.smallest } else { self.smallest.min(other.smallest) };
        self.largest = self.largest.max(other.largest);
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        for (index, &count) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.add(other.first + index, count);
        }
    }

    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Where the counts are.
    #[inline]
    pub(crate) fn first_count(&self) -> u64 {
        self.counts.first().map_or(0, |count| u64::from(*count))
    }

    /// None without a value, as the following.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    pub(crate) fn smallest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.smallest)
    }

    pub(crate) fn largest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.largest)
    }

    /// The values at or below which so many percent of all are, by nearest rank: the first and the last rank are
    /// exact, others within 1/128 of the value of their rank. `percents` ascend.
    pub(crate) fn percentiles<const N: usize>(&self, percents: [u64; N]) -> Option<[u64; N]> {
        if self.count == 0 {
            return None;
        }
        let (mut steps, mut middle, mut below) = (self.steps(), self.smallest, 0);
        Some(percents.map(|percent| {
            let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100) as u64;
            if rank >= self.count {
                return self.largest;
            }
            while below < rank.max(2)
                && let Some((low, high, count)) = steps.next()
            {
                middle = low + (high - low) / 2;
                below += u64::from(count);
            }
            if rank <= 1 { self.smallest } else { middle }
        }))
    }

    /// Smallest and largest value, and count, of each bucket that is not empty, in order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (u64, u64, u32)> {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(index, &count)| {
            let (low, high) = bounds(self.first + index);
            (low.max(self.smallest), high.min(self.largest), count)
        })
    }
}

// A value needs one line of the cache, and that of its bucket.
const _: () = assert!(size_of::<Histogram>() == 64);

/// The bucket of a value; those below [`BUCKETS`] have one each.
#[inline]
fn bucket(value: u64) -> usize {
    let octave = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
    let shift = octave.saturating_sub(1);
    // The value's leading digit counts in the first octave alone.
    (u64::from(shift) * BUCKETS + (value >> shift)) as usize
}

/// Smallest and largest value of a bucket.
fn bounds(bucket: usize) -> (u64, u64) {
    let bucket = bucket as u64;
    let shift = (bucket / BUCKETS).saturating_sub(1);
    let low = (bucket - shift * BUCKETS) << shift;
    (low, low + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_join_without_a_gap() {
        for bucket in 0..58 * BUCKETS as usize {
            let (low, high) = bounds(bucket);
            assert_eq!((super::bucket(low), super::bucket(high)), (bucket, bucket));
            assert_eq!(super::bucket(high + 1), bucket + 1);
        }
        assert_eq!(bounds(bucket(u64::MAX)).1, u64::MAX);
    }

    proptest! {
        /// Against the sorted list, over all magnitudes up to two years, in one histogram or put together of two.
        #[test]
        fn percentiles_are_those_of_the_sorted_list(
            mut values in prop::collection::vec((8u32..64).prop_flat_map(|bits| 0..=u64::MAX >> bits), 1..200),
            split in 0usize..200,
        ) {
            let (mut all, mut rest) = (Histogram::default(), Histogram::default());
            for (index, value) in values.iter().enumerate() {
                if index < split { all.record(*value) } else { rest.record(*value) }
            }
            all.merge(&rest);
            let mean = values.iter().map(|&value| value as f64).sum::<f64>() / values.len() as f64;
            prop_assert!((all.mean().unwrap() - mean).abs() <= 1e-9 * mean);
            values.sort_unstable();
            let percents = [0, 1, 50, 90, 95, 99, 100];
            for (percent, found) in percents.into_iter().zip(all.percentiles(percents).unwrap()) {
                let rank = (values.len() * percent as usize).div_ceil(100).max(1);
                let exact = values[rank - 1];
                prop_assert!(exact.abs_diff(found) <= exact / 128 + 1, "p{percent}: {exact} {found}");
            }
            prop_assert_eq!(all.steps().map(|step| u64::from(step.2)).sum::<u64>(), values.len() as u64);
        }
    }
}
