//! RACK: losses by time (RFC 8985 section 6), with its adaptive reordering window.

use super::dupack::Dupack;
use super::{AckFacts, ConfiguredDetection, DeliveredSegment, Handshake, LossDetection, Tail};
use crate::log::LossCause;
use crate::tcp::scoreboard::{Judgement, Scoreboard};
use anabranch_units::declaration::at_most;
use anabranch_units::{Instant, Span};

/// RFC 8985 section 6.2 step 4: recoveries for which a widened window persists.
pub(super) const WINDOW_PERSISTS: u32 = 16;
/// RFC 8985 section 6.2 step 4: SACKed segments that stand for "no reordering here".
pub(super) const DUP_THRESH: u64 = 3;

anabranch_units::parameters! {
    /// RACK-TLP: losses by time (RFC 8985).
    pub struct RackParameters {
        /// Tail loss probes (RFC 8985 section 7).
        tail_loss_probe: bool = true;
        /// How long a probe of a single segment waits for a delayed ACK beside two round trips (RFC 8985 section
        /// 7.2); the default is Linux's smallest timeout.
        max_ack_delay: Span = Span::from_ms(200), at_most(Span::LONGEST_INPUT);
    }
}

/// By which times segments are judged.
#[derive(Default, Debug)]
pub(super) struct RackTimes {
    /// The most recently sent segment that was delivered, by its place among all transmissions.
    /// RACK.xmit_ts and RACK.end_seq in the RFC, whose tie-break by sequence number misjudges a
    /// retransmission that leaves in the same instant as new data.
    pub(super) newest: Option<u64>,
    /// RACK.rtt
    pub(super) rtt: Span,
    /// RACK.reo_wnd
    pub(super) window: Span,
    /// When to look again.
    pub(super) timeout: Option<Instant>,
}

