//! Round-trip times of data segments: from a segment to the ACK of its last byte, at one capture point.

use crate::options::Timestamps;
use crate::sequence::{Arrival, Kind};
use anabranch_units::Histogram;
use std::mem::take;

/// Round-trip times in ns, 64 steps to each doubling: their quantiles are within 1/128, 0.8 %.
pub(crate) type RttHistogram = Histogram<6>;

/// Segments that wait for their ACKs in all flows together (24 bytes each), and the fewest and most for one.
const WAITING_OF_ALL: usize = 1 << 22;
const FEWEST_WAITING: usize = 16;
const MOST_WAITING: usize = 1 << 16;

/// The number of a capture point among those where a direction's data are read; this one is none of them.
pub(crate) const OTHER_POINT: u16 = u16::MAX;

/// How often a segment was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sent {
    Once,
    /// More than once, the last time with a timestamp of its own.
    Again,
    /// More than once, or a part of it or of what is before it came late: nothing tells of what its ACK is.
    Unclear,
}

/// A segment that waits for its ACK.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Of its last transmission, as the timestamp.
    time_ns: u64,
    timestamp: Option<u32>,
    /// The number after its last byte.
    end: u32,
    sent: Sent,
}

/// Segments that wait, in the order of their numbers: a queue whose memory can be asked for while it is empty.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// A power of two of them, or none.
    slots: Box<[Waiting]>,
    head: u32,
    count: u32,
}

impl Queue {
    #[inline]
    fn place(&self, index: u32) -> usize {
        self.head.wrapping_add(index) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn front(&self) -> Option<Waiting> {
        if self.count == 0 { None } else { Some(self.slots[self.place(0)]) }
    }

    #[inline]
    fn pop(&mut self) {
        self.head = self.head.wrapping_add(1);
        self.count -= 1;
    }

    #[inline]
    fn push(&mut self, waiting: Waiting) {
        if self.count as usize == self.slots.len() {
            self.grow(waiting);
        }
        let place = self.place(self.count);
        self.slots[place] = waiting;
        self.count += 1;
    }

    #[cold]
    fn grow(&mut self, filler: Waiting) {
        let head = if self.slots.is_empty() { 0 } else { self.place(0) };
        let mut slots = Vec::with_capacity((2 * self.slots.len()).max(2));
        slots.extend_from_slice(&self.slots[head..]);
        slots.extend_from_slice(&self.slots[..head]);
        slots.resize(slots.capacity(), filler);
        (self.slots, self.head) = (slots.into_boxed_slice(), 0);
    }

    /// The first one with a number after its end that is behind this one.
    fn first_behind(&self, seq: u32) -> u32 {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = from + (to - from) / 2;
            if is_behind(self.slots[self.place(middle)].end, seq) { to = middle } else { from = middle + 1 }
        }
        from
    }
}

/// Follows one direction's data and their ACKs.
///
/// A segment gives a sample where an ACK for the first time acknowledges its last byte, and no byte behind it.
/// None where the ACK covers anything that was sent twice or came late, since it may be of either transmission
/// (Karn's rule, RFC 6298 section 3), unless its timestamp is the one of the last transmission and of no
/// earlier one (RFC 7323 section 4.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrips {
    waiting: Queue,
    /// Sum in ns and number of the samples since they were taken.
    sum_ns: u64,
    samples: u32,
    /// Where the waiting segments were captured: clocks of different points are not compared.
    point: u16,
    /// Whether there is no point that sees both directions.
    is_closed: bool,
}

/// An ACK that acknowledges something new.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckArrival {
    /// What it acknowledges, a FIN not counted.
    pub ack: u32,
    pub timestamps: Option<Timestamps>,
    pub time_ns: u64,
    pub point: u16,
}

/// Most segments of a flow that wait at once, among so many flows.
pub(crate) fn most_waiting(flows: usize) -> u32 {
    (WAITING_OF_ALL / flows.max(1)).clamp(FEWEST_WAITING, MOST_WAITING) as u32
}

impl RoundTrips {
    /// `shares_a_point`: both directions are read at a point, and together.
    pub(crate) fn new(shares_a_point: bool) -> Self {
        Self { is_closed: !shares_a_point, ..Self::default() }
    }

