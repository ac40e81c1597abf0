//! Packets that cross from one part of a run to another.
//!
//! Each part has its own flows, and numbers them in the order of the setup; so it does with paths. Packets have these
//! numbers, and get those of the part that they come to: of a flow with an end there, of a passing lane otherwise. What is
//! left of a path is told once, with the first packet that takes it.

use super::datagrams::{DatagramFlow, Recent};
use super::flow::Flow;
use super::share::Share;
use super::{DataPlane, Simulation};
use crate::balancer::FlowKey;
use crate::packet::{Direction, Packet, Steering, Unpooled};
use crate::setup::{DatagramSource, Setup};
use anabranch_units::{FlowId, Instant, LinkId};
use std::collections::{BTreeMap, BTreeSet};

/// No place yet.
const NOWHERE: u32 = u32::MAX;

/// A packet on its way from one part to another.
#[derive(Debug)]
pub(super) struct Crossing {
    link: LinkId,
    arrival: Instant,
    packet: Unpooled,
    /// Its flow's number in the setup, or behind those that of datagrams, and its subflow and direction.
    flow: FlowId,
    key: FlowKey,
    /// What is left of its path, where nobody has been told yet.
    path: Option<Box<[LinkId]>>,
}

/// What a part knows of a neighbour.
#[derive(Default)]
pub(super) struct Border {
    /// Links to it.
    links: Vec<LinkId>,
    /// Places on paths whose rest it has been told.
    told: BTreeSet<u32>,
    /// Its places on paths, and what they are here.
    known: BTreeMap<u32, u32>,
}

/// One direction of a subflow that has no end in a part.
#[derive(Clone, Copy)]
pub(super) struct PassingLane {
    /// The number of its flow in the setup.
    pub(super) id: FlowId,
    pub(super) key: FlowKey,
    /// What it is if it is of datagrams.
    pub(super) datagrams: Option<DatagramSource>,
}

/// Numbers of a part, and those of the setup.
pub(super) struct Passage {
    /// Numbers in the setup of the flows here, and of the datagrams behind them.
    ids: Vec<FlowId>,
    /// By number in the setup and direction: the number of the first subflow here, or [`NOWHERE`].
    places: Vec<u32>,
    /// The same of passing lanes of other subflows.
    of_subflows: BTreeMap<(FlowId, bool, u8), u32>,
    /// Behind the flows and datagrams.
    lanes: Vec<PassingLane>,
}

impl Border {
    pub(super) fn new(links: Vec<LinkId>) -> Self {
        Self { links, ..Self::default() }
    }
}

impl Passage {
    pub(super) fn new(setup: &Setup, share: &Share<'_>) -> Self {
        let connections = setup.flows.len();
        let datagrams = share.datagrams.iter().map(|number| FlowId(connections as u32 + number));
        let ids: Vec<FlowId> = share.flows.iter().copied().chain(datagrams).collect();
        let mut places = vec![NOWHERE; 2 * (connections + setup.datagrams.len())];
        for (place, id) in (0..).zip(&ids) {
            places[2 * id.index()] = place;
            places[2 * id.index() + 1] = place;
        }
        Self { ids, places, of_subflows: BTreeMap::new(), lanes: Vec::new() }
    }

    /// The number in the setup of what has this number here.
    pub(super) fn id(&self, place: FlowId) -> FlowId {
        match self.lanes.get(place.index().wrapping_sub(self.ids.len())) {
            Some(lane) => lane.id,
            None => self.ids[place.index()],
        }
    }

    /// The number here of a flow of the setup that has an end here.
    pub(super) fn place(&self, id: FlowId) -> FlowId {
        FlowId(self.places[2 * id.index()])
    }

    /// The numbers here of what there is of a flow of the setup without subflows.
    pub(super) fn places(&self, id: FlowId) -> impl Iterator<Item = FlowId> {
        let [forth, back] = [self.places[2 * id.index()], self.places[2 * id.index() + 1]];
        let both = [Some(forth), (back != forth).then_some(back)];
        both.into_iter().flatten().filter(|&place| place != NOWHERE).map(FlowId)
    }

    /// How many lanes pass by.
    pub(super) fn passing(&self) -> usize {
        self.lanes.len()
    }

    /// The key of what passes by.
    pub(super) fn key(&self, place: FlowId) -> FlowKey {
        self.lanes[place.index() - self.ids.len()].key
    }

