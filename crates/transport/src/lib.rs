//! What an end host does: TCP without clock, sockets or randomness of its own.
//!
//! Time goes in as an argument, segments come out of `poll_transmit`. Three choices are independent:
//! loss detection, congestion control and pacing; a transport's name is a preset of them.

pub mod congestion;
mod segment;
pub mod wire;

pub use segment::{Flags, IP_HEADER, SackBlocks, Segment, TCP_HEADER, unwrap_sequence};
