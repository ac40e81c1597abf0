//! "BBR.BtlBw": the maximum of the delivery rate samples over ten rounds.

use crate::congestion::Ack;
use crate::congestion::path_model::{Bandwidth, MaxFilter, RoundTrips};

/// Round trips over which the maximum is taken: a gain cycle and two more (draft section 4.1.1,
/// "BtlBwFilterLen").
const FILTER_ROUNDS: usize = 10;

/// "BBR.BtlBw" and the count of round trips (draft section 4.1.1).
#[derive(Clone, Debug, Default)]
pub struct BandwidthModel {
    filter: MaxFilter<Bandwidth, FILTER_ROUNDS>,
    pub rounds: RoundTrips,
}

impl BandwidthModel {
    /// The estimate of the bottleneck's bandwidth.
    pub fn max(&self) -> Bandwidth {
        self.filter.max()
    }

    /// Takes in the sample of an ACK (draft section 4.1.1.5, "BBRUpdateBtlBw"). `low` marks samples which our
    /// own restraint made small; they count as limited by the application.
    pub fn on_ack(&mut self, ack: &Ack, low: bool) {
        let Some(sample) = self.rounds.on_ack(ack) else { return };
        let Some(rate) = ack.rate else { return };
        // A sample that the application kept low says nothing about the path, unless it is the highest.
        let unrestrained = !(rate.app_limited || low);
        if rate.delivered > 0 && (unrestrained || sample >= self.max()) {
            self.filter.insert(self.rounds.count, sample);
        }
    }
}
