//! Reordering of a flow's packets (RFC 4737), measured as they arrive.

use std::collections::VecDeque;

/// Most gaps in the order of sending that are remembered: 4096 x 12 bytes a flow at most.
const MAX_GAPS: usize = 4096;

/// Room for so many gaps is made at least.
const LEAST_ROOM: usize = 4;

/// Reordering metrics of one flow. Each transmission has its own number in the order of sending, also
/// a retransmission; a lost one leaves a gap for good. Of one that arrives again only the first arrival is looked at (RFC 4737
/// section 3.3), and the others are counted.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Reordering {
    /// RFC 4737 section 3.3: the number after the largest that has arrived.
    next_expected: u64,
    received: u64,
    /// Apart, because most packets come in order.
    irregular: Option<Box<Irregular>>,
}

/// What one flow's packets, or those of several, have shown.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Totals {
    received: u64,
    reordered: u64,
    extent_sum: u64,
    extent_max: u64,
    repeats: u64,
}

/// What is known of packets that came late or were left out.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Irregular {
    reordered: u64,
    extent_sum: u64,
    extent_max: u64,
    underestimated: u64,
    repeats: u64,
    /// Gaps that packets may still fill, in ascending order.
    gaps: VecDeque<Gap>,
    /// The end of the newest gap that was forgotten for want of room.
    forgotten: Option<Gap>,
}

/// Numbers left out when a packet arrived ahead of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Gap {
    /// The packet that arrived ahead: one more than the last number left out.
    end: u32,
    /// Its index in the order of arrival, from 0.
    arrival: u32,
    /// Numbers left out that have not arrived yet.
    missing: u32,
}

impl Reordering {
    /// Nothing has arrived.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What several measured apart have counted together.
    #[must_use]
    pub fn sum<'r>(all: impl Iterator<Item = &'r Self>) -> Totals {
        all.map(Self::totals).fold(Totals::default(), |sum, one| Totals {
            received: sum.received + one.received,
            reordered: sum.reordered + one.reordered,
            extent_sum: sum.extent_sum + one.extent_sum,
            extent_max: sum.extent_max.max(one.extent_max),
            repeats: sum.repeats + one.repeats,
        })
    }

    /// What it has counted.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let late = self.irregular.as_ref();
        let (reordered, extent_sum, extent_max) =
            late.map_or((0, 0, 0), |late| (late.reordered, late.extent_sum, late.extent_max));
        let repeats = late.map_or(0, |late| late.repeats);
        Totals { received: self.received, reordered, extent_sum, extent_max, repeats }
    }

    /// Counts a packet that has arrived before.
    pub fn on_repeat(&mut self) {
        self.irregular.get_or_insert_default().repeats += 1;
    }

    /// Counts a packet whose number in the flow's order of sending, from 0, is `sent_order`.
    #[inline]
    pub fn on_arrival(&mut self, sent_order: u32) {
        if u64::from(sent_order) == self.next_expected {
            self.next_expected += 1;
        } else {
            self.out_of_sequence(sent_order);
        }
        self.received += 1;
    }

    #[inline(never)]
    fn out_of_sequence(&mut self, sent_order: u32) {
        if u64::from(sent_order) < self.next_expected {
            self.late(sent_order);
            return;
        }
        let irregular = self.irregular.get_or_insert_default();
        if irregular.gaps.len() == MAX_GAPS {
            irregular.forgotten = irregular.gaps.pop_front();
        }
        // Each packet arrives once at most: numbers that fit a packet's place in order fit these.
        let missing = sent_order - self.next_expected as u32;
        if irregular.gaps.len() == irregular.gaps.capacity() {
            // Half as much room again: most flows lose few packets, and never fill twice as much.
            irregular.gaps.reserve_exact((irregular.gaps.len() / 2).max(LEAST_ROOM));
        }
        irregular.gaps.push_back(Gap { end: sent_order, arrival: self.received as u32, missing });
        self.next_expected = u64::from(sent_order) + 1;
    }

    /// Section 4.2.1: the extent is the distance, in arrivals, to the first packet that had arrived with
    /// a larger number. That one was ahead of all before it, and ahead of this one: it ended the gap
    /// that this one is from.
    fn late(&mut self, sent_order: u32) {
        let irregular = self.irregular.get_or_insert_default();
        irregular.reordered += 1;
        let first_larger = match irregular.forgotten {
            Some(gap) if sent_order < gap.end => {
                // An older gap may have been meant, but none that ended later than this one.
                irregular.underestimated += 1;
                gap.arrival
            }
            _ => {
                let gaps = &mut irregular.gaps;
                let index = gaps.partition_point(|gap| gap.end <= sent_order);
                let gap = gaps.get_mut(index).expect("each transmission arrives at most once");
                gap.missing -= 1;
                let arrival = gap.arrival;
                while gaps.front().is_some_and(|gap| gap.missing == 0) {
                    gaps.pop_front();
                }
                arrival
            }
        };
        let extent = self.received - u64::from(first_larger);
        irregular.extent_sum += extent;
        irregular.extent_max = irregular.extent_max.max(extent);
    }

    /// Reordered packets whose extent may be counted too small: they filled a gap that more than 4096
    /// unfilled younger ones had pushed out of memory. While this is 0, extents are exact.
    #[must_use]
    pub fn underestimated(&self) -> u64 {
        self.irregular.as_ref().map_or(0, |irregular| irregular.underestimated)
    }
}

