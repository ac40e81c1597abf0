//! BBR version 3: paces at the bandwidth that the path delivers, with bounds on rate and inflight data that follow from
//! losses: for the long term from those that a probe caused, for the short term from all others.
//!
//! "Draft" means draft-ietf-ccwg-bbr-06 (formerly draft-cardwell-iccrg-bbr-congestion-control), and names in quotes are
//! its own. One file per part of the draft:
//! - `startup.rs`: Startup and Drain (sections 5.3.1 and 5.3.2)
//! - `probe_bw.rs`: DOWN, CRUISE, REFILL and UP, and the times between probes (5.3.3)
//! - `long_term.rs`: "inflight_longterm", which a probe raises and its losses cut (5.3.3.9, 5.5.10.2)
//! - `short_term.rs`: "bw_shortterm" and "inflight_shortterm" (5.5.10.3)
//! - `probe_rtt.rs`: the smallest RTT, ProbeRTT, and the start after a pause (5.3.4, 5.4)
//! - `undo.rs`: what a spurious loss recovery took (5.5.11)
//! - `window.rs`: pacing rate and window (5.5.9, 5.6)
//!
//! What version 1 measures in the same way is in `path_model`.
//!
//! Where the draft leaves a choice, or contradicts itself:
//! - State for an undo is saved once, before the first loss of an episode (5.5.11, text). Its pseudocode saves again at
//!   each round with losses and when recovery begins, after the first loss has moved the model.
//! - "C.inflight reaches inflight_longterm" (5.3.3.6) is when no further segment fits; windows here are not whole segments.
//! - The table in 5.6.1 bounds Drain by "inflight_longterm", "BoundCwndForModel" does not; neither do we.
//! - ECN (3.7: a mark must be congestion, how is left open): a mark is answered as losses above "LossThresh".
//! - A pause counts as idle (5.4) when it is longer than the retransmission timeout.

mod long_term;
#[cfg(test)]
#[path = "../tests/bbr3_model.rs"]
mod model_tests;
mod probe_bw;
mod probe_rtt;
mod short_term;
mod startup;
#[cfg(test)]
#[path = "../tests/bbr3.rs"]
mod tests;
mod undo;
mod window;

use super::path_model::{Bandwidth, Draws, MaxFilter, MinRtt, Pacer, ProbeRtt, RoundTrips};
use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, LostSegment, Recovery, Start};
use anabranch_units::declaration::{above, at_least, at_most};
use anabranch_units::{Instant, Rate, Span};
use long_term::LongTerm;
use probe_bw::Cycle;
use short_term::{LatestSignals, ShortTerm};
use startup::FullPipeSearch;
use undo::Undo;
use window::Aggregation;

/// Segments in flight that keep ACKs coming when every other segment is acknowledged (draft section 2.8,
/// "MinPipeCwnd").
const MIN_PIPE_SEGMENTS: u64 = 4;
/// ProbeBW cycles that "max_bw" covers (draft section 2.11, "MaxBwFilterLen").
const MAX_BW_CYCLES: usize = 2;

anabranch_units::parameters! {
    /// A model of the path that losses bound (BBR version 3, draft-ietf-ccwg-bbr-06).
    pub struct Bbr3Parameters {
        /// Pacing gain of Startup, 4 ln 2 (draft section 2.5, "StartupPacingGain").
        startup_gain: f64 = 2.77, above(1.0).at_most(10.0);
        /// Share of losses in a round trip that is too high (draft section 2.8, "LossThresh").
        loss_threshold: f64 = 0.02, above(0.0).below(1.0);
        /// Ranges of lost data in a round trip with which Startup ends (draft section 5.3.1.3, "BBRStartupFullLossCnt").
        startup_losses: u32 = 6, at_least(1);
        /// The least that losses leave of a bound (draft section 2.8, "Beta").
        beta: f64 = 0.7, above(0.0).below(1.0);
        /// Share of the inflight bound that stays free for others (draft section 2.8, "Headroom").
        headroom: f64 = 0.15, at_least(0.0).below(1.0);
        /// Shortest time between probes for bandwidth; up to a second more is drawn (draft section 5.3.3.8, "T_bbr").
        probe_wait: Span = Span::from_secs(2), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Most round trips between them, for the sake of Reno and CUBIC (draft section 5.3.3.8, "T_reno").
        reno_rounds: u32 = 63, at_least(1);
        /// How long a smallest RTT is believed (draft section 2.16.1, "MinRTTFilterLen").
        min_rtt_window: Span = Span::from_secs(10), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Time without a smaller RTT after which the window shrinks to look for one (draft section 2.16.2, "ProbeRTTInterval").
        probe_rtt_interval: Span = Span::from_secs(5), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// What the pacing rate gives in this time leaves back to back (draft section 5.6.3); 0 spaces every segment.
        burst: Span = Span::from_ms(1), at_most(Span::from_ms(100));
    }
}

