//! One direction's data at a capture point: what is new, what was there before, what came late.

use crate::measure::handshake_rtt_ns;
use crate::select::Flow;
use std::collections::VecDeque;

/// Holes in the sequence space that are remembered for all flows together (56 bytes each), and the fewest and
/// most for one of them.
const GAPS_OF_ALL: usize = 1 << 22;
const FEWEST_GAPS: usize = 16;
const MOST_GAPS: usize = 4096;
/// The largest window (RFC 7323 section 2.3): a number further ahead is not of this connection.
const LARGEST_WINDOW: i64 = 1 << 30;
/// So many implausible numbers in a row are believed: the capture has a hole of more than a window.
const BELIEVED_AFTER: u8 = 8;
/// The slowest clock of timestamps in use: Linux before 4.13 with 100 ticks a second.
const SLOWEST_TICK_NS: u64 = 10_000_000;
/// Earlier arrivals that n-reordering with n = 3 looks at: three duplicate ACKs begin a fast retransmit.
const N: usize = 3;

/// Unwraps 32-bit sequence numbers into positions in the stream.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Unwrapper {
    /// The position after everything seen, and its number.
    next: i64,
    next_seq: u32,
    strikes: u8,
    begun: bool,
}

impl Unwrapper {
    /// Position 0 is this number.
    pub(crate) fn begin(&mut self, seq: u32) {
        *self = Self { next: 0, next_seq: seq, strikes: 0, begun: true };
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// The position of a number; None if it is more than a window ahead.
    #[inline]
    pub(crate) fn position(&mut self, seq: u32) -> Option<i64> {
        if !self.begun {
            self.begin(seq);
        }
        let ahead = i64::from(seq.wrapping_sub(self.next_seq).cast_signed());
        if !(-LARGEST_WINDOW..=LARGEST_WINDOW).contains(&ahead) {
            self.strikes += 1;
            if self.strikes < BELIEVED_AFTER {
                return None;
            }
            self.next_seq = seq;
            self.strikes = 0;
            return Some(self.next);
        }
        self.strikes = 0;
        Some(self.next + ahead)
    }

    /// Whether a number is the one after everything seen; then it is taken note of.
    #[inline]
    pub(crate) fn is_next(&mut self, seq: u32) -> bool {
        let is_next = self.begun && seq == self.next_seq;
        if is_next {
            self.strikes = 0;
        }
        is_next
    }

    /// Moves on to a position ahead.
    #[inline]
    pub(crate) fn advance(&mut self, position: i64) {
        if position > self.next {
            self.next_seq = self.next_seq.wrapping_add((position - self.next) as u32);
            self.next = position;
        }
    }

    pub(crate) fn next(&self) -> i64 {
        self.next
    }
}

/// A hole: bytes that were overtaken and have not been seen.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: i64,
    end: i64,
    /// The packet that arrived ahead: its index among the arrivals, its time, and its sender's clock.
    arrival: u64,
    time_ns: u64,
    timestamp: Option<u32>,
}

/// A data segment at the capture point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub seq: u32,
    pub payload: u32,
    pub time_ns: u64,
    pub timestamp: Option<u32>,
}

/// What a data segment is, at the capture point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// It begins at or behind the end of what was seen.
    New,
    Reordered,
    Retransmission,
    /// With a number of no window.
    Implausible,
}

/// What was counted of one direction's data.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct DataCounts {
    /// Data segments.
    pub packets: u64,
    pub payload: u64,
    pub retransmissions: u64,
    pub retransmitted_bytes: u64,
    /// Reordered packets (RFC 4737 section 3), and their extents (section 4.2).
    pub reordered: u64,
    pub extent_sum: u64,
    pub extent_max: u64,
    /// Of these, n-reordered with n = 3 (section 5).
    pub three_reordered: u64,
    /// Bytes that were never seen, though later ones were.
    pub missing: u64,
    /// Segments with numbers of no window.
    pub implausible: u64,
    /// Holes that were forgotten for want of room.
    pub forgotten: u64,
}

/// Follows one direction's data: what every segment needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequence {
    unwrapper: Unwrapper,
    /// The numbers of the last arrivals.
    recent: [u32; N],
    packets: u64,
    payload: u64,
}

/// What only segments out of order need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disorder {
    /// In ascending order.
    gaps: VecDeque<Gap>,
    most_gaps: usize,
    /// Round-trip time that the handshake showed, in ns; 0 if it was not seen.
    rtt_ns: u64,
    /// The position of a new byte that was sent to probe a window of zero.
    probed: Option<i64>,
    counts: DataCounts,
}

