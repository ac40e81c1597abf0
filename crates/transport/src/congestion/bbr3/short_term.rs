//! The short-term model: how far losses have shown the path to be down since the last probe for bandwidth.

use super::{Bbr3, Sample};
use crate::congestion::LostSegment;
use crate::congestion::path_model::Bandwidth;

/// What the last round delivered, and whether it lost anything (draft section 5.5.10.3).
#[derive(Clone, Debug, Default)]
pub struct LatestSignals {
    /// "bw_latest" and "inflight_latest".
    pub bandwidth: Bandwidth,
    pub inflight: u64,
    /// A sample whose segment left when this much was delivered ends the round ("loss_round_delivered").
    round_delivered: u64,
    /// "is_loss_in_round".
    pub loss: bool,
    /// Discontiguous ranges lost in the round, and where the last one ends.
    pub lost_ranges: u32,
    last_lost_end: u64,
}

impl LatestSignals {
    /// "UpdateLatestDeliverySignals"; whether a round ends.
    pub(super) fn take(&mut self, sample: Option<&Sample>, delivered: u64) -> bool {
        let Some(sample) = sample else { return false };
        if sample.bandwidth > self.bandwidth {
            self.bandwidth = sample.bandwidth;
        }
        self.inflight = self.inflight.max(sample.delivered);
        let ends = sample.prior_delivered >= self.round_delivered;
        if ends {
            self.round_delivered = delivered;
        }
        ends
    }

    /// "AdvanceLatestDeliverySignals".
    pub(super) fn begin_round(&mut self, sample: Option<&Sample>) {
        if let Some(sample) = sample {
            self.bandwidth = sample.bandwidth;
            self.inflight = sample.delivered;
        }
    }

    /// "NoteLoss": the round of the losses begins with the first.
    pub(super) fn note_congestion(&mut self, delivered: u64) {
        if !self.loss {
            self.round_delivered = delivered;
        }
        self.loss = true;
    }

    pub(super) fn note_loss(&mut self, lost: &LostSegment) {
        self.note_congestion(lost.delivered);
        if self.lost_ranges == 0 || lost.start != self.last_lost_end {
            self.lost_ranges = self.lost_ranges.saturating_add(1);
        }
        self.last_lost_end = lost.start.saturating_add(lost.bytes);
    }

    /// "ResetCongestionSignals".
    pub(super) fn reset(&mut self) {
        self.loss = false;
        self.bandwidth = Bandwidth::default();
        self.inflight = 0;
    }
}

/// "bw_shortterm" and "inflight_shortterm"; no bounds after a probe for bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct ShortTerm {
    pub bandwidth: Option<Bandwidth>,
    /// [`u64::MAX`] for none.
    pub inflight: u64,
}

impl Default for ShortTerm {
    fn default() -> Self {
        Self { bandwidth: None, inflight: u64::MAX }
    }
}

impl ShortTerm {
    /// "BoundBWForModel".
    pub(super) fn bound(&self, max: Bandwidth) -> Bandwidth {
        self.bandwidth.map_or(max, |bound| if bound < max { bound } else { max })
    }

    /// At least what `other` allows.
    pub(super) fn widened_to(self, other: Self) -> Self {
        let bandwidth = self.bandwidth.zip(other.bandwidth).map(|(a, b)| if a > b { a } else { b });
        Self { bandwidth, inflight: self.inflight.max(other.inflight) }
    }
}

impl Bbr3 {
    /// "AdaptLowerBoundsFromCongestion": once a round with losses, outside the phases that probe.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if self.latest.loss && !self.state.is_probing() {
            let beta = self.parameters.beta;
            let held = self.short_term.bandwidth.unwrap_or(self.max_bw.max()).scaled(beta);
            let latest = self.latest.bandwidth;
            self.short_term.bandwidth = Some(if latest > held { latest } else { held });
            let inflight =
                if self.short_term.inflight == u64::MAX { self.cwnd } else { self.short_term.inflight };
            self.short_term.inflight = self.latest.inflight.max((inflight as f64 * beta) as u64);
        }
        self.latest.loss = false;
    }
}
