//! What flows have lost, of which most have lost nothing.

use crate::packet::{PacketId, PacketPool};
use crate::queues::{DropCause, Drops};
use std::ops::Range;

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
        self.trims += other.trims;
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

/// What is kept of a flow. Most drops are of single packets with data in front of a full queue: they are counted here, in a line
/// of the cache that eight flows share. Of anything else there are books.
#[derive(Clone, Copy, Default)]
struct Count {
    data_at_queues: u32,
    /// The place of its books; that of flows that have none is 0.
    place: u32,
}

/// The drops of each flow.
pub(super) struct DropsByFlow {
    counts: Vec<Count>,
    /// The first of them stays empty.
    books: Vec<FlowDrops>,
}

impl DropsByFlow {
    /// Of so many flows.
    pub(super) fn new(flows: usize) -> Self {
        Self { counts: vec![Count::default(); flows], books: vec![FlowDrops::default()] }
    }

    /// How many flows there are.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The drops of a flow, if there is one of this number.
    pub(super) fn get(&self, flow: usize) -> Option<FlowDrops> {
        self.counts.get(flow).map(|&count| self.all_of(count))
    }

    /// The drops of a flow, of which there is one of this number.
    pub(super) fn at(&self, flow: usize) -> FlowDrops {
        self.all_of(self.counts[flow])
    }

    fn all_of(&self, Count { data_at_queues, place }: Count) -> FlowDrops {
        let mut drops = self.books[place as usize];
        drops.forward.data += u64::from(data_at_queues);
        drops.causes.add(DropCause::Queue, u64::from(data_at_queues));
        drops
    }

    /// Counts a packet with data that a full queue has dropped. False where it is for the books.
    #[inline]
    pub(super) fn count_data_at_queue(&mut self, flow: usize) -> bool {
        let count = self.counts.get_mut(flow).filter(|count| count.data_at_queues < u32::MAX);
        count.map(|count| count.data_at_queues += 1).is_some()
    }

    /// The books of a flow, to write into.
    pub(super) fn books(&mut self, flow: usize) -> Option<&mut FlowDrops> {
        let place = &mut self.counts.get_mut(flow)?.place;
        if *place == 0 {
            *place = self.books.len() as u32;
            self.books.push(FlowDrops::default());
        }
        self.books.get_mut(*place as usize)
    }

    /// Adds what was counted elsewhere.
    pub(super) fn add(&mut self, flow: usize, drops: &FlowDrops) {
        if *drops != FlowDrops::default()
            && let Some(books) = self.books(flow)
        {
            books.add(drops);
        }
    }

    /// The drops of these flows.
    pub(super) fn of(&self, flows: Range<usize>) -> impl Iterator<Item = FlowDrops> {
        self.counts[flows].iter().map(|&count| self.all_of(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Wherever a drop is counted, a flow has all of its drops; and a count that is full goes on in the books.
        #[test]
        fn counts_and_books_are_one(drops in prop::collection::vec((0usize..3, any::<bool>()), 0..40)) {
            let (mut by_flow, mut expected) = (DropsByFlow::new(3), [FlowDrops::default(); 3]);
            let full = u32::MAX - 2;
            by_flow.counts[0].data_at_queues = full;
            expected[0].forward.data = u64::from(full);
            expected[0].causes.add(DropCause::Queue, u64::from(full));
            for (flow, is_at_queue) in drops {
                let cause = if is_at_queue { DropCause::Queue } else { DropCause::Random };
                let books = |drops: &mut FlowDrops| {
                    drops.forward.data += 1;
                    drops.causes.add(cause, 1);
                };
                if !(is_at_queue && by_flow.count_data_at_queue(flow)) {
                    books(by_flow.books(flow).expect("there is such a flow"));
                }
                books(&mut expected[flow]);
            }
            prop_assert_eq!(by_flow.of(0..3).collect::<Vec<_>>(), expected);
            prop_assert_eq!(by_flow.get(1), Some(expected[1]));
            prop_assert!(by_flow.get(3).is_none() && !by_flow.count_data_at_queue(3));
        }
    }
}
