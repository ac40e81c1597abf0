//! RACK as Linux has it. Beside RFC 8985:
//!
//! - RACK.rtt is that of the segment taken last, and an ACK's SACK blocks are taken before what it acknowledges
//!   cumulatively; of retransmissions, only those acknowledged cumulatively are held against the timestamp echo.
//! - A DSACK widens the reordering window only once reordering was seen, with the next ACK that delivers a segment, and
//!   again as soon as that segment was sent after the window was widened last: after a round trip of the fastest path.
//! - Only an ACK that delivers something looks for losses.
//! - An original that comes after its retransmission shows reordering; while other retransmissions are under way its ACK
//!   neither finds losses nor repairs them.
//! - A segment that it has judged lost is not judged again until it is sent again, also where the judgement was taken
//!   back.
//! - The timer counts the sender's ticks, is 2 ms longer, and gives way to a tail loss probe.

use super::dupack::Dupack;
use super::rack::{DUP_THRESH, RackTimes, WINDOW_PERSISTS};
use super::{AckFacts, ConfiguredDetection, DeliveredSegment, Handshake, LossDetection, Reordering, Tail};
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::ticks::{TIMER_MARGIN, expiry};
use anabranch_units::declaration::at_most;
use anabranch_units::{Instant, Span};

/// Widenings after which the window stays.
const WIDEST: u32 = 255;

anabranch_units::parameters! {
    /// RACK-TLP of Linux: reordering is seen in fewer cases, the window widens faster.
    pub struct LinuxRackParameters {
        /// Tail loss probes (RFC 8985 section 7).
        tail_loss_probe: bool = true;
        /// How long a probe of a single segment waits for a delayed ACK beside two round trips (RFC 8985 section
        /// 7.2); the default is Linux's smallest timeout.
        max_ack_delay: Span = Span::from_ms(200), at_most(Span::LONGEST_INPUT);
    }
}

/// RFC 8985 section 5.2's state, as Linux keeps it.
#[derive(Debug)]
pub struct LinuxRack {
    parameters: LinuxRackParameters,
    timer_tick: Span,
    /// Loss detection where the peer does not grant SACK, without which there is no RACK.
    without_sack: Option<Box<Dupack>>,
    times: RackTimes,
    /// RACK.rtt of the present ACK was acknowledged cumulatively.
    by_ack: bool,
    /// The present ACK delivered something that says how old losses are.
    advanced: bool,
    /// RACK.fack before the present ACK, and with it.
    fack: u64,
    fack_next: u64,
    reordering_seen: bool,
    /// Start of the lowest segment that the present ACK shows to be late: cumulatively, and by SACK.
    late: [Option<u64>; 2],
    reordering: Reordering,
    window_multiplier: u32,
    window_persists: u32,
    /// A DSACK waits for an ACK that delivers.
    dsack_pending: bool,
    /// Bytes that the connection had delivered when the window was widened last.
    widened_at: u64,
}

impl LinuxRack {
    fn new(parameters: &LinuxRackParameters) -> Self {
        Self {
            parameters: parameters.clone(),
            timer_tick: Span::ZERO,
            without_sack: None,
            times: RackTimes::default(),
            by_ack: false,
            advanced: false,
            fack: 0,
            fack_next: 0,
            reordering_seen: false,
            late: [None; 2],
            reordering: Reordering::default(),
            window_multiplier: 1,
            window_persists: WINDOW_PERSISTS,
            dsack_pending: false,
            widened_at: 0,
        }
    }

    /// A segment that had not been lost is there, and a later one was there before it.
    fn note_late(&mut self, start: u64, by_sack: bool) {
        self.reordering_seen = true;
        let lowest = &mut self.late[usize::from(by_sack)];
        *lowest = Some(lowest.map_or(start, |lowest| lowest.min(start)));
    }

    /// Linux measures it from the lowest late segment to the end of the highest one that was SACKed.
    fn measure_reordering(&mut self) {
        for start in std::mem::take(&mut self.late).into_iter().flatten() {
            self.reordering.bytes = self.reordering.bytes.max(self.fack.saturating_sub(start));
            self.reordering.times += 1;
        }
    }

