//! RACK: losses by time (RFC 8985 section 6), with its adaptive reordering window.

use super::{AckFacts, Configured, DeliveredSegment, LossDetection};
use crate::log::LossCause;
use crate::tcp::scoreboard::{Judgement, Scoreboard};
use anabranch_units::{Instant, Span};

/// RFC 8985 section 6.2 step 4: recoveries for which a widened window persists.
const WINDOW_PERSISTS: u32 = 16;
/// RFC 8985 section 6.2 step 4: SACKed segments that stand for "no reordering here".
const DUP_THRESH: u64 = 3;

anabranch_units::parameters! {
    /// RACK-TLP: losses by time (RFC 8985).
    pub struct RackParameters {
        /// Tail loss probes (RFC 8985 section 7).
        tail_loss_probe: bool = true;
    }
}

/// State of RFC 8985 section 5.2.
#[derive(Debug)]
pub struct Rack {
    tail_loss_probe: bool,
    /// The most recently sent segment that was delivered, by its place among all transmissions.
    /// RACK.xmit_ts and RACK.end_seq in the RFC, whose tie-break by sequence number misjudges a
    /// retransmission that leaves in the same instant as new data.
    newest: Option<u64>,
    /// RACK.rtt
    rtt: Span,
    /// RACK.fack: highest position delivered.
    fack: u64,
    reordering_seen: bool,
    window_multiplier: u32,
    window_persists: u32,
    /// RACK.dsack_round: snd_nxt when the window was last widened.
    dsack_round: Option<u64>,
    window: Span,
    timeout: Option<Instant>,
}

impl Rack {
    pub(crate) fn new(tail_loss_probe: bool) -> Self {
        Self {
            tail_loss_probe,
            newest: None,
            rtt: Span::ZERO,
            fack: 0,
            reordering_seen: false,
            window_multiplier: 1,
            window_persists: WINDOW_PERSISTS,
            dsack_round: None,
            window: Span::ZERO,
            timeout: None,
        }
    }

    /// RFC 8985 section 6.2 step 4.
    fn update_window(&mut self, board: &Scoreboard, facts: &AckFacts) {
        if self.dsack_round.is_some_and(|round| facts.snd_una >= round) {
            self.dsack_round = None;
        }
        if facts.dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(facts.snd_nxt);
            self.window_multiplier += 1;
            self.window_persists = WINDOW_PERSISTS;
        }
        let settled = facts.in_recovery || board.sacked_segments() >= DUP_THRESH;
        let unknown = facts.min_rtt == Span::MAX;
        self.window = if unknown || (!self.reordering_seen && settled) {
            Span::ZERO
        } else {
            (facts.min_rtt / 4).saturating_mul(u64::from(self.window_multiplier)).min(facts.srtt)
        };
    }

    /// RFC 8985 section 6.2 step 5: everything sent before the newest delivered segment is lost
    /// once a round trip and the reordering window have passed.
    pub(crate) fn detect(&mut self, board: &mut Scoreboard, now: Instant) {
        self.timeout = None;
        let Some(newest) = self.newest else { return };
        let patience = self.rtt + self.window;
        let mut timeout: Option<Instant> = None;
        board.judge_oldest_first(LossCause::Rack, |sent| {
            if sent.order > newest {
                return Judgement::Stop;
            }
            let lost_at = sent.sent_at.saturating_add(patience);
            if lost_at <= now {
                return Judgement::Lost;
            }
            timeout = Some(timeout.map_or(lost_at, |t| t.max(lost_at)));
            Judgement::Keep
        });
        self.timeout = timeout;
    }
}

impl Configured for Rack {
    type Parameters = RackParameters;

    fn configured(parameters: &RackParameters) -> Self {
        Self::new(parameters.tail_loss_probe)
    }

    /// Linux, whose loss detection RACK is, bounds the margin by its smallest timeout, which leaves room for a
    /// delayed ACK.
    fn rto_margin(min_rto: Span) -> Span {
        min_rto
    }
}

impl LossDetection for Rack {
    /// RFC 8985 section 6.2 steps 2 and 3.
    #[inline]
    fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment, min_rtt: Span) {
        if segment.end > self.fack {
            self.fack = segment.end;
        } else if segment.end < self.fack && !segment.retransmitted {
            self.reordering_seen = true;
        }
        let rtt = now.since(segment.sent_at);
        // An ACK that comes too soon after a retransmission answers the original.
        if segment.retransmitted && (segment.echoes_earlier || (min_rtt != Span::MAX && rtt < min_rtt)) {
            return;
        }
        self.rtt = rtt;
        self.newest = self.newest.max(Some(segment.order));
    }

    #[inline]
    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        self.update_window(board, facts);
        // Without anything in flight before the newest delivered segment there is nothing to judge.
        self.detect(board, facts.now);
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.timeout
    }

    /// The sender has marked the whole window lost, where RFC 8985 section 6.3 would spare what left
    /// within the last round trip: by the time the timer expires that is rarely anything.
    fn on_retransmission_timeout(&mut self, _: u64) {
        self.timeout = None;
    }

    /// RFC 8985 section 6.2 step 4: the widened window wears off.
    fn on_recovered(&mut self) {
        self.window_persists = self.window_persists.saturating_sub(1);
        if self.window_persists == 0 {
            self.window_multiplier = 1;
        }
    }

    /// An episode proved spurious: what was taken for loss was reordering. The RFC's own test
    /// (section 6.2 step 3) leaves out segments that have been retransmitted.
    fn on_spurious(&mut self) {
        self.reordering_seen = true;
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, now: Instant) {
        self.detect(board, now);
    }

    fn holds_growth(&self, after_timeout: bool) -> bool {
        after_timeout
    }

    fn probes_tail(&self) -> bool {
        self.tail_loss_probe
    }
}
