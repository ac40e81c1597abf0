use crate::{Bytes, Span, rarely};
use serde::{Deserialize, Serialize};
use std::fmt;

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// A rate in bits per second.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(u64);

impl Rate {
    /// No rate at all.
    pub const ZERO: Self = Self(0);

    /// A rate of whole bits per second.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Bits per second.
    #[inline]
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The mean rate of `bytes` over `span`, rounded down; `None` over no time.
    #[must_use]
    pub fn of(bytes: Bytes, span: Span) -> Option<Self> {
        if span == Span::ZERO {
            return None;
        }
        let bps = u128::from(bytes.0) * 8 * PS_PER_SECOND / u128::from(span.as_ps());
        Some(Self(u64::try_from(bps).unwrap_or(u64::MAX)))
    }

    /// Time to send `bytes` at this rate, rounded up; [`Span::MAX`] at rate zero.
    #[must_use]
    pub fn time_for(self, bytes: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        let ps = (u128::from(bytes.0) * 8 * PS_PER_SECOND).div_ceil(u128::from(self.0));
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Bytes sent in `span` at this rate, rounded down.
    #[must_use]
    pub fn bytes_in(self, span: Span) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(span.as_ps()) / (8 * PS_PER_SECOND);
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// This rate times `factor`, to the nearest bit per second; negative and NaN factors give zero.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bps = self.0;
        for (unit, size) in
            [("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1000)]
        {
            if bps >= size {
                return write!(f, "{} {unit}", bps as f64 / size as f64);
            }
        }
        write!(f, "{bps} bps")
    }
}

/// Serialisation times of a stream of packets at one rate, exact over time: the part of a
/// picosecond that one packet leaves over is carried to the next.
#[derive(Clone, Debug)]
pub struct Serializer {
    /// Picoseconds of a byte where they are whole, as at most rates that links have; otherwise the rate.
    factor: u64,
    /// Carried remainder, in units of 1/rate picoseconds; below the rate, or [`Serializer::NEVER`].
    carried: u64,
}

/// Picoseconds of a byte at one bit per second.
const BYTE_PS: u64 = 8 * PS_PER_SECOND as u64;

impl Serializer {
    /// A byte takes whole picoseconds: nothing is ever left over, and no packet costs a division.
    const NEVER: u64 = u64::MAX;

    /// A serializer at `rate`. Panics at rate zero, which no validated link has.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        assert!(rate.0 > 0, "a link has a positive capacity");
        if BYTE_PS.is_multiple_of(rate.0) {
            Self { factor: BYTE_PS / rate.0, carried: Self::NEVER }
        } else {
            Self { factor: rate.0, carried: 0 }
        }
    }

    /// The rate.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        Rate(if self.carried == Self::NEVER { BYTE_PS / self.factor } else { self.factor })
    }

    /// Serialisation time of the next packet of `bytes`.
    #[inline]
    pub fn next(&mut self, bytes: u32) -> Span {
        if rarely(self.carried != Self::NEVER) {
            return self.divide(bytes);
        }
        let ps = u64::from(bytes).checked_mul(self.factor);
        Span::from_ps(ps.expect("one packet serialises within 213 days"))
    }

    /// The same where something may be left over.
    #[inline(never)]
    fn divide(&mut self, bytes: u32) -> Span {
        let rate = self.factor;
        let (whole_ps, remainder) = match u64::from(bytes).checked_mul(BYTE_PS) {
            Some(bit_ps) => (bit_ps / rate, bit_ps % rate),
            None => Self::divide_long(bytes, rate),
        };
        self.carried += remainder;
        if self.carried >= rate {
            self.carried -= rate;
            return Span::from_ps(whole_ps + 1);
        }
        Span::from_ps(whole_ps)
    }

    /// Serialisation time of all packets so far, which have so many bytes.
    #[must_use]
    pub fn time_of(&self, bytes: u64) -> Span {
        let whole = u128::from(bytes) * u128::from(BYTE_PS) / u128::from(self.rate().0);
        Span::from_ps(u64::try_from(whole).expect("a run ends within 213 days"))
    }

    /// Quotient and remainder for packets above 2 MB.
    #[cold]
    fn divide_long(bytes: u32, rate: u64) -> (u64, u64) {
        let (bit_ps, rate) = (u128::from(bytes) * u128::from(BYTE_PS), u128::from(rate));
        let whole = u64::try_from(bit_ps / rate).expect("one packet serialises within 213 days");
        (whole, (bit_ps % rate) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Over any packet sequence the times add up to the exact quotient, rounded down once.
        #[test]
        fn serialisation_is_exact_over_time(
            rate in 1_000u64..2_000_000_000_000,
            sizes in prop::collection::vec(1u32..70_000, 1..60),
        ) {
            let mut serializer = Serializer::new(Rate::from_bps(rate));
            let total: u64 = sizes.iter().map(|&s| serializer.next(s).as_ps()).sum();
            let bits: u128 = sizes.iter().map(|&s| u128::from(s) * 8).sum();
            prop_assert_eq!(u128::from(total), bits * PS_PER_SECOND / u128::from(rate));
            let bytes = sizes.iter().map(|&s| u64::from(s)).sum();
            prop_assert_eq!(serializer.time_of(bytes).as_ps(), total);
        }

        /// Time for some bytes, then bytes in that time, gives at least those bytes.
        #[test]
        fn time_and_bytes_are_inverse(rate in 1_000u64..1_000_000_000_000, bytes in 0u64..1_000_000) {
            let rate = Rate::from_bps(rate);
            prop_assert!(rate.bytes_in(rate.time_for(Bytes(bytes))) >= Bytes(bytes));
        }
    }

    /// 8 * 10^12 = 2^15 5^12 ps for a byte at one bit per second: its divisors leave nothing over, and all others may.
    #[test]
    fn rates_that_divide_a_byte_and_others_are_what_was_given() {
        for (bps, byte_ps) in [(1, BYTE_PS), (10_000_000_000, 800), (BYTE_PS, 1)] {
            let mut whole = Serializer::new(Rate::from_bps(bps));
            assert_eq!((whole.rate(), whole.next(3)), (Rate::from_bps(bps), Span::from_ps(3 * byte_ps)));
            assert_eq!(whole.time_of(5), Span::from_ps(5 * byte_ps));
        }
        let mut third = Serializer::new(Rate::from_bps(3_000_000_000_000));
        assert_eq!(third.rate(), Rate::from_bps(3_000_000_000_000));
        assert_eq!([(); 3].map(|()| third.next(1).as_ps()), [2, 3, 3]);
    }

    #[test]
    fn a_full_frame_at_ten_megabits() {
        assert_eq!(Serializer::new(Rate::from_bps(10_000_000)).next(1500), Span::from_us(1200));
    }
}
