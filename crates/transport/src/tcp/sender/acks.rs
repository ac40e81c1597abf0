//! What an arriving ACK changes.

use super::Sender;
use super::recovery::RecoveryState;
use super::timers::Probe;
use crate::congestion::{Ack, CongestionControl, RateSample, Recovery};
use crate::log::Decision;
use crate::segment::{Flags, Segment, unwrap_sequence};
use crate::tcp::detection::{AckFacts, DeliveredSegment};
use crate::tcp::rtt::EchoedRtt;
use crate::tcp::scoreboard::Sent;
use crate::tcp::timestamp::TimestampClock;
use anabranch_units::{Bytes, Instant, Rate, Span, rarely};

/// What one ACK newly delivered.
#[derive(Default)]
struct Delivered {
    bytes: u64,
    /// A segment was delivered that was not before.
    fresh: bool,
    /// Transmission of the first and last segment acknowledged cumulatively that was sent once.
    first_sent_at: Option<Instant>,
    /// The cumulative acknowledgment covers a retransmission, for which all behind it waited.
    retransmission: bool,
    last_sent_at: Option<Instant>,
    /// Transmission of the first segment SACKed that was sent once.
    first_sacked_sent_at: Option<Instant>,
}

impl Delivered {
    /// Transmission of the newest segment that tells of the round trip.
    #[inline]
    fn newest_sent_at(&self) -> Option<Instant> {
        self.last_sent_at.or(self.first_sacked_sent_at)
    }
}

/// The timestamp that an ACK echoes, if it does, and the clock that wrote it.
#[derive(Clone, Copy)]
struct Echo {
    clock: TimestampClock,
    value: Option<u32>,
}

impl Echo {
    /// Whether it is of an earlier transmission than that of `sent_at`.
    // Apart: it is asked of what was sent again, and all that is asked of other segments stays small.
    #[cold]
    fn is_before(self, sent_at: Instant) -> bool {
        self.value.is_some_and(|value| (value.wrapping_sub(self.clock.at(sent_at)) as i32) < 0)
    }
}

/// The state of the sender before an ACK changed it.
struct Before {
    pipe: u64,
    cwnd: u64,
    lost_total: u64,
    snd_una: u64,
}

impl Sender {
    pub(super) fn on_ack(&mut self, now: Instant, segment: &Segment) {
        let field = unwrap_sequence(segment.ack, self.snd_una);
        if rarely(field > self.snd_nxt) {
            // RFC 9293 section 3.10.7.4: it acknowledges what was never sent, and is answered by an ACK.
            self.send_ack = true;
            return;
        }
        self.end_waits();
        let before = Before {
            pipe: self.board.pipe(),
            cwnd: self.cwnd(),
            lost_total: self.board.lost_total(),
            snd_una: self.snd_una,
        };
        let ack = field.max(self.snd_una);
        let advanced = ack > before.snd_una;
        // RFC 5681 section 2: an ACK that others have overtaken repeats nothing, nor does one that changes the window.
        let duplicate = field == before.snd_una
            && segment.sequence_len() == 0
            && segment.window == self.peer_window
            && !self.board.is_empty();
        self.peer_window = segment.window;
        self.update_window(field, advanced, segment);
        let selective = self.sack && !segment.sack.is_empty();
        let dsack = if rarely(selective) { self.take_dsack(field, segment) } else { None };
        let mut delivered = Delivered::default();
        self.take_cumulative(now, ack, segment, &mut delivered);
        if rarely(selective) {
            self.take_sack_blocks(now, field, segment, dsack, &mut delivered);
        }
        let dsack_end = dsack.map(|(_, right)| right);
        if rarely(!self.sack) {
            self.presume(advanced, duplicate, ack - before.snd_una, &mut delivered);
        }
        self.snd_una = ack;
        let rtt = self.take_rtt(now, advanced, segment, &delivered);
        if rarely(self.undo.is_some()) {
            self.heed_late_original(segment, before.snd_una);
            // What an ACK shows to have been needless is taken back before its losses are looked for.
            self.undo_if_spurious(now, segment, advanced);
        }
        let echo = self.echo_of(segment).filter(|_| advanced);
        self.detect_losses(now, dsack_end.is_some(), echo, &delivered);
        let rate = if self.board.notes_departures() { self.take_rate(now, delivered.bytes) } else { None };
        self.report_losses(now);
        if rarely(self.timers.probe != Probe::None) {
            self.settle_probe(now, before.pipe, dsack_end, duplicate && segment.sack.is_empty());
        }
        // First out, then in: what was lost behind the recovery point starts an episode of its own.
        if rarely(!matches!(self.recovery, RecoveryState::Open)) {
            self.leave_recovery(now, advanced);
        }
        // Every loss is answered by the ACK that shows it.
        if rarely(self.board.lost() > 0) {
            self.enter_recovery_if_lost(now, before.pipe);
        }
        if rarely(self.ecn) {
            self.take_ecn_feedback(now, (segment, field), before.pipe, ack - before.snd_una);
        }
        self.update_controller(now, &before, &delivered, (rtt, rate));
        if self.resets_timer(advanced) {
            self.restart_timer(now);
        } else if !self.may_probe() {
            self.timers.call_off_probe();
        }
        if rarely(self.log.is_some()) {
            self.note_ack(now, ack - before.snd_una, &delivered, rate);
        }
    }

