//! The segments of every flow of a file.

use super::MOST_SEGMENTS;
use crate::batch::{Batch, PACKETS};
use crate::flow::FlowKey;
use crate::format::{End, Reader, Record};
use crate::packet::{ACK, Dissected, FIN, Network, SYN, Segment};
use crate::survey::wanted;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::ControlFlow;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const MPTCP: u8 = 30;
/// Blocks of an option of selective acknowledgment (RFC 2018 section 3).
const MOST_BLOCKS: usize = 4;
/// Packets between two looks at whether to go on.
const BETWEEN_LOOKS: u64 = 8192;
/// A time that goes back by more is a step of the clock, and not two cores of the capturing host.
const STEP_NS: u64 = 1_000_000;

/// One segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub time_ns: u64,
    pub direction: u8,
    pub flags: u8,
    pub block_count: u8,
    pub window: u16,
    pub seq: u32,
    pub ack: u32,
    pub payload: u32,
    /// -1 without.
    pub timestamp: i64,
    pub blocks: [(u32, u32); MOST_BLOCKS],
}

/// What the SYN of a direction says.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Opening {
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
}

/// The segments of a flow at one capture point.
#[derive(Clone, Default, Debug)]
pub(super) struct Flow {
    pub seen: Vec<Seen>,
    /// By direction.
    pub openings: [Opening; 2],
    /// Bytes of options on the last segment with data, by direction.
    pub option_bytes: [u32; 2],
    /// The direction in which the client sends, if its SYN or the answer was seen.
    pub client: Option<u8>,
    pub is_multipath: bool,
    pub clock_steps: i64,
}

impl Flow {
    pub(super) fn bytes(&self, direction: usize) -> u64 {
        let of_direction = self.seen.iter().filter(|seen| usize::from(seen.direction) == direction);
        of_direction.map(|seen| u64::from(seen.payload)).sum()
    }

    pub(super) fn packets(&self, direction: usize) -> usize {
        self.seen.iter().filter(|seen| usize::from(seen.direction) == direction).count()
    }

    fn take(&mut self, record: &Record<'_>, segment: &Segment<'_>, direction: u8) {
        let mut seen = Seen {
            time_ns: record.time_ns,
            direction,
            flags: segment.flags,
            block_count: 0,
            window: segment.window,
            seq: segment.seq,
            ack: segment.ack,
            payload: segment.payload,
            timestamp: -1,
            blocks: [(0, 0); MOST_BLOCKS],
        };
        let opening = self.read_options(segment.options, &mut seen);
        if segment.flags & SYN != 0 {
            self.openings[usize::from(direction)] = opening;
            self.client = Some(if segment.flags & ACK == 0 { direction } else { 1 - direction });
        } else if segment.payload > 0 {
            self.option_bytes[usize::from(direction)] = segment.options.len() as u32;
        }
        if self.seen.last().is_some_and(|last| last.time_ns > record.time_ns + STEP_NS) {
            self.clock_steps += 1;
        }
        self.seen.push(seen);
    }

    fn read_options(&mut self, mut options: &[u8], seen: &mut Seen) -> Opening {
        let mut opening = Opening::default();
        while let [kind, rest @ ..] = options {
            match *kind {
                END => break,
                NOP => options = rest,
                kind => {
                    let Some(&length) = rest.first() else { break };
                    let length = usize::from(length);
                    let Some(body) = options.get(2..length) else { break };
                    match (kind, body) {
                        (MSS, [high, low]) => opening.mss = Some(u16::from_be_bytes([*high, *low])),
                        (WINDOW_SCALE, [scale]) => opening.window_scale = Some((*scale).min(14)),
                        (TIMESTAMPS, [a, b, c, d, ..]) => {
                            seen.timestamp = i64::from(u32::from_be_bytes([*a, *b, *c, *d]));
                        }
                        (SACK, body) => read_blocks(body, seen),
                        (MPTCP, _) => self.is_multipath = true,
                        _ => {}
                    }
                    options = &options[length..];
                }
            }
        }
        opening
    }
}

