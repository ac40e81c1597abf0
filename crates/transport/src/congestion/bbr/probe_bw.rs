//! ProbeBW: the gain cycle that looks for more bandwidth and drains what the look queued.

use super::{Bbr, State};
use crate::congestion::Ack;
use crate::congestion::path_model::Draws;
use anabranch_units::Instant;

/// Pacing gains of the phases, each about one smallest RTT long (draft section 4.3.4.1).
const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The phase that probes.
const PROBE_UP: usize = 0;
/// The phase that drains.
const PROBE_DOWN: usize = 1;

/// Position in the gain cycle.
#[derive(Clone, Debug)]
pub struct GainCycle {
    index: usize,
    /// When the phase began.
    start: Instant,
    /// When an ACK last delivered data.
    delivered_at: Instant,
    /// State of the sequence that first phases are drawn from.
    draws: Draws,
}

impl GainCycle {
    pub const fn new(phase_seed: u64) -> Self {
        Self {
            index: PROBE_UP,
            start: Instant::ZERO,
            delivered_at: Instant::ZERO,
            draws: Draws::new(phase_seed),
        }
    }

    pub const fn start(&mut self, now: Instant) {
        self.start = now;
    }

    /// When an ACK last delivered data.
    pub(super) const fn delivered_at(&self) -> Instant {
        self.delivered_at
    }

    pub(crate) const fn gain(&self) -> f64 {
        GAINS[self.index]
    }

    pub(crate) const fn is_probing_up(&self) -> bool {
        self.index == PROBE_UP
    }

    /// Begins a cycle with any phase but the draining one, which would make room for no one
    /// (draft section 4.3.4.2).
    fn begin(&mut self, now: Instant) {
        let phases = GAINS.len() as u64 - 1;
        let drawn = (self.draws.next() % phases) as usize;
        self.index = if drawn >= PROBE_DOWN { drawn + 1 } else { drawn };
        self.start = now;
    }

    fn advance(&mut self) {
        self.index = (self.index + 1) % GAINS.len();
        self.start = self.delivered_at;
    }
}

impl Bbr {
    pub(super) fn enter_probe_bw(&mut self, now: Instant) {
        self.state = State::ProbeBw;
        self.cycle.begin(now);
    }

    /// Nothing is probed for while a policer's rate is known.
    pub(super) fn probing_gain(&self) -> f64 {
        if self.policed().is_some() { 1.0 } else { self.cycle.gain() }
    }

    /// Draft section 4.3.4.3, "BBRCheckCyclePhase"; as in Linux time passes with deliveries only.
    pub(super) fn update_gain_cycle(&mut self, ack: &Ack) {
        if ack.delivered > 0 {
            self.cycle.delivered_at = ack.now;
        }
        if self.state == State::ProbeBw && self.is_phase_over(ack) {
            self.cycle.advance();
        }
    }

    fn is_phase_over(&self, ack: &Ack) -> bool {
        let is_full_length = self.cycle.delivered_at.saturating_since(self.cycle.start) > self.min_rtt.value;
        let gain = self.probing_gain();
        if gain > 1.0 {
            // Until the extra data are in flight, or prove too much. As in Linux the segments that
            // leave next count as in flight.
            let in_flight = ack.in_flight_before.saturating_add(self.quantum());
            is_full_length && (ack.lost > 0 || in_flight >= self.inflight(gain))
        } else if gain < 1.0 {
            is_full_length || ack.in_flight_before <= self.inflight(1.0)
        } else {
            is_full_length
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_begins_with_every_phase_but_the_draining_one() {
        let mut seen = [0; GAINS.len()];
        for seed in 0..200 {
            let mut cycle = GainCycle::new(seed);
            cycle.begin(Instant::ZERO);
            seen[cycle.index] += 1;
        }
        assert_eq!(seen[PROBE_DOWN], 0);
        assert!(seen.iter().enumerate().all(|(i, &n)| i == PROBE_DOWN || n > 10), "{seen:?}");
    }
}
