//! A window that is shut: the sender asks now and then whether it is open again (RFC 9293 section 3.8.6.1), and does not
//! fill one that has opened by little (section 3.8.6.2.1).

use super::Sender;
use crate::segment::Segment;
use crate::tcp::ticks::expiry;
use anabranch_units::{Instant, MaybeInstant, rarely};

/// A part of the largest window that is worth a segment, as a divisor (RFC 9293 section 3.8.6.2.1).
const WORTH_SENDING: u64 = 2;
/// Most doublings of the time between two probes; the largest timeout comes sooner.
const MOST_DOUBLINGS: u32 = 30;

/// The persist timer.
#[derive(Default, Debug)]
pub(super) struct Persist {
    /// When it expires; none while nothing waits for a window.
    pub(super) at: MaybeInstant,
    due: bool,
    /// The connection of this subflow asks.
    pub(super) ask: bool,
    /// How often it has expired since the window shut.
    expired: u32,
    /// The largest window that the peer has announced, in bytes.
    largest: u64,
}

impl Persist {
    #[inline]
    pub(super) fn on_window(&mut self, bytes: u64) {
        self.largest = self.largest.max(bytes);
    }

    /// Data leave.
    #[inline]
    pub(super) fn stop(&mut self) {
        if rarely(self.at.is_some()) {
            *self = Self { largest: self.largest, ..Self::default() };
        }
    }

    #[inline]
    pub(super) fn on_timeout(&mut self, now: Instant) {
        self.due |= self.at.has_come(now);
    }
}

impl Sender {
    /// Whether data wait for a window that lets no more than `payload` bytes leave, where nothing is under way that would
    /// be acknowledged; the persist timer runs then. The connection of a multipath one has its own window.
    #[cold]
    pub(super) fn awaits_window(&mut self, now: Instant, payload: u64) -> bool {
        let waits = payload == 0 || WORTH_SENDING * payload < self.persist.largest;
        if self.is_subflow() || !self.board.is_empty() || !waits {
            return false;
        }
        if !self.persist.at.is_some() {
            self.start_persist(now);
        }
        true
    }

    /// The retransmission timeout first, then twice as long each time (RFC 1122 section 4.2.2.17).
    fn start_persist(&mut self, now: Instant) {
        let doubled = 1 << self.persist.expired.min(MOST_DOUBLINGS);
        let span = self.rtt.rto().saturating_mul(doubled).min(self.config.max_rto);
        self.persist.at = expiry(now, span, self.config.timer_tick).into();
    }

    /// What leaves when the persist timer has expired: what an open window takes, however little; otherwise an old number
    /// without data, as Linux has it, which is answered by an ACK with the window (RFC 9293 section 3.10.7.4). An octet
    /// that the peer had already would do the same, and be reported as a duplicate.
    #[inline(never)]
    pub(super) fn window_probe(&mut self, now: Instant) -> Option<Segment> {
        if !std::mem::take(&mut self.persist.due) || !self.board.is_empty() {
            return None;
        }
        self.persist.expired += 1;
        self.start_persist(now);
        let unsent = self.written.saturating_sub(self.snd_nxt);
        let window = self.window_edge.saturating_sub(self.snd_nxt);
        let payload = unsent.min(window).min(self.full_payload);
        if payload == 0 {
            return Some(self.header(now, self.snd_una - 1));
        }
        let fin = self.closing && !self.fin_sent && payload == unsent;
        Some(self.first_transmission(now, 0, payload, fin))
    }
}
