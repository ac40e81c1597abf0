use super::Bandwidth;
use anabranch_units::{Rate, Span};

/// Assumed before the first RTT sample (draft-ietf-ccwg-bbr-06 section 5.6.2, "InitPacingRate").
const NOMINAL_RTT: Span = Span::from_ms(1);
/// The most that leaves at once: the largest segment that hosts segment later (ibidem, section 5.6.3).
const LARGEST_QUANTUM: u64 = 1 << 16;

/// The rate at which packets leave, and how much of them at once.
#[derive(Clone, Debug)]
pub struct Pacer {
    pub rate: Rate,
    /// How long what leaves at once may take at that rate.
    pub burst: Span,
    /// The rate was set from a measured RTT.
    from_rtt: bool,
}

impl Pacer {
    /// `gain` times the initial window per assumed RTT.
    pub(crate) fn new(initial_window: u64, gain: f64) -> Self {
        Self { rate: initial_rate(initial_window, None, gain), burst: Span::ZERO, from_rtt: false }
    }

    /// Replaces the rate that was guessed before any RTT was known, once.
    pub(crate) fn on_first_rtt(&mut self, window: u64, rtt: Span, gain: f64) {
        if !self.from_rtt && rtt > Span::ZERO {
            self.from_rtt = true;
            self.rate = initial_rate(window, Some(rtt), gain);
        }
    }

    /// "SetPacingRateWithGain": until the pipe is full the rate never falls.
    pub(crate) fn follow(&mut self, bandwidth: Bandwidth, gain: f64, may_fall: bool) {
        let rate = paced(bandwidth, gain);
        if may_fall || rate > self.rate {
            self.rate = rate;
        }
    }

    /// What the rate gives in the time of a burst, in whole segments; `least` at least, 64 kB at most.
    pub(crate) fn quantum(&self, mss: u64, least: u64) -> u64 {
        let burst = self.rate.bytes_in(self.burst).0.min(LARGEST_QUANTUM);
        (burst / mss * mss).max(least)
    }

    /// What the sender lets leave at once: a segment where no burst is wanted.
    pub(crate) fn send_quantum(&self, mss: u64, least: u64) -> u64 {
        if self.burst == Span::ZERO { 0 } else { self.quantum(mss, least) }
    }
}

fn initial_rate(initial_window: u64, rtt: Option<Span>, gain: f64) -> Rate {
    let rtt = rtt.filter(|&rtt| rtt > Span::ZERO).unwrap_or(NOMINAL_RTT);
    Bandwidth::of(initial_window, rtt).map_or(Rate::from_bps(1), |bandwidth| paced(bandwidth, gain))
}

/// The rate at which to pace for a bandwidth; at least one bit per second, for a rate of none would
/// stop the connection for good.
fn paced(bandwidth: Bandwidth, gain: f64) -> Rate {
    Rate::from_bps(((bandwidth.as_bps() * gain) as u64).max(1))
}
