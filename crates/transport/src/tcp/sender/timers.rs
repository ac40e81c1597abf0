use super::recovery::RecoveryState;
use super::{Sender, State};
use crate::agent::Failure;
use crate::congestion::CongestionControl;
use crate::log::{Decision, LossCause, ReductionCause, TimeoutCause};
use crate::tcp::detection::Tail;
use crate::tcp::ticks::{TIMER_MARGIN, expiry};
use anabranch_units::{Instant, MaybeInstant, Span};

/// The one retransmission timer, and what it will do; pacing has its own instant.
#[derive(Default, Debug)]
pub(super) struct Timers {
    at: MaybeInstant,
    /// When the retransmission timer expires if no probe comes before it; none where loss detection times each segment.
    timeout_at: MaybeInstant,
    purpose: Purpose,
    /// None before the first segment that is paced.
    pub(super) pacing: Option<Box<Paced>>,
    /// How many segments of a train may leave with its first one.
    pub(super) more: u16,
    /// The last poll gave nothing because of pacing.
    pub(super) held_by_pacing: bool,
    /// A tail loss probe is out, or one is to be sent now.
    pub(super) probe: Probe,
}

/// What only a sender has that is paced.
#[derive(Default, Debug)]
pub(super) struct Paced {
    /// Next instant at which a segment may leave.
    pub(super) at: Instant,
    /// How late the train that is leaving was, less what gaps behind its segments have made up for.
    late: Span,
    /// Segments that leave together where pacing lets one go: those of a train (segmentation offload).
    pub(super) train: Train,
}

impl Paced {
    /// What is left of a gap behind a segment that leaves late.
    pub(super) fn caught_up(&mut self, now: Instant, start: u64, gap: Span) -> Span {
        if !self.train.goes_on(now, start) {
            self.late = now.saturating_since(self.at);
        }
        let less = self.late.min(gap / 2);
        self.late = self.late - less;
        gap - less
    }
}

/// The train that a paced sender is sending: one piece of the stream, as segmentation offload takes it.
#[derive(Default, Debug)]
pub(super) struct Train {
    /// How many segments are left that may leave with the first one, and when that left.
    left: u16,
    at: Instant,
    /// Position in the stream behind the last one.
    end: u64,
}

impl Train {
    /// Whether the segment that begins at `start` may leave with the one before it.
    #[inline]
    pub(super) fn goes_on(&self, now: Instant, start: u64) -> bool {
        self.left > 0 && self.at == now && self.end == start
    }

    /// A segment leaves; a train that it begins has `more` segments.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, (start, end): (u64, u64), more: u16) {
        if self.goes_on(now, start) {
            self.left -= 1;
        } else {
            (self.left, self.at) = (more, now);
        }
        self.end = end;
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Purpose {
    #[default]
    Timeout,
    Probe,
}

/// RFC 8985 section 7: at most one probe per tail.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum Probe {
    #[default]
    None,
    /// To be sent.
    Due,
    /// Sent; `end` is TLP.end_seq.
    Sent { end: u64, retransmission: bool },
}

impl Timers {
    pub(super) fn stop(&mut self) {
        self.at = MaybeInstant::NONE;
    }

    /// Lets a running timer expire at `at` at the latest.
    pub(super) fn bound(&mut self, at: Instant) {
        if self.at.is_some() {
            self.at = self.at.min(at.into());
        }
    }

    /// The timeout takes the place of a probe that waits.
    pub(super) fn call_off_probe(&mut self) {
        if self.is_probe() {
            self.at = self.timeout_at;
            self.purpose = Purpose::Timeout;
        }
    }

    /// When it expires.
    pub(super) fn expires_at(&self) -> Option<Instant> {
        self.at.get()
    }

    pub(super) fn is_running(&self) -> bool {
        self.at.is_some()
    }

    pub(super) fn is_probe(&self) -> bool {
        self.at.is_some() && self.purpose == Purpose::Probe
    }
}

impl Sender {
    /// The host sends trains of up to so many segments (segmentation offload): where the sender is paced, whole
    /// trains are.
    pub fn set_offload(&mut self, segments: u16) {
        self.timers.more = segments.saturating_sub(1);
    }

