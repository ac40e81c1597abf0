//! The smallest RTT, ProbeRTT, which measures it anew, and the start after a pause.

use super::{Bbr3, State};
use crate::congestion::Ack;
use crate::congestion::path_model::ProbeRtt;
use anabranch_units::Instant;

/// Part of the bandwidth-delay product that stays in flight (draft section 2.16.2, "ProbeRTTCwndGain").
pub(super) const CWND_GAIN: f64 = 0.5;

impl Bbr3 {
    /// Draft section 5.3.4.3, "UpdateMinRTT" and "CheckProbeRTT".
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let expired = self.recent_min_rtt.take(ack.now, ack.rtt.map(|rtt| (rtt, ack.now)));
        let recent = (self.recent_min_rtt.value, self.recent_min_rtt.stamp);
        self.min_rtt.take(ack.now, Some(recent));
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.cycle.stop_probing();
            self.rounds.restart();
            self.probe_rtt = ProbeRtt::begin(self.rounds.delivered);
        }
        if self.state == State::ProbeRtt {
            let window = self.probe_rtt_cwnd();
            if self.probe_rtt.on_ack(ack, &mut self.rounds, window) {
                self.leave_probe_rtt_if_done(ack.now);
            }
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Draft section 5.6.4.5, "ProbeRTTCwnd".
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp(self.bw, CWND_GAIN).max(self.min_pipe_cwnd())
    }

    /// Draft sections 5.3.4.3 and 5.3.4.4, "CheckProbeRTTDone" and "ExitProbeRTT".
    fn leave_probe_rtt_if_done(&mut self, now: Instant) {
        if !self.probe_rtt.is_over(now) {
            return;
        }
        self.recent_min_rtt.confirm(now);
        self.restore_cwnd();
        self.short_term = Default::default();
        if self.full_pipe.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// Draft section 5.4.1, "HandleRestartFromIdle". The pause is the application's doing: a sender that cwnd or the
    /// peer's window holds back has data in flight.
    pub(super) fn restart_after_idle(&mut self, now: Instant) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.is_probe_bw() {
            self.pace(1.0);
        } else if self.state == State::ProbeRtt {
            self.leave_probe_rtt_if_done(now);
        }
    }
}
