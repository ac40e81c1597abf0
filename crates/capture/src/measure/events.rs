//! Files as events: what of their segments counts, in its order.

use super::{Job, Trackers};
use crate::batch::{Batch, Held};
use crate::error::FileProblem;
use crate::flow::{FlowTable, Known, MOST_FLOWS};
use crate::format::Reader;
use crate::input::{Reading, Stream};
use crate::options::{self, Timestamps};
use crate::packet::{ACK, Dissected, FIN, RST, SYN};
use crate::round_trips::OTHER_POINT;
use crate::select::PointId;
use crate::survey::{MOST_POINTS, PACKETS_PER_REPORT, Points, wanted};
use std::path::Path;

/// Roles of a flow's directions: that of its connection's data, and the other one, which has their ACKs.
pub(crate) const DATA: usize = 0;
pub(crate) const ACKS: usize = 1;

/// Of a segment, what is measured.
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub time_ns: u64,
    /// The interval that this is in.
    pub bin: usize,
    /// The flow, and whether this is the direction of its data or of its ACKs: [`DATA`] or [`ACKS`].
    pub flow: u32,
    pub role: u8,
    /// Those of TCP that open, end and acknowledge, and [`WINDOW_CLOSED`].
    pub flags: u8,
    pub seq: u32,
    pub ack: u32,
    pub payload: u32,
    pub timestamps: Option<Timestamps>,
    pub data_ack: Option<options::DataNumber>,
    /// The capture point among those where the flow's data are read.
    pub at: u16,
}

// One line of the cache.
const _: () = assert!(size_of::<Event>() == 64);

/// In the place of a flag that nobody asks for: a window of zero is advertised.
pub(super) const WINDOW_CLOSED: u8 = 0x80;
const KEPT_FLAGS: u8 = FIN | SYN | RST | ACK;

/// No flow of the survey.
const UNKNOWN: u32 = u32::MAX;
/// Not read in this file.
const NOWHERE: u16 = u16::MAX;
/// Read at several points of this file.
const SEVERAL: u16 = u16::MAX - 1;

/// Where a flow of a file is read.
struct Place {
    /// Number among all flows; [`UNKNOWN`] if the survey has not found it.
    flow: u32,
    /// By direction: the point, [`NOWHERE`] or [`SEVERAL`].
    points: [u16; 2],
    /// The same points among those of the flow's data.
    at: [u16; 2],
    /// The direction of its data.
    data_direction: u8,
}

// With the ends of the flow one line of the cache.
const _: () = assert!(size_of::<Known<Place>>() == 64 && MOST_POINTS < SEVERAL as usize);

/// A file of the second pass.
pub(super) struct FileReader<'a> {
    path: &'a Path,
    reader: Reader<Stream>,
    reading: Reading,
    table: FlowTable<Place>,
    points: Points,
    job: &'a Job<'a>,
    file: u32,
    /// What is added to its times.
    later_ns: i64,
    packets_left: u64,
    /// Whether some of its segments are left out, being copies of others.
    has_copies: bool,
    reported: u64,
    batch: Batch,
    /// What counts of the batch, and how much of it has been given out.
    pub(super) events: Vec<Event>,
    given: usize,
}

impl<'a> FileReader<'a> {
    pub(super) fn open(job: &'a Job<'a>, file: usize) -> Result<Self, FileProblem> {
        let input = &job.inputs[file];
        let (reader, reading) = input.open()?;
        Ok(Self {
            path: input.name(),
            reader,
            reading,
            table: FlowTable::new(MOST_FLOWS),
            points: Points::default(),
            job,
            file: file as u32,
            later_ns: job.later_ns[file],
            packets_left: job.packets[file],
            has_copies: job.copies[file].count() > 0,
            reported: 0,
            batch: Batch::new(job.batch),
            events: Vec::new(),
            given: 0,
        })
    }

    /// The next segment that counts; None at the end, or if asked to stop.
    #[inline]
    pub(super) fn next(&mut self, trackers: &Trackers<'_>) -> Result<Option<Event>, FileProblem> {
        if self.given == self.events.len() {
            self.read_batch()?;
            trackers.look_ahead(&self.events);
        }
        let event = self.events.get(self.given).copied();
        self.given += usize::from(event.is_some());
        Ok(event)
    }

