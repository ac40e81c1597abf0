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

/// How a packet finds its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Steering {
    /// Along a path: its cursor says where on it.
    Path,
    /// Hop by hop: each node looks up the next one.
    NextHops,
    /// By the flow tables of the switches.
    FlowTables,
    /// Along a path between the controller and a switch or a sender; it carries a message.
    Channel,
}

/// Handle of a packet in the [`PacketPool`].
pub type PacketId = u32;

/// A packet on its way, without what it carries.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Whose it is.
    pub flow: FlowId,
    /// Where it goes.
    pub destination: NodeId,
    /// Bytes of the IP packet.
    pub bytes: u32,
    /// Index of its next hop in the engine's list of path links, if it goes along a path; 0 otherwise.
    pub cursor: u32,
    /// Its place among the packets of its subflow and direction that carry data, in order of sending.
    pub order: u32,
    /// Hops it may still take; ends loops in plans made elsewhere.
    pub hops_left: u8,
    /// Which way it goes.
    pub direction: Direction,
    /// Subflow of its flow; 0 where the flow is not multipath.
    pub subflow: u8,
    /// How it finds its way.
    pub steering: Steering,
}

/// A slab of packets and, beside them, the segments they carry: a hop touches the packet only, and
/// the packets of a busy network stay in cache. Freed places are used again, the warmest first.
#[derive(Default, Debug)]
pub struct PacketPool {
    packets: Vec<Packet>,
    segments: Vec<Segment>,
    free: Vec<PacketId>,
}

impl PacketPool {
    /// Stores a packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet, segment: Segment) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.packets[id as usize] = packet;
            self.segments[id as usize] = segment;
            return id;
        }
        let id = self.packets.len() as PacketId;
        self.packets.push(packet);
        self.segments.push(segment);
        id
    }

    /// Frees a packet's place.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.free.push(id);
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

    /// What a packet carries.
    #[inline]
    #[must_use]
    pub fn segment(&self, id: PacketId) -> &Segment {
        &self.segments[id as usize]
    }

    /// What a packet carries, to mark it.
    #[inline]
    pub fn segment_mut(&mut self, id: PacketId) -> &mut Segment {
        &mut self.segments[id as usize]
    }

    /// Packets in the network.
    #[must_use]
    pub fn live(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}
