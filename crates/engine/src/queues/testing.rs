//! What the tests of disciplines share.

use super::{DropCause, Limit, Packets, QueueContext, Waiting};
use crate::packet::{Packet, PacketId, PacketPool};
use crate::random::Streams;
use anabranch_transport::Segment;
use anabranch_transport::spray::HEADERS;
use anabranch_units::{Instant, Rate, Span};

/// Notes what a discipline does.
#[derive(Default)]
pub struct Ledger {
    /// Where packets wait: each has the place of its number.
    pub pool: PacketPool,
    /// Packets dropped, with the cause.
    pub drops: Vec<(PacketId, DropCause)>,
    /// Packets marked.
    pub marked: Vec<PacketId>,
    /// Whether packets can be marked.
    pub capable: bool,
    /// Packets trimmed.
    pub trimmed: Vec<PacketId>,
    /// Whether packets cannot be trimmed.
    pub is_rigid: bool,
    /// Packets for the node at the end of the link.
    pub last_hops: Vec<PacketId>,
    /// Packets of the flow n are n modulo this; 0 for one flow.
    pub flows: u32,
}

impl Ledger {
    /// A packet that arrives.
    pub fn waiting(&mut self, us: u64, packet: PacketId, bytes: u32) -> Waiting {
        while self.pool.live() <= packet as usize {
            self.pool.insert(Packet::NONE, 0, &Segment::default());
        }
        self.pool.get_mut(packet).bytes = bytes;
        Waiting { since: at_us(us), packet, bytes }
    }

    /// The packets dropped for a cause.
    pub fn dropped(&self, cause: DropCause) -> Vec<PacketId> {
        self.drops.iter().filter(|drop| drop.1 == cause).map(|drop| drop.0).collect()
    }
}

impl Packets for Ledger {
    fn pool(&mut self) -> &mut PacketPool {
        &mut self.pool
    }

    fn drop(&mut self, packet: PacketId, cause: DropCause) {
        self.drops.push((packet, cause));
    }

    fn mark(&mut self, packet: PacketId) -> bool {
        if self.capable {
            self.marked.push(packet);
        }
        self.capable
    }

    fn is_ecn_capable(&self, _packet: PacketId) -> bool {
        self.capable
    }

    fn is_control(&self, packet: PacketId) -> bool {
        !self.is_rigid && self.pool.get(packet).bytes <= HEADERS
    }

    fn trim(&mut self, packet: PacketId) -> bool {
        if !self.is_rigid {
            self.pool.get_mut(packet).bytes = HEADERS;
            self.trimmed.push(packet);
        }
        !self.is_rigid
    }

    fn is_last_hop(&self, packet: PacketId) -> bool {
        self.last_hops.contains(&packet)
    }

    fn flow(&self, packet: PacketId) -> u64 {
        u64::from(packet.checked_rem(self.flows).unwrap_or(0))
    }
}

/// A link of 10 Mbps: 1250 bytes take a millisecond.
pub fn place(limit: Limit) -> QueueContext<'static> {
    QueueContext {
        limit,
        rate: Rate::from_bps(10_000_000),
        streams: Streams::new(1, 0),
        link: "a->b",
        draws: "queue",
    }
}

/// So many microseconds after the start.
pub fn at_us(us: u64) -> Instant {
    Instant::ZERO + Span::from_us(us)
}
