//! The second pass: every direction of every flow, read at the capture points chosen for it.

mod events;
mod tracker;

use crate::batch::touch;
use crate::copies::Copies;
use crate::error::FileProblem;
use crate::flow::MANY_FLOWS;
use crate::input::Input;
use crate::options::DataNumber;
use crate::progress::Meter;
use crate::round_trips::{RttHistogram, most_waiting};
use crate::select::{Flow, Selection};
use crate::sequence::{DataAcked, DataCounts};
use crate::survey::NEVER;
pub(crate) use events::{ACKS, DATA};
use events::{Event, FileReader};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tracker::{Rest, Tracker};

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

    /// The same intervals for packets by other clocks, of which the first has this time: bins have numbers from 0.
    pub(crate) fn back_to(&self, first_ns: u64) -> Self {
        let earlier = self.origin_ns.saturating_sub(first_ns).div_ceil(self.interval_ns);
        Self { origin_ns: self.origin_ns.saturating_sub(earlier * self.interval_ns), ..*self }
    }

    /// The middle of an interval.
    pub(crate) fn middle_ns(&self, bin: usize) -> u64 {
        self.origin_ns + bin as u64 * self.interval_ns + self.interval_ns / 2
    }
}

/// What one direction of a flow gave.
#[derive(Clone, Default, Debug)]
pub(crate) struct Measured {
    /// Data segments, and their bytes.
    pub packets: u64,
    pub payload: u64,
    /// None where the data came in order.
    pub disorder: Option<Box<Disordered>>,
    /// Bytes of the other direction that its acknowledgments cover, in all and in the window.
    pub acked: u64,
    pub window_acked: u64,
    /// Those with ACKs of something new, in order.
    pub intervals: Vec<Interval>,
    /// Round-trip times of the other direction's data; None without any.
    pub rtts: Option<Box<RttHistogram>>,
    /// Which other place of the flow they are from; None if they are from where it is read.
    pub rtts_elsewhere: Option<u8>,
    /// ACKs with numbers of no window.
    pub implausible: u64,
    /// What its data ACKs say.
    pub data_acks: Option<Box<DataAcks>>,
    /// Its segments that ask whether the other end is there.
    pub probes: Probes,
    /// When its data were seen; None without any.
    pub data_times: Option<DataTimes>,
    /// When it acknowledged data of the other direction.
    pub ack_times: AckTimes,
}

/// Segments without new data that ask whether the other end is there.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Probes {
    pub keep_alives: u32,
    /// Those to an end that has closed its window.
    pub window: u32,
}

/// When the data of a direction were seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataTimes {
    /// The first segment, and its bytes.
    pub first_ns: u64,
    pub first_bytes: u32,
    /// The last one, where no ACKs are read with them; else 0.
    pub last_ns: u64,
}

/// When a direction acknowledged something new.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct AckTimes {
    /// The first time, and how much; 0 if it never did.
    pub first_ns: u64,
    pub first_bytes: u64,
    /// The last time.
    pub last_ns: u64,
    /// The last time that it was a single byte, which may be a FIN, and the time before it.
    single: (u64, u64),
}

impl AckTimes {
    /// Takes note of an ACK that is the first, or of a single byte.
    #[cold]
    fn note(&mut self, time_ns: u64, bytes: u64, last_ns: u64) {
        if last_ns == 0 {
            (self.first_ns, self.first_bytes) = (time_ns, bytes);
        }
        if bytes == 1 {
            self.single = (time_ns, last_ns);
        }
    }

    /// Takes off a last ACK of a single byte; gives its time, if there is one that is not the first.
    fn take_off_single(&mut self) -> Option<u64> {
        let (time_ns, before_ns) = self.single;
        let is_last = time_ns != 0 && time_ns == self.last_ns && before_ns != 0;
        is_last.then(|| {
            self.last_ns = before_ns;
            time_ns
        })
    }
}

