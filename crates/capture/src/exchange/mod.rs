//! The exchange of one direction's data and its acknowledgments, packet by packet, as an end host sees it: what a model of the
//! path is fitted to (docs/fit.md). Unlike an analysis, which keeps counters, this keeps every segment.
//!
//! Left out, and why:
//! - flows with less than a few segments of data: they say nothing of a path;
//! - packets seen again at another capture point of the same file: the point with most of a flow's packets is taken.

mod follow;
mod gather;

use crate::error::{CaptureError, FileProblem};
use crate::flow::FlowKey;
use crate::format::End;
use crate::input::Input;
use crate::packet::Endpoint;
use gather::{Gathered, gather};
use std::net::{IpAddr, Ipv6Addr};
use std::ops::ControlFlow;
use std::path::Path;

/// Most segments of a file that are kept: about a gigabyte.
const MOST_SEGMENTS: usize = 16_000_000;
/// Least data of a direction that is followed.
const LEAST_BYTES: u64 = 3000;

/// Segments with data, in the order of the capture; those that a card was to cut are cut at the MSS.
#[derive(Clone, Default, Debug)]
pub struct SentSegments {
    /// Seconds since the first segment of the flow.
    pub time_s: Vec<f64>,
    /// Position in the stream.
    pub position: Vec<i64>,
    /// Bytes of data.
    pub bytes: Vec<i64>,
    /// 1 if it was there before, else 0.
    pub is_repeated: Vec<i64>,
    /// The sender's timestamp (RFC 7323), -1 without.
    pub timestamp: Vec<i64>,
    /// 1 if it was sent again and nothing says that this was spurious (RFC 2883), else 0.
    pub is_lost: Vec<i64>,
}

/// Acknowledgments, in the order of the capture.
#[derive(Clone, Default, Debug)]
pub struct Acknowledgments {
    /// Seconds since the first segment of the flow.
    pub time_s: Vec<f64>,
    /// Position up to which all is there.
    pub position: Vec<i64>,
    /// Bytes that this one was the first to acknowledge, selectively or not.
    pub delivered_bytes: Vec<i64>,
    /// Of what this one was the first to acknowledge and was sent once, the segment sent last; NaN without one.
    pub rtt_s: Vec<f64>,
    /// When that segment left; NaN without one.
    pub sent_s: Vec<f64>,
    /// Sent and not acknowledged by anything, behind this one.
    pub in_flight_bytes: Vec<i64>,
    /// What the receiver still has room for, scaled.
    pub window_bytes: Vec<i64>,
    /// The receiver's timestamp, -1 without.
    pub timestamp: Vec<i64>,
}

/// One direction of a flow.
#[derive(Clone, Default, Debug)]
pub struct Exchange {
    /// Addresses with ports of the end that sends the data, and of the other.
    pub ends: [String; 2],
    /// When the first segment was seen.
    pub began_unix_s: f64,
    /// Bytes of a segment with data, at most.
    pub mss_bytes: i64,
    /// Bytes of TCP options of a segment with data.
    pub option_bytes: i64,
    /// From the SYN to the SYN/ACK, at this place; NaN if not seen.
    pub handshake_s: f64,
    /// From the SYN/ACK to the ACK behind it, at this place; NaN if not seen.
    pub completion_s: f64,
    /// Whether the client sends the data.
    pub is_from_client: bool,
    /// Segments with data that were larger than the MSS, as cards cut them.
    pub offloaded: i64,
    /// Data that were delivered behind later ones, without having been sent again.
    pub reordered: i64,
    /// Duplicates that the receiver reported (RFC 2883).
    pub duplicates: i64,
    /// Whether data and ACKs have a FIN, so that the transfer is whole.
    pub is_finished: bool,
    /// Whether options of Multipath TCP were seen.
    pub is_multipath: bool,
    /// How often a packet's time was before that of an earlier one, by more than a millisecond.
    pub clock_steps: i64,
    /// What was sent.
    pub segments: SentSegments,
    /// What came back.
    pub acknowledgments: Acknowledgments,
}

/// All exchanges of a file, those with most data first, and what there is to say of the file.
///
/// # Errors
/// If the file cannot be read or is no capture, has no exchange with enough data, or too many packets; if `go_on` breaks.
pub fn exchanges(
    path: &Path,
    ports: &[u16],
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(Vec<Exchange>, Vec<String>), CaptureError> {
    let one = |file: FileProblem| CaptureError::Files { files: vec![file] };
    let input = Input::File(path.to_path_buf());
    let (mut reader, _) = input.open().map_err(one)?;
    let (gathered, end) = gather(&mut reader, ports, go_on)
        .map_err(|error| one(FileProblem::io(path, &error)))?
        .ok_or(CaptureError::Interrupted)?;
    if gathered.is_too_large {
        let problem = format!("has more than {MOST_SEGMENTS} TCP segments; cut it, with editcap -A and -B");
        return Err(one(FileProblem::new(path, problem)));
    }
    let mut notes = Vec::new();
    match end {
        End::Complete => {}
        End::Cut(at) => notes.push(format!("the file ends inside the packet at byte {at}")),
        End::Damaged(at, why) => notes.push(format!("what begins at byte {at} is no packet: {why}")),
    }
    let mut exchanges = followed(gathered);
    if exchanges.is_empty() {
        let nothing =
            "no TCP data with acknowledgments: a path is fitted to a transfer of some hundred segments";
        return Err(CaptureError::Nothing(format!("{}: {nothing}", path.display())));
    }
    exchanges.sort_by_key(|exchange| std::cmp::Reverse(exchange.segments.bytes.iter().sum::<i64>()));
    Ok((exchanges, notes))
}

fn followed(gathered: Gathered) -> Vec<Exchange> {
    let mut exchanges = Vec::new();
    for (key, flow) in gathered.flows {
        let bytes = [0, 1].map(|direction: usize| flow.bytes(direction));
        let direction = usize::from(bytes[1] > bytes[0]);
        if bytes[direction] < LEAST_BYTES || flow.packets(1 - direction) == 0 {
            continue;
        }
        let mut exchange = follow::follow(&flow, direction);
        exchange.ends = names(&key, direction);
        exchanges.push(exchange);
    }
    exchanges
}

fn names(key: &FlowKey, direction: usize) -> [String; 2] {
    let ends = key.ends();
    [text(ends[direction]), text(ends[1 - direction])]
}

fn text(end: Endpoint) -> String {
    let address = Ipv6Addr::from(end.address);
    match address.to_canonical() {
        IpAddr::V4(address) => format!("{address}:{}", end.port),
        IpAddr::V6(address) => format!("[{address}]:{}", end.port),
    }
}
