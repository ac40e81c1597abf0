//! The second pass: every direction of every flow, read at the capture points chosen for it.

use crate::batch::{Batch, Held, touch};
use crate::error::FileProblem;
use crate::flow::{FlowTable, MOST_FLOWS};
use crate::format::Reader;
use crate::options;
use crate::packet::{ACK, Dissected, RST, SYN};
use crate::progress::Meter;
use crate::select::{Flow, PointId, Selection};
use crate::sequence::{Acked, Arrival, DataAcked, DataCounts, Disorder, Sequence};
use crate::survey::{NEVER, PACKETS_PER_REPORT, Points, open, wanted};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What is measured, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The first packet of all.
    pub origin_ns: u64,
    /// The measuring window: what is acknowledged after its start, until its end.
    pub start_ns: u64,
    pub end_ns: u64,
    pub interval_ns: u64,
}

impl Times {
    /// Number of the interval that a time is in.
    #[inline]
    pub(crate) fn bin(&self, time_ns: u64) -> usize {
        (time_ns.saturating_sub(self.origin_ns) / self.interval_ns) as usize
    }
}

/// What one direction of a flow gave.
#[derive(Clone, Default, Debug)]
pub(crate) struct Measured {
    /// Of its own data, if this is the direction that carries the connection's data.
    pub data: DataCounts,
    /// Retransmissions in each interval from the direction's first packet on; empty if there are none.
    pub retransmissions: Vec<u32>,
    /// Bytes of the other direction that its acknowledgments cover, in all and in the window.
    pub acked: u64,
    pub window_acked: u64,
    /// The same in each interval, if the other direction carries the connection's data.
    pub acked_series: Vec<u64>,
    pub implausible: u64,
    /// The first data ACK, the highest one at the window's ends, and that at the end of each interval.
    pub data_first: Option<u64>,
    pub data_at_start: Option<u64>,
    pub data_at_end: Option<u64>,
    pub data_series: Vec<u64>,
}

/// Flow, direction, and what it gave.
pub(crate) type Results = Vec<(usize, usize, Measured)>;

/// What everything was read with.
pub(crate) struct Job<'a> {
    pub paths: &'a [PathBuf],
    pub ports: &'a [u16],
    /// Packets that the survey found in each file: one that grows is read no further.
    pub packets: &'a [u64],
    pub selection: &'a Selection,
    /// For each flow, the direction that carries its connection's data.
    pub data_direction: &'a [usize],
    pub times: Times,
    /// Packets that are read at a time.
    pub batch: usize,
    pub meter: &'a Meter,
}

/// Of a segment, what is measured.
#[derive(Clone, Copy)]
struct Event {
    time_ns: u64,
    /// The interval that this is in.
    bin: usize,
    /// Flow and direction.
    flow: u32,
    direction: u8,
    flags: u8,
    seq: u32,
    ack: u32,
    payload: u32,
    timestamp: Option<u32>,
    data_ack: Option<options::DataNumber>,
}

/// Not read in this file.
const NOWHERE: u32 = u32::MAX;
/// Read at several points of this file.
const SEVERAL: u32 = u32::MAX - 1;

/// Where a flow of a file is read.
struct Place {
    /// Number among all flows; [`NOWHERE`] if the survey has not found it.
    flow: u32,
    /// By direction: the point, [`NOWHERE`] or [`SEVERAL`].
    points: [u32; 2],
}

/// A file of the second pass.
struct FileReader<'a> {
    path: &'a Path,
    reader: Reader<File>,
    table: FlowTable<Place>,
    points: Points,
    job: &'a Job<'a>,
    file: u32,
    packets_left: u64,
    reported: u64,
    batch: Batch,
    /// What counts of the batch, and how much of it has been given out.
    events: Vec<Event>,
    given: usize,
}

impl<'a> FileReader<'a> {
    fn open(job: &'a Job<'a>, file: usize) -> Result<Self, FileProblem> {
        let path = job.paths[file].as_path();
        let (reader, _) = open(path)?;
        Ok(Self {
            path,
            reader,
            table: FlowTable::new(MOST_FLOWS),
            points: Points::default(),
            job,
            file: file as u32,
            packets_left: job.packets[file],
            reported: 0,
            batch: Batch::new(job.batch),
            events: Vec::new(),
            given: 0,
        })
    }

    /// The next segment that counts; None at the end, or if asked to stop.
    #[inline]
    fn next(&mut self, trackers: &Trackers<'_>) -> Result<Option<Event>, FileProblem> {
        if self.given == self.events.len() {
            self.read_batch()?;
            trackers.look_ahead(&self.events);
        }
        let event = self.events.get(self.given).copied();
        self.given += usize::from(event.is_some());
        Ok(event)
    }

