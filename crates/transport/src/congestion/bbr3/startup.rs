//! Startup and Drain.

use super::{Bbr3, Sample, State};
use crate::congestion::path_model::{Bandwidth, Plateau};
use crate::congestion::{Ack, Recovery};

/// Pacing gain of Drain (draft section 2.5, "DrainPacingGain").
pub(super) const DRAIN_GAIN: f64 = 0.5;
/// Drain ends after so many rounds, whatever is in flight (draft section 5.3.2).
const DRAIN_ROUNDS: u64 = 3;

/// Whether an accelerating phase has filled the pipe (draft section 5.3.1.2).
#[derive(Clone, Debug, Default)]
pub struct FullPipeSearch {
    plateau: Plateau,
    /// Since it was last looked for ("full_bw_now").
    pub now: bool,
    /// Ever ("full_bw_reached").
    pub reached: bool,
}

impl FullPipeSearch {
    /// Looks for growth beyond `bandwidth` from now on ("ResetFullBW").
    pub(super) fn restart(&mut self, bandwidth: Bandwidth) {
        self.plateau = Plateau::from(bandwidth);
        self.now = false;
    }
}

impl Bbr3 {
    /// Draft section 5.3.1.2, "CheckFullBWReached".
    pub(super) fn check_full_pipe(&mut self, sample: Option<&Sample>) {
        let Some(sample) = sample.filter(|sample| !sample.app_limited) else { return };
        if self.full_pipe.now || !self.rounds.start {
            return;
        }
        self.full_pipe.now = self.full_pipe.plateau.on_round(sample.bandwidth);
        self.full_pipe.reached |= self.full_pipe.now;
    }

    /// Draft section 5.3.1.1, "CheckStartupDone".
    pub(super) fn check_startup_done(&mut self, ack: &Ack, sample: Option<&Sample>, round_ends: bool) {
        if self.state == State::Startup && round_ends && self.lost_too_much(ack, sample) {
            self.undo.returns_to = Some(State::Startup);
            self.leave_startup_by_losses();
        }
        if round_ends {
            self.latest.lost_ranges = 0;
        }
        if self.state == State::Startup && self.full_pipe.reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// Draft section 5.3.1.3, "CheckStartupHighLoss": the round that began with the first loss has ended in fast recovery.
    fn lost_too_much(&self, ack: &Ack, sample: Option<&Sample>) -> bool {
        let ranges = if self.sack { self.parameters.startup_losses } else { 1 };
        ack.recovery == Recovery::Fast
            && self.latest.lost_ranges >= ranges
            && sample.is_some_and(|sample| self.is_too_high(sample.lost, sample.tx_in_flight))
    }

    /// The pipe is full, and holds what was delivered in the last round.
    pub(super) fn leave_startup_by_losses(&mut self) {
        self.full_pipe.reached = true;
        self.long_term.inflight = self.bdp(self.bw, 1.0).max(self.latest.inflight);
    }

    /// Draft section 5.3.2, "CheckDrainDone".
    pub(super) fn check_drain_done(&mut self, ack: &Ack) {
        let late = self.rounds.count > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (late || ack.in_flight <= self.inflight(self.bw, 1.0)) {
            self.start_down(ack.now);
        }
    }
}
