//! Hosts that are not ours: packets are put in at their nodes and taken out there.
//!
//! A flow of the setup with an end at an external node has no simulated host at this end: what is put in for it takes
//! its routes, and what comes for it is handed out. Its books are kept as those of any other.

use super::Simulation;
use crate::error::{EngineError, SetupError};
use crate::packet::{Direction, Packet, PacketId};
use crate::queues::DropCause;
use anabranch_transport::Segment;
use anabranch_units::{FlowId, Instant, NodeId};
use std::collections::BTreeMap;

/// A packet at an external node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExternalPacket {
    /// The flow that it is of, which says between which nodes it travels.
    pub flow: FlowId,
    /// Which way it goes.
    pub direction: Direction,
    /// What it carries. The engine looks at the subflow, at whether there is payload, and at ECN: a capable segment
    /// may come out marked.
    pub segment: Segment,
    /// Bytes of the IP packet.
    pub bytes: u32,
}

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is at an external node.
    Arrived {
        /// When.
        at: Instant,
        /// Where.
        node: NodeId,
        /// As it came out.
        packet: ExternalPacket,
    },
    /// It will come out nowhere.
    Dropped(DropCause),
    /// A simulated host has it.
    Delivered,
}

/// A packet that has left the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// The number that it was put in with; `None` if a simulated host sent it.
    pub token: Option<u64>,
    /// What became of it.
    pub fate: Fate,
}

/// Which nodes are external, and what has to be told of packets there.
#[derive(Default)]
pub(super) struct External {
    /// By node.
    nodes: Vec<bool>,
    /// Of packets that were put in and are under way.
    tokens: BTreeMap<PacketId, u64>,
    departures: Vec<Departure>,
}

impl External {
    pub(super) fn is_external(&self, node: NodeId) -> bool {
        self.nodes.get(node.index()).copied().unwrap_or(false)
    }

    /// A packet is put in.
    pub(super) fn follow(&mut self, id: PacketId, token: u64) {
        self.tokens.insert(id, token);
    }

    /// A packet is gone.
    pub(super) fn note_drop(&mut self, id: PacketId, cause: DropCause) {
        if let Some(token) = self.tokens.remove(&id) {
            self.departures.push(Departure { token: Some(token), fate: Fate::Dropped(cause) });
        }
    }

    /// A packet, or one segment of a train, is at its destination. Whether that is external.
    pub(super) fn on_arrival(
        &mut self,
        at: Instant,
        id: PacketId,
        packet: &Packet,
        segment: &Segment,
    ) -> bool {
        let Packet { flow, direction, bytes, destination: node, .. } = *packet;
        let token = self.tokens.remove(&id);
        if self.is_external(node) {
            let packet = ExternalPacket { flow, direction, segment: *segment, bytes };
            self.departures.push(Departure { token, fate: Fate::Arrived { at, node, packet } });
            return true;
        }
        if token.is_some() {
            self.departures.push(Departure { token, fate: Fate::Delivered });
        }
        false
    }
}

impl Simulation {
    /// Declares that the host at a node is not simulated. Flows that begin there send what is put in, and nothing of
    /// their own.
    ///
    /// # Errors
    /// If there is no such node, or the run has begun.
    pub fn make_external(&mut self, node: NodeId) -> Result<(), EngineError> {
        let refuse = |problem: String| Err(SetupError::new("external", problem).into());
        let count = self.setup.nodes.len();
        if node.index() >= count {
            return refuse(format!("no node number {}; there are {count}", node.0));
        }
        if self.events > 0 || self.data.now > Instant::ZERO {
            return refuse("the run has begun; declare external nodes before its first step".to_owned());
        }
        if let Some(flow) = self.setup.datagrams.iter().find(|flow| flow.from == node || flow.to == node) {
            let name = &flow.name;
            return refuse(format!("{name} sends datagrams there, which only a simulated host knows"));
        }
        let external = self.data.taps.external.get_or_insert_default();
        external.nodes.resize(count, false);
        external.nodes[node.index()] = true;
        for (index, _) in self.flows.iter().enumerate().filter(|(_, flow)| flow.forward.from == node) {
            let source = self.data.numbering.application(FlowId::from_index(index));
            self.data.schedule.clear(source);
        }
        Ok(())
    }

    /// Puts a packet in where it comes from, now. `token` is the caller's own number, by which
    /// [`Simulation::departures`] tells what became of it.
    ///
    /// # Errors
    /// If there is no such flow or subflow, or the node that the packet comes from is not external.
    pub fn inject(&mut self, packet: ExternalPacket, token: u64) -> Result<(), EngineError> {
        let ExternalPacket { flow: id, direction, segment, bytes } = packet;
        let place = format!("flows[{}]", id.0);
        let refuse = |problem: String| Err(SetupError::new(place, problem).into());
        let Some(flow) = self.flows.get(id.index()) else {
            return refuse(format!("there is no such flow; there are {}", self.flows.len()));
        };
        let way = match direction {
            Direction::Forward => &flow.forward,
            Direction::Backward => &flow.backward,
        };
        let subflows = way.lanes.iter().count();
        if usize::from(segment.subflow) >= subflows {
            return refuse(format!("no subflow {}; there are {subflows}", segment.subflow));
        }
        let external = self.data.taps.external.as_ref();
        if !external.is_some_and(|external| external.is_external(way.from)) {
            let name = &self.data.network.node(way.from).name;
            return refuse(format!("the host at {name} is simulated; declare its node external"));
        }
        self.put_in(id, direction, (&segment, &[]), bytes, Some(token));
        Ok(())
    }

    /// What has become of packets at external nodes since the last call: those that arrived there, in the order of
    /// their arrival, and those that were put in and are gone.
    pub fn departures(&mut self) -> impl Iterator<Item = Departure> {
        let external = &mut self.data.taps.external;
        external.as_mut().map(|external| std::mem::take(&mut external.departures)).into_iter().flatten()
    }
}
