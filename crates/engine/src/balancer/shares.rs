/// Parts of 0..2^64 in proportion to weights.
#[derive(Clone, Debug)]
pub(super) enum Shares {
    /// So many equal ones: of thousands of balancers nearly all, and none of them has memory of its own.
    Equal(u32),
    /// Upper ends; the last one is `u64::MAX`.
    Ends(Box<[u64]>),
}

impl Shares {
    pub(super) fn new(weights: &[f64]) -> Self {
        if weights.iter().all(|&weight| weight == weights[0]) {
            return Self::Equal(weights.len() as u32);
        }
        let total: f64 = weights.iter().sum();
        let mut reached = 0.0;
        let mut ends: Vec<u64> = weights
            .iter()
            .map(|weight| {
                reached += weight / total;
                // 2^64 as a double; the conversion saturates.
                (reached * 18_446_744_073_709_551_616.0) as u64
            })
            .collect();
        if let Some(last) = ends.last_mut() {
            *last = u64::MAX;
        }
        Self::Ends(ends.into())
    }

    /// Whose part a number lies in.
    #[inline]
    pub(super) fn of(&self, draw: u64) -> usize {
        match self {
            Self::Equal(count) => ((u128::from(draw) * u128::from(*count)) >> 64) as usize,
            Self::Ends(ends) => {
                // All are counted: where the first one above is found differs from draw to draw, and no branch can be
                // foretold.
                let below = ends.iter().map(|&end| usize::from(end <= draw)).sum::<usize>();
                below.min(ends.len() - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shares;

    /// A part begins where the one before ends, and the last one has the last number.
    #[test]
    fn parts_meet_and_leave_nothing_out() {
        let shares = Shares::new(&[1.0, 2.0, 1.0]);
        let quarter = 1 << 62;
        let draws = [0, quarter - 1, quarter, 3 * quarter - 1, 3 * quarter, u64::MAX];
        assert_eq!(draws.map(|draw| shares.of(draw)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(Shares::new(&[0.3]).of(u64::MAX), 0);
        let equal = Shares::new(&[0.25; 4]);
        assert_eq!(draws.map(|draw| equal.of(draw)), [0, 0, 1, 2, 3, 3]);
    }
}