    /// Sum in ns and number of the samples since the last call.
    pub(crate) fn take_sum(&mut self) -> (u64, u32) {
        (take(&mut self.sum_ns), take(&mut self.samples))
    }

    /// Something of where the next segment goes, or the first one waits.
    #[inline]
    pub(crate) fn next_slot(&self) -> u64 {
        let slots = &self.waiting.slots;
        if slots.is_empty() { 0 } else { slots[self.waiting.place(0)].time_ns }
    }

    /// A data segment at a capture point; so many may wait at most.
    #[inline]
    pub(crate) fn on_data(&mut self, arrival: &Arrival, kind: Kind, point: u16, most: u32) {
        if self.is_closed {
            return;
        }
        if point != self.point {
            self.waiting.count = 0;
            self.point = point;
        }
        let end = arrival.seq.wrapping_add(arrival.payload);
        match kind {
            // More would give no more than further samples of the same time.
            Kind::New if self.waiting.count >= most => {}
            Kind::New => self.waiting.push(Waiting {
                time_ns: arrival.time_ns,
                timestamp: arrival.timestamp,
                end,
                sent: Sent::Once,
            }),
            Kind::Reordered | Kind::Retransmission => self.late(arrival, end, kind),
            Kind::Implausible => self.waiting.count = 0,
        }
    }

    /// Marks what a late segment touches, and what follows the hole that it fills: an ACK that covers it covers
    /// one of these, or ends with none.
    #[cold]
    fn late(&mut self, arrival: &Arrival, end: u32, kind: Kind) {
        for index in self.waiting.first_behind(arrival.seq)..self.waiting.count {
            let place = self.waiting.place(index);
            let waiting = &mut self.waiting.slots[place];
            let clear = match (waiting.timestamp, arrival.timestamp) {
                (Some(before), Some(now)) if waiting.end == end && kind == Kind::Retransmission => {
                    is_behind(now, before)
                }
                _ => false,
            };
            if clear {
                waiting.time_ns = arrival.time_ns;
                waiting.timestamp = arrival.timestamp;
            }
            waiting.sent = if clear { Sent::Again } else { Sent::Unclear };
            if !is_behind(end, waiting.end) {
                break;
            }
        }
    }

    /// An ACK that acknowledges something new: the round-trip time in ns that it shows.
    #[inline]
    pub(crate) fn on_ack(&mut self, arrival: &AckArrival) -> Option<u64> {
        let rtt_ns = self.sample(arrival)?;
        self.sum_ns += rtt_ns;
        self.samples += 1;
        Some(rtt_ns)
    }

    #[inline]
    fn sample(&mut self, arrival: &AckArrival) -> Option<u64> {
        if arrival.point != self.point || arrival.point == OTHER_POINT {
            return None;
        }
        let mut last = None;
        while let Some(waiting) = self.waiting.front()
            && !is_behind(waiting.end, arrival.ack)
        {
            if waiting.sent != Sent::Once {
                return self.told(arrival);
            }
            last = Some(waiting);
            self.waiting.pop();
        }
        let waiting = last.filter(|waiting| waiting.end == arrival.ack)?;
        Some(arrival.time_ns.saturating_sub(waiting.time_ns))
    }

    /// An ACK that covers what was sent again: a sample if its timestamp is that of one transmission alone.
    #[cold]
    fn told(&mut self, arrival: &AckArrival) -> Option<u64> {
        let echo = arrival.timestamps.map(|timestamps| timestamps.echo);
        let mut candidates = (0, 0);
        while let Some(waiting) = self.waiting.front()
            && !is_behind(waiting.end, arrival.ack)
        {
            if waiting.sent == Sent::Again && waiting.timestamp == echo {
                candidates = (candidates.0 + 1, waiting.time_ns);
            }
            self.waiting.pop();
        }
        let (count, time_ns) = candidates;
        (count == 1).then(|| arrival.time_ns.saturating_sub(time_ns))
    }
}

/// Whether a number is behind another in their circle (RFC 9293 section 3.4).
#[inline]
fn is_behind(number: u32, other: u32) -> bool {
    number.wrapping_sub(other).cast_signed() > 0
}
