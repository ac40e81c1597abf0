//! What a user may choose at an end host, resolved to numbers.

use crate::congestion::{CongestionConfig, External};
use crate::mptcp::{ExternalScheduling, NdiffportsParameters, PathManagerConfig, SchedulerConfig};
use crate::segment::{IP_HEADER, TCP_HEADER};
use crate::spray::{HEADERS, PathSelectorConfig, SprayConfig, paths::ExternalSelecting};
use crate::tcp::{LossDetectionConfig, PacingConfig, largest_window};
use anabranch_units::declaration::{OutOfRange, above, at_least, at_most};
use anabranch_units::{Bytes, Span};
use std::sync::Arc;

/// Smallest MSS (Linux's `TCP_MIN_MSS`): 40 bytes of TCP options leave some for data.
const SMALLEST_MSS: u16 = 88;
/// Largest MSS: what an IPv4 packet of 65,535 bytes holds beside its headers with all options, and a margin.
const LARGEST_MSS: u16 = u16::MAX - 100;
/// RFC 7323 section 2.3: a window of 16 bits, shifted by at most 14.
const LARGEST_RECEIVE_BUFFER: Bytes = Bytes(65_535 << 14);
/// Headers of a segment of the SDN agents, in bytes.
const SDN_HEADERS: u16 = IP_HEADER as u16 + TCP_HEADER as u16;
/// Largest fixed window in bytes, as that of TCP.
const LARGEST_FIXED_WINDOW: u64 = LARGEST_RECEIVE_BUFFER.0;
/// Give up on a handshake after the 127 s that Linux needs for its 6 retries (net.ipv4.tcp_syn_retries).
const HANDSHAKE_TIMEOUT: Span = Span::from_secs(127);

