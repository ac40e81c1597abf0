//! What is noted of a multipath connection beside its ends: where its subflows go, and which bytes arrive.

use crate::forwarding::PathStart;
use crate::interfaces::Hosts;
use anabranch_transport::{Flags, Segment, SenderAgent};
use anabranch_units::Instant;
use std::collections::BTreeMap;

/// Notes of a connection.
pub(super) struct Multipath {
    pub(super) subflows: Vec<Notes>,
    /// The interfaces of its hosts, where its path manager looks at them.
    pub(super) hosts: Option<Hosts>,
    pub(super) arrived: Arrived,
}

/// Of a subflow.
#[derive(Clone, Copy, Default)]
pub(super) struct Notes {
    /// When its first SYN left.
    pub(super) opened_at: Option<Instant>,
    /// How its latest packet set out.
    pub(super) start: Option<PathStart>,
    /// Packets that left by another path than the one before them.
    pub(super) path_changes: u64,
}

impl Multipath {
    pub(super) fn new(subflows: usize, hosts: Option<Hosts>) -> Self {
        Self { subflows: vec![Notes::default(); subflows], hosts, arrived: Arrived::default() }
    }

    /// How many subflows it has notes of.
    pub(super) fn count(&self) -> usize {
        self.subflows.len()
    }

    /// One subflow more.
    pub(super) fn add_subflow(&mut self) {
        self.subflows.push(Notes::default());
    }

    /// The sender hands a segment to the network, which puts it on a path; `is_same` compares two paths.
    #[inline]
    pub(super) fn on_sent(
        &mut self,
        now: Instant,
        segment: &Segment,
        start: Option<PathStart>,
        is_same: impl FnOnce(PathStart, PathStart) -> bool,
    ) {
        let notes = &mut self.subflows[usize::from(segment.subflow)];
        if segment.flags.has(Flags::SYN) && notes.opened_at.is_none() {
            notes.opened_at = Some(now);
        }
        let Some(after) = start.filter(|_| start != notes.start) else { return };
        if notes.start.is_some_and(|before| !is_same(before, after)) {
            notes.path_changes += 1;
        }
        notes.start = Some(after);
    }

    /// A data segment reaches the receiver; the sender knows which bytes of the stream it carries.
    pub(super) fn on_arrival(&mut self, sender: &SenderAgent, segment: &Segment) {
        if let Some((left, right)) = sender.stream_range(segment) {
            self.arrived.add(left, right);
        }
    }
}

/// Which bytes of a stream have arrived, whatever the receiver makes of them.
#[derive(Default)]
pub(super) struct Arrived {
    /// All of them, repeated ones as often as they came.
    pub(super) bytes: u64,
    /// Every byte before this one has arrived.
    pub(super) in_order: u64,
    /// Ends of what has arrived above, by their beginnings; they do not touch each other.
    above: BTreeMap<u64, u64>,
}

impl Arrived {
    fn add(&mut self, left: u64, right: u64) {
        self.bytes += right - left;
        if right <= self.in_order {
            return;
        }
        if left <= self.in_order && self.above.is_empty() {
            self.in_order = right;
            return;
        }
        let (mut left, mut right) = (left, right);
        while let Some((&from, &to)) = self.above.range(..=right).next_back().filter(|(_, to)| **to >= left) {
            left = left.min(from);
            right = right.max(to);
            self.above.remove(&from);
        }
        if left <= self.in_order {
            self.in_order = right;
        } else {
            self.above.insert(left, right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of all bytes.
        #[test]
        fn arrived_bytes_are_those_of_a_list(pieces in prop::collection::vec((0u64..200, 1u64..30), 0..60)) {
            let (mut arrived, mut list, mut bytes) = (Arrived::default(), vec![false; 256], 0);
            for (left, length) in pieces {
                arrived.add(left, left + length);
                bytes += length;
                (left..left + length).for_each(|byte| list[byte as usize] = true);
                let in_order = list.iter().position(|there| !there).unwrap_or(list.len());
                prop_assert_eq!((arrived.bytes, arrived.in_order), (bytes, in_order as u64));
                let above: u64 = arrived.above.iter().map(|(left, right)| right - left).sum();
                let all = list.iter().filter(|there| **there).count() as u64;
                prop_assert_eq!(arrived.in_order + above, all);
            }
        }
    }
}