    /// Reads until there are events, or nothing is left.
    pub(super) fn read_batch(&mut self) -> Result<(), FileProblem> {
        self.events.clear();
        self.given = 0;
        while self.events.is_empty() && self.packets_left > 0 {
            let until_report = (self.packets_left - 1) % PACKETS_PER_REPORT + 1;
            let ports = self.job.ports;
            let keep =
                |packet: &Dissected<'_>| matches!(packet, Dissected::Tcp(segment) if wanted(ports, segment));
            let read = self.batch.fill(&mut self.reader, until_report, |_, packet, _| keep(packet));
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
        let flow_number = self.table.locate(segment, |number| place(job, file, number))?;
        // Copies are located as in the survey, so that flows have the same numbers.
        if self.has_copies && job.copies[file as usize].contains(self.batch.number(index)) {
            return None;
        }
        let point = self.points.number(segment.interface, segment.view);
        let Place { flow, points, at: data_points, data_direction } = &self.table.flow(flow_number).state;
        // A file that changed since may have flows that were not there.
        if *flow == UNKNOWN {
            return None;
        }
        let at = points[usize::from(segment.direction)];
        if u32::from(at) != point
            && (at != SEVERAL || !is_read_at(job, *flow, segment, PointId { file, point }))
        {
            return None;
        }
        let data_points = data_points[usize::from(segment.direction)];
        let time_ns = segment.time_ns.saturating_add_signed(self.later_ns);
        Some(Event {
            time_ns,
            bin: job.times.bin(time_ns),
            flow: *flow,
            role: u8::from(segment.direction != *data_direction),
            flags: segment.flags & KEPT_FLAGS | if segment.window == 0 { WINDOW_CLOSED } else { 0 },
            seq: segment.seq,
            ack: segment.ack,
            payload: segment.payload,
            timestamps: segment.timestamps,
            data_ack: self.batch.multipath(segment).and_then(|options| options.data_ack),
            at: if at == SEVERAL { data_point(job, *flow, PointId { file, point }) } else { data_points },
        })
    }

    fn report(&mut self) -> bool {
        let total = self.reading.bytes();
        let read = total - self.reported;
        self.reported = total;
        self.job.meter.advance(read)
    }
}

/// Where a file's flow with this number is read.
fn place(job: &Job<'_>, file: u32, number: usize) -> Place {
    let Some(&flow) = job.selection.of_file[file as usize].get(number) else {
        return Place { flow: UNKNOWN, points: [NOWHERE; 2], at: [OTHER_POINT; 2], data_direction: 0 };
    };
    let points = [0, 1].map(|direction| {
        if job.selection.repeated.contains(&(file as usize, number, direction)) {
            return NOWHERE;
        }
        let points = &job.selection.flows[flow as usize].directions[direction].points;
        let mut here = points.iter().filter(|point| point.file == file);
        match (here.next(), here.next()) {
            (None, _) => NOWHERE,
            (Some(only), None) => only.point as u16,
            (Some(_), Some(_)) => SEVERAL,
        }
    });
    let at = points.map(|point| match point {
        NOWHERE | SEVERAL => OTHER_POINT,
        point => data_point(job, flow, PointId { file, point: u32::from(point) }),
    });
    Place { flow, points, at, data_direction: job.data_direction[flow as usize] as u8 }
}

/// The number of a point among those where a flow's data are read.
#[cold]
fn data_point(job: &Job<'_>, flow: u32, point: PointId) -> u16 {
    let flow = flow as usize;
    let points = &job.selection.flows[flow].directions[job.data_direction[flow]].points;
    let number = points.iter().position(|candidate| *candidate == point);
    number.and_then(|number| u16::try_from(number).ok()).unwrap_or(OTHER_POINT)
}

#[cold]
fn is_read_at(job: &Job<'_>, flow: u32, segment: &Held, point: PointId) -> bool {
    let direction = &job.selection.flows[flow as usize].directions[usize::from(segment.direction)];
    direction.points.contains(&point)
}
