//! TCP-PR: losses by timers alone (Bohacek, Hespanha, Lee, Lim, Obraczka: "TCP-PR: TCP for Persistent Packet
//! Reordering", ICDCS 2003; extended in "A New TCP for Persistent Packet Reordering", IEEE/ACM ToN 14(2), 2006).
//!
//! What differs from the paper, because windows are congestion control's business here:
//! - a drop starts fast recovery, which halves from the window at the time of sending as the paper does
//!   ([`LossResponse::window_at_sending`]), and then holds the window until what was outstanding is acknowledged,
//!   about one round trip; the paper's window grows at once;
//! - the window after extreme losses is the controller's after a timeout: one segment, as in the paper, and
//!   ssthresh at half the window that was lost;
//! - a single segment in flight waits for the receiver's ACK delay, too, as the probe of RFC 8985 section 7.2
//!   does: the receivers of the paper acknowledge every segment;
//! - "one second", which mxrtt is before the first sample and at least after extreme losses, is `initial_rto` and `min_rto`:
//!   the paper takes it for RFC 2988's smallest timeout, and in a fabric it is fifty thousand round trips.

use super::{
    AckFacts, ConfiguredDetection, DeliveredSegment, Handshake, LossDetection, LossResponse,
    TransmissionFacts, WatchesTransmissions,
};
use crate::log::LossCause;
use crate::tcp::scoreboard::{Judgement, Scoreboard};
use anabranch_units::declaration::above;
use anabranch_units::{Instant, Span};
use std::collections::VecDeque;

anabranch_units::parameters! {
    /// TCP-PR (Bohacek et al., ICDCS 2003): a timer for each segment, duplicate ACKs mean nothing.
    pub struct TcpPrParameters {
        /// Factor by which the envelope of the RTT, ewrtt, decays over a window of ACKs ("alpha").
        ewrtt_alpha: f64 = 0.995, above(0.0).below(1.0);
        /// A segment is lost when it has been out for so many ewrtt ("beta").
        mxrtt_beta: f64 = 3.0, above(1.0);
    }
}

/// The timers of TCP-PR.
#[derive(Debug)]
pub struct TcpPr {
    alpha: f64,
    beta: f64,
    /// "ewrtt" in ps: an envelope over the RTT samples; 0 before the first.
    ewrtt_ps: f64,
    mxrtt: Span,
    /// Least mxrtt after extreme losses (ICDCS 2003, section on extreme losses: RFC 2988's smallest RTO).
    least: Span,
    /// Largest backed-off mxrtt (RFC 6298 section 2.5).
    largest: Span,
    /// "cwnd(n)" in bytes of each transmission from `first_order` on.
    windows: VecDeque<u64>,
    first_order: u64,
    cwnd: u64,
    full_payload: u64,
    ack_delay: Span,
    /// "memorize": what was in flight at the last new drop, that is every transmission up to this one that has
    /// neither been delivered nor dropped since.
    memorized: u64,
    /// "cburst": drops of the window that the last new drop belongs to, that one included.
    burst: u64,
    /// "cwnd(n)" of the last new drop, in bytes.
    burst_window: u64,
    /// Nothing has been delivered since the last new drop.
    silent: bool,
    timeout: Option<Instant>,
    response: LossResponse,
}

impl TcpPr {
    pub(crate) fn new(alpha: f64, beta: f64) -> Self {
        Self {
            alpha,
            beta,
            ewrtt_ps: 0.0,
            mxrtt: Span::ZERO,
            least: Span::ZERO,
            largest: Span::MAX,
            windows: VecDeque::new(),
            first_order: 1,
            cwnd: 1,
            full_payload: 1,
            ack_delay: Span::ZERO,
            memorized: 0,
            burst: 0,
            burst_window: 0,
            silent: false,
            timeout: None,
            response: LossResponse::default(),
        }
    }

