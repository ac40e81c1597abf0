//! The first pass over a file: which flows there are, at which capture points each was seen, when it
//! opened and closed, and what its MPTCP options say.

use crate::error::FileProblem;
use crate::flow::{FlowTable, Identity, MOST_FLOWS};
use crate::format::{End, Next, Oddities, OpenError, Reader, Record};
use crate::link;
use crate::options::{self, DataNumber};
use crate::packet::{self, ACK, FIN, Packet, RST, SYN, Segment};
use crate::progress::Meter;
use std::fs::File;
use std::path::Path;

/// No such time.
pub(crate) const NEVER: u64 = u64::MAX;
/// Most capture points of a file that are told apart.
const MOST_POINTS: usize = 1024;
/// Packets between two looks at whether to stop.
pub(crate) const PACKETS_PER_REPORT: u64 = 8192;

/// One direction of a flow as it was seen at one capture point.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    pub point: u32,
    pub packets: u64,
    /// Bytes of payload, repeated ones as often as they were seen.
    pub payload: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    /// The last SYN or SYN/ACK, and how many there were.
    pub syn_ns: u64,
    pub syns: u32,
    /// Initial sequence number, if `syns` is not 0.
    pub isn: u32,
    /// The ACK that completes the handshake, if this is the client's direction.
    pub established_ns: u64,
    pub fin_ns: u64,
    /// The number after that of the FIN.
    pub fin_end: u32,
    pub rst_ns: u64,
    pub first_seq: u32,
    pub max_seq: u32,
    pub first_ack: u32,
    pub max_ack: u32,
    pub has_ack: bool,
    /// How far sequence and acknowledgment numbers went together.
    pub progress: u64,
}

/// Numbers of one data sequence space that a flow used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataSpace {
    pub first: u64,
    pub last: u64,
    pub whole: bool,
}

/// What a flow's MPTCP options say.
#[derive(Clone, Default, Debug)]
pub(crate) struct Multipath {
    pub version: u8,
    /// Keys by the direction in which their owner sends.
    pub keys: [Option<u64>; 2],
    /// MP_CAPABLE on the SYN, and on the SYN/ACK.
    pub capable: [bool; 2],
    pub join_token: Option<u32>,
    /// MP_JOIN on the SYN, and on the SYN/ACK.
    pub join: [bool; 2],
    pub dss: bool,
    /// By the direction in which the data go.
    pub spaces: [Option<DataSpace>; 2],
}

/// A flow of one file.
#[derive(Clone, Debug)]
pub(crate) struct FileFlow {
    pub identity: Identity,
    /// By direction.
    pub sightings: [Vec<Sighting>; 2],
    pub multipath: Option<Box<Multipath>>,
}

impl FileFlow {
    /// First and last packet.
    pub(crate) fn span(&self) -> (u64, u64) {
        let all = || self.sightings.iter().flatten();
        let first = all().map(|seen| seen.first_ns).min().unwrap_or(NEVER);
        (first, all().map(|seen| seen.last_ns).max().unwrap_or(0))
    }
}

/// Packets of a file by what became of them.
#[derive(Clone, Default, Debug)]
pub(crate) struct Counts {
    pub packets: u64,
    pub tcp: u64,
    pub other: u64,
    pub fragments: u64,
    /// Cut before the end of what is needed of the TCP header.
    pub headers_cut: u64,
    pub options_cut: u64,
    /// Of flows beyond the most that are followed.
    pub beyond: u64,
    /// Of interfaces whose link type is not known.
    pub unknown_link: u64,
}

/// A place where packets were captured, within a file.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub interface: u32,
    pub view: u64,
    pub name: Option<String>,
}

/// What a file has.
pub(crate) struct FileSurvey {
    pub flows: Vec<FileFlow>,
    pub points: Vec<Point>,
    pub counts: Counts,
    pub oddities: Oddities,
    pub end: End,
    pub bytes: u64,
    pub unknown_link_types: Vec<u16>,
}

/// Numbers the capture points of a file in the order of their first packets.
#[derive(Default)]
pub(crate) struct Points {
    points: Vec<(u32, u64)>,
    last: usize,
}

impl Points {
    #[inline]
    pub(crate) fn number(&mut self, interface: u32, view: u64) -> u32 {
        if self.points.get(self.last) != Some(&(interface, view)) {
            self.last = match self.points.iter().position(|point| *point == (interface, view)) {
                Some(found) => found,
                None if self.points.len() < MOST_POINTS => {
                    self.points.push((interface, view));
                    self.points.len() - 1
                }
                // Whatever is beyond shares the last one.
                None => MOST_POINTS - 1,
            };
        }
        self.last as u32
    }
}

