//! What is noted along the way: drops by flow, and packets that go to capture files.

use super::datagrams::{DatagramFlow, on_the_wire};
use super::drops::{DropsByFlow, FlowDrops};
use super::external::External;
use super::flows::Flows;
use super::passage::PassingLane;
use super::share::Share;
use crate::balancer::FlowKey;
use crate::capture::{CaptureFile, CaptureWriteError, CapturedPacket, Content};
use crate::error::EngineError;
use crate::link::LinkObserver;
use crate::packet::{Direction, Family, NO_FLOW, Packet, PacketId, PacketPool, Steering};
use crate::queues::DropCause;
use crate::setup::{CapturePoint, DatagramSource, Setup};
use anabranch_transport::wire::Endpoint;
use anabranch_transport::{Flags, Segment};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, rarely};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// TTL of a packet as it leaves its host.
const INITIAL_TTL: u8 = 64;

/// Probes over single links, from the switch that sends them to the one that receives them.
pub(super) struct ProbeTaps {
    /// By link: probes sent over it and received.
    links: Vec<(u64, u64)>,
    /// By packet: packets sent over its link before it, once it has left.
    under_way: BTreeMap<PacketId, Option<u64>>,
}

/// What is known of a probe's link when it has arrived.
pub(super) struct SeenByProbe {
    /// Packets sent over the link before it, probes left out.
    pub(super) sent: u64,
    /// Probes received over the link, this one included.
    pub(super) received_probes: u64,
}

impl ProbeTaps {
    /// A packet is a probe from here on.
    pub(super) fn follow(&mut self, id: PacketId) {
        self.under_way.insert(id, None);
    }

    /// A packet without a flow begins to be sent, as the link's packet number `sent`.
    fn leaves(&mut self, id: PacketId, link: LinkId, sent: u64) {
        if let Some(before) = self.under_way.get_mut(&id) {
            let probes = &mut self.links[link.index()].0;
            *probes += 1;
            *before = Some(sent - *probes);
        }
    }

    /// A probe is at the other end of its link.
    pub(super) fn arrived(&mut self, id: PacketId, link: LinkId) -> Option<SeenByProbe> {
        let sent = self.under_way.remove(&id).flatten()?;
        let received_probes = &mut self.links[link.index()].1;
        *received_probes += 1;
        Some(SeenByProbe { sent, received_probes: *received_probes })
    }
}

/// Whether the controller sends probes over links.
fn probes_links(setup: &Setup) -> bool {
    setup.controller.as_ref().is_some_and(|controller| controller.application.probes_links())
}

/// Drops and captures.
pub(super) struct Taps {
    pub(super) drops: DropsByFlow,
    /// The same of packets that pass by, whose ends are in other parts of the run.
    pub(super) passing_drops: BTreeMap<FlowId, FlowDrops>,
    /// Messages of the control plane that were lost, and their bytes.
    pub(super) control_drops: (u64, u64),
    pub(super) probes: ProbeTaps,
    /// Of which packets that links have duplicated, and of which answers to them, one has arrived.
    arrived: BTreeSet<Family>,
    /// Hosts that are not simulated, where there are any.
    pub(super) external: Option<Box<External>>,
    captures: Vec<Capture>,
    /// Addresses of the ends of each flow's subflows, which a link does not know; only where links are watched.
    endpoints: Vec<Vec<(Endpoint, Endpoint)>>,
    /// What flows of datagrams send, behind those of connections, and their numbers; only where links are watched.
    datagrams: Vec<(FlowId, DatagramSource)>,
    /// What passes by behind all of them, in parts of a run where links are watched.
    passing: Vec<PassingLane>,
    /// In a part of a run, the numbers in the setup of flows, datagrams and what passes by; else empty.
    numbers: Vec<FlowId>,
    watches_hosts: bool,
    watches_links: bool,
    lost: Vec<LostCapture>,
}

/// A capture that could not be written to its end, as on a full disk. Its file is removed, which makes room for the
/// results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostCapture {
    /// Its file.
    pub file: String,
    /// When in the run.
    pub at: Instant,
    /// What the system says.
    pub reason: String,
}

struct Capture {
    at: CapturePoint,
    path: String,
    file: CaptureFile,
    identification: u16,
}

