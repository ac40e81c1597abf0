//! What a sender writes into its event log, if it keeps one.

use super::Sender;
use super::recovery::RecoveryState;
use crate::congestion::{CongestionControl, Recovery};
use crate::log::{Decision, Log, LogEntry, LossCause, Metrics, RecoveryEnd, ReductionCause};
use crate::tcp::scoreboard::LossMark;
use anabranch_units::{Instant, Span};

impl Sender {
    /// Notes every decision from now on, up to `limit` entries, the last of which says that the log is full.
    pub fn keep_log(&mut self, limit: usize) {
        self.log = Some(Box::new(Log::new(limit)));
        self.board.note_losses();
        self.rate.get_or_insert_default();
    }

    /// The entries since the last call, in the order of the decisions; none if it keeps no log.
    pub fn take_log(&mut self) -> Vec<LogEntry> {
        self.log.as_mut().map(|log| log.take()).unwrap_or_default()
    }

    /// Its state, for the log.
    pub(crate) fn metrics(&self) -> Metrics {
        let has_sample = self.rtt.has_sample();
        // A timer for each segment takes the place of RFC 6298's.
        let timed = self.detector.times_segments() || self.detector.replaces_retransmission_timer();
        Metrics {
            cwnd: self.cwnd(),
            ssthresh: self.controller.ssthresh(),
            in_flight: self.board.pipe(),
            srtt: self.rtt.reported_srtt(),
            rttvar: self.rtt.rttvar(),
            min_rtt: if has_sample { self.rtt.min() } else { Span::ZERO },
            rto: if timed { Span::ZERO } else { self.rtt.rto() },
            pacing_rate: self.pacing_rate(),
            phase: self.controller.phase(),
        }
    }

    #[inline]
    pub(super) fn record(&mut self, now: Instant, decision: Decision) {
        if self.log.is_some() {
            self.note(now, decision);
        }
    }

    /// Apart, and cold, so that senders without a log pay for a branch and no more.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&mut self, now: Instant, decision: Decision) {
        let metrics = self.metrics();
        if let Some(log) = &mut self.log {
            log.push(now, decision, metrics);
        }
    }

    /// The window was `before` bytes before a reduction.
    pub(super) fn record_reduction(&mut self, now: Instant, cause: ReductionCause, before: u64) {
        self.record(now, Decision::Reduced { cause, before, after: self.controller.cwnd() });
    }

    /// What the detector has marked.
    pub(super) fn record_losses(&mut self, now: Instant, losses: &[LossMark]) {
        let (origin, metrics) = (self.first_byte(), self.metrics());
        let Some(log) = &mut self.log else { return };
        for loss in losses {
            log.last_loss = loss.cause;
            let position = loss.start - origin;
            log.push(now, Decision::Lost { position, bytes: loss.bytes, cause: loss.cause }, metrics);
        }
    }

    /// A recovery begins; `cause` is that of the latest losses where it is left out.
    pub(super) fn record_recovery(&mut self, now: Instant, cause: Option<LossCause>) {
        if let Some(log) = &self.log {
            let cause = cause.unwrap_or(log.last_loss);
            let after_timeout = self.recovery.kind() == Recovery::Loss;
            self.note(now, Decision::RecoveryEntered { after_timeout, cause });
        }
    }

    /// The recovery under way, if there is one, gives way to another.
    pub(super) fn record_superseded(&mut self, now: Instant) {
        if !matches!(self.recovery, RecoveryState::Open) {
            self.record_recovery_left(now, self.recovery.kind(), RecoveryEnd::Superseded);
        }
    }

    pub(super) fn record_recovery_left(&mut self, now: Instant, from: Recovery, end: RecoveryEnd) {
        self.record(now, Decision::RecoveryLeft { after_timeout: from == Recovery::Loss, end });
    }
}
