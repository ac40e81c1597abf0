//! Long-term bandwidth: what a policer lets through, where it drops a fifth of the traffic or more (Linux since 4.9; not
//! in the draft). Reordered packets that are taken for lost count as well.

use super::{Bbr, State};
use crate::congestion::path_model::Bandwidth;
use crate::congestion::{Ack, LossEpisode, RateSample};
use anabranch_units::{Instant, Span};

/// An interval has this many rounds at least, and four times as many at most.
const LEAST_ROUNDS: u32 = 4;
/// Of what is delivered in an interval, this share must be lost.
const LOSS_THRESHOLD: f64 = 50.0 / 256.0;
/// Two intervals have the same bandwidth where it differs by this share, or by [`SAME_BPS`].
const SAME_SHARE: f64 = 1.0 / 8.0;
const SAME_BPS: f64 = 4000.0;
/// For how many rounds of ProbeBW their bandwidth holds.
const HOLD_ROUNDS: u32 = 48;

/// What the connection has delivered and lost, in bytes, up to a time.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    at: Instant,
    delivered: u64,
    lost: u64,
}

/// Measures from one loss to another: that is when a policer's tokens are used up.
#[derive(Clone, Debug, Default)]
pub struct LongTermBandwidth {
    /// The loss that began the present interval.
    begin: Option<Counters>,
    /// Rounds of the interval, or since the bandwidth holds.
    rounds: u32,
    /// Of the interval before; of both where it holds.
    bandwidth: Option<Bandwidth>,
    holds: bool,
}

impl LongTermBandwidth {
    /// An ACK or a timeout, which may have `lost` something and may begin a `round`.
    fn sample(&mut self, now: Counters, lost: bool, round: bool) {
        let Some(begin) = self.begin.or(lost.then_some(now)) else { return };
        self.begin = Some(begin);
        self.rounds += u32::from(round);
        if self.rounds > 4 * LEAST_ROUNDS {
            *self = Self::default();
        } else if self.rounds >= LEAST_ROUNDS && lost {
            let delivered = now.delivered.saturating_sub(begin.delivered);
            let is_policed = delivered > 0
                && now.lost.saturating_sub(begin.lost) as f64 >= LOSS_THRESHOLD * delivered as f64;
            let span = now.at.saturating_since(begin.at);
            if is_policed && span >= Span::from_ms(1) {
                self.end_interval(Bandwidth::of(delivered, span));
                (self.begin, self.rounds) = (Some(now), 0);
            }
        }
    }

    fn end_interval(&mut self, bandwidth: Option<Bandwidth>) {
        let both = self.bandwidth.zip(bandwidth).filter(|(before, now)| {
            let difference = (now.as_bps() - before.as_bps()).abs();
            difference <= SAME_SHARE * before.as_bps() || difference <= SAME_BPS
        });
        self.holds = both.is_some();
        self.bandwidth = both.map_or(bandwidth, |(before, now)| Some(before.mean(now)));
    }

    /// Whether the bandwidth has held for long enough; it is forgotten then.
    fn expires(&mut self, round: bool) -> bool {
        self.rounds += u32::from(round);
        let expires = self.rounds >= HOLD_ROUNDS;
        if expires {
            *self = Self::default();
        }
        expires
    }
}

impl Bbr {
    /// The bandwidth to send at: that of a policer, or the greatest one.
    pub(super) fn bandwidth(&self) -> Bandwidth {
        self.policed().unwrap_or_else(|| self.model.max())
    }

    /// What a policer lets through, if it is known.
    pub(super) fn policed(&self) -> Option<Bandwidth> {
        self.long_term.as_ref().filter(|long_term| long_term.holds).and_then(|long_term| long_term.bandwidth)
    }