    /// Whether an ACK resets the retransmission timer: one of new data does (RFC 6298 section 5.3), but for all partial
    /// ACKs behind the first of a recovery without SACK, where loss detection is impatient (RFC 6582 section 3.2 step 3).
    #[inline]
    fn resets_timer(&mut self, advanced: bool) -> bool {
        if !advanced {
            return self.detector.times_segments();
        }
        match &mut self.recovery {
            RecoveryState::Fast { partial, .. } if !self.sack && self.detector.is_impatient() => {
                !std::mem::replace(partial, true)
            }
            _ => true,
        }
    }

    /// Something happened for which data or retransmissions have waited.
    #[inline]
    pub(super) fn end_waits(&mut self) {
        self.deferral.end();
        self.holds_losses = false;
    }

    /// The delivery rate by this ACK, for a controller that measures it, or for the log.
    #[inline(never)]
    fn take_rate(&mut self, now: Instant, bytes: u64) -> Option<RateSample> {
        let newest = self.board.take_newest();
        let rate = self.rate.as_mut()?;
        let sample = rate.on_delivered(now, bytes, newest, self.board.lost_total(), self.rtt.min());
        if newest.is_some() && sample.is_none() {
            self.board.forget_sample();
        }
        sample
    }

    /// For the log: the ACK is worked in.
    #[cold]
    #[inline(never)]
    fn note_ack(&mut self, now: Instant, acked: u64, delivered: &Delivered, rate: Option<RateSample>) {
        let rtt = delivered.newest_sent_at().map(|sent_at| now.since(sent_at));
        let delivery_rate = rate.and_then(|sample| {
            Some((Rate::of(Bytes(sample.delivered), sample.interval)?, sample.app_limited))
        });
        self.note(now, Decision::Acknowledged { acked, delivered: delivered.bytes, rtt, delivery_rate });
    }

    /// RFC 9293 section 3.10.7.4 takes the window of any segment that is not older than the last that told one. Of two
    /// with the same numbers nobody knows which one is newer: as in Linux the larger window holds, or one that is shut.
    /// A window that the receiver shrinks is kept to (section 3.8.6).
    #[inline]
    fn update_window(&mut self, ack: u64, advanced: bool, segment: &Segment) {
        let window = u64::from(segment.window) << self.peer_window_scale;
        let edge = ack + window;
        if advanced || (ack == self.snd_una && (edge > self.window_edge || window == 0)) {
            self.persist.on_window(window);
            self.window_edge = edge;
        }
    }

    #[inline]
    fn take_cumulative(&mut self, now: Instant, ack: u64, segment: &Segment, delivered: &mut Delivered) {
        let echo = Echo { clock: self.clock, value: self.echo_of(segment) };
        let min_rtt = self.rtt.min();
        let Self { board, detector, .. } = self;
        board.acknowledge(ack, |sent| {
            if sent.sacked {
                detector.on_sacked_acknowledged(sent.start);
                return;
            }
            if sent.transmissions == 1 {
                delivered.first_sent_at.get_or_insert(sent.sent_at);
                delivered.last_sent_at = Some(sent.sent_at);
            } else {
                delivered.retransmission = true;
            }
            delivered.bytes += sent.len();
            delivered.fresh = true;
            detector.on_delivered(now, || facts_of(sent, echo, false), min_rtt);
        });
        if delivered.retransmission {
            // Karn's algorithm (RFC 6298 section 3): the hole delayed this ACK.
            delivered.first_sent_at = None;
            delivered.last_sent_at = None;
        }
    }

