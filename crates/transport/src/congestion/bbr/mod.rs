//! BBR version 1: paces at the bottleneck's bandwidth, and keeps about one bandwidth-delay product
//! in flight. It does not take a loss for congestion, and as in version 1 it does not react to ECN.
//!
//! "Draft" means draft-cardwell-iccrg-bbr-congestion-control-00. Where it and Linux (`tcp_bbr.c`) differ
//! we follow Linux, whose results people compare with: the pacing margin of 1 %, the window rounded
//! up to an even number of segments and enlarged in the probing phase, and the allowance for
//! aggregated ACKs. One file per part of the draft:
//! - `bandwidth.rs`: the windowed maximum of the delivery rate
//! - `aggregation.rs`: how far ACKs run ahead of the bandwidth
//! - `startup.rs`: Startup and Drain
//! - `probe_bw.rs`: ProbeBW and its gain cycle
//! - `probe_rtt.rs`: the smallest RTT, and ProbeRTT
//! - `pacing.rs`: pacing rate and send quantum
//! - `inflight.rs`: the window
//! - `long_term.rs`: what a policer lets through, if it is asked for
//!
//! What version 3 measures in the same way is in `path_model`.
//!
//! No packet waits in a pacing layer below the sender, so what is in flight is in the network.

mod aggregation;
mod bandwidth;
mod inflight;
mod long_term;
mod pacing;
mod probe_bw;
mod probe_rtt;
mod startup;

use super::path_model::{MinRtt, Pacer, ProbeRtt};
use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, Recovery, Start};
use aggregation::AckAggregation;
use anabranch_units::declaration::at_most;
use anabranch_units::{Instant, Rate, Span};
use bandwidth::BandwidthModel;
use long_term::LongTermBandwidth;
use probe_bw::GainCycle;
use startup::FullPipe;

/// 2/ln 2: the smallest gain that lets the rate double each round (draft section 4.3.2.1).
const HIGH_GAIN: f64 = 2.885;
/// Of the initial window per RTT.
const INITIAL_PACING: f64 = HIGH_GAIN * pacing::MARGIN;
/// Inverse of the high gain, to drain in one round what Startup queued (draft section 4.3.3).
const DRAIN_GAIN: f64 = 1.0 / HIGH_GAIN;
/// Window gain of ProbeBW, with room for delayed and stretched ACKs (draft section 4.2.3.2).
const CWND_GAIN: f64 = 2.0;
/// Segments in flight that keep ACKs coming when every other segment is acknowledged, in segments
/// (draft section 4.2.3.3, "BBRMinPipeCwnd").
const MIN_PIPE_SEGMENTS: u64 = 4;

anabranch_units::choice! {
    /// How delivery rates are measured.
    pub enum DeliveryRate {
        /// As they should be (draft-cheng-iccrg-delivery-rate-estimation section 3).
        "draft" => Draft,
        /// With an error of ns-3 up to 3.40 (its issue 1026), kept for the reproduction of what was simulated with it: the
        /// ACK phase of a sample begins where that of the sample before should have, and after a sample that spanned less
        /// than the smallest RTT at the start of the simulation; an ACK that delivers no newer segment repeats the last
        /// interval. With reordered packets the rate comes out far too low.
        "ns-3.37" => Ns3,
    }
}

anabranch_units::parameters! {
    /// A model of bottleneck bandwidth and round-trip time (draft-cardwell-iccrg-bbr-congestion-control-00).
    pub struct BbrParameters {
        /// What the pacing rate gives in this time leaves back to back; 0 spaces every segment. Linux has 2^-10 s.
        burst: Span = Span::ZERO, at_most(Span::from_ms(100));
        /// Measure what a policer lets through where a fifth is lost, and send at that rate for 48 rounds, as Linux does.
        long_term: bool = false;
        /// How delivery rates are measured. `ns-3.37` is an error, for reproductions alone.
        delivery_rate: DeliveryRate = DeliveryRate::Draft;
    }
}

impl ConfiguredController for Bbr {
    type Parameters = BbrParameters;
    const MEASURES_RATE: bool = true;

    fn configured(parameters: &BbrParameters, start: Start) -> Self {
        let mut bbr = Self::new(start.mss, start.initial_window, start.seed);
        bbr.pacer.burst = parameters.burst;
        bbr.long_term = parameters.long_term.then(Box::default);
        bbr
    }
}

/// States of the draft's section 4.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR version 1.
#[derive(Clone, Debug)]
pub struct Bbr {
    /// Payload bytes of a full segment.
    mss: u64,
    initial_window: u64,
    state: State,
    model: BandwidthModel,
    min_rtt: MinRtt,
    aggregation: AckAggregation,
    /// None if it is not asked for.
    long_term: Option<Box<LongTermBandwidth>>,
    full_pipe: FullPipe,
    cycle: GainCycle,
    probe_rtt: ProbeRtt,
    /// Data leave again after a pause (draft section 4.3.4.4).
    idle_restart: bool,
    pacer: Pacer,
    cwnd: u64,
    /// Window to return to after loss recovery or ProbeRTT (draft section 4.2.3.4).
    prior_cwnd: u64,
    /// The sender's state at the last ACK that delivered data, or at a timeout since. A recovery that ends with the
    /// ACK that begins the next one is no change.
    seen: Recovery,
    /// First round of fast recovery: as much leaves as arrives.
    packet_conservation: bool,
}

