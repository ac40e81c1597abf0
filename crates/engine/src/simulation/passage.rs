//! Numbers of flows in a part of a run, and those that they have in the setup.

use super::share::Share;
use crate::balancer::FlowKey;
use crate::packet::{Direction, Packet};
use crate::setup::{DatagramSource, Setup};
use anabranch_units::FlowId;
use std::collections::BTreeMap;

/// No place yet.
const NOWHERE: u32 = u32::MAX;

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

impl Passage {
    pub(super) fn new(setup: &Setup, share: &Share<'_>) -> Self {
        let connections = setup.flows.len();
        let ids: Vec<FlowId> = share.numbers(setup).collect();
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
    pub(super) fn place_of(&mut self, id: FlowId, packet: &Packet) -> (FlowId, bool) {
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

    /// A lane passes by, behind all that did before.
    pub(super) fn add(&mut self, lane: PassingLane) {
        self.lanes.push(lane);
    }
}
