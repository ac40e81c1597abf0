//! Waiting packets in the order in which they came, within a limit.

use super::{DropCause, Limit, Packets};
use crate::packet::PacketId;
use anabranch_units::Instant;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// When it arrived.
    pub since: Instant,
    /// Which it is.
    pub packet: PacketId,
    /// Its bytes.
    pub bytes: u32,
}

/// Room for so many packets is made at least.
const LEAST_ROOM: usize = 4;

/// Room for packets, and those that wait in it, first in, first out.
#[derive(Debug)]
#[repr(C)]
pub struct Buffer {
    /// First, because every packet asks whether another one waits. Never more than there are numbers of packets.
    packets: u32,
    most_packets: u32,
    bytes: u64,
    most_bytes: u64,
    /// None at most links, where no packet ever waits.
    line: Option<Box<Line>>,
}

/// The packets that wait, and how many have waited.
#[derive(Default, Debug)]
struct Line {
    waiting: VecDeque<Waiting>,
    longest: u32,
}

impl Buffer {
    /// An empty one with this limit.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self {
            packets: 0,
            bytes: 0,
            most_packets: limit.packets.map_or(u32::MAX, |most| u32::try_from(most).unwrap_or(u32::MAX)),
            most_bytes: limit.bytes.unwrap_or(u64::MAX),
            line: None,
        }
    }

    /// Packets that wait.
    #[inline]
    #[must_use]
    pub fn backlog(&self) -> u64 {
        u64::from(self.packets)
    }

    /// Whether none waits.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Their bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes how many wait now, for [`Buffer::longest`].
    #[inline]
    pub fn note_length(&mut self) {
        match self.line.as_deref_mut() {
            Some(line) => line.longest = line.longest.max(self.packets),
            None => self.note_length_of_first(),
        }
    }

    /// The same where no packet has waited here: none waits, or a discipline keeps it itself.
    #[cold]
    #[inline(never)]
    fn note_length_of_first(&mut self) {
        if self.packets > 0 {
            self.line.get_or_insert_default().longest = self.packets;
        }
    }

    /// Most packets that waited when somebody noted it.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.line.as_ref().map_or(0, |line| u64::from(line.longest))
    }

    /// Takes over what another one has noted.
    pub fn remember(&mut self, before: &Self) {
        if let Some(line) = &before.line {
            self.line.get_or_insert_default().longest = line.longest;
        }
    }

    /// Whether another packet fits within the limit.
    #[inline]
    #[must_use]
    pub fn has_room(&self, bytes: u32) -> bool {
        self.packets < self.most_packets && self.bytes + u64::from(bytes) <= self.most_bytes
    }

    /// Whether more waits than the limit allows.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.packets > self.most_packets || self.bytes > self.most_bytes
    }

    /// Counts a packet that a discipline keeps itself.
    pub fn count(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }

    /// Takes back so many packets and bytes of [`Buffer::count`].
    pub fn discount(&mut self, packets: u64, bytes: u64) {
        self.packets -= packets as u32;
        self.bytes -= bytes;
    }

    /// Puts a packet at the end if there is room; otherwise it is lost (drop-tail).
    #[inline]
    pub fn push_or_drop(&mut self, arrival: Waiting, packets: &mut impl Packets) {
        if self.has_room(arrival.bytes) {
            self.push(arrival);
        } else {
            packets.drop(arrival.packet, DropCause::Queue);
        }
    }

    /// Puts a packet at the end, whatever the limit.
    #[inline]
    pub fn push(&mut self, arrival: Waiting) {
        match self.line.as_deref_mut() {
            Some(Line { waiting, .. }) if waiting.len() < waiting.capacity() => waiting.push_back(arrival),
            _ => self.push_with_room(arrival),
        }
        self.packets += 1;
        self.bytes += u64::from(arrival.bytes);
    }

    /// Makes half as much room again, in place of twice as much: at most links few packets ever wait.
    #[cold]
    #[inline(never)]
    fn push_with_room(&mut self, arrival: Waiting) {
        let Line { waiting, .. } = &mut **self.line.get_or_insert_default();
        waiting.reserve_exact((waiting.len() / 2).max(LEAST_ROOM));
        waiting.push_back(arrival);
    }

    /// Takes the first.
    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let first = self.line.as_mut()?.waiting.pop_front()?;
        self.packets -= 1;
        self.bytes -= u64::from(first.bytes);
        Some(first)
    }

    /// Takes all.
    pub fn flush(&mut self) -> Vec<Waiting> {
        (self.packets, self.bytes) = (0, 0);
        self.line.as_mut().map_or_else(Vec::new, |line| std::mem::take(&mut line.waiting).into())
    }

    /// The packets, first to last.
    #[must_use]
    pub fn packets(&self) -> Vec<PacketId> {
        self.line.iter().flat_map(|line| &line.waiting).map(|waiting| waiting.packet).collect()
    }
}
