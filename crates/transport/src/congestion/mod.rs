//! Congestion control: how much may be in flight, and how fast it may leave.
//!
//! A controller sees facts ([`Ack`], [`LossEpisode`]) and answers with a window and, if it paces,
//! a rate. It does not know which loss detection found the losses, nor clocks, packets or options.
//! Dispatch is an enum ([`Controller`]), because every ACK passes through it.
//!
//! The sender guarantees the order of calls for one arriving ACK: first
//! [`CongestionControl::on_segment_lost`] for each segment that it shows to be lost, then
//! [`CongestionControl::on_recovered`] if the ACK ends an episode, then [`CongestionControl::on_loss`] if it starts one,
//! or, with ECN, [`CongestionControl::on_ecn_feedback`] and [`CongestionControl::on_ecn`] if a mark starts one, then [`CongestionControl::on_ack`] once.
//!
//! The registry is the call of `controllers!` below: a name, and the type that has its parameters and its code.
//! [`NewReno`] and [`Cubic`] share the slow start of `window.rs`, which [`HyStart`] (RFC 9406) may end early.
//! `coupling.rs` has what the coupled controllers share; on a single path each of them is NewReno.

#[macro_use]
mod controller;

mod balia;
mod bbr;
mod bbr3;
mod classic_hystart;
mod coupling;
mod cubic;
mod dctcp;
mod external;
mod held;
mod hystart;
mod lia;
mod linux_cubic;
mod linux_reno;
mod mprc;
mod newreno;
mod ns2_newreno;
mod olia;
mod path_model;
#[cfg(test)]
mod properties;
mod segments;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod window;

pub use balia::Balia;
pub use bbr::{Bbr, BbrParameters, DeliveryRate};
pub use bbr3::{Bbr3, Bbr3Parameters};
pub use controller::{ConfiguredController, Start};
pub use coupling::{Coupled, Coupling, CouplingRule};
pub use cubic::{Cubic, CubicParameters};
pub use dctcp::Dctcp;
pub use external::{External, ExternalControl, ExternalMaker};
pub use held::Held;
pub use hystart::HyStart;
pub use lia::Lia;
pub use linux_cubic::{LinuxCubic, LinuxCubicParameters};
pub use linux_reno::LinuxReno;
pub use mprc::Mprc;
pub use newreno::{NewReno, NewRenoParameters};
pub use ns2_newreno::{Ns2NewReno, Ns2NewRenoParameters};
pub use olia::Olia;
pub(crate) use path_model::Draws;
pub(crate) use path_model::MaxFilter;

use anabranch_units::{Instant, Rate, Span};

controllers! {
    "newreno" => NewReno(NewReno),
    "cubic" => Cubic(Cubic),
    // Boxed, because they are several times the size of the others.
    "bbr" => Bbr(Box<Bbr>),
    "bbr3" => Bbr3(Box<Bbr3>),
    "linux-reno" => LinuxReno(LinuxReno),
    "linux-cubic" => LinuxCubic(LinuxCubic),
    "ns2-newreno" => Ns2NewReno(Ns2NewReno),
    "dctcp" => Dctcp(Dctcp),
    "mprc" => Mprc(Mprc),
    "lia" => Lia(Lia),
    "olia" => Olia(Olia),
    "balia" => Balia(Balia),
    "held" => Held(Held),
    // What the caller brings along has no line here, but a name (`external.rs`).
    ; "python"
}

impl CongestionConfig {
    /// Whether ACK phases of its delivery rates begin where they should not ([`DeliveryRate::Ns3`]).
    #[must_use]
    pub(crate) fn mistakes_ack_phases(&self) -> bool {
        matches!(self, Self::Bbr(bbr) if bbr.delivery_rate == DeliveryRate::Ns3)
    }
}

