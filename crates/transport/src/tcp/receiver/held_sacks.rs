//! ACKs beside a hole that wait for one another, as Linux's do (kernel documentation, ip-sysctl, `tcp_comp_sack_nr`).

use super::Receiver;
use anabranch_units::{Instant, Span};

/// ACKs of each hole that leave at once: those that a sender waits for (RFC 5681 section 3.2).
const AT_ONCE: u8 = 3;
/// The others wait for this part of the round trip.
const PARTS_OF_ROUND_TRIP: u64 = 20;
/// So much later a quiet kernel looks at its timer (ip-sysctl, `tcp_comp_sack_slack_ns`).
const SLACK: Span = Span::from_us(100);

/// The ACKs of the hole that is open.
#[derive(Clone, Default, Debug)]
pub(crate) struct HeldSacks {
    /// Where the hole begins.
    hole: u64,
    /// ACKs that left at once.
    sent: u8,
    /// ACKs that the next one stands for, beside its own.
    held: u8,
}

impl HeldSacks {
    /// Whether one more waits, where the hole begins at `hole` and at most `most` may wait together.
    fn waits(&mut self, hole: u64, most: u8) -> bool {
        if self.hole != hole {
            (self.hole, self.sent) = (hole, 0);
        }
        if self.held >= most {
            return false;
        }
        if self.sent < AT_ONCE {
            self.sent += 1;
            return false;
        }
        self.held += 1;
        true
    }

    /// An ACK has left.
    pub(super) const fn on_ack(&mut self) {
        self.held = 0;
    }
}

impl Receiver {
    /// Answers what came beside a hole, or fills one: at once (RFC 5681 section 4.2), or together with what comes soon.
    pub(super) fn answer_irregular(&mut self, now: Instant, is_duplicate: bool) {
        if is_duplicate || !self.sack_waits() {
            self.request_ack(now, true);
            return;
        }
        let round_trip = self.round_trip();
        let wait = (round_trip / PARTS_OF_ROUND_TRIP).min(self.config.sack_delay) + SLACK;
        self.ack_at = self.ack_at.min(now.saturating_add(wait).into());
    }

    /// Whether no rule asks for this ACK but the hole, and those that the sender needs have left.
    fn sack_waits(&mut self) -> bool {
        let most = self.config.held_sacks;
        let behind = self.rcv_nxt - self.last_ack_sent;
        let quick = self.measures.as_ref().is_some_and(|measures| measures.quick.are_due());
        if most == 0 || !self.sack || quick || behind > u64::from(self.config.mss) {
            return false;
        }
        let hole = self.rcv_nxt;
        self.out_of_order.as_mut().is_some_and(|above| above.sacks.waits(hole, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{Flags, Segment};
    use crate::tcp::receive_window::RoundTrip;

    const MSS: u32 = 1000;

    fn ms(ms: f64) -> Instant {
        Instant::ZERO + Span::from_ps((ms * 1e9) as u64)
    }

    /// A receiver that has measured a round trip of `round_trip_ms` and given its first quick ACKs.
    fn receiver(held_sacks: u8, round_trip_ms: u64) -> Receiver {
        let config = crate::config::TcpConfig {
            held_sacks,
            timestamps: false,
            autotuning: false,
            quick_acks: 0,
            ..crate::tcp_preset("linux-cubic").expect("a preset")
        };
        let mut receiver = Receiver::new(&config, 0);
        let syn = Flags::SYN.with(Flags::SACK_PERMITTED);
        receiver.on_segment(Instant::ZERO, &Segment { flags: syn, ..Segment::default() });
        receiver.poll_transmit(Instant::ZERO).expect("a SYN-ACK");
        receiver
            .on_segment(Instant::ZERO, &Segment { seq: 1, ack: 1, flags: Flags::ACK, ..Segment::default() });
        let measures = receiver.measures.as_mut().expect("Linux measures");
        measures.round_trip = RoundTrip::known(Span::from_ms(round_trip_ms));
        receiver
    }

    fn arrives(receiver: &mut Receiver, at: Instant, number: u32) -> Option<Vec<(u32, u32)>> {
        let data = Segment {
            seq: 1 + number * MSS,
            ack: 1,
            payload: MSS as u16,
            flags: Flags::ACK,
            ..Segment::default()
        };
        receiver.on_segment(at, &data);
        receiver.poll_transmit(at).map(|ack| ack.sack.as_slice().to_vec())
    }

    /// Recorded from Linux 6.18 over 35 Mbps and 40 ms: three (or, with a quick one, four) ACKs at once, then one 1.1 ms
    /// behind the first segment that waits, for all that have come.
    #[test]
    fn behind_three_acks_of_a_hole_the_others_wait_for_a_millisecond() {
        let mut receiver = receiver(44, 40);
        for number in 1..4 {
            assert!(arrives(&mut receiver, ms(f64::from(number)), number).is_some(), "segment {number}");
        }
        for (at, number) in [(4.0, 4), (4.3, 5), (4.6, 6)] {
            assert_eq!(arrives(&mut receiver, ms(at), number), None, "segment {number}");
            assert_eq!(receiver.next_timeout(), Some(ms(5.1)));
        }
        receiver.on_timeout(ms(5.1));
        let ack = receiver.poll_transmit(ms(5.1)).expect("an ACK");
        assert_eq!((ack.ack, ack.sack.as_slice()), (1, &[(1 + MSS, 1 + 7 * MSS)][..]));
        assert_eq!(receiver.next_timeout(), None);
        // The hole is filled: the sender knows at once.
        arrives(&mut receiver, ms(5.2), 7);
        assert!(arrives(&mut receiver, ms(5.3), 0).is_some_and(|sack| sack.is_empty()));
    }

    #[test]
    fn the_next_hole_has_its_own_three() {
        let mut receiver = receiver(44, 40);
        for number in [1, 2, 4, 5] {
            arrives(&mut receiver, ms(1.0), number);
        }
        assert_eq!(arrives(&mut receiver, ms(1.0), 6), None);
        // More than a segment is new: at once, by the rule for data in order.
        assert!(arrives(&mut receiver, ms(1.1), 0).is_some());
        let at_once = (7..12).filter(|&number| arrives(&mut receiver, ms(1.2), number).is_some()).count();
        assert_eq!(at_once, 3);
    }

    #[test]
    fn no_more_wait_than_may_and_a_twentieth_of_a_short_round_trip() {
        let mut few = receiver(2, 10);
        let answers: Vec<bool> = (1..10).map(|number| arrives(&mut few, ms(1.0), number).is_some()).collect();
        assert_eq!(answers, [true, true, true, false, false, true, false, false, true]);
        let mut short = receiver(44, 10);
        for number in 1..5 {
            arrives(&mut short, ms(1.0), number);
        }
        assert_eq!(short.next_timeout(), Some(ms(1.6)));
    }

    #[test]
    fn duplicates_and_receivers_of_the_rfc_do_not_wait() {
        let mut linux = receiver(44, 40);
        for number in 1..5 {
            arrives(&mut linux, ms(1.0), number);
        }
        assert!(arrives(&mut linux, ms(1.0), 3).is_some());
        let mut rfc = receiver(0, 40);
        assert!((1..20).all(|number| arrives(&mut rfc, ms(1.0), number).is_some()));
    }
}
