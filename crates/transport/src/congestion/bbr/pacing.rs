//! Pacing rate and send quantum.

use super::bandwidth::Bandwidth;
use super::{Bbr, HIGH_GAIN};
use anabranch_units::{Rate, Span};

/// Linux paces 1 % below the estimate, so that queues shrink on average.
const MARGIN: f64 = 0.99;
/// Assumed before the first RTT sample (draft section 4.2.1).
const NOMINAL_RTT: Span = Span::from_ms(1);
/// Below this rate a quantum is one segment (draft section 4.2.2).
const ONE_SEGMENT_BELOW: Rate = Rate::from_bps(1_200_000);

/// The most that leaves at once: the largest segment that hosts segment later (draft section 4.2.2).
const LARGEST_QUANTUM: u64 = 1 << 16;

/// Startup's gain times the initial window per RTT (draft section 4.2.1, "BBRInitPacingRate").
pub(crate) fn initial_rate(initial_window: u64, rtt: Option<Span>) -> Rate {
    let rtt = rtt.filter(|&rtt| rtt > Span::ZERO).unwrap_or(NOMINAL_RTT);
    Bandwidth::of(initial_window, rtt).map_or(Rate::from_bps(1), |bandwidth| paced(bandwidth, HIGH_GAIN))
}

/// The rate at which to pace for a bandwidth; at least one bit per second, for a rate of none would
/// stop the connection for good.
fn paced(bandwidth: Bandwidth, gain: f64) -> Rate {
    Rate::from_bps(((bandwidth.as_bps() * (gain * MARGIN)) as u64).max(1))
}

impl Bbr {
    /// Replaces the rate that was guessed before any RTT was known.
    pub(super) fn pace_initially(&mut self, rtt: Span) {
        self.paced_from_rtt = true;
        self.pacing_rate = initial_rate(self.cwnd, Some(rtt));
    }

    /// Draft section 4.2.1, "BBRSetPacingRateWithGain": until the pipe is full the rate never falls.
    pub(super) fn pace(&mut self, gain: f64) {
        let rate = paced(self.model.max(), gain);
        if self.full_pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Bytes that leave at once (draft section 4.2.2): what the pacing rate gives in the time of a burst, in whole
    /// segments; one or two at least, 64 kB at most.
    pub(super) fn quantum(&self) -> u64 {
        let least = if self.pacing_rate < ONE_SEGMENT_BELOW { self.mss } else { 2 * self.mss };
        let burst = self.pacing_rate.bytes_in(self.burst).0.min(LARGEST_QUANTUM);
        (burst / self.mss * self.mss).max(least)
    }
}
