//! Bandwidths, and maxima over a window.

use anabranch_units::Span;

const PS_PER_SECOND: f64 = 1e12;

/// A rate in bytes per picosecond, never negative or NaN. A double, because a sample is one quotient and
/// a bandwidth-delay product one multiplication.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd, Debug)]
pub struct Bandwidth(f64);

impl Bandwidth {
    /// `bytes` over `span`; `None` over no time.
    pub fn of(bytes: u64, span: Span) -> Option<Self> {
        (span > Span::ZERO).then(|| Self(bytes as f64 / span.as_ps() as f64))
    }

    /// This bandwidth times `gain`.
    pub fn scaled(self, gain: f64) -> Self {
        Self(self.0 * gain)
    }

    /// Bytes it delivers in `span`.
    pub fn bytes_in(self, span: Span) -> f64 {
        self.0 * span.as_ps() as f64
    }

    /// The mean of two.
    pub fn mean(self, other: Self) -> Self {
        Self(f64::midpoint(self.0, other.0))
    }

    /// Bits per second.
    pub fn as_bps(self) -> f64 {
        self.0 * (8.0 * PS_PER_SECOND)
    }
}

/// Greatest of the values of the last `SLOTS` slots of a virtual time (rounds, cycles): a maximum per slot, so exact.
/// Old maxima go only when a new value comes, so that an idle connection keeps its estimate.
#[derive(Clone, Debug)]
pub struct MaxFilter<T, const SLOTS: usize> {
    maxima: [T; SLOTS],
    /// Slot of the newest value.
    newest: u64,
    max: T,
}

impl<T: Copy + Default, const SLOTS: usize> Default for MaxFilter<T, SLOTS> {
    fn default() -> Self {
        Self { maxima: [T::default(); SLOTS], newest: 0, max: T::default() }
    }
}

impl<T: Copy + Default + PartialOrd, const SLOTS: usize> MaxFilter<T, SLOTS> {
    pub(crate) const fn max(&self) -> T {
        self.max
    }

    pub(crate) fn insert(&mut self, slot: u64, value: T) {
        let slots = SLOTS as u64;
        let passed = slot.saturating_sub(self.newest).min(slots);
        if passed > 0 {
            for gone in 0..passed {
                self.maxima[((slot - gone) % slots) as usize] = T::default();
            }
            self.newest = slot;
            self.max = self.maxima.iter().fold(T::default(), |max, &b| if b > max { b } else { max });
        }
        let kept = &mut self.maxima[(self.newest % slots) as usize];
        if value > *kept {
            *kept = value;
        }
        if value > self.max {
            self.max = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_second(bytes: u64) -> Bandwidth {
        Bandwidth::of(bytes, Span::from_secs(1)).expect("a second is some time")
    }

    #[test]
    fn no_time_gives_no_bandwidth() {
        assert_eq!(Bandwidth::of(1000, Span::ZERO), None);
        assert_eq!(Bandwidth::of(1000, Span::from_ps(1)).map(|b| b.bytes_in(Span::from_ps(3))), Some(3000.0));
    }

    #[test]
    fn a_maximum_lives_for_as_many_slots() {
        let mut filter = MaxFilter::<Bandwidth, 10>::default();
        filter.insert(1, per_second(900));
        for round in 2..=10 {
            filter.insert(round, per_second(100 + round));
            assert_eq!(filter.max, per_second(900), "round {round}");
        }
        filter.insert(11, per_second(50));
        assert_eq!(filter.max, per_second(110));
    }

    #[test]
    fn a_maximum_outlives_a_silence_until_a_new_sample_comes() {
        let mut filter = MaxFilter::<Bandwidth, 10>::default();
        filter.insert(1, per_second(900));
        assert_eq!(filter.max, per_second(900));
        filter.insert(500, per_second(7));
        assert_eq!(filter.max, per_second(7));
    }
}