impl Capture {
    /// Gives it up.
    fn lose(self, at: Instant, error: &CaptureWriteError) -> LostCapture {
        let Self { path, file, .. } = self;
        drop(file);
        // A device, such as /dev/full, stays.
        let regular = std::fs::metadata(&path).is_ok_and(|metadata| metadata.is_file());
        let reason = match (error, if regular { std::fs::remove_file(&path) } else { Ok(()) }) {
            (CaptureWriteError::Io { source, .. }, Ok(())) => source.to_string(),
            (_, Ok(())) => error.to_string(),
            (_, Err(remains)) => format!("{error}; its file cannot be removed: {remains}"),
        };
        LostCapture { file: path, at, reason }
    }
}

impl Taps {
    /// Creates the capture files.
    pub(super) fn new(
        setup: &Setup,
        share: &Share<'_>,
        flows: &Flows,
        datagrams: &[DatagramFlow],
    ) -> Result<Self, EngineError> {
        let mut captures = Vec::new();
        for capture in setup.captures.iter().filter(|capture| share.captures(setup, capture.at)) {
            let name = match capture.at {
                CapturePoint::Link { link } => setup.links[link.index()].name.to_string(),
                CapturePoint::Host { host: node } => setup.nodes[node.index()].name.clone(),
            };
            let file = CaptureFile::create(Path::new(&capture.file), &[name], capture.snap_length)?;
            captures.push(Capture { at: capture.at, path: capture.file.clone(), file, identification: 0 });
        }
        let watches_links = probes_links(setup)
            || captures.iter().any(|capture: &Capture| matches!(capture.at, CapturePoint::Link { .. }));
        let watched = (0..flows.len()).filter(|_| watches_links);
        let datagrams = if watches_links { datagrams } else { &[] };
        let ends_of_datagrams =
            |flow: &DatagramFlow| vec![(flow.forward.key.source, flow.forward.key.destination)];
        Ok(Self {
            control_drops: (0, 0),
            probes: ProbeTaps {
                links: if probes_links(setup) { vec![(0, 0); setup.links.len()] } else { Vec::new() },
                under_way: BTreeMap::new(),
            },
            arrived: BTreeSet::new(),
            external: None,
            drops: DropsByFlow::new(flows.len() + share.datagrams.len()),
            passing_drops: BTreeMap::new(),
            passing: Vec::new(),
            numbers: match share.part {
                Some(_) => share.numbers(setup).collect(),
                None => Vec::new(),
            },
            watches_hosts: captures.iter().any(|c| matches!(c.at, CapturePoint::Host { .. })),
            watches_links,
            captures,
            endpoints: watched
                .map(|flow| flows.endpoints(flow))
                .chain(datagrams.iter().map(ends_of_datagrams))
                .collect(),
            datagrams: datagrams.iter().map(|flow| (flow.id, flow.setup.source)).collect(),
            lost: Vec::new(),
        })
    }

    #[inline]
    pub(super) fn watches_hosts(&self) -> bool {
        self.watches_hosts
    }