/// Opens a file that can be read twice.
pub(crate) fn open(path: &Path) -> Result<(Reader<File>, u64), FileProblem> {
    let file = File::open(path).map_err(|error| FileProblem::io(path, &error))?;
    let metadata = file.metadata().map_err(|error| FileProblem::io(path, &error))?;
    if !metadata.is_file() {
        let problem = if metadata.is_dir() {
            "is a folder; give the capture files in it"
        } else {
            "is not a regular file; captures are read twice, so that a pipe has to be saved first"
        };
        return Err(FileProblem::new(path, problem));
    }
    let reader = Reader::open(file).map_err(|error| match error {
        OpenError::Io(error) => FileProblem::io(path, &error),
        OpenError::Empty => FileProblem::new(path, "is empty; was the capture written to another file?"),
        OpenError::Other(problem) => FileProblem::new(path, problem),
    })?;
    Ok((reader, metadata.len()))
}

/// Reads a file once. None if it was asked to stop.
pub(crate) fn survey(path: &Path, ports: &[u16], meter: &Meter) -> Result<Option<FileSurvey>, FileProblem> {
    let (mut reader, _) = open(path)?;
    let mut seen = Seen::new(ports);
    let mut reported = 0;
    let end = loop {
        match reader.next().map_err(|error| FileProblem::io(path, &error))? {
            Next::Record(record) => seen.packet(&record),
            Next::End(end) => break end,
        }
        if seen.counts.packets.is_multiple_of(PACKETS_PER_REPORT) {
            let offset = reader.offset();
            if !meter.advance(offset - reported) {
                return Ok(None);
            }
            reported = offset;
        }
    };
    let points = seen.points.points.iter().map(|&(interface, view)| Point {
        interface,
        view,
        name: reader.interface_name(interface).map(str::to_owned),
    });
    let points = points.collect();
    meter.advance(reader.offset() - reported);
    let identities = seen.table.flows().iter();
    Ok(Some(FileSurvey {
        flows: identities
            .zip(seen.flows)
            .map(|(identity, flow)| FileFlow { identity: *identity, ..flow })
            .collect(),
        points,
        counts: seen.counts,
        oddities: reader.oddities(),
        end,
        bytes: reader.offset(),
        unknown_link_types: seen.unknown_link_types,
    }))
}

/// Whether a segment is of a port that was asked for; with none, every one is.
#[inline]
pub(crate) fn wanted(ports: &[u16], segment: &Segment<'_>) -> bool {
    ports.is_empty() || ports.contains(&segment.source.port) || ports.contains(&segment.destination.port)
}

/// What was seen so far.
struct Seen<'a> {
    ports: &'a [u16],
    table: FlowTable,
    flows: Vec<FileFlow>,
    points: Points,
    counts: Counts,
    unknown_link_types: Vec<u16>,
}

impl<'a> Seen<'a> {
    fn new(ports: &'a [u16]) -> Self {
        Self {
            ports,
            table: FlowTable::new(MOST_FLOWS),
            flows: Vec::new(),
            points: Points::default(),
            counts: Counts::default(),
            unknown_link_types: Vec::new(),
        }
    }

    #[inline]
    fn packet(&mut self, record: &Record<'_>) {
        self.counts.packets += 1;
        match packet::parse(record.link_type, record.data, record.original_len) {
            Packet::Tcp(segment) => self.segment(record, &segment),
            Packet::Other if !link::is_known(record.link_type) => {
                self.counts.unknown_link += 1;
                if !self.unknown_link_types.contains(&record.link_type) {
                    self.unknown_link_types.push(record.link_type);
                }
            }
            Packet::Other => self.counts.other += 1,
            Packet::Fragment => self.counts.fragments += 1,
            Packet::Cut => self.counts.headers_cut += 1,
        }
    }

    #[inline]
    fn segment(&mut self, record: &Record<'_>, segment: &Segment<'_>) {
        self.counts.tcp += 1;
        self.counts.options_cut += u64::from(segment.options_cut);
        if !wanted(self.ports, segment) {
            return;
        }
        let Some((flow, direction)) = self.table.locate(segment) else {
            self.counts.beyond += 1;
            return;
        };
        let point = self.points.number(record.interface, segment.view);
        if flow == self.flows.len() {
            let identity = self.table.flows()[flow];
            self.flows.push(FileFlow { identity, sightings: Default::default(), multipath: None });
        }
        let identity = &self.table.flows()[flow];
        let flow = &mut self.flows[flow];
        let sightings = &mut flow.sightings[direction];
        let seen = match sightings.iter().position(|seen| seen.point == point) {
            Some(index) => &mut sightings[index],
            None => {
                sightings.push(Sighting::new(point, record.time_ns, segment));
                sightings.last_mut().expect("just added")
            }
        };
        let completes =
            identity.client == Some(direction as u8) && segment.seq == identity.client_isn.wrapping_add(1);
        seen.note(record.time_ns, segment, completes);
        if !segment.options.is_empty() {
            multipath(flow, direction, segment);
        }
    }
}

