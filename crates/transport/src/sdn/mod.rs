//! Senders of SDN (Gholizadeh 2019): a [`PacedSender`] whose segments leave when a controller says so
//! (section 4.3.2), a [`SlidingWindowSender`] that fills a fixed window (section 3.3), and the
//! [`StreamReceiver`] of both (section 4.3.3).
//!
//! A full data packet has `segment_bytes`; SYN, SYN-ACK, ACK and FIN are bare headers of 40 bytes, without
//! TCP options. Only an ACK above a hole is longer, by the SACK blocks of reliable mode: 12 to 36 bytes.
//! Sequence numbers are TCP's. No ACK answers the SYN-ACK: it would stand before the first data segment
//! in the queue of the access link. The first data segment answers it.
//!
//! Left out, and why:
//! - flow control: the application reads at once, the window field is not heeded;
//! - a FIN of the receiver: a flow has one direction, and the thesis has one FIN;
//! - DSACK, timestamps, ECN: nothing here reacts to them.

mod paced;
mod receiver;
mod schedule;
mod sliding_window;
mod stream;

pub use paced::PacedSender;
pub use receiver::StreamReceiver;
pub use sliding_window::SlidingWindowSender;

use crate::segment::{IP_HEADER, TCP_HEADER};

/// Most bytes between the first that is not acknowledged and the last one sent, as far as TCP's widest
/// window (RFC 7323 section 2.3): beyond 2^31 sequence numbers are ambiguous.
const MOST_OUTSTANDING: u64 = 1 << 30;

/// Bytes of a segment without payload.
const HEADERS: u16 = (IP_HEADER + TCP_HEADER) as u16;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests_published;
#[cfg(test)]
mod tests_reliable;
#[cfg(test)]
mod tests_window;