    /// The observer of one link.
    #[inline]
    pub(super) fn at(&mut self, link: LinkId) -> TapAt<'_> {
        TapAt { taps: self, link }
    }

    /// A host sends a packet.
    pub(super) fn sent(
        &mut self,
        now: Instant,
        (host, packet): (NodeId, &Packet),
        segment: &Segment,
        key: &FlowKey,
    ) {
        let (at, ends) = (CapturePoint::Host { host }, (key.source, key.destination));
        self.record_segment(at, now, (None, packet), segment, ends);
    }

    /// A subflow runs between these ends from now on.
    pub(super) fn place_subflow(&mut self, flow: usize, subflow: u8, ends: (Endpoint, Endpoint)) {
        if let Some(subflows) = self.endpoints.get_mut(flow) {
            if subflows.len() <= usize::from(subflow) {
                subflows.resize(usize::from(subflow) + 1, ends);
            }
            subflows[usize::from(subflow)] = ends;
        }
    }

    /// A host receives a packet.
    pub(super) fn received(
        &mut self,
        now: Instant,
        (id, packet): (PacketId, &Packet),
        segment: &Segment,
        key: &FlowKey,
    ) {
        let at = CapturePoint::Host { host: packet.destination };
        let ends = (key.source, key.destination);
        self.record_segment(at, now, (Some(id), packet), segment, ends);
    }

    /// A host sends or receives a datagram of this place in order of sending.
    pub(super) fn datagram_at(
        &mut self,
        host: NodeId,
        now: Instant,
        (packet, order): (&Packet, u32),
        flow: &DatagramFlow,
    ) {
        let lane = flow.lane(packet.direction);
        let content = Content::Datagram(on_the_wire((flow.id, flow.setup.source), packet, order));
        self.record(
            CapturePoint::Host { host },
            now,
            packet,
            content,
            (lane.key.source, lane.key.destination),
        );
    }

    /// A segment, or what an external host has really sent in its place.
    fn record_segment(
        &mut self,
        at: CapturePoint,
        now: Instant,
        (id, packet): (Option<PacketId>, &Packet),
        segment: &Segment,
        ends: (Endpoint, Endpoint),
    ) {
        let bytes = self.external.as_ref().and_then(|external| external.bytes(id));
        let marked = segment.flags.has(Flags::CE);
        let content = match &bytes {
            Some(bytes) => Content::Bytes { bytes, marked },
            None => Content::Segment(segment),
        };
        self.record(at, now, packet, content, ends);
    }

    fn record(
        &mut self,
        at: CapturePoint,
        now: Instant,
        packet: &Packet,
        content: Content<'_>,
        ends: (Endpoint, Endpoint),
    ) {
        let mut failed = Vec::new();
        for (index, capture) in self.captures.iter_mut().enumerate().filter(|(_, capture)| capture.at == at) {
            capture.identification = capture.identification.wrapping_add(1);
            let seen = CapturedPacket {
                content,
                source: ends.0,
                destination: ends.1,
                identification: capture.identification,
                ttl: INITIAL_TTL.saturating_sub(super::MAX_HOPS - packet.hops_left).max(1),
            };
            if let Err(error) = capture.file.record(0, now, &seen) {
                failed.push((index, error));
            }
        }
        for (index, error) in failed.into_iter().rev() {
            self.lost.push(self.captures.remove(index).lose(now, &error));
        }
    }

    /// A packet is dropped, on a link or where no link leads on. Flows lose each segment of a train.
    pub(super) fn note_drop(&mut self, id: PacketId, pool: &PacketPool, cause: DropCause) {
        let packet = pool.get(id);
        if let Some(external) = &mut self.external {
            external.note_drop(id, cause);
        }
        if packet.flow == NO_FLOW {
            self.control_drops.0 += 1;
            self.control_drops.1 += u64::from(packet.bytes);
            self.probes.under_way.remove(&id);
            return;
        }
        if cause == DropCause::Queue
            && carries_data_alone(id, pool)
            && self.drops.count_data_at_queue(packet.flow.index())
        {
            return;
        }
        let (drops, segments) = (self.books(packet.flow), pool.segment_count(id));
        drops.control += u64::from(packet.steering == Steering::Channel);
        match packet.direction {
            Direction::Forward => drops.forward.count(id, pool),
            Direction::Backward => drops.backward += segments,
        }
        drops.causes.add(cause, segments);
    }

    /// The books of a flow, also of one that passes by.
    #[inline]
    fn books(&mut self, flow: FlowId) -> &mut FlowDrops {
        match self.drops.books(flow.index()) {
            Some(books) => books,
            None => self.passing_drops.entry(flow).or_default(),
        }
    }

    /// The ends of a packet on a link, and what of datagrams it is, if it is one.
    fn seen_by_link(&self, packet: &Packet) -> ((Endpoint, Endpoint), Option<(FlowId, DatagramSource)>) {
        if let Some(number) = packet.flow.index().checked_sub(self.endpoints.len()) {
            let PassingLane { id, key, datagrams } = self.passing[number];
            return ((key.source, key.destination), datagrams.map(|source| (id, source)));
        }
        let (source, destination) = self.endpoints[packet.flow.index()][usize::from(packet.subflow)];
        let ends = match packet.direction {
            Direction::Forward => (source, destination),
            Direction::Backward => (destination, source),
        };
        let connections = self.endpoints.len() - self.datagrams.len();
        let number = packet.flow.index().checked_sub(connections);
        (ends, number.map(|number| self.datagrams[number]))
    }

    /// Something passes by, behind all that did before.
    pub(super) fn note_passing(&mut self, lane: PassingLane) {
        self.numbers.push(lane.id);
        if self.watches_links {
            self.passing.push(lane);
        }
    }

    /// Takes over what another part of the run captures.
    pub(super) fn take_captures(&mut self, other: &mut Self) {
        self.captures.append(&mut other.captures);
        self.lost.append(&mut other.lost);
    }

    /// A packet of a family, or of none, is at its destination: whether another one of the family has been there before.
    pub(super) fn is_repeat(&mut self, family: Option<Family>) -> bool {
        family.is_some_and(|family| !self.arrived.insert(family))
    }

    /// Writes out what is buffered. Gives the captures that are lost.
    pub(super) fn finish(mut self, now: Instant) -> Vec<LostCapture> {
        for mut capture in self.captures {
            if let Err(error) = capture.file.finish() {
                self.lost.push(capture.lose(now, &error));
            }
        }
        // On several cores they come part by part.
        self.lost.sort_by(|one, other| (one.at, &one.file).cmp(&(other.at, &other.file)));
        self.lost
    }
}

