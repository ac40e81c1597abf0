//! Reliable delivery without order for packets that are sprayed over many paths, as in the fabrics of Ultra Ethernet and
//! of the Multipath Reliable Connection (MRC): [`SpraySender`] and [`SprayReceiver`].
//!
//! Data leave at once, without a handshake, in packets with a number (PSN) and an entropy value each, which stands for the
//! UDP source port: it tells switches, or the source, which path a packet takes. The receiver answers by cumulative and
//! selective acknowledgments, and at once where a switch has cut a packet's payload off (packet trimming). The window is
//! set by NSCC ([`Nscc`](nscc), UEC Specification 1.0.3 section 3.6.13) or is constant, and a path selector chooses the
//! entropy value of each packet and hears what became of it ([`paths`]).
//!
//! The host turns to its flows one after another, when its line is free, and only then asks for a packet: entropy value,
//! order and time of sending are those of this moment, so that no round-trip time has a queue of the own host in it.
//!
//! Left out, and why:
//! - flow control: the application reads at once, and receivers have room for a window of each sender;
//! - credits of the receiver (RCCC), back-to-sender trimming, the receiver's brake (DFC): the window alone is what the
//!   comparison is about;
//! - ordered delivery (ROD) and RDMA's operations: a flow is a stream of bytes that is complete when all are there;
//! - a byte form: captures and live runs know TCP only.

mod config;
mod facts;
mod header;
mod nscc;
pub mod paths;
mod receiver;
mod records;
mod sender;
#[cfg(test)]
mod tests;
mod window;

pub use config::{HEADERS, SprayConfig};
pub use facts::PathFacts;
pub use paths::PathSelectorConfig;
pub use receiver::SprayReceiver;
pub use sender::{SpraySender, SpraySenderStats};
pub use window::SprayWindowConfig;