    /// Reads until there are events, or nothing is left.
    fn read_batch(&mut self) -> Result<(), FileProblem> {
        self.events.clear();
        self.given = 0;
        while self.events.is_empty() && self.packets_left > 0 {
            let until_report = (self.packets_left - 1) % PACKETS_PER_REPORT + 1;
            let ports = self.job.ports;
            let keep =
                |packet: &Dissected<'_>| matches!(packet, Dissected::Tcp(segment) if wanted(ports, segment));
            let read = self.batch.fill(&mut self.reader, until_report, |_, packet| keep(packet));
            let (read, end) = read.map_err(|error| FileProblem::io(self.path, &error))?;
            self.packets_left = if end.is_some() { 0 } else { self.packets_left - read };
            if self.packets_left.is_multiple_of(PACKETS_PER_REPORT) && !self.report() {
                self.packets_left = 0;
            }
            self.table.look_ahead(&mut self.batch.segments);
            for index in 0..self.batch.segments.len() {
                let event = self.event(index);
                self.events.extend(event);
            }
        }
        Ok(())
    }

    /// A segment of the batch as an event, if it counts.
    #[inline]
    fn event(&mut self, index: usize) -> Option<Event> {
        let segment = &self.batch.segments[index];
        let (job, file) = (self.job, self.file);
        let found = self.table.locate(segment, |number| place(job, file, number))?;
        let point = self.points.number(segment.interface, segment.view);
        let Place { flow, points } = &self.table.flow(found).state;
        // A file that changed since may have flows that were not there.
        if *flow == NOWHERE {
            return None;
        }
        let at = points[usize::from(segment.direction)];
        if at != point && (at != SEVERAL || !is_read_at(job, *flow, segment, PointId { file, point })) {
            return None;
        }
        Some(Event {
            time_ns: segment.time_ns,
            bin: job.times.bin(segment.time_ns),
            flow: *flow,
            direction: segment.direction,
            flags: segment.flags,
            seq: segment.seq,
            ack: segment.ack,
            payload: segment.payload,
            timestamp: segment.timestamp,
            data_ack: self.batch.multipath(segment).and_then(|options| options.data_ack),
        })
    }

    fn report(&mut self) -> bool {
        let offset = self.reader.offset();
        let read = offset - self.reported;
        self.reported = offset;
        self.job.meter.advance(read)
    }
}

/// Where a file's flow with this number is read.
fn place(job: &Job<'_>, file: u32, number: usize) -> Place {
    let Some(&flow) = job.selection.of_file[file as usize].get(number) else {
        return Place { flow: NOWHERE, points: [NOWHERE; 2] };
    };
    let points = [0, 1].map(|direction| {
        let points = &job.selection.flows[flow as usize].directions[direction].points;
        let mut here = points.iter().filter(|point| point.file == file);
        match (here.next(), here.next()) {
            (None, _) => NOWHERE,
            (Some(only), None) => only.point,
            (Some(_), Some(_)) => SEVERAL,
        }
    });
    Place { flow, points }
}

#[cold]
fn is_read_at(job: &Job<'_>, flow: u32, segment: &Held, point: PointId) -> bool {
    let direction = &job.selection.flows[flow as usize].directions[usize::from(segment.direction)];
    direction.points.contains(&point)
}

/// Measures everything that is read in one group of files: flow, direction and what it gave.
pub(crate) fn measure(job: &Job<'_>, files: &[usize]) -> Result<Results, FileProblem> {
    let mut readers = Vec::with_capacity(files.len());
    for &file in files {
        readers.push(FileReader::open(job, file)?);
    }
    let mut trackers = Trackers::new(job);
    if let [reader] = readers.as_mut_slice() {
        loop {
            reader.read_batch()?;
            if reader.events.is_empty() {
                return Ok(trackers.finish());
            }
            trackers.look_ahead(&reader.events);
            reader.events.iter().for_each(|event| trackers.on_event(event));
        }
    }
    // The earliest packet of all files; the first file, where times are equal.
    let mut waiting: Vec<Option<Event>> = Vec::with_capacity(readers.len());
    let mut order = BinaryHeap::new();
    for (index, reader) in readers.iter_mut().enumerate() {
        waiting.push(reader.next(&trackers)?);
        order.extend(waiting[index].map(|event| Reverse((event.time_ns, index))));
    }
    while let Some(Reverse((_, index))) = order.pop() {
        if let Some(event) = waiting[index].take() {
            trackers.on_event(&event);
        }
        waiting[index] = readers[index].next(&trackers)?;
        order.extend(waiting[index].map(|event| Reverse((event.time_ns, index))));
    }
    Ok(trackers.finish())
}