/// Whether a packet is one segment of data on its way to the receiver, as most are.
fn carries_data_alone(id: PacketId, pool: &PacketPool) -> bool {
    let Packet { direction, steering, .. } = *pool.get(id);
    direction == Direction::Forward
        && steering != Steering::Channel
        && !pool.has_some_apart()
        && pool.segment(id).payload > 0
}

/// The taps as one link sees them.
pub(super) struct TapAt<'t> {
    taps: &'t mut Taps,
    link: LinkId,
}

impl LinkObserver for TapAt<'_> {
    fn flow_number(&self, flow: FlowId) -> FlowId {
        self.taps.numbers.get(flow.index()).copied().unwrap_or(flow)
    }

    fn trimmed(&mut self, id: PacketId, pool: &PacketPool) {
        self.taps.books(pool.get(id).flow).trims += 1;
    }

    fn dropped(&mut self, id: PacketId, pool: &PacketPool, cause: DropCause) {
        self.taps.note_drop(id, pool, cause);
    }

    #[inline]
    fn transmits(&mut self, at: Instant, id: PacketId, pool: &PacketPool, sent: impl FnOnce() -> u64) {
        if rarely(self.taps.watches_links) {
            self.note_transmission(at, id, pool, sent);
        }
    }

    /// What goes between the controller and a switch has no copy: their connection would throw it away.
    fn duplicates(&mut self, id: PacketId, count: u64, pool: &mut PacketPool) -> Option<PacketId> {
        let Packet { flow, steering, direction, .. } = *pool.get(id);
        if flow == NO_FLOW || steering == Steering::Channel {
            return None;
        }
        let copy = pool.duplicate(id, u64::from(self.link.0) << 32 | count);
        let books = self.taps.books(flow);
        match direction {
            Direction::Forward => books.copies.count(copy, pool),
            Direction::Backward => books.copies_back += pool.segment_count(copy),
        }
        if let Some(external) = &mut self.taps.external {
            external.duplicate(id, copy);
        }
        Some(copy)
    }
}

impl TapAt<'_> {
    #[inline(never)]
    fn note_transmission(
        &mut self,
        at: Instant,
        id: PacketId,
        pool: &PacketPool,
        sent: impl FnOnce() -> u64,
    ) {
        let packet = pool.get(id);
        if packet.flow == NO_FLOW {
            self.taps.probes.leaves(id, self.link, sent());
            return;
        }
        let (ends, datagrams) = self.taps.seen_by_link(packet);
        let point = CapturePoint::Link { link: self.link };
        if let Some(datagrams) = datagrams {
            let datagram = on_the_wire(datagrams, packet, pool.order(id));
            self.taps.record(point, at, packet, Content::Datagram(datagram), ends);
            return;
        }
        for segment in pool.segments(id) {
            self.taps.record_segment(point, at, (Some(id), packet), segment, ends);
        }
    }
}
