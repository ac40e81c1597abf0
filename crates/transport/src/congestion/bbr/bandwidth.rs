//! Delivery rate samples, their maximum over ten rounds, and the rounds themselves.

use crate::congestion::Ack;
use anabranch_units::Span;

/// Rounds over which the maximum is taken: a gain cycle and two more (draft section 4.1.1,
/// "BtlBwFilterLen").
const FILTER_ROUNDS: u64 = 10;
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

    /// Bits per second.
    pub fn as_bps(self) -> f64 {
        self.0 * (8.0 * PS_PER_SECOND)
    }
}

/// Greatest of the samples of the last [`FILTER_ROUNDS`] rounds: a maximum per round, so exact.
/// Old maxima go only when a new sample comes, so that an idle connection keeps its estimate.
#[derive(Clone, Debug, Default)]
struct MaxFilter {
    maxima: [Bandwidth; FILTER_ROUNDS as usize],
    /// Round of the newest sample.
    round: u64,
    max: Bandwidth,
}

impl MaxFilter {
    fn insert(&mut self, round: u64, sample: Bandwidth) {
        let passed = round.saturating_sub(self.round).min(FILTER_ROUNDS);
        if passed > 0 {
            for gone in 0..passed {
                self.maxima[((round - gone) % FILTER_ROUNDS) as usize] = Bandwidth::default();
            }
            self.round = round;
            self.max = self.maxima.iter().fold(Bandwidth::default(), |max, &b| if b > max { b } else { max });
        }
        let slot = &mut self.maxima[(self.round % FILTER_ROUNDS) as usize];
        if sample > *slot {
            *slot = sample;
        }
        if sample > self.max {
            self.max = sample;
        }
    }
}

/// "BBR.BtlBw" and the count of round trips (draft section 4.1.1).
#[derive(Clone, Debug, Default)]
pub struct BandwidthModel {
    filter: MaxFilter,
    round_count: u64,
    /// The connection's count of delivered bytes.
    pub delivered: u64,
    /// A sample whose segment left when this much was delivered ends the round.
    next_round_delivered: u64,
    /// The present ACK begins a round.
    pub round_start: bool,
}

impl BandwidthModel {
    /// The estimate of the bottleneck's bandwidth.
    pub fn max(&self) -> Bandwidth {
        self.filter.max
    }

    /// Takes in the sample of an ACK (draft section 4.1.1.5, "BBRUpdateBtlBw"). `low` marks samples which our
    /// own restraint made small; they count as limited by the application.
    pub fn on_ack(&mut self, ack: &Ack, low: bool) {
        self.round_start = false;
        let Some(rate) = ack.rate else {
            self.delivered = self.delivered.saturating_add(ack.delivered);
            return;
        };
        self.delivered = rate.total_delivered;
        let Some(sample) = Bandwidth::of(rate.delivered, rate.interval) else { return };
        // Draft section 4.1.1.3, "BBRUpdateRound".
        if rate.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = rate.total_delivered;
            self.round_count += 1;
            self.round_start = true;
        }
        // A sample that the application kept low says nothing about the path, unless it is the highest.
        let unrestrained = !(rate.app_limited || low);
        if rate.delivered > 0 && (unrestrained || sample >= self.max()) {
            self.filter.insert(self.round_count, sample);
        }
    }

    /// A round begins with what is delivered now.
    pub(crate) fn restart_round(&mut self) {
        self.next_round_delivered = self.delivered;
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
    fn a_maximum_lives_for_ten_rounds() {
        let mut filter = MaxFilter::default();
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
        let mut filter = MaxFilter::default();
        filter.insert(1, per_second(900));
        assert_eq!(filter.max, per_second(900));
        filter.insert(500, per_second(7));
        assert_eq!(filter.max, per_second(7));
    }
}
