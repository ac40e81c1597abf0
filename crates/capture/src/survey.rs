//! The first pass over a file: which flows there are, at which capture points each was seen, when it
//! opened and closed, and what its MPTCP options say.

mod multipath;

use crate::batch::{Batch, Held, touch};
use crate::clocks::{Clocks, Jumps};
use crate::copies::{Copies, Recent, is_copy};
use crate::error::FileProblem;
use crate::flow::{FlowTable, Known, MOST_FLOWS};
use crate::format::{End, Oddities, Record};
use crate::input::Input;
use crate::packet::{ACK, Dissected, Encapsulation, FIN, Protocol, RST, SYN, Segment};
use crate::progress::Meter;
use crate::protocols::Protocols;
pub(crate) use multipath::{DataSpace, Multipath};

/// No such time.
pub(crate) const NEVER: u64 = u64::MAX;
/// Most capture points of a file that are told apart.
pub(crate) const MOST_POINTS: usize = 1024;
/// Packets between two looks at whether to stop.
pub(crate) const PACKETS_PER_REPORT: u64 = 8192;

/// No such sighting.
const NONE: u32 = u32::MAX;

/// One direction of a flow as it was seen at one capture point: what every packet moves.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Sighting {
    pub packets: u64,
    /// Bytes of payload, repeated ones as often as they were seen.
    pub payload: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    /// How far sequence and acknowledgment numbers went together.
    pub progress: u64,
    pub max_seq: u32,
    pub max_ack: u32,
    pub has_ack: bool,
    /// Whether its packets had different identifications, and that of the last one.
    ids_vary: bool,
    last_id: u16,
    pub point: u32,
    /// Number of the same direction's sighting at the next point, in the order of first packets.
    next: u32,
}

/// What few packets of a direction say, those that open and end it.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
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
    /// The first acknowledgment, if there was one.
    pub first_ack: u32,
    /// Copies of its packets, which are left out.
    pub copies: u64,
    /// Number of what is around its first packet that is in a tunnel; [`NONE`] without.
    encapsulation: u32,
}

/// Where a flow was seen, and what its options say.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// By direction, number of its sighting at the first point.
    first: [u32; 2],
    pub multipath: Option<Box<Multipath>>,
}

/// A flow of one file.
pub(crate) type FileFlow = Known<Places>;

// A packet finds the flow's ends and where it was seen in one line of the cache.
const _: () = assert!(size_of::<FileFlow>() == 64 && size_of::<Sighting>() == 64);

/// Packets of a file by what became of them.
#[derive(Clone, Default, Debug)]
pub(crate) struct Counts {
    pub packets: u64,
    pub tcp: u64,
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
    sightings: Sightings,
    pub points: Vec<Point>,
    pub counts: Counts,
    pub protocols: Protocols,
    /// Packets that are left out, being copies of others.
    pub copies: Copies,
    pub oddities: Oddities,
    pub jumps: Jumps,
    pub end: End,
    /// Why unpacking ended before the end of the file.
    pub trouble: Option<String>,
    /// Unpacked.
    pub bytes: u64,
    pub unknown_link_types: Vec<u16>,
    /// Why it is no capture.
    pub problem: Option<FileProblem>,
}

impl FileSurvey {
    /// A file that is no capture, in its place among the others.
    fn without_packets(problem: FileProblem) -> Self {
        Self {
            flows: Vec::new(),
            sightings: Sightings::default(),
            points: Vec::new(),
            counts: Counts::default(),
            protocols: Protocols::default(),
            copies: Copies::default(),
            oddities: Oddities::default(),
            jumps: Jumps::default(),
            end: End::Complete,
            trouble: None,
            bytes: 0,
            unknown_link_types: Vec::new(),
            problem: Some(problem),
        }
    }

