//! What a loss recovery took, in case that it proves to be spurious.

use super::short_term::ShortTerm;
use super::{Bbr3, State};
use crate::congestion::path_model::Bandwidth;

/// The model before an episode (draft section 5.5.11.1).
#[derive(Clone, Debug, Default)]
pub struct Undo {
    /// The state that the losses ended: Startup or UP.
    pub returns_to: Option<State>,
    /// Bounds, once there has been an episode.
    bounds: Option<(ShortTerm, u64)>,
}

impl Bbr3 {
    /// Draft section 5.5.11.1, "SaveStateUponLoss": once, before the first loss of an episode moves anything.
    pub(super) fn begin_episode(&mut self) {
        if self.recovering {
            return;
        }
        self.save_cwnd();
        self.recovering = true;
        self.undo = Undo { returns_to: None, bounds: Some((self.short_term, self.long_term.inflight)) };
    }

    /// Draft section 5.5.11.2, "HandleSpuriousLossDetection".
    pub(super) fn undo_episode(&mut self) {
        self.leave_recovery();
        self.restore_cwnd();
        self.latest.loss = false;
        self.full_pipe.restart(Bandwidth::default());
        let undo = std::mem::take(&mut self.undo);
        if let Some((short_term, inflight)) = undo.bounds {
            self.short_term = self.short_term.widened_to(short_term);
            self.long_term.inflight = self.long_term.inflight.max(inflight);
        }
        match undo.returns_to {
            Some(State::Startup) => {
                self.full_pipe.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(),
            _ => {}
        }
    }

    /// Remembers the last good window (draft section 5.6.4.4, "SaveCwnd").
    pub(super) fn save_cwnd(&mut self) {
        let reduced = self.recovering || self.state == State::ProbeRtt;
        self.prior_cwnd = if reduced { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// Returns to it (draft section 5.6.4.4, "RestoreCwnd"); the next ACK bounds it by the model.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    pub(super) fn leave_recovery(&mut self) {
        if self.recovering {
            self.restore_cwnd();
        }
        self.recovering = false;
    }
}
