//! What a user may choose at an end host, resolved to numbers.

use anabranch_units::Span;
use serde::{Deserialize, Serialize};

/// A transport: which protocol the ends speak, with its choices.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "protocol", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TransportConfig {
    /// TCP.
    Tcp(TcpConfig),
    /// Senders that an SDN controller paces (Gholizadeh 2019, chapter 4).
    SdnPaced(SdnPacedConfig),
    /// A fixed window over the same segments (Gholizadeh 2019, section 3.2).
    SlidingWindow(SlidingWindowConfig),
    /// Multipath TCP (RFC 8684).
    Mptcp(MptcpConfig),
}

/// Choices of Multipath TCP. Coupled or not, each subflow's congestion control is that of `tcp`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MptcpConfig {
    /// Choices of each subflow; the receive buffer is the connection's, which all of them share.
    pub tcp: TcpConfig,
    /// Which subflows there are.
    pub path_manager: PathManagerConfig,
    /// Which subflow takes the next segment.
    pub scheduler: SchedulerConfig,
    /// When the receive window is full, send what holds it up on another subflow too (Raiciu 2012, section 4.2).
    pub opportunistic_retransmission: bool,
    /// Then also halve the window of the slower subflow that holds it up (ibidem).
    pub penalisation: bool,
}

/// Path managers by name, with their parameters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PathManagerConfig {
    /// One subflow.
    Default {},
    /// Subflows between the same two addresses that differ in their source ports.
    Ndiffports {
        /// How many, 1 to 255.
        subflows: u16,
    },
    /// One subflow for each pair of a local and a remote interface.
    Fullmesh {},
}

impl PathManagerConfig {
    /// Checks the number of subflows.
    ///
    /// # Errors
    /// If there are none or more than 255, with what would be right.
    pub fn check(&self) -> Result<(), String> {
        match *self {
            Self::Ndiffports { subflows } if !(1..=255).contains(&subflows) => {
                Err(format!("subflows is {subflows}; it must be 1 to 255"))
            }
            _ => Ok(()),
        }
    }
}

/// Schedulers by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerConfig {
    /// The subflow with the smallest smoothed RTT among those whose window has room.
    LowestRtt,
    /// One segment each in turn.
    RoundRobin,
    /// Everything on every subflow.
    Redundant,
    /// Lowest RTT, unless a slow subflow would block the receive window (Ferlin 2016).
    Blest,
}

/// Choices of the paced SDN agent. What it sends, and when, comes from the controller.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SdnPacedConfig {
    /// Bytes of a full data packet, headers included (thesis: 1000); every other segment has 40.
    pub segment_bytes: u16,
    /// Deliver in spite of loss: retransmissions, selective acknowledgments, an acknowledged FIN and
    /// confirmed CTRLs. The thesis has none of these.
    pub reliable: bool,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Span,
    /// Largest retransmission timeout.
    pub max_rto: Span,
    /// Give up when the handshake has had no answer for so long.
    pub handshake_timeout: Span,
}

/// Choices of the plain sliding-window agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlidingWindowConfig {
    /// Bytes of a full data packet, headers included (thesis: 1000); every other segment has 40.
    pub segment_bytes: u16,
    /// Segments in flight (thesis: 5).
    pub window_segments: u32,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Span,
    /// Largest retransmission timeout.
    pub max_rto: Span,
    /// Give up when the handshake has had no answer for so long.
    pub handshake_timeout: Span,
}

/// All choices of one TCP transport. Presets ([`crate::preset`]) fill it by name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpConfig {
    /// MSS option in bytes: payload plus TCP options of a full segment (RFC 9293 section 3.7.1).
    pub mss: u16,
    /// Selective acknowledgment (RFC 2018) with DSACK (RFC 2883).
    pub sack: bool,
    /// Timestamps option (RFC 7323).
    pub timestamps: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Initial window in segments (RFC 6928).
    pub initial_window_segments: u32,
    /// Receive buffer in bytes; bounds the advertised window.
    pub receive_buffer_bytes: u64,
    /// Full segments that are acknowledged by one ACK (RFC 1122 section 4.2.3.2); 1 acknowledges each.
    pub delayed_ack_segments: u32,
    /// Longest time an ACK is held back.
    pub delayed_ack_timeout: Span,
    /// Retransmission timeout before the first RTT sample (RFC 6298 section 2.1).
    pub initial_rto: Span,
    /// Smallest retransmission timeout (RFC 6298 section 2.4 says 1 s, Linux uses 200 ms).
    pub min_rto: Span,
    /// Largest retransmission timeout (RFC 6298 section 2.5).
    pub max_rto: Span,
    /// Give up when the SYN has had no answer for so long (RFC 9293 section 3.8.3, R2 for SYN segments).
    pub handshake_timeout: Span,
    /// How losses are found.
    pub loss_detection: LossDetectionConfig,
    /// How the window is set.
    pub congestion_control: CongestionConfig,
    /// How packets are spaced.
    pub pacing: PacingConfig,
    /// Take a window reduction back when the loss proves spurious (RFC 3522 timestamps, DSACK).
    pub undo: bool,
}

