//! What segmentation offload does to the sender: it waits until a part of what could leave at once may leave.

use super::{RecoveryState, Sender};
use crate::congestion::CongestionControl;
use anabranch_units::{Instant, Span};

/// A wait follows only on what left so shortly before, and ends for an ACK that is so near.
const NEAR: Span = Span::from_ms(1);
/// Most bytes that leave at once, and fewest segments.
const LARGEST_TRAIN: u64 = 65_536;
const SMALLEST_TRAIN: u64 = 2;
/// A part of the window of which there is so much leaves without waiting (Linux, net.ipv4.tcp_tso_win_divisor).
const WINDOW_PARTS: u64 = 3;

/// A train of segments that is leaving, or one that waits.
#[derive(Default, Debug)]
pub(super) struct TsoDeferral {
    /// Segments of the train that are still to leave.
    train: u32,
    /// It has more than one.
    several: bool,
    /// The sender waits for an ACK, a timer or data.
    waits: bool,
}

impl TsoDeferral {
    /// An ACK was taken, a timer expired, or the application wrote.
    #[inline]
    pub(super) const fn end(&mut self) {
        self.waits = false;
    }

    /// Whether the segment that leaves is the last one of a train. Linux pushes it, so that the receiver takes the train as
    /// soon as it is there, and acknowledges it.
    #[inline]
    pub(super) const fn ends_train(&self) -> bool {
        self.several && self.train == 0
    }
}

impl Sender {
    /// Whether new data wait, where a window of `cwnd` bytes and the peer leave room for `room` more bytes beside the
    /// `pipe` in flight, and the application has written `unsent` more. The last of a stream, with the FIN behind them,
    /// wait for nothing where all of them have room: nothing will be written that could leave with them.
    pub(super) fn defers(&mut self, now: Instant, pipe: u64, room: u64, unsent: u64) -> bool {
        if !self.config.tso_deferral || self.deferral.waits {
            return self.deferral.waits;
        }
        if self.deferral.train > 0 {
            self.deferral.train -= 1;
            return false;
        }
        let (cwnd, mss) = (self.cwnd(), self.full_payload);
        let ends = self.closing && !self.fin_sent && unsent < room;
        let (room, most) = (room / mss, self.longest_train());
        let goes = ends
            || pipe == 0
            || room >= most
            || !matches!(self.recovery, RecoveryState::Open)
            || now.saturating_since(self.last_sent_at) > NEAR
            || room * mss >= cwnd.min(self.window_edge - self.snd_una) / WINDOW_PARTS
            || !self.expects_ack_soon(now);
        if goes {
            let half = (cwnd / mss / 2).max(1);
            // At most LARGEST_TRAIN.
            self.deferral.train = room.min(most).min(half).saturating_sub(1) as u32;
            self.deferral.several = self.deferral.train > 0;
        }
        self.deferral.waits = !goes;
        self.deferral.waits
    }

    /// Payload in bytes of what leaves in one piece.
    pub(crate) fn train(&self) -> u64 {
        self.longest_train() * self.full_payload
    }

    /// For tests: a segment that waits goes, as if the application had written. False if none waits.
    #[cfg(test)]
    pub(crate) fn release_deferred(&mut self) -> bool {
        let waits = std::mem::take(&mut self.deferral.waits);
        self.deferral.train = u32::from(waits);
        waits
    }

    /// What leaves in one piece, in segments: as much as a controller that paces says, otherwise what leaves within a
    /// millisecond at a rate somewhat above that of the window.
    fn longest_train(&self) -> u64 {
        let quantum = self.controller.send_quantum();
        if quantum > 0 {
            return (quantum / self.full_payload).max(1);
        }
        let cwnd = self.controller.cwnd();
        let percent = if cwnd < self.controller.ssthresh() / 2 { 200 } else { 120 };
        let per_second = u128::from(cwnd) * percent / 100 * 1_000_000_000_000;
        let bytes = per_second / u128::from(self.rtt.srtt().as_ps().max(1)) / 1024;
        (u64::try_from(bytes).unwrap_or(u64::MAX).min(LARGEST_TRAIN) / self.full_payload).max(SMALLEST_TRAIN)
    }

