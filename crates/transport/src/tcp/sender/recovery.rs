//! When the sender repairs losses, and when it finds that there were none.

use super::Sender;
use super::timers::Probe;
use crate::congestion::{CongestionControl, EcnFeedback, LossEpisode, LostSegment, Recovery};
use crate::log::{Decision, RecoveryEnd, ReductionCause};
use crate::segment::{Flags, Segment};
use crate::tcp::prr::Prr;
use anabranch_units::Instant;

/// Whether losses are being repaired.
#[derive(Debug)]
pub(super) enum RecoveryState {
    Open,
    /// Fast recovery until `point` is acknowledged (RFC 6675 "RecoveryPoint"). Without `prr` the
    /// controller governs its window itself.
    Fast {
        point: u64,
        prr: Option<Box<Prr>>,
        /// Behind the highest segment sent again (RFC 6675 "HighRxt").
        high_rxt: u64,
        /// A segment was sent to rescue the rest (RFC 6675 section 4, NextSeg rule 4).
        rescued: bool,
        /// A partial ACK has come.
        partial: bool,
    },
    /// After a timeout, until `point` is acknowledged; `repeated` while no ACK has advanced, so
    /// that a further timeout is for the same data.
    Loss {
        point: u64,
        repeated: bool,
    },
}

impl RecoveryState {
    pub(super) fn kind(&self) -> Recovery {
        match self {
            Self::Open => Recovery::Open,
            Self::Fast { .. } => Recovery::Fast,
            Self::Loss { .. } => Recovery::Loss,
        }
    }
}

/// What is needed to notice that an episode was spurious: the retransmissions all come back as
/// DSACKs (RFC 2883, RFC 3708), or an ACK echoes a timestamp from before the first of them
/// (RFC 3522).
#[derive(Debug)]
pub(super) struct Undo {
    /// snd_una when the episode began.
    marker: u64,
    /// Highest position retransmitted since.
    highest: u64,
    retransmissions: u64,
    reported: u64,
    /// Timestamp of the first one.
    first_at: Option<u32>,
}

/// What shows that an episode was spurious.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Dsacks,
    LateOriginal,
}

