//! Packets and where they live.

use anabranch_transport::Segment;
use anabranch_units::{FlowId, NodeId};

/// Which way a packet of a flow goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the flow's source to its destination: data.
    Forward,
    /// Back: acknowledgments.
    Backward,
}

/// Handle of a packet in the [`PacketPool`].
pub type PacketId = u32;

/// No packet.
const NONE: u32 = u32::MAX;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// What it carries.
    pub segment: Segment,
    /// Whose it is.
    pub flow: FlowId,
    /// Which way it goes.
    pub direction: Direction,
    /// Where it goes.
    pub destination: NodeId,
    /// Bytes of the IP packet.
    pub bytes: u32,
    /// Index of its next hop in the engine's list of path links; `u32::MAX`: hop by hop.
    pub cursor: u32,
    /// Hops it may still take; ends loops in plans made elsewhere.
    pub hops_left: u8,
    /// Its place among the packets of its flow and direction that carry data, in order of sending.
    pub order: u32,
}

/// A slab of packets; freed places are used again, the last one first, while it is warm.
#[derive(Debug)]
pub struct PacketPool {
    packets: Vec<Packet>,
    next_free: Vec<u32>,
    free: u32,
    live: usize,
}

impl Default for PacketPool {
    fn default() -> Self {
        Self { packets: Vec::new(), next_free: Vec::new(), free: NONE, live: 0 }
    }
}

impl PacketPool {
    /// Stores a packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        self.live += 1;
        if self.free == NONE {
            let id = self.packets.len() as u32;
            self.packets.push(packet);
            self.next_free.push(NONE);
            return id;
        }
        let id = self.free;
        self.free = self.next_free[id as usize];
        self.packets[id as usize] = packet;
        id
    }

    /// Takes a packet out.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.live -= 1;
        self.next_free[id as usize] = self.free;
        self.free = id;
    }

    /// A packet.
    #[inline]
    #[must_use]
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }

    /// A packet, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }

    /// Packets in the network.
    #[must_use]
    pub fn live(&self) -> usize {
        self.live
    }
}