/// Not under way.
const NONE: u32 = u32::MAX;

/// The flows that are under way; those whose last packet has come are done.
struct Trackers<'a> {
    job: &'a Job<'a>,
    /// By flow and direction, number of its tracker.
    live: Vec<[u32; 2]>,
    trackers: Vec<Tracker>,
    /// By the same number.
    rest: Vec<Rest>,
    /// Trackers that are done, to be used again.
    free: Vec<u32>,
    done: Results,
}

impl<'a> Trackers<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        let live = vec![[NONE; 2]; job.selection.flows.len()];
        Self { job, live, trackers: Vec::new(), rest: Vec::new(), free: Vec::new(), done: Vec::new() }
    }

    #[inline]
    fn tracker_of(&self, event: &Event) -> Option<&Tracker> {
        let number = self.live[event.flow as usize][usize::from(event.direction)];
        self.trackers.get(number as usize)
    }

    /// Brings what these events need into the cache, each step for all of them.
    fn look_ahead(&self, events: &[Event]) {
        touch(events.iter().filter_map(|event| Some(self.tracker_of(event)?.acked_bytes)));
        touch(events.iter().filter_map(|event| {
            let tracker = self.tracker_of(event)?;
            match &tracker.role {
                Role::Data(sequence) => Some(sequence.packets()),
                Role::Acks(series) => series.get(event.bin.saturating_sub(tracker.first_bin)).copied(),
            }
        }));
    }

    #[inline]
    fn on_event(&mut self, event: &Event) {
        let (flow, direction) = (event.flow as usize, usize::from(event.direction));
        let mut number = self.live[flow][direction];
        if number == NONE {
            number = self.begin(flow, direction);
        }
        let (tracker, rest) = (&mut self.trackers[number as usize], &mut self.rest[number as usize]);
        tracker.on_event(rest, event, &self.job.times);
        if tracker.packets_left == 0 {
            self.end(flow, direction);
        }
    }

    #[cold]
    fn begin(&mut self, flow: usize, direction: usize) -> u32 {
        let (tracker, rest) = begin(self.job, flow, direction);
        let number = if let Some(number) = self.free.pop() {
            self.trackers[number as usize] = tracker;
            self.rest[number as usize] = rest;
            number
        } else {
            self.trackers.push(tracker);
            self.rest.push(rest);
            self.trackers.len() as u32 - 1
        };
        self.live[flow][direction] = number;
        number
    }

    #[cold]
    fn end(&mut self, flow: usize, direction: usize) {
        let number = std::mem::replace(&mut self.live[flow][direction], NONE);
        let tracker = &mut self.trackers[number as usize];
        let measured = tracker.finish(std::mem::take(&mut self.rest[number as usize]));
        self.done.push((flow, direction, measured));
        self.free.push(number);
    }

    fn finish(mut self) -> Results {
        for flow in 0..self.live.len() {
            for direction in 0..2 {
                if self.live[flow][direction] != NONE {
                    self.end(flow, direction);
                }
            }
        }
        self.done
    }
}

/// One direction of a flow under way: what every packet moves, in two lines of the cache.
#[repr(align(64))]
struct Tracker {
    acked: Acked,
    acked_bytes: u64,
    window_acked: u64,
    packets_left: u64,
    /// The interval of the direction's first packet.
    first_bin: usize,
    role: Role,
}

const _: () = assert!(size_of::<Tracker>() == 128);

/// What a direction does for its connection.
enum Role {
    /// It carries the data.
    Data(Sequence),
    /// It acknowledges them: bytes in each interval.
    Acks(Vec<u64>),
}

/// What few packets of a direction need.
#[derive(Default)]
struct Rest {
    disorder: Disorder,
    /// In each interval; empty until there is one.
    retransmissions: Vec<u32>,
    bins: usize,
    implausible: u64,
    /// Of MPTCP.
    data: Option<Box<DataLevel>>,
}

/// What a direction's data ACKs say.
#[derive(Default)]
struct DataLevel {
    acked: DataAcked,
    first: Option<u64>,
    at_start: Option<u64>,
    at_end: Option<u64>,
    series: Vec<u64>,
}

