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

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux's bbr_undo_cwnd() resets full_bw and full_bw_cnt: three more rounds without growth are needed then.
    #[test]
    fn a_restart_looks_for_growth_anew() {
        let bandwidth =
            Bandwidth::of(1000, anabranch_units::Span::from_ms(1)).expect("a millisecond is some time");
        let mut pipe = FullPipe::default();
        let rounds = |pipe: &mut FullPipe, count| {
            (0..count).for_each(|_| pipe.on_round(bandwidth));
            pipe.reached
        };
        assert!(!rounds(&mut pipe, 3));
        pipe.restart();
        assert!(!rounds(&mut pipe, 3) && rounds(&mut pipe, 1));
    }
}