    /// What was seen of a direction, in the order in which its points first saw it.
    pub(crate) fn sightings(
        &self,
        flow: &FileFlow,
        direction: usize,
    ) -> impl Iterator<Item = (&Sighting, &Marks)> {
        let mut at = flow.state.first[direction];
        std::iter::from_fn(move || {
            let sighting = self.sightings.seen.get(at as usize)?;
            let marks = &self.sightings.marks[at as usize];
            at = sighting.next;
            Some((sighting, marks))
        })
    }

    /// What is around a direction's packets at a capture point, if anything.
    pub(crate) fn encapsulation(&self, marks: &Marks) -> Option<&Encapsulation> {
        self.sightings.encapsulations.get(marks.encapsulation as usize)
    }

    /// Adds this to all times.
    pub(crate) fn shift(&mut self, later_ns: i64) {
        let shift = |ns: &mut u64| {
            if *ns != NEVER {
                *ns = ns.saturating_add_signed(later_ns);
            }
        };
        for sighting in &mut self.sightings.seen {
            [&mut sighting.first_ns, &mut sighting.last_ns].into_iter().for_each(shift);
        }
        for marks in &mut self.sightings.marks {
            [&mut marks.syn_ns, &mut marks.established_ns, &mut marks.fin_ns, &mut marks.rst_ns]
                .into_iter()
                .for_each(shift);
        }
    }

    /// First and last packet of a flow.
    pub(crate) fn span(&self, flow: &FileFlow) -> (u64, u64) {
        let all = || (0..2).flat_map(|direction| self.sightings(flow, direction)).map(|seen| seen.0);
        let first = all().map(|seen| seen.first_ns).min().unwrap_or(NEVER);
        (first, all().map(|seen| seen.last_ns).max().unwrap_or(0))
    }
}

/// Sightings of all flows of a file.
#[derive(Default)]
struct Sightings {
    seen: Vec<Sighting>,
    /// By the same number.
    marks: Vec<Marks>,
    /// What is around the first packet of sightings in tunnels.
    encapsulations: Vec<Encapsulation>,
}

impl Sightings {
    /// The round-trip time that a flow's handshake has shown at a point.
    #[cold]
    fn handshake_ns(&self, flow: &FileFlow, point: u32) -> Option<u64> {
        let mut at = flow.state.first[usize::from(flow.identity.client?)];
        loop {
            let sighting = self.seen.get(at as usize)?;
            if sighting.point == point {
                let marks = &self.marks[at as usize];
                let is_known = marks.syns == 1 && marks.established_ns != NEVER;
                return is_known.then(|| marks.established_ns.saturating_sub(marks.syn_ns));
            }
            at = sighting.next;
        }
    }

