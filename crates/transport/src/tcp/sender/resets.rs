//! RST: the other end has no such connection (RFC 9293 sections 3.5.2, 3.5.3 and 3.10.7).

use super::{Sender, State};
use crate::agent::Failure;
use crate::log::Decision;
use crate::segment::{Flags, Segment, reset_for};
use crate::tcp::ANSWER_INTERVAL;
use crate::tcp::receive_window::initial_window;
use anabranch_units::Instant;

impl Sender {
    /// An RST arrives. It ends the handshake if it acknowledges the SYN, and a connection if it is the next segment;
    /// another one inside the window is answered by an ACK, now and then, and whatever lies outside is dropped.
    #[cold]
    pub(super) fn on_reset(&mut self, now: Instant, segment: &Segment) {
        match self.state {
            State::SynSent => {
                let answers = segment.ack == self.initial_sequence.wrapping_add(1);
                if segment.flags.has(Flags::ACK) && answers {
                    self.give_up(now, Failure::Refused);
                }
            }
            State::Established if segment.seq == self.rcv_nxt => self.give_up(now, Failure::Reset),
            State::Established => {
                let inside = u64::from(segment.seq.wrapping_sub(self.rcv_nxt)) < initial_window(&self.config);
                if inside && now >= self.next_answer_at {
                    self.send_ack = true;
                    self.next_answer_at = now.saturating_add(ANSWER_INTERVAL);
                }
            }
            State::Idle | State::Closed | State::Failed(_) => {}
        }
    }

    /// No timer runs on and nothing more leaves.
    pub(super) fn give_up(&mut self, now: Instant, why: Failure) {
        self.state = State::Failed(why);
        self.record(now, Decision::GivenUp);
        self.timers.stop();
        (self.send_syn, self.send_ack) = (false, false);
    }

    /// Something arrives for a connection that was given up: there is none, and an RST says so.
    #[cold]
    pub(super) fn refuse_late(&mut self, segment: &Segment) {
        if !self.is_subflow() {
            self.reset = reset_for(segment).map(Box::new);
        }
    }
}
