//! Losses by duplicate ACKs: with SACK, RFC 6675's IsLost(); without, RFC 5681 and RFC 6582.

use super::{AckFacts, ConfiguredDetection, DeliveredSegment, LossDetection};
use crate::log::LossCause;
use crate::tcp::scoreboard::Scoreboard;
use anabranch_units::declaration::at_least;
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// Duplicate ACKs and SACK (RFC 5681, 6582, 6675).
    pub struct DupackParameters {
        /// Duplicate ACKs, or segments SACKed above a hole, that make it lost ("DupThresh").
        threshold: u32 = 3, at_least(1).at_most(1000);
        /// Without SACK only the first partial ACK of a recovery resets the retransmission timer, so that many losses of
        /// a window end in a timeout (RFC 6582 sections 3.2 and 4, the Impatient variant). Otherwise each one does, and
        /// one loss is repaired in each round trip, however many there are (Slow-but-Steady).
        impatient: bool = true;
    }
}

/// A segment is lost when `threshold` segments above it have been SACKed, or, without SACK, when
/// `threshold` duplicate ACKs have arrived. Each segment is judged once: a lost retransmission is
/// left to the retransmission timer. A timeout that was taken back has judged nothing.
#[derive(Debug)]
pub struct Dupack {
    threshold: u32,
    impatient: bool,
    /// Segments below this position have been judged.
    judged: u64,
    /// SACKed segments at or above `judged`.
    sacked_above: u32,
    /// Duplicate ACKs since snd_una last advanced, without SACK.
    duplicates: u32,
    /// snd_una at the last ACK.
    snd_una: u64,
    /// Without SACK, behind what was sent when the last episode began (RFC 6582 section 3.2, "recover"): an ACK below
    /// this is a partial one.
    recover: u64,
    /// A retransmission timeout has judged all that is outstanding, and is being repaired.
    timed_out: bool,
    /// The next ACK judges everything from snd_una on.
    judges_anew: bool,
}

impl Dupack {
    pub(crate) fn new(threshold: u32) -> Self {
        Self {
            threshold: threshold.max(1),
            impatient: true,
            judged: 0,
            sacked_above: 0,
            duplicates: 0,
            snd_una: 0,
            recover: 0,
            timed_out: false,
            judges_anew: false,
        }
    }

    /// For detectors that adapt it.
    pub(super) fn set_threshold(&mut self, threshold: u32) {
        self.threshold = threshold.max(1);
    }

    /// The next ACK judges everything from snd_una on, for the judgement before was taken back.
    pub(super) fn judge_anew(&mut self) {
        self.judges_anew = true;
    }

    fn start_over(&mut self, board: &Scoreboard) {
        self.judged = board.front().map_or(self.judged, |front| front.start);
        // At most one for each of the 2^32 segment numbers.
        self.sacked_above = board.sacked_segments() as u32;
    }

    fn lose_front(&mut self, board: &mut Scoreboard, cause: LossCause) {
        if let Some(start) = board.front().map(|front| front.start)
            && let Some(number) = board.number_at(start)
        {
            board.mark_lost(number, cause);
        }
    }

    /// RFC 6675 section 4, IsLost(): judges upwards while enough is SACKed above.
    fn judge(&mut self, board: &mut Scoreboard) {
        let Some(front) = board.front() else {
            self.sacked_above = 0;
            return;
        };
        self.judged = self.judged.max(front.start);
        while self.sacked_above >= self.threshold {
            let Some(seen) = board.look_at(self.judged) else {
                // Everything counted has been acknowledged meanwhile.
                self.sacked_above = 0;
                return;
            };
            self.judged = seen.end;
            if seen.sacked {
                self.sacked_above -= 1;
            } else if let Some(number) = seen.sent_once {
                board.mark_lost(number, LossCause::SackThreshold);
            }
        }
    }
}

impl ConfiguredDetection for Dupack {
    type Parameters = DupackParameters;

    fn configured(parameters: &DupackParameters) -> Self {
        Self { impatient: parameters.impatient, ..Self::new(parameters.threshold) }
    }
}

impl LossDetection for Dupack {
    fn resends_holes(&self) -> bool {
        true
    }

    fn is_impatient(&self) -> bool {
        self.impatient
    }

    #[inline]
    fn on_delivered(&mut self, _: Instant, segment: &DeliveredSegment, _: Span) {
        if segment.by_sack && segment.start >= self.judged {
            self.sacked_above += 1;
        }
    }

    /// A SACKed segment has been cumulatively acknowledged: it no longer lies above anything.
    fn on_sacked_acknowledged(&mut self, start: u64) {
        if start >= self.judged {
            self.sacked_above = self.sacked_above.saturating_sub(1);
        }
    }

    fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
        self.duplicates += 1;
        // RFC 6582 section 3.2 step 2: only if the acknowledgment covers more than "recover", so that duplicates of what
        // an episode sent without need start no other. "recover" is set here alone, and not by partial ACKs.
        if self.duplicates == self.threshold && self.snd_una > self.recover {
            self.lose_front(board, LossCause::DuplicateAcks);
            self.recover = board.back().map_or(self.recover, |back| back.end);
        }
    }

    #[inline]
    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        if facts.snd_una > self.snd_una {
            self.snd_una = facts.snd_una;
            let partial = facts.in_recovery && self.duplicates > 0 && facts.snd_una < self.recover;
            if partial {
                // RFC 6582 section 3.2 step 3: a partial ACK shows the next hole.
                self.lose_front(board, LossCause::PartialAck);
            } else {
                self.duplicates = 0;
            }
        }
        if std::mem::take(&mut self.judges_anew) {
            self.start_over(board);
        }
        if self.sacked_above >= self.threshold {
            self.judge(board);
        }
    }

    fn on_recovered(&mut self) {
        self.timed_out = false;
    }

    /// A fast recovery's judgement was by duplicate ACKs, which tell the same of the same segments once more.
    fn on_spurious(&mut self) {
        if std::mem::take(&mut self.timed_out) {
            self.judge_anew();
        }
    }

    fn holds_growth(&self, _: bool) -> bool {
        true
    }

    fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
        self.judged = snd_nxt;
        self.sacked_above = 0;
        self.duplicates = 0;
        self.recover = snd_nxt;
        self.timed_out = true;
    }
}
