//! HyStart++ (RFC 9406): leaves the first slow start when the round-trip time begins to rise.

use super::Ack;
use anabranch_units::Span;

/// Smallest rise that counts (RFC 9406 section 4.3, MIN_RTT_THRESH).
const MIN_RTT_THRESH: Span = Span::from_ms(4);
/// Rise that always counts (MAX_RTT_THRESH).
const MAX_RTT_THRESH: Span = Span::from_ms(16);
/// Between the two, a rise by this part of the RTT counts (MIN_RTT_DIVISOR).
const MIN_RTT_DIVISOR: u64 = 8;
/// RTT samples that a round needs before it is judged (N_RTT_SAMPLE).
const N_RTT_SAMPLE: u32 = 8;
/// Conservative slow start grows this many times more slowly (CSS_GROWTH_DIVISOR).
const CSS_GROWTH_DIVISOR: u64 = 4;
/// Rounds of conservative slow start after which congestion avoidance begins (CSS_ROUNDS).
const CSS_ROUNDS: u32 = 5;
/// Segments that one ACK may add (L) where they leave in bursts.
const LIMIT_SEGMENTS: u32 = 8;
/// The end of a round that has none yet.
const UNKNOWN: u64 = u64::MAX;

/// Rounds and delays of the first slow start. A controller calls [`HyStart::on_ack`] for every ACK
/// until it says that slow start is over, and grows by [`HyStart::increase`].
#[derive(Clone, Debug)]
pub struct HyStart {
    /// Most bytes that one ACK may add ("L x SMSS"); no ACK delivers as many as `u32::MAX`.
    limit: u32,
    /// End of the present round; [`UNKNOWN`] before the first ACK.
    window_end: u64,
    last_round_min_rtt: Span,
    current_round_min_rtt: Span,
    rtt_sample_count: u32,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    SlowStart,
    /// "CSS": the RTT has risen, and it is not yet clear whether for good.
    Conservative {
        baseline_min_rtt: Span,
        /// Rounds that ended in this phase; the one it began in counts.
        rounds: u32,
    },
}

impl HyStart {
    /// For segments of `mss` payload bytes. RFC 9406 section 4.3: L is 8 where they leave in bursts, and has no end
    /// where they are paced.
    #[must_use]
    pub fn new(mss: u32, paced: bool) -> Self {
        Self {
            limit: if paced { u32::MAX } else { mss.max(1).saturating_mul(LIMIT_SEGMENTS) },
            window_end: UNKNOWN,
            last_round_min_rtt: Span::MAX,
            current_round_min_rtt: Span::MAX,
            rtt_sample_count: 0,
            phase: Phase::SlowStart,
        }
    }

    /// Whether it is in conservative slow start.
    #[must_use]
    pub(crate) const fn is_conservative(&self) -> bool {
        matches!(self.phase, Phase::Conservative { .. })
    }

    /// Bytes to add to the window for `delivered` bytes (RFC 9406 section 4.2).
    #[inline]
    #[must_use]
    pub fn increase(&self, delivered: u64) -> u64 {
        let counted = delivered.min(u64::from(self.limit));
        if self.is_conservative() { counted / CSS_GROWTH_DIVISOR } else { counted }
    }

    /// Takes note of an ACK; true when slow start is over and ssthresh is to become cwnd.
    pub fn on_ack(&mut self, ack: &Ack) -> bool {
        if let Some(rtt) = ack.rtt {
            self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
            self.rtt_sample_count += 1;
            if self.rtt_sample_count >= N_RTT_SAMPLE {
                self.judge();
            }
        }
        match self.window_end {
            // The first window was sent before any ACK, so the first round ends where it does.
            UNKNOWN => self.window_end = ack.snd_nxt,
            end if ack.snd_una >= end => return self.end_round(ack.snd_nxt),
            _ => {}
        }
        false
    }

