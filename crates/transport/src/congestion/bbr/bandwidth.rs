//! "BBR.BtlBw": the maximum of the delivery rate samples over ten rounds.

use crate::congestion::Ack;
use crate::congestion::path_model::{Bandwidth, RoundTrips};

/// Round trips over which the maximum is taken: a gain cycle and two more (draft section 4.1.1,
/// "BtlBwFilterLen").
const FILTER_ROUNDS: u64 = 10;

/// A maximum over a window of rounds by Nichols's estimator, which Linux has: the best sample, and the best of those
/// behind it to take its place. A sample lives for the rounds of the window after its own.
#[derive(Clone, Copy, Debug, Default)]
struct WindowedMax {
    /// (round, sample), the best first; later ones are not before it.
    best: [(u64, Bandwidth); 3],
}

impl WindowedMax {
    const fn max(&self) -> Bandwidth {
        self.best[0].1
    }

    fn insert(&mut self, round: u64, sample: Bandwidth) {
        let new = (round, sample);
        if sample >= self.best[0].1 || round - self.best[2].0 > FILTER_ROUNDS {
            self.best = [new; 3];
            return;
        }
        if sample >= self.best[1].1 {
            (self.best[1], self.best[2]) = (new, new);
        } else if sample >= self.best[2].1 {
            self.best[2] = new;
        }
        self.move_on(new);
    }

    /// The best goes when it is too old. A second and a third that are as old as the one before them are replaced by
    /// newer ones after a quarter and a half of the window.
    fn move_on(&mut self, new: (u64, Bandwidth)) {
        let age = new.0 - self.best[0].0;
        if age > FILTER_ROUNDS {
            self.best = [self.best[1], self.best[2], new];
            if new.0 - self.best[0].0 > FILTER_ROUNDS {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > FILTER_ROUNDS / 4 {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].0 == self.best[1].0 && age > FILTER_ROUNDS / 2 {
            self.best[2] = new;
        }
    }
}

/// "BBR.BtlBw" and the count of round trips (draft section 4.1.1).
#[derive(Clone, Debug, Default)]
pub struct BandwidthModel {
    filter: WindowedMax,
    pub rounds: RoundTrips,
}

impl BandwidthModel {
    /// The estimate of the bottleneck's bandwidth.
    pub fn max(&self) -> Bandwidth {
        self.filter.max()
    }

    /// Takes in the sample of an ACK (draft section 4.1.1.5, "BBRUpdateBtlBw"). `low` marks samples which our
    /// own restraint made small; they count as limited by the application.
    pub fn on_ack(&mut self, ack: &Ack, low: bool) {
        let Some(sample) = self.rounds.on_ack(ack) else { return };
        let Some(rate) = ack.rate else { return };
        // A sample that the application kept low says nothing about the path, unless it is the highest.
        let unrestrained = !(rate.app_limited || low);
        if rate.delivered > 0 && (unrestrained || sample >= self.max()) {
            self.filter.insert(self.rounds.count, sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    fn per_second(bytes: u64) -> Bandwidth {
        Bandwidth::of(bytes, Span::from_secs(1)).expect("a second is some time")
    }

    /// Samples of rounds, and the maximum after the last of them.
    fn max_of(samples: &[(u64, u64)]) -> Bandwidth {
        let mut filter = WindowedMax::default();
        for &(round, bytes) in samples {
            filter.insert(round, per_second(bytes));
        }
        filter.max()
    }

    #[test]
    fn a_maximum_lives_for_ten_rounds_after_its_own() {
        let falling = |last| (1..=last).map(|round| (round, 1000 - round)).collect::<Vec<_>>();
        assert_eq!(max_of(&falling(11)), per_second(999));
        // Of the rounds behind it, what was there after a quarter of the window takes its place.
        assert_eq!(max_of(&falling(12)), per_second(996));
    }

    #[test]
    fn a_sample_as_high_is_the_newer_one() {
        assert_eq!(max_of(&[(1, 900), (8, 900), (18, 10)]), per_second(900));
        assert_eq!(max_of(&[(1, 900), (8, 900), (19, 10)]), per_second(10));
    }

    #[test]
    fn nothing_is_left_of_a_window_that_has_passed() {
        assert_eq!(max_of(&[(1, 900), (2, 800), (30, 7)]), per_second(7));
    }

    #[test]
    fn the_third_is_younger_than_the_second() {
        // The second is of round 4, the third of round 7: when the second is too old as well, the third is left.
        let samples = [(1, 900), (4, 800), (7, 700), (17, 10)];
        assert_eq!(max_of(&samples), per_second(700));
        // That of round 6 comes when no more than half of the window has passed.
        let samples = [(1, 900), (4, 800), (6, 750), (7, 700), (17, 10)];
        assert_eq!(max_of(&samples), per_second(700));
    }

    #[test]
    fn a_second_of_ten_rounds_ago_takes_the_place_of_the_first() {
        assert_eq!(max_of(&[(1, 900), (4, 800), (7, 700), (14, 10)]), per_second(800));
        assert_eq!(max_of(&[(1, 900), (4, 800), (7, 700), (15, 10)]), per_second(700));
    }
}
