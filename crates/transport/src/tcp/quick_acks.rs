//! ACKs that are not delayed (`quick_acks`): a sender whose window is small grows it by the ACKs that come, and a
//! delayed one costs it a part of a round trip (RFC 5681 section 4.2 leaves it to the receiver).

use anabranch_units::{Instant, Span};

/// ACKs sent at once behind a CE mark: the sender's window may be very small then.
const AFTER_A_MARK: u32 = 2;

/// How many of the next ACKs are sent at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuickAcks {
    most: u32,
    left: u32,
    last_data: Option<Instant>,
    /// The next ACK is sent for a window that grew, and does not count.
    free: bool,
}

impl QuickAcks {
    /// At most so many in a row; 0 for none.
    pub(crate) const fn new(most: u32) -> Self {
        Self { most, left: 0, last_data: None, free: false }
    }

    /// Whether the next segment is to be acknowledged at once.
    #[inline]
    pub(crate) const fn are_due(&self) -> bool {
        self.left > 0 || self.free
    }

    /// Data have come; `half_window` is half of the window in segments. The first, and those behind a pause longer
    /// than `pause`, come from a sender that starts slowly.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Instant, half_window: u64, pause: Span) {
        if self.last_data.is_none_or(|last| now.saturating_since(last) > pause) {
            self.refill(half_window);
        }
        self.last_data = Some(now);
    }

    /// Data have come that were here already: the sender has lost ACKs, or waits for them.
    pub(crate) fn refill(&mut self, half_window: u64) {
        let wanted = half_window.max(2).min(u64::from(self.most)) as u32;
        self.left = self.left.max(wanted);
    }

    /// The network is congested.
    pub(crate) fn on_mark(&mut self) {
        self.left = self.left.max(AFTER_A_MARK.min(self.most));
    }

    /// The sender has reduced its window, which may be down to a segment now: it waits for the ACK.
    pub(crate) fn on_reduction(&mut self) {
        self.left = self.left.max(self.most.min(1));
    }

    /// The window has grown: the sender is told at once.
    #[inline]
    pub(crate) fn on_growth(&mut self) {
        self.free = true;
    }

    /// The application reads slowly: ACKs that the sender need not have are not sent.
    pub(crate) const fn stop(&mut self) {
        self.left = 0;
    }

    /// An ACK leaves.
    #[inline]
    pub(crate) fn on_ack(&mut self) {
        if !std::mem::take(&mut self.free) {
            self.left = self.left.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Span = Span::from_ms(300);

    fn sent_at_once(quick: &mut QuickAcks) -> u32 {
        let mut count = 0;
        while quick.are_due() {
            quick.on_ack();
            count += 1;
        }
        count
    }

    #[test]
    fn the_first_acks_and_those_behind_a_pause_are_quick() {
        let mut quick = QuickAcks::new(16);
        quick.on_data(Instant::ZERO, 22, PAUSE);
        assert_eq!(sent_at_once(&mut quick), 16);
        quick.on_data(Instant::ZERO + PAUSE, 22, PAUSE);
        assert_eq!(sent_at_once(&mut quick), 0, "no pause yet");
        quick.on_data(Instant::ZERO + PAUSE + PAUSE + Span::from_ps(1), 5, PAUSE);
        assert_eq!(sent_at_once(&mut quick), 5, "half of the window");
        quick.refill(0);
        assert_eq!(sent_at_once(&mut quick), 2);
        quick.on_mark();
        assert_eq!(sent_at_once(&mut quick), 2);
    }

    #[test]
    fn acks_of_a_growing_window_do_not_count() {
        let mut quick = QuickAcks::new(16);
        quick.on_data(Instant::ZERO, 3, PAUSE);
        quick.on_growth();
        assert_eq!(sent_at_once(&mut quick), 4);
    }

    #[test]
    fn none_are_quick_where_none_are_wanted_but_those_of_growth() {
        let mut quick = QuickAcks::new(0);
        quick.on_data(Instant::ZERO, 22, PAUSE);
        quick.on_mark();
        assert_eq!(sent_at_once(&mut quick), 0);
        quick.on_growth();
        assert_eq!(sent_at_once(&mut quick), 1);
    }

    /// None but that of a window that grew.
    #[test]
    fn none_are_quick_once_the_application_reads_slowly() {
        for (grows, left) in [(false, 0), (true, 1)] {
            let mut quick = QuickAcks::new(16);
            quick.on_data(Instant::ZERO, 22, PAUSE);
            if grows {
                quick.on_growth();
            }
            quick.stop();
            assert_eq!(sent_at_once(&mut quick), left);
        }
    }
}