    /// Compares this round's delay with the last one's, or with the one that made it cautious.
    fn judge(&mut self) {
        match self.phase {
            Phase::SlowStart if self.last_round_min_rtt < Span::MAX => {
                let threshold =
                    (self.last_round_min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.current_round_min_rtt.saturating_sub(self.last_round_min_rtt) >= threshold {
                    self.phase =
                        Phase::Conservative { baseline_min_rtt: self.current_round_min_rtt, rounds: 0 };
                }
            }
            // The rise was jitter.
            Phase::Conservative { baseline_min_rtt, .. } if self.current_round_min_rtt < baseline_min_rtt => {
                self.phase = Phase::SlowStart;
            }
            Phase::SlowStart | Phase::Conservative { .. } => {}
        }
    }

    fn end_round(&mut self, snd_nxt: u64) -> bool {
        self.window_end = snd_nxt;
        self.last_round_min_rtt = self.current_round_min_rtt;
        self.current_round_min_rtt = Span::MAX;
        self.rtt_sample_count = 0;
        let Phase::Conservative { rounds, .. } = &mut self.phase else { return false };
        *rounds += 1;
        *rounds >= CSS_ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{MSS, SEGMENT, plain_ack};
    use anabranch_units::Instant;

    /// One round of ACKs for one segment each; true if slow start ended.
    fn round(hystart: &mut HyStart, start: u64, segments: u64, rtt: Span) -> bool {
        (1..=segments).any(|n| {
            // The sender has sent the next round by the time the last ACK of this one comes.
            let sent = if n == segments { 2 * segments } else { segments };
            hystart.on_ack(&Ack {
                rtt: Some(rtt),
                snd_una: (start + n) * SEGMENT,
                snd_nxt: (start + sent) * SEGMENT,
                ..plain_ack(Instant::ZERO)
            })
        })
    }

    const fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    /// RFC 9406 section 4.2: the threshold is an eighth of the RTT, at least 4 ms and at most 16 ms.
    #[test]
    fn a_rise_by_an_eighth_within_4_and_16_ms_makes_it_conservative() {
        let cases = [
            (us(100_000), us(112_500), true),
            (us(100_000), us(112_499), false),
            (us(20_000), us(24_000), true),
            (us(20_000), us(23_999), false),
            (us(400_000), us(416_000), true),
            (us(400_000), us(415_999), false),
        ];
        for (base, risen, conservative) in cases {
            let mut hystart = HyStart::new(MSS, false);
            assert!(!round(&mut hystart, 0, 10, base));
            assert!(!round(&mut hystart, 10, 10, risen));
            assert_eq!(hystart.is_conservative(), conservative, "{base} to {risen}");
        }
    }

    #[test]
    fn fewer_than_eight_samples_say_nothing() {
        for (samples, conservative) in [(7, false), (8, true)] {
            let mut hystart = HyStart::new(MSS, false);
            let _ = round(&mut hystart, 0, samples, us(100_000));
            let _ = round(&mut hystart, samples, samples, us(200_000));
            assert_eq!(hystart.is_conservative(), conservative, "{samples} samples");
        }
    }

    /// RFC 9406 section 4.2: the round in which the caution began counts as the first of five.
    #[test]
    fn slow_start_ends_after_five_conservative_rounds() {
        let mut hystart = HyStart::new(MSS, false);
        let rtts = [100, 120, 120, 120, 120, 120].map(|ms| us(ms * 1000));
        let ended: Vec<bool> = (0..).zip(rtts).map(|(i, rtt)| round(&mut hystart, i * 10, 10, rtt)).collect();
        assert_eq!(ended, [false, false, false, false, false, true]);
    }

    #[test]
    fn a_delay_that_falls_again_was_jitter() {
        let mut hystart = HyStart::new(MSS, false);
        let _ = round(&mut hystart, 0, 10, us(100_000));
        let _ = round(&mut hystart, 10, 10, us(120_000));
        assert!(hystart.is_conservative());
        assert!(!round(&mut hystart, 20, 10, us(119_000)));
        assert!(!hystart.is_conservative());
    }

    /// RFC 9406 section 4.3: L is 8, and without end with pacing; CSS grows a quarter as fast.
    #[test]
    fn growth_per_ack_is_bounded() {
        let mut hystart = HyStart::new(MSS, false);
        assert_eq!(hystart.increase(20 * SEGMENT), 8 * SEGMENT);
        assert_eq!(HyStart::new(MSS, true).increase(20 * SEGMENT), 20 * SEGMENT);
        let _ = round(&mut hystart, 0, 10, us(100_000));
        let _ = round(&mut hystart, 10, 10, us(120_000));
        assert_eq!(hystart.increase(20 * SEGMENT), 2 * SEGMENT);
    }
}