    /// Takes the DSACK block, if the first SACK block is such, before what it may report leaves the scoreboard.
    #[inline(never)]
    fn take_dsack(&mut self, ack: u64, segment: &Segment) -> Option<(u64, u64)> {
        let blocks = segment.sack.as_slice();
        let positions = |block: &(u32, u32)| (unwrap_sequence(block.0, ack), unwrap_sequence(block.1, ack));
        let first = positions(&blocks[0]);
        // RFC 2883 section 4: below the cumulative ACK of the same segment, or inside the second block.
        let inside_second =
            blocks.get(1).map(positions).is_some_and(|(left, right)| left <= first.0 && first.1 <= right);
        if first.1 > ack && !inside_second {
            return None;
        }
        self.note_dsack(first);
        // As Linux: that a SACKed segment came twice shows that its first transmission was late.
        if self.detector.heeds_late_originals()
            && let Some(sent) = self.board.sent_again(first.0, first.1).find(|sent| sent.sacked)
        {
            self.detector.on_late_original(sent.start);
        }
        Some(first)
    }

    /// Takes the SACK blocks; the first of them may be a DSACK.
    #[inline(never)]
    fn take_sack_blocks(
        &mut self,
        now: Instant,
        ack: u64,
        segment: &Segment,
        dsack: Option<(u64, u64)>,
        delivered: &mut Delivered,
    ) {
        let echo = Echo { clock: self.clock, value: self.echo_of(segment) };
        let blocks = segment.sack.as_slice();
        if let Some((_, right)) = dsack {
            self.detector.on_dsack(right);
        }
        let min_rtt = self.rtt.min();
        let mut positions = [(0, 0); 4];
        let fresh = &blocks[usize::from(dsack.is_some())..];
        let positions = &mut positions[..fresh.len()];
        for (position, block) in positions.iter_mut().zip(fresh) {
            *position = (unwrap_sequence(block.0, ack), unwrap_sequence(block.1, ack));
        }
        if self.detector.takes_sack_from_below() {
            positions.sort_unstable();
        }
        let Self { board, detector, .. } = self;
        for &mut (left, right) in positions {
            board.selectively_acknowledge(left, right, |sent| {
                if sent.transmissions == 1 {
                    delivered.first_sacked_sent_at.get_or_insert(sent.sent_at);
                }
                delivered.bytes += sent.len();
                delivered.fresh = true;
                detector.on_delivered(now, || facts_of(sent, echo, true), min_rtt);
            });
        }
        if let Some((left, right)) = dsack.filter(|_| self.config.dsack_delivers) {
            delivered.bytes += right.saturating_sub(left);
        }
    }

    /// Without SACK, each duplicate ACK says that one more segment has arrived, and a partial ACK
    /// that these were among those it covers (RFC 6582 section 3.2 steps 2 to 5). They were delivered when the duplicates
    /// told of them, and are not once more (RFC 9937 section 6, DeliveredData).
    #[inline(never)]
    fn presume(&mut self, advanced: bool, duplicate: bool, acked: u64, delivered: &mut Delivered) {
        if advanced {
            let presumed = self.board.presumed().min(acked.saturating_sub(self.full_payload));
            delivered.bytes = delivered.bytes.saturating_sub(presumed);
            self.board.settle_presumed(acked.saturating_sub(self.full_payload));
            if self.board.is_empty() || !matches!(self.recovery, RecoveryState::Fast { .. }) {
                self.board.settle_presumed(u64::MAX);
            }
        } else if duplicate {
            delivered.bytes += self.full_payload;
            self.board.presume_delivered(self.full_payload);
            self.detector.on_duplicate_without_sack(&mut self.board);
        }
    }

    /// Takes what the ACK tells of the round trip; returns that of the newest segment, for the controller. Where all that
    /// it covers was sent again this is what the timestamps read, which may be up to a tick less than the truth.
    #[inline]
    fn take_rtt(
        &mut self,
        now: Instant,
        advanced: bool,
        segment: &Segment,
        delivered: &Delivered,
    ) -> Option<Span> {
        let newest = delivered.newest_sent_at().map(|sent_at| now.since(sent_at));
        if let Some(rtt) = newest {
            self.rtt.on_minimum_candidate(now, rtt);
        }
        if let Some(sent_at) = delivered.first_sent_at.or(delivered.first_sacked_sent_at) {
            self.rtt.on_sample(now.since(sent_at));
        } else if let Some(rtt) = self.echo_rtt(now, advanced, segment) {
            self.rtt.on_echo(now, rtt);
            return Some(rtt.read);
        }
        newest
    }