/// Loss detection by name, with its parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossDetectionConfig {
    /// Duplicate ACKs and SACK (RFC 5681, 6582, 6675).
    Dupack {
        /// Duplicate ACKs, or segments SACKed above a hole, that make it lost ("DupThresh").
        threshold: u32,
    },
    /// RACK-TLP (RFC 8985).
    Rack {
        /// Tail loss probes.
        tail_loss_probe: bool,
    },
    /// A timer for each segment (Chang 2024, section 4).
    Fastrto {
        /// Growth of RTTmin per round, and margin above it (4.1), (4.2); above 1.
        gamma: f64,
        /// Mean deviations above SRTT (4.2); above 0.
        k: f64,
        /// Weight of a sample in SRTT (RFC 6298 alpha); above 0 and below 1.
        srtt_gain: f64,
        /// Weight of a sample in RTTVAR (RFC 6298 beta); above 0 and below 1.
        rttvar_gain: f64,
        /// RTOmax (4.3), the largest FastRTO.
        fastrto_max: Span,
    },
    /// TCP-PR (Bohacek et al., ICDCS 2003): a timer for each segment, duplicate ACKs mean nothing.
    TcpPr {
        /// Factor by which the envelope of the RTT, ewrtt, decays over a window of ACKs ("alpha", 0.995).
        ewrtt_alpha: f64,
        /// A segment is lost when it has been out for so many ewrtt ("beta", 3).
        mxrtt_beta: f64,
    },
    /// RR-TCP (Zhang et al., ICNP 2003): DupThresh follows the reordering that was seen.
    RrTcp {
        /// Share of the reordering events that must not look like a loss, at first ("FA ratio").
        fa_ratio: f64,
        /// What a false fast retransmit adds to it.
        fa_step: f64,
        /// False fast retransmits that one retransmission timeout outweighs.
        timeout_cost: f64,
    },
    /// TCP-NCR (RFC 4653): DupThresh is about a window of data.
    TcpNcr {
        /// What may leave before DupThresh is reached.
        limited_transmit: LimitedTransmit,
    },
}

/// The variants of Extended Limited Transmit (RFC 4653 section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedTransmit {
    /// A new segment for every other one that is reported.
    Careful,
    /// A new segment for each one that is reported.
    Aggressive,
}

impl LossDetectionConfig {
    /// Checks the ranges of the parameters; NaN is in no range.
    ///
    /// # Errors
    /// The first parameter that is out of range, with what would be right.
    pub fn check(&self) -> Result<(), String> {
        match *self {
            Self::TcpPr { ewrtt_alpha, .. } if !(ewrtt_alpha > 0.0 && ewrtt_alpha < 1.0) => {
                Err(format!("ewrtt_alpha is {ewrtt_alpha}; it must be above 0 and below 1 (paper: 0.995)"))
            }
            Self::TcpPr { mxrtt_beta, .. } if !(mxrtt_beta > 1.0 && mxrtt_beta.is_finite()) => {
                Err(format!("mxrtt_beta is {mxrtt_beta}; it must be above 1 (paper: 3)"))
            }
            Self::RrTcp { fa_ratio, .. } if !(0.0..=1.0).contains(&fa_ratio) => {
                Err(format!("fa_ratio is {fa_ratio}; it must be 0 to 1 (here: 0.9)"))
            }
            Self::RrTcp { fa_step, .. } if !(0.0..=1.0).contains(&fa_step) => {
                Err(format!("fa_step is {fa_step}; it must be 0 to 1 (here: 0.01)"))
            }
            Self::RrTcp { timeout_cost, .. } if !(timeout_cost >= 0.0 && timeout_cost.is_finite()) => {
                Err(format!("timeout_cost is {timeout_cost}; it must be at least 0 (here: 10)"))
            }
            Self::Fastrto { .. } => self.check_fastrto(),
            _ => Ok(()),
        }
    }

