//! Segments that a receiver refuses before it looks at anything in them.

use super::Receiver;
use crate::segment::{Flags, Segment, unwrap_sequence};
use crate::tcp::ANSWER_INTERVAL;
use anabranch_units::{Instant, rarely};

impl Receiver {
    /// RFC 7323 section 5.3: R1 refuses a segment with an old timestamp (PAWS), even if it would fill a hole, and R2 one
    /// that lies wholly below the last ACK sent (RFC 9293 section 3.10.7.4). Both are answered by an ACK.
    #[inline]
    pub(super) fn refuses(&mut self, now: Instant, segment: &Segment) -> bool {
        let start = unwrap_sequence(segment.seq, self.rcv_nxt);
        let end = start + u64::from(segment.sequence_len());
        rarely(end < self.last_ack_sent || self.has_old_timestamp(now, segment))
            && self.is_refused(now, segment, (start, end))
    }

    /// Whether it is refused, then: one without data may be a plain repetition.
    #[cold]
    fn is_refused(&mut self, now: Instant, segment: &Segment, (start, end): (u64, u64)) -> bool {
        if start == end {
            return self.refuse_empty(now, start);
        }
        self.stats.segments += u64::from(segment.payload > 0);
        self.take_congestion_marks(now, segment);
        if start < self.rcv_nxt {
            self.stats.duplicate_segments += u64::from(end <= self.rcv_nxt && segment.payload > 0);
            self.on_duplicate(start, end.min(self.rcv_nxt));
            self.refill_quick_acks();
        }
        self.request_ack(now, true);
        true
    }

    #[inline]
    fn has_old_timestamp(&self, now: Instant, segment: &Segment) -> bool {
        let stamped = self.timestamps && segment.flags.has(Flags::TIMESTAMPS);
        self.config.paws
            && stamped
            && self.recent.is_older(self.clock, now, segment.timestamp, self.config.paws_window)
    }

    /// A segment without data asks for the window, or others have overtaken it. It is answered now and then only, so that
    /// two ends cannot answer each other for ever (RFC 5961 section 7). At the next number it may be a plain repetition,
    /// and its timestamp does not matter.
    fn refuse_empty(&mut self, now: Instant, start: u64) -> bool {
        if start == self.rcv_nxt {
            return false;
        }
        if now >= self.next_answer_at {
            self.next_answer_at = now.saturating_add(ANSWER_INTERVAL);
            self.request_ack(now, true);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Flags;
    use anabranch_units::Span;

    const STAMPED: Flags = Flags::ACK.with(Flags::TIMESTAMPS);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    /// A receiver of `linux-cubic` that has taken the bytes 1 to 200, with timestamps of 20 in the second half.
    fn opened() -> Receiver {
        let mut receiver = Receiver::new(&crate::tcp_preset("linux-cubic").unwrap(), 500);
        let flags = Flags::SYN.with(Flags::TIMESTAMPS).with(Flags::SACK_PERMITTED);
        receiver.on_segment(at(0), &Segment { flags, timestamp: 10, ..Segment::default() });
        assert!(receiver.poll_transmit(at(0)).is_some());
        for (seq, timestamp, payload) in [(1, 10, 0), (1, 10, 100), (101, 20, 100)] {
            let segment = Segment { seq, ack: 501, timestamp, payload, flags: STAMPED, ..Segment::default() };
            receiver.on_segment(at(0), &segment);
            let _ = receiver.poll_transmit(at(0));
        }
        assert_eq!((receiver.stats().delivered, receiver.poll_transmit(at(0))), (200, None));
        receiver
    }

    fn answered(receiver: &mut Receiver, ms: u64, seq: u32, timestamp: u32) -> bool {
        let segment = Segment { seq, ack: 501, timestamp, flags: STAMPED, ..Segment::default() };
        receiver.on_segment(at(ms), &segment);
        receiver.poll_transmit(at(ms)).is_some_and(|answer| answer.ack == 201 && answer.payload == 0)
    }

    /// RFC 9293 section 3.10.7.4 and RFC 5961 section 7: data that were sent later have overtaken an ACK.
    #[test]
    fn an_ack_of_an_old_number_is_answered_twice_a_second() {
        let mut receiver = opened();
        assert!(!answered(&mut receiver, 1, 201, 20), "the next number");
        assert!(!answered(&mut receiver, 1, 301, 20), "a later one: what is missing is asked for anyway");
        assert!(answered(&mut receiver, 2, 200, 20));
        assert!(!answered(&mut receiver, 501, 101, 20));
        assert!(answered(&mut receiver, 502, 101, 20));
    }

    /// RFC 7323 section 5.3, R1, but for a repetition at the next number.
    #[test]
    fn an_ack_with_an_old_timestamp_is_answered() {
        let mut receiver = opened();
        assert!(!answered(&mut receiver, 1, 201, 12));
        assert!(answered(&mut receiver, 1, 301, 12));
    }

    /// `segments` counts those with data; a FIN alone that is refused is none.
    #[test]
    fn a_refused_fin_is_no_segment_of_data() {
        for (payload, counted) in [(0, 0), (1, 1)] {
            let mut receiver = opened();
            let before = receiver.stats().segments;
            let flags = STAMPED.with(Flags::FIN);
            let segment = Segment { seq: 201, ack: 501, timestamp: 12, payload, flags, ..Segment::default() };
            receiver.on_segment(at(1), &segment);
            assert_eq!(receiver.stats().segments - before, counted);
        }
    }
}
