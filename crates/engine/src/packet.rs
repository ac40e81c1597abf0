//! Packets and where they live.

use anabranch_transport::{Flags, Segment};
use anabranch_units::{FlowId, NodeId};
use std::collections::BTreeMap;

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

/// A packet on its way, without what it carries. It may be a train: several segments that the sending host left to be
/// cut later (segmentation offload), and that links take, delay, mark and lose as one.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Whose it is.
    pub flow: FlowId,
    /// Where it goes.
    pub destination: NodeId,
    /// Bytes of the IP packet; of a train, of all of its packets.
    pub bytes: u32,
    /// Index of its next hop in the engine's list of path links, if it goes along a path; 0 otherwise.
    pub cursor: u32,
    /// Its place among the packets of its subflow and direction that carry data, in order of sending; of a train,
    /// that of its first segment.
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
    /// The segments of trains behind the first, apart: without offload no packet pays for them.
    trains: BTreeMap<PacketId, Vec<Segment>>,
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
        if !self.trains.is_empty() {
            self.trains.remove(&id);
        }
        self.free.push(id);
    }

    /// Makes a packet the head of a train that goes on with these segments.
    pub fn couple(&mut self, id: PacketId, rest: Vec<Segment>) {
        self.trains.insert(id, rest);
    }

    /// Takes the segments of a train behind the first; none where the packet is no train.
    #[inline]
    pub fn uncouple(&mut self, id: PacketId) -> Vec<Segment> {
        if self.trains.is_empty() { Vec::new() } else { self.trains.remove(&id).unwrap_or_default() }
    }

    /// All that a packet carries: one segment, or those of a train in order.
    #[inline]
    pub fn segments(&self, id: PacketId) -> impl Iterator<Item = &Segment> {
        let rest = if self.trains.is_empty() { None } else { self.trains.get(&id) };
        std::iter::once(self.segment(id)).chain(rest.into_iter().flatten())
    }

    /// How many segments a packet carries.
    #[inline]
    #[must_use]
    pub fn segment_count(&self, id: PacketId) -> u64 {
        self.segments(id).count() as u64
    }

    /// Marks a packet, all segments of a train, with congestion experienced; whether it can be marked.
    #[inline]
    pub fn mark(&mut self, id: PacketId) -> bool {
        let first = &mut self.segments[id as usize];
        if !first.flags.has(Flags::ECT) {
            return false;
        }
        first.flags = first.flags.with(Flags::CE);
        if !self.trains.is_empty() {
            for segment in self.trains.get_mut(&id).into_iter().flatten() {
                segment.flags = segment.flags.with(Flags::CE);
            }
        }
        true
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

    /// The first segment that a packet carries, mostly the only one.
    #[inline]
    #[must_use]
    pub fn segment(&self, id: PacketId) -> &Segment {
        &self.segments[id as usize]
    }

    /// The first segment that a packet carries, to change it.
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
