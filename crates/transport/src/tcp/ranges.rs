use smallvec::SmallVec;

/// Disjoint, non-adjacent half-open ranges of 64-bit positions, in ascending order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Ranges {
    /// Few holes at a time: most need no memory of their own.
    ranges: SmallVec<[(u64, u64); 2]>,
}

impl Ranges {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges in ascending order.
    pub(crate) fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Bytes in all ranges.
    #[cfg(test)]
    pub(crate) fn total(&self) -> u64 {
        self.ranges.iter().map(|(left, right)| right - left).sum()
    }

    /// The range that contains `position`.
    pub(crate) fn containing(&self, position: u64) -> Option<(u64, u64)> {
        // Most questions are about the last range.
        let &(left, right) = self.ranges.last()?;
        if left <= position {
            return (position < right).then_some((left, right));
        }
        let index = self.ranges.partition_point(|&(_, right)| right <= position);
        self.ranges.get(index).copied().filter(|&(left, _)| left <= position)
    }

    /// Adds `left..right`; returns the range that now contains it.
    pub(crate) fn insert(&mut self, left: u64, right: u64) -> (u64, u64) {
        debug_assert!(left < right);
        // Most additions extend the last range or come after it.
        let first = match self.ranges.last() {
            Some(&(last_left, last_right)) if last_left <= left => {
                if last_right < left {
                    self.ranges.len()
                } else {
                    self.ranges.len() - 1
                }
            }
            _ => self.ranges.partition_point(|&(_, r)| r < left),
        };
        let mut merged = (left, right);
        let mut end = first;
        while let Some(&(l, r)) = self.ranges.get(end).filter(|&&(l, _)| l <= right) {
            merged = (merged.0.min(l), merged.1.max(r));
            end += 1;
        }
        if end == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..end);
        }
        merged
    }

    /// Removes everything below `position`.
    pub(crate) fn remove_below(&mut self, position: u64) {
        let gone = self.ranges.partition_point(|&(_, right)| right <= position);
        if gone == self.ranges.len() {
            // Most connections have none at most times.
            self.ranges = SmallVec::new();
            return;
        }
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(position);
        }
    }

    /// Calls `visit` with each part of `left..right` that is not in any range, in ascending order.
    pub(crate) fn for_each_gap(&self, left: u64, right: u64, mut visit: impl FnMut(u64, u64)) {
        let mut at = left;
        let first = self.ranges.partition_point(|&(_, r)| r <= left);
        for &(l, r) in &self.ranges[first..] {
            if l >= right {
                break;
            }
            if at < l {
                visit(at, l);
            }
            at = at.max(r);
        }
        if at < right {
            visit(at, right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a set of single positions as the model.
        #[test]
        fn ranges_behave_like_a_set(
            operations in prop::collection::vec((0u64..60, 1u64..12, any::<bool>()), 1..40),
        ) {
            let mut ranges = Ranges::default();
            let mut model = BTreeSet::new();
            for (left, len, add) in operations {
                if add {
                    let mut gaps = Vec::new();
                    ranges.for_each_gap(left, left + len, |l, r| gaps.extend(l..r));
                    let missing: Vec<u64> = (left..left + len).filter(|p| !model.contains(p)).collect();
                    prop_assert_eq!(gaps, missing);
                    model.extend(left..left + len);
                    let (l, r) = ranges.insert(left, left + len);
                    prop_assert!(l <= left && left + len <= r);
                } else {
                    ranges.remove_below(left);
                    model.retain(|&p| p >= left);
                }
                prop_assert_eq!(ranges.total(), model.len() as u64);
                prop_assert!(ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0));
                for p in 0..80 {
                    prop_assert_eq!(ranges.containing(p).is_some(), model.contains(&p));
                }
            }
        }
    }

    #[test]
    fn no_gap_is_empty() {
        let mut ranges = Ranges::default();
        let _ = ranges.insert(10, 20);
        for (left, right, gaps) in [(10, 20, vec![]), (5, 20, vec![(5, 10)]), (10, 25, vec![(20, 25)])] {
            let mut seen = Vec::new();
            ranges.for_each_gap(left, right, |l, r| seen.push((l, r)));
            assert_eq!(seen, gaps, "{left} to {right}");
        }
    }
}
