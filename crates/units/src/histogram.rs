//! Quantiles of times in little memory, for each of very many flows.

use std::mem::take;

/// Values that wait to be counted: they fill the line of the cache that count and sum are in.
const WAITING: usize = 11;
/// Buckets that are added at once, a line of the cache.
const BLOCK: usize = 16;

/// A histogram with buckets of equal relative width, as HdrHistogram has them: each octave, which is all values from a
/// power of two to the next, has 2^`BITS`, so that the middle of a bucket is within 1/2^(`BITS` + 1) of each value in it.
/// It takes four bytes for each bucket from the smallest value's to the largest's, and none besides its own 64 for the
/// first eleven values. Count, mean, smallest and largest value are exact.
#[derive(Clone, Default, Debug)]
pub struct Histogram<const BITS: u32> {
    sum: u128,
    smallest: u64,
    largest: u64,
    table: Option<Box<Table>>,
    /// Buckets of the last values, which are not in the table yet: a value moves one line of the cache, and those of
    /// the table together.
    waiting: [u16; WAITING],
    waits: u8,
}

const _: () = assert!(size_of::<Histogram<8>>() == 64);

#[derive(Clone, Default, Debug)]
struct Table {
    count: u64,
    /// The bucket of the first count.
    first: usize,
    counts: Vec<u32>,
    /// Buckets whose count passed 2^32, once for each time.
    carries: Vec<usize>,
}

impl Table {
    /// Makes room for these buckets.
    fn cover(&mut self, first: usize, last: usize) {
        let (first, end) = (first / BLOCK * BLOCK, (last / BLOCK + 1) * BLOCK);
        if self.counts.is_empty() {
            self.first = first;
        }
        if first < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - first));
            self.first = first;
        }
        if end > self.first + self.counts.len() {
            self.counts.resize(end - self.first, 0);
        }
    }

    /// The buckets that have a value, in order, and how many; carries left out.
    fn counted(&self) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.map(|(index, &count)| (self.first + index, u64::from(count)))
    }

    /// Counts values of a bucket that there is room for.
    fn add(&mut self, bucket: usize, more: u64) {
        let count = &mut self.counts[bucket - self.first];
        let sum = u64::from(*count) + more;
        *count = sum as u32;
        self.carries.extend(std::iter::repeat_n(bucket, (sum >> 32) as usize));
        self.count += more;
    }
}

impl<const BITS: u32> Histogram<BITS> {
    const BUCKETS: u64 = {
        assert!(BITS <= 10, "the number of a bucket has 16 bits");
        1 << BITS
    };

