//! The window.

use super::{Bbr, State};
use crate::congestion::{Ack, Recovery};

impl Bbr {
    /// Bandwidth-delay product times `gain`, in bytes; the initial window before the first RTT sample.
    fn bdp(&self, gain: f64) -> u64 {
        if self.min_rtt.value == anabranch_units::Span::MAX {
            return self.initial_window;
        }
        (self.bandwidth().bytes_in(self.min_rtt.value) * gain) as u64
    }

    /// Data to have in flight for a gain (draft section 4.2.3.2, "BBRInflight").
    pub(super) fn inflight(&self, gain: f64) -> u64 {
        self.with_quanta(self.bdp(gain))
    }

    /// Adds what end systems hold: three quanta, then as in Linux up to an even number of segments against
    /// delayed ACKs, and two segments more in the phase that probes.
    fn with_quanta(&self, bytes: u64) -> u64 {
        let pair = 2 * self.mss;
        let even = bytes.saturating_add(3 * self.quantum()).div_ceil(pair).saturating_mul(pair);
        let probing = self.state == State::ProbeBw && self.cycle.is_probing_up();
        if probing { even.saturating_add(pair) } else { even }
    }

    /// Draft section 4.2.3.6, "BBRSetCwnd".
    pub(super) fn update_cwnd(&mut self, ack: &Ack) {
        if ack.delivered > 0 {
            self.modulate_for_recovery(ack);
            if !self.packet_conservation {
                self.approach_target(ack);
            }
        }
        if self.state == State::ProbeRtt {
            // Draft section 4.2.3.5.
            self.cwnd = self.cwnd.min(self.min_pipe_cwnd());
        }
    }

    /// Slow-starts towards the target; comes down to it once the pipe is known to be full.
    fn approach_target(&mut self, ack: &Ack) {
        let grown = self.cwnd.saturating_add(ack.delivered);
        if self.full_pipe.reached {
            let target =
                self.bdp(self.cwnd_gain()).saturating_add(self.aggregation.allowance(self.bandwidth()));
            self.cwnd = grown.min(self.with_quanta(target));
        } else if self.model.rounds.delivered < self.initial_window
            || self.cwnd < self.inflight(self.cwnd_gain())
        {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
    }

    /// Draft section 4.2.3.4, "BBRModulateCwndForRecovery". The round of packet conservation begins behind the ACK
    /// that enters recovery: what is in flight then is the window, plus what that ACK has delivered. The end of a
    /// recovery brings the old window back ("BBRRestoreCwnd"), which growth then takes to the target.
    fn modulate_for_recovery(&mut self, ack: &Ack) {
        if ack.lost > 0 {
            self.cwnd = self.cwnd.saturating_sub(ack.lost).max(self.mss);
        }
        let before = std::mem::replace(&mut self.seen, ack.recovery);
        if ack.recovery == Recovery::Fast && before != Recovery::Fast {
            self.packet_conservation = true;
            self.model.rounds.restart();
            self.cwnd = ack.in_flight.saturating_add(ack.delivered);
        } else if ack.recovery == Recovery::Open && before != Recovery::Open {
            self.packet_conservation = false;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(ack.in_flight.saturating_add(ack.delivered));
        }
    }

    /// Remembers the last good window (draft section 4.2.3.4, "BBRSaveCwnd").
    pub(super) fn save_cwnd(&mut self) {
        let reduced = self.seen != Recovery::Open || self.state == State::ProbeRtt;
        self.prior_cwnd = if reduced { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }
}
