//! Transports by name: presets of loss detection, congestion control and pacing.

use crate::config::{MptcpConfig, TcpConfig, TransportConfig};
use crate::congestion::{BbrParameters, CongestionConfig};
use crate::mptcp::{FullmeshParameters, PathManagerConfig, SchedulerConfig};
use crate::spray::{PathSelectorConfig, SprayConfig};
use crate::tcp::{FastRtoParameters, LossDetectionConfig};
use anabranch_units::{Bytes, Span};

/// Every preset: its name and what it stands for.
pub const PRESETS: &[(&str, &str)] = &[
    ("newreno", "NewReno (RFC 5681, 6582, 6675), losses by duplicate ACKs, as in ns-2 and ns-3"),
    ("cubic", "CUBIC (RFC 9438) with HyStart++ (RFC 9406), losses by duplicate ACKs, as in ns-3"),
    ("dctcp", "DCTCP (RFC 8257) with ECN, losses by duplicate ACKs"),
    ("bbr", "BBR version 1, losses by duplicate ACKs, as in ns-3"),
    (
        "ns2-newreno",
        "NewReno of ns-2: no SACK, a window that grows unused, half of it at three duplicate ACKs, an ACK for each segment",
    ),
    ("bbr3", "BBR version 3 (draft-ietf-ccwg-bbr-06) with RACK-TLP (RFC 8985) and undo"),
    ("linux-reno", "Reno with RACK-TLP (RFC 8985) and undo, as in Linux"),
    ("linux-cubic", "CUBIC with RACK-TLP (RFC 8985) and undo, as in Linux"),
    ("linux-bbr", "BBR version 1 with RACK-TLP (RFC 8985) and undo, as in Linux"),
    (
        "mprc",
        "MPRC (Chang 2024): losses by a timer for each segment, NewReno's growth, half of cwnd at a loss",
    ),
    (
        "dctcp-fabric",
        "DCTCP for round trips of microseconds: RACK-TLP and undo, an ACK for each segment, a first window of 64, timeouts from 100 us on",
    ),
    ("mprc-fabric", "MPRC for round trips of microseconds: the same ACKs, window and timeouts, K of 8"),
    ("tcp-pr", "NewReno with a timer for each segment (TCP-PR, Bohacek et al. 2003)"),
    ("rr-tcp", "NewReno with DupThresh from the reordering seen (RR-TCP, Zhang et al. 2003) and undo"),
    ("tcp-ncr", "NewReno with DupThresh of about a window (TCP-NCR, RFC 4653)"),
    (
        "mptcp",
        "Multipath TCP (RFC 8684) as in the kernel of multipath-tcp.org: two ports by ndiffports, or a subflow for each path between interfaces of their own, lowest RTT first, linked increases (LIA, RFC 6356)",
    ),
    ("mptcp-olia", "the same with opportunistic linked increases (OLIA, Khalili et al. 2012)"),
    ("mptcp-balia", "the same with balanced linked adaptation (BALIA, Peng et al. 2016)"),
    ("mptcp-cubic", "the same, each subflow CUBIC by itself"),
    (
        "linux-mptcp",
        "Multipath TCP as in Linux: each subflow linux-cubic, fullmesh of three, queues by pacing rate, tuned buffers",
    ),
    ("sdn-paced", "senders paced by an SDN controller (Gholizadeh 2019), with retransmission"),
    ("sliding-window", "a fixed window without congestion control (Gholizadeh 2019, section 3.2)"),
    ("uet", "packets sprayed over many paths as in Ultra Ethernet: NSCC, the path selector mixed, trimming"),
    ("uet-reps", "the same with recycled entropies (REPS) and an ACK for each packet"),
    ("mrc", "the same with the rotation of the Multipath Reliable Connection (MRC) over 128 entropy values"),
];

