//! Packet trimming (UEC Specification 1.0.3, section 4.1): a data packet that finds no room is cut to its headers, which
//! go ahead of all data, so that the receiver hears of it at once.
//!
//! Two queues stand in front of the link. Headers (answers, probes, what was trimmed) leave first; they have room of their
//! own, beyond which they are lost. Data have the room of the queue. When they leave they are marked by chance, by the
//! data that wait behind them: not below a share of the room, always above another one, and in between in proportion.
//! A packet that cannot be trimmed, as those of TCP, is lost where it finds no room.

use super::{Buffer, DropCause, Limit, Packets, QueueContext, QueueDiscipline, Waiting};
use crate::packet::{PacketId, PacketPool};
use crate::random::Stream;
use anabranch_transport::spray::HEADERS;
use anabranch_units::Instant;
use anabranch_units::declaration::{OutOfRange, above, at_least};
use std::collections::VecDeque;

anabranch_units::parameters! {
    /// Packets of `spray` that find no room are cut to their headers, which go ahead (UEC packet trimming).
    #[derive(Copy)]
    pub struct TrimParameters {
        /// Cut payloads off; otherwise data that find no room are lost, and only marks and the priority of headers are left.
        cut: bool = true;
        /// Share of the room from which on data are marked by chance.
        mark_from: f64 = 0.2, at_least(0.0).at_most(1e6);
        /// Share of the room from which on all are; not below the other.
        mark_all_from: f64 = 0.8, at_least(0.0).at_most(1e6);
        /// Mark in front of the last link of a packet's way, too, where no other path helps.
        last_hop_marks: bool = true;
        /// Room of data in front of the last link of their way, in shares of the room.
        last_hop_room: f64 = 1.0, above(0.0).at_most(1000.0);
        /// Room of headers, in shares of the room.
        header_room: f64 = 2.0, above(0.0).at_most(1000.0);
        /// By chance, one in two, cut the youngest data packet that waits in place of the one that arrives.
        cut_waiting: bool = true;
    }
}

impl TrimParameters {
    /// Checks that there is a place for a header, and for data in front of a last link, where the limit has one for data.
    ///
    /// # Errors
    /// The first room that takes nothing.
    pub fn check_rooms(&self, limit: Limit) -> Result<(), OutOfRange> {
        let takes = |share: f64, bytes: u32| Room::of(limit, share).takes(&Fifo::default(), bytes);
        let of = |name, share: f64, bytes: u32, what: &str| {
            if takes(share, bytes) || !takes(1.0, bytes) {
                return Ok(());
            }
            let least = [
                limit.packets.map(|most| 1.0 / most as f64),
                limit.bytes.map(|most| f64::from(bytes) / most as f64),
            ];
            let least = least.into_iter().flatten().fold(0.0, f64::max);
            let problem = format!(
                "is {share}: of this limit that is no room for {what}; give {:.4} or more",
                (least * 1e4).ceil() / 1e4
            );
            Err(OutOfRange::new(name, problem))
        };
        of("header_room", self.header_room, HEADERS, "a header")?;
        of("last_hop_room", self.last_hop_room, SMALLEST_DATA, "data")
    }
}

/// The least that a data packet has: its headers and 64 bytes.
const SMALLEST_DATA: u32 = 2 * HEADERS;

/// How much there may be.
#[derive(Clone, Copy, Debug)]
struct Room {
    packets: f64,
    bytes: f64,
}

impl Room {
    fn of(limit: Limit, share: f64) -> Self {
        let of = |most: Option<u64>| most.map_or(f64::INFINITY, |most| most as f64 * share);
        Self { packets: of(limit.packets), bytes: of(limit.bytes) }
    }

    /// Whether one more packet of so many bytes has a place beside those that wait.
    fn takes(self, wait: &Fifo, bytes: u32) -> bool {
        wait.packets.len() as f64 + 1.0 <= self.packets
            && (wait.bytes + u64::from(bytes)) as f64 <= self.bytes
    }

    /// What part of it is taken.
    fn taken(self, wait: &Fifo) -> f64 {
        (wait.packets.len() as f64 / self.packets).max(wait.bytes as f64 / self.bytes)
    }
}