impl Totals {
    /// Packets that arrived.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Packets that arrived though they had arrived before.
    #[must_use]
    pub const fn repeats(&self) -> u64 {
        self.repeats
    }

    /// Packets that arrived after one sent later (section 3.3, Type-P-Reordered).
    #[must_use]
    pub const fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Reordered packets over received ones (section 4.1); 0 if nothing has arrived.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.received == 0 { 0.0 } else { self.reordered as f64 / self.received as f64 }
    }

    /// Mean reordering extent of the reordered packets, in packets (section 4.2); 0 if there are none.
    #[must_use]
    pub fn mean_extent(&self) -> f64 {
        if self.reordered == 0 { 0.0 } else { self.extent_sum as f64 / self.reordered as f64 }
    }

    /// Largest reordering extent, in packets; 0 if no packet was reordered.
    #[must_use]
    pub const fn max_extent(&self) -> u64 {
        self.extent_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn irregular(reordering: &Reordering) -> &Irregular {
        reordering.irregular.as_ref().expect("some packets were not in order")
    }

    /// (reordered, sum of extents, largest extent) by the definitions of RFC 4737 sections 3.3 and
    /// 4.2.1, looking back over all arrivals.
    fn by_definition(arrivals: &[u64]) -> (u64, u64, u64) {
        let mut next_expected = 0;
        let (mut reordered, mut sum, mut max) = (0, 0, 0);
        for (i, s) in arrivals.iter().enumerate() {
            if *s >= next_expected {
                next_expected = s + 1;
                continue;
            }
            let j = arrivals[..i].iter().position(|earlier| earlier > s).expect("one was ahead");
            reordered += 1;
            sum += (i - j) as u64;
            max = max.max((i - j) as u64);
        }
        (reordered, sum, max)
    }

    fn measured(arrivals: &[u64]) -> Reordering {
        let mut reordering = Reordering::new();
        arrivals.iter().for_each(|s| reordering.on_arrival(*s as u32));
        reordering
    }

    fn summary(reordering: &Reordering) -> (u64, u64, u64) {
        let sum = reordering.irregular.as_ref().map_or(0, |irregular| irregular.extent_sum);
        (reordering.totals().reordered, sum, reordering.totals().extent_max)
    }

    /// By hand from sections 3.3 and 4.2.1: packet 4 arrives eighth and finds 9 expected, so it is
    /// reordered; packet 5, which arrived fourth, is the first larger one. The extent is 8 - 4.
    /// Of a packet that comes twice the first arrival counts (RFC 4737 section 3.3): 0 1 1 3 1 2 has one reordered packet of
    /// an extent of 1, and two that came again.
    #[test]
    fn a_packet_that_comes_again_is_not_reordered() {
        let mut reordering = Reordering::new();
        [0, 1].into_iter().for_each(|order| reordering.on_arrival(order));
        reordering.on_repeat();
        reordering.on_arrival(3);
        reordering.on_repeat();
        reordering.on_arrival(2);
        let totals = reordering.totals();
        let counts = (totals.received(), totals.repeats(), totals.reordered(), totals.max_extent());
        assert_eq!(counts, (4, 2, 1, 1));
    }

    #[test]
    fn one_late_packet() {
        let reordering = measured(&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]);
        assert_eq!(summary(&reordering), (1, 4, 4));
        assert_eq!((reordering.totals().ratio(), reordering.totals().mean_extent()), (0.1, 4.0));
    }

    /// Two late packets in a row, 5 and 6, both overtaken by 7 first: extents 1 and 2.
    #[test]
    fn two_late_packets() {
        assert_eq!(summary(&measured(&[1, 2, 3, 4, 7, 5, 6, 8, 9, 10])), (2, 3, 2));
    }

    /// One packet that is early makes all those that it overtook late: 1, 5, 2, 3, 4 has extents 1, 2
    /// and 3 (section 4.2.1).
    #[test]
    fn one_early_packet() {
        let reordering = measured(&[1, 5, 2, 3, 4, 6]);
        assert_eq!(summary(&reordering), (3, 6, 3));
        assert_eq!((reordering.totals().ratio(), reordering.totals().mean_extent()), (0.5, 2.0));
    }

    /// Loss is no reordering (section 3.3: a packet above NextExp is in order).
    #[test]
    fn lost_packets_leave_the_order_alone() {
        let reordering = measured(&[0, 1, 4, 5, 9, 10]);
        assert_eq!((summary(&reordering), reordering.totals().ratio()), ((0, 0, 0), 0.0));
        let none = measured(&[]).totals();
        assert_eq!((none.ratio(), none.mean_extent()), (0.0, 0.0));
    }

    #[test]
    fn memory_is_freed_as_gaps_are_filled() {
        // Two paths, one 1000 packets behind: even numbers at once, odd ones later.
        let mut reordering = measured(&(0..1000).map(|i| 2 * i).collect::<Vec<_>>());
        for i in 0..50_000u32 {
            reordering.on_arrival(2 * i + 2000);
            reordering.on_arrival(2 * i + 1);
            assert!(irregular(&reordering).gaps.len() <= 1001);
        }
        // Number 2i + 1 was first overtaken by 2i + 2: 1000 even ones, and the odd ones between them.
        assert_eq!((reordering.underestimated(), reordering.totals().max_extent()), (0, 2 * 1000 - 1));
    }

    /// With every second packet lost, gaps stay open; one from before the oldest that is remembered is
    /// counted from the newest forgotten one, which is too little and said to be.
    #[test]
    fn extents_beyond_memory_are_lower_bounds() {
        let mut reordering = Reordering::new();
        let gaps = MAX_GAPS as u64 + 10;
        (0..gaps as u32).for_each(|i| reordering.on_arrival(2 * i + 1));
        assert_eq!(irregular(&reordering).gaps.len(), MAX_GAPS);
        // Number 0 was overtaken by the first arrival: the true extent is `gaps`.
        reordering.on_arrival(0);
        assert_eq!((reordering.underestimated(), reordering.totals().max_extent()), (1, gaps - 9));
        // Number 20 is in the oldest gap in memory: exact, 10 arrivals after number 1.
        reordering.on_arrival(20);
        assert_eq!((reordering.underestimated(), reordering.totals().max_extent()), (1, gaps - 9));
        assert_eq!(irregular(&reordering).extent_sum, (gaps - 9) + (gaps + 1 - 10));
    }

    proptest! {
        #[test]
        fn agrees_with_the_definitions(
            // Each packet is delayed by a random number of sending times, or lost.
            delays in prop::collection::vec(prop::option::weighted(0.9, 0u64..30), 0..300),
        ) {
            let mut order: Vec<(u64, u64)> = delays
                .iter()
                .enumerate()
                .filter_map(|(s, delay)| delay.map(|delay| (s as u64 + delay, s as u64)))
                .collect();
            order.sort_unstable();
            let arrivals: Vec<u64> = order.into_iter().map(|(_, s)| s).collect();
            let reordering = measured(&arrivals);
            prop_assert_eq!(summary(&reordering), by_definition(&arrivals));
            prop_assert_eq!(reordering.totals().received(), arrivals.len() as u64);
            prop_assert_eq!(reordering.underestimated(), 0);
        }

        #[test]
        fn any_permutation_agrees(arrivals in Just((0..60u64).collect::<Vec<_>>()).prop_shuffle()) {
            prop_assert_eq!(summary(&measured(&arrivals)), by_definition(&arrivals));
        }
    }
}
