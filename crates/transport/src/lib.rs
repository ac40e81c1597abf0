//! What an end host does: TCP without clock, sockets or randomness of its own.
//!
//! Time goes in as an argument, segments come out of `poll_transmit`. Three choices are independent:
//! loss detection, congestion control and pacing; a transport's name is a preset of them.

mod config;
pub mod congestion;
mod preset;
mod segment;
pub mod tcp;
pub mod wire;

pub use config::{CongestionConfig, LossDetectionConfig, PacingConfig, TcpConfig};
pub use preset::{PRESETS, preset};
pub use segment::{Flags, IP_HEADER, SackBlocks, Segment, TCP_HEADER, unwrap_sequence};