    fn update_window(&mut self, board: &Scoreboard, facts: &AckFacts) {
        self.dsack_pending |= facts.dsack && self.reordering_seen;
        if let Some(sent_at_delivered) = facts.newest_delivered_before {
            if sent_at_delivered < self.widened_at {
                self.dsack_pending = false;
            }
            if std::mem::take(&mut self.dsack_pending) {
                self.window_multiplier = (self.window_multiplier + 1).min(WIDEST);
                self.window_persists = WINDOW_PERSISTS;
                self.widened_at = facts.delivered;
            } else if self.window_persists == 0 {
                self.window_multiplier = 1;
            }
        }
        let settled = facts.in_recovery || board.sacked_segments() >= DUP_THRESH;
        let closed = facts.min_rtt == Span::MAX || (!self.reordering_seen && settled);
        self.times.window = if closed {
            Span::ZERO
        } else {
            (facts.min_rtt / 4).saturating_mul(u64::from(self.window_multiplier)).min(facts.srtt)
        };
    }
}

impl ConfiguredDetection for LinuxRack {
    type Parameters = LinuxRackParameters;

    fn configured(parameters: &LinuxRackParameters) -> Self {
        Self::new(parameters)
    }

    fn rto_margin(min_rto: Span, _granularity: Span) -> Span {
        min_rto
    }
}

