//! FastRTO: losses by a timer for each segment (Chang 2024, chapter 4, equations (4.1) to (4.3)).
//!
//! A segment is lost when FastRTO has passed since its last transmission; how many ACKs repeat
//! themselves, and what is SACKed above it, says nothing. What is SACKed has arrived and is not
//! judged. The thesis has cumulative ACKs only and leaves open what follows from them:
//!
//! - With SACK every segment in flight has its timer, and only what is lost is sent again, where the
//!   thesis resumes "from the packet that last received an ACK".
//! - Without SACK every segment in flight has its timer, too, whether or not it has arrived behind a hole: "packet
//!   transmission is resumed from the packet that last received an ACK", and goes on at the pace of the first one.
//! - The timer takes the place of RFC 6298's as soon as there is an RTT sample: every segment in flight
//!   has one, so that no loss is left for a second timer, and none resets what the first has repaired.
//! - While no valid sample comes, each further expiry doubles FastRTO (RFC 6298 section 5.5, with
//!   Karn's algorithm), beyond `fastrto_max` and up to the largest RFC 6298 timeout. The thesis has no
//!   back-off; a dead path would get the window again twice a second, and a round trip that grows
//!   beyond FastRTO would, without timestamps, never be measured.
//! - A segment waits for the peer's delayed ACK as well as long as nothing sent later is known to have
//!   arrived: that would have made the receiver answer at once (RFC 8985 section 7.2 likewise).
//! - A window grows by what is acknowledged cumulatively, with SACK as without: [`FastRto::growth`].
//! - With SACK such a tail is probed for sooner (RFC 8985 section 7), one FastRTO behind the last ACK: its last segment
//!   goes again without a reduction, which follows if the answer shows losses.

use super::{
    AckFacts, ConfiguredDetection, DeliveredSegment, Handshake, LossDetection, Tail, TransmissionFacts,
    WatchesTransmissions,
};
use crate::log::LossCause;
use crate::tcp::scoreboard::{Judgement, Scoreboard, Sent};
use anabranch_units::declaration::{above, at_least};
use anabranch_units::{Instant, Span};

/// Equations (4.1) to (4.3).
#[derive(Debug)]
struct Estimator {
    parameters: FastRtoParameters,
    srtt: Span,
    rttvar: Span,
    /// RTTmin; `None` before the first sample.
    rtt_min: Option<Span>,
    /// Smallest sample of the round under way.
    round_min: Option<Span>,
    /// Largest sample of the last rounds, which sinks as RTTmin rises; zero before the first.
    rtt_max: Span,
    /// Largest sample of the round under way.
    round_max: Span,
    /// The round ends when this position is acknowledged.
    round_end: u64,
}

impl Estimator {
    fn new(parameters: FastRtoParameters) -> Self {
        Self {
            parameters,
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            rtt_min: None,
            round_min: None,
            rtt_max: Span::ZERO,
            round_max: Span::ZERO,
            round_end: 0,
        }
    }

    #[inline]
    fn on_sample(&mut self, rtt: Span, expected_samples: u64) {
        self.round_min = Some(self.round_min.map_or(rtt, |min| min.min(rtt)));
        self.round_max = self.round_max.max(rtt);
        // A path that is slower than all before it counts at once.
        self.rtt_max = self.rtt_max.max(rtt);
        if self.rtt_min.is_none() {
            // RFC 6298 (2.2)
            self.rtt_min = Some(rtt);
            self.srtt = rtt;
            self.rttvar = rtt / 2;
            return;
        }
        // RFC 6298 (2.3), RTTVAR first. The gains are those of a round trip (RFC 7323 appendix G): the
        // segments of a window come back path by path, and a gain for each would have forgotten the slowest
        // path each time that the fastest has answered.
        let share = 1.0 / expected_samples as f64;
        let blend =
            |old: Span, new: Span, gain: f64| old.scaled(1.0 - gain * share) + new.scaled(gain * share);
        let error = Span::from_ps(self.srtt.as_ps().abs_diff(rtt.as_ps()));
        self.rttvar = blend(self.rttvar, error, self.parameters.rttvar_gain);
        self.srtt = blend(self.srtt, rtt, self.parameters.srtt_gain);
    }

