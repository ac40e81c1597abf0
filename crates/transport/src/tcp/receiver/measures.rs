//! Round trips and pauses as a receiver measures them that tunes its window or delays no first ACKs.

use super::Receiver;
use crate::config::TcpConfig;
use crate::segment::{Flags, Segment};
use crate::tcp::quick_acks::QuickAcks;
use crate::tcp::receive_window::RoundTrip;
use anabranch_units::{Instant, Span};

/// What only a receiver has to which they matter.
#[derive(Debug)]
pub(super) struct Measures {
    pub(super) round_trip: RoundTrip,
    pub(super) quick: QuickAcks,
    /// None where a short segment is acknowledged like any other.
    pub(super) ends: Option<EndsOfWrites>,
}

/// Payload of a full segment before any has come, and the least that is taken for one (RFC 9293 section 3.7.1, the MSS where
/// none is told), in bytes.
const LEAST_FULL: u16 = 536;
/// What the least one has beside its payload.
const OPTIONS: u16 = 12;

/// Segments that end what the other end wrote, as Linux tells them: by their length beside that of the others, or by PSH.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndsOfWrites {
    /// Payload of a full segment of the other end, in bytes.
    full: u16,
    /// Payload of the last one that was shorter: two of the same length in a row are full ones of a smaller MSS.
    last_short: u16,
    /// One has come that no ACK has answered yet.
    pub(super) waits: bool,
}

impl EndsOfWrites {
    const fn new() -> Self {
        Self { full: LEAST_FULL, last_short: 0, waits: false }
    }

    /// A segment has come in order.
    #[inline]
    fn on_data(&mut self, payload: u16, pushed: bool) {
        if payload >= self.full {
            self.full = payload;
            self.waits |= pushed;
        } else if payload >= LEAST_FULL - OPTIONS && payload == self.last_short {
            self.full = payload;
        } else {
            self.last_short = payload;
            self.waits = true;
        }
    }
}

impl Measures {
    /// Nothing has come; none where nothing is to be measured.
    pub(super) fn new(config: &TcpConfig) -> Option<Self> {
        let quick = QuickAcks::new(config.quick_acks);
        let ends = config.acks_end_of_write.then(EndsOfWrites::new);
        let measures = config.autotuning || config.quick_acks > 0 || ends.is_some();
        measures.then(|| Self { round_trip: RoundTrip::default(), quick, ends })
    }
}

impl Receiver {
    /// The round trip as it sees it; zero before the first sample.
    #[inline]
    pub(crate) fn round_trip(&self) -> Span {
        self.measures.as_ref().map_or(Span::ZERO, |measures| measures.round_trip.smoothed())
    }

    /// Round trips, pauses and the growth of the window; apart from the way of a receiver that measures none.
    #[inline(never)]
    pub(super) fn measure(&mut self, now: Instant, segment: &Segment) {
        let (half_window, unread) = (self.half_window(), self.unread());
        let Some(Measures { round_trip, quick, ends }) = self.measures.as_deref_mut() else { return };
        if let Some(ends) = ends {
            ends.on_data(segment.payload, segment.flags.has(Flags::PSH));
        }
        round_trip.on_data(now, segment, self.clock, self.rcv_nxt, self.window.bytes());
        let (rtt, TcpConfig { initial_rto, min_rto, .. }) = (round_trip.smoothed(), &*self.config);
        // What RFC 6298 section 2.2 makes of one sample.
        let pause = if rtt == Span::ZERO { *initial_rto } else { rtt + (rtt + rtt).max(*min_rto) };
        quick.on_data(now, half_window, pause);
        if self.window.on_data(u64::from(segment.payload), unread) {
            quick.on_growth();
        }
    }

    /// The sender has lost ACKs, or waits for them.
    pub(super) fn refill_quick_acks(&mut self) {
        let half_window = self.half_window();
        if let Some(measures) = &mut self.measures {
            measures.quick.refill(half_window);
        }
    }

    /// Whether the application has read the end of what the other end wrote, and nobody has told that end.
    #[inline]
    pub(super) fn owes_ack_for_end(&self) -> bool {
        let waits = self.measures.as_ref().and_then(|measures| measures.ends).is_some_and(|ends| ends.waits);
        waits && self.unread() == 0 && !self.multipath
    }

    /// The application has read all that the connection of this subflow has: an end that waits is acknowledged at once.
    /// Returns whether one did.
    pub(crate) fn on_all_read(&mut self) -> bool {
        let waits = self.measures.as_ref().and_then(|measures| measures.ends).is_some_and(|ends| ends.waits);
        self.ack_now |= waits;
        waits
    }

    /// Half of the window in full segments.
    fn half_window(&self) -> u64 {
        self.window.bytes() / (2 * u64::from(self.config.mss))
    }
}
