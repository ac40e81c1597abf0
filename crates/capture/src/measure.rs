//! The second pass: every direction of every flow, read at the capture points chosen for it.

use crate::error::FileProblem;
use crate::flow::{FlowTable, MOST_FLOWS};
use crate::format::{Next, Reader};
use crate::options;
use crate::packet::{self, ACK, Packet, RST, SYN};
use crate::progress::Meter;
use crate::select::{Flow, PointId, Selection};
use crate::sequence::{Acked, Arrival, DataAcked, DataCounts, Sequence};
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
    /// Retransmissions in each interval from the direction's first packet on.
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
    pub meter: &'a Meter,
}

/// Of a segment, what is measured.
#[derive(Clone, Copy)]
struct Event {
    time_ns: u64,
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

/// A file of the second pass.
struct FileReader<'a> {
    path: &'a Path,
    reader: Reader<File>,
    table: FlowTable,
    points: Points,
    job: &'a Job<'a>,
    file: u32,
    packets_left: u64,
    reported: u64,
    /// By flow of this file and direction: where it is read.
    read_at: Vec<[u32; 2]>,
}

impl<'a> FileReader<'a> {
    fn open(job: &'a Job<'a>, file: usize) -> Result<Self, FileProblem> {
        let path = job.paths[file].as_path();
        let (reader, _) = open(path)?;
        let of_file = &job.selection.of_file[file];
        let place = |flow: u32, direction: usize| {
            let points = &job.selection.flows[flow as usize].directions[direction].points;
            let mut here = points.iter().filter(|point| point.file as usize == file);
            match (here.next(), here.next()) {
                (None, _) => NOWHERE,
                (Some(only), None) => only.point,
                (Some(_), Some(_)) => SEVERAL,
            }
        };
        Ok(Self {
            path,
            reader,
            table: FlowTable::new(MOST_FLOWS),
            points: Points::default(),
            job,
            file: file as u32,
            packets_left: job.packets[file],
            reported: 0,
            read_at: of_file.iter().map(|&flow| [place(flow, 0), place(flow, 1)]).collect(),
        })
    }

    /// The next segment that counts; None at the end, or if asked to stop.
    #[inline]
    fn next(&mut self) -> Result<Option<Event>, FileProblem> {
        while self.packets_left > 0 {
            self.packets_left -= 1;
            if self.packets_left.is_multiple_of(PACKETS_PER_REPORT) && !self.report() {
                return Ok(None);
            }
            let next = self.reader.next().map_err(|error| FileProblem::io(self.path, &error))?;
            let Next::Record(record) = next else { break };
            let Packet::Tcp(segment) = packet::parse(record.link_type, record.data, record.original_len)
            else {
                continue;
            };
            if !wanted(self.job.ports, &segment) {
                continue;
            }
            let Some((index, direction)) = self.table.locate(&segment) else { continue };
            let point = self.points.number(record.interface, segment.view);
            // A file that changed since may have flows that were not there.
            let Some(&flow) = self.job.selection.of_file[self.file as usize].get(index) else { continue };
            let at = self.read_at[index][direction];
            if at != point {
                let id = PointId { file: self.file, point };
                let points = &self.job.selection.flows[flow as usize].directions[direction].points;
                if at != SEVERAL || !points.contains(&id) {
                    continue;
                }
            }
            let options = options::read(segment.options);
            return Ok(Some(Event {
                time_ns: record.time_ns,
                flow,
                direction: direction as u8,
                flags: segment.flags,
                seq: segment.seq,
                ack: segment.ack,
                payload: segment.payload,
                timestamp: options.timestamp,
                data_ack: options.data_ack,
            }));
        }
        self.report();
        Ok(None)
    }

    fn report(&mut self) -> bool {
        let offset = self.reader.offset();
        let read = offset - self.reported;
        self.reported = offset;
        self.job.meter.advance(read)
    }
}

/// Measures everything that is read in one group of files: flow, direction and what it gave.
pub(crate) fn measure(job: &Job<'_>, files: &[usize]) -> Result<Results, FileProblem> {
    let mut readers = Vec::with_capacity(files.len());
    for &file in files {
        readers.push(FileReader::open(job, file)?);
    }
    let mut trackers = Trackers::new(job);
    if let [reader] = readers.as_mut_slice() {
        while let Some(event) = reader.next()? {
            trackers.on_event(&event);
        }
        return Ok(trackers.finish());
    }
    // The earliest packet of all files; the first file, where times are equal.
    let mut waiting: Vec<Option<Event>> = Vec::with_capacity(readers.len());
    let mut order = BinaryHeap::new();
    for (index, reader) in readers.iter_mut().enumerate() {
        waiting.push(reader.next()?);
        order.extend(waiting[index].map(|event| Reverse((event.time_ns, index))));
    }
    while let Some(Reverse((_, index))) = order.pop() {
        if let Some(event) = waiting[index].take() {
            trackers.on_event(&event);
        }
        waiting[index] = readers[index].next()?;
        order.extend(waiting[index].map(|event| Reverse((event.time_ns, index))));
    }
    Ok(trackers.finish())
}