    /// Equation (4.1), once a round: "updating it across the various paths in each round".
    #[inline]
    fn on_ack(&mut self, snd_una: u64, snd_nxt: u64) {
        if snd_una < self.round_end {
            return;
        }
        self.round_end = snd_nxt;
        if let (Some(min), Some(round)) = (self.rtt_min, self.round_min.take()) {
            self.rtt_min = Some(min.scaled(self.parameters.gamma).min(round));
            self.rtt_max = self.rtt_max.scaled(1.0 / self.parameters.gamma).max(self.round_max);
            self.round_max = Span::ZERO;
        }
    }

    /// Equations (4.2) and (4.3); `None` before the first sample.
    #[inline]
    fn fast_rto(&self) -> Option<Span> {
        let FastRtoParameters { gamma, k, k_diversity, fastrto_max, .. } = self.parameters;
        // "K varies with RTT diversity": K x RTTVAR comes up to k_diversity times the way from SRTT to RTTmax.
        let diversity = self.rtt_max.saturating_sub(self.srtt).scaled(k_diversity);
        let deviation = self.srtt.saturating_add(self.rttvar.scaled(k).max(diversity));
        // A timer shorter than the round trip would send everything twice: RTOmax "dynamically adjusted to latency".
        let rto_max = fastrto_max.max(self.rtt_max.scaled(gamma));
        Some(self.rtt_min?.scaled(gamma).max(deviation).min(rto_max))
    }
}

anabranch_units::parameters! {
    /// A timer for each segment (Chang 2024, section 4).
    #[derive(Copy)]
    pub struct FastRtoParameters {
        /// Growth of RTTmin per round, and margin of FastRTO above it (4.1), (4.2); at 1 RTTmin could never rise.
        gamma: f64 = 1.5, above(1.0);
        /// Mean deviations above the smoothed RTT (4.2).
        k: f64 = 4.0, above(0.0);
        /// K follows RTT diversity: `k` deviations, or this many times the way from the smoothed RTT to the largest
        /// RTT of the last rounds, whichever is more. That largest RTT shrinks by gamma a round unless measured
        /// anew. 0: K is `k`. The thesis says that K varies, and not how.
        k_diversity: f64 = 0.0, at_least(0.0);
        /// Weight of a round trip's samples in the smoothed RTT (alpha of RFC 6298).
        srtt_gain: f64 = 0.25, above(0.0).below(1.0);
        /// The same in its mean deviation (beta of RFC 6298).
        rttvar_gain: f64 = 0.25, above(0.0).below(1.0);
        /// RTOmax, the largest FastRTO (4.3), or gamma times the largest RTT of the last rounds where that is more; `max_rto`
        /// bounds it once it backs off.
        fastrto_max: Span = Span::from_ms(500), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Tail loss probes (RFC 8985 section 7) where only a delayed ACK could still explain the silence, with SACK.
        /// The thesis has none.
        tail_loss_probe: bool = true;
    }
}

/// The detector.
#[derive(Debug)]
pub struct FastRto {
    estimator: Estimator,
    /// Longest time that the peer holds an ACK back.
    ack_delay: Span,
    /// Tails are probed.
    probes: bool,
    max_rto: Span,
    /// Oldest transmission that the present ACK acknowledges cumulatively and that was the only one.
    acknowledged: Option<Instant>,
    /// Oldest such transmission that it SACKs.
    sacked: Option<Instant>,
    /// It acknowledges a retransmission, for which all behind it may have waited.
    covers_retransmission: bool,
    /// It answers the first transmission of a segment that was sent again, after this time.
    answers_first: Option<Span>,
    /// When the timer last expired, if no valid sample has come since.
    expired_at: Option<Instant>,
    backoff: u32,
    /// Bytes SACKed behind a hole of which nobody knows yet whether it is a loss.
    behind_hole: u64,
    /// Latest place among all transmissions that is known to have arrived.
    newest: u64,
    /// That of the latest retransmission.
    resent: u64,
    timeout: Option<Instant>,
}

