//! What a multipath connection asks of the senders of its subflows.

use super::timers::Probe;
use super::{RecoveryState, Sender, State, full_payload};
use crate::agent::Failure;
use crate::config::MptcpConfig;
use crate::congestion::{CongestionControl, Coupling};
use crate::log::ReductionCause;
use crate::mptcp::signal_bytes;
use crate::tcp::pacing::WindowPacing;
use anabranch_units::{Bytes, Instant, Rate, Span};

impl Sender {
    /// The sending end of a subflow: leaves room for the data sequence signal in each segment.
    pub(crate) fn for_subflow(config: &MptcpConfig, initial_sequence: u32, seed: u64) -> Self {
        let mut sender = Self::new(&config.tcp, initial_sequence, seed);
        sender.signal = signal_bytes(config);
        sender.full_payload = full_payload(config.tcp.mss, config.tcp.timestamps, sender.signal);
        sender
    }

    /// Whether a multipath connection feeds it.
    #[inline]
    pub(super) const fn is_subflow(&self) -> bool {
        self.signal > 0
    }

    /// Its first segment has room for so many bytes less. A window counts segments (RFC 5681 section 2: it is given in
    /// full-sized ones), and must not be one segment short for ever because the first was shorter.
    pub(crate) fn set_short(&mut self, bytes: u64) {
        self.short = bytes;
    }

    /// Bytes that one new segment could carry now; 0 while anything but a lack of data holds it back.
    #[inline]
    pub(crate) fn room(&self, now: Instant) -> u64 {
        let busy = self.state != State::Established
            || self.closing
            || self.written > self.snd_nxt
            || self.timers.probe == Probe::Due
            || self.board.lost() > self.board.retransmitted()
            || self.must_wait(now, self.snd_nxt);
        let cwnd = self.cwnd();
        let cwnd = cwnd.saturating_sub(self.withheld(cwnd));
        if busy || self.board.pipe() + self.full_payload > cwnd + self.short { 0 } else { self.full_payload }
    }

    /// The connection has nothing more for it: delivery rates are not the network's from here on.
    pub(crate) fn on_application_limit(&mut self) {
        self.on_app_limited(self.board.pipe());
    }

    /// Sends its ACK again, with the option that the connection puts on it.
    pub(crate) fn repeat_ack(&mut self) {
        self.send_ack = true;
    }

    /// Asks the other end for the window of the connection, by an old number without data (RFC 9293 section 3.10.7.4).
    pub(crate) fn ask_for_window(&mut self) {
        self.persist.ask = true;
    }

    /// Gives it up: no timer runs on and nothing more leaves.
    pub(crate) fn abandon(&mut self, now: Instant) {
        if !self.is_failed() {
            self.give_up(now, Failure::NoAnswer);
        }
    }

    /// Whether it was given up, or its handshake had no answer.
    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.state, State::Failed(_))
    }

    /// How the other subflows stand, before an ACK.
    #[inline]
    pub(crate) fn couple(&mut self, coupling: &Coupling) {
        self.controller.couple(coupling);
    }

    /// OLIA's l_r in bytes.
    #[inline]
    pub(crate) fn loss_interval(&self) -> u64 {
        self.controller.loss_interval()
    }

    /// The controller's window in bytes, whatever recovery makes of it.
    #[inline]
    pub(crate) fn controller_window(&self) -> u64 {
        self.controller.cwnd()
    }

    /// Halves its window, unless it is repairing losses; returns whether it did.
    pub(crate) fn penalise(&mut self, now: Instant) -> bool {
        let open = matches!(self.recovery, RecoveryState::Open);
        if open {
            let before = self.controller.cwnd();
            self.controller.penalise();
            self.record_reduction(now, ReductionCause::Penalty, before);
        }
        open
    }

    /// Position of the next byte to be acknowledged.
    #[inline]
    pub(crate) fn snd_una(&self) -> u64 {
        self.snd_una
    }

    /// Position of the next new byte.
    #[inline]
    pub(crate) fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// Position behind the last byte that it was given, the FIN included once it has left.
    #[inline]
    pub(crate) fn write_position(&self) -> u64 {
        self.written.max(self.snd_nxt)
    }

    /// Position of the SYN: sequence numbers relative to the initial one count from here.
    #[inline]
    pub(crate) fn origin(&self) -> u64 {
        self.first_byte() - 1
    }

    /// Smoothed RTT; zero before the first sample.
    #[inline]
    pub(crate) fn srtt(&self) -> Span {
        self.rtt.srtt()
    }

    /// Mean deviation of the RTT.
    pub(crate) fn rttvar(&self) -> Span {
        self.rtt.rttvar()
    }

    /// Bytes per second at which Linux would pace it, whether it does or not; 0 before the first sample.
    pub(crate) fn nominal_rate(&self) -> f64 {
        let rate = self.controller.pacing_rate().or_else(|| {
            let cwnd = self.controller.cwnd();
            let gains = WindowPacing::default();
            let starts = cwnd < self.controller.ssthresh() / 2;
            let gain = if starts { gains.slow_start_gain } else { gains.avoidance_gain };
            Rate::of(Bytes(cwnd), self.rtt.srtt()).map(|rate| rate.scaled(gain))
        });
        rate.map_or(0.0, |rate| rate.as_bps() as f64 / 8.0)
    }

    /// Retransmission timeout as it stands.
    pub(crate) fn rto(&self) -> Span {
        self.rtt.rto()
    }

    /// How long its timer still runs: that of retransmissions, or of what comes before one; zero where none runs.
    pub(crate) fn timer_left(&self, now: Instant) -> Span {
        let next = [self.timers.expires_at(), self.detector.next_timeout()].into_iter().flatten().min();
        next.map_or(Span::ZERO, |at| at.saturating_since(now))
    }

    /// Payload bytes of a full segment.
    pub(crate) fn full_payload(&self) -> u64 {
        self.full_payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::tests::{Fate, Pair, is_data};

    /// What waits to be repaired or probed leaves first: until it has, no new segment could be carried, though the window
    /// has room for one.
    #[test]
    fn repairs_and_probes_come_before_room() {
        for (preset, probe, lost) in [("linux-cubic", Probe::Due, 0), ("newreno", Probe::None, 3)] {
            let mut pair = Pair::new(&crate::tcp_preset(preset).expect("a preset"), 9);
            pair.sender.open();
            pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
            pair.now = Instant::ZERO + Span::from_ms(100);
            pair.sender.write(3 * pair.sender.full_payload());
            pair.flush(&mut |_, segment, _| if is_data(segment) { Fate::Lost } else { Fate::Arrive });
            assert_eq!(pair.sender.room(pair.now), pair.sender.full_payload(), "{preset}");
            let expiry = pair.sender.next_timeout().expect("a timer");
            pair.sender.on_timeout(expiry);
            let payload = pair.sender.full_payload();
            assert_eq!(
                (pair.sender.timers.probe, pair.sender.board.lost()),
                (probe, lost * payload),
                "{preset}"
            );
            assert!(pair.sender.board.pipe() + payload <= pair.sender.cwnd(), "{preset}");
            assert_eq!(pair.sender.room(expiry), 0, "{preset}");
        }
    }
}
