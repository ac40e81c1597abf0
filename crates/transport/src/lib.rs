//! What an end host does: TCP and the senders of SDN, without clock, sockets or randomness of its own.
//!
//! Time goes in as an argument, segments come out of `poll_transmit`. Three choices are independent:
//! loss detection, congestion control and pacing; a transport's name is a preset of them.

mod agent;
mod brought;
mod config;
pub mod congestion;
pub mod log;
pub mod mptcp;
mod preset;
pub mod sdn;
mod segment;
pub mod spray;
pub mod tcp;
pub mod wire;

pub use agent::{CycleParameters, Failure, ReceiverAgent, SenderAgent};
pub use brought::Brought;
pub use config::{
    MptcpConfig, SdnPacedConfig, SharedConfig, SlidingWindowConfig, TcpConfig, TransportConfig,
};
pub use congestion::CongestionConfig;
pub use mptcp::{PathManagerConfig, SchedulerConfig};
pub use preset::{PRESETS, preset, tcp_preset};
pub use segment::{Flags, IP_HEADER, SackBlocks, Segment, TCP_HEADER, reset_for, unwrap_sequence};
pub use spray::{PathSelectorConfig, SprayConfig, SprayWindowConfig};
pub use tcp::{LimitedTransmit, LossDetectionConfig, PacingConfig};

use anabranch_units::declaration::Registry;

/// Every algorithm of an end host, with its parameters.
#[must_use]
pub fn described() -> Vec<Registry> {
    vec![
        TransportConfig::described(),
        LossDetectionConfig::described(),
        CongestionConfig::described(),
        PacingConfig::described(),
        PathManagerConfig::described(),
        SchedulerConfig::described(),
        SprayWindowConfig::described(),
        PathSelectorConfig::described(),
    ]
}
