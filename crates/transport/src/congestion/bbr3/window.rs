//! Pacing rate and window.

use super::{Bbr3, State};
use crate::congestion::Ack;
use crate::congestion::path_model::{AckEpoch, Bandwidth, MaxFilter};
use anabranch_units::{Instant, Span};

/// Pacing is 1 % below the bandwidth, so that queues shrink on average (draft section 2.5, "PacingMarginPercent").
const PACING_MARGIN: f64 = 0.99;
/// Round trips over which the greatest run of ACKs ahead counts (draft section 2.12, "ExtraAckedFilterLen").
const EXTRA_ACKED_ROUNDS: usize = 10;
/// Quanta that end systems hold (draft section 5.5.8.1, "offload_budget").
const OFFLOAD_QUANTA: u64 = 3;

/// How far ACKs run ahead of the bandwidth (draft section 5.5.9).
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    epoch: AckEpoch,
    extra: MaxFilter<u64, EXTRA_ACKED_ROUNDS>,
}

impl Aggregation {
    /// Nothing was expected up to now.
    pub(super) const fn restart(&mut self, now: Instant) {
        self.epoch.restart(now);
    }
}

impl Bbr3 {
    /// Draft section 5.5.9, "UpdateACKAggregation".
    pub(super) fn update_aggregation(&mut self, ack: &Ack) {
        if ack.delivered == 0 {
            return;
        }
        if self.rounds.start && !self.full_pipe.reached {
            // Startup remembers one round.
            self.aggregation.extra = MaxFilter::default();
        }
        let extra = self.aggregation.epoch.on_ack(ack.now, ack.delivered, self.bw).min(self.cwnd);
        self.aggregation.extra.insert(self.rounds.count, extra);
    }

    /// Draft section 5.6.2, "SetPacingRateWithGain".
    pub(super) fn pace(&mut self, gain: f64) {
        self.pacer.follow(self.bw, gain * PACING_MARGIN, self.full_pipe.reached);
    }

    /// The least that leaves at once (draft section 5.6.3).
    pub(super) const fn least_quantum(&self) -> u64 {
        2 * self.mss
    }

    /// What `bandwidth` delivers in the smallest RTT, times `gain`; the initial window before the first RTT sample
    /// (draft section 5.6.4.2, "BDPMultiple").
    pub(super) fn bdp(&self, bandwidth: Bandwidth, gain: f64) -> u64 {
        if self.min_rtt.value == Span::MAX {
            return self.initial_window;
        }
        (bandwidth.bytes_in(self.min_rtt.value) * gain) as u64
    }

    /// Draft section 5.6.4.2, "Inflight".
    pub(super) fn inflight(&self, bandwidth: Bandwidth, gain: f64) -> u64 {
        self.with_quanta(self.bdp(bandwidth, gain))
    }

    /// Draft section 5.6.4.2, "QuantizationBudget".
    fn with_quanta(&self, bytes: u64) -> u64 {
        let budget = OFFLOAD_QUANTA * self.pacer.quantum(self.mss, self.least_quantum());
        let bytes = bytes.max(budget).max(self.min_pipe_cwnd());
        if self.state == State::Up { bytes.saturating_add(2 * self.mss) } else { bytes }
    }

    /// Draft section 5.6.4.6, "SetCwnd".
    pub(super) fn update_cwnd(&mut self, ack: &Ack) {
        let target = self.bdp(self.bw, self.state.cwnd_gain()).saturating_add(self.aggregation.extra.max());
        let max_inflight = self.with_quanta(target);
        let grown = self.cwnd.saturating_add(ack.delivered);
        if self.full_pipe.reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight || self.rounds.delivered < self.initial_window {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// Draft section 5.6.4.7, "BoundCwndForModel".
    fn bound_cwnd(&mut self) {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.long_term.inflight,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => u64::MAX,
        };
        self.cwnd = self.cwnd.min(long_term.min(self.short_term.inflight).max(self.min_pipe_cwnd()));
    }
}