anabranch_units::parameters! {
    /// TCP.
    pub struct TcpConfig {
        /// MSS option: payload and TCP options of a full segment (RFC 9293 section 3.7.1).
        mss: u16 = 1460, at_least(SMALLEST_MSS).at_most(LARGEST_MSS).bytes();
        /// Selective acknowledgment (RFC 2018) with DSACK (RFC 2883).
        sack: bool = true;
        /// Timestamps option (RFC 7323).
        timestamps: bool = true;
        /// Tick of the clock in timestamps (RFC 7323 section 5.4). Linux has 1 ms.
        timestamp_tick: Span = Span::from_us(1), at_least(Span::from_us(1)).at_most(Span::from_secs(1));
        /// Refuse segments and ACKs whose timestamp is older than that of one taken before (PAWS, RFC 7323 section 5).
        paws: bool = false;
        /// Ticks of the clock by which a timestamp may be older than the newest one and is not refused. Linux has 1.
        paws_window: u32 = 0, at_most(1_000_000);
        /// SACK blocks that the receiver remembers; a block that falls out of them is not reported again, nor joined
        /// with its neighbours. 0 remembers all, Linux has 4.
        sack_blocks: u8 = 0, at_most(4);
        /// ACKs beside a hole that may wait for one another, once three have left for it: for a twentieth of the round
        /// trip, `sack_delay` at most. 0 sends each at once (RFC 5681 section 4.2), Linux has 44 (net.ipv4.tcp_comp_sack_nr).
        held_sacks: u8 = 0, at_most(255);
        /// Longest time that they wait. The default is Linux's net.ipv4.tcp_comp_sack_delay_ns, to which its timer adds 0.1 ms.
        sack_delay: Span = Span::from_ms(1), at_most(Span::from_secs(1));
        /// Explicit congestion notification (RFC 3168).
        ecn: bool = false;
        /// Initial window (RFC 6928).
        initial_window_segments: u32 = 10, at_least(1).at_most(1_000_000);
        /// Receive buffer; bounds the advertised window, with autotuning to the payload that it holds (`segment_overhead`).
        /// The default is the maximum of Linux's net.ipv4.tcp_rmem.
        receive_buffer: Bytes = Bytes(6_291_456), at_least(Bytes(SMALLEST_MSS as u64)).at_most(LARGEST_RECEIVE_BUFFER);
        /// Start with a small receive window and widen it by what the application takes, as Linux does; each segment by
        /// which it grows is acknowledged at once. With MPTCP the send buffer follows the windows, too.
        autotuning: bool = false;
        /// Receive buffer at the start, with autotuning; half of it is announced. The default is that of Linux's
        /// net.ipv4.tcp_rmem.
        initial_receive_buffer: Bytes = Bytes(131_072), at_least(Bytes(2 * SMALLEST_MSS as u64)).at_most(LARGEST_RECEIVE_BUFFER);
        /// What a full segment takes of the receive buffer beside its payload, with autotuning. The default is what Linux
        /// counts where network devices keep a packet in 2 KiB: 2,304 bytes for 1,448 of payload.
        segment_overhead: Bytes = Bytes(856), at_most(Bytes(1_048_576));
        /// Where the application reads slowly, as in Linux: a window that opens is told where at most half of the buffer was
        /// announced and twice as much can be; none is opened for less than a sixteenth of the buffer; and an ACK that would
        /// tell a smaller window than the last one waits until the application reads, or for its timer. Otherwise the window
        /// opens by segments, and ACKs tell it as they do for data (RFC 9293 section 3.8.6.2.2).
        window_updates_double: bool = false;
        /// ACKs that are not delayed at the start, behind a pause and behind data that come twice. Linux has 16.
        quick_acks: u32 = 0, at_most(255);
        /// A segment with PSH, or one shorter than those before it, ends what the other end wrote: once the application has
        /// read all that has come, it is acknowledged at once, as in Linux, and not held back for a second one.
        acks_end_of_write: bool = false;
        /// Full segments acknowledged by one ACK (RFC 1122 section 4.2.3.2); 1 acknowledges each.
        delayed_ack_segments: u32 = 2, at_least(1).at_most(255);
        /// Longest time an ACK is held back. The default is Linux's TCP_DELACK_MIN.
        delayed_ack_timeout: Span = Span::from_ms(40), at_most(Span::LONGEST_INPUT);
        /// Retransmission timeout before the first RTT sample (RFC 6298 section 2.1).
        initial_rto: Span = Span::from_secs(1), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Smallest retransmission timeout (RFC 6298 section 2.4 says 1 s, Linux uses 200 ms).
        min_rto: Span = Span::from_ms(200), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Least margin of the retransmission timeout above the smoothed RTT, but no more than `min_rto` (G in RFC 6298
        /// (2.3); ns-3 has 1 ms). With RACK the margin is `min_rto`, as in Linux.
        rto_granularity: Span = Span::from_ms(1), at_most(Span::LONGEST_INPUT);
        /// Largest retransmission timeout (RFC 6298 section 2.5).
        max_rto: Span = Span::from_secs(60), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Tick of the clock that counts retransmission timeouts, probes and held-back ACKs: none expires early, and
        /// probes wait 2 ms longer. 0: they are exact. Linux: the inverse of HZ, often 4 ms.
        timer_tick: Span = Span::ZERO, at_most(Span::from_secs(1));
        /// Time without an answer after which a connection is given up before it is open (RFC 9293 section 3.8.3).
        handshake_timeout: Span = HANDSHAKE_TIMEOUT, above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// How long a smallest RTT is believed, which loss detection measures reordering by; 0: as long as the connection
        /// lives (RFC 8985 section 6.2 leaves the choice). Linux has 300 s (net.ipv4.tcp_min_rtt_wlen).
        min_rtt_window: Span = Span::ZERO, at_most(Span::LONGEST_INPUT);
        /// Take a window reduction back when the loss proves spurious (RFC 3522 timestamps, DSACK).
        undo: bool = false;
        /// Segments that a DSACK reports were delivered, once more: they count in proportional rate reduction, delivery
        /// rates and growth. For an undo they count where an earlier ACK had acknowledged them. As Linux.
        dsack_delivers: bool = false;
        /// Proportional rate reduction in whole segments and from cwnd, as Linux has it; a recovery that a timer begins
        /// counts a segment as delivered.
        prr_in_segments: bool = false;
        /// Mark delivery rates as limited by the application where it writes again and had nothing left to send, as Linux
        /// does. Otherwise as soon as there is nothing to send (draft-cheng-iccrg-delivery-rate-estimation section 3.4).
        app_limited_by_writes: bool = false;
        /// Nagle's algorithm as Linux has it (Minshall's: draft-minshall-nagle section 2): a short segment waits while an
        /// earlier short one is not acknowledged. Otherwise applications set TCP_NODELAY (RFC 9293 section 3.7.4).
        nagle: bool = false;
        /// Outside recovery, wait with a part of what segmentation offload would send at once, if the next ACK comes
        /// soon and the last segment left within a millisecond, as Linux does.
        tso_deferral: bool = false;
        /// Segments with data at the start of a connection that pacing does not space. Linux has 10.
        unpaced_segments: u32 = 0, at_most(1_000_000);
        /// A paced segment that leaves late shortens the gap behind it by as much, at most by half, as Linux does.
        pacing_catches_up: bool = false;
        /// How losses are found.
        loss_detection: LossDetectionConfig = LossDetectionConfig::Dupack(Default::default());
        /// How the congestion window is set.
        congestion_control: CongestionConfig = CongestionConfig::NewReno(Default::default());
        /// How packets are spaced.
        pacing: PacingConfig = PacingConfig::Controller(Default::default());
    }
}

anabranch_units::parameters! {
    /// Multipath TCP (RFC 8684). Coupled or not, each subflow's congestion control is that of `tcp`.
    pub struct MptcpConfig {
        /// Choices of each subflow; the receive buffer is the connection's, which all of them share.
        tcp: TcpConfig = TcpConfig::default();
        /// Which subflows there are.
        path_manager: PathManagerConfig = PathManagerConfig::Ndiffports(NdiffportsParameters {
            by_interfaces: true,
            ..NdiffportsParameters::default()
        });
        /// Which subflow takes the next segment.
        scheduler: SchedulerConfig = SchedulerConfig::LowestRtt(Default::default());
        /// When the receive window is full, send what holds it up on another subflow too (Raiciu 2012, section 4.2).
        opportunistic_retransmission: bool = true;
        /// Then also halve the window of the slower subflow that holds it up (ibidem).
        penalisation: bool = true;
        /// Write data sequence numbers with 8 octets in place of 4 (RFC 8684 section 3.3), as Linux does: a data segment
        /// has room for 4 bytes less.
        long_data_sequence: bool = false;
        /// Count the receive window from the data ACK by what the subflow took last, as Linux does, whose duplicate ACKs
        /// make no window smaller: data may leave beyond it. The receiver drops them though their subflow acknowledges
        /// them, and a timer of the connection sends them again.
        subflow_windows: bool = false;
    }
}

anabranch_units::parameters! {
    /// Senders that an SDN controller paces (Gholizadeh 2019, chapter 4). What they send, and when, comes from the
    /// controller.
    pub struct SdnPacedConfig {
        /// A full data packet with its 40 bytes of headers (thesis: 1000 B).
        segment: u16 = 1000, above(SDN_HEADERS).bytes();
        /// Deliver in spite of loss: retransmissions, selective acknowledgments, an acknowledged FIN and confirmed
        /// CTRLs. The thesis has none of these.
        reliable: bool = true;
        /// Retransmission timeout before the first RTT sample.
        initial_rto: Span = Span::from_secs(1), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Largest retransmission timeout.
        max_rto: Span = Span::from_secs(60), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Time without an answer after which a connection is given up before it is open.
        handshake_timeout: Span = HANDSHAKE_TIMEOUT, above(Span::ZERO).at_most(Span::LONGEST_INPUT);
    }
}

anabranch_units::parameters! {
    /// A fixed window over the same segments (Gholizadeh 2019, section 3.2).
    pub struct SlidingWindowConfig {
        /// A full data packet with its 40 bytes of headers (thesis: 1000 B).
        segment: u16 = 1000, above(SDN_HEADERS).bytes();
        /// Segments in flight (thesis: 5).
        window_segments: u32 = 5, at_least(1).at_most(1_000_000);
        /// Retransmission timeout before the first RTT sample.
        initial_rto: Span = Span::from_secs(1), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Largest retransmission timeout.
        max_rto: Span = Span::from_secs(60), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Time without an answer after which a connection is given up before it is open.
        handshake_timeout: Span = HANDSHAKE_TIMEOUT, above(Span::ZERO).at_most(Span::LONGEST_INPUT);
    }
}

anabranch_units::registry! {
    /// Which protocol the ends speak.
    pub enum TransportConfig: "protocol" {
        "tcp" => Tcp(TcpConfig),
        "mptcp" => Mptcp(MptcpConfig),
        "sdn-paced" => SdnPaced(SdnPacedConfig),
        "sliding-window" => SlidingWindow(SlidingWindowConfig),
        "spray" => Spray(SprayConfig),
    }
}

impl TransportConfig {
    /// Bytes of the IP packet of a full segment.
    #[must_use]
    pub fn full_packet(&self) -> u64 {
        match self {
            // The MSS has the options in it (RFC 9293 section 3.7.1).
            Self::Tcp(tcp) | Self::Mptcp(MptcpConfig { tcp, .. }) => {
                u64::from(tcp.mss) + u64::from(IP_HEADER + TCP_HEADER)
            }
            Self::SdnPaced(sdn) => sdn.segment.into(),
            Self::SlidingWindow(sdn) => sdn.segment.into(),
            Self::Spray(spray) => u64::from(spray.payload) + u64::from(HEADERS),
        }
    }
}

/// A configuration that is at hand for many connections: those of TCP share it in place of a copy each.
#[derive(Clone, Debug)]
pub enum SharedConfig<'c> {
    /// TCP.
    Tcp(Arc<TcpConfig>),
    /// Multipath TCP.
    Mptcp(&'c MptcpConfig),
    /// Paced by an SDN controller.
    SdnPaced(&'c SdnPacedConfig),
    /// A fixed window.
    SlidingWindow(&'c SlidingWindowConfig),
    /// Packets over many paths.
    Spray(&'c SprayConfig),
}

impl<'c> From<&'c TransportConfig> for SharedConfig<'c> {
    fn from(config: &'c TransportConfig) -> Self {
        match config {
            TransportConfig::Tcp(tcp) => Self::Tcp(Arc::new(tcp.clone())),
            TransportConfig::Mptcp(mptcp) => Self::Mptcp(mptcp),
            TransportConfig::SdnPaced(paced) => Self::SdnPaced(paced),
            TransportConfig::SlidingWindow(window) => Self::SlidingWindow(window),
            TransportConfig::Spray(spray) => Self::Spray(spray),
        }
    }
}

impl TransportConfig {
    /// Whether the subflows of its connections hang on the interfaces of their hosts.
    #[must_use]
    pub fn looks_at_interfaces(&self) -> bool {
        matches!(self, Self::Mptcp(mptcp) if mptcp.path_manager.looks_at_interfaces())
    }

    /// Whether its connections follow addresses of their hosts that come and go: those of MPTCP whose path manager does.
    #[must_use]
    pub fn follows_addresses(&self) -> bool {
        matches!(self, Self::Mptcp(mptcp) if mptcp.path_manager.follows_addresses())
    }

    /// The congestion control that the caller brings along, if it chooses one.
    #[must_use]
    pub fn external_control(&self) -> Option<&External> {
        match &self.tcp()?.congestion_control {
            CongestionConfig::External(external) => Some(external),
            _ => None,
        }
    }

    /// The same, for the caller to put its maker there.
    pub fn external_control_mut(&mut self) -> Option<&mut External> {
        let tcp = match self {
            Self::Tcp(tcp) => tcp,
            Self::Mptcp(mptcp) => &mut mptcp.tcp,
            Self::SdnPaced(_) | Self::SlidingWindow(_) | Self::Spray(_) => return None,
        };
        match &mut tcp.congestion_control {
            CongestionConfig::External(external) => Some(external),
            _ => None,
        }
    }

    /// The scheduler that the caller brings along, if it chooses one.
    #[must_use]
    pub const fn external_scheduler(&self) -> Option<&ExternalScheduling> {
        match self {
            Self::Mptcp(MptcpConfig { scheduler: SchedulerConfig::External(external), .. }) => Some(external),
            _ => None,
        }
    }

    /// The same, for the caller to put its maker there.
    pub const fn external_scheduler_mut(&mut self) -> Option<&mut ExternalScheduling> {
        match self {
            Self::Mptcp(MptcpConfig { scheduler: SchedulerConfig::External(external), .. }) => Some(external),
            _ => None,
        }
    }

    /// The path selector that the caller brings along, if it chooses one.
    #[must_use]
    pub const fn external_selector(&self) -> Option<&ExternalSelecting> {
        match self {
            Self::Spray(SprayConfig { path_selector: PathSelectorConfig::External(external), .. }) => {
                Some(external)
            }
            _ => None,
        }
    }

    /// The same, for the caller to put its maker there.
    pub const fn external_selector_mut(&mut self) -> Option<&mut ExternalSelecting> {
        match self {
            Self::Spray(SprayConfig { path_selector: PathSelectorConfig::External(external), .. }) => {
                Some(external)
            }
            _ => None,
        }
    }

    /// The TCP that it speaks, alone or on each subflow.
    const fn tcp(&self) -> Option<&TcpConfig> {
        match self {
            Self::Tcp(tcp) => Some(tcp),
            Self::Mptcp(mptcp) => Some(&mptcp.tcp),
            Self::SdnPaced(_) | Self::SlidingWindow(_) | Self::Spray(_) => None,
        }
    }

    /// Checks what no single bound tells: parameters against each other. Their bounds are checked by
    /// [`TransportConfig::check`].
    ///
    /// # Errors
    /// The first parameter that does not go with another one.
    pub fn check_together(&self) -> Result<(), OutOfRange> {
        match self {
            Self::Tcp(tcp) => tcp.check_together(),
            Self::Mptcp(mptcp) => mptcp.tcp.check_together().map_err(|problem| problem.within("tcp")),
            Self::SdnPaced(paced) => not_above("initial_rto", paced.initial_rto, paced.max_rto),
            Self::SlidingWindow(window) => {
                let bytes = u64::from(window.window_segments) * u64::from(window.segment);
                if bytes > LARGEST_FIXED_WINDOW {
                    let problem =
                        format!("makes a window of {bytes} B; at most {LARGEST_FIXED_WINDOW} B can be kept");
                    return Err(OutOfRange::new("window_segments", problem));
                }
                not_above("initial_rto", window.initial_rto, window.max_rto)
            }
            Self::Spray(spray) => spray.check_together(),
        }
    }
}

impl TcpConfig {
    fn check_together(&self) -> Result<(), OutOfRange> {
        let buffer = self.receive_buffer;
        if buffer < Bytes(u64::from(self.mss)) {
            let problem = format!("is {buffer}; it must hold a segment, {} B", self.mss);
            return Err(OutOfRange::new("receive_buffer", problem));
        }
        if self.autotuning && largest_window(self) < u64::from(self.mss) {
            let (mss, overhead) = (self.mss, self.segment_overhead);
            let problem = format!("is {buffer}; it must hold a segment, {mss} B and {overhead} beside them");
            return Err(OutOfRange::new("receive_buffer", problem));
        }
        let initial = self.initial_receive_buffer;
        if self.autotuning && initial < Bytes(2 * u64::from(self.mss)) {
            let problem = format!("is {initial}; half of it must hold a segment, {} B", self.mss);
            return Err(OutOfRange::new("initial_receive_buffer", problem));
        }
        let detection = &self.loss_detection;
        if detection.needs_sack() && !self.sack {
            let problem = format!(
                "is false, but the loss_detection {:?} needs selective acknowledgments",
                detection.name()
            );
            return Err(OutOfRange::new("sack", problem));
        }
        let control = &self.congestion_control;
        if control.needs_marks() && !self.ecn {
            let problem =
                format!("is false, but the congestion_control {:?} lives on ECN marks", control.name());
            return Err(OutOfRange::new("ecn", problem));
        }
        not_above("min_rto", self.min_rto, self.max_rto)?;
        not_above("delayed_ack_timeout", self.delayed_ack_timeout, self.max_rto)
    }
}

fn not_above(name: &str, value: Span, max_rto: Span) -> Result<(), OutOfRange> {
    if value <= max_rto { Ok(()) } else { Err(OutOfRange::new(name, "is above max_rto")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PRESETS, preset};

    type Change = fn(&mut TcpConfig);

    fn refused(change: Change) -> String {
        let mut tcp = TcpConfig::default();
        change(&mut tcp);
        let config = TransportConfig::Tcp(tcp);
        config.check().and_then(|()| config.check_together()).unwrap_err().to_string()
    }

    #[test]
    fn every_preset_holds() {
        for (name, _) in PRESETS {
            let config = preset(name).expect("listed");
            assert_eq!(config.check().and_then(|()| config.check_together()), Ok(()), "{name}");
        }
    }

    #[test]
    fn parameters_that_do_not_go_together_are_refused() {
        let cases: [(Change, &str); 9] = [
            (|tcp| tcp.mss = 87, "mss is 87;"),
            (|tcp| tcp.mss = 65_436, "mss is 65436;"),
            (|tcp| tcp.receive_buffer = Bytes(1459), "receive_buffer is 1459 B; it must hold a segment"),
            (
                |tcp| (tcp.autotuning, tcp.receive_buffer) = (true, Bytes(2300)),
                "receive_buffer is 2300 B; it must hold a segment, 1460 B and 856 B beside them",
            ),
            (|tcp| tcp.receive_buffer = Bytes((65_535 << 14) + 1), "receive_buffer is 1073725441 B;"),
            (
                |tcp| (tcp.autotuning, tcp.initial_receive_buffer) = (true, Bytes(2919)),
                "initial_receive_buffer is 2919 B; half of it must hold a segment, 1460 B",
            ),
            (|tcp| tcp.min_rto = Span::from_secs(61), "min_rto is above max_rto"),
            (|tcp| tcp.delayed_ack_timeout = Span::from_secs(61), "delayed_ack_timeout is above max_rto"),
            (
                |tcp| {
                    tcp.sack = false;
                    tcp.loss_detection = LossDetectionConfig::named("tcp-ncr").expect("registered");
                },
                "sack is false, but the loss_detection \"tcp-ncr\" needs selective acknowledgments",
            ),
        ];
        for (change, start) in cases {
            assert!(refused(change).starts_with(start), "{} {start}", refused(change));
        }
    }

    #[test]
    fn a_wrong_parameter_is_named_with_its_algorithm() {
        let wrong = |change: fn(&mut crate::congestion::CubicParameters)| {
            let mut cubic = crate::congestion::CubicParameters::default();
            change(&mut cubic);
            let tcp =
                TcpConfig { congestion_control: CongestionConfig::Cubic(cubic), ..TcpConfig::default() };
            TransportConfig::Tcp(tcp).check().unwrap_err().to_string()
        };
        let beta = "congestion_control.beta is 1; it must be above 0 and below 1";
        assert_eq!(wrong(|cubic| cubic.beta = 1.0), beta);
        assert_eq!(wrong(|cubic| cubic.c = 0.0), "congestion_control.c is 0; it must be above 0");
    }

    /// 2^30 bytes are 1,073,741.8 segments of 1000.
    #[test]
    fn the_transports_of_sdn_are_checked() {
        let refused = |name: &str, field: &str, value: u64| {
            let mut document = serde_json::to_value(preset(name).expect("a preset")).unwrap();
            assert!(document.get(field).is_some(), "{name} has {field}");
            document[field] = value.into();
            let config: TransportConfig = serde_json::from_value(document).unwrap();
            config.check().and_then(|()| config.check_together()).unwrap_err().to_string()
        };
        for (segment, value) in [(1000, 0), (1100, 1_000_000)] {
            let mut window = SlidingWindowConfig { segment, ..SlidingWindowConfig::default() };
            window.window_segments = value;
            let config = TransportConfig::SlidingWindow(window);
            let problem = config.check().and_then(|()| config.check_together()).unwrap_err();
            assert_eq!(problem.parameter, "window_segments");
        }
        for name in ["sdn-paced", "sliding-window"] {
            assert!(refused(name, "segment", 40).starts_with("segment is 40"), "{name}");
            assert!(refused(name, "handshake_timeout", 0).starts_with("handshake_timeout is 0"), "{name}");
            assert!(refused(name, "initial_rto", 0).starts_with("initial_rto is 0"), "{name}");
            assert!(
                refused(name, "initial_rto", 61_000_000_000_000).starts_with("initial_rto is above max_rto")
            );
        }
    }

    #[test]
    fn an_unknown_parameter_is_refused() {
        let document = serde_json::json!({ "algorithm": "cubic", "gamma": 1.5 });
        let refused = serde_json::from_value::<CongestionConfig>(document).unwrap_err();
        assert!(refused.to_string().contains("gamma"), "{refused}");
    }
}