    /// The place of a packet that comes; whether it is the first of its lane.
    fn place_of(&mut self, id: FlowId, packet: &Packet) -> (FlowId, bool) {
        let is_back = packet.direction == Direction::Backward;
        let next = (self.ids.len() + self.lanes.len()) as u32;
        let first = &mut self.places[2 * id.index() + usize::from(is_back)];
        let is_local = (*first as usize) < self.ids.len();
        let place = if packet.subflow == 0 || is_local {
            first
        } else {
            self.of_subflows.entry((id, is_back, packet.subflow)).or_insert(NOWHERE)
        };
        let is_new = *place == NOWHERE;
        if is_new {
            *place = next;
        }
        (FlowId(*place), is_new)
    }
}

impl DataPlane {
    /// Brings the links to a neighbour forward to now, and hands over what they have sent.
    pub(super) fn hand_over(&mut self, flows: &[Flow], border: &mut Border, out: &mut Vec<Crossing>) {
        let before = out.len();
        for &id in &border.links {
            if self.links[id.index()].next_event(&self.pool).is_none() {
                continue;
            }
            self.change_link(id, |link, now, pool, taps| {
                link.hand_over(now, pool, taps, |packet, arrival| {
                    let (flow, key) = (packet.packet().flow, FlowKey::NONE);
                    out.push(Crossing { link: id, arrival, packet, flow, key, path: None });
                });
            });
        }
        let passage = self.passage.as_ref().expect("a part of a run");
        for crossing in &mut out[before..] {
            let packet = crossing.packet.packet();
            crossing.flow = passage.id(packet.flow);
            let datagrams = |index: usize| self.datagrams.get(index - flows.len());
            crossing.key = match flows.get(packet.flow.index()) {
                Some(flow) => flow.lane(packet.direction, packet.subflow).key,
                None => datagrams(packet.flow.index())
                    .map_or_else(|| passage.key(packet.flow), |flow| flow.lane(packet.direction).key),
            };
            if packet.steering == Steering::Path && border.told.insert(packet.cursor) {
                let rest = self.forwarding.path_links(&self.network, packet.cursor, packet.destination);
                crossing.path = Some(rest.into());
            }
        }
    }

    /// Takes what a neighbour has sent.
    fn take_in(&mut self, setup: &Setup, border: &mut Border, crossings: &mut Vec<Crossing>) {
        let passage = self.passage.as_mut().expect("a part of a run");
        for Crossing { link: id, arrival, mut packet, flow, key, path } in crossings.drain(..) {
            let (place, is_new) = passage.place_of(flow, packet.packet());
            if is_new {
                let datagrams = flow.index().checked_sub(setup.flows.len());
                let datagrams = datagrams.map(|number| setup.datagrams[number].source);
                let lane = PassingLane { id: flow, key, datagrams };
                passage.lanes.push(lane);
                self.taps.note_passing(lane);
            }
            let head = packet.packet_mut();
            head.flow = place;
            if head.steering == Steering::Path {
                if let Some(rest) = path {
                    border.known.insert(head.cursor, self.forwarding.append(&rest));
                }
                head.cursor = border.known[&head.cursor];
            }
            let link = &mut self.links[id.index()];
            if link.take_in(packet, arrival, &mut self.pool) {
                self.schedule.set(self.numbering.link(id), arrival);
            }
        }
    }
}

impl Simulation {
    /// Hands over what the links to a neighbour have sent by now.
    pub(super) fn hand_over(&mut self, border: &mut Border, out: &mut Vec<Crossing>) {
        self.data.hand_over(&self.flows, border, out);
    }

    /// Takes what a neighbour has sent.
    pub(super) fn take_in(&mut self, border: &mut Border, crossings: &mut Vec<Crossing>) {
        self.data.take_in(&self.setup, border, crossings);
    }

    /// A flow of the setup that has an end here, and one of datagrams by its number among those.
    pub(super) fn flow_here(&self, id: FlowId) -> &Flow {
        match &self.data.passage {
            Some(passage) => &self.flows[passage.place(id).index()],
            None => &self.flows[id.index()],
        }
    }

    /// A flow of datagrams of the setup that has an end here.
    pub(super) fn datagrams_here(&self, number: usize) -> &DatagramFlow {
        &self.data.datagrams[self.datagram_place(number)]
    }

    /// What the end of a flow of datagrams has measured since the last sample.
    pub(super) fn take_recent(&mut self, number: usize) -> Recent {
        let place = self.datagram_place(number);
        std::mem::take(&mut self.data.datagrams[place].recent)
    }

    /// The place of a flow of datagrams of the setup among those here.
    fn datagram_place(&self, number: usize) -> usize {
        match &self.data.passage {
            Some(passage) => {
                passage.place(FlowId::from_index(self.setup.flows.len() + number)).index() - self.flows.len()
            }
            None => number,
        }
    }
}