    /// An ACK with a sample of the delivery rate. A sender that runs out of data does not show what a policer lets
    /// through.
    pub(super) fn update_long_term(&mut self, ack: &Ack, rate: &RateSample) {
        let Some(long_term) = &mut self.long_term else { return };
        let round = self.model.rounds.start;
        if long_term.holds {
            if long_term.expires(round && self.state == State::ProbeBw) {
                self.enter_probe_bw(ack.now);
            }
        } else if rate.app_limited {
            **long_term = LongTermBandwidth::default();
        } else {
            let now = Counters { at: ack.now, delivered: rate.total_delivered, lost: rate.total_lost };
            long_term.sample(now, ack.lost > 0, round);
        }
    }

    /// A timeout is a loss at the end of a round.
    pub(super) fn time_out_long_term(&mut self, episode: &LossEpisode) {
        let Some(long_term) = &mut self.long_term else { return };
        if long_term.holds {
            if long_term.expires(self.state == State::ProbeBw) {
                self.enter_probe_bw(episode.now);
            }
        } else {
            let (at, delivered) = (self.cycle.delivered_at(), self.model.rounds.delivered);
            long_term.sample(Counters { at, delivered, lost: episode.total_lost }, true, true);
        }
    }

    /// The losses were spurious.
    pub(super) fn forget_long_term(&mut self) {
        if let Some(long_term) = &mut self.long_term {
            **long_term = LongTermBandwidth::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::CongestionControl;
    use crate::congestion::testing::{SEGMENT, episode, plain_ack};

    /// Rounds of 10 ms, each a segment of 1000 bytes lost and `per_round` delivered.
    fn rounds(long_term: &mut LongTermBandwidth, from: &mut Counters, count: u32, per_round: u64) {
        for _ in 0..count {
            from.at = from.at + Span::from_ms(10);
            from.delivered += per_round;
            from.lost += 1000;
            long_term.sample(*from, true, true);
        }
    }

    #[test]
    fn two_intervals_of_one_bandwidth_hold() {
        // An eighth more or less is the same, and what holds is the mean.
        for (first, second, holds) in
            [(4000, 4500, true), (4000, 4501, false), (4000, 3500, true), (4000, 3499, false)]
        {
            let (mut long_term, mut now) = (LongTermBandwidth::default(), Counters::default());
            rounds(&mut long_term, &mut now, 4, first);
            assert!(!long_term.holds && long_term.bandwidth.is_some());
            rounds(&mut long_term, &mut now, 4, second);
            assert_eq!(long_term.holds, holds, "{first} {second}");
            let expected = if holds { f64::midpoint(first as f64, second as f64) } else { second as f64 };
            let bytes = long_term.bandwidth.unwrap().bytes_in(Span::from_ms(10));
            assert!((bytes - expected).abs() < 1e-6, "{bytes}");
        }
    }

    /// 50 of 256 bytes: of 5120 delivered 1000 are lost, of 5121 less.
    #[test]
    fn an_interval_needs_losses_of_a_fifth() {
        for (per_round, ends) in [(5120, true), (5121, false)] {
            let (mut long_term, mut now) = (LongTermBandwidth::default(), Counters::default());
            rounds(&mut long_term, &mut now, 4, per_round);
            assert_eq!(long_term.bandwidth.is_some(), ends, "{per_round}");
        }
    }

    #[test]
    fn an_interval_ends_with_a_loss_in_its_fourth_to_sixteenth_round() {
        for (quiet, ends) in [(1, false), (2, true), (14, true), (15, false)] {
            let (mut long_term, mut now) = (LongTermBandwidth::default(), Counters::default());
            rounds(&mut long_term, &mut now, 1, 1000);
            for _ in 0..quiet {
                now.at = now.at + Span::from_ms(10);
                long_term.sample(now, false, true);
            }
            rounds(&mut long_term, &mut now, 1, 1000);
            assert_eq!(long_term.bandwidth.is_some(), ends, "{quiet}");
        }
    }

    /// Ten segments are delivered and four are lost in each round of 40 ms.
    fn policed(app_limited: bool, rounds: u64) -> Bbr {
        let mut bbr = Bbr::new(SEGMENT as u32, 10 * SEGMENT, 1);
        bbr.long_term = Some(Box::default());
        bbr.on_established(Instant::ZERO, Some(Span::from_ms(40)));
        for round in 1..=rounds {
            let rate = RateSample {
                delivered: 10 * SEGMENT,
                interval: Span::from_ms(20),
                prior_delivered: 10 * SEGMENT * (round - 1),
                total_delivered: 10 * SEGMENT * round,
                total_lost: 4 * SEGMENT * round,
                app_limited,
                tx_in_flight: 0,
                lost: 0,
            };
            let now = Instant::ZERO + Span::from_ms(40 * round);
            bbr.on_ack(&Ack { rate: Some(rate), lost: 4 * SEGMENT, ..plain_ack(now) });
        }
        bbr
    }

    fn segments_a_round(bbr: &Bbr) -> f64 {
        bbr.bandwidth().bytes_in(Span::from_ms(40)) / SEGMENT as f64
    }

    /// Samples are of twice the rate that is let through. The first interval has the rounds one to four, the
    /// second five to eight.
    #[test]
    fn a_policed_sender_keeps_to_what_is_let_through() {
        assert!((segments_a_round(&policed(false, 7)) - 20.0).abs() < 1e-9);
        let mut bbr = policed(false, 8);
        assert!((segments_a_round(&bbr) - 10.0).abs() < 1e-9);
        bbr.state = State::ProbeBw;
        assert!((bbr.pacing_gain() - 1.0).abs() < 1e-9);
        bbr.on_undo(Instant::ZERO);
        assert!((segments_a_round(&bbr) - 20.0).abs() < 1e-9, "the losses were spurious");
        assert!((segments_a_round(&policed(true, 8)) - 20.0).abs() < 1e-9, "nothing to send");
        let plain = Bbr::new(SEGMENT as u32, 10 * SEGMENT, 1);
        assert!(plain.long_term.is_none(), "the draft has none");
    }

    #[test]
    fn what_holds_is_forgotten_after_48_rounds() {
        let mut long_term = LongTermBandwidth { holds: true, ..LongTermBandwidth::default() };
        assert!((1..48).all(|_| !long_term.expires(true) && !long_term.expires(false)));
        assert!(long_term.expires(true) && !long_term.holds);
    }

    /// The rounds of other states do not count.
    #[test]
    fn timeouts_count_as_rounds_while_it_holds() {
        let mut bbr = policed(false, 8);
        let mut time_out = |state, times| {
            bbr.state = state;
            (0..times).for_each(|_| bbr.on_timeout(&episode(Instant::ZERO, 0), false));
            bbr.policed().is_some()
        };
        assert!(
            time_out(State::ProbeRtt, 50) && time_out(State::ProbeBw, 47) && !time_out(State::ProbeBw, 1)
        );
    }

    /// It begins an interval, and ends one in the place of a round's last loss.
    #[test]
    fn a_timeout_is_a_loss_at_the_end_of_a_round() {
        let mut bbr = policed(false, 3);
        bbr.on_timeout(&LossEpisode { total_lost: 20 * SEGMENT, ..episode(Instant::ZERO, 0) }, true);
        let long_term = bbr.long_term.as_ref().unwrap();
        assert!(long_term.bandwidth.is_some(), "a fourth round");
    }

    /// Rounds count, not ACKs: what holds for 48 rounds outlasts a hundred ACKs within one.
    #[test]
    fn what_holds_outlasts_the_acks_of_a_round() {
        let mut bbr = policed(false, 8);
        bbr.state = State::ProbeBw;
        let rate = RateSample {
            delivered: SEGMENT,
            interval: Span::from_ms(40),
            prior_delivered: 0,
            total_delivered: 90 * SEGMENT,
            total_lost: 32 * SEGMENT,
            app_limited: false,
            tx_in_flight: 0,
            lost: 0,
        };
        let ack = Ack { rate: Some(rate), ..plain_ack(Instant::ZERO + Span::from_ms(330)) };
        (0..100).for_each(|_| bbr.on_ack(&ack));
        assert!(bbr.policed().is_some());
    }
}
