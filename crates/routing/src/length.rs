use std::ops::{Add, AddAssign, Sub};

/// Bits that hold the number of hops; the cost stands above them.
const HOP_BITS: u32 = 32;

/// Length of a path: its cost, and among equal costs its number of hops.
///
/// One integer, cost x 2^32 + hops, so that lengths add like costs and every link makes a path
/// strictly longer, even one of cost zero. A path of fewer than 2^32 links of cost below 2^64
/// each always fits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Length(u128);

impl Length {
    /// The length of no links at all.
    pub const ZERO: Self = Self(0);
    /// Longer than every path: there is none.
    pub(crate) const INFINITE: Self = Self(u128::MAX);

    /// The length of one link of this cost.
    #[must_use]
    pub const fn of_link(cost: u64) -> Self {
        Self(((cost as u128) << HOP_BITS) + 1)
    }

    /// Sum of the costs of the links.
    #[must_use]
    pub const fn cost(self) -> u128 {
        self.0 >> HOP_BITS
    }

    /// Number of links.
    #[must_use]
    pub const fn hops(self) -> u32 {
        self.0 as u32
    }

    /// This length, or nothing if it is that of no path.
    pub(crate) fn finite(self) -> Option<Self> {
        (self != Self::INFINITE).then_some(self)
    }
}

impl Add for Length {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Length {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Of use between lengths of which the first is known to be the longer, such as reduced costs.
impl Sub for Length {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("a longer length is taken from a shorter one"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_comes_before_hops_and_hops_break_ties() {
        let dear = Length::of_link(3);
        let detour = Length::of_link(1) + Length::of_link(1);
        let flat = Length::of_link(2) + Length::of_link(0) + Length::of_link(0);
        assert!(detour < dear && detour < flat && flat < dear);
        assert_eq!((flat.cost(), flat.hops()), (2, 3));
    }

    #[test]
    fn the_largest_costs_do_not_overflow() {
        let mut sum = Length::ZERO;
        for _ in 0..1000 {
            sum += Length::of_link(u64::MAX);
        }
        assert_eq!((sum.cost(), sum.hops()), (u128::from(u64::MAX) * 1000, 1000));
    }
}