fn read_blocks(body: &[u8], seen: &mut Seen) {
    let (blocks, _) = body.as_chunks::<8>();
    for (place, block) in seen.blocks.iter_mut().zip(blocks) {
        let [a, b, c, d, e, f, g, h] = *block;
        *place = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        seen.block_count += 1;
    }
}

/// All flows of a file.
#[derive(Default)]
pub(super) struct Gathered {
    pub flows: Vec<(FlowKey, Flow)>,
    /// Whether reading ended because there were too many segments.
    pub is_too_large: bool,
}

/// Reads a file to its end. None if `go_on` broke.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn gather<R: Read>(
    reader: &mut Reader<R>,
    ports: &[u16],
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> io::Result<Option<(Gathered, End)>> {
    let mut points: BTreeMap<(FlowKey, u32, u64), Vec<Flow>> = BTreeMap::new();
    let mut batch = Batch::new(PACKETS);
    let (mut segments, mut until_look) = (0, 0);
    let end = loop {
        let (read, end) = batch.fill(reader, PACKETS as u64, |record, packet, around| {
            if let Dissected::Tcp(segment) = packet
                && wanted(ports, segment)
            {
                // Both directions have the same number only in some kinds of tunnels.
                let is_told = segment.is_encapsulated && around.has_one_number();
                let network = if is_told { around.network() } else { Network::default() };
                let (key, direction) = FlowKey::of(segment, network);
                let flows = points.entry((key, record.interface, segment.view)).or_default();
                if flows.is_empty() || is_another(flows.last(), segment) {
                    flows.push(Flow::default());
                }
                if let Some(flow) = flows.last_mut() {
                    flow.take(record, segment, direction);
                }
                segments += 1;
            }
            false
        })?;
        if let Some(end) = end {
            break end;
        }
        if segments > MOST_SEGMENTS {
            return Ok(Some((Gathered { is_too_large: true, ..Gathered::default() }, End::Complete)));
        }
        until_look += read;
        if until_look >= BETWEEN_LOOKS {
            until_look = 0;
            if go_on().is_break() {
                return Ok(None);
            }
        }
    };
    Ok(Some((Gathered { flows: fullest(points), is_too_large: false }, end)))
}

/// Whether a SYN opens another connection between ends that have had one: its number is not that of the first.
fn is_another(last: Option<&Flow>, segment: &Segment<'_>) -> bool {
    let is_syn = segment.flags & (SYN | ACK) == SYN;
    is_syn
        && last.is_some_and(|flow| {
            let first = flow.seen.first();
            first.is_none_or(|first| first.flags & SYN == 0 || first.seq != segment.seq)
                && flow.seen.iter().any(|seen| seen.flags & FIN != 0 || seen.payload > 0)
        })
}

/// Of the points that saw a flow, the one with most of its packets; the first of equal ones.
fn fullest(points: BTreeMap<(FlowKey, u32, u64), Vec<Flow>>) -> Vec<(FlowKey, Flow)> {
    let mut flows: Vec<(FlowKey, Flow)> = Vec::new();
    let mut last: Option<(FlowKey, Vec<Flow>)> = None;
    let mut put = |entry: Option<(FlowKey, Vec<Flow>)>| {
        if let Some((key, of_key)) = entry {
            flows.extend(of_key.into_iter().map(|flow| (key, flow)));
        }
    };
    let packets = |flows: &[Flow]| flows.iter().map(|flow| flow.seen.len()).sum::<usize>();
    for ((key, ..), of_point) in points {
        match &mut last {
            Some((best_key, best)) if *best_key == key => {
                if packets(&of_point) > packets(best) {
                    *best = of_point;
                }
            }
            _ => put(last.replace((key, of_point))),
        }
    }
    put(last);
    flows
}