#[derive(Default, Debug)]
struct Fifo {
    packets: VecDeque<PacketId>,
    bytes: u64,
}

impl Fifo {
    fn push(&mut self, packet: PacketId, bytes: u32) {
        self.packets.push_back(packet);
        self.bytes += u64::from(bytes);
    }

    fn pop(&mut self, pool: &PacketPool) -> Option<Waiting> {
        let packet = self.packets.pop_front()?;
        let first = Waiting { since: pool.arrival(packet), packet, bytes: pool.get(packet).bytes };
        self.bytes -= u64::from(first.bytes);
        Some(first)
    }
}

/// Both queues.
#[derive(Debug)]
pub struct Trim {
    parameters: TrimParameters,
    room: Room,
    last_hop_room: Room,
    header_room: Room,
    data: Fifo,
    headers: Fifo,
    stream: Stream,
}

impl Trim {
    /// A header joins those that go ahead, or is lost.
    fn take_header(&mut self, buffer: &mut Buffer, packet: PacketId, packets: &mut impl Packets) {
        let bytes = packets.pool().get(packet).bytes;
        if self.header_room.takes(&self.headers, bytes) {
            self.headers.push(packet, bytes);
            buffer.count(u64::from(bytes));
        } else {
            packets.drop(packet, DropCause::Queue);
        }
    }

    /// A data packet arrives that finds no room.
    fn cut(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets) {
        if !self.parameters.cut {
            packets.drop(arrival.packet, DropCause::Queue);
            return;
        }
        let takes_place = self.parameters.cut_waiting && self.stream.uniform() >= 0.5;
        let youngest = self.data.packets.back().copied().filter(|_| takes_place);
        let youngest = youngest.filter(|&packet| {
            let bytes = packets.pool().get(packet).bytes;
            bytes >= arrival.bytes && packets.trim(packet) && {
                self.data.packets.pop_back();
                self.data.bytes -= u64::from(bytes);
                buffer.discount(1, u64::from(bytes));
                true
            }
        });
        if let Some(packet) = youngest {
            self.data.push(arrival.packet, arrival.bytes);
            buffer.count(u64::from(arrival.bytes));
            self.take_header(buffer, packet, packets);
        } else if packets.trim(arrival.packet) {
            self.take_header(buffer, arrival.packet, packets);
        } else {
            packets.drop(arrival.packet, DropCause::Queue);
        }
    }
}

impl QueueDiscipline for Trim {
    type Parameters = TrimParameters;

    fn new(parameters: &TrimParameters, place: &QueueContext<'_>) -> Self {
        Self {
            parameters: *parameters,
            room: Room::of(place.limit, 1.0),
            last_hop_room: Room::of(place.limit, parameters.last_hop_room),
            header_room: Room::of(place.limit, parameters.header_room),
            data: Fifo::default(),
            headers: Fifo::default(),
            stream: place.stream(),
        }
    }

    fn check_together(parameters: &TrimParameters) -> Result<(), OutOfRange> {
        if parameters.mark_from <= parameters.mark_all_from {
            return Ok(());
        }
        let problem = format!("is {}; it must not be below mark_from", parameters.mark_all_from);
        Err(OutOfRange::new("mark_all_from", problem))
    }

    fn enqueue(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets) {
        packets.pool().set_arrival(arrival.packet, arrival.since);
        if packets.is_control(arrival.packet) {
            self.take_header(buffer, arrival.packet, packets);
            return;
        }
        let is_last = packets.is_last_hop(arrival.packet);
        let room = if is_last { self.last_hop_room } else { self.room };
        if room.takes(&self.data, arrival.bytes) {
            self.data.push(arrival.packet, arrival.bytes);
            buffer.count(u64::from(arrival.bytes));
        } else {
            self.cut(buffer, arrival, packets);
        }
    }

    fn dequeue(&mut self, buffer: &mut Buffer, _now: Instant, packets: &mut impl Packets) -> Option<Waiting> {
        if let Some(header) = self.headers.pop(packets.pool()) {
            buffer.discount(1, u64::from(header.bytes));
            return Some(header);
        }
        // With itself: what arrives while it is sent takes its place, in the mean.
        let taken = self.room.taken(&self.data);
        let first = self.data.pop(packets.pool())?;
        buffer.discount(1, u64::from(first.bytes));
        let TrimParameters { mark_from, mark_all_from, last_hop_marks, .. } = self.parameters;
        if taken > mark_from && (last_hop_marks || !packets.is_last_hop(first.packet)) {
            let chance = (taken - mark_from) / (mark_all_from - mark_from);
            if self.stream.uniform() < chance {
                packets.mark(first.packet);
            }
        }
        Some(first)
    }