    /// The ACK of the oldest segment is due within a millisecond, or half of the round trip.
    fn expects_ack_soon(&self, now: Instant) -> bool {
        let srtt = self.rtt.srtt();
        self.board.front().is_some_and(|oldest| now.since(oldest.sent_at) + (srtt / 2).min(NEAR) >= srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::LossEpisode;
    use crate::tcp::tests::{Fate, Pair};

    /// A train is what leaves within 1/1024 s: in slow start, at twice the rate of ten segments in 2 ms, 9.8 of 1448 bytes;
    /// at 1.2 times that of the seven behind a loss 4.1. Within 20 ms these are fewer than the least.
    #[test]
    fn a_train_lasts_a_millisecond_at_the_rate_of_the_window() {
        for (delay_ms, in_slow_start, behind_it) in [(1, 9, 4), (10, 2, 2)] {
            let mut pair = Pair::new(&crate::tcp_preset("linux-cubic").expect("a preset"), 9);
            pair.delay = Span::from_ms(delay_ms);
            pair.sender.open();
            pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
            assert_eq!(pair.sender.longest_train(), in_slow_start, "{delay_ms} ms");
            let flight_size = pair.sender.cwnd();
            let in_flight = flight_size;
            let episode = LossEpisode { now: pair.now, flight_size, in_flight, snd_nxt: 0, total_lost: 0 };
            pair.sender.controller.on_loss(&episode);
            assert_eq!(pair.sender.longest_train(), behind_it, "{delay_ms} ms");
        }
    }

    /// BBR's window is twice what is in the path, and says nothing of the rate at which segments leave: a train of the
    /// window's rate would be half as long again as what pacing lets go, and each train's PSH asks for one ACK more.
    #[test]
    fn what_bbr_paces_is_a_train() {
        let mut pair = Pair::new(&crate::tcp_preset("linux-bbr").expect("a preset"), 9);
        pair.delay = Span::from_ms(20);
        pair.sender.open();
        pair.sender.write(u64::MAX / 2);
        let mut pieces = Vec::new();
        for rounds in 1..8 {
            pair.run(Instant::ZERO + Span::from_ms(40 * rounds), |_, _, _| Fate::Arrive);
            let quantum = pair.sender.controller.send_quantum();
            assert_eq!(pair.sender.train(), quantum, "after {rounds} round trips");
            pieces.push(quantum / pair.sender.full_payload);
        }
        assert!(pieces[0] == 2 && pieces[6] > 4, "{pieces:?}");
    }

    /// Linux, tcp_tso_should_defer(): what has the FIN behind it waits only where it does not all have room.
    #[test]
    fn the_end_of_the_stream_does_not_wait() {
        for (closes, unsent, waits) in [(false, 2, true), (true, 2, false), (true, 4, true)] {
            let mut pair = Pair::new(&crate::tcp_preset("linux-cubic").expect("a preset"), 9);
            pair.delay = Span::from_ms(1);
            pair.sender.open();
            pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
            let mss = pair.sender.full_payload;
            pair.sender.write(10 * mss);
            pair.flush(&mut |_, _, _| Fate::Arrive);
            if closes {
                pair.sender.close();
            }
            pair.sender.deferral = TsoDeferral::default();
            let now = pair.now + Span::from_ms(1);
            let (pipe, room, unsent) = (6 * mss, 3 * mss, unsent * mss);
            assert_eq!(pair.sender.defers(now, pipe, room, unsent), waits, "{closes} {unsent}");
        }
    }

    /// Linux, net.ipv4.tcp_tso_win_divisor: room for a third of the window does not wait; less does, for an ACK that is near.
    #[test]
    fn a_third_of_the_window_does_not_wait() {
        for (room, waits) in [(3, true), (4, false)] {
            let mut pair = Pair::new(&crate::tcp_preset("linux-cubic").expect("a preset"), 9);
            pair.delay = Span::from_ms(1);
            pair.sender.open();
            pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
            let mss = pair.sender.full_payload;
            pair.sender.write(10 * mss);
            pair.flush(&mut |_, _, _| Fate::Arrive);
            pair.sender.deferral = TsoDeferral::default();
            assert_eq!(pair.sender.cwnd(), 10 * mss);
            let now = pair.now + Span::from_ms(1);
            assert_eq!(
                pair.sender.defers(now, 6 * mss, room * mss, 4 * mss),
                waits,
                "room for {room} of ten segments"
            );
        }
    }
}