/// What is kept of a direction from its first packet on.
fn begin(job: &Job<'_>, flow: usize, direction: usize) -> (Tracker, Rest) {
    let (times, flows) = (&job.times, &job.selection.flows);
    let carries_data = direction == job.data_direction[flow];
    let flow = &flows[flow];
    let (this, other) = (&flow.directions[direction], &flow.directions[1 - direction]);
    let first_bin = times.bin(this.first_ns);
    let mut rest = Rest { bins: times.bin(this.last_ns) - first_bin + 1, ..Rest::default() };
    let role = if carries_data {
        rest.disorder = Disorder::new(handshake_rtt_ns(flow).unwrap_or(0), flows.len());
        Role::Data(Sequence::new(this.isn))
    } else {
        if flow.multipath.as_ref().is_some_and(|multipath| multipath.dss) {
            rest.data = Some(Box::new(DataLevel { series: vec![0; rest.bins], ..DataLevel::default() }));
        }
        Role::Acks(vec![0; rest.bins])
    };
    let tracker = Tracker {
        acked: Acked::new(other.isn, other.fin_end),
        acked_bytes: 0,
        window_acked: 0,
        packets_left: this.packets,
        first_bin,
        role,
    };
    (tracker, rest)
}

impl Tracker {
    #[inline]
    fn on_event(&mut self, rest: &mut Rest, event: &Event, times: &Times) {
        self.packets_left = self.packets_left.saturating_sub(1);
        let bin = event.bin.saturating_sub(self.first_bin);
        if event.payload > 0
            && let Role::Data(sequence) = &mut self.role
        {
            let is_syn = u32::from(event.flags & SYN != 0);
            let arrival = Arrival {
                // The SYN has the number before that of the first byte.
                seq: event.seq.wrapping_add(is_syn),
                payload: event.payload,
                time_ns: event.time_ns,
                timestamp: event.timestamp,
            };
            if sequence.on_data(&mut rest.disorder, &arrival) {
                rest.retransmissions.resize(rest.bins, 0);
                if let Some(count) = rest.retransmissions.get_mut(bin) {
                    *count += 1;
                }
            }
        }
        if event.flags & (ACK | RST) == ACK {
            self.on_ack(rest, event, bin, times);
        }
    }

    #[inline]
    fn on_ack(&mut self, rest: &mut Rest, event: &Event, bin: usize, times: &Times) {
        match self.acked.on_ack(event.ack) {
            Some(bytes) => {
                self.acked_bytes += bytes;
                if event.time_ns > times.start_ns && event.time_ns <= times.end_ns {
                    self.window_acked += bytes;
                }
                if let Role::Acks(series) = &mut self.role
                    && let Some(sum) = series.get_mut(bin)
                {
                    *sum += bytes;
                }
            }
            None => rest.implausible += 1,
        }
        if let Some(number) = event.data_ack {
            rest.data.get_or_insert_default().on_data_ack(number, event.time_ns, bin, times);
        }
    }

    /// What was measured, when no more comes.
    fn finish(&mut self, rest: Rest) -> Measured {
        let mut measured = Measured {
            retransmissions: rest.retransmissions,
            acked: self.acked_bytes,
            window_acked: self.window_acked,
            implausible: rest.implausible,
            ..Measured::default()
        };
        match &mut self.role {
            Role::Data(sequence) => measured.data = sequence.finish(&rest.disorder),
            Role::Acks(series) => measured.acked_series = std::mem::take(series),
        }
        measured.implausible += measured.data.implausible;
        if let Some(data) = rest.data {
            measured.data_first = data.first;
            measured.data_at_start = data.at_start;
            measured.data_at_end = data.at_end;
            measured.data_series = data.series;
        }
        measured
    }
}

impl DataLevel {
    fn on_data_ack(&mut self, number: options::DataNumber, time_ns: u64, bin: usize, times: &Times) {
        let highest = self.acked.on_data_ack(number.value, number.whole);
        self.first.get_or_insert(highest);
        if time_ns <= times.start_ns {
            self.at_start = Some(highest);
        }
        if time_ns <= times.end_ns {
            self.at_end = Some(highest);
        }
        if let Some(last) = self.series.get_mut(bin) {
            *last = highest;
        }
    }
}

/// From the SYN to the ACK of the SYN/ACK, both of which the client sends, so that this is the whole
/// round trip wherever the capture point is; None if there were several SYNs.
pub(crate) fn handshake_rtt_ns(flow: &Flow) -> Option<u64> {
    let client = &flow.directions[flow.client];
    let seen = client.syns == 1 && client.established_ns != NEVER;
    seen.then(|| client.established_ns.saturating_sub(client.syn_ns))
}