/// What one arriving ACK said.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Arrival time.
    pub now: Instant,
    /// Bytes by which the cumulative acknowledgment advanced.
    pub acked: u64,
    /// Bytes newly delivered: cumulatively acknowledged or selectively, each counted once.
    pub delivered: u64,
    /// Bytes by which it lets a window grow: those delivered. Where loss detection waits to see whether a hole is a loss,
    /// what has arrived behind it counts with the ACK that fills it.
    pub growth: u64,
    /// Bytes newly marked lost on this ACK.
    pub lost: u64,
    /// Bytes in flight (RFC 6675 "pipe") before this ACK.
    pub in_flight_before: u64,
    /// Bytes in flight after this ACK, losses deducted.
    pub in_flight: u64,
    /// Round-trip sample of this ACK, if it gives one (RFC 6298 section 3: never of a
    /// retransmission, unless timestamps tell).
    pub rtt: Option<Span>,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Span,
    /// Smallest RTT of the connection; [`Span::MAX`] before the first sample.
    pub min_rtt: Span,
    /// Next byte to be acknowledged, as a 64-bit stream position.
    pub snd_una: u64,
    /// Next new byte to be sent. An ACK with `snd_una` at or above the `snd_nxt` of an earlier ACK
    /// ends the round that began there.
    pub snd_nxt: u64,
    /// Whether the sender was held back by cwnd since the last ACK (RFC 7661, Linux's
    /// `is_cwnd_limited`); a window must not grow while it is not used.
    pub cwnd_limited: bool,
    /// Whether all of cwnd was used at some time in the last round trip.
    pub window_full: bool,
    /// Whether the sender is in fast recovery or in the loss state after a timeout.
    pub recovery: Recovery,
    /// Delivery rate sample, if the ACK gives one (draft-cheng-iccrg-delivery-rate-estimation).
    pub rate: Option<RateSample>,
}

/// Whether the sender is repairing losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// It is not.
    Open,
    /// Fast recovery (RFC 6675).
    Fast,
    /// After a retransmission timeout, until the data outstanding at that time are acknowledged.
    Loss,
}

/// One delivery rate sample (draft-cheng-iccrg-delivery-rate-estimation section 3.3).
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Bytes delivered over `interval`.
    pub delivered: u64,
    /// The longer of send interval and ACK interval.
    pub interval: Span,
    /// `delivered` counter of the connection when the newest acknowledged segment was sent.
    pub prior_delivered: u64,
    /// `delivered` counter of the connection now.
    pub total_delivered: u64,
    /// Bytes of the connection that were ever judged lost, once for each judgement.
    pub total_lost: u64,
    /// Whether the sample was taken while the application, not the network, was the limit.
    pub app_limited: bool,
    /// Bytes in flight after the newest acknowledged segment was sent, its own among them.
    pub tx_in_flight: u64,
    /// Bytes judged lost since it was sent.
    pub lost: u64,
}

/// A segment that was judged lost.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// When it was judged.
    pub now: Instant,
    /// Its first position in the stream.
    pub start: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes in flight after it was sent, its own among them.
    pub tx_in_flight: u64,
    /// Bytes judged lost since it was sent, its own among them.
    pub lost: u64,
    /// Whether the application was the limit when it was sent.
    pub app_limited: bool,
    /// `delivered` counter of the connection now.
    pub delivered: u64,
}

/// The start of a loss episode.
#[derive(Clone, Copy, Debug)]
pub struct LossEpisode {
    /// When it was noticed.
    pub now: Instant,
    /// Bytes in flight when it was noticed, before the losses are deducted (RFC 5681 "FlightSize"); the window where
    /// that was what limited them.
    pub flight_size: u64,
    /// Bytes in flight after the losses are deducted.
    pub in_flight: u64,
    /// Next new byte to be sent: recovery ends when it is acknowledged.
    pub snd_nxt: u64,
    /// Bytes of the connection that were ever judged lost, once for each judgement.
    pub total_lost: u64,
}

/// What one arriving ACK said of marks.
#[derive(Clone, Copy, Debug)]
pub struct EcnFeedback {
    /// Bytes by which the cumulative acknowledgment advanced.
    pub acked: u64,
    /// Whether the ACK echoes a mark.
    pub echo: bool,
    /// Next byte to be acknowledged.
    pub snd_una: u64,
    /// Next new byte to be sent.
    pub snd_nxt: u64,
}

/// A congestion controller. All windows are in bytes.
pub trait CongestionControl {
    /// The window outside recovery. Never below one segment.
    fn cwnd(&self) -> u64;