impl FastRto {
    pub(crate) fn new(parameters: FastRtoParameters) -> Self {
        Self {
            estimator: Estimator::new(parameters),
            ack_delay: Span::ZERO,
            probes: false,
            max_rto: Span::MAX,
            acknowledged: None,
            sacked: None,
            covers_retransmission: false,
            answers_first: None,
            expired_at: None,
            backoff: 0,
            behind_hole: 0,
            newest: 0,
            resent: 0,
            timeout: None,
        }
    }

    /// Waiting time of a segment.
    fn patience(&self) -> Option<Span> {
        let fast_rto = self.estimator.fast_rto()?;
        Some(fast_rto.saturating_mul(1 << self.backoff.min(30)).min(self.max_rto.max(fast_rto)))
    }

    /// One sample for each ACK: how long the oldest segment waited of which it is the first to tell.
    /// That is what the timer must outlast, whichever path the segment took. What a cumulative ACK
    /// covers behind a retransmission has waited for it and does not count, unless the timestamp echo
    /// tells which transmission is answered (RFC 7323 section 4).
    #[inline]
    fn sample(&mut self, facts: &AckFacts) -> Option<Span> {
        let acknowledged = self.acknowledged.take().filter(|_| !self.covers_retransmission);
        self.covers_retransmission = false;
        let oldest = match (acknowledged, self.sacked.take()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let measured = oldest.map(|sent_at| facts.now.since(sent_at)).or(facts.echo_rtt);
        measured.max(self.answers_first.take())
    }

    /// Marks every segment whose FastRTO has passed, and sets the timer for the next one.
    fn detect(&mut self, board: &mut Scoreboard, now: Instant) {
        self.timeout = None;
        let Some(patience) = self.patience() else { return };
        let (mut timeout, mut last_sent_at) = (None, Instant::ZERO);
        let lost = board.judge_oldest_first(LossCause::FastRto, |sent| {
            let lost_at = self.lost_at(sent, patience);
            if lost_at <= now {
                last_sent_at = sent.sent_at;
                return Judgement::Lost;
            }
            timeout = Some(lost_at);
            Judgement::Stop
        });
        self.timeout = timeout;
        // Duplicate ACKs told of some of these, which count as arrived no more.
        board.settle_presumed(lost);
        if lost > 0 {
            self.behind_hole = 0;
            self.on_expiry(now, last_sent_at);
        }
    }

    /// Grows with the place among all transmissions.
    #[inline]
    fn lost_at(&self, sent: &Sent, patience: Span) -> Instant {
        let silence = if sent.order > self.newest { self.silence(patience) } else { Span::ZERO };
        sent.sent_at.saturating_add(patience).saturating_add(silence)
    }

    /// How much longer segments wait behind which nothing is known to have arrived: for the peer's delayed ACK. Where
    /// tails are probed they wait for the probe as well, whose answer tells what is lost of all that left before it; once
    /// that or another retransmission is out they wait no longer than for it, and not for the peer's timer, which may be
    /// thousands of round trips.
    #[inline]
    fn silence(&self, patience: Span) -> Span {
        if !self.probes {
            self.ack_delay
        } else if self.resent > self.newest {
            self.ack_delay.min(patience)
        } else {
            self.ack_delay.max(patience)
        }
    }

    /// Losses of one flight expire one after the other: only the expiry of what left behind the last one is another.
    fn on_expiry(&mut self, now: Instant, last_sent_at: Instant) {
        match self.expired_at {
            Some(at) if last_sent_at < at => {}
            Some(_) => {
                self.backoff = (self.backoff + 1).min(30);
                self.expired_at = Some(now);
            }
            None => self.expired_at = Some(now),
        }
    }
}

impl ConfiguredDetection for FastRto {
    type Parameters = FastRtoParameters;

