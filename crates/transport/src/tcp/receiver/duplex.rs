//! A receiver beside a sender of the same host: data that leave carry its acknowledgment.

use super::{Receiver, State};
use crate::segment::{Flags, Segment, reset_for, unwrap_sequence};
use anabranch_units::{Instant, MaybeInstant};

impl Receiver {
    /// Whether anything but a SYN has come.
    #[must_use]
    pub fn has_received(&self) -> bool {
        self.stats.segments > 0 || self.fin_at.is_some()
    }

    /// Puts its acknowledgment on a segment of the sender of the same host: an ACK that waited leaves with it (RFC 1122
    /// section 4.2.3.2), and the other end's timestamp that the segment echoes is the receiver's (RFC 7323 section 4.3).
    pub fn acknowledge_with(&mut self, now: Instant, segment: &mut Segment) {
        let acks = self.stats.acks;
        let acknowledgment = self.acknowledgment(now);
        // A segment of data is no ACK in the books.
        self.stats.acks = acks;
        segment.ack = acknowledgment.ack;
        segment.window = acknowledgment.window;
        segment.timestamp_echo = acknowledgment.timestamp_echo;
        segment.sack = acknowledgment.sack;
        if acknowledgment.flags.has(Flags::ECE) {
            segment.flags = segment.flags.with(Flags::ECE);
        }
    }

    /// Whether a segment is of the handshake or a reset, or comes where there is no connection: nothing else is in it.
    #[cold]
    pub(super) fn opens_or_ends(&mut self, now: Instant, segment: &Segment) -> bool {
        if !self.multipath && self.concerns_reset(now, segment) {
            return true;
        }
        if segment.flags.has(Flags::SYN) {
            self.on_syn(now, segment);
            return true;
        }
        self.state == State::Listen
    }

    /// Whether a segment is an RST, or is answered by one because there is no connection that it could be of (RFC 9293
    /// sections 3.10.7.1 and 3.10.7.2).
    fn concerns_reset(&mut self, now: Instant, segment: &Segment) -> bool {
        let is_syn = segment.flags.has(Flags::SYN);
        let there_is_none = match self.state {
            State::Listen => !is_syn || segment.flags.has(Flags::ACK),
            State::Reset => true,
            _ => false,
        };
        if there_is_none {
            self.reset = reset_for(segment).map(Box::new);
        } else if segment.flags.has(Flags::RST) && self.on_reset(now, segment) {
            self.state = State::Reset;
            (self.ack_now, self.ack_at, self.ack_before) = (false, MaybeInstant::NONE, None);
            self.settle_control();
        }
        there_is_none || segment.flags.has(Flags::RST)
    }