/// The choices behind a preset's name; `None` for an unknown name.
#[must_use]
pub fn preset(name: &str) -> Option<TransportConfig> {
    Some(match name {
        "sdn-paced" | "sliding-window" => TransportConfig::named(name)?,
        "mptcp" => mptcp("lia"),
        "mptcp-olia" => mptcp("olia"),
        "mptcp-balia" => mptcp("balia"),
        "mptcp-cubic" => mptcp("cubic"),
        "linux-mptcp" => linux_mptcp(),
        "uet" => TransportConfig::Spray(SprayConfig::default()),
        "uet-reps" => spray("reps", Bytes(0)),
        "mrc" => spray("mrc", SprayConfig::default().ack_after),
        _ => TransportConfig::Tcp(tcp_preset(name)?),
    })
}

fn spray(path_selector: &str, ack_after: Bytes) -> TransportConfig {
    let path_selector = PathSelectorConfig::named(path_selector).expect("a registered name");
    TransportConfig::Spray(SprayConfig { path_selector, ack_after, ..SprayConfig::default() })
}

/// The choices behind the name of a TCP preset; `None` for any other name.
#[must_use]
pub fn tcp_preset(name: &str) -> Option<TcpConfig> {
    Some(match name {
        "newreno" | "cubic" | "bbr" => tcp("dupack", name),
        // The ns Manual, "TCP Agents": neither SACK nor timestamps, one segment at the start (`windowInit_`), and a
        // receiver that acknowledges each segment (Agent/TCPSink).
        "ns2-newreno" => TcpConfig {
            sack: false,
            timestamps: false,
            initial_window_segments: 1,
            delayed_ack_segments: 1,
            ..tcp("dupack", name)
        },
        // Section 4.1.3.5.1 of its draft wants SACK and timestamps, 5.5.11 a transport that notices spurious losses.
        "bbr3" => TcpConfig { undo: true, ..tcp("rack", name) },
        "dctcp" => TcpConfig { ecn: true, ..tcp("dupack", name) },
        "linux-reno" => linux_tuned("linux-reno"),
        "linux-cubic" => linux_tuned("linux-cubic"),
        "linux-bbr" => {
            // 2^-10 s of the pacing rate.
            let burst = Span::from_ps(976_562_500);
            let congestion_control =
                CongestionConfig::Bbr(BbrParameters { burst, long_term: true, ..Default::default() });
            TcpConfig { congestion_control, ..linux_tuned("bbr") }
        }
        // Chang 2024 fixes RTOmax alone; docs/mprc.md has the study behind the other numbers of FastRTO.
        "mprc" => tcp("fastrto", "mprc"),
        "dctcp-fabric" => fabric(TcpConfig { ecn: true, undo: true, ..tcp("rack", "dctcp") }),
        "mprc-fabric" => {
            // Samples of one RTT are so alike that 4 deviations are less than what another path's queue makes of it.
            let loss_detection =
                LossDetectionConfig::Fastrto(FastRtoParameters { k: 8.0, ..FastRtoParameters::default() });
            fabric(TcpConfig { loss_detection, ..tcp("fastrto", "mprc") })
        }
        // The peers that stand reordering; docs/transports.md has the sources.
        // As RFC 2988, which the paper takes its smallest timeout from.
        "tcp-pr" => TcpConfig { min_rto: Span::from_secs(1), ..tcp(name, "newreno") },
        "tcp-ncr" => tcp(name, "newreno"),
        "rr-tcp" => TcpConfig { undo: true, ..tcp(name, "newreno") },
        _ => return None,
    })
}

/// TCP with these two algorithms, everything else at its default.
fn tcp(loss_detection: &str, congestion_control: &str) -> TcpConfig {
    TcpConfig {
        loss_detection: LossDetectionConfig::named(loss_detection).expect("a registered name"),
        congestion_control: CongestionConfig::named(congestion_control).expect("a registered name"),
        ..TcpConfig::default()
    }
}

/// In a fabric, where a round trip is some ten microseconds and packets have 4 KiB: the bandwidth-delay product of 100 Gbps is
/// some 43 of them.
fn fabric(tcp: TcpConfig) -> TcpConfig {
    let least = Span::from_us(100);
    TcpConfig {
        mss: 4096,
        initial_window_segments: 64,
        delayed_ack_segments: 1,
        delayed_ack_timeout: least,
        initial_rto: Span::from_ms(1),
        min_rto: least,
        ..tcp
    }
}