/// The flows that are under way; those whose last packet has come are done.
struct Trackers<'a> {
    job: &'a Job<'a>,
    /// By flow and direction.
    live: Vec<[Option<Box<Tracker>>; 2]>,
    done: Results,
}

impl<'a> Trackers<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        let mut live = Vec::new();
        live.resize_with(job.selection.flows.len(), Default::default);
        Self { job, live, done: Vec::new() }
    }

    #[inline]
    fn on_event(&mut self, event: &Event) {
        let (flow, direction) = (event.flow as usize, usize::from(event.direction));
        let tracker = self.live[flow][direction].get_or_insert_with(|| {
            let data = self.job.data_direction[flow];
            let flows = &self.job.selection.flows;
            Box::new(Tracker::new(&flows[flow], flows.len(), direction, data, &self.job.times))
        });
        tracker.on_event(event, &self.job.times);
        if tracker.packets_left == 0
            && let Some(done) = self.live[flow][direction].take()
        {
            self.done.push((flow, direction, done.finish()));
        }
    }

    fn finish(mut self) -> Results {
        for (flow, directions) in self.live.into_iter().enumerate() {
            for (direction, tracker) in directions.into_iter().enumerate() {
                self.done.extend(tracker.map(|tracker| (flow, direction, tracker.finish())));
            }
        }
        self.done
    }
}

/// One direction of a flow under way.
struct Tracker {
    /// Of the connection's data, if this direction carries them.
    sequence: Option<Sequence>,
    acked: Acked,
    data_acked: DataAcked,
    measured: Measured,
    /// The interval of the direction's first packet.
    first_bin: usize,
    packets_left: u64,
}

impl Tracker {
    fn new(flow: &Flow, flows: usize, direction: usize, data_direction: usize, times: &Times) -> Self {
        let (this, other) = (&flow.directions[direction], &flow.directions[1 - direction]);
        let first_bin = times.bin(this.first_ns);
        let bins = times.bin(this.last_ns) - first_bin + 1;
        let mut measured = Measured::default();
        let mut sequence = None;
        if direction == data_direction {
            sequence = Some(Sequence::new(this.isn, handshake_rtt_ns(flow).unwrap_or(0), flows));
            measured.retransmissions = vec![0; bins];
        } else {
            measured.acked_series = vec![0; bins];
            if flow.multipath.as_ref().is_some_and(|multipath| multipath.dss) {
                measured.data_series = vec![0; bins];
            }
        }
        Self {
            sequence,
            acked: Acked::new(other.isn, other.fin_end),
            data_acked: DataAcked::default(),
            measured,
            first_bin,
            packets_left: this.packets,
        }
    }

    #[inline]
    fn on_event(&mut self, event: &Event, times: &Times) {
        self.packets_left = self.packets_left.saturating_sub(1);
        let bin = times.bin(event.time_ns).saturating_sub(self.first_bin);
        if event.payload > 0
            && let Some(sequence) = &mut self.sequence
        {
            let is_syn = u32::from(event.flags & SYN != 0);
            let repeated = sequence.on_data(&Arrival {
                // The SYN has the number before that of the first byte.
                seq: event.seq.wrapping_add(is_syn),
                payload: event.payload,
                time_ns: event.time_ns,
                timestamp: event.timestamp,
            });
            if repeated && let Some(count) = self.measured.retransmissions.get_mut(bin) {
                *count += 1;
            }
        }
        if event.flags & (ACK | RST) == ACK {
            self.on_ack(event, bin, times);
        }
    }

    #[inline]
    fn on_ack(&mut self, event: &Event, bin: usize, times: &Times) {
        let bytes = self.acked.on_ack(event.ack);
        let measured = &mut self.measured;
        measured.acked += bytes;
        if event.time_ns > times.start_ns && event.time_ns <= times.end_ns {
            measured.window_acked += bytes;
        }
        if let Some(sum) = measured.acked_series.get_mut(bin) {
            *sum += bytes;
        }
        if let Some(number) = event.data_ack {
            let highest = self.data_acked.on_data_ack(number.value, number.whole);
            measured.data_first.get_or_insert(highest);
            if event.time_ns <= times.start_ns {
                measured.data_at_start = Some(highest);
            }
            if event.time_ns <= times.end_ns {
                measured.data_at_end = Some(highest);
            }
            if let Some(last) = measured.data_series.get_mut(bin) {
                *last = highest;
            }
        }
    }

    fn finish(mut self) -> Measured {
        if let Some(sequence) = self.sequence.take() {
            self.measured.data = sequence.finish();
        }
        self.measured.implausible = self.measured.data.implausible + self.acked.implausible;
        self.measured
    }
}

/// From the SYN to the ACK of the SYN/ACK, both of which the client sends, so that this is the whole
/// round trip wherever the capture point is; None if there were several SYNs.
pub(crate) fn handshake_rtt_ns(flow: &Flow) -> Option<u64> {
    let client = &flow.directions[flow.client];
    let seen = client.syns == 1 && client.established_ns != NEVER;
    seen.then(|| client.established_ns.saturating_sub(client.syn_ns))
}
