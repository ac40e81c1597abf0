//! The second pass: every direction of every flow, read at the capture points chosen for it.

mod events;

use crate::batch::touch;
use crate::error::FileProblem;
use crate::flow::MANY_FLOWS;
use crate::histogram::Histogram;
use crate::input::Input;
use crate::options;
use crate::packet::{ACK, RST, SYN};
use crate::progress::Meter;
use crate::round_trips::{AckArrival, RoundTrips, most_waiting};
use crate::select::{Flow, Selection};
use crate::sequence::{Acked, Arrival, DataAcked, DataCounts, Disorder, Kind, Sequence};
use crate::survey::NEVER;
use events::{ACKS, DATA, Event, FileReader};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    /// Retransmissions, and reordered packets, in each interval from the direction's first packet on; empty if
    /// there are none.
    pub retransmissions: Vec<u32>,
    pub reordered: Vec<u32>,
    /// Bytes of the other direction that its acknowledgments cover, in all and in the window.
    pub acked: u64,
    pub window_acked: u64,
    /// The same in each interval, if the other direction carries the connection's data.
    pub acked_series: Vec<u64>,
    /// Round-trip times in ns of the other direction's data, if that carries the connection's, and their sum and number in
    /// each interval; empty if there are none.
    pub rtts: Histogram,
    pub rtt_series: Vec<(u64, u32)>,
    pub implausible: u64,
    /// What its data ACKs say.
    pub data_acks: Option<Box<DataAcks>>,
}

/// Flow, direction, and what it gave.
pub(crate) type Results = Vec<(usize, usize, Measured)>;

/// What everything was read with.
pub(crate) struct Job<'a> {
    pub inputs: &'a [Input],
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