impl Bbr {
    /// For segments of `mss` payload bytes, starting with `initial_window` bytes. `phase_seed` decides with
    /// which phase each gain cycle begins; flows with different seeds do not probe in step.
    #[must_use]
    pub fn new(mss: u32, initial_window: u64, phase_seed: u64) -> Self {
        let mss = u64::from(mss.max(1));
        let initial_window = initial_window.max(mss);
        Self {
            mss,
            initial_window,
            state: State::Startup,
            model: BandwidthModel::default(),
            min_rtt: MinRtt::new(probe_rtt::FILTER_LEN),
            aggregation: AckAggregation::default(),
            long_term: None,
            full_pipe: FullPipe::default(),
            cycle: GainCycle::new(phase_seed),
            probe_rtt: ProbeRtt::default(),
            idle_restart: false,
            // Draft section 4.2.1, "BBRInitPacingRate".
            pacer: Pacer::new(initial_window, INITIAL_PACING),
            cwnd: initial_window,
            prior_cwnd: 0,
            seen: Recovery::Open,
            packet_conservation: false,
        }
    }

    const fn min_pipe_cwnd(&self) -> u64 {
        MIN_PIPE_SEGMENTS * self.mss
    }

    /// Gain of the pacing rate in the present state (draft section 4.3).
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => DRAIN_GAIN,
            State::ProbeBw => self.probing_gain(),
            State::ProbeRtt => 1.0,
        }
    }

    /// Gain of the window in the present state (draft section 4.3).
    const fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw => CWND_GAIN,
            State::ProbeRtt => 1.0,
        }
    }

    /// The model and the state machine (draft section 4.1, "BBRUpdateModelAndState").
    fn update_model(&mut self, ack: &Ack) {
        let sample_is_low = ack.rate.is_some_and(|rate| self.probe_rtt.depressed(rate.prior_delivered));
        self.model.on_ack(ack, sample_is_low);
        if self.model.rounds.start {
            self.packet_conservation = false;
        }
        if let Some(rate) = &ack.rate {
            self.update_long_term(ack, rate);
            self.aggregation.on_ack(ack, self.bandwidth(), self.model.rounds.start, (self.cwnd, self.mss));
        }
        self.update_gain_cycle(ack);
        let app_limited = ack.rate.is_none_or(|rate| rate.app_limited || sample_is_low);
        if self.model.rounds.start && !app_limited {
            self.full_pipe.on_round(self.model.max());
        }
        self.update_drain(ack);
        self.update_min_rtt(ack);
    }
}

impl CongestionControl for Bbr {
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

    /// The states of the draft's section 4.3, and of ProbeBW what its gain does.
    fn phase(&self) -> &'static str {
        match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBw => match self.probing_gain() {
                gain if gain > 1.0 => "probe-bw up",
                gain if gain < 1.0 => "probe-bw down",
                _ => "probe-bw cruise",
            },
            State::ProbeRtt => "probe-rtt",
        }
    }

    fn governs_recovery(&self) -> bool {
        true
    }

    fn on_established(&mut self, now: Instant, rtt: Option<Span>) {
        self.min_rtt.start(now, rtt);
        self.cycle.start(now);
        self.aggregation.restart(now);
        if let Some(rtt) = rtt {
            self.pacer.on_first_rtt(self.cwnd, rtt, INITIAL_PACING);
        }
    }

    /// Draft section 4.3.4.4. The pause is the application's doing: a sender that cwnd or the peer's
    /// window holds back has data in flight.
    fn on_restart_after_idle(&mut self, now: Instant, _idle: Span, _rto: Span) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.state {
            State::ProbeBw => self.pace(1.0),
            State::ProbeRtt => self.leave_probe_rtt_if_done(now),
            State::Startup | State::Drain => {}
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.update_model(ack);
        self.pacer.on_first_rtt(self.cwnd, ack.srtt, INITIAL_PACING);
        self.pace(self.pacing_gain());
        self.update_cwnd(ack);
    }

    /// Draft section 4.2.3.4. The window follows with the ACK that shows the loss, once its data are counted, or with
    /// the next one where a timer has found it ([`Bbr::modulate_for_recovery`]).
    fn on_loss(&mut self, _episode: &LossEpisode) {
        self.save_cwnd();
    }

    /// Version 1 does not react: its window already follows the path's bandwidth-delay product.
    fn on_ecn(&mut self, _episode: &LossEpisode) {}

    /// Draft section 4.2.3.4: one segment, then up again towards the target.
    fn on_timeout(&mut self, episode: &LossEpisode, _first: bool) {
        self.save_cwnd();
        self.cwnd = self.mss;
        self.seen = Recovery::Loss;
        self.full_pipe.restart();
        self.time_out_long_term(episode);
    }

    /// The next ACK that delivers data sees it.
    fn on_recovered(&mut self, _now: Instant, _from: Recovery) {}

    /// As in Linux: the slow-down was spurious, so Startup has not been shown to fill the pipe either.
    fn on_undo(&mut self, _now: Instant) {
        self.full_pipe.restart();
        self.forget_long_term();
    }
}
