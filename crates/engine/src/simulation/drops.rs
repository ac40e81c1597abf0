//! What flows have lost, of which most have lost nothing.

use crate::packet::{PacketId, PacketPool};
use crate::queues::{DropCause, Drops};
use std::ops::{Index, Range};

/// Drops of one flow, both directions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct FlowDrops {
    pub(super) forward: Carried,
    pub(super) backward: u64,
    pub(super) causes: Drops,
    /// Copies that links have made, there and back; they are no drops, and in the same books.
    pub(super) copies: Carried,
    pub(super) copies_back: u64,
    /// On the way between a switch and the controller.
    pub(super) control: u64,
    /// Data packets cut to their headers, which go on without data.
    pub(super) trims: u64,
}

/// Segments on their way to the receiver.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Carried {
    /// With payload.
    pub(super) data: u64,
    /// Without: SYNs, ACKs of handshakes, FINs that come alone.
    pub(super) bare: u64,
}

impl FlowDrops {
    /// All of them, there and back.
    pub(super) const fn all(&self) -> u64 {
        self.forward.data + self.forward.bare + self.backward
    }

    /// Adds those that were counted elsewhere.
    pub(super) fn add(&mut self, other: &Self) {
        self.forward.add(other.forward);
        self.backward += other.backward;
        self.control += other.control;
        self.copies.add(other.copies);
        self.copies_back += other.copies_back;
        for &cause in DropCause::ALL {
            self.causes.add(cause, other.causes.of(cause));
        }
    }
}

impl Carried {
    /// Adds what was counted elsewhere.
    pub(super) const fn add(&mut self, other: Self) {
        self.data += other.data;
        self.bare += other.bare;
    }

    /// Counts all that a packet carries.
    pub(super) fn count(&mut self, id: PacketId, pool: &PacketPool) {
        for segment in pool.segments(id) {
            *if segment.payload > 0 { &mut self.data } else { &mut self.bare } += 1;
        }
    }
}

/// The drops of each flow.
pub(super) struct DropsByFlow {
    /// The place of each flow's books; that of flows that have lost nothing is 0.
    places: Vec<u32>,
    /// The first of them stays empty.
    books: Vec<FlowDrops>,
}

impl DropsByFlow {
    /// Of so many flows.
    pub(super) fn new(flows: usize) -> Self {
        Self { places: vec![0; flows], books: vec![FlowDrops::default()] }
    }

    /// How many flows there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The books of a flow, if there is one of this number.
    pub(super) fn get(&self, flow: usize) -> Option<&FlowDrops> {
        self.places.get(flow).map(|&place| &self.books[place as usize])
    }

    /// The same, to write into.
    pub(super) fn get_mut(&mut self, flow: usize) -> Option<&mut FlowDrops> {
        let place = self.places.get_mut(flow)?;
        if *place == 0 {
            *place = self.books.len() as u32;
            self.books.push(FlowDrops::default());
        }
        self.books.get_mut(*place as usize)
    }

    /// Adds what was counted elsewhere.
    pub(super) fn add(&mut self, flow: usize, books: &FlowDrops) {
        if *books != FlowDrops::default()
            && let Some(flow_drops) = self.get_mut(flow)
        {
            flow_drops.add(books);
        }
    }

    /// The books of these flows.
    pub(super) fn of(&self, flows: Range<usize>) -> impl Iterator<Item = &FlowDrops> {
        self.places[flows].iter().map(|&place| &self.books[place as usize])
    }
}

impl Index<usize> for DropsByFlow {
    type Output = FlowDrops;

    fn index(&self, flow: usize) -> &FlowDrops {
        &self.books[self.places[flow] as usize]
    }
}
