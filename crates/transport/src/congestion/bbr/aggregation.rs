//! How far ACKs run ahead of the bandwidth, so that the window bridges the silence after a burst of them
//! (Linux since 4.20, draft-cardwell-iccrg-bbr-congestion-control-01 "extra_acked").

use crate::congestion::Ack;
use crate::congestion::path_model::{AckEpoch, Bandwidth};
use anabranch_units::{Instant, Span};

/// Each of the two maxima covers this many rounds.
const WINDOW_ROUNDS: u32 = 5;
/// The allowance is at most what the bandwidth delivers in this time.
const MAX_SPAN: Span = Span::from_ms(100);
/// An epoch of this many segments is too old to say anything.
const EPOCH_SEGMENTS: u64 = 1 << 20;

/// Greatest excess of delivered bytes over `bandwidth x time`, over the last five to ten rounds.
#[derive(Clone, Debug, Default)]
pub struct AckAggregation {
    epoch: AckEpoch,
    /// Greatest excess, in bytes, of the present window and of the one before.
    excess: [u64; 2],
    current: usize,
    rounds: u32,
}

impl AckAggregation {
    /// Nothing was expected up to now.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.epoch.restart(now);
    }

    /// `cwnd` and `mss` in bytes.
    pub fn on_ack(&mut self, ack: &Ack, bandwidth: Bandwidth, round: bool, (cwnd, mss): (u64, u64)) {
        if ack.delivered == 0 {
            return;
        }
        if round {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.excess[self.current] = 0;
            }
        }
        if self.epoch.acked() >= EPOCH_SEGMENTS * mss {
            self.restart(ack.now);
        }
        let excess = self.epoch.on_ack(ack.now, ack.delivered, bandwidth).min(cwnd);
        let max = &mut self.excess[self.current];
        *max = (*max).max(excess);
    }

    /// Bytes to add to the window.
    pub fn allowance(&self, bandwidth: Bandwidth) -> u64 {
        let excess = self.excess[0].max(self.excess[1]);
        excess.min(bandwidth.bytes_in(MAX_SPAN) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::plain_ack;

    /// Linux's bbr_update_ack_aggregation(): an epoch ends when ACKs fall behind the bandwidth, or after 2^20 segments.
    /// Of 1000 bytes a millisecond 1100 are acknowledged: after 9000 such ACKs, 9900 segments, the excess is a tenth of
    /// what was expected.
    #[test]
    fn an_epoch_lasts_for_a_million_segments() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let bandwidth = Bandwidth::of(1000, Span::from_ms(1)).expect("a millisecond is some time");
        let mut aggregation = AckAggregation::default();
        for ms in 1..=9000 {
            aggregation.on_ack(
                &Ack { delivered: 1100, ..plain_ack(at(ms)) },
                bandwidth,
                false,
                (u64::MAX, 1000),
            );
        }
        // The first ACK begins the epoch, so that nothing was expected by then.
        assert_eq!(aggregation.excess[0], 9000 * 1100 - 8999 * 1000);
    }

    /// Behind a pause nothing was expected: 5000 bytes at once are as far ahead as the 5000 before it, and not 8000 with
    /// these, two milliseconds later.
    #[test]
    fn a_pause_begins_an_epoch() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let bandwidth = Bandwidth::of(1000, Span::from_ms(1)).expect("a millisecond is some time");
        let mut aggregation = AckAggregation::default();
        for ms in [10, 12] {
            aggregation.restart(at(ms));
            let ack = Ack { delivered: 5000, ..plain_ack(at(ms)) };
            aggregation.on_ack(&ack, bandwidth, false, (u64::MAX, 1000));
        }
        assert_eq!(aggregation.allowance(bandwidth), 5000);
    }
}
