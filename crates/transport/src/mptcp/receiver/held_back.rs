//! Data that wait for a hole on their subflow. Only what is in order there is put into the order of the stream, as in
//! Linux, whose connections take data out of the receive queues of their subflows: a subflow never delivers less than the
//! connection took from it.

use super::Data;
use std::collections::VecDeque;

/// The data of a segment, and the position on the subflow behind it.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    end: u64,
    data: Data,
}

/// What a subflow holds back, in the order of the subflow.
#[derive(Default, Debug)]
pub(super) struct HeldBack {
    waiting: VecDeque<Waiting>,
}

impl HeldBack {
    /// Takes the data of a segment that ends at `end` on the subflow; returns false if they wait already.
    pub(super) fn insert(&mut self, end: u64, data: Data) -> bool {
        // Most are the newest.
        let place = match self.waiting.back() {
            Some(last) if last.end >= end => self.waiting.partition_point(|waiting| waiting.end < end),
            _ => self.waiting.len(),
        };
        if self.waiting.get(place).is_some_and(|waiting| waiting.end == end && waiting.data.0 <= data.0) {
            return false;
        }
        self.waiting.insert(place, Waiting { end, data });
        true
    }

    /// The next data that need not wait any longer, for the subflow has everything below `position`.
    pub(super) fn release(&mut self, position: u64) -> Option<Data> {
        self.waiting.front().filter(|waiting| waiting.end <= position)?;
        self.waiting.pop_front().map(|waiting| waiting.data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_leave_in_the_order_of_their_subflow_and_once() {
        let mut held_back = HeldBack::default();
        for (end, left) in [(30, 200), (40, 100), (20, 300)] {
            assert!(held_back.insert(end, (left, left + 10, false)));
        }
        assert!(!held_back.insert(40, (100, 110, false)), "it waits already");
        assert_eq!(held_back.release(19), None);
        let released: Vec<u64> = std::iter::from_fn(|| held_back.release(39)).map(|data| data.0).collect();
        assert_eq!(released, [300, 200]);
        assert_eq!(held_back.release(40), Some((100, 110, false)));
        assert_eq!(held_back.release(u64::MAX), None);
    }
}