    /// "time > time(n) + mxrtt: drop detected for packet n" (ICDCS 2003, Table 1).
    pub(crate) fn detect(&mut self, board: &mut Scoreboard, now: Instant) {
        // One segment alone may be the one whose ACK is held back.
        let patience =
            if board.pipe() <= self.full_payload { self.mxrtt + self.ack_delay } else { self.mxrtt };
        self.timeout = None;
        let mut timeout = None;
        let mut oldest = None;
        let next = self.first_order + self.windows.len() as u64;
        board.judge_oldest_first(LossCause::TcpPr, |sent| {
            let lost_at = sent.sent_at.saturating_add(patience);
            if lost_at <= now {
                self.on_drop(sent.order, next - 1);
                return Judgement::Lost;
            }
            timeout = Some(lost_at);
            oldest = Some(sent.order);
            Judgement::Stop
        });
        self.timeout = timeout;
        let before = oldest.unwrap_or(next);
        while self.first_order < before && self.windows.pop_front().is_some() {
            self.first_order += 1;
        }
    }

    fn on_drop(&mut self, order: u64, newest: u64) {
        if order > self.memorized {
            // "memorize := to-be-ack; cwnd := cwnd(n) / 2"
            self.memorized = newest;
            self.burst = 0;
            let sent_with = order.checked_sub(self.first_order).and_then(|i| self.windows.get(i as usize));
            self.burst_window = sent_with.copied().unwrap_or(self.cwnd);
            self.response.window_at_sending = Some(self.burst_window);
            self.response.again = true;
            if self.silent {
                // Nothing has come through since the drop before: the back-off of the extreme losses goes on.
                self.collapse(self.mxrtt.saturating_mul(2));
            }
            self.silent = true;
        }
        self.burst += 1;
        // "cburst > cwnd / 2 + 1", once for a burst.
        let limit = self.burst_window / self.full_payload / 2 + 1;
        if self.burst == limit + 1 {
            self.collapse(self.mxrtt);
        }
    }

    /// Extreme losses: a window of one segment, and mxrtt at least the smallest timeout until something is delivered.
    fn collapse(&mut self, mxrtt: Span) {
        self.mxrtt = mxrtt.max(self.least).min(self.largest);
        self.response.collapse = true;
    }
}

impl ConfiguredDetection for TcpPr {
    type Parameters = TcpPrParameters;
    const NEEDS_SACK: bool = true;

    fn configured(parameters: &TcpPrParameters) -> Self {
        Self::new(parameters.ewrtt_alpha, parameters.mxrtt_beta)
    }
}

impl WatchesTransmissions for TcpPr {
    fn on_sent(&mut self, facts: &TransmissionFacts) {
        if self.windows.is_empty() {
            self.first_order = facts.order;
        }
        self.windows.push_back(facts.cwnd);
        if self.timeout.is_none() {
            self.timeout = Some(facts.now.saturating_add(self.mxrtt + self.ack_delay));
        }
        self.cwnd = facts.cwnd;
        self.full_payload = facts.full_payload;
    }
}

impl LossDetection for TcpPr {
    /// Before the first sample mxrtt is what RFC 6298 section 2.1 says.
    fn on_established(&mut self, handshake: &Handshake) {
        self.mxrtt = handshake.initial_rto;
        (self.least, self.largest) = (handshake.min_rto, handshake.max_rto);
        self.ack_delay = handshake.ack_delay;
    }

    fn watcher(&mut self) -> Option<&mut dyn WatchesTransmissions> {
        Some(self)
    }

