//! ProbeBW: DOWN, CRUISE, REFILL and UP, and when to probe.

use super::{Bbr3, Sample, State};
use crate::congestion::Ack;
use crate::congestion::path_model::Draws;
use anabranch_units::{Instant, Span};

/// Pacing gain of UP (draft section 5.3.3.5).
pub(super) const UP_GAIN: f64 = 1.25;
/// Pacing gain of DOWN (draft section 5.3.3.1).
pub(super) const DOWN_GAIN: f64 = 0.9;
/// The times between probes differ by up to this (draft section 5.3.3.8.2).
const LARGEST_EXTRA_WAIT: Span = Span::from_secs(1);

/// What ACKs say of a probe (draft section 2.14, "ack_phase").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Position in the cycle of probes.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// Cycles so far: the time of the filter of "max_bw".
    pub count: u64,
    /// When the cycle began.
    stamp: Instant,
    ack_phase: AckPhase,
    /// How long to wait, in time and in rounds.
    wait: Span,
    rounds_since_probe: u64,
    /// The latest probe stopped where the one before had lost too much ("prev_probe_precautionary").
    precautionary: bool,
    draws: Draws,
}

impl Cycle {
    pub(super) const fn new(draws: Draws) -> Self {
        Self {
            count: 0,
            stamp: Instant::ZERO,
            ack_phase: AckPhase::Init,
            wait: Span::ZERO,
            rounds_since_probe: 0,
            precautionary: false,
            draws,
        }
    }

    pub(super) fn on_round(&mut self, starts: bool) {
        self.rounds_since_probe += u64::from(starts);
    }

    /// ACKs are of data from before; what they say of a probe ends with the round.
    pub(super) const fn stop_probing(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }

    /// Draft section 5.3.3.8, "PickProbeWait".
    fn pick_wait(&mut self, shortest: Span) {
        self.rounds_since_probe = self.draws.next() & 1;
        let extra = self.draws.next() % (LARGEST_EXTRA_WAIT.as_ps() + 1);
        self.wait = shortest.saturating_add(Span::from_ps(extra));
    }
}

impl Bbr3 {
    /// Draft section 5.3.3.9, "UpdateProbeBWCyclePhase", in any state since the pipe was first full.
    pub(super) fn update_probe_bw(&mut self, ack: &Ack, sample: Option<&Sample>) {
        if self.follow_ack_phase(sample) {
            return;
        }
        self.raise_long_term(ack, sample);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Refill if self.rounds.start => {
                self.long_term.probe_sample = true;
                self.start_up(sample);
            }
            State::Up => self.go_down_if_time(ack, sample),
            _ => {}
        }
    }

    /// Draft section 5.3.3.9, "AdaptLongTermModel", its first half; whether it has changed the state.
    fn follow_ack_phase(&mut self, sample: Option<&Sample>) -> bool {
        if !self.rounds.start {
            return false;
        }
        match self.cycle.ack_phase {
            AckPhase::ProbeStarting => self.cycle.ack_phase = AckPhase::ProbeFeedback,
            AckPhase::ProbeStopping => {
                self.long_term.probe_sample = false;
                self.cycle.ack_phase = AckPhase::Init;
                if !self.state.is_probe_bw() {
                    return false;
                }
                if sample.is_some_and(|sample| !sample.app_limited) {
                    self.cycle.count += 1;
                }
                // "Precautionary Bandwidth Probing: Acceleration": the level has proved safe.
                if self.cycle.precautionary && !self.long_term.too_high {
                    self.start_refill();
                    return true;
                }
            }
            _ => {}
        }
        false
    }

    /// "StartProbeBW_DOWN".
    pub(super) fn start_down(&mut self, now: Instant) {
        self.latest.reset();
        self.long_term.acked_per_segment = u64::MAX;
        self.cycle.pick_wait(self.parameters.probe_wait);
        self.cycle.stamp = now;
        self.cycle.stop_probing();
        self.rounds.restart();
        self.state = State::Down;
    }

    /// "StartProbeBW_REFILL".
    pub(super) fn start_refill(&mut self) {
        self.short_term = Default::default();
        self.long_term.rounds = 0;
        self.long_term.acked = 0;
        self.cycle.precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.restart();
        self.state = State::Refill;
    }

    /// "StartProbeBW_UP".
    fn start_up(&mut self, sample: Option<&Sample>) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart();
        self.look_for_growth(sample);
        self.state = State::Up;
        self.raise_slope();
    }

    fn look_for_growth(&mut self, sample: Option<&Sample>) {
        self.full_pipe.restart(sample.map(|sample| sample.bandwidth).unwrap_or_default());
    }

    /// Draft section 5.3.3.8, "IsTimeToProbeBW": after two to three seconds, or after the rounds in which Reno would win
    /// back what it lost.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let rounds = (self.target_inflight() / self.mss).min(u64::from(self.parameters.reno_rounds));
        now.saturating_since(self.cycle.stamp) > self.cycle.wait || self.cycle.rounds_since_probe >= rounds
    }

    /// Draft section 5.3.3.8, "TargetInflight".
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp(self.bw, 1.0).min(self.cwnd)
    }

    /// Draft section 5.3.3.9, "IsTimeToCruise".
    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        ack.in_flight <= self.inflight_with_headroom()
            && ack.in_flight <= self.inflight(self.max_bw.max(), 1.0)
    }

    /// Draft section 5.3.3.9, "IsTimeToGoDown".
    fn go_down_if_time(&mut self, ack: &Ack, sample: Option<&Sample>) {
        let bound = self.long_term.inflight;
        if self.long_term.too_high && ack.in_flight_before.saturating_add(self.mss) > bound {
            // "Precautionary Bandwidth Probing: Deceleration".
            self.cycle.precautionary = true;
        } else if ack.window_full && self.cwnd >= bound {
            // The bound, not the path, is the limit.
            self.look_for_growth(sample);
            return;
        } else if !self.full_pipe.now {
            return;
        }
        self.long_term.too_high = false;
        self.start_down(ack.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draft section 5.3.3.8.2: between two and three seconds, 62 or 63 rounds, uniformly: of 1000 draws the mean is
    /// within five standard errors, 5 * 0.289 / sqrt(1000), of 2.5 s.
    #[test]
    fn waits_are_two_to_three_seconds() {
        let mut cycle = Cycle::new(Draws::new(3));
        let (mut sum, mut ones) = (0.0, 0);
        for _ in 0..1000 {
            cycle.pick_wait(Span::from_secs(2));
            assert!((Span::from_secs(2)..=Span::from_secs(3)).contains(&cycle.wait), "{}", cycle.wait);
            sum += cycle.wait.as_ps() as f64 / 1e12;
            ones += cycle.rounds_since_probe;
            assert!(cycle.rounds_since_probe <= 1);
        }
        assert!((sum / 1000.0 - 2.5).abs() < 0.046, "{sum}");
        assert!((421..=579).contains(&ones), "{ones} of 1000");
    }

    /// Draft section 5.3.3.8, "HasElapsedInPhase": the wait is over behind its end, not at it.
    #[test]
    fn a_wait_is_over_behind_its_end() {
        let bbr = &mut crate::congestion::bbr3::tests::link_in(State::Cruise).controller;
        bbr.cycle.rounds_since_probe = 0;
        let end = bbr.cycle.stamp + bbr.cycle.wait;
        assert!(!bbr.is_time_to_probe(end));
        assert!(bbr.is_time_to_probe(end + Span::from_ps(1)));
    }
}