impl Measured {
    /// Takes a FIN off what was acknowledged, as that of data that nobody captured: the byte with which the ACKs end, if
    /// the last one was of a single byte.
    pub(crate) fn take_off_fin(&mut self, times: &Times) {
        let Some(time_ns) = self.ack_times.take_off_single() else { return };
        self.acked -= 1;
        if time_ns > times.start_ns && time_ns <= times.end_ns {
            self.window_acked -= 1;
        }
        if let Some(interval) = self.intervals.last_mut() {
            interval.bytes = interval.bytes.saturating_sub(1);
        }
    }

    /// What was counted of its data.
    pub(crate) fn data(&self) -> DataCounts {
        let counts = self.disorder.as_ref().map_or_else(DataCounts::default, |disorder| disorder.counts);
        DataCounts { packets: self.packets, payload: self.payload, ..counts }
    }
}

/// What came out of order: counts, and in each interval from the direction's first packet on, if there are any,
/// retransmissions and reordered packets.
#[derive(Clone, Default, Debug)]
pub(crate) struct Disordered {
    pub counts: DataCounts,
    pub retransmissions: Vec<u32>,
    pub reordered: Vec<u32>,
}

/// What the ACKs of an interval say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    /// From the direction's first packet on.
    pub bin: u32,
    /// Round-trip times, and their sum in ns.
    pub samples: u32,
    pub rtt_ns: u64,
    /// Newly acknowledged.
    pub bytes: u64,
}

impl Interval {
    fn add(&mut self, more: &Self) {
        self.samples += more.samples;
        self.rtt_ns += more.rtt_ns;
        self.bytes += more.bytes;
    }

    /// Adds one to others, which are in order. It is behind them or of the last one, unless times go back.
    pub(crate) fn insert(intervals: &mut Vec<Self>, closed: Self) {
        let at = intervals.iter().rposition(|interval| interval.bin <= closed.bin);
        match at.map(|at| &mut intervals[at]) {
            Some(interval) if interval.bin == closed.bin => interval.add(&closed),
            _ => intervals.insert(at.map_or(0, |at| at + 1), closed),
        }
    }
}

/// What a direction's data ACKs say: the first one, the highest at the window's ends, and that at the end of each
/// interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataAcks {
    acked: DataAcked,
    pub first: Option<u64>,
    pub at_start: Option<u64>,
    pub at_end: Option<u64>,
    /// When it went on for the first time, and the number then.
    pub first_advance: Option<(u64, u64)>,
    /// When it last went on.
    pub last_advance_ns: u64,
    pub series: Vec<u64>,
}

impl DataAcks {
    fn on_data_ack(&mut self, number: DataNumber, time_ns: u64, bin: usize, times: &Times) {
        let before = self.acked.highest();
        let highest = self.acked.on_data_ack(number.value, number.whole);
        if before.is_some_and(|before| before != highest) {
            self.first_advance.get_or_insert((time_ns, highest));
            self.last_advance_ns = time_ns;
        }
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

/// Flow, direction, and what it gave.
pub(crate) type Results = Vec<(usize, usize, Measured)>;

/// What everything was read with.
pub(crate) struct Job<'a> {
    pub inputs: &'a [Input],
    pub ports: &'a [u16],
    /// Packets that the survey found in each file: one that grows is read no further.
    pub packets: &'a [u64],
    /// Segments of each file that are left out, being copies of others.
    pub copies: &'a [&'a Copies],
    /// What is added to the times of each file.
    pub later_ns: &'a [i64],
    pub selection: &'a Selection,
    /// For each flow, the direction that carries its connection's data.
    pub data_direction: &'a [usize],
    pub times: Times,
    /// Packets that are read at a time.
    pub batch: usize,
    pub meter: &'a Meter,
}

/// Measures everything that is read in one group of files: flow, direction and what it gave.
pub(crate) fn measure(job: &Job<'_>, files: &[usize]) -> Result<Results, FileProblem> {
    let mut readers = Vec::with_capacity(files.len());
    for &file in files {
        readers.push(FileReader::open(job, file)?);
    }
    let flows = files.iter().map(|&file| job.selection.of_file[file].len()).sum();
    let mut trackers = Trackers::new(job, files, flows);
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

/// Not under way yet.
const NONE: u32 = u32::MAX;
/// After its last packet.
const DONE: u32 = u32::MAX - 1;

/// The flows that are under way; those whose last packet has come are done.
struct Trackers<'a> {
    job: &'a Job<'a>,
    /// By file, whether it is read here.
    is_here: Vec<bool>,
    /// By flow, number of its tracker.
    live: Vec<u32>,
    trackers: Vec<Tracker>,
    /// By the same number.
    rest: Vec<Rest>,
    /// Trackers that are done, to be used again.
    free: Vec<u32>,
    done: Results,
    most_waiting: u32,
}