impl Sender {
    /// Passes on what was judged lost, if somebody wants to know: a controller that judges single losses, or the log.
    #[inline]
    pub(super) fn report_losses(&mut self, now: Instant) {
        if self.board.notes_losses() {
            self.pass_on_losses(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn pass_on_losses(&mut self, now: Instant) {
        let losses = self.board.take_losses();
        if losses.is_empty() {
            return;
        }
        self.record_losses(now, &losses);
        let delivered = self.delivered();
        for mark in losses {
            self.controller.on_segment_lost(&LostSegment {
                now,
                start: mark.start,
                bytes: mark.bytes,
                tx_in_flight: mark.in_flight_then,
                lost: mark.lost_since,
                app_limited: mark.app_limited,
                delivered,
            });
        }
    }

    /// What leads the window down in a reduction: of fast recovery, or behind a mark.
    #[inline]
    pub(super) fn reduction_mut(&mut self) -> Option<&mut Prr> {
        match (&mut self.recovery, &mut self.window_reduction) {
            (RecoveryState::Fast { prr: Some(prr), .. }, _) | (RecoveryState::Open, Some(prr)) => Some(prr),
            _ => None,
        }
    }

    pub(super) fn start_undo(&mut self, first: bool) {
        if !(self.config.undo && first) {
            return;
        }
        let marker = self.snd_una;
        let mut undo = Undo { marker, highest: marker, retransmissions: 0, reported: 0, first_at: None };
        if self.board.retransmitted() > 0 {
            // Retransmissions of the episode before are still under way, and may be reported too.
            undo.highest = self.snd_nxt;
            undo.retransmissions = self.board.retransmitted().div_ceil(self.full_payload);
            undo.first_at = self.undo.as_ref().and_then(|before| before.first_at);
        }
        self.undo = Some(Box::new(undo));
    }

    pub(super) fn note_retransmission(&mut self, now: Instant, end: u64) {
        if let Some(undo) = &mut self.undo {
            undo.retransmissions += 1;
            undo.highest = undo.highest.max(end);
            undo.first_at.get_or_insert_with(|| self.clock.at(now));
        }
    }

    /// Counts a DSACK of what the episode retransmitted; one of later data, which the network or a
    /// probe doubled, says nothing about it. Linux counts what it still holds if it was ever sent again.
    pub(super) fn note_dsack(&mut self, (left, right): (u64, u64)) {
        let Some(undo) = &mut self.undo else { return };
        if right <= undo.marker || undo.reported >= undo.retransmissions {
            return;
        }
        if self.config.dsack_delivers && right > self.snd_una {
            undo.reported += self.board.sent_again(left, right).count() as u64;
        } else if right <= undo.highest {
            // A receiver that takes several at once reports them in one block (RFC 2883 section 4).
            undo.reported += right.saturating_sub(left).div_ceil(self.full_payload).max(1);
        }
    }

    /// What a reduction takes for FlightSize. Where the window is the limit, the bytes in flight are short of it by what
    /// the present ACK has delivered: a share of them would take up to a segment too much at each loss, which at ten
    /// segments is 5 % of the throughput.
    pub(super) fn flight_size(&self, pipe: u64) -> u64 {
        let cwnd = self.controller.cwnd();
        if pipe + self.withheld(cwnd) + self.full_payload > cwnd { cwnd.max(pipe) } else { pipe }
    }

    /// What a controller hears of losses that are noticed now, by what was in flight before them.
    pub(super) fn episode(&self, now: Instant, flight_size: u64) -> LossEpisode {
        LossEpisode {
            now,
            flight_size,
            in_flight: self.board.pipe(),
            snd_nxt: self.snd_nxt,
            total_lost: self.board.lost_total(),
        }
    }

    #[inline(never)]
    pub(super) fn enter_recovery_if_lost(&mut self, now: Instant, pipe_before: u64) {
        let cwnd_before = self.controller.cwnd();
        let response = self.detector.take_response();
        if let Some(cwnd) = response.window_at_sending {
            self.controller.forget_growth(cwnd);
        }
        if response.collapse {
            self.on_collapse(now, pipe_before, cwnd_before);
            return;
        }
        if response.again && !matches!(self.recovery, RecoveryState::Open) {
            let from = self.recovery.kind();
            self.recovery = RecoveryState::Open;
            self.detector.on_recovered();
            self.controller.on_recovered(now, from);
            self.record_recovery_left(now, from, RecoveryEnd::Superseded);
        }
        let starts = match self.recovery {
            RecoveryState::Open => self.board.lost() > 0,
            // MPRC (Chang 2024, section 4): what was sent after the last reduction reduces again, though the
            // losses before it are not repaired yet. The other detections leave that to the next recovery.
            RecoveryState::Fast { point, .. } => {
                self.detector.times_segments() && self.board.highest_lost() >= point
            }
            RecoveryState::Loss { .. } => false,
        };
        if !starts {
            return;
        }
        self.record_superseded(now);
        let episode = self.episode(now, self.flight_size(pipe_before));
        // RFC 3168 section 6.1.2: a mark of the same window has reduced already. One that takes no
        // notice of marks hears of the loss.
        let governs = self.controller.governs_recovery();
        let answered = self.ecn && self.controller.answers_marks() && self.snd_una < self.ecn_point;
        if !answered {
            self.controller.on_loss(&episode);
            self.record_reduction(now, ReductionCause::Loss, cwnd_before);
        }
        // What a mark began goes on: both answer for the same window of data.
        let goes_on = self.window_reduction.take().filter(|_| answered);
        let prr = goes_on.or_else(|| (!governs).then(|| Box::new(self.reduction(pipe_before, cwnd_before))));
        self.recovery =
            RecoveryState::Fast { point: self.snd_nxt, prr, high_rxt: 0, rescued: false, partial: false };
        self.timers.probe = Probe::None;
        self.stats.fast_recoveries += 1;
        self.note_reduction();
        self.start_undo(!answered);
        if answered {
            self.undo = None;
        }
        self.start_timeout(now);
        self.record_recovery(now, None);
    }

    /// Leads the window from what was in flight or, as Linux does, from the window itself.
    fn reduction(&self, pipe_before: u64, cwnd_before: u64) -> Prr {
        let (ssthresh, mss) = (self.controller.ssthresh(), self.full_payload);
        if self.config.prr_in_segments {
            return Prr::new(ssthresh, cwnd_before, mss).in_segments(self.board.pipe());
        }
        Prr::new(ssthresh, pipe_before, mss)
    }

    /// Linux counts a segment as delivered where a timer begins a recovery.
    pub(super) fn enter_recovery_by_timer(&mut self, now: Instant, pipe_before: u64) {
        let already = !matches!(self.recovery, RecoveryState::Open);
        self.enter_recovery_if_lost(now, pipe_before);
        let (pipe, mss) = (self.board.pipe(), self.full_payload);
        if let RecoveryState::Fast { prr: Some(prr), .. } = &mut self.recovery
            && self.config.prr_in_segments
            && !already
        {
            prr.on_ack(mss, pipe, false);
        }
    }

    /// Holds losses back where an original came after its retransmission.
    #[inline(never)]
    pub(super) fn heed_late_original(&mut self, segment: &Segment, una_before: u64) {
        let advanced = self.snd_una > una_before;
        if self.detector.heeds_late_originals() && self.tells_of_late_original(segment, advanced) {
            self.detector.on_late_original(una_before);
            self.holds_losses = self.board.retransmitted() > 0;
        }
    }

    /// Whether the ACK tells of an original that came after its retransmission, with the recovery still going on.
    fn tells_of_late_original(&self, segment: &Segment, advanced: bool) -> bool {
        let RecoveryState::Fast { point, .. } = self.recovery else { return false };
        self.snd_una < point && self.undo.as_ref().is_some_and(|undo| self.is_late(undo, segment, advanced))
    }

    /// Whether the ACK echoes a timestamp from before the first retransmission.
    fn is_late(&self, undo: &Undo, segment: &Segment, advanced: bool) -> bool {
        advanced
            && self.timestamps
            && segment.flags.has(Flags::TIMESTAMPS)
            && undo.first_at.is_some_and(|first| (segment.timestamp_echo.wrapping_sub(first) as i32) < 0)
    }

    /// Takes an episode back that this ACK shows to have been needless.
    #[inline(never)]
    pub(super) fn undo_if_spurious(&mut self, now: Instant, segment: &Segment, advanced: bool) {
        if let Some(sign) = self.sign_of_spurious(segment, advanced) {
            self.undo_reduction(now, sign);
        }
    }

    /// Ends recovery if this ACK shows that everything is repaired.
    #[inline(never)]
    pub(super) fn leave_recovery(&mut self, now: Instant, advanced: bool) {
        let (point, from) = match &mut self.recovery {
            RecoveryState::Open => return,
            RecoveryState::Fast { point, .. } => (*point, Recovery::Fast),
            RecoveryState::Loss { point, repeated } => {
                *repeated &= !advanced;
                (*point, Recovery::Loss)
            }
        };
        if self.snd_una >= point {
            self.recovery = RecoveryState::Open;
            self.detector.on_recovered();
            self.controller.on_recovered(now, from);
            self.record_recovery_left(now, from, RecoveryEnd::Acknowledged);
        }
    }

    fn sign_of_spurious(&self, segment: &Segment, advanced: bool) -> Option<Sign> {
        let undo = self.undo.as_ref()?;
        if undo.retransmissions > 0 && undo.reported >= undo.retransmissions {
            return Some(Sign::Dsacks);
        }
        // An original that was only late: nothing has been lost so far. In fast recovery the rest
        // may still be, so it must all be here, or nothing retransmitted be under way.
        let tells = match self.recovery {
            RecoveryState::Open => false,
            RecoveryState::Fast { point, .. } => self.snd_una >= point || self.board.retransmitted() == 0,
            RecoveryState::Loss { .. } => true,
        };
        (tells && self.is_late(undo, segment, advanced)).then_some(Sign::LateOriginal)
    }

    fn undo_reduction(&mut self, now: Instant, sign: Sign) {
        self.undo = None;
        // What was sent again was not lost; of the rest, Linux takes only a late original's word.
        let judged =
            self.config.dsack_delivers && sign == Sign::Dsacks && self.recovery.kind() == Recovery::Fast;
        if !judged {
            self.board.unmark_lost(self.detector.judges_again());
        }
        // Not one of the recoveries after which RACK's window wears off: it shows that the window is
        // too small. Under steady reordering sixteen of them pass before the first DSACK is back.
        self.detector.on_spurious();
        let (from, before) = (self.recovery.kind(), self.controller.cwnd());
        self.recovery = RecoveryState::Open;
        self.controller.on_undo(now);
        self.detector.on_restored(now, self.controller.cwnd(), self.board.pipe());
        // The window of data is no longer answered for.
        self.ecn_point = self.snd_una;
        self.stats.undone_recoveries += 1;
        self.record(now, Decision::Undone { before, after: self.controller.cwnd() });
        if from != Recovery::Open {
            self.record_recovery_left(now, from, RecoveryEnd::Undone);
        }
    }

    /// What an ACK of everything below `field` says of marks; an ECN-Echo is counted first, and then answered.
    #[inline(never)]
    pub(super) fn take_ecn_feedback(
        &mut self,
        now: Instant,
        (segment, field): (&Segment, u64),
        pipe_before: u64,
        acked: u64,
    ) {
        // One that others have overtaken may have been sent before the receiver heard of the last reduction.
        let echo = field == self.snd_una && segment.flags.has(Flags::ECE);
        if self.snd_una > self.ecn_point {
            self.window_reduction = None;
        }
        let feedback = EcnFeedback { acked, echo, snd_una: self.snd_una, snd_nxt: self.snd_nxt };
        self.controller.on_ecn_feedback(&feedback);
        if echo {
            self.on_ecn_echo(now, pipe_before);
        }
    }

    /// RFC 3168 section 6.1.2: an ECN-Echo halves like a loss, once per window of data.
    pub(super) fn on_ecn_echo(&mut self, now: Instant, pipe_before: u64) {
        // The ACK of everything before the segment with CWR was sent before the receiver saw it.
        if self.snd_una <= self.ecn_point || !matches!(self.recovery, RecoveryState::Open) {
            return;
        }
        let episode = self.episode(now, self.flight_size(pipe_before));
        self.note_reduction();
        if !self.controller.answers_marks() {
            // The receiver hears CWR, or it would echo the mark for ever.
            return;
        }
        let before = self.controller.cwnd();
        self.controller.on_ecn(&episode);
        // A mark is never spurious, so there is nothing left to take back.
        self.undo = None;
        self.stats.ecn_reductions += 1;
        self.begin_window_reduction(before);
        self.record_reduction(now, ReductionCause::Ecn, before);
    }

    /// As in Linux's state CWR, proportional rate reduction leads the window from `before` bytes down to what the controller
    /// has made of it, until an ACK of something behind the data outstanding, whose first segment has told the receiver.
    /// Without it the sender would be silent for as long as the window is less than what is in flight.
    fn begin_window_reduction(&mut self, before: u64) {
        let leads = self.config.prr_in_segments && !self.controller.governs_recovery();
        let reduces = self.controller.ssthresh() < before;
        self.window_reduction =
            (leads && reduces).then(|| Box::new(self.reduction(self.board.pipe(), before)));
    }

    /// RFC 3168 section 6.1.2: whatever reduced the window, the receiver is told with CWR, and marks
    /// of the data outstanding reduce it no further.
    pub(super) fn note_reduction(&mut self) {
        self.ecn_point = self.snd_nxt;
        self.tell_reduction = self.ecn;
    }

    /// RFC 8985 section 7.4: if the probe repaired a loss, the window must answer for it.
    #[inline(never)]
    pub(super) fn settle_probe(
        &mut self,
        now: Instant,
        pipe_before: u64,
        dsack_end: Option<u64>,
        duplicate: bool,
    ) {
        let ack = self.snd_una;
        let Probe::Sent { end, retransmission } = self.timers.probe else { return };
        if ack < end {
            return;
        }
        if !retransmission || dsack_end == Some(end) || (ack == end && duplicate) {
            self.timers.probe = Probe::None;
        } else if ack > end {
            self.timers.probe = Probe::None;
            if matches!(self.recovery, RecoveryState::Open) {
                let episode = self.episode(now, self.flight_size(pipe_before));
                // The controller now remembers this reduction, not an earlier one.
                self.undo = None;
                let before = self.controller.cwnd();
                self.controller.on_loss(&episode);
                self.controller.on_recovered(now, Recovery::Fast);
                self.record_reduction(now, ReductionCause::ProbeRepair, before);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::LossCause;
    use crate::tcp::tests::{Fate, Pair};
    use anabranch_units::Span;

    /// Linux: a DSACK above the cumulative ACK counts the segments in it that left more than once.
    #[test]
    fn a_dsack_above_the_cumulative_ack_counts_what_was_sent_again() {
        let mut pair = Pair::new(&crate::tcp_preset("linux-cubic").expect("a preset"), 9);
        pair.sender.open();
        pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
        let sender = &mut pair.sender;
        let (una, mss) = (sender.snd_una, sender.full_payload);
        sender.write(3 * mss);
        assert_eq!(std::iter::from_fn(|| sender.poll_transmit(pair.now)).count(), 3);
        let number = sender.board.number_at(una + mss).expect("it was sent");
        sender.board.mark_lost(number, LossCause::Rack);
        sender.board.retransmit(number, pair.now, Default::default());
        let undo = Undo { marker: una, highest: una, retransmissions: 2, reported: 0, first_at: None };
        sender.undo = Some(Box::new(undo));
        for (place, reported) in [(2, 0), (1, 1)] {
            sender.note_dsack((una + place * mss, una + (place + 1) * mss));
            assert_eq!(sender.undo.as_ref().map(|undo| undo.reported), Some(reported), "segment {place}");
        }
    }

    /// RFC 2883 section 4: a block below the cumulative ACK may report several segments; a part of one counts as one.
    #[test]
    fn a_dsack_counts_all_segments_that_it_spans() {
        for (preset, blocks, reported) in
            [("linux-cubic", &[(0, 3)][..], 3), ("newreno", &[(0, 1), (1, 3)], 3), ("bbr", &[(2, 3)], 1)]
        {
            let mut pair = Pair::new(&crate::tcp_preset(preset).expect("a preset"), 9);
            pair.sender.open();
            pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
            let sender = &mut pair.sender;
            let (una, mss) = (sender.snd_una, sender.full_payload);
            sender.snd_una += 4 * mss;
            let highest = una + 4 * mss;
            let undo = Undo { marker: una, highest, retransmissions: 4, reported: 0, first_at: None };
            sender.undo = Some(Box::new(undo));
            for &(left, right) in blocks {
                sender.note_dsack((una + left * mss, una + right * mss));
            }
            assert_eq!(sender.undo.as_ref().map(|undo| undo.reported), Some(reported), "{preset}");
        }
    }
}
