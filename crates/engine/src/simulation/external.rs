//! Hosts that are not ours: packets are put in at their nodes and taken out there.
//!
//! A flow of the setup with an external end has no simulated host there: what is put in for it takes its routes, and
//! what comes for it is handed out. Its books are kept as those of any other. All flows at a node may be external, or
//! some of them, beside others of simulated hosts.

use super::Simulation;
use crate::error::{EngineError, SetupError};
use crate::packet::{Direction, Packet, PacketId};
use crate::queues::DropCause;
use anabranch_transport::Segment;
use anabranch_transport::wire::Endpoint;
use anabranch_units::{FlowId, Instant, LinkId, NodeId};
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

/// How a packet is put in.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// The caller's own number.
    pub(super) token: u64,
    /// The link that it takes, in place of its route.
    pub(super) link: Option<LinkId>,
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
    /// Whether no copy of it is left that may still come out: a link may have duplicated it.
    pub is_last: bool,
}

/// Which ends of a flow are external.
#[derive(Clone, Copy, Default)]
struct Ends {
    source: bool,
    destination: bool,
}

/// Which ends of flows are external, and what has to be told of packets there.
#[derive(Default)]
pub(super) struct External {
    /// By flow; flows of datagrams have none.
    flows: Vec<Ends>,
    /// Of packets that were put in and are under way.
    tokens: BTreeMap<PacketId, u64>,
    /// By token: copies that are under way besides the packet.
    copies: BTreeMap<u64, u64>,
    /// The bytes of a packet that is being put in.
    entering: Option<Vec<u8>>,
    /// Bytes of packets that were put in and are under way, where they are known.
    bytes: BTreeMap<PacketId, Vec<u8>>,
    departures: Vec<Departure>,
}

impl External {
    fn ends(&self, flow: FlowId) -> Ends {
        self.flows.get(flow.index()).copied().unwrap_or_default()
    }

    /// Whether nobody simulated sends packets of this direction.
    fn sends(&self, flow: FlowId, direction: Direction) -> bool {
        match direction {
            Direction::Forward => self.ends(flow).source,
            Direction::Backward => self.ends(flow).destination,
        }
    }

    /// Whether nobody simulated receives packets of this direction.
    fn receives(&self, flow: FlowId, direction: Direction) -> bool {
        match direction {
            Direction::Forward => self.ends(flow).destination,
            Direction::Backward => self.ends(flow).source,
        }
    }

    /// A packet is put in.
    pub(super) fn follow(&mut self, id: PacketId, token: u64) {
        self.tokens.insert(id, token);
        if let Some(bytes) = self.entering.take() {
            self.bytes.insert(id, bytes);
        }
    }

    /// The bytes of a packet, `None` for the one that is being put in; if it was put in with them.
    pub(super) fn bytes(&self, id: Option<PacketId>) -> Option<Vec<u8>> {
        id.map_or(self.entering.as_ref(), |id| self.bytes.get(&id)).cloned()
    }

    /// A link has made a copy of a packet.
    pub(super) fn duplicate(&mut self, id: PacketId, copy: PacketId) {
        if let Some(&token) = self.tokens.get(&id) {
            self.tokens.insert(copy, token);
            *self.copies.entry(token).or_default() += 1;
        }
        if let Some(bytes) = self.bytes.get(&id).cloned() {
            self.bytes.insert(copy, bytes);
        }
    }

    /// A packet is gone, and nobody asks for its bytes any more; whether it is the last one of its token.
    fn forget(&mut self, id: PacketId) -> Option<(u64, bool)> {
        self.bytes.remove(&id);
        let token = self.tokens.remove(&id)?;
        let Some(left) = self.copies.get_mut(&token) else { return Some((token, true)) };
        *left -= 1;
        if *left == 0 {
            self.copies.remove(&token);
        }
        Some((token, false))
    }

