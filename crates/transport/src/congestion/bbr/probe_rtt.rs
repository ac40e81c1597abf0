//! The smallest RTT of the last ten seconds, and ProbeRTT, which measures it anew.

use super::{Bbr, State};
use crate::congestion::Ack;
use crate::congestion::path_model::ProbeRtt;
use anabranch_units::{Instant, Span};

/// How long a smallest RTT is believed (draft section 4.1.2, "RTpropFilterLen").
pub(super) const FILTER_LEN: Span = Span::from_secs(10);

impl Bbr {
    /// Keeps the smallest RTT (draft section 4.1.2.3, "BBRUpdateRTprop"; as in Linux since 5.6 a smaller one only), and
    /// goes through ProbeRTT when it has not been confirmed for [`FILTER_LEN`] (draft section 4.3.5,
    /// "BBRCheckProbeRTT").
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let expired = self.min_rtt.take(ack.now, ack.rtt.map(|rtt| (rtt, ack.now)));
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt = ProbeRtt::begin(self.model.rounds.delivered);
        }
        if self.state == State::ProbeRtt {
            let window = self.min_pipe_cwnd();
            if self.probe_rtt.on_ack(ack, &mut self.model.rounds, window) {
                self.leave_probe_rtt_if_done(ack.now);
            }
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Draft section 4.3.5, "BBRExitProbeRTT".
    pub(super) fn leave_probe_rtt_if_done(&mut self, now: Instant) {
        if !self.probe_rtt.is_over(now) {
            return;
        }
        self.min_rtt.confirm(now);
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full_pipe.reached {
            self.enter_probe_bw(now);
        } else {
            self.state = State::Startup;
        }
    }
}
