//! Startup and Drain.

use super::{Bbr, State};
use crate::congestion::Ack;
use crate::congestion::path_model::{Bandwidth, Plateau};

/// Whether Startup has filled the pipe (draft section 4.3.2.2, "BBRCheckFullPipe").
#[derive(Clone, Debug, Default)]
pub struct FullPipe {
    pub reached: bool,
    plateau: Plateau,
}

impl FullPipe {
    /// A round that the application did not limit has ended.
    pub(crate) fn on_round(&mut self, bandwidth: Bandwidth) {
        if !self.reached {
            self.reached = self.plateau.on_round(bandwidth);
        }
    }

    /// Looks for growth from the start; a pipe once known to be full stays so.
    pub(crate) fn restart(&mut self) {
        self.plateau = Plateau::default();
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