    fn configured(parameters: &FastRtoParameters) -> Self {
        Self::new(*parameters)
    }
}

impl WatchesTransmissions for FastRto {
    /// A segment left. The timer needs to be set only where none runs: a later one expires later.
    fn on_sent(&mut self, facts: &TransmissionFacts) {
        if facts.new_bytes == 0 {
            self.resent = facts.order;
        }
        if self.timeout.is_none() {
            self.timeout = self.patience().map(|patience| facts.now.saturating_add(patience));
        }
    }
}

impl LossDetection for FastRto {
    fn on_established(&mut self, handshake: &Handshake) {
        self.ack_delay = handshake.ack_delay;
        self.probes = self.estimator.parameters.tail_loss_probe && handshake.sack;
        self.max_rto = handshake.max_rto;
        if let Some(rtt) = handshake.rtt {
            self.estimator.on_sample(rtt, 1);
        }
    }

    /// Whether there is a sample, and with it a timer for each segment in flight.
    #[inline]
    fn times_segments(&self) -> bool {
        self.estimator.rtt_min.is_some()
    }

    fn watcher(&mut self) -> Option<&mut dyn WatchesTransmissions> {
        Some(self)
    }

    #[inline]
    fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment, min_rtt: Span) {
        if !segment.answers_earlier(now, min_rtt) {
            self.newest = self.newest.max(segment.order);
        }
        if segment.retransmitted {
            // Karn's algorithm (RFC 6298 section 3).
            self.covers_retransmission |= !segment.by_sack;
            let elapsed = now.since(segment.sent_at);
            if let Some(patience) = self.patience().filter(|_| min_rtt != Span::MAX && elapsed < min_rtt) {
                // Too soon for the retransmission (RFC 8985 section 6.2 step 2 has the same test): FastRTO was
                // too short by this much, which no other ACK would tell without timestamps.
                self.answers_first = self.answers_first.max(Some(patience + elapsed));
            }
            return;
        }
        let oldest = if segment.by_sack { &mut self.sacked } else { &mut self.acknowledged };
        *oldest = Some(oldest.map_or(segment.sent_at, |at| at.min(segment.sent_at)));
    }

    /// Without SACK a repeated ACK says that something behind the first segment has arrived.
    fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
        self.newest = self.newest.max(board.front().map_or(0, |front| front.order));
    }

    #[inline]
    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        if let Some(rtt) = self.sample(facts) {
            self.estimator.on_sample(rtt, facts.expected_samples);
            self.expired_at = None;
            self.backoff = 0;
        }
        self.estimator.on_ack(facts.snd_una, facts.snd_nxt);
        self.detect(board, facts.now);
    }

    /// What is acknowledged cumulatively (RFC 5681 section 3.1, RFC 3465 section 2.1). What is SACKed behind a hole counts
    /// when the hole is filled, and not at all if the hole is a loss: FastRTO finds it half a round trip after the last
    /// ACK of what left before it, and a window that grew in that time would overflow the queue once more. During a
    /// repair all counts that arrives, or one that is itself lost again and again would find the window as full each time.
    #[inline]
    fn growth(&mut self, acked: u64, delivered: u64, in_recovery: bool) -> u64 {
        if in_recovery {
            return delivered;
        }
        self.behind_hole = self.behind_hole.saturating_add(delivered);
        let growth = self.behind_hole.min(acked);
        self.behind_hole -= growth;
        growth
    }

    fn probes_tail(&self) -> bool {
        self.probes
    }

    /// RFC 8985 section 7.2 with FastRTO in place of two round trips. A single segment's ACK may be a delayed one, for
    /// which it waits once more as long, and not the peer's whole timer; the end of the stream is answered at once (RFC
    /// 9293 section 3.10.7.4).
    fn probe_timeout(&self, tail: &Tail) -> Span {
        let patience = self.patience().unwrap_or(tail.srtt.saturating_mul(2));
        let delayed = tail.single && !tail.ends_stream;
        if delayed { patience + self.ack_delay.min(patience) } else { patience }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.timeout
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, now: Instant) {
        self.detect(board, now);
    }
}

#[cfg(test)]
#[path = "fastrto_tests.rs"]
mod tests;
