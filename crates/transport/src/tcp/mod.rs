//! TCP: a [`Sender`] that opens, sends a stream and closes, and a [`Receiver`] at the other end.
//!
//! Left out, and why:
//! - urgent data and simultaneous open: no scenario produces them;
//! - data from receiver to sender: a flow has one direction, a second flow gives the other;
//! - path MTU discovery: links have one MTU;
//! - F-RTO (RFC 5682): timestamps (RFC 3522) show spurious timeouts here.

mod detection;
mod held;
mod out_of_order;
mod pacing;
mod prr;
mod quick_acks;
mod ranges;
mod receive_window;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;
pub(crate) mod ticks;
mod timestamp;

use anabranch_units::Span;
pub use detection::{
    DupackParameters, FastRtoParameters, LimitedTransmit, LinuxRackParameters, LossDetectionConfig,
    RackParameters, RrTcpParameters, TcpNcrParameters, TcpPrParameters,
};
pub(crate) use held::{Held, Room};
pub(crate) use out_of_order::OutOfOrder;
pub use pacing::{ControllerPacing, PacingConfig, WindowPacing};
pub(crate) use ranges::Ranges;
pub(crate) use receive_window::{RightSizing, initial_window, largest_window};
pub(crate) use receiver::{EPOCH, window_scale};
pub use receiver::{Receiver, ReceiverStats};
pub(crate) use rtt::RttEstimator;
pub use rtt::RttSummary;
pub(crate) use scoreboard::{Delivery, Judgement, Scoreboard, Sent};
pub use sender::{Sender, SenderInfo, SenderStats};

/// Between two answers to refused segments without data (RFC 5961 section 7; Linux, net.ipv4.tcp_invalid_ratelimit).
const ANSWER_INTERVAL: Span = Span::from_ms(500);

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_echo;
#[cfg(test)]
mod tests_linux_acks;
#[cfg(test)]
mod tests_linux_rules;
#[cfg(test)]
mod tests_log;
#[cfg(test)]
mod tests_mprc;
#[cfg(test)]
mod tests_peer;
#[cfg(test)]
mod tests_reading;
#[cfg(test)]
mod tests_receive_window;
#[cfg(test)]
mod tests_rfc;
#[cfg(test)]
mod tests_without_sack;