fn linux(congestion_control: &str) -> TcpConfig {
    let (timestamp_tick, min_rtt_window) = (Span::from_ms(1), Span::from_secs(300));
    TcpConfig { undo: true, paws: true, timestamp_tick, min_rtt_window, ..tcp("rack", congestion_control) }
}

/// As a stock kernel of today; what it does about reordering follows recorded senders ACK by ACK
/// (checks/validation/linux/acks).
fn linux_tuned(congestion_control: &str) -> TcpConfig {
    TcpConfig {
        autotuning: true,
        quick_acks: 16,
        acks_end_of_write: true,
        window_updates_double: true,
        loss_detection: LossDetectionConfig::named("linux-rack").expect("a registered name"),
        dsack_delivers: true,
        prr_in_segments: true,
        app_limited_by_writes: true,
        tso_deferral: true,
        paws_window: 1,
        sack_blocks: 4,
        held_sacks: 44,
        timer_tick: Span::from_ms(4),
        unpaced_segments: 10,
        pacing_catches_up: true,
        ..linux(congestion_control)
    }
}

fn mptcp(congestion_control: &str) -> TransportConfig {
    TransportConfig::Mptcp(MptcpConfig { tcp: linux(congestion_control), ..MptcpConfig::default() })
}

/// What a stock kernel does since 5.13: its windows are not coupled, and it neither penalises nor repeats early. It opens
/// further subflows only for endpoints that somebody has set up; who does sets the limit as well (`ip mptcp limits set
/// subflows 8` is the most, beside the first).
fn linux_mptcp() -> TransportConfig {
    TransportConfig::Mptcp(MptcpConfig {
        tcp: linux_tuned("linux-cubic"),
        path_manager: PathManagerConfig::Fullmesh(FullmeshParameters { limit: 9, add_addr_accepted: 0 }),
        scheduler: SchedulerConfig::Linux(Default::default()),
        opportunistic_retransmission: false,
        penalisation: false,
        long_data_sequence: true,
        subflow_windows: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_preset_exists_and_survives_json() {
        assert!(PRESETS.len() >= 8);
        for (name, _) in PRESETS {
            let config = preset(name).expect(name);
            let text = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<TransportConfig>(&text).unwrap(), config);
        }
        assert_eq!(preset("reno2"), None);
    }

    /// Gholizadeh 2019: data segments of 1000 bytes (section 4.4.1), a window of five (section 3.3). What a
    /// user writes for them is the name of the protocol and its fields, and no other.
    #[test]
    fn the_transports_of_the_thesis_have_its_sizes() {
        let Some(TransportConfig::SdnPaced(paced)) = preset("sdn-paced") else { panic!("paced") };
        assert_eq!((paced.segment, paced.reliable), (1000, true));
        let Some(TransportConfig::SlidingWindow(sliding)) = preset("sliding-window") else { panic!("fixed") };
        assert_eq!((sliding.segment, sliding.window_segments), (1000, 5));
        let others = PRESETS.iter().filter(|(name, _)| tcp_preset(name).is_none());
        let others: Vec<&str> = others.map(|(name, _)| *name).collect();
        let mptcp = ["mptcp", "mptcp-olia", "mptcp-balia", "mptcp-cubic", "linux-mptcp"];
        let beside = ["sdn-paced", "sliding-window", "uet", "uet-reps", "mrc"];
        assert_eq!(others, [mptcp.as_slice(), &beside].concat());

        let mut document = serde_json::to_value(TransportConfig::SdnPaced(paced)).unwrap();
        assert_eq!(document["algorithm"], "sdn-paced");
        document["window_segments"] = 5.into();
        let refused = serde_json::from_value::<TransportConfig>(document).unwrap_err();
        assert!(refused.to_string().contains("window_segments"), "{refused}");
        let document = serde_json::to_value(TransportConfig::SlidingWindow(sliding)).unwrap();
        assert_eq!(document["algorithm"], "sliding-window");
    }
}
