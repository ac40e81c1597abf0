//! Transports by name: presets of loss detection, congestion control and pacing.

use crate::config::{
    CongestionConfig, LimitedTransmit, LossDetectionConfig, MptcpConfig, PacingConfig, PathManagerConfig,
    SchedulerConfig, SdnPacedConfig, SlidingWindowConfig, TcpConfig, TransportConfig,
};
use anabranch_units::Span;

/// Every preset: its name and what it stands for.
pub const PRESETS: &[(&str, &str)] = &[
    ("newreno", "NewReno (RFC 5681, 6582, 6675), losses by duplicate ACKs, as in ns-2 and ns-3"),
    ("cubic", "CUBIC (RFC 9438) with HyStart++ (RFC 9406), losses by duplicate ACKs, as in ns-3"),
    ("bbr", "BBR version 1, losses by duplicate ACKs, as in ns-3"),
    ("linux-reno", "Reno with RACK-TLP (RFC 8985) and undo, as in Linux"),
    ("linux-cubic", "CUBIC with RACK-TLP (RFC 8985) and undo, as in Linux"),
    ("linux-bbr", "BBR version 1 with RACK-TLP (RFC 8985) and undo, as in Linux"),
    (
        "mprc",
        "MPRC (Chang 2024): losses by a timer for each segment, NewReno's growth, half of cwnd at a loss",
    ),
    ("tcp-pr", "NewReno with a timer for each segment (TCP-PR, Bohacek et al. 2003)"),
    ("rr-tcp", "NewReno with DupThresh from the reordering seen (RR-TCP, Zhang et al. 2003) and undo"),
    ("tcp-ncr", "NewReno with DupThresh of about a window (TCP-NCR, RFC 4653)"),
    (
        "mptcp",
        "Multipath TCP (RFC 8684) as in Linux: ndiffports, lowest RTT first, linked increases (LIA, RFC 6356)",
    ),
    ("mptcp-olia", "the same with opportunistic linked increases (OLIA, Khalili et al. 2012)"),
    ("mptcp-balia", "the same with balanced linked adaptation (BALIA, Peng et al. 2016)"),
    ("mptcp-cubic", "the same, each subflow CUBIC by itself"),
    ("sdn-paced", "senders paced by an SDN controller (Gholizadeh 2019), with retransmission"),
    ("sliding-window", "a fixed window without congestion control (Gholizadeh 2019, section 3.2)"),
];

/// Give up on a handshake after the 127 s that Linux needs for its 6 retries (net.ipv4.tcp_syn_retries).
const HANDSHAKE_TIMEOUT: Span = Span::from_secs(127);

/// The choices behind a preset's name; `None` for an unknown name.
#[must_use]
pub fn preset(name: &str) -> Option<TransportConfig> {
    let (initial_rto, max_rto) = (Span::from_secs(1), Span::from_secs(60));
    let handshake_timeout = HANDSHAKE_TIMEOUT;
    Some(match name {
        "sdn-paced" => TransportConfig::SdnPaced(SdnPacedConfig {
            segment_bytes: 1000,
            reliable: true,
            initial_rto,
            max_rto,
            handshake_timeout,
        }),
        "sliding-window" => TransportConfig::SlidingWindow(SlidingWindowConfig {
            segment_bytes: 1000,
            window_segments: 5,
            initial_rto,
            max_rto,
            handshake_timeout,
        }),
        "mptcp" => mptcp(CongestionConfig::Lia {}),
        "mptcp-olia" => mptcp(CongestionConfig::Olia {}),
        "mptcp-balia" => mptcp(CongestionConfig::Balia {}),
        "mptcp-cubic" => mptcp(cubic()),
        _ => TransportConfig::Tcp(tcp_preset(name)?),
    })
}

/// The choices behind the name of a TCP preset; `None` for any other name.
#[must_use]
pub fn tcp_preset(name: &str) -> Option<TcpConfig> {
    let newreno = CongestionConfig::Newreno { hystart: false };
    let cubic = cubic();
    let bbr = CongestionConfig::Bbr {};
    Some(match name {
        "newreno" => dupack(newreno),
        "cubic" => dupack(cubic),
        "bbr" => dupack(bbr),
        "linux-reno" => linux(newreno),
        "linux-cubic" => linux(cubic),
        "linux-bbr" => linux(bbr),
        "mprc" => mprc(),
        "tcp-pr" | "rr-tcp" | "tcp-ncr" => robust(name, newreno),
        _ => return None,
    })
}

