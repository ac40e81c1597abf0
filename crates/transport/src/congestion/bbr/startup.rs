//! Startup and Drain.

use super::bandwidth::Bandwidth;
use super::{Bbr, State};
use crate::congestion::Ack;

/// Growth of the bandwidth that shows that the pipe is not full (draft section 4.3.2.2).
const FULL_PIPE_GROWTH: f64 = 1.25;
/// Rounds without such growth that show that it is.
const FULL_PIPE_ROUNDS: u32 = 3;

/// Whether Startup has filled the pipe (draft section 4.3.2.2, "BBRCheckFullPipe").
#[derive(Clone, Debug, Default)]
pub struct FullPipe {
    pub reached: bool,
    /// Bandwidth when it last grew.
    bandwidth: Bandwidth,
    /// Rounds since.
    rounds: u32,
}

impl FullPipe {
    /// A round that the application did not limit has ended.
    pub(crate) fn on_round(&mut self, bandwidth: Bandwidth) {
        if self.reached {
            return;
        }
        if bandwidth >= self.bandwidth.scaled(FULL_PIPE_GROWTH) {
            self.bandwidth = bandwidth;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        self.reached = self.rounds >= FULL_PIPE_ROUNDS;
    }

    /// The next round's bandwidth counts as growth (Linux on a timeout).
    pub(crate) fn forget_bandwidth(&mut self) {
        self.bandwidth = Bandwidth::default();
    }

    /// Looks for growth from the start; a pipe once known to be full stays so.
    pub(crate) fn restart(&mut self) {
        self.bandwidth = Bandwidth::default();
        self.rounds = 0;
    }
}

impl Bbr {
    /// Startup ends with a full pipe, Drain with an empty queue (draft section 4.3.3, "BBRCheckDrain").
    pub(super) fn update_drain(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.full_pipe.reached {
            self.state = State::Drain;
        }
        if self.state == State::Drain && ack.in_flight <= self.inflight(1.0) {
            self.enter_probe_bw(ack.now);
        }
    }
}