    fn flush(&mut self, buffer: &mut Buffer, _now: Instant, pool: &PacketPool) -> Vec<Waiting> {
        let headers = std::iter::from_fn(|| self.headers.pop(pool)).collect::<Vec<_>>();
        let data = std::iter::from_fn(|| self.data.pop(pool));
        let all: Vec<Waiting> = headers.into_iter().chain(data).collect();
        all.iter().for_each(|waiting| buffer.discount(1, u64::from(waiting.bytes)));
        all
    }

    fn packets(&self, _buffer: &Buffer, _pool: &PacketPool) -> Vec<PacketId> {
        self.headers.packets.iter().chain(&self.data.packets).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::testing::{Ledger, place};
    use crate::queues::{Discipline, Queue};

    const FULL: u32 = 4160;

    fn queue(limit: Limit, change: impl FnOnce(&mut TrimParameters)) -> Queue {
        let mut parameters = TrimParameters { cut_waiting: false, ..TrimParameters::default() };
        change(&mut parameters);
        Queue::new(&Discipline::Trim(parameters), &place(limit))
    }

    fn packets(most: u64) -> Limit {
        Limit { packets: Some(most), bytes: None }
    }

    fn leave(queue: &mut Queue, ledger: &mut Ledger) -> Vec<PacketId> {
        std::iter::from_fn(|| queue.dequeue(Instant::ZERO, ledger)).map(|left| left.packet).collect()
    }

    /// Room for three: the fourth and fifth are cut, and their headers go ahead of all data.
    #[test]
    fn what_finds_no_room_is_cut_and_goes_ahead() {
        let mut queue = queue(packets(3), |parameters| parameters.mark_from = 1.0);
        let mut ledger = Ledger::default();
        (0..5).for_each(|packet| queue.enqueue(ledger.waiting(0, packet, FULL), &mut ledger));
        assert_eq!((ledger.trimmed.clone(), ledger.drops.len()), (vec![3, 4], 0));
        assert_eq!((queue.backlog(), queue.bytes()), (5, u64::from(3 * FULL + 2 * 64)));
        assert_eq!(leave(&mut queue, &mut ledger), [3, 4, 0, 1, 2]);
        assert_eq!((queue.backlog(), queue.bytes()), (0, 0));
    }

    /// Answers have the priority of headers, and room of their own: twice that of data, and beyond it they are lost.
    #[test]
    fn headers_have_room_of_their_own() {
        let mut queue = queue(packets(2), |_| {});
        let mut ledger = Ledger::default();
        queue.enqueue(ledger.waiting(0, 0, FULL), &mut ledger);
        (1..7).for_each(|packet| queue.enqueue(ledger.waiting(0, packet, 64), &mut ledger));
        assert_eq!(ledger.dropped(DropCause::Queue), [5, 6]);
        assert_eq!(leave(&mut queue, &mut ledger), [1, 2, 3, 4, 0]);
    }

    /// By chance, one in two, the youngest that waits is cut, and the one that arrives has its place at the end: 500 of 1000,
    /// with a standard deviation of 16.
    #[test]
    fn the_coin_chooses_between_the_youngest_and_the_arriving() {
        let mut queue = queue(packets(2), |parameters| {
            (parameters.cut_waiting, parameters.header_room) = (true, 1000.0);
        });
        let mut ledger = Ledger::default();
        let mut arriving = 0;
        for packet in 0..1002 {
            queue.enqueue(ledger.waiting(0, packet, FULL), &mut ledger);
            arriving += usize::from(ledger.trimmed.last() == Some(&packet));
            assert_eq!(
                queue.bytes(),
                u64::from(packet.min(1) + 1) * u64::from(FULL) + 64 * ledger.trimmed.len() as u64
            );
        }
        assert_eq!(ledger.trimmed.len(), 1000);
        assert!(arriving.abs_diff(500) < 80, "{arriving}");
        // The first in the queue is never the youngest.
        assert!(!ledger.trimmed.contains(&0));
    }

    /// Marked is what leaves while more than a share of the room is taken: never at 2 of 10, always from 8 of 10 on.
    #[test]
    fn marks_follow_what_waits_when_a_packet_leaves() {
        let mut queue = queue(packets(10), |_| {});
        let mut ledger = Ledger { capable: true, ..Ledger::default() };
        (0..10).for_each(|packet| queue.enqueue(ledger.waiting(0, packet, FULL), &mut ledger));
        assert!(ledger.marked.is_empty(), "decided when it leaves");
        assert_eq!(leave(&mut queue, &mut ledger).len(), 10);
        assert_eq!(ledger.marked[..3], [0, 1, 2]);
        assert!(ledger.marked.iter().all(|&packet| packet < 8), "{:?}", ledger.marked);
    }

    /// In the middle of the ramp every second packet is marked: 500 of 1000, with a standard deviation of 16.
    #[test]
    fn marks_are_in_proportion_between_the_shares() {
        let mut queue = queue(packets(10), |_| {});
        let mut ledger = Ledger { capable: true, ..Ledger::default() };
        (0..4).for_each(|packet| queue.enqueue(ledger.waiting(0, packet, FULL), &mut ledger));
        for packet in 4..1004 {
            queue.enqueue(ledger.waiting(0, packet, FULL), &mut ledger);
            queue.dequeue(Instant::ZERO, &mut ledger);
        }
        assert!(ledger.marked.len().abs_diff(500) < 80, "{}", ledger.marked.len());
    }

    #[test]
    fn the_last_hop_may_have_other_room_and_no_marks() {
        let mut queue = queue(packets(2), |parameters| {
            (parameters.last_hop_marks, parameters.last_hop_room, parameters.mark_from) = (false, 2.0, 0.0);
        });
        let mut ledger = Ledger { capable: true, last_hops: (0..5).collect(), ..Ledger::default() };
        (0..5).for_each(|packet| queue.enqueue(ledger.waiting(0, packet, FULL), &mut ledger));
        assert_eq!(ledger.trimmed, [4]);
        leave(&mut queue, &mut ledger);
        assert!(ledger.marked.is_empty());
    }

    /// A packet of TCP has nothing to cut: without room it is lost.
    #[test]
    fn what_cannot_be_trimmed_is_lost() {
        let mut queue = queue(packets(1), |_| {});
        let mut ledger = Ledger { is_rigid: true, ..Ledger::default() };
        (0..2).for_each(|packet| queue.enqueue(ledger.waiting(0, packet, 1500), &mut ledger));
        assert_eq!((ledger.dropped(DropCause::Queue), queue.backlog()), (vec![1], 1));
    }

    /// 42 packets: a share of 0.01 has no place for one, whatever its bytes, and 100 kB have one for 64 B from 0.00064 on.
    #[test]
    fn a_room_takes_at_least_one() {
        let bytes = |most: u64| Limit { packets: None, bytes: Some(most) };
        let header = |share: f64, limit: Limit| {
            TrimParameters { header_room: share, ..TrimParameters::default() }.check_rooms(limit)
        };
        let refused = header(0.01, packets(42)).expect_err("no place").to_string();
        assert!(refused.contains("header_room") && refused.contains("give 0.0239"), "{refused}");
        assert!(header(0.0239, packets(42)).is_ok());
        assert!(header(0.0006, bytes(100_000)).is_err() && header(0.0007, bytes(100_000)).is_ok());
        // Where nothing waits at all, headers do not, either.
        assert!(header(0.5, packets(0)).is_ok());
        let last = TrimParameters { last_hop_room: 0.01, ..TrimParameters::default() };
        assert!(last.check_rooms(packets(42)).is_err());
    }

    #[test]
    fn the_shares_of_marks_are_in_order() {
        let parameters = TrimParameters { mark_from: 0.9, ..TrimParameters::default() };
        assert!(Discipline::Trim(parameters).verify().is_err());
        assert!(Discipline::Trim(TrimParameters::default()).verify().is_ok());
    }
}