    /// The slow-start threshold; `u64::MAX` before the first loss or for a controller without one.
    fn ssthresh(&self) -> u64;

    /// The rate it wants packets to leave at, if it paces by itself.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Bytes that a paced sender lets leave back to back; 0 spaces every segment.
    fn send_quantum(&self) -> u64 {
        0
    }

    /// The phase that it is in, as its RFC or paper calls it; for the event log.
    fn phase(&self) -> &'static str {
        if self.cwnd() < self.ssthresh() { "slow start" } else { "congestion avoidance" }
    }

    /// Whether it sets its window in fast recovery itself. Otherwise proportional rate reduction
    /// (RFC 6937) leads the window to [`CongestionControl::ssthresh`] during recovery.
    fn governs_recovery(&self) -> bool {
        false
    }

    /// Whether an ECN mark reduces its window, so that a loss in the same window of data has been answered
    /// (RFC 3168 section 6.1.2).
    fn answers_marks(&self) -> bool {
        !self.governs_recovery()
    }

    /// The handshake gave the first RTT sample (or none, after a lost SYN).
    fn on_established(&mut self, _now: Instant, _rtt: Option<Span>) {}

    /// A segment is about to leave after the connection had nothing in flight for `idle`, which is longer
    /// than the retransmission timeout `rto` (RFC 5681 section 4.1).
    fn on_restart_after_idle(&mut self, _now: Instant, _idle: Span, _rto: Span) {}

    /// Each ACK, after the sender has brought its scoreboard up to date.
    fn on_ack(&mut self, ack: &Ack);

    /// The window was `cwnd` bytes when what is lost now was sent, and the loss answers for what it has grown
    /// to since; comes before [`CongestionControl::on_loss`], from a loss detection that takes more than a
    /// round trip. Without an own window of losses there is nothing to do.
    fn forget_growth(&mut self, _cwnd: u64) {}

    /// A segment was judged lost; comes before [`CongestionControl::on_loss`] and [`CongestionControl::on_timeout`],
    /// for a controller that judges losses one by one ([`ConfiguredController::JUDGES_LOSSES`]).
    fn on_segment_lost(&mut self, _lost: &LostSegment) {}

    /// Fast recovery starts: once per window of data. Sets ssthresh.
    fn on_loss(&mut self, episode: &LossEpisode);

    /// Each ACK of a connection with ECN, marked or not, for a controller that counts marks
    /// ([`ConfiguredController::NEEDS_MARKS`]).
    fn on_ecn_feedback(&mut self, _feedback: &EcnFeedback) {}

    /// An ECN-Echo starts an episode: once per window of data (RFC 3168 section 6.1.2). No recovery
    /// follows, so the window itself must come down here.
    fn on_ecn(&mut self, episode: &LossEpisode);

    /// The retransmission timer expired (RFC 6298 section 5); `first` is false for the second and
    /// later expiries for the same data, and in fast recovery, whose window of data has been answered
    /// for: ssthresh must not be reduced again.
    fn on_timeout(&mut self, episode: &LossEpisode, first: bool);

    /// Fast recovery or the loss state ended. For a controller that does not govern recovery,
    /// the window must now be ssthresh (after [`Recovery::Fast`]).
    fn on_recovered(&mut self, now: Instant, from: Recovery);

    /// How the other subflows of the connection stand; comes before each ACK of a subflow whose controller is
    /// coupled. The others have no use for it.
    fn couple(&mut self, _coupling: &Coupling) {}

    /// Bytes acknowledged between the last two losses or since the last, whichever is more (OLIA's l_r); 0 for
    /// a controller that does not keep it.
    fn loss_interval(&self) -> u64 {
        0
    }

    /// The subflow holds up a multipath connection whose receive window is full: its window is halved, and the
    /// threshold too unless it is in slow start (Raiciu 2012, section 4.2, "penalising slow subflows"). A
    /// controller that measures its rate instead heeds nothing.
    fn penalise(&mut self) {}

    /// The episode turned out to be spurious (RFC 3522, DSACK): what it took is given back.
    fn on_undo(&mut self, now: Instant);
}
