//! TCP-PR: losses by timers alone (Bohacek, Hespanha, Lee, Lim, Obraczka: "TCP-PR: TCP for Persistent Packet
//! Reordering", ICDCS 2003; extended in "A New TCP for Persistent Packet Reordering", IEEE/ACM ToN 14(2), 2006).
//!
//! What differs from the paper, because windows are congestion control's business here:
//! - a drop starts fast recovery, which halves from the window at the time of sending as the paper does
//!   ([`Verdict::window_at_sending`]), and then holds the window until what was outstanding is acknowledged,
//!   about one round trip; the paper's window grows at once;
//! - the window after extreme losses is the controller's after a timeout: one segment, as in the paper, and
//!   ssthresh at half the window that was lost;
//! - a single segment in flight waits for the receiver's ACK delay, too, as the probe of RFC 8985 section 7.2
//!   does: the receivers of the paper acknowledge every segment.

use super::{DeliveredSegment, TransmissionFacts, Verdict};
use crate::tcp::scoreboard::{Judgement, Scoreboard};
use anabranch_units::{Instant, Span};
use std::collections::VecDeque;

/// Least mxrtt after extreme losses (ICDCS 2003, section on extreme losses: as RFC 2988's smallest RTO), and
/// mxrtt before the first sample (RFC 6298 section 2.1).
const ONE_SECOND: Span = Span::from_secs(1);
/// Largest backed-off mxrtt (RFC 6298 section 2.5).
const LARGEST: Span = Span::from_secs(60);

/// The timers of TCP-PR.
#[derive(Debug)]
pub(crate) struct TcpPr {
    alpha: f64,
    beta: f64,
    /// "ewrtt" in ps: an envelope over the RTT samples; 0 before the first.
    ewrtt_ps: f64,
    mxrtt: Span,
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
    verdict: Verdict,
}

impl TcpPr {
    pub(crate) fn new(alpha: f64, beta: f64) -> Self {
        Self {
            alpha,
            beta,
            ewrtt_ps: 0.0,
            mxrtt: ONE_SECOND,
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
            verdict: Verdict::default(),
        }
    }

    #[inline]
    pub(crate) fn on_sent(&mut self, facts: &TransmissionFacts) {
        if self.windows.is_empty() {
            self.first_order = facts.order;
        }
        self.windows.push_back(facts.cwnd);
        if self.timeout.is_none() {
            self.timeout = Some(facts.now.saturating_add(self.mxrtt + facts.ack_delay));
        }
        self.cwnd = facts.cwnd;
        self.full_payload = facts.full_payload;
        self.ack_delay = facts.ack_delay;
    }

    /// "ACK received for packet n" (ICDCS 2003, Table 1). A sample of a retransmission whose original was
    /// acknowledged is too short, which the maximum makes harmless.
    #[inline]
    pub(crate) fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment) {
        let cwnd = (self.cwnd as f64 / self.full_payload as f64).max(1.0);
        // ewrtt = max(alpha^(1/cwnd) x ewrtt, sample); mxrtt = beta x ewrtt
        let decayed = libm::pow(self.alpha, 1.0 / cwnd) * self.ewrtt_ps;
        self.ewrtt_ps = decayed.max(now.since(segment.sent_at).as_ps() as f64);
        self.mxrtt = Span::from_ps((self.beta * self.ewrtt_ps) as u64).min(LARGEST);
        self.silent = false;
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, board: &mut Scoreboard, now: Instant) {
        self.detect(board, now);
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
        board.judge_oldest_first(|sent| {
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
            self.verdict.window_at_sending = Some(self.burst_window);
            self.verdict.again = true;
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

    /// Extreme losses: a window of one segment, and mxrtt at least a second until something is delivered.
    fn collapse(&mut self, mxrtt: Span) {
        self.mxrtt = mxrtt.max(ONE_SECOND).min(LARGEST);
        self.verdict.collapse = true;
    }

    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.timeout
    }

    #[inline]
    pub(crate) fn take_verdict(&mut self) -> Verdict {
        std::mem::take(&mut self.verdict)
    }
}
