//! The long-term bound on inflight data: probes raise it, and the losses that they cause cut it.

use super::{Bbr3, Sample, State};
use crate::congestion::{Ack, LossEpisode, LostSegment};
use anabranch_units::Instant;

/// The slope doubles in each round of a probe up to 2^30 (draft section 5.3.3.9, "RaiseInflightLongtermSlope").
const LARGEST_SLOPE: u32 = 30;

/// "inflight_longterm" and what raises it.
#[derive(Clone, Debug)]
pub struct LongTerm {
    /// [`u64::MAX`] for none.
    pub inflight: u64,
    /// Acknowledgments are of data that a probe for bandwidth sent ("is_bw_probe_sample").
    pub probe_sample: bool,
    /// The latest probe lost too much ("prev_probe_too_high").
    pub too_high: bool,
    /// Rounds in which this probe has raised the bound.
    pub rounds: u32,
    /// Acknowledged since the last raise.
    pub acked: u64,
    /// What must be acknowledged for a raise by a segment; [`u64::MAX`] outside a probe.
    pub acked_per_segment: u64,
}

impl Default for LongTerm {
    fn default() -> Self {
        Self {
            inflight: u64::MAX,
            probe_sample: false,
            too_high: false,
            rounds: 0,
            acked: 0,
            acked_per_segment: u64::MAX,
        }
    }
}

impl Bbr3 {
    /// Draft section 5.5.10.2, "IsInflightTooHigh".
    pub(super) fn is_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        let threshold = tx_in_flight as f64 * self.parameters.loss_threshold;
        lost as f64 > threshold || (lost > 0 && !self.sack)
    }

    /// Draft section 5.5.10.2, "HandleLostPacket".
    pub(super) fn handle_lost_segment(&mut self, lost: &LostSegment) {
        self.begin_episode();
        self.latest.note_loss(lost);
        if self.long_term.probe_sample && self.is_too_high(lost.lost, lost.tx_in_flight) {
            let reached = self.inflight_at_loss(lost);
            self.handle_too_high(reached, lost.app_limited, lost.now);
        }
    }

    /// Draft section 5.5.10.2, "InflightAtLoss": what was in flight when the losses passed the threshold, within the
    /// segment.
    fn inflight_at_loss(&self, lost: &LostSegment) -> u64 {
        let threshold = self.parameters.loss_threshold;
        let inflight_before = lost.tx_in_flight.saturating_sub(lost.bytes);
        let lost_before = lost.lost.saturating_sub(lost.bytes);
        let prefix = (threshold * inflight_before as f64 - lost_before as f64) / (1.0 - threshold);
        inflight_before.saturating_add(prefix.max(0.0) as u64)
    }

    /// Draft section 5.5.10.2, "HandleInflightTooHigh": once for a probe.
    fn handle_too_high(&mut self, tx_in_flight: u64, app_limited: bool, now: Instant) {
        self.long_term.too_high = true;
        self.long_term.probe_sample = false;
        if !app_limited {
            let least = (self.target_inflight() as f64 * self.parameters.beta) as u64;
            self.long_term.inflight = tx_in_flight.max(least);
        }
        if self.state == State::Up {
            self.undo.returns_to = Some(State::Up);
            self.start_down(now);
        }
    }

    /// A mark (draft section 3.7) is answered as losses above the threshold.
    pub(super) fn answer_mark(&mut self, episode: &LossEpisode) {
        self.latest.note_congestion(self.rounds.delivered);
        if self.state == State::Startup {
            self.leave_startup_by_losses();
        } else if self.long_term.probe_sample {
            self.handle_too_high(episode.flight_size, false, episode.now);
        }
    }

    /// Draft section 5.3.3.9, "AdaptLongTermModel", its second half: a loss rate that is safe raises the bound.
    pub(super) fn raise_long_term(&mut self, ack: &Ack, sample: Option<&Sample>) {
        let Some(sample) = sample else { return };
        if self.is_too_high(sample.lost, sample.tx_in_flight) || self.long_term.inflight == u64::MAX {
            return;
        }
        self.long_term.inflight = self.long_term.inflight.max(sample.tx_in_flight);
        if self.state == State::Up {
            self.probe_upward(ack);
        }
    }

    /// Draft section 5.3.3.9, "ProbeInflightLongtermUpward".
    fn probe_upward(&mut self, ack: &Ack) {
        if !ack.window_full || self.cwnd < self.long_term.inflight {
            return;
        }
        self.long_term.acked = self.long_term.acked.saturating_add(ack.delivered);
        let segments = self.long_term.acked / self.long_term.acked_per_segment;
        self.long_term.acked -= segments * self.long_term.acked_per_segment;
        self.long_term.inflight = self.long_term.inflight.saturating_add(segments * self.mss);
        if self.rounds.start {
            self.raise_slope();
        }
    }

    /// Draft section 5.3.3.9, "RaiseInflightLongtermSlope": 1, 2, 4, ... segments a round.
    pub(super) fn raise_slope(&mut self) {
        let growth = 1_u64 << self.long_term.rounds;
        self.long_term.rounds = (self.long_term.rounds + 1).min(LARGEST_SLOPE);
        self.long_term.acked_per_segment = (self.cwnd / growth).max(self.mss);
    }

    /// Draft section 5.3.3.9, "InflightWithHeadroom".
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let bound = self.long_term.inflight;
        if bound == u64::MAX {
            return u64::MAX;
        }
        let headroom = ((bound as f64 * self.parameters.headroom) as u64).max(self.mss);
        bound.saturating_sub(headroom).max(self.min_pipe_cwnd())
    }
}