impl RackTimes {
    /// RFC 8985 section 6.2 step 5: everything sent before the newest delivered segment is lost
    /// once a round trip and the reordering window have passed.
    pub(super) fn detect(&mut self, board: &mut Scoreboard, now: Instant) {
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

/// State of RFC 8985 section 5.2.
#[derive(Debug)]
pub struct Rack {
    tail_loss_probe: bool,
    max_ack_delay: Span,
    /// Loss detection where the peer does not grant SACK, without which there is no RACK.
    without_sack: Option<Box<Dupack>>,
    times: RackTimes,
    /// RACK.fack: highest position delivered.
    fack: u64,
    reordering_seen: bool,
    window_multiplier: u32,
    window_persists: u32,
    /// RACK.dsack_round: snd_nxt when the window was last widened.
    dsack_round: Option<u64>,
}

impl Rack {
    pub(crate) fn new(parameters: &RackParameters) -> Self {
        Self {
            tail_loss_probe: parameters.tail_loss_probe,
            max_ack_delay: parameters.max_ack_delay,
            without_sack: None,
            times: RackTimes::default(),
            fack: 0,
            reordering_seen: false,
            window_multiplier: 1,
            window_persists: WINDOW_PERSISTS,
            dsack_round: None,
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
        self.times.window = if unknown || (!self.reordering_seen && settled) {
            Span::ZERO
        } else {
            (facts.min_rtt / 4).saturating_mul(u64::from(self.window_multiplier)).min(facts.srtt)
        };
    }
}

impl ConfiguredDetection for Rack {
    type Parameters = RackParameters;

    fn configured(parameters: &RackParameters) -> Self {
        Self::new(parameters)
    }

    /// Linux, whose loss detection RACK is, bounds the margin by its smallest timeout, which leaves room for a
    /// delayed ACK.
    fn rto_margin(min_rto: Span, _granularity: Span) -> Span {
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
        if segment.answers_earlier(now, min_rtt) {
            return;
        }
        self.times.rtt = rtt;
        self.times.newest = self.times.newest.max(Some(segment.order));
    }

    #[inline]
    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        if let Some(dupack) = &mut self.without_sack {
            dupack.on_ack(board, facts);
            return;
        }
        self.update_window(board, facts);
        // Without anything in flight before the newest delivered segment there is nothing to judge.
        self.times.detect(board, facts.now);
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.times.timeout
    }

    /// The sender has marked the whole window lost, where RFC 8985 section 6.3 would spare what left
    /// within the last round trip: by the time the timer expires that is rarely anything.
    fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
        self.times.timeout = None;
        if let Some(dupack) = &mut self.without_sack {
            dupack.on_retransmission_timeout(snd_nxt);
        }
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
        self.times.detect(board, now);
    }

    /// As Linux: once there has been reordering, whatever is delivered lets the window grow.
    fn holds_growth(&self, after_timeout: bool) -> bool {
        after_timeout || !self.reordering_seen
    }

    fn probes_tail(&self) -> bool {
        self.tail_loss_probe
    }

    fn probe_timeout(&self, tail: &Tail) -> Span {
        tail.srtt.saturating_mul(2) + if tail.single { self.max_ack_delay } else { Span::ZERO }
    }

    /// RFC 8985 section 3.2 wants SACK; RFC 5681 and RFC 6582 do without.
    fn on_established(&mut self, handshake: &Handshake) {
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
    use crate::tcp::scoreboard::Delivery;

    const MIN_RTT: Span = Span::from_ms(40);
    const SRTT: Span = Span::from_ms(50);

    fn ms(at: u64) -> Instant {
        Instant::ZERO + Span::from_ms(at)
    }

    fn segment(start: u64, order: u64, sent_at: Instant) -> DeliveredSegment {
        DeliveredSegment {
            start,
            end: start + 1,
            sent_at,
            order,
            retransmitted: false,
            echoes_earlier: false,
            by_sack: true,
        }
    }

    fn facts(snd_una: u64, dsack: bool) -> AckFacts {
        AckFacts {
            now: ms(1000),
            snd_una,
            snd_nxt: snd_una + 10,
            dsack,
            late_original: false,
            newest_delivered_before: None,
            delivered: 0,
            in_recovery: false,
            srtt: SRTT,
            min_rtt: MIN_RTT,
            echo_rtt: None,
            expected_samples: 1,
        }
    }

    /// A detection that has seen reordering: a segment below one that was delivered before.
    fn reordered() -> Rack {
        let mut rack = Rack::new(&RackParameters::default());
        rack.on_delivered(ms(40), &segment(5, 6, ms(0)), MIN_RTT);
        rack.on_delivered(ms(41), &segment(3, 4, ms(0)), MIN_RTT);
        rack
    }

    /// The window after an ACK of a round of its own.
    fn window(rack: &mut Rack, round: u64, dsack: bool) -> Span {
        rack.update_window(&Scoreboard::new(1), &facts(100 * round, dsack));
        rack.times.window
    }

    /// Section 6.2 step 4: a quarter of the smallest RTT, one more for each round with a DSACK, at most SRTT.
    #[test]
    fn the_window_widens_once_a_round_with_dsack_up_to_srtt() {
        let mut rack = reordered();
        assert_eq!(window(&mut rack, 0, false), MIN_RTT / 4);
        assert_eq!(window(&mut rack, 1, true), MIN_RTT / 4 * 2);
        assert_eq!(window(&mut rack, 1, true), MIN_RTT / 4 * 2, "the same round");
        assert_eq!(window(&mut rack, 2, true), MIN_RTT / 4 * 3);
        assert_eq!(window(&mut rack, 3, true), MIN_RTT);
        assert_eq!(window(&mut rack, 4, true), SRTT);
        assert_eq!(window(&mut rack, 5, true), SRTT);
    }

    /// Section 6.2 step 4: a widened window persists for 16 recoveries, and a DSACK starts the count anew.
    #[test]
    fn a_widened_window_wears_off_after_sixteen_recoveries() {
        let mut rack = reordered();
        let wide = MIN_RTT / 4 * 2;
        assert_eq!(window(&mut rack, 0, true), wide);
        for recovery in 1..=15 {
            rack.on_recovered();
            assert_eq!(window(&mut rack, recovery, false), wide, "after {recovery} recoveries");
        }
        assert_eq!(window(&mut rack, 16, true), MIN_RTT / 4 * 3);
        for recovery in 17..=31 {
            rack.on_recovered();
            assert_eq!(window(&mut rack, recovery, false), MIN_RTT / 4 * 3, "{recovery}");
        }
        rack.on_recovered();
        assert_eq!(window(&mut rack, 32, false), MIN_RTT / 4);
    }

    fn delivery() -> Delivery {
        Delivery { delivered: 0, delivered_at: ms(0), first_sent_at: ms(0), app_limited: false }
    }

    /// Section 6.2 step 4: without a sign of reordering the window is zero in recovery and with three segments
    /// SACKed (DupThresh); with one it is kept.
    #[test]
    fn without_reordering_three_sacks_or_a_recovery_close_the_window() {
        for (seen, sacked, in_recovery, open) in [
            (false, 2, false, true),
            (false, 3, false, false),
            (false, 0, true, false),
            (true, 3, true, true),
        ] {
            let mut rack = if seen { reordered() } else { Rack::new(&RackParameters::default()) };
            let mut board = Scoreboard::new(1);
            for start in 0..10 {
                board.push(start, start + 1, false, ms(0), delivery());
            }
            board.selectively_acknowledge(1, 1 + sacked, |_| {});
            rack.update_window(&board, &AckFacts { in_recovery, ..facts(0, false) });
            let expected = if open { MIN_RTT / 4 } else { Span::ZERO };
            assert_eq!(rack.times.window, expected, "{seen} {sacked} {in_recovery}");
        }
    }

    /// Section 6.2 step 3: neither a retransmission below the highest delivered segment nor segments in order are
    /// reordering.
    #[test]
    fn only_an_original_below_the_highest_delivered_is_reordering() {
        for (start, retransmitted, seen) in
            [(3, false, true), (3, true, false), (5, false, false), (6, false, false)]
        {
            let mut rack = Rack::new(&RackParameters::default());
            rack.on_delivered(ms(40), &segment(5, 6, ms(0)), MIN_RTT);
            rack.on_delivered(
                ms(80),
                &DeliveredSegment { retransmitted, ..segment(start, 7, ms(10)) },
                MIN_RTT,
            );
            assert_eq!(rack.reordering_seen, seen, "{start} {retransmitted}");
        }
    }

    /// What was taken for loss was reordering: the window stays open in recovery from then on.
    #[test]
    fn an_episode_without_a_loss_was_reordering() {
        let mut rack = Rack::new(&RackParameters::default());
        let settled = AckFacts { in_recovery: true, ..facts(0, false) };
        rack.update_window(&Scoreboard::new(1), &settled);
        assert_eq!((rack.times.window, rack.holds_growth(false)), (Span::ZERO, true));
        rack.on_spurious();
        rack.update_window(&Scoreboard::new(1), &settled);
        assert_eq!((rack.times.window, rack.holds_growth(false)), (MIN_RTT / 4, false));
    }

    /// Section 6.2 step 2: an ACK within the smallest RTT of a retransmission, or one that echoes an earlier
    /// timestamp, answers the original; RACK.rtt and RACK.xmit_ts stay.
    #[test]
    fn an_ack_too_soon_after_a_retransmission_tells_nothing() {
        for (now, echoes_earlier, retransmitted, taken) in [
            (139, false, true, false),
            (140, false, true, true),
            (150, true, true, false),
            (139, false, false, true),
        ] {
            let mut rack = Rack::new(&RackParameters::default());
            rack.on_delivered(ms(45), &segment(5, 6, ms(0)), MIN_RTT);
            let again = DeliveredSegment { retransmitted, echoes_earlier, ..segment(0, 9, ms(100)) };
            rack.on_delivered(ms(now), &again, MIN_RTT);
            let expected =
                if taken { (Some(9), Span::from_ms(now - 100)) } else { (Some(6), Span::from_ms(45)) };
            assert_eq!(
                (rack.times.newest, rack.times.rtt),
                expected,
                "{now} {echoes_earlier} {retransmitted}"
            );
        }
    }

    /// Section 6.2 step 5: lost is what was sent before the newest delivered segment, once a round trip and the
    /// window have passed; until then the timer runs for the last of them.
    #[test]
    fn a_hole_is_lost_after_a_round_trip_and_the_window() {
        let mut board = Scoreboard::new(1);
        for (start, at) in [(0, 0), (1, 2), (2, 4), (3, 4)] {
            board.push(start, start + 1, false, ms(at), delivery());
        }
        let mut rack = Rack::new(&RackParameters::default());
        let sent = segment(2, board.get(board.number_at(2).expect("outstanding")).order, ms(4));
        board.selectively_acknowledge(2, 3, |_| {});
        rack.on_delivered(ms(44), &sent, MIN_RTT);
        rack.times.window = Span::from_ms(10);
        // A round trip of 40 ms and 10 ms: the first is due at 50, the second at 52 ms; the last left after.
        rack.times.detect(&mut board, ms(49));
        assert_eq!((board.lost(), rack.next_timeout()), (0, Some(ms(52))));
        rack.times.detect(&mut board, ms(50));
        assert_eq!((board.lost(), rack.next_timeout()), (1, Some(ms(52))));
        rack.times.detect(&mut board, ms(52));
        assert_eq!((board.lost(), rack.next_timeout()), (2, None));
        rack.times.detect(&mut board, ms(5000));
        assert_eq!(board.lost(), 2, "what left after the newest delivered segment is not judged");
    }

    /// Section 3.2: without SACK there is no RACK; three duplicate ACKs tell of a loss (RFC 5681 section 3.2).
    #[test]
    fn without_sack_three_duplicates_tell() {
        let mut rack = Rack::new(&RackParameters::default());
        rack.on_established(&Handshake {
            rtt: None,
            sack: false,
            ack_delay: Span::ZERO,
            initial_rto: Span::from_secs(1),
            min_rto: Span::from_ms(200),
            max_rto: Span::from_secs(60),
            timer_tick: Span::ZERO,
        });
        let mut board = Scoreboard::new(1);
        for start in 1..6 {
            board.push(start, start + 1, false, ms(999), Delivery::default());
        }
        rack.on_ack(&mut board, &facts(1, false));
        for lost in [0, 0, 1] {
            rack.on_duplicate_without_sack(&mut board);
            rack.on_ack(&mut board, &facts(1, false));
            assert_eq!(board.lost(), lost);
        }
    }
}