impl ConfiguredController for Bbr3 {
    type Parameters = Bbr3Parameters;
    const MEASURES_RATE: bool = true;
    const JUDGES_LOSSES: bool = true;

    fn configured(parameters: &Bbr3Parameters, start: Start) -> Self {
        Self::new(parameters, start)
    }
}

/// States of the draft's section 5.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// "IsInAProbeBWState".
    const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// "IsProbingBW".
    const fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// Gain of the window (draft section 5.6.1).
    const fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => 2.25,
            Self::ProbeRtt => probe_rtt::CWND_GAIN,
            _ => 2.0,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Drain => "drain",
            Self::Down => "probe-bw down",
            Self::Cruise => "probe-bw cruise",
            Self::Refill => "probe-bw refill",
            Self::Up => "probe-bw up",
            Self::ProbeRtt => "probe-rtt",
        }
    }
}

/// What one ACK says of the delivery ("RS").
#[derive(Clone, Copy, Debug)]
struct Sample {
    bandwidth: Bandwidth,
    delivered: u64,
    prior_delivered: u64,
    /// By the application, or by our own restraint in ProbeRTT.
    app_limited: bool,
    tx_in_flight: u64,
    lost: u64,
}

/// BBR version 3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    parameters: Bbr3Parameters,
    /// Payload bytes of a full segment.
    mss: u64,
    initial_window: u64,
    /// More than one loss in a round trip is seen.
    sack: bool,
    state: State,
    rounds: RoundTrips,
    max_bw: MaxFilter<Bandwidth, MAX_BW_CYCLES>,
    /// "BBR.bw": "max_bw" within the short-term bound.
    bw: Bandwidth,
    /// "probe_rtt_min_delay" and "min_rtt".
    recent_min_rtt: MinRtt,
    min_rtt: MinRtt,
    probe_rtt: ProbeRtt,
    aggregation: Aggregation,
    full_pipe: FullPipeSearch,
    latest: LatestSignals,
    short_term: ShortTerm,
    long_term: LongTerm,
    cycle: Cycle,
    undo: Undo,
    drain_start_round: u64,
    /// Data leave again after a pause.
    idle_restart: bool,
    pacer: Pacer,
    cwnd: u64,
    /// Window to return to after loss recovery or ProbeRTT.
    prior_cwnd: u64,
    /// From the first loss of an episode until it is repaired or undone.
    recovering: bool,
}

impl Bbr3 {
    /// A controller at the start of a connection; the parameters are within their bounds. Flows with different seeds do
    /// not probe in step.
    #[must_use]
    pub fn new(parameters: &Bbr3Parameters, start: Start) -> Self {
        let mss = u64::from(start.mss.max(1));
        let initial_window = start.initial_window.max(mss);
        let mut pacer = Pacer::new(initial_window, parameters.startup_gain);
        pacer.burst = parameters.burst;
        Self {
            mss,
            initial_window,
            sack: start.sack,
            state: State::Startup,
            rounds: RoundTrips::default(),
            max_bw: MaxFilter::default(),
            bw: Bandwidth::default(),
            recent_min_rtt: MinRtt::new(parameters.probe_rtt_interval),
            min_rtt: MinRtt::new(parameters.min_rtt_window),
            probe_rtt: ProbeRtt::default(),
            aggregation: Aggregation::default(),
            full_pipe: FullPipeSearch::default(),
            latest: LatestSignals::default(),
            short_term: ShortTerm::default(),
            long_term: LongTerm::default(),
            cycle: Cycle::new(Draws::new(start.seed)),
            undo: Undo::default(),
            drain_start_round: 0,
            idle_restart: false,
            pacer,
            cwnd: initial_window,
            prior_cwnd: 0,
            recovering: false,
            parameters: parameters.clone(),
        }
    }

