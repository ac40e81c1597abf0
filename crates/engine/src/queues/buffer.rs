//! Waiting packets in the order in which they came, within a limit.

use super::{DropCause, Limit, Packets};
use crate::packet::{Chain, PacketId, PacketPool};
use anabranch_units::Instant;

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

/// Room for packets, and those that wait in it, first in, first out: a list through the pool that has them.
#[derive(Debug)]
#[repr(C)]
pub struct Buffer {
    waiting: Chain,
    /// Never more than there are numbers of packets.
    packets: u32,
    most_packets: u32,
    longest: u32,
    bytes: u64,
    most_bytes: u64,
}

impl Buffer {
    /// An empty one with this limit.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self {
            waiting: Chain::default(),
            packets: 0,
            most_packets: limit.packets.map_or(u32::MAX, |most| u32::try_from(most).unwrap_or(u32::MAX)),
            longest: 0,
            bytes: 0,
            most_bytes: limit.bytes.unwrap_or(u64::MAX),
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
        self.longest = self.longest.max(self.packets);
    }

    /// Most packets that waited when somebody noted it.
    #[must_use]
    pub fn longest(&self) -> u64 {
        u64::from(self.longest)
    }

    /// Takes over what another one has noted.
    pub fn remember(&mut self, before: &Self) {
        self.longest = before.longest;
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
            self.push(arrival, packets.pool());
        } else {
            packets.drop(arrival.packet, DropCause::Queue);
        }
    }

    /// Puts a packet at the end, whatever the limit.
    #[inline]
    pub fn push(&mut self, arrival: Waiting, pool: &mut PacketPool) {
        debug_assert_eq!(arrival.bytes, pool.get(arrival.packet).bytes, "a packet waits with its own length");
        self.waiting.push(arrival.packet, arrival.since, pool);
        self.packets += 1;
        self.bytes += u64::from(arrival.bytes);
    }

    /// Takes the first.
    #[inline]
    pub fn pop(&mut self, pool: &PacketPool) -> Option<Waiting> {
        let packet = self.waiting.pop(pool)?;
        let first = Waiting { since: pool.arrival(packet), packet, bytes: pool.get(packet).bytes };
        self.packets -= 1;
        self.bytes -= u64::from(first.bytes);
        self.waiting.prefetch_first(pool);
        Some(first)
    }

    /// Takes all.
    pub fn flush(&mut self, pool: &PacketPool) -> Vec<Waiting> {
        std::iter::from_fn(|| self.pop(pool)).collect()
    }

    /// The packets, first to last.
    #[must_use]
    pub fn packets(&self, pool: &PacketPool) -> Vec<PacketId> {
        self.waiting.iter(pool).collect()
    }
}