    /// Number of a direction's sighting at a point; a new one if it has none there.
    #[inline]
    fn at(&mut self, first: &mut u32, point: u32, segment: &Held) -> usize {
        let mut at = *first;
        let mut last = NONE;
        while let Some(sighting) = self.seen.get(at as usize) {
            if sighting.point == point {
                return at as usize;
            }
            last = at;
            at = sighting.next;
        }
        let new = self.seen.len();
        match self.seen.get_mut(last as usize) {
            Some(last) => last.next = new as u32,
            None => *first = new as u32,
        }
        self.seen.push(Sighting::new(point, segment));
        self.marks.push(Marks::new(segment));
        new
    }
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
                Some(number_of_point) => number_of_point,
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

/// Reads a file once, `batch` packets at a time. None if it was asked to stop.
pub(crate) fn survey(
    input: &Input,
    ports: &[u16],
    batch: usize,
    meter: &Meter,
) -> Result<Option<FileSurvey>, FileProblem> {
    let (mut reader, reading) = match input.open() {
        Ok(opened) => opened,
        Err(problem) if problem.is_of_contents => return Ok(Some(FileSurvey::without_packets(problem))),
        Err(problem) => return Err(problem),
    };
    let mut seen = Seen::new(ports);
    let mut batch = Batch::with_fingerprints(batch);
    let mut reported = 0;
    let end = loop {
        let packets = seen.counts.packets;
        let until_report = PACKETS_PER_REPORT - packets % PACKETS_PER_REPORT;
        let read = batch
            .fill(&mut reader, until_report, |record, packet, around| seen.packet(record, packet, around));
        let (read, end) = read.map_err(|error| FileProblem::io(input.name(), &error))?;
        seen.counts.packets += read;
        seen.segments(&mut batch);
        if let Some(end) = end {
            break end;
        }
        if read == until_report {
            let total = reading.bytes();
            if !meter.advance(total - reported) {
                return Ok(None);
            }
            reported = total;
        }
    };
    let points = seen.points.points.iter().map(|&(interface, view)| Point {
        interface,
        view,
        name: reader.interface_name(interface).map(str::to_owned),
    });
    let points = points.collect();
    meter.advance(reading.bytes() - reported);
    Ok(Some(FileSurvey {
        flows: seen.table.into_flows(),
        sightings: seen.sightings,
        points,
        counts: seen.counts,
        protocols: seen.protocols,
        copies: seen.copies,
        oddities: reader.oddities(),
        jumps: seen.clocks.jumps(),
        end,
        trouble: reading.trouble().map(str::to_owned),
        bytes: reader.offset(),
        unknown_link_types: seen.unknown_link_types,
        problem: None,
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
    table: FlowTable<Places>,
    sightings: Sightings,
    points: Points,
    counts: Counts,
    protocols: Protocols,
    recent: Recent,
    copies: Copies,
    clocks: Clocks,
    unknown_link_types: Vec<u16>,
}

impl<'a> Seen<'a> {
    fn new(ports: &'a [u16]) -> Self {
        Self {
            ports,
            table: FlowTable::new(MOST_FLOWS),
            sightings: Sightings::default(),
            points: Points::default(),
            counts: Counts::default(),
            protocols: Protocols::default(),
            recent: Recent::default(),
            copies: Copies::default(),
            clocks: Clocks::default(),
            unknown_link_types: Vec::new(),
        }
    }

    /// Counts a packet; true if it is a segment to be looked at.
    #[inline(always)]
    fn packet(&mut self, record: &Record<'_>, packet: &Dissected<'_>, around: &Encapsulation) -> bool {
        self.clocks.note(record.interface, record.time_ns);
        match packet {
            Dissected::Tcp(segment) => {
                self.counts.tcp += 1;
                self.counts.options_cut += u64::from(segment.options_cut);
                if segment.is_encapsulated && around.has_tunnel() {
                    self.protocols.note(Protocol::Tcp, around);
                }
                return wanted(self.ports, segment);
            }
            Dissected::Other(protocol) => self.protocols.note(*protocol, around),
            // What is in it comes behind it.
            Dissected::Aggregate(_) => {}
            Dissected::UnknownLink => {
                self.counts.unknown_link += 1;
                if !self.unknown_link_types.contains(&record.link_type) {
                    self.unknown_link_types.push(record.link_type);
                }
            }
            Dissected::Fragment => self.counts.fragments += 1,
            Dissected::Cut => self.counts.headers_cut += 1,
        }
        false
    }

    #[inline]
    fn segments(&mut self, batch: &mut Batch) {
        self.table.look_ahead(&mut batch.segments);
        if self.table.has_many() {
            touch(batch.segments.iter().filter_map(|segment| {
                let first = self.table.guessed(segment)?.state.first[usize::from(segment.direction)];
                Some(self.sightings.seen.get(first as usize)?.packets)
            }));
        }
        for place in 0..batch.segments.len() {
            self.segment(batch, place);
        }
    }

    #[inline]
    fn segment(&mut self, batch: &Batch, place: usize) {
        let segment = &batch.segments[place];
        let fresh = |_| Places { first: [NONE; 2], multipath: None };
        let Some(flow) = self.table.locate(segment, fresh) else {
            self.counts.beyond += 1;
            return;
        };
        let point = self.points.number(segment.interface, segment.view);
        let direction = usize::from(segment.direction);
        let seen = self.sightings.at(&mut self.table.flow_mut(flow).state.first[direction], point, segment);
        self.sightings.seen[seen].note_identification(segment.identification);
        if let Some(earlier) = self.recent.before(batch.fingerprint(place), segment) {
            let original = self.table.find(&segment.key.within(earlier.network)).unwrap_or(flow);
            let round_trip_ns = || self.sightings.handshake_ns(self.table.flow(original), point);
            if is_copy(segment, &earlier, self.sightings.seen[seen].ids_vary, round_trip_ns) {
                self.copies.add(batch.number(place));
                self.sightings.marks[seen].copies += 1;
                return;
            }
            self.recent.renew(batch.fingerprint(place), segment);
        }
        let flow = self.table.flow_mut(flow);
        let identity = &flow.identity;
        let completes =
            identity.client == Some(segment.direction) && identity.is_first_after_syn(segment.seq);
        let marks = &mut self.sightings.marks[seen];
        self.sightings.seen[seen].note(segment, completes, marks);
        if batch.may_be_enclosed(place)
            && marks.encapsulation == NONE
            && let Some(encapsulation) = batch.encapsulation(place)
        {
            marks.encapsulation = self.sightings.encapsulations.len() as u32;
            self.sightings.encapsulations.push(encapsulation);
        }
        if let Some(options) = batch.multipath(segment) {
            let seen = flow.state.multipath.get_or_insert_with(Box::default);
            seen.note(direction, segment.flags, options);
        }
    }
}

impl Sighting {
    fn new(point: u32, segment: &Held) -> Self {
        Self {
            packets: 0,
            payload: 0,
            first_ns: segment.time_ns,
            last_ns: segment.time_ns,
            progress: 0,
            max_seq: segment.seq,
            max_ack: 0,
            has_ack: false,
            ids_vary: false,
            last_id: segment.identification,
            point,
            next: NONE,
        }
    }

    #[inline]
    fn note_identification(&mut self, identification: u16) {
        self.ids_vary |= identification != self.last_id;
        self.last_id = identification;
    }

    /// `completes`: the segment has the number that the client's ACK of the SYN/ACK has.
    #[inline]
    fn note(&mut self, segment: &Held, completes: bool, marks: &mut Marks) {
        self.packets += 1;
        self.payload += u64::from(segment.payload);
        // Several devices' packets may be written a little out of order.
        self.first_ns = self.first_ns.min(segment.time_ns);
        self.last_ns = self.last_ns.max(segment.time_ns);
        let flags = segment.flags;
        let sequenced = segment.payload + u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
        let end = segment.seq.wrapping_add(sequenced);
        advance(&mut self.max_seq, end, &mut self.progress);
        if flags & ACK != 0 && flags & RST == 0 {
            if !self.has_ack {
                self.has_ack = true;
                self.max_ack = segment.ack;
                marks.first_ack = segment.ack;
            }
            advance(&mut self.max_ack, segment.ack, &mut self.progress);
        }
        if flags & (SYN | FIN | RST) != 0 {
            marks.note_flags(segment, end);
        } else if completes && flags & ACK != 0 {
            marks.established_ns = marks.established_ns.min(segment.time_ns);
        }
    }
}

impl Marks {
    fn new(segment: &Held) -> Self {
        Self {
            syn_ns: NEVER,
            syns: 0,
            isn: 0,
            established_ns: NEVER,
            fin_ns: NEVER,
            fin_end: 0,
            rst_ns: NEVER,
            first_seq: segment.seq,
            first_ack: 0,
            copies: 0,
            encapsulation: NONE,
        }
    }

    #[cold]
    fn note_flags(&mut self, segment: &Held, end: u32) {
        let time_ns = segment.time_ns;
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