/// Measures everything that is read in one group of files: flow, direction and what it gave.
pub(crate) fn measure(job: &Job<'_>, files: &[usize]) -> Result<Results, FileProblem> {
    let mut readers = Vec::with_capacity(files.len());
    for &file in files {
        readers.push(FileReader::open(job, file)?);
    }
    let flows = files.iter().map(|&file| job.selection.of_file[file].len()).sum();
    let mut trackers = Trackers::new(job, flows);
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
/// Without a packet, or after its last one.
const DONE: u32 = u32::MAX - 1;

/// The flows that are under way; those whose last packet has come are done.
struct Trackers<'a> {
    job: &'a Job<'a>,
    /// By flow, number of the tracker of its [`DATA`] and of its [`ACKS`].
    live: Vec<[u32; 2]>,
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
    fn new(job: &'a Job<'a>, flows: usize) -> Self {
        let number = |flow: usize, role: usize| {
            let direction = direction_of(job, flow, role);
            if job.selection.flows[flow].directions[direction].packets == 0 { DONE } else { NONE }
        };
        let live =
            (0..job.selection.flows.len()).map(|flow| [number(flow, DATA), number(flow, ACKS)]).collect();
        let most_waiting = most_waiting(job.selection.flows.len());
        let (trackers, rest, free) = (Vec::new(), Vec::new(), Vec::new());
        let done = Vec::with_capacity(2 * flows);
        Self { job, live, trackers, rest, free, done, most_waiting }
    }

    #[inline]
    fn tracker_of(&self, event: &Event) -> Option<&Tracker> {
        let number = self.live[event.flow as usize][usize::from(event.role)];
        self.trackers.get(number as usize)
    }

    /// Brings what these events need into the cache, each step for all of them. Few flows are in the cache anyhow.
    fn look_ahead(&self, events: &[Event]) {
        if self.trackers.len() < MANY_FLOWS {
            return;
        }
        let acks = |event: &Event| self.trackers.get(self.live[event.flow as usize][ACKS] as usize);
        touch(events.iter().filter_map(|event| {
            Some(self.tracker_of(event)?.acked_bytes ^ acks(event).map_or(0, |acks| acks.acked_bytes))
        }));
        touch(events.iter().filter_map(|event| {
            let number = self.live[event.flow as usize][ACKS] as usize;
            match &self.trackers.get(number)?.role {
                Role::Acks(acks) => Some(acks.trips.next_slot() ^ self.rest[number].rtts.count()),
                Role::Data(sequence) => Some(sequence.packets()),
            }
        }));
        touch(events.iter().filter_map(|event| {
            let data = match &self.tracker_of(event)?.role {
                Role::Data(sequence) => sequence.packets(),
                Role::Acks(_) => self.rest[self.live[event.flow as usize][ACKS] as usize].rtts.first_count(),
            };
            Some(data)
        }));
    }

    #[inline]
    fn on_event(&mut self, event: &Event) {
        let (flow, role) = (event.flow as usize, usize::from(event.role));
        let mut number = self.live[flow][role];
        if number == DONE {
            return;
        }
        if number == NONE {
            number = self.begin(flow, role);
        }
        let (tracker, rest) = (&mut self.trackers[number as usize], &mut self.rest[number as usize]);
        let data = tracker.on_event(rest, event, &self.job.times);
        if tracker.packets_left == 0 {
            self.end(flow, role);
        }
        if let Some((arrival, kind)) = data {
            self.await_ack(flow, event.at, &arrival, kind);
        }
    }

    /// Notes a data segment where its ACKs are followed.
    #[inline]
    fn await_ack(&mut self, flow: usize, at: u16, arrival: &Arrival, kind: Kind) {
        let mut number = self.live[flow][ACKS];
        if number == DONE {
            return;
        }
        if number == NONE {
            // Those of other points may be followed in another group of files.
            if !shares_a_point(&self.job.selection.flows[flow]) {
                return;
            }
            number = self.begin(flow, ACKS);
        }
        if let Role::Acks(acks) = &mut self.trackers[number as usize].role {
            acks.trips.on_data(arrival, kind, at, self.most_waiting);
        }
    }

    #[cold]
    fn begin(&mut self, flow: usize, role: usize) -> u32 {
        let (tracker, rest) = begin(self.job, flow, direction_of(self.job, flow, role));
        let number = if let Some(number) = self.free.pop() {
            self.trackers[number as usize] = tracker;
            self.rest[number as usize] = rest;
            number
        } else {
            self.trackers.push(tracker);
            self.rest.push(rest);
            self.trackers.len() as u32 - 1
        };
        self.live[flow][role] = number;
        number
    }

    #[cold]
    fn end(&mut self, flow: usize, role: usize) {
        let number = std::mem::replace(&mut self.live[flow][role], DONE);
        let tracker = &mut self.trackers[number as usize];
        let measured = tracker.finish(std::mem::take(&mut self.rest[number as usize]));
        self.done.push((flow, direction_of(self.job, flow, role), measured));
        self.free.push(number);
    }

    fn finish(mut self) -> Results {
        for flow in 0..self.live.len() {
            for role in [DATA, ACKS] {
                if !matches!(self.live[flow][role], NONE | DONE) {
                    self.end(flow, role);
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
    /// It acknowledges them.
    Acks(Acks),
}

/// How data are acknowledged, with sums of the interval under way.
#[derive(Default)]
struct Acks {
    trips: RoundTrips,
    bin: u32,
    samples: u32,
    rtt_ns: u64,
    bytes: u64,
}

/// What few packets of a direction need.
#[derive(Default)]
struct Rest {
    disorder: Disorder,
    /// In each interval; empty until there is one.
    retransmissions: Vec<u32>,
    reordered: Vec<u32>,
    bins: usize,
    implausible: u64,
    rtts: Histogram,
    /// In each interval: bytes acknowledged, and sum and number of the round-trip times.
    acked_series: Vec<u64>,
    rtt_series: Vec<(u64, u32)>,
    /// Of MPTCP.
    data: Option<Box<DataAcks>>,
}

/// What a direction's data ACKs say: the first one, the highest at the window's ends, and that at the end of each
/// interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataAcks {
    acked: DataAcked,
    pub first: Option<u64>,
    pub at_start: Option<u64>,
    pub at_end: Option<u64>,
    pub series: Vec<u64>,
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
            rest.data = Some(Box::new(DataAcks { series: vec![0; rest.bins], ..DataAcks::default() }));
        }
        rest.acked_series = vec![0; rest.bins];
        Role::Acks(Acks::default())
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
    /// Takes note of a packet; gives back a data segment, and what it is.
    #[inline]
    fn on_event(&mut self, rest: &mut Rest, event: &Event, times: &Times) -> Option<(Arrival, Kind)> {
        self.packets_left = self.packets_left.saturating_sub(1);
        let bin = event.bin.saturating_sub(self.first_bin);
        let mut data = None;
        if event.payload > 0
            && let Role::Data(sequence) = &mut self.role
        {
            let is_syn = u32::from(event.flags & SYN != 0);
            let arrival = Arrival {
                // The SYN has the number before that of the first byte.
                seq: event.seq.wrapping_add(is_syn),
                payload: event.payload,
                time_ns: event.time_ns,
                timestamp: event.timestamps.map(|timestamps| timestamps.value),
            };
            let kind = sequence.on_data(&mut rest.disorder, &arrival);
            rest.count(kind, bin);
            data = Some((arrival, kind));
        }
        if event.flags & (ACK | RST) == ACK {
            self.on_ack(rest, event, bin, times);
        }
        data
    }

    #[inline]
    fn on_ack(&mut self, rest: &mut Rest, event: &Event, bin: usize, times: &Times) {
        match self.acked.on_ack(event.ack) {
            Some(bytes) => {
                self.acked_bytes += bytes;
                if event.time_ns > times.start_ns && event.time_ns <= times.end_ns {
                    self.window_acked += bytes;
                }
                if let Role::Acks(acks) = &mut self.role
                    && bytes > 0
                {
                    let arrival = AckArrival {
                        ack: self.acked.of_data(event.ack),
                        timestamps: event.timestamps,
                        time_ns: event.time_ns,
                        point: event.at,
                    };
                    acks.on_ack(rest, &arrival, bytes, bin);
                }
            }
            None => rest.implausible += 1,
        }
        if let Some(number) = event.data_ack {
            rest.data.get_or_insert_default().on_data_ack(number, event.time_ns, bin, times);
        }
    }

    /// What was measured, when no more comes.
    fn finish(&mut self, mut rest: Rest) -> Measured {
        let mut measured = Measured {
            retransmissions: std::mem::take(&mut rest.retransmissions),
            reordered: std::mem::take(&mut rest.reordered),
            acked: self.acked_bytes,
            window_acked: self.window_acked,
            implausible: rest.implausible,
            data_acks: rest.data.take(),
            ..Measured::default()
        };
        match &mut self.role {
            Role::Data(sequence) => measured.data = sequence.finish(&rest.disorder),
            Role::Acks(acks) => {
                acks.close_bin(&mut rest);
                measured.acked_series = rest.acked_series;
                (measured.rtts, measured.rtt_series) = (rest.rtts, rest.rtt_series);
            }
        }
        measured.implausible += measured.data.implausible;
        measured
    }
}

impl Acks {
    /// An ACK of so many new bytes.
    #[inline]
    fn on_ack(&mut self, rest: &mut Rest, arrival: &AckArrival, bytes: u64, bin: usize) {
        if bin != self.bin as usize {
            self.close_bin(rest);
            self.bin = bin as u32;
        }
        self.bytes += bytes;
        if let Some(rtt_ns) = self.trips.on_ack(arrival) {
            self.samples += 1;
            self.rtt_ns += rtt_ns;
            rest.rtts.record(rtt_ns);
        }
    }

    #[cold]
    fn close_bin(&mut self, rest: &mut Rest) {
        let bin = self.bin as usize;
        if let Some(sum) = rest.acked_series.get_mut(bin) {
            *sum += self.bytes;
        }
        if self.samples > 0 && bin < rest.bins {
            rest.rtt_series.resize(rest.bins, (0, 0));
            let (sum_ns, samples) = &mut rest.rtt_series[bin];
            *sum_ns += self.rtt_ns;
            *samples += self.samples;
        }
        (self.bytes, self.samples, self.rtt_ns) = (0, 0, 0);
    }
}

impl Rest {
    /// Counts a data segment in its interval, if it is out of order.
    #[inline]
    fn count(&mut self, kind: Kind, bin: usize) {
        let counts = match kind {
            Kind::New | Kind::Implausible => return,
            Kind::Reordered => &mut self.reordered,
            Kind::Retransmission => &mut self.retransmissions,
        };
        counts.resize(self.bins, 0);
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
}

impl DataAcks {
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

/// The direction with this role.
fn direction_of(job: &Job<'_>, flow: usize, role: usize) -> usize {
    job.data_direction[flow] ^ role
}

/// Whether data and ACKs are read at a point in common.
fn shares_a_point(flow: &Flow) -> bool {
    let [first, second] = &flow.directions;
    first.points.iter().any(|point| second.points.contains(point))
}

/// From the SYN to the ACK of the SYN/ACK, both of which the client sends, so that this is the whole
/// round trip wherever the capture point is; None if there were several SYNs.
pub(crate) fn handshake_rtt_ns(flow: &Flow) -> Option<u64> {
    let client = &flow.directions[flow.client];
    let seen = client.syns == 1 && client.established_ns != NEVER;
    seen.then(|| client.established_ns.saturating_sub(client.syn_ns))
}
