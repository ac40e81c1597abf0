use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

const PER_SECOND: u64 = 1_000_000_000_000;

/// A length of time in picoseconds; at most 213 days.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

/// A point of simulated time: picoseconds since the start of the run.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(u64);

/// An instant that may not be there, in the room of one that is: [`Instant::MAX`], which never comes, stands for none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MaybeInstant(Instant);

impl MaybeInstant {
    /// None.
    pub const NONE: Self = Self(Instant::MAX);

    /// The instant, if there is one.
    #[inline]
    #[must_use]
    pub fn get(self) -> Option<Instant> {
        (self.0 != Instant::MAX).then_some(self.0)
    }

    /// Whether there is one.
    #[inline]
    #[must_use]
    pub fn is_some(self) -> bool {
        self.0 != Instant::MAX
    }

    /// Whether there is one that is not later than `now`.
    #[inline]
    #[must_use]
    pub fn has_come(self, now: Instant) -> bool {
        self.0 <= now
    }
}

impl Default for MaybeInstant {
    fn default() -> Self {
        Self::NONE
    }
}

impl From<Instant> for MaybeInstant {
    #[inline]
    fn from(at: Instant) -> Self {
        Self(at)
    }
}

impl From<Option<Instant>> for MaybeInstant {
    #[inline]
    fn from(at: Option<Instant>) -> Self {
        at.map_or(Self::NONE, Self)
    }
}

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);
    /// The longest that a user may write: 30 days, so that no sum of a few of them overflows.
    pub const LONGEST_INPUT: Self = Self(30 * 86_400 * PER_SECOND);

    /// A span of whole picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// A span of whole microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s * PER_SECOND)
    }

    /// The span nearest to `seconds`; negative and NaN give zero, too large gives [`Span::MAX`].
    #[must_use]
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * PER_SECOND as f64).round() as u64)
    }

    /// Whole picoseconds.
    #[inline]
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest double.
    #[inline]
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PER_SECOND as f64
    }

    /// `self - other`, or nothing if `other` is longer.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self + other`, at most [`Span::MAX`].
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self x factor`, or [`Span::MAX`] where that does not fit.
    #[inline]
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// `self x factor`, rounded to the nearest picosecond; negative and NaN factors give zero.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }
}

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// After every other instant; used as "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    #[inline]
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start, rounded to the nearest double.
    #[inline]
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PER_SECOND as f64
    }

    /// Time since `earlier`. Panics if `earlier` is later: swapped operands are a bug.
    #[inline]
    #[must_use]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.checked_sub(earlier.0).expect("the earlier instant is later"))
    }

    /// Time since `earlier`, or nothing if `earlier` is later.
    #[inline]
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, or [`Instant::MAX`] where that does not fit.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Add<Span> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0.checked_add(span.0).expect("simulated time overflows"))
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.checked_add(other.0).expect("span overflows"))
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("span below zero"))
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0.checked_mul(factor).expect("span overflows"))
    }
}

/// Rounds down.
impl Div<u64> for Span {
    type Output = Self;
    #[inline]
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_that_is_not_there_comes_never_and_takes_no_room() {
        let (at, none) = (Instant::from_ps(5), MaybeInstant::NONE);
        let there = MaybeInstant::from(at);
        assert_eq!((there.get(), none.get(), MaybeInstant::from(None)), (Some(at), None, none));
        assert_eq!((there.is_some(), none.is_some()), (true, false));
        let come =
            |time: u64| (there.has_come(Instant::from_ps(time)), none.has_come(Instant::from_ps(time)));
        assert_eq!([4, 5, u64::MAX - 1].map(come), [(false, false), (true, false), (true, false)]);
        assert_eq!(there.min(none), there, "the next of two");
        assert_eq!(size_of::<MaybeInstant>(), size_of::<Instant>());
    }
}