    /// When [`Sender::on_timeout`] wants to be called; `None` for never.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        if matches!(self.state, State::Failed(_)) {
            return None;
        }
        let mut next = self.timers.at.min(self.persist.at).min(self.detector.next_timeout().into());
        if self.timers.held_by_pacing
            && let Some(paced) = &self.timers.pacing
        {
            next = next.min(paced.at.into());
        }
        next.get()
    }

    /// A timer may have expired; does nothing if none has.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.state == State::SynSent {
            self.on_syn_timeout(now);
            return;
        }
        self.end_waits();
        self.persist.on_timeout(now);
        if self.detector.next_timeout().is_some_and(|at| at <= now) {
            self.on_reordering_timeout(now);
        }
        if !self.timers.at.has_come(now) {
            return;
        }
        self.timers.stop();
        match self.timers.purpose {
            Purpose::Probe => {
                self.timers.probe = Probe::Due;
                self.stats.tail_loss_probes += 1;
                self.record(now, Decision::TailLossProbe);
            }
            Purpose::Timeout => self.on_retransmission_timeout(now),
        }
    }

    fn on_syn_timeout(&mut self, now: Instant) {
        if self.timers.at.has_come(now) {
            self.timers.stop();
            self.stats.timeouts += 1;
            self.record_timeout(now, TimeoutCause::Handshake);
            if now >= self.give_up_at {
                self.give_up(now, Failure::NoAnswer);
                return;
            }
            self.rtt.back_off();
            self.send_syn = true;
        }
    }

    /// RACK's reordering timer (RFC 8985 section 6.3), FastRTO, or TCP-PR's timer of a segment.
    fn on_reordering_timeout(&mut self, now: Instant) {
        let pipe_before = self.board.pipe();
        self.detector.on_timeout(&mut self.board, now);
        self.report_losses(now);
        self.enter_recovery_by_timer(now, pipe_before);
    }

    /// RFC 6298 section 5.4 to 5.7 and RFC 5681 section 3.1.
    fn on_retransmission_timeout(&mut self, now: Instant) {
        if self.board.is_empty() {
            return;
        }
        let flight_size = self.flight_size(self.board.pipe());
        // Fast recovery has halved already for what is outstanding (Linux's tcp_enter_loss() likewise).
        let first =
            matches!(self.recovery, RecoveryState::Open | RecoveryState::Loss { repeated: false, .. });
        self.record_timeout(now, TimeoutCause::Retransmission);
        // Before the retransmissions under way are forgotten: they may still be reported.
        self.start_undo(first);
        self.board.mark_all_lost();
        self.board.settle_presumed(u64::MAX);
        self.report_losses(now);
        self.record_superseded(now);
        let before = self.controller.cwnd();
        let episode = self.episode(now, flight_size);
        self.controller.on_timeout(&episode, first);
        self.note_reduction();
        self.recovery = RecoveryState::Loss { point: self.snd_nxt, repeated: true };
        self.window_reduction = None;
        self.detector.on_retransmission_timeout(self.snd_nxt);
        self.timers.probe = Probe::None;
        self.rtt.back_off();
        self.stats.timeouts += 1;
        self.start_timeout(now);
        self.record_reduction(now, ReductionCause::Timeout, before);
        self.record_recovery(now, Some(LossCause::Timeout));
    }

    /// The timer has expired and is not yet backed off.
    fn record_timeout(&mut self, now: Instant, cause: TimeoutCause) {
        self.record(now, Decision::TimedOut { cause, backoff: self.rtt.backoff() + 1 });
    }

    /// Loss detection found so much lost that the window falls to one segment, as after a timeout; what is
    /// still in flight keeps its own timers.
    pub(super) fn on_collapse(&mut self, now: Instant, pipe_before: u64, cwnd_before: u64) {
        let flight_size = self.flight_size(pipe_before);
        self.record_timeout(now, TimeoutCause::ExtremeLosses);
        self.record_superseded(now);
        let first = matches!(self.recovery, RecoveryState::Open);
        self.start_undo(first);
        let episode = self.episode(now, flight_size);
        self.controller.on_timeout(&episode, first);
        self.note_reduction();
        self.recovery = RecoveryState::Loss { point: self.snd_nxt, repeated: true };
        self.window_reduction = None;
        self.timers.probe = Probe::None;
        self.stats.timeouts += 1;
        self.record_reduction(now, ReductionCause::ExtremeLosses, cwnd_before);
        self.record_recovery(now, None);
    }

    /// Restarts the timer after snd_una advanced, or starts it (RFC 6298 section 5.1 to 5.3).
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Instant) {
        if self.board.is_empty() {
            self.timers.stop();
            return;
        }
        self.start_timeout(now);
        self.schedule_probe(now);
    }

    /// Puts a probe before the timeout, if one may be sent; new data put off the probe, but not the timeout behind it
    /// (RFC 8985 section 7.2).
    #[inline]
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        if self.may_probe() {
            self.put_probe(now);
        }
    }

    #[inline(never)]
    fn put_probe(&mut self, now: Instant) {
        let probe = expiry(now, self.probe_timeout(), self.config.timer_tick);
        // Where the timeout would come first, the probe goes in its stead.
        self.timers.at = self.timers.timeout_at.min(probe.into());
        self.timers.purpose = Purpose::Probe;
    }

    #[inline(always)]
    pub(super) fn start_timeout(&mut self, now: Instant) {
        if self.detector.times_segments() {
            // Two timers for the same segment would fight: the second resets what the first repairs.
            self.timers.stop();
            self.timers.timeout_at = MaybeInstant::NONE;
            return;
        }
        if self.state == State::Established && self.detector.replaces_retransmission_timer() {
            return;
        }
        self.timers.timeout_at = expiry(now, self.rtt.rto(), self.config.timer_tick).into();
        self.timers.at = self.timers.timeout_at;
        self.timers.purpose = Purpose::Timeout;
    }

    #[inline(always)]
    pub(super) fn may_probe(&self) -> bool {
        self.detector.probes_tail()
            && self.sack
            && self.rtt.has_sample()
            && self.timers.probe == Probe::None
            && matches!(self.recovery, RecoveryState::Open)
            && self.board.sacked() == 0
    }

    /// RFC 8985 section 7.2, PTO.
    fn probe_timeout(&self) -> Span {
        let single = self.board.pipe() <= self.full_payload;
        let tail = Tail { srtt: self.rtt.srtt(), single, ends_stream: self.fin_sent };
        let timeout = self.detector.probe_timeout(&tail);
        if single || self.config.timer_tick == Span::ZERO { timeout } else { timeout + TIMER_MARGIN }
    }
}