impl Sequence {
    /// `isn`: the initial sequence number, if known.
    pub(crate) fn new(isn: Option<u32>) -> Self {
        let mut sequence = Self::default();
        if let Some(isn) = isn {
            sequence.unwrapper.begin(isn.wrapping_add(1));
        }
        sequence
    }

    /// Segments so far.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Their bytes.
    pub(crate) fn payload(&self) -> u64 {
        self.payload
    }

    /// The number after everything seen, once there is any.
    #[inline]
    pub(crate) fn next_seq(&self) -> Option<u32> {
        self.unwrapper.has_begun().then_some(self.unwrapper.next_seq)
    }

    /// The number of the last arrival, if there was one.
    pub(crate) fn last_arrival(&self) -> Option<u32> {
        let last = self.packets.checked_sub(1)?;
        Some(self.recent[(last % N as u64) as usize])
    }

    /// Counts a data segment; `disorder` is asked for if it is out of order.
    #[inline]
    pub(crate) fn on_data<'a>(
        &mut self,
        disorder: impl FnOnce() -> &'a mut Disorder,
        arrival: &Arrival,
    ) -> Kind {
        let Some(start) = self.unwrapper.position(arrival.seq) else {
            disorder().counts.implausible += 1;
            return Kind::Implausible;
        };
        let end = start + i64::from(arrival.payload);
        let next = self.unwrapper.next();
        let mut kind = Kind::New;
        if start > next {
            let disorder = disorder();
            // A byte that was taken of a probe is not sent again.
            let next = next + i64::from(disorder.probed == Some(next));
            if start > next {
                disorder.open_gap(next, start, arrival, self.packets);
            }
        } else if start < next {
            kind = self.late(disorder(), start, end, arrival);
        }
        self.unwrapper.advance(end);
        self.recent[(self.packets % N as u64) as usize] = arrival.seq;
        self.packets += 1;
        self.payload += u64::from(arrival.payload);
        kind
    }

    /// Takes note of a new byte that was sent to probe a window of zero: it is sent again if it was not taken.
    #[cold]
    pub(crate) fn on_probe(&mut self, disorder: &mut Disorder) {
        disorder.probed = Some(self.unwrapper.next());
    }

    /// A segment that begins before the end of what was seen.
    #[cold]
    fn late(&self, disorder: &mut Disorder, start: i64, end: i64, arrival: &Arrival) -> Kind {
        let next = self.unwrapper.next();
        let first = disorder.fill(start, end.min(next));
        let overtaken = first.filter(|gap| disorder.was_overtaken(gap, arrival));
        let counts = &mut disorder.counts;
        if let Some(gap) = overtaken {
            counts.reordered += 1;
            let extent = self.packets - gap.arrival;
            counts.extent_sum += extent;
            counts.extent_max = counts.extent_max.max(extent);
            let all_larger = self.recent.iter().all(|&seq| seq.wrapping_sub(arrival.seq).cast_signed() > 0);
            counts.three_reordered += u64::from(self.packets >= N as u64 && all_larger);
            return Kind::Reordered;
        }
        let beyond = (end - next).max(0) as u64;
        counts.retransmissions += 1;
        counts.retransmitted_bytes += u64::from(arrival.payload) - beyond;
        Kind::Retransmission
    }
}

impl Disorder {
    /// Of one of these flows.
    pub(crate) fn new(flows: &[Flow], flow: u32) -> Self {
        let most_gaps = (GAPS_OF_ALL / flows.len()).clamp(FEWEST_GAPS, MOST_GAPS);
        let rtt_ns = handshake_rtt_ns(&flows[flow as usize]).unwrap_or(0);
        Self { rtt_ns, most_gaps, ..Self::default() }
    }

    /// Everything that was counted, when no more comes.
    pub(crate) fn finish(self) -> DataCounts {
        let open = self.gaps.iter().map(|gap| (gap.end - gap.start) as u64).sum::<u64>();
        DataCounts { missing: self.counts.missing + open, ..self.counts }
    }

    /// `packets`: segments before this one.
    #[cold]
    fn open_gap(&mut self, start: i64, end: i64, arrival: &Arrival, packets: u64) {
        if self.gaps.len() >= self.most_gaps
            && let Some(forgotten) = self.gaps.pop_front()
        {
            self.counts.missing += (forgotten.end - forgotten.start) as u64;
            self.counts.forgotten += 1;
        }
        self.gaps.push_back(Gap {
            start,
            end,
            arrival: packets,
            time_ns: arrival.time_ns,
            timestamp: arrival.timestamp,
        });
    }