    /// "ACK received for packet n" (ICDCS 2003, Table 1). A sample of a retransmission whose original was
    /// acknowledged is too short, which the maximum makes harmless.
    #[inline]
    fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment, _: Span) {
        let cwnd = (self.cwnd as f64 / self.full_payload as f64).max(1.0);
        // ewrtt = max(alpha^(1/cwnd) x ewrtt, sample); mxrtt = beta x ewrtt
        let decayed = libm::pow(self.alpha, 1.0 / cwnd) * self.ewrtt_ps;
        self.ewrtt_ps = decayed.max(now.since(segment.sent_at).as_ps() as f64);
        self.mxrtt = Span::from_ps((self.beta * self.ewrtt_ps) as u64).min(self.largest);
        self.silent = false;
    }

    #[inline]
    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        self.detect(board, facts.now);
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, now: Instant) {
        self.detect(board, now);
    }

    fn replaces_retransmission_timer(&self) -> bool {
        true
    }

    /// What was dropped is in flight again, and no timer runs for it if it was all there was.
    fn on_restored(&mut self, now: Instant, _: u64, pipe: u64) {
        if pipe > 0 && self.timeout.is_none() {
            self.timeout = Some(now.saturating_add(self.mxrtt + self.ack_delay));
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.timeout
    }

    #[inline]
    fn take_response(&mut self) -> LossResponse {
        std::mem::take(&mut self.response)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Detector;
    use super::super::testing::{Bench, ms};
    use super::*;
    use crate::LossDetectionConfig;

    const ONE_SECOND: Span = Span::from_secs(1);

    fn bench(alpha: f64, cwnd: u64) -> Bench {
        established(alpha, cwnd, ONE_SECOND)
    }

    /// With so much as first and smallest timeout.
    fn established(alpha: f64, cwnd: u64, rto: Span) -> Bench {
        let parameters = TcpPrParameters { ewrtt_alpha: alpha, mxrtt_beta: 3.0 };
        let mut bench = Bench::new(&LossDetectionConfig::TcpPr(parameters), cwnd);
        bench.detector.on_established(&Handshake {
            rtt: None,
            sack: true,
            ack_delay: Span::ZERO,
            initial_rto: rto,
            min_rto: rto,
            max_rto: Span::from_secs(60),
            timer_tick: Span::ZERO,
        });
        bench
    }

    fn state(bench: &mut Bench) -> &mut TcpPr {
        let Detector::TcpPr(tcp_pr) = &mut bench.detector else { panic!("TCP-PR") };
        tcp_pr
    }

    fn reduction(window: u64) -> LossResponse {
        LossResponse { window_at_sending: Some(window), again: true, collapse: false }
    }

    /// ewrtt = max(alpha^(1/cwnd) x ewrtt, sample) and mxrtt = 3 ewrtt, by hand with alpha = 0.5.
    #[test]
    fn the_envelope_jumps_up_and_decays_by_alpha_over_a_window() {
        let mut b = bench(0.5, 1);
        assert_eq!(state(&mut b).mxrtt, ONE_SECOND, "before the first sample");
        let rows = [
            // cwnd, sample ms, mxrtt ms
            (1, 100, 300.0),
            (1, 20, 150.0),   // 0.5 x 100 = 50 is more than 20
            (1, 80, 240.0),   // 80 is more than 25
            (2, 10, 169.706), // 80 / sqrt(2) = 56.569
            (4, 10, 142.704), // 56.569 / 2^(1/4) = 47.568
        ];
        for (i, (cwnd, sample, mxrtt)) in rows.into_iter().enumerate() {
            b.cwnd = cwnd;
            b.send(1000 * i as u64, 1);
            b.ack(1000 * i as u64 + sample, i as u64 + 1, None, None);
            let got = state(&mut b).mxrtt.as_secs_f64() * 1000.0;
            assert!((got - mxrtt).abs() < 0.001, "row {i}: {got}");
        }
    }

    /// With samples of 20 ms a segment is lost after 60 ms, whatever is reported above it; what was in flight
    /// at the first drop reduces no further, what left later does, from the window that it left with.
    #[test]
    fn drops_of_memorized_segments_do_not_reduce_again() {
        let mut b = bench(0.995, 8);
        b.send(0, 8); // 0 to 7; 0 and 3 will be lost
        for segment in [1, 2, 4, 5, 6, 7] {
            b.sack(20, segment);
        }
        assert!(b.lost().is_empty(), "six reports above segment 0 mean nothing");
        b.cwnd = 10;
        b.send(30, 4); // 8 to 11; 9 will be lost
        b.detector.on_timeout(&mut b.board, ms(59));
        assert_eq!((b.lost(), b.detector.take_response()), (vec![], LossResponse::default()));
        b.detector.on_timeout(&mut b.board, ms(60));
        assert_eq!((b.lost(), b.detector.take_response()), (vec![0, 3], reduction(8)));
        b.cwnd = 4;
        b.repair(61); // 3 will be lost again
        for segment in [8, 10, 11] {
            b.sack(62, segment);
        }
        b.detector.on_timeout(&mut b.board, ms(126));
        // ewrtt is now 32 ms: 9 was sent at 30 and is lost at 126; it was memorized.
        assert_eq!((b.lost(), b.detector.take_response()), (vec![9], LossResponse::default()));
        b.detector.on_timeout(&mut b.board, ms(157));
        // The retransmissions of 61 left after the drop that was memorized.
        assert_eq!((b.lost(), b.detector.take_response()), (vec![0, 3, 9], reduction(4)));
    }

    /// "cwnd := cwnd(n) / 2" (ICDCS 2003, Table 1): the window that the dropped packet left with counts, also when those before
    /// it have been acknowledged and others have left with a larger one.
    #[test]
    fn the_window_at_sending_outlives_those_sent_before() {
        let mut b = bench(0.995, 8);
        b.send(0, 4);
        b.ack(20, 2, None, None);
        b.cwnd = 10;
        b.send(30, 1);
        b.detector.on_timeout(&mut b.board, ms(60));
        assert_eq!((b.lost(), b.detector.take_response()), (vec![2, 3], reduction(8)));
    }

    /// Of a window of 8, 8 / 2 + 1 = 5 drops are a burst, the sixth is extreme: one segment and a second. While
    /// nothing comes through, each further drop doubles it; a delivery ends that.
    #[test]
    fn extreme_losses_back_off() {
        for (delivered, collapse) in [(3, false), (2, true)] {
            let mut b = bench(0.995, 8);
            b.send(0, 8);
            (0..delivered).for_each(|segment| b.sack(20, segment + 1));
            b.detector.on_timeout(&mut b.board, ms(60));
            assert_eq!(b.lost().len() as u64, 8 - delivered);
            assert_eq!(b.detector.take_response(), LossResponse { collapse, ..reduction(8) });
            assert_eq!(state(&mut b).mxrtt, Span::from_ms(if collapse { 1000 } else { 60 }));
        }
        let mut b = bench(0.995, 8);
        b.send(0, 8);
        // Nothing at all arrives; the first mxrtt is a second.
        for (at, mxrtt_ms) in [(1000, 1000), (2000, 2000), (4000, 4000), (8000, 8000)] {
            b.detector.on_timeout(&mut b.board, ms(at));
            assert!(b.detector.take_response().collapse, "at {at}");
            assert_eq!(state(&mut b).mxrtt, Span::from_ms(mxrtt_ms));
            b.cwnd = 1;
            b.repair(at);
        }
        b.ack(8020, 8, None, None);
        assert_eq!(state(&mut b).mxrtt, Span::from_ms(60));
    }

    /// In a fabric the smallest timeout is not a second: with `initial_rto` and `min_rto` of 2 ms the first flight is lost after 2 ms, and
    /// extreme losses wait for as long, and then twice as long.
    #[test]
    fn the_smallest_timeout_is_that_of_the_connection() {
        let mut b = established(0.995, 8, Span::from_ms(2));
        b.send(0, 8);
        for (at, mxrtt_ms) in [(2, 2), (4, 4), (8, 8)] {
            assert_eq!(b.detector.next_timeout(), Some(ms(at)));
            b.detector.on_timeout(&mut b.board, ms(at));
            assert!(b.detector.take_response().collapse, "at {at}");
            assert_eq!(state(&mut b).mxrtt, Span::from_ms(mxrtt_ms));
            b.cwnd = 1;
            b.repair(at);
        }
    }

    /// TCP-PR times each packet in flight: also one that is in flight again because the drop was taken back, with
    /// nothing else out. After extreme losses mxrtt is one second.
    #[test]
    fn what_an_undo_puts_back_in_flight_has_a_timer() {
        let mut b = bench(0.995, 1);
        b.send(0, 1);
        b.detector.on_timeout(&mut b.board, ms(1000));
        assert_eq!((b.lost(), b.detector.next_timeout()), (vec![0], None));
        b.detector.on_restored(ms(1010), 1, 1);
        assert_eq!(b.detector.next_timeout(), Some(ms(2010)));
        // With nothing in flight there is nothing to time.
        let mut idle = bench(0.995, 1);
        idle.detector.on_restored(ms(10), 1, 0);
        assert_eq!(idle.detector.next_timeout(), None);
    }
}