    fn check_fastrto(&self) -> Result<(), String> {
        let Self::Fastrto { gamma, k, srtt_gain, rttvar_gain, fastrto_max } = *self else { return Ok(()) };
        if !(gamma > 1.0 && gamma.is_finite()) {
            return Err(format!("gamma is {gamma}; it must be above 1, or RTTmin could never rise again"));
        }
        if !(k > 0.0 && k.is_finite()) {
            return Err(format!("k is {k}; it must be above 0"));
        }
        for (name, gain) in [("srtt_gain", srtt_gain), ("rttvar_gain", rttvar_gain)] {
            if !(gain > 0.0 && gain < 1.0) {
                return Err(format!("{name} is {gain}; it must be above 0 and below 1"));
            }
        }
        if fastrto_max == Span::ZERO {
            return Err("fastrto_max must be above zero".into());
        }
        Ok(())
    }
}

/// Congestion control by name, with its parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CongestionConfig {
    /// RFC 5681 with appropriate byte counting (RFC 3465).
    Newreno {
        /// Slow start leaves early on rising delay (RFC 9406).
        hystart: bool,
    },
    /// RFC 9438.
    Cubic {
        /// Slow start leaves early on rising delay (RFC 9406).
        hystart: bool,
        /// Multiplicative decrease (RFC 9438 section 4.6), 0.7 there.
        beta: f64,
        /// Aggressiveness C in segments per second cubed (RFC 9438 section 5), 0.4 there.
        c: f64,
        /// Give up bandwidth to newer flows (RFC 9438 section 4.7).
        fast_convergence: bool,
    },
    /// BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr {},
    /// MPRC: NewReno's growth, and a loss halves cwnd whatever found it (Chang 2024, section 4).
    Mprc {},
    /// NewReno with linked increases over the subflows of a multipath connection (RFC 6356).
    Lia {},
    /// NewReno with opportunistic linked increases (Khalili 2012).
    Olia {},
    /// Balanced linked adaptation (Peng 2016).
    Balia {},
}

impl CongestionConfig {
    /// Whether it looks at the other subflows of a multipath connection.
    #[must_use]
    pub const fn is_coupled(&self) -> bool {
        matches!(self, Self::Lia {} | Self::Olia {} | Self::Balia {})
    }
}

/// How packets are spaced.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PacingConfig {
    /// At the controller's own rate if it has one, else as the window allows.
    Controller {},
    /// At `cwnd / srtt` times a gain, as Linux's fq does for window-based controllers.
    Window {
        /// Gain below ssthresh (Linux: 2).
        slow_start_gain: f64,
        /// Gain above it (Linux: 1.2).
        avoidance_gain: f64,
    },
}

impl PacingConfig {
    /// Checks the gains.
    ///
    /// # Errors
    /// If one is not a positive number, with what would be right.
    pub fn check(&self) -> Result<(), String> {
        let Self::Window { slow_start_gain, avoidance_gain } = *self else { return Ok(()) };
        for gain in [slow_start_gain, avoidance_gain] {
            if !(gain.is_finite() && gain > 0.0) {
                return Err(format!("a gain is {gain}; it must be above 0 (Linux: 2 and 1.2)"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_loss_detections_out_of_range_are_named() {
        let pr = |ewrtt_alpha, mxrtt_beta| LossDetectionConfig::TcpPr { ewrtt_alpha, mxrtt_beta };
        let rr =
            |fa_ratio, fa_step, timeout_cost| LossDetectionConfig::RrTcp { fa_ratio, fa_step, timeout_cost };
        for config in [pr(0.995, 3.0), pr(0.5, 1.01), rr(0.0, 0.0, 0.0), rr(1.0, 1.0, 100.0)] {
            assert_eq!(config.check(), Ok(()), "{config:?}");
        }
        let wrong = [
            (pr(1.0, 3.0), "ewrtt_alpha is 1;"),
            (pr(f64::NAN, 3.0), "ewrtt_alpha is NaN;"),
            (pr(0.995, 1.0), "mxrtt_beta is 1;"),
            (pr(0.995, f64::INFINITY), "mxrtt_beta is inf;"),
            (rr(1.5, 0.01, 10.0), "fa_ratio is 1.5;"),
            (rr(0.9, -0.01, 10.0), "fa_step is -0.01;"),
            (rr(0.9, 0.01, f64::NAN), "timeout_cost is NaN;"),
        ];
        for (config, start) in wrong {
            assert!(config.check().unwrap_err().starts_with(start), "{config:?}");
        }
    }
}
