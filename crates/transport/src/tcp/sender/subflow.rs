//! What a multipath connection asks of the senders of its subflows.

use super::timers::Probe;
use super::{RecoveryState, Sender, State, full_payload};
use crate::config::TcpConfig;
use crate::congestion::{CongestionControl, Coupling};
use crate::log::{Decision, ReductionCause};
use anabranch_units::{Instant, Span};

impl Sender {
    /// The sending end of a subflow: leaves room for the data sequence signal in each segment.
    pub(crate) fn for_subflow(config: &TcpConfig, initial_sequence: u32, seed: u64) -> Self {
        let mut sender = Self::new(config, initial_sequence, seed);
        sender.multipath = true;
        sender.full_payload = full_payload(config.mss, config.timestamps, true);
        sender
    }

    /// Bytes that one new segment could carry now; 0 while anything but a lack of data holds it back.
    #[inline]
    pub(crate) fn room(&self, now: Instant) -> u64 {
        let busy = self.state != State::Established
            || self.closing
            || self.written > self.snd_nxt
            || self.timers.probe == Probe::Due
            || self.board.lost() > self.board.retransmitted()
            || (self.is_paced() && now < self.timers.pace_at && !self.timers.train.goes_on(now));
        let cwnd = self.cwnd().saturating_sub(self.withheld());
        if busy || self.board.pipe() + self.full_payload > cwnd { 0 } else { self.full_payload }
    }

    /// The connection has nothing more for it: delivery rates are not the network's from here on.
    pub(crate) fn on_application_limit(&mut self) {
        self.rate.on_app_limited(self.board.pipe());
    }

    /// Sends its ACK again, with the option that the connection puts on it.
    pub(crate) fn repeat_ack(&mut self) {
        self.send_ack = true;
    }

    /// Gives it up: no timer runs on and nothing more leaves.
    pub(crate) fn abandon(&mut self, now: Instant) {
        if self.state != State::Failed {
            self.record(now, Decision::GivenUp);
        }
        self.state = State::Failed;
        self.timers.stop();
        self.send_syn = false;
        self.send_ack = false;
    }

    /// Whether it was given up, or its handshake had no answer.
    pub(crate) fn is_failed(&self) -> bool {
        self.state == State::Failed
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

    /// Whether a byte that is not acknowledged cumulatively has been SACKed.
    pub(crate) fn is_sacked(&self, position: u64) -> bool {
        self.board.number_at(position).is_some_and(|number| self.board.get(number).sacked)
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

    /// Retransmission timeout as it stands.
    pub(crate) fn rto(&self) -> Span {
        self.rtt.rto()
    }

    /// Payload bytes of a full segment.
    pub(crate) fn full_payload(&self) -> u64 {
        self.full_payload
    }
}