    /// An RST that arrives; true if it ends the connection. It must be the next segment; another one inside the window
    /// is answered by an ACK, and whatever lies outside is dropped (RFC 9293 section 3.10.7.4).
    pub fn on_reset(&mut self, now: Instant, segment: &Segment) -> bool {
        let position = unwrap_sequence(segment.seq, self.rcv_nxt);
        if position > self.rcv_nxt && position < self.rcv_nxt + self.admitted() {
            self.request_ack(now, true);
        }
        position == self.rcv_nxt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TcpConfig;

    /// An open receiver with initial sequence number 500, whose peer begins at 1.
    fn opened() -> Receiver {
        let config = TcpConfig { timestamps: false, ..crate::tcp_preset("newreno").unwrap() };
        let mut receiver = Receiver::new(&config, 500);
        let flags = Flags::SYN.with(Flags::SACK_PERMITTED);
        receiver.on_segment(Instant::ZERO, &Segment { flags, ..Segment::default() });
        assert!(receiver.poll_transmit(Instant::ZERO).is_some());
        receiver.on_segment(
            Instant::ZERO,
            &Segment { seq: 1, ack: 501, flags: Flags::ACK, ..Segment::default() },
        );
        receiver
    }

    fn data(seq: u32) -> Segment {
        Segment { seq, ack: 501, payload: 100, flags: Flags::ACK, ..Segment::default() }
    }

    #[test]
    fn data_that_leave_take_a_waiting_ack_with_them() {
        let mut receiver = opened();
        assert!(!receiver.has_received());
        receiver.on_segment(Instant::ZERO, &data(1));
        receiver.on_segment(Instant::ZERO, &data(201));
        assert!(receiver.has_received());
        let mut leaving = Segment { seq: 501, payload: 10, flags: Flags::ACK, ..Segment::default() };
        receiver.acknowledge_with(Instant::ZERO, &mut leaving);
        assert_eq!((leaving.seq, leaving.payload, leaving.ack), (501, 10, 101));
        assert_eq!(leaving.sack.as_slice(), [(201, 301)]);
        assert_eq!((receiver.poll_transmit(Instant::ZERO), receiver.next_timeout()), (None, None));
        assert_eq!(receiver.stats().acks, 0, "a segment of data is none");
    }

    /// RFC 9293 section 3.10.7.4, for the first position, the second, the last of the window and the one behind it.
    #[test]
    fn a_reset_counts_at_the_next_byte_and_is_asked_for_within_the_window() {
        let buffer = crate::tcp_preset("newreno").unwrap().receive_buffer.0 as u32;
        let cases = [
            (1, true, false),
            (2, false, true),
            (buffer, false, true),
            (1 + buffer, false, false),
            (0, false, false),
        ];
        for (seq, ends, answered) in cases {
            let mut receiver = opened();
            let reset = Segment { seq, flags: Flags::RST, ..Segment::default() };
            assert_eq!(receiver.on_reset(Instant::ZERO, &reset), ends, "{seq}");
            assert_eq!(receiver.poll_transmit(Instant::ZERO).is_some(), answered, "{seq}");
        }
    }

    /// RFC 9293 sections 3.10.7.1 and 3.10.7.2: what belongs to no connection is answered by an RST, before one opens and
    /// after an RST has ended it; an RST never is.
    #[test]
    fn without_a_connection_an_rst_answers() {
        let mut fresh = Receiver::new(&crate::tcp_preset("newreno").unwrap(), 500);
        fresh.on_segment(Instant::ZERO, &data(1));
        let answer = fresh.poll_transmit(Instant::ZERO).expect("an RST");
        assert_eq!((answer.seq, answer.flags), (501, Flags::RST));

        let mut receiver = opened();
        receiver.on_segment(Instant::ZERO, &data(1));
        receiver.on_segment(Instant::ZERO, &Segment { seq: 101, flags: Flags::RST, ..Segment::default() });
        assert_eq!((receiver.poll_transmit(Instant::ZERO), receiver.next_timeout()), (None, None));
        assert!(!receiver.is_finished());
        receiver.on_segment(Instant::ZERO, &data(101));
        assert_eq!(receiver.poll_transmit(Instant::ZERO).map(|answer| answer.flags), Some(Flags::RST));
        assert_eq!(receiver.stats().delivered, 100, "nothing more is taken");
        receiver.on_segment(
            Instant::ZERO,
            &Segment { seq: 9, flags: Flags::SYN, payload: 0, ..Segment::default() },
        );
        let answer = receiver.poll_transmit(Instant::ZERO).expect("an RST");
        assert_eq!((answer.seq, answer.ack, answer.flags), (0, 10, Flags::RST.with(Flags::ACK)));
    }

    /// A subflow opens with its SYN, too: what comes before is not taken, and what comes behind is.
    #[test]
    fn a_subflow_takes_nothing_before_its_syn() {
        let config = TcpConfig { timestamps: false, ..crate::tcp_preset("newreno").unwrap() };
        let mut receiver = Receiver::for_subflow(std::sync::Arc::new(config), 500);
        receiver.on_segment(Instant::ZERO, &data(1));
        assert_eq!((receiver.has_received(), receiver.poll_transmit(Instant::ZERO)), (false, None));
        receiver.on_segment(Instant::ZERO, &Segment { flags: Flags::SYN, ..Segment::default() });
        assert!(receiver.poll_transmit(Instant::ZERO).is_some_and(|answer| answer.ack == 1));
        receiver.on_segment(Instant::ZERO, &data(1));
        assert_eq!(receiver.stats().delivered, 100);
    }
}
