//! Packet captures of TCP and MPTCP: what each connection and subflow achieved in its steady state.
//!
//! Files are read twice, with memory for the flows and not for the packets: a survey finds flows, handshakes
//! and ends; a second pass measures each direction of each flow at the capture points chosen for it, in the
//! window and the intervals that the survey gave. See `docs/capture.md` for the rules.
//!
//! Left out, and why:
//! - reassembly of IP fragments: TCP avoids them (RFC 9293 section 3.7.5), and they are counted;
//! - what is outside a tunnel: headers of IP, UDP and of tunnels in each other are passed over, up to a bound, and the
//!   innermost one has the flow;
//! - checking checksums: those of the capturing host are often filled in by its card, after the capture;
//! - the HMAC of MP_JOIN: the token ties a subflow to its connection, and the peer has checked the rest.

mod align;
mod analysis;
mod batch;
mod clocks;
mod copies;
mod elsewhere;
mod error;
mod exchange;
mod flow;
mod format;
mod group;
mod input;
mod measure;
mod networks;
mod options;
mod packet;
mod parallel;
mod pcap;
mod pcapng;
mod places;
mod progress;
mod protocols;
mod report;
mod round_trips;
mod select;
mod sequence;
mod series;
mod source;
mod steady;
mod survey;
mod system;
mod zstd;

// What tests in this crate share with those beside it names it from outside.
#[cfg(test)]
extern crate self as anabranch_capture;

pub use analysis::{Options, ReadProgress, analyze};
pub use error::{CaptureError, FileProblem};
pub use exchange::{Acknowledgments, Exchange, SentSegments, exchanges};
pub use group::Tie;
pub use input::STANDARD_INPUT;
pub use report::{Analysis, Summary};
