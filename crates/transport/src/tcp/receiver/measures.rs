//! Round trips and pauses as a receiver measures them that tunes its window or delays no first ACKs.

use super::Receiver;
use crate::config::TcpConfig;
use crate::segment::Segment;
use crate::tcp::quick_acks::QuickAcks;
use crate::tcp::receive_window::RoundTrip;
use anabranch_units::{Instant, Span};

/// What only a receiver has to which they matter.
#[derive(Debug)]
pub(super) struct Measures {
    pub(super) round_trip: RoundTrip,
    pub(super) quick: QuickAcks,
}

impl Measures {
    /// Nothing has come; none where nothing is to be measured.
    pub(super) fn new(config: &TcpConfig) -> Option<Self> {
        let quick = QuickAcks::new(config.quick_acks);
        (config.autotuning || config.quick_acks > 0).then(|| Self { round_trip: RoundTrip::default(), quick })
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
        let Some(Measures { round_trip, quick }) = self.measures.as_deref_mut() else { return };
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

    /// Half of the window in full segments.
    fn half_window(&self) -> u64 {
        self.window.bytes() / (2 * u64::from(self.config.mss))
    }
}