    /// RFC 7323 section 4: timestamps tell which transmission was acknowledged.
    #[inline]
    fn echo_rtt(&self, now: Instant, advanced: bool, segment: &Segment) -> Option<EchoedRtt> {
        let echo = self.echo_of(segment).filter(|_| advanced)?;
        Some(self.clock.round_trip(now, echo))
    }

    #[inline]
    fn detect_losses(&mut self, now: Instant, dsack: bool, echo: Option<u32>, delivered: &Delivered) {
        let delivered_before = self.delivered();
        let Self { detector, board, rtt, recovery, clock, .. } = self;
        let (snd_una, snd_nxt, full_payload) = (self.snd_una, self.snd_nxt, self.full_payload);
        let (pipe, newest, late_original) = (board.pipe(), board.newest().copied(), self.holds_losses);
        detector.on_ack(board, || AckFacts {
            now,
            snd_una,
            snd_nxt,
            dsack,
            late_original,
            newest_delivered_before: newest.map(|newest| newest.departure.delivery.delivered),
            delivered: delivered_before + delivered.bytes,
            in_recovery: !matches!(recovery, RecoveryState::Open),
            srtt: rtt.srtt(),
            min_rtt: rtt.min(),
            echo_rtt: echo.map(|echo| clock.since(now, echo)),
            expected_samples: pipe.div_ceil(2 * full_payload).max(1),
        });
    }

    #[inline]
    fn update_controller(
        &mut self,
        now: Instant,
        before: &Before,
        delivered: &Delivered,
        (rtt_sample, rate): (Option<Span>, Option<RateSample>),
    ) {
        let pipe = self.board.pipe();
        let lost = self.board.lost_total() - before.lost_total;
        let acked = self.snd_una - before.snd_una;
        if let Some(prr) = self.reduction_mut() {
            prr.on_ack(delivered.bytes, pipe, acked > 0 && lost == 0);
        }
        let ssthresh = self.controller.ssthresh();
        let after_timeout = self.recovery.kind() == Recovery::Loss;
        // A DSACK alone is no progress.
        let repeats = self.config.dsack_delivers && acked == 0 && !delivered.fresh;
        // Nor is a duplicate ACK without SACK (RFC 5681 section 3.2 step 1).
        let may_grow = acked > 0 || (self.sack && !(repeats || self.detector.holds_growth(after_timeout)));
        let cwnd_limited = may_grow && self.window_use.lets_grow(before.cwnd, ssthresh);
        let in_recovery = !matches!(self.recovery, RecoveryState::Open);
        // RFC 5681 section 3.1 counts what an ACK newly acknowledges, Linux what is newly known to be delivered.
        let counted = if self.sack || self.config.dsack_delivers { delivered.bytes } else { acked };
        let growth = self.detector.growth(acked, counted, in_recovery);
        let Self { controller, rtt, window_use, recovery, window_reduction, .. } = self;
        let (snd_una, snd_nxt) = (self.snd_una, self.snd_nxt);
        controller.take_ack(|| Ack {
            now,
            acked,
            delivered: delivered.bytes,
            growth,
            lost,
            in_flight_before: before.pipe,
            in_flight: pipe,
            rtt: rtt_sample,
            srtt: rtt.srtt(),
            min_rtt: rtt.min(),
            snd_una,
            snd_nxt,
            cwnd_limited,
            window_full: window_use.is_full(),
            recovery: if window_reduction.is_some() { Recovery::Fast } else { recovery.kind() },
            rate,
        });
    }

    #[inline]
    pub(super) fn echo_of(&self, segment: &Segment) -> Option<u32> {
        (self.timestamps && segment.flags.has(Flags::TIMESTAMPS)).then_some(segment.timestamp_echo)
    }
}

/// The echo tells transmissions apart only of a segment that left more than once, and only where the segment advanced
/// the cumulative acknowledgment: an ACK for a segment above a hole echoes the segment before the hole (RFC 7323
/// section 4.3, case (B)), and one for several segments in order the first of them (case (A)).
#[inline(always)]
fn facts_of(sent: &Sent, echo: Echo, by_sack: bool) -> DeliveredSegment {
    let retransmitted = sent.transmissions > 1;
    DeliveredSegment {
        start: sent.start,
        end: sent.end,
        sent_at: sent.sent_at,
        order: sent.order,
        retransmitted,
        echoes_earlier: rarely(retransmitted) && !by_sack && echo.is_before(sent.sent_at),
        by_sack,
    }
}