    /// Adds a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        if self.waits as usize == WAITING {
            self.settle();
        }
        self.smallest =
            if self.waits == 0 && self.table.is_none() { value } else { self.smallest.min(value) };
        self.largest = self.largest.max(value);
        self.sum += u128::from(value);
        self.waiting[self.waits as usize] = Self::bucket(value) as u16;
        self.waits += 1;
    }

    /// Brings the values that wait into the table.
    #[cold]
    fn settle(&mut self) {
        let waiting = &self.waiting[..usize::from(take(&mut self.waits))];
        let Some((&first, &last)) = waiting.iter().min().zip(waiting.iter().max()) else { return };
        let table = self.table.get_or_insert_default();
        table.cover(usize::from(first), usize::from(last));
        waiting.iter().for_each(|&bucket| table.add(usize::from(bucket), 1));
    }

    /// Adds all values of another histogram.
    pub fn merge(&mut self, other: &Self) {
        let counted = other.counted();
        let Some((&(first, _), &(last, _))) = counted.first().zip(counted.last()) else { return };
        self.smallest = if self.count() == 0 { other.smallest } else { self.smallest.min(other.smallest) };
        self.largest = self.largest.max(other.largest);
        self.sum += other.sum;
        let table = self.table.get_or_insert_default();
        table.cover(first, last);
        counted.iter().for_each(|&(bucket, count)| table.add(bucket, count));
    }

    /// Values so far.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u64 {
        self.table.as_ref().map_or(0, |table| table.count) + u64::from(self.waits)
    }

    /// Of these, the ones that wait to be counted; in the histogram's own line of the cache.
    #[inline]
    #[must_use]
    pub fn waits(&self) -> u8 {
        self.waits
    }

    /// Mean of the values; `None` without any, as the following.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64)
    }

    /// The smallest value.
    #[must_use]
    pub fn smallest(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.smallest)
    }

    /// The largest value.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.largest)
    }

    /// The values at or below which so many thousandths of all are, by nearest rank: the first and the last rank, and so
    /// 0 and 1000, are exact, others within 1/2^(`BITS` + 1) of the value of their rank. `per_mille` ascend.
    #[must_use]
    pub fn quantiles<const N: usize>(&self, per_mille: [u64; N]) -> Option<[u64; N]> {
        let all = self.count();
        if all == 0 {
            return None;
        }
        if let Some(table) = self.table.as_deref().filter(|table| self.waits == 0 && table.carries.is_empty())
        {
            return Some(self.ranked(per_mille, all, table.counted()));
        }
        Some(self.ranked(per_mille, all, self.counted().into_iter()))
    }

    /// The same from the buckets in order.
    fn ranked<const N: usize>(
        &self,
        per_mille: [u64; N],
        all: u64,
        mut counted: impl Iterator<Item = (usize, u64)>,
    ) -> [u64; N] {
        let (mut middle, mut below) = (self.smallest, 0);
        per_mille.map(|per_mille| {
            let rank = (u128::from(all) * u128::from(per_mille)).div_ceil(1000) as u64;
            if rank >= all {
                return self.largest;
            }
            while below < rank.max(2)
                && let Some((bucket, count)) = counted.next()
            {
                let (low, high) = self.limits(bucket);
                middle = low + (high - low) / 2;
                below += count;
            }
            if rank <= 1 { self.smallest } else { middle }
        })
    }

    /// The distribution, a step for each bucket that has a value, in order: its largest value, and how many it has.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counted().into_iter().map(|(bucket, count)| (self.limits(bucket).1, count))
    }

    /// The buckets that have a value, in order, and how many.
    fn counted(&self) -> Vec<(usize, u64)> {
        let mut buckets = Vec::with_capacity(WAITING);
        if let Some(table) = &self.table {
            buckets.extend(table.counted());
        }
        let carries =
            self.table.iter().flat_map(|table| table.carries.iter().map(|&bucket| (bucket, 1 << 32)));
        let waiting = self.waiting[..usize::from(self.waits)].iter().map(|&bucket| (usize::from(bucket), 1));
        for (bucket, more) in carries.chain(waiting) {
            match buckets.binary_search_by_key(&bucket, |entry| entry.0) {
                Ok(at) => buckets[at].1 += more,
                Err(at) => buckets.insert(at, (bucket, more)),
            }
        }
        buckets
    }

    /// Smallest and largest value that can be in a bucket of this histogram.
    fn limits(&self, bucket: usize) -> (u64, u64) {
        let (low, high) = Self::bounds(bucket);
        (low.max(self.smallest), high.min(self.largest))
    }

    /// The bucket of a value; those below [`Self::BUCKETS`] have one each.
    #[inline]
    fn bucket(value: u64) -> usize {
        let octave = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
        let shift = octave.saturating_sub(1);
        // The value's leading digit counts in the first octave alone.
        (u64::from(shift) * Self::BUCKETS + (value >> shift)) as usize
    }

    /// Smallest and largest value of a bucket.
    fn bounds(bucket: usize) -> (u64, u64) {
        let bucket = bucket as u64;
        let shift = (bucket / Self::BUCKETS).saturating_sub(1);
        let low = (bucket - shift * Self::BUCKETS) << shift;
        (low, low + ((1 << shift) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram<const BITS: u32>(values: &[u64]) -> Histogram<BITS> {
        let mut histogram = Histogram::default();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    #[test]
    fn buckets_join_without_a_gap() {
        joins::<6>();
        joins::<8>();
        joins::<10>();
    }

    fn joins<const BITS: u32>() {
        let last = Histogram::<BITS>::bucket(u64::MAX);
        for bucket in 0..last {
            let (low, high) = Histogram::<BITS>::bounds(bucket);
            assert_eq!((Histogram::<BITS>::bucket(low), Histogram::<BITS>::bucket(high)), (bucket, bucket));
            assert_eq!(Histogram::<BITS>::bucket(high + 1), bucket + 1);
        }
        assert_eq!(Histogram::<BITS>::bounds(last).1, u64::MAX);
    }

    fn hold<const BITS: u32>(mut values: Vec<u64>, split: usize) -> Result<(), TestCaseError> {
        let (first, second) = values.split_at(split.min(values.len()));
        let mut all = histogram::<BITS>(first);
        all.merge(&histogram(second));
        let mean = values.iter().map(|&value| value as f64).sum::<f64>() / values.len() as f64;
        prop_assert!((all.mean().unwrap() - mean).abs() <= 1e-9 * mean);
        values.sort_unstable();
        prop_assert_eq!((all.smallest(), all.largest()), (values.first().copied(), values.last().copied()));
        let per_mille = [0, 1, 10, 500, 900, 950, 990, 999, 1000];
        for (per_mille, quantile) in per_mille.into_iter().zip(all.quantiles(per_mille).unwrap()) {
            let exact = values[(values.len() * per_mille as usize).div_ceil(1000).max(1) - 1];
            prop_assert!(exact.abs_diff(quantile) <= exact >> (BITS + 1), "{per_mille}: {exact} {quantile}");
        }
        let mut below = 0;
        for (largest, count) in all.steps() {
            below += count;
            prop_assert_eq!(below, values.partition_point(|&value| value <= largest) as u64);
        }
        prop_assert_eq!((below, all.count()), (values.len() as u64, values.len() as u64));
        Ok(())
    }

    proptest! {
        /// Against the sorted list, over all magnitudes, in one histogram or put together of two: quantiles are within
        /// half a bucket, and the steps are the share of values up to each of theirs.
        #[test]
        fn they_are_those_of_the_sorted_list(
            values in prop::collection::vec((0u32..64).prop_flat_map(|bits| 0..=u64::MAX >> bits), 1..300),
            split in 0usize..300,
        ) {
            hold::<6>(values.clone(), split)?;
            hold::<8>(values, split)?;
        }
    }

    #[test]
    fn equal_values_are_exact() {
        let values = histogram::<8>(&[12_345_678_901; 30]);
        assert_eq!(values.quantiles([0, 500, 999, 1000]), Some([12_345_678_901; 4]));
        assert_eq!(values.mean(), Some(12_345_678_901.0));
        assert_eq!(Histogram::<8>::default().quantiles([500]), None);
        assert_eq!((Histogram::<8>::default().mean(), Histogram::<8>::default().smallest()), (None, None));
    }

    /// 3 * 2^33 values of one bucket and 2^33 of another: counts have no more than 32 bits in the table.
    #[test]
    fn counts_pass_32_bits() {
        let mut all = histogram::<6>(&[5, 5, 5, 7]);
        for _ in 0..33 {
            let same = all.clone();
            all.merge(&same);
        }
        assert_eq!(all.steps().collect::<Vec<_>>(), [(5, 3 << 33), (7, 1 << 33)]);
        assert_eq!((all.count(), all.mean()), (4 << 33, Some(5.5)));
        assert_eq!(all.quantiles([750, 751]), Some([5, 7]));
    }
}