impl<'a> Trackers<'a> {
    /// `flows`: at most so many are in these files.
    fn new(job: &'a Job<'a>, files: &[usize], flows: usize) -> Self {
        let mut is_here = vec![false; job.inputs.len()];
        files.iter().for_each(|&file| is_here[file] = true);
        let all = job.selection.flows.len();
        Self {
            job,
            is_here,
            live: vec![NONE; all],
            // Memory that is not used costs nothing, and what is used need not be moved.
            trackers: Vec::with_capacity(flows),
            rest: Vec::with_capacity(flows),
            free: Vec::new(),
            done: Vec::with_capacity(2 * flows),
            most_waiting: most_waiting(all),
        }
    }

    /// Brings what these events need into the cache, each step for all of them. Few flows are in the cache anyhow.
    fn look_ahead(&self, events: &[Event]) {
        if self.trackers.len() < MANY_FLOWS {
            return;
        }
        let live = || events.iter().map(|event| self.live[event.flow as usize] as usize);
        touch(live().filter_map(|number| Some(self.trackers.get(number)?.lines())));
        touch(live().filter_map(|number| {
            let (tracker, rest) = self.trackers.get(number).zip(self.rest.get(number))?;
            Some(tracker.next_slot() ^ rest.line())
        }));
        touch(live().zip(events).filter_map(|(number, event)| {
            let ends = self.trackers.get(number)?.ends_with(event.bin);
            Some(self.rest.get(number).filter(|_| ends)?.last_interval())
        }));
    }

    #[inline]
    fn on_event(&mut self, event: &Event) {
        let flow = event.flow as usize;
        let mut number = self.live[flow];
        if number == NONE {
            number = self.begin(flow);
        }
        let Some(tracker) = self.trackers.get_mut(number as usize) else { return };
        tracker.on_event(&mut self.rest[number as usize], event, self.job, self.most_waiting);
        if tracker.is_done() {
            self.end(flow);
        }
    }

    #[cold]
    fn begin(&mut self, flow: usize) -> u32 {
        let (tracker, rest) = tracker::begin(self.job, flow, &self.is_here);
        let number = if let Some(number) = self.free.pop() {
            self.trackers[number as usize] = tracker;
            self.rest[number as usize] = rest;
            number
        } else {
            self.trackers.push(tracker);
            self.rest.push(rest);
            self.trackers.len() as u32 - 1
        };
        self.live[flow] = number;
        number
    }

    #[cold]
    fn end(&mut self, flow: usize) {
        let number = std::mem::replace(&mut self.live[flow], DONE);
        let rest = std::mem::take(&mut self.rest[number as usize]);
        let measured = self.trackers[number as usize].finish(rest);
        let directions = [0, 1].map(|role| direction_of(self.job, flow, role));
        let measured = directions.into_iter().zip(measured);
        self.done.extend(measured.filter_map(|(direction, outcome)| Some((flow, direction, outcome?))));
        self.free.push(number);
    }

    fn finish(mut self) -> Results {
        for flow in 0..self.live.len() {
            if !matches!(self.live[flow], NONE | DONE) {
                self.end(flow);
            }
        }
        self.done
    }
}

/// The direction with this role.
fn direction_of(job: &Job<'_>, flow: usize, role: usize) -> usize {
    job.data_direction[flow] ^ role
}

/// From the SYN to the ACK of the SYN/ACK, both of which the client sends, so that this is the whole
/// round trip wherever the capture point is; None if there were several SYNs.
pub(crate) fn handshake_rtt_ns(flow: &Flow) -> Option<u64> {
    let client = &flow.directions[flow.client];
    let seen = client.syns == 1 && client.established_ns != NEVER;
    seen.then(|| client.established_ns.saturating_sub(client.syn_ns))
}
