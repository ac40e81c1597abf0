//! What flows have lost, of which most have lost nothing.

use super::taps::FlowDrops;
use std::ops::{Index, Range};

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
            && let Some(own) = self.get_mut(flow)
        {
            own.add(books);
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