impl LossDetection for LinuxRack {
    #[inline]
    fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment, min_rtt: Span) {
        self.fack_next = self.fack_next.max(segment.end);
        if segment.end < self.fack && !segment.retransmitted {
            self.note_late(segment.start, segment.by_sack);
        }
        let rtt = now.since(segment.sent_at);
        if segment.answers_earlier(now, min_rtt) {
            return;
        }
        if !(segment.by_sack && self.by_ack) {
            self.times.rtt = rtt;
        }
        self.by_ack |= !segment.by_sack;
        self.times.newest = self.times.newest.max(Some(segment.order));
        self.advanced = true;
    }

    #[inline]
    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        if let Some(dupack) = &mut self.without_sack {
            dupack.on_ack(board, facts);
            return;
        }
        self.by_ack = false;
        self.fack = self.fack_next;
        self.measure_reordering();
        self.update_window(board, facts);
        if !std::mem::take(&mut self.advanced) || facts.late_original {
            return;
        }
        self.times.detect(board, facts.now);
        let wait = |at: Instant| at.saturating_since(facts.now) + TIMER_MARGIN;
        self.times.timeout = self.times.timeout.map(|at| expiry(facts.now, wait(at), self.timer_tick));
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.times.timeout
    }

    fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
        self.times.timeout = None;
        if let Some(dupack) = &mut self.without_sack {
            dupack.on_retransmission_timeout(snd_nxt);
        }
    }

    /// RFC 8985 section 6.2 step 4: the widened window wears off.
    fn on_recovered(&mut self) {
        self.window_persists = self.window_persists.saturating_sub(1);
    }

    /// What was marked is so no longer: the present ACK judges anew.
    fn on_spurious(&mut self) {
        self.advanced = true;
    }

    fn on_late_original(&mut self, start: u64) {
        self.note_late(start, true);
    }

    fn reordering(&self) -> Reordering {
        self.reordering
    }

    fn heeds_late_originals(&self) -> bool {
        true
    }

    fn judges_again(&self) -> bool {
        false
    }

    fn looks_at_departures(&self) -> bool {
        true
    }

    fn takes_sack_from_below(&self) -> bool {
        true
    }

    /// Linux has one timer for both.
    fn on_probe_scheduled(&mut self) {
        self.times.timeout = None;
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, now: Instant) {
        self.times.detect(board, now);
        // What is left waits for the next ACK.
        self.times.timeout = None;
    }

    fn holds_growth(&self, after_timeout: bool) -> bool {
        after_timeout || !self.reordering_seen
    }

    fn probes_tail(&self) -> bool {
        self.parameters.tail_loss_probe
    }

    fn probe_timeout(&self, tail: &Tail) -> Span {
        tail.srtt.saturating_mul(2) + if tail.single { self.parameters.max_ack_delay } else { Span::ZERO }
    }

    fn on_established(&mut self, handshake: &Handshake) {
        self.timer_tick = handshake.timer_tick;
        self.without_sack = (!handshake.sack).then(|| Box::new(Dupack::new(DUP_THRESH as u32)));
    }

    fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
        if let Some(dupack) = &mut self.without_sack {
            dupack.on_duplicate_without_sack(board);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(at: u64) -> Instant {
        Instant::ZERO + Span::from_ms(at)
    }

    fn facts(dsack: bool, newest_delivered_before: Option<u64>, delivered: u64) -> AckFacts {
        AckFacts {
            now: ms(1000),
            snd_una: 1,
            snd_nxt: 100,
            dsack,
            late_original: false,
            newest_delivered_before,
            delivered,
            in_recovery: false,
            srtt: Span::from_ms(500),
            min_rtt: Span::from_ms(40),
            echo_rtt: None,
            expected_samples: 1,
        }
    }

    /// A DSACK alone waits for an ACK that delivers; then the next one counts with a segment that left when what was
    /// delivered at the widening had been, and one that left before takes it back.
    #[test]
    fn the_window_widens_once_a_round_of_deliveries() {
        let mut rack = LinuxRack::new(&LinuxRackParameters::default());
        rack.on_late_original(1);
        let rows = [
            (true, None, 100, 1),
            (false, Some(50), 110, 2),
            (true, Some(109), 120, 2),
            (false, Some(110), 130, 2),
            (true, Some(110), 140, 3),
        ];
        for (number, (dsack, before, delivered, multiplier)) in rows.into_iter().enumerate() {
            rack.update_window(&Scoreboard::new(1), &facts(dsack, before, delivered));
            assert_eq!(rack.window_multiplier, multiplier, "ACK {number}");
            assert_eq!(rack.times.window, Span::from_ms(10 * u64::from(multiplier)));
        }
    }

    /// RFC 8985 section 6.2 step 4: a widened window persists for 16 recoveries.
    #[test]
    fn a_widened_window_wears_off_after_sixteen_recoveries() {
        let mut rack = LinuxRack::new(&LinuxRackParameters::default());
        rack.on_late_original(1);
        rack.update_window(&Scoreboard::new(1), &facts(true, Some(50), 100));
        for (recoveries, window_ms) in [(0, 20), (15, 20), (1, 10)] {
            (0..recoveries).for_each(|_| rack.on_recovered());
            rack.update_window(&Scoreboard::new(1), &facts(false, Some(100), 110));
            assert_eq!(rack.times.window, Span::from_ms(window_ms));
        }
    }

    /// Two segments leave, the second is delivered: the first is lost a round trip and a window after it left, unless
    /// the ACK tells of a late original.
    #[test]
    fn the_ack_of_a_late_original_finds_no_losses() {
        for (late_original, lost) in [(false, 1), (true, 0)] {
            let mut board = Scoreboard::new(1);
            board.push(0, 1, false, ms(0), Default::default());
            board.push(1, 2, false, ms(900), Default::default());
            let mut rack = LinuxRack::new(&LinuxRackParameters::default());
            board.selectively_acknowledge(1, 2, |sent| {
                let (start, end, sent_at, order) = (sent.start, sent.end, sent.sent_at, sent.order);
                let segment = DeliveredSegment {
                    start,
                    end,
                    sent_at,
                    order,
                    retransmitted: false,
                    echoes_earlier: false,
                    by_sack: true,
                };
                rack.on_delivered(ms(1000), &segment, Span::from_ms(40));
            });
            rack.on_ack(&mut board, &AckFacts { late_original, ..facts(false, Some(0), 1) });
            assert_eq!(board.lost(), lost, "{late_original}");
        }
    }

    /// RFC 8985 section 6.2 step 2: an ACK that comes sooner behind a retransmission than any round trip lasted answers
    /// the original.
    #[test]
    fn an_ack_sooner_than_any_round_trip_answers_the_original() {
        for (rtt_ms, counts) in [(39, false), (40, true)] {
            let sent_at = ms(1000 - rtt_ms);
            let mut board = Scoreboard::new(1);
            board.push(0, 1, false, sent_at, Default::default());
            let mut rack = LinuxRack::new(&LinuxRackParameters::default());
            board.acknowledge(1, |sent| {
                let segment = DeliveredSegment {
                    start: 0,
                    end: 1,
                    sent_at,
                    order: sent.order,
                    retransmitted: true,
                    echoes_earlier: false,
                    by_sack: false,
                };
                rack.on_delivered(ms(1000), &segment, Span::from_ms(40));
            });
            assert_eq!((rack.advanced, rack.times.newest.is_some()), (counts, counts), "{rtt_ms} ms");
        }
    }
}