    const fn min_pipe_cwnd(&self) -> u64 {
        MIN_PIPE_SEGMENTS * self.mss
    }

    /// Gain of the pacing rate (draft section 5.6.1).
    const fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.parameters.startup_gain,
            State::Drain => startup::DRAIN_GAIN,
            State::Down => probe_bw::DOWN_GAIN,
            State::Up => probe_bw::UP_GAIN,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    /// Counts rounds and reads the sample of an ACK.
    fn sample(&mut self, ack: &Ack) -> Option<Sample> {
        let bandwidth = self.rounds.on_ack(ack);
        self.cycle.on_round(self.rounds.start);
        let (bandwidth, rate) = bandwidth.zip(ack.rate)?;
        Some(Sample {
            bandwidth,
            delivered: rate.delivered,
            prior_delivered: rate.prior_delivered,
            app_limited: rate.app_limited || self.probe_rtt.depressed(rate.prior_delivered),
            tx_in_flight: rate.tx_in_flight,
            lost: rate.lost,
        })
    }

    /// Draft section 5.5.5, "UpdateMaxBw".
    fn update_max_bw(&mut self, sample: &Sample) {
        if sample.delivered > 0 && (sample.bandwidth >= self.max_bw.max() || !sample.app_limited) {
            self.max_bw.insert(self.cycle.count, sample.bandwidth);
        }
    }

    /// Draft section 5.2.3, "UpdateModelAndState".
    fn update_model(&mut self, ack: &Ack) {
        let sample = self.sample(ack);
        let sample = sample.as_ref();
        let round_of_losses_ends = self.latest.take(sample, self.rounds.delivered);
        if let Some(sample) = sample {
            self.update_max_bw(sample);
        }
        if round_of_losses_ends {
            self.adapt_lower_bounds();
        }
        self.update_aggregation(ack);
        self.check_full_pipe(sample);
        self.check_startup_done(ack, sample, round_of_losses_ends);
        self.check_drain_done(ack);
        if self.full_pipe.reached {
            self.update_probe_bw(ack, sample);
        }
        self.update_min_rtt(ack);
        if round_of_losses_ends {
            self.latest.begin_round(sample);
        }
        self.bw = self.short_term.bound(self.max_bw.max());
    }
}

impl CongestionControl for Bbr3 {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// BBR has none.
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacer.rate)
    }

    fn send_quantum(&self) -> u64 {
        self.pacer.send_quantum(self.mss, self.least_quantum())
    }

    fn phase(&self) -> &'static str {
        self.state.name()
    }

    fn governs_recovery(&self) -> bool {
        true
    }

    fn answers_marks(&self) -> bool {
        true
    }

    fn on_established(&mut self, now: Instant, rtt: Option<Span>) {
        self.recent_min_rtt.start(now, rtt);
        self.min_rtt.start(now, rtt);
        self.aggregation.restart(now);
        if let Some(rtt) = rtt {
            self.pacer.on_first_rtt(self.cwnd, rtt, self.parameters.startup_gain);
        }
    }

    fn on_restart_after_idle(&mut self, now: Instant, _idle: Span, _rto: Span) {
        self.restart_after_idle(now);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.update_model(ack);
        self.pacer.on_first_rtt(self.cwnd, ack.srtt, self.parameters.startup_gain);
        self.pace(self.pacing_gain());
        self.update_cwnd(ack);
    }

    fn on_segment_lost(&mut self, lost: &LostSegment) {
        self.handle_lost_segment(lost);
    }

    /// Draft section 5.6.4.4, "OnEnterFastRecovery": the window stays; the model follows the losses.
    fn on_loss(&mut self, _episode: &LossEpisode) {
        self.save_cwnd();
        self.begin_episode();
    }

    fn on_ecn(&mut self, episode: &LossEpisode) {
        self.answer_mark(episode);
    }

    /// Draft section 5.6.4.4, "OnEnterRTO": one segment more than is still in flight.
    fn on_timeout(&mut self, episode: &LossEpisode, _first: bool) {
        self.save_cwnd();
        self.begin_episode();
        self.cwnd = episode.in_flight.saturating_add(self.mss);
    }

    fn on_recovered(&mut self, _now: Instant, _from: Recovery) {
        self.leave_recovery();
    }

    fn on_undo(&mut self, _now: Instant) {
        self.undo_episode();
    }
}
