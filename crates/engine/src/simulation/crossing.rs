//! Packets that cross from one part of a run to another.
//!
//! Each part has its own flows, and numbers them in the order of the setup; so it does with paths. Packets have these
//! numbers, and get those of the part that they come to: of a flow with an end there, of a passing lane otherwise. What is
//! left of a path is told once, with the first packet that takes it.

use super::data_plane::key_elsewhere;
use super::datagrams::{DatagramFlow, Recent};
use super::flow::Flow;
use super::flows::Flows;
use super::passage::PassingLane;
use super::receiving::Receiving;
use super::{DataPlane, Simulation};
use crate::balancer::FlowKey;
use crate::packet::{Steering, Unpooled};
use crate::setup::Setup;
use anabranch_units::{FlowId, Instant, LinkId};
use std::collections::{BTreeMap, BTreeSet};

/// A packet on its way from one part to another.
#[derive(Clone, Debug)]
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
    announced: BTreeSet<u32>,
    /// Its places on paths, and what they are here.
    cursors: BTreeMap<u32, u32>,
}

impl Border {
    pub(super) fn new(links: Vec<LinkId>) -> Self {
        Self { links, ..Self::default() }
    }
}

impl DataPlane {
    /// Brings the links to a neighbour forward to now, and hands over what they have sent.
    pub(super) fn hand_over(&mut self, flows: &Flows, border: &mut Border, out: &mut Vec<Crossing>) {
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
            crossing.key = match flows.get(packet.flow.index()) {
                Some(flow) => flow.key(packet.direction, packet.subflow),
                None => key_elsewhere((flows, &self.datagrams, Some(passage)), packet),
            };
            if packet.steering == Steering::Path && border.announced.insert(packet.cursor) {
                let rest = self.forwarding.path_links(&self.network, packet.cursor, packet.destination);
                crossing.path = Some(rest.into());
            }
        }
    }

    /// Takes what a neighbour has sent.
    fn take_in(
        &mut self,
        (setup, flows): (&Setup, &mut Flows),
        border: &mut Border,
        crossings: &mut Vec<Crossing>,
    ) {
        let passage = self.passage.as_mut().expect("a part of a run");
        for Crossing { link: id, arrival, mut packet, flow, key, path } in crossings.drain(..) {
            let (place, is_new) = passage.place_of(flow, packet.packet());
            if is_new {
                let datagrams = flow.index().checked_sub(setup.flows.len());
                let datagrams = datagrams.map(|number| setup.datagrams[number].source);
                let lane = PassingLane { id: flow, key, datagrams };
                passage.add(lane);
                self.taps.note_passing(lane);
            }
            // With its first packet an end comes that receives.
            flows.come(setup, place, flow);
            let head = packet.packet_mut();
            head.flow = place;
            if head.steering == Steering::Path {
                if let Some(rest) = path {
                    border.cursors.insert(head.cursor, self.forwarding.append(&rest));
                }
                head.cursor = border.cursors[&head.cursor];
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
        self.data.take_in((&self.setup, &mut self.flows), border, crossings);
    }

    /// A flow of the setup whose sender is here, if it is there now.
    pub(super) fn sending_here(&self, id: FlowId) -> Option<&Flow> {
        self.flows.get(self.flow_place(id).index())
    }

    /// The end of a flow of the setup that receives here, if it is there now.
    pub(super) fn receiving_here(&self, id: FlowId) -> Option<&Receiving> {
        self.flows.receiving(self.flow_place(id).index())
    }

    /// The number here of a flow of the setup that has an end here.
    pub(super) fn flow_place(&self, id: FlowId) -> FlowId {
        self.data.passage.as_ref().map_or(id, |passage| passage.place(id))
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