impl Sighting {
    fn new(point: u32, time_ns: u64, segment: &Segment<'_>) -> Self {
        Self {
            point,
            packets: 0,
            payload: 0,
            first_ns: time_ns,
            last_ns: time_ns,
            syn_ns: NEVER,
            syns: 0,
            isn: 0,
            established_ns: NEVER,
            fin_ns: NEVER,
            fin_end: 0,
            rst_ns: NEVER,
            first_seq: segment.seq,
            max_seq: segment.seq,
            first_ack: 0,
            max_ack: 0,
            has_ack: false,
            progress: 0,
        }
    }

    /// `completes`: the segment has the number that the client's ACK of the SYN/ACK has.
    #[inline]
    fn note(&mut self, time_ns: u64, segment: &Segment<'_>, completes: bool) {
        self.packets += 1;
        self.payload += u64::from(segment.payload);
        // Several devices' packets may be written a little out of order.
        self.first_ns = self.first_ns.min(time_ns);
        self.last_ns = self.last_ns.max(time_ns);
        let flags = segment.flags;
        let sequenced = segment.payload + u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
        let end = segment.seq.wrapping_add(sequenced);
        advance(&mut self.max_seq, end, &mut self.progress);
        if flags & ACK != 0 && flags & RST == 0 {
            if !self.has_ack {
                self.has_ack = true;
                self.first_ack = segment.ack;
                self.max_ack = segment.ack;
            }
            advance(&mut self.max_ack, segment.ack, &mut self.progress);
        }
        if flags & (SYN | FIN | RST) != 0 {
            self.note_flags(time_ns, segment, end);
        } else if completes && flags & ACK != 0 {
            self.established_ns = self.established_ns.min(time_ns);
        }
    }

    #[cold]
    fn note_flags(&mut self, time_ns: u64, segment: &Segment<'_>, end: u32) {
        if segment.flags & SYN != 0 {
            self.syns += 1;
            self.syn_ns = time_ns;
            self.isn = segment.seq;
        } else if segment.flags & RST != 0 {
            self.rst_ns = self.rst_ns.min(time_ns);
        } else if segment.flags & FIN != 0 && self.fin_ns > time_ns {
            self.fin_ns = time_ns;
            self.fin_end = end;
        }
    }
}

/// Moves a number forward in its space of 32 bits, if `to` is ahead of it.
#[inline]
fn advance(number: &mut u32, to: u32, progress: &mut u64) {
    let ahead = to.wrapping_sub(*number).cast_signed();
    if ahead > 0 {
        *number = to;
        *progress += u64::from(ahead.unsigned_abs());
    }
}

/// Notes a segment's MPTCP options.
#[inline]
fn multipath(flow: &mut FileFlow, direction: usize, segment: &Segment<'_>) {
    let options = options::read(segment.options);
    if options.capable.is_none() && !options.join && !options.dss {
        return;
    }
    let seen = flow.multipath.get_or_insert_with(Box::default);
    let is_syn = segment.flags & SYN != 0;
    let answer = usize::from(segment.flags & ACK != 0);
    if let Some(capable) = options.capable {
        seen.version = capable.version;
        if is_syn {
            seen.capable[answer] = true;
        }
        seen.keys[direction] = capable.sender_key.or(seen.keys[direction]);
        seen.keys[1 - direction] = capable.receiver_key.or(seen.keys[1 - direction]);
    }
    if options.join && is_syn {
        seen.join[answer] = true;
        seen.join_token = options.join_token.or(seen.join_token);
    }
    if options.dss {
        seen.dss = true;
        note_space(&mut seen.spaces[direction], options.data_seq);
        note_space(&mut seen.spaces[1 - direction], options.data_ack);
    }
}

fn note_space(space: &mut Option<DataSpace>, number: Option<DataNumber>) {
    let Some(DataNumber { value, whole }) = number else { return };
    match space {
        Some(space) if space.whole == whole => space.last = value,
        Some(space) if !whole && space.whole => {
            // Carried on with the upper half that is known.
            let behind = value as u32;
            let step = behind.wrapping_sub(space.last as u32).cast_signed();
            space.last = space.last.wrapping_add_signed(i64::from(step));
        }
        _ => *space = Some(DataSpace { first: value, last: value, whole }),
    }
}