    /// Takes what a segment covers out of the gaps; gives the first gap that it touched.
    fn fill(&mut self, start: i64, end: i64) -> Option<Gap> {
        let mut index = self.gaps.partition_point(|gap| gap.end <= start);
        let first = self.gaps.get(index).copied().filter(|gap| gap.start < end);
        while let Some(gap) = self.gaps.get(index).copied().filter(|gap| gap.start < end) {
            let (from, to) = (gap.start.max(start), gap.end.min(end));
            match (from > gap.start, to < gap.end) {
                (false, false) => {
                    self.gaps.remove(index);
                    continue;
                }
                (true, false) => self.gaps[index].end = from,
                (false, true) => self.gaps[index].start = to,
                (true, true) => {
                    self.gaps[index].end = from;
                    self.gaps.insert(index + 1, Gap { start: to, ..gap });
                }
            }
            index += 1;
        }
        first
    }

    /// Whether a segment that fills a gap was sent before the one that opened it, and not sent again
    /// after it. By the sender's clock where there is one: what is sent again has a later timestamp
    /// (RFC 7323 section 3.2), where a round trip is longer than a tick of the clock. If it is not, and
    /// without timestamps, by time: nothing that the overtaking segment brought about can be here before a
    /// round trip has passed.
    fn was_overtaken(&self, gap: &Gap, arrival: &Arrival) -> bool {
        let elapsed = arrival.time_ns.saturating_sub(gap.time_ns);
        match (gap.timestamp, arrival.timestamp) {
            (Some(opener), Some(this)) => {
                let later = this.wrapping_sub(opener).cast_signed();
                let clear = self.rtt_ns == 0 || self.rtt_ns >= SLOWEST_TICK_NS;
                later < 0 || (later == 0 && (clear || elapsed < self.rtt_ns))
            }
            _ => elapsed < self.rtt_ns,
        }
    }
}

/// Follows what one direction's acknowledgments say of the other's data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acked {
    unwrapper: Unwrapper,
    /// The number after the FIN of the data, which is no byte of them, if that is known.
    fin_end: u32,
    has_fin_end: bool,
    /// Whether the last acknowledgment closed the window for data.
    pub is_window_closed: bool,
}

impl Acked {
    /// Of data with this initial sequence number, if known; else the first acknowledgment is the start.
    pub(crate) fn new(isn: Option<u32>, fin_end: Option<u32>) -> Self {
        let (has_fin_end, fin_end) = (fin_end.is_some(), fin_end.unwrap_or(0));
        let mut acked = Self { fin_end, has_fin_end, ..Self::default() };
        if let Some(isn) = isn {
            acked.unwrapper.begin(isn.wrapping_add(1));
        }
        acked
    }

    /// Bytes acknowledged so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.unwrapper.next() as u64
    }

    /// The number after everything acknowledged, once there is any.
    #[inline]
    pub(crate) fn next_seq(&self) -> Option<u32> {
        self.unwrapper.has_begun().then_some(self.unwrapper.next_seq)
    }

    /// A number of an acknowledgment without the FIN, if it has that.
    #[inline]
    pub(crate) fn of_data(&self, ack: u32) -> u32 {
        if self.has_fin_end && self.fin_end == ack { ack.wrapping_sub(1) } else { ack }
    }

    /// Bytes newly acknowledged by this number; None if it is of no window.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: u32) -> Option<u64> {
        let ack = self.of_data(ack);
        if self.unwrapper.is_next(ack) {
            return Some(0);
        }
        let before = if self.unwrapper.has_begun() { self.unwrapper.next() } else { 0 };
        let position = self.unwrapper.position(ack)?;
        self.unwrapper.advance(position);
        Some((self.unwrapper.next() - before) as u64)
    }
}

/// Follows data ACKs (RFC 8684 section 3.3.2), 4 or 8 bytes of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataAcked {
    highest: Option<u64>,
}

impl DataAcked {
    /// The highest data ACK so far, if there was one.
    #[inline]
    pub(crate) fn highest(&self) -> Option<u64> {
        self.highest
    }

    /// The highest data ACK so far, with this one.
    #[inline]
    pub(crate) fn on_data_ack(&mut self, value: u64, whole: bool) -> u64 {
        let highest = match self.highest {
            None => value,
            Some(highest) => {
                let step = if whole {
                    value.wrapping_sub(highest).cast_signed()
                } else {
                    i64::from((value as u32).wrapping_sub(highest as u32).cast_signed())
                };
                // A whole number after halves brings the upper half.
                if whole && highest >> 32 == 0 && value >> 32 != 0 {
                    value
                } else {
                    highest.wrapping_add_signed(step.max(0))
                }
            }
        };
        self.highest = Some(highest);
        highest
    }
}