    /// A packet is gone.
    pub(super) fn note_drop(&mut self, id: PacketId, cause: DropCause) {
        if let Some((token, is_last)) = self.forget(id) {
            self.departures.push(Departure { token: Some(token), fate: Fate::Dropped(cause), is_last });
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
        let (token, is_last) = self.forget(id).map_or((None, true), |(token, last)| (Some(token), last));
        if self.receives(flow, direction) {
            let packet = ExternalPacket { flow, direction, segment: *segment, bytes };
            self.departures.push(Departure { token, fate: Fate::Arrived { at, node, packet }, is_last });
            return true;
        }
        if token.is_some() {
            self.departures.push(Departure { token, fate: Fate::Delivered, is_last });
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
        if let Some(flow) = self.setup.datagrams.iter().find(|flow| flow.from == node || flow.to == node) {
            let name = &flow.name;
            return refuse(format!("{name} sends datagrams there, which only a simulated host knows"));
        }
        for index in 0..self.flows.len() {
            let flow = &self.setup.flows[index];
            let (source, destination) = (flow.from == node, flow.to == node);
            self.make_ends_external(FlowId::from_index(index), source, destination)?;
        }
        Ok(())
    }

    /// Declares that the hosts at the source of a flow, or at its destination, are not simulated for this flow; others
    /// between the same nodes may be. Ends that have been declared before stay external.
    ///
    /// # Errors
    /// If there is no such flow, or the run has begun.
    pub fn make_ends_external(
        &mut self,
        id: FlowId,
        source: bool,
        destination: bool,
    ) -> Result<(), EngineError> {
        let refuse = |problem: String| Err(SetupError::new("external", problem).into());
        let count = self.flows.len();
        if id.index() >= count {
            return refuse(format!("no flow number {}; there are {count}", id.0));
        }
        if self.events > 0 || self.data.now > Instant::ZERO {
            return refuse("the run has begun; declare external hosts before its first step".to_owned());
        }
        let external = self.data.taps.external.get_or_insert_default();
        external.flows.resize(count, Ends::default());
        let ends = &mut external.flows[id.index()];
        ends.source |= source;
        ends.destination |= destination;
        if ends.source {
            self.data.schedule.clear(self.data.numbering.application(id));
        }
        Ok(())
    }

    /// The addresses and ports of each subflow of a flow, of its source and its destination: a host that is not
    /// simulated has to use them, so that balancers that look at them see the same. A flow of datagrams has one pair of
    /// them; the ports of a ping are 0.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn endpoints(&self, id: FlowId) -> Vec<(Endpoint, Endpoint)> {
        if let Some(flow) = id.index().checked_sub(self.flows.len()) {
            let lane = &self.data.datagrams[flow].forward;
            return vec![(lane.key.source, lane.key.destination)];
        }
        let lanes = self.flows[id.index()].forward.lanes.iter();
        lanes.map(|lane| (lane.key.source, lane.key.destination)).collect()
    }

    /// As [`Simulation::inject`], with the bytes of the IP packet: captures then have them, as long as they keep, in
    /// place of the segment's. This is for packets that are no TCP, and for options that a segment does not hold.
    ///
    /// # Errors
    /// As [`Simulation::inject`].
    pub fn inject_bytes(
        &mut self,
        packet: ExternalPacket,
        token: u64,
        bytes: &[u8],
    ) -> Result<(), EngineError> {
        self.entering(bytes, |simulation| simulation.inject(packet, token))
    }

    /// Puts something in whose bytes are these.
    fn entering<T>(&mut self, bytes: &[u8], put_in: impl FnOnce(&mut Self) -> T) -> T {
        if let Some(external) = &mut self.data.taps.external {
            external.entering = Some(bytes.to_vec());
        }
        let result = put_in(self);
        if let Some(external) = &mut self.data.taps.external {
            external.entering = None;
        }
        result
    }

    /// Puts a packet in where it comes from, now. `token` is the caller's own number, by which
    /// [`Simulation::departures`] tells what became of it.
    ///
    /// # Errors
    /// If there is no such flow or subflow, or the node that the packet comes from is not external.
    pub fn inject(&mut self, packet: ExternalPacket, token: u64) -> Result<(), EngineError> {
        self.enter(packet, Entry { token, link: None })
    }

    /// As [`Simulation::inject_bytes`], over a link between the ends of the packet's flow in place of its route, also
    /// where the link is down: for networks whose switches are not simulated. Without bytes it is as
    /// [`Simulation::inject`].
    ///
    /// # Errors
    /// As [`Simulation::inject`], and if the link does not lead from one end of the flow to the other.
    pub fn inject_over(
        &mut self,
        link: LinkId,
        packet: ExternalPacket,
        token: u64,
        bytes: Option<&[u8]>,
    ) -> Result<(), EngineError> {
        let entry = Entry { token, link: Some(link) };
        match bytes {
            Some(bytes) => self.entering(bytes, |simulation| simulation.enter(packet, entry)),
            None => self.enter(packet, entry),
        }
    }

    fn enter(&mut self, packet: ExternalPacket, entry: Entry) -> Result<(), EngineError> {
        let ExternalPacket { flow: id, direction, segment, bytes } = packet;
        let place = format!("flows[{}]", id.0);
        let refuse = |problem: String| Err(SetupError::new(place, problem).into());
        let Some((flow, receiving)) = self.flows.ends(id.index()) else {
            return refuse(format!("there is no such flow; there are {}", self.flows.len()));
        };
        let lane = match direction {
            Direction::Forward => &flow.forward,
            Direction::Backward => &receiving.backward,
        };
        let subflows = lane.lanes.iter().count();
        if usize::from(segment.subflow) >= subflows {
            return refuse(format!("no subflow {}; there are {subflows}", segment.subflow));
        }
        let external = self.data.taps.external.as_ref();
        if !external.is_some_and(|external| external.sends(id, direction)) {
            let name = &self.data.network.node(lane.from).name;
            return refuse(format!("the host at {name} is simulated; declare its node external"));
        }
        let ends = (lane.from, lane.to);
        if let Some(link) = entry.link
            && self.data.network.links().get(link.index()).is_none_or(|link| (link.from, link.to) != ends)
        {
            return refuse(format!("link {} does not join its ends", link.0));
        }
        self.put_in(id, direction, (&segment, &[]), bytes, Some(entry));
        Ok(())
    }

    /// What has become of packets at external nodes since the last call: those that arrived there, in the order of
    /// their arrival, and those that were put in and are gone.
    pub fn departures(&mut self) -> impl Iterator<Item = Departure> {
        let external = &mut self.data.taps.external;
        external.as_mut().map(|external| std::mem::take(&mut external.departures)).into_iter().flatten()
    }
}
