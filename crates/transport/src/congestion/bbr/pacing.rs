//! Pacing rate and send quantum.

use super::Bbr;
use anabranch_units::Rate;

/// Linux paces 1 % below the estimate, so that queues shrink on average.
pub(super) const MARGIN: f64 = 0.99;
/// Below this rate a quantum is one segment (draft section 4.2.2).
const ONE_SEGMENT_BELOW: Rate = Rate::from_bps(1_200_000);

impl Bbr {
    /// Draft section 4.2.1, "BBRSetPacingRateWithGain".
    pub(super) fn pace(&mut self, gain: f64) {
        self.pacer.follow(self.bandwidth(), gain * MARGIN, self.full_pipe.reached);
    }

    /// The least that leaves at once (draft section 4.2.2).
    pub(super) fn least_quantum(&self) -> u64 {
        if self.pacer.rate < ONE_SEGMENT_BELOW { self.mss } else { 2 * self.mss }
    }

    /// Bytes that leave at once (draft section 4.2.2): what the pacing rate gives in the time of a burst.
    pub(super) fn quantum(&self) -> u64 {
        self.pacer.quantum(self.mss, self.least_quantum())
    }
}
