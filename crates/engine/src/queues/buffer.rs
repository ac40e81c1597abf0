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
    /// In a box of its own, because at most links no packet ever waits.
    #[expect(clippy::box_collection, reason = "three words less for each link")]
    waiting: Option<Box<VecDeque<Waiting>>>,
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
            waiting: None,
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
        match &mut self.waiting {
            Some(waiting) if waiting.len() < waiting.capacity() => waiting.push_back(arrival),
            _ => self.push_with_room(arrival),
        }
        self.packets += 1;
        self.bytes += u64::from(arrival.bytes);
    }

    /// Makes half as much room again, in place of twice as much: at most links few packets ever wait.
    #[cold]
    #[inline(never)]
    fn push_with_room(&mut self, arrival: Waiting) {
        let waiting = self.waiting.get_or_insert_default();
        waiting.reserve_exact((waiting.len() / 2).max(LEAST_ROOM));
        waiting.push_back(arrival);
    }

    /// Takes the first.
    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let first = self.waiting.as_mut()?.pop_front()?;
        self.packets -= 1;
        self.bytes -= u64::from(first.bytes);
        Some(first)
    }

    /// Takes all.
    pub fn flush(&mut self) -> Vec<Waiting> {
        (self.packets, self.bytes) = (0, 0);
        self.waiting.take().map_or_else(Vec::new, |waiting| Vec::from(*waiting))
    }

    /// The packets, first to last.
    #[must_use]
    pub fn packets(&self) -> Vec<PacketId> {
        self.waiting.iter().flat_map(|all| all.iter()).map(|waiting| waiting.packet).collect()
    }
}