fn cubic() -> CongestionConfig {
    CongestionConfig::Cubic { hystart: true, beta: 0.7, c: 0.4, fast_convergence: true }
}

/// Two subflows are what Linux's ndiffports opens unless told otherwise (its num_subflows).
fn mptcp(congestion_control: CongestionConfig) -> TransportConfig {
    TransportConfig::Mptcp(MptcpConfig {
        tcp: linux(congestion_control),
        path_manager: PathManagerConfig::Ndiffports { subflows: 2 },
        scheduler: SchedulerConfig::LowestRtt,
        opportunistic_retransmission: true,
        penalisation: true,
    })
}

fn dupack(congestion_control: CongestionConfig) -> TcpConfig {
    TcpConfig {
        mss: 1460,
        sack: true,
        timestamps: true,
        ecn: false,
        initial_window_segments: 10,
        // Linux's net.ipv4.tcp_rmem maximum.
        receive_buffer_bytes: 6_291_456,
        delayed_ack_segments: 2,
        // Linux's TCP_DELACK_MIN.
        delayed_ack_timeout: Span::from_ms(40),
        initial_rto: Span::from_secs(1),
        min_rto: Span::from_ms(200),
        max_rto: Span::from_secs(60),
        handshake_timeout: HANDSHAKE_TIMEOUT,
        loss_detection: LossDetectionConfig::Dupack { threshold: 3 },
        congestion_control,
        pacing: PacingConfig::Controller {},
        undo: false,
    }
}

/// The peers that stand reordering, by the name of their loss detection; docs/transports.md has the sources.
fn robust(name: &str, congestion_control: CongestionConfig) -> TcpConfig {
    let loss_detection = match name {
        "tcp-pr" => LossDetectionConfig::TcpPr { ewrtt_alpha: 0.995, mxrtt_beta: 3.0 },
        "rr-tcp" => LossDetectionConfig::RrTcp { fa_ratio: 0.9, fa_step: 0.01, timeout_cost: 10.0 },
        _ => LossDetectionConfig::TcpNcr { limited_transmit: LimitedTransmit::Careful },
    };
    TcpConfig { loss_detection, undo: name == "rr-tcp", ..dupack(congestion_control) }
}

fn linux(congestion_control: CongestionConfig) -> TcpConfig {
    TcpConfig {
        loss_detection: LossDetectionConfig::Rack { tail_loss_probe: true },
        undo: true,
        ..dupack(congestion_control)
    }
}

/// Chang 2024 fixes RTOmax alone; docs/mprc.md has the study behind the other numbers.
fn mprc() -> TcpConfig {
    let loss_detection = LossDetectionConfig::Fastrto {
        gamma: 1.5,
        k: 4.0,
        srtt_gain: 0.25,
        rttvar_gain: 0.25,
        fastrto_max: Span::from_ms(500),
    };
    TcpConfig { loss_detection, ..dupack(CongestionConfig::Mprc {}) }
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
        assert_eq!((paced.segment_bytes, paced.reliable), (1000, true));
        let Some(TransportConfig::SlidingWindow(sliding)) = preset("sliding-window") else { panic!("fixed") };
        assert_eq!((sliding.segment_bytes, sliding.window_segments), (1000, 5));
        let others = PRESETS.iter().filter(|(name, _)| tcp_preset(name).is_none());
        let others: Vec<&str> = others.map(|(name, _)| *name).collect();
        let mptcp = ["mptcp", "mptcp-olia", "mptcp-balia", "mptcp-cubic"];
        assert_eq!(others, [mptcp.as_slice(), &["sdn-paced", "sliding-window"]].concat());

        let mut document = serde_json::to_value(TransportConfig::SdnPaced(paced)).unwrap();
        assert_eq!(document["protocol"], "sdn-paced");
        document["window_segments"] = 5.into();
        let refused = serde_json::from_value::<TransportConfig>(document).unwrap_err();
        assert!(refused.to_string().contains("window_segments"), "{refused}");
        let document = serde_json::to_value(TransportConfig::SlidingWindow(sliding)).unwrap();
        assert_eq!(document["protocol"], "sliding-window");
    }
}
