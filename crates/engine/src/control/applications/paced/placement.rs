//! Where in a cycle each flow sends: first fit of start times, checked on every link.
//!
//! Each flow sends once in an interval, for the same time. On a link its data are there so much later as their way
//! takes, and no two flows may be there at once. A flow starts at the first time, behind the one at which data of
//! all flows would be in step, at which it finds every link of its path free; the interval is the shortest of those
//! tried that has room for all.

use super::super::router::KnownFlow;
use crate::control::View;
use crate::control::channel::links_delay;
use anabranch_units::{FlowId, LinkId, Span};
use std::collections::{BTreeMap, VecDeque};

/// A fuller interval is tried in steps of so much of the shortest one.
const STEPS: u64 = 16;

/// How long data take to each link of a flow's path, in picoseconds.
pub type Reach = Vec<(LinkId, u64)>;

/// When each flow starts, and how often.
#[derive(Debug)]
pub struct Placement {
    /// Time from one start of a flow to the next.
    pub interval: Span,
    /// Start of each flow, the earliest without regard to others at zero.
    pub starts: Vec<Span>,
}

/// The ways of the data of all flows.
#[derive(Debug)]
pub struct Ways {
    reach: Vec<Reach>,
    /// Flows on the link that has most.
    most: u64,
}

impl Ways {
    /// Those of these flows, whose data packets have `data` bytes.
    pub fn new(view: &View<'_>, flows: &[(FlowId, &KnownFlow)], data: u32) -> Self {
        let reach = |(_, flow): &(FlowId, &KnownFlow)| -> Reach {
            let at = |n: usize| links_delay(view.network, &flow.forward[..n], data).as_ps();
            flow.forward.iter().enumerate().map(|(n, &link)| (link, at(n))).collect()
        };
        Self::of(flows.iter().map(reach).collect())
    }

    fn of(reach: Vec<Reach>) -> Self {
        let most = users(&reach).values().map(Vec::len).max().unwrap_or_default().max(1) as u64;
        Self { reach, most }
    }

    /// Flows on the link that has most: as many have to send one after the other in each interval.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// A start for each flow, all of which take up a link for `slot`. Where flows meet, part and meet again over ways
    /// of different length, some time stays unused, and the interval is longer than that of [`Ways::most`] slots.
    pub fn place(&self, slot: Span) -> Placement {
        let slot = slot.as_ps().max(1);
        let in_step = in_step(&self.reach);
        let step = (self.most / STEPS).max(1);
        let mut slots = self.most;
        loop {
            let interval = slots.saturating_mul(slot);
            if let Some(later) = self.fit(&in_step, slot, interval) {
                let start = |(start, later): (&u64, u64)| Span::from_ps(start.saturating_add(later));
                let starts = in_step.iter().zip(later).map(start).collect();
                return Placement { interval: Span::from_ps(interval), starts };
            }
            slots += step;
        }
    }

    /// How much later than in step each flow starts, in the order of arrival; none if one finds no place.
    fn fit(&self, in_step: &[u64], slot: u64, interval: u64) -> Option<Vec<u64>> {
        let mut taken: BTreeMap<LinkId, Taken> = BTreeMap::new();
        let mut all = Vec::with_capacity(in_step.len());
        for (reach, start) in self.reach.iter().zip(in_step) {
            let mut later = 0;
            loop {
                let waits = reach
                    .iter()
                    .filter_map(|(link, delay)| taken.get(link)?.blocked((start + delay + later) % interval));
                let Some(wait) = waits.max() else { break };
                later += wait;
                if later >= interval {
                    return None;
                }
            }
            for &(link, delay) in reach {
                taken.entry(link).or_default().take((start + delay + later) % interval, slot, interval);
            }
            all.push(later);
        }
        Some(all)
    }
}

/// Times of an interval at which no other slot may begin on a link, as ends by beginnings. They neither overlap nor
/// touch: on a link that is full they are few.
#[derive(Debug, Default)]
struct Taken(BTreeMap<u64, u64>);

impl Taken {
    /// How long after `at` it is free again, or the interval over; none if it is free then.
    fn blocked(&self, at: u64) -> Option<u64> {
        let (_, &end) = self.0.range(..=at).next_back()?;
        (end > at).then(|| end - at)
    }

    /// A slot begins at `at`: no other may begin less than a slot before or after.
    fn take(&mut self, at: u64, slot: u64, interval: u64) {
        let (before, behind) = (slot - 1, at + slot);
        self.add(at.saturating_sub(before), behind.min(interval));
        if let Some(rest) = before.checked_sub(at + 1) {
            self.add(interval.saturating_sub(rest + 1), interval);
        }
        if behind > interval {
            self.add(0, (behind - interval).min(interval));
        }
    }

    fn add(&mut self, mut begin: u64, mut end: u64) {
        while let Some((&other, &its_end)) = self.0.range(..=end).next_back()
            && its_end >= begin
        {
            self.0.remove(&other);
            (begin, end) = (begin.min(other), end.max(its_end));
        }
        self.0.insert(begin, end);
    }
}

/// Flows by link.
fn users(reach: &[Reach]) -> BTreeMap<LinkId, Vec<usize>> {
    let mut users: BTreeMap<LinkId, Vec<usize>> = BTreeMap::new();
    for (index, links) in reach.iter().enumerate() {
        for &(link, _) in links {
            users.entry(link).or_default().push(index);
        }
    }
    users
}

/// Starts of flows, in picoseconds and the first at zero, with which their data arrive in step on every link that
/// they share, where that can be.
fn in_step(reach: &[Reach]) -> Vec<u64> {
    let users = users(reach);
    let mut starts: Vec<Option<i64>> = vec![None; reach.len()];
    let mut reached: BTreeMap<LinkId, i64> = BTreeMap::new();
    for first in 0..reach.len() {
        if starts[first].is_some() {
            continue;
        }
        starts[first] = Some(0);
        let mut queue = VecDeque::from([first]);
        while let Some(index) = queue.pop_front() {
            let start = starts[index].unwrap_or_default();
            for &(link, delay) in &reach[index] {
                let arrival = start + delay as i64;
                if reached.insert(link, arrival).is_some() {
                    continue;
                }
                for &other in users.get(&link).into_iter().flatten() {
                    if starts[other].is_none() {
                        let delay = reach[other].iter().find(|entry| entry.0 == link).map_or(0, |e| e.1);
                        starts[other] = Some(arrival - delay as i64);
                        queue.push_back(other);
                    }
                }
            }
        }
    }
    let starts: Vec<i64> = starts.into_iter().map(Option::unwrap_or_default).collect();
    let earliest = starts.iter().min().copied().unwrap_or_default();
    starts.into_iter().map(|start| start.abs_diff(earliest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether no two flows are on a link at once.
    fn apart(ways: &Ways, slot: u64, placement: &Placement) -> bool {
        let interval = placement.interval.as_ps();
        let mut links: BTreeMap<LinkId, Vec<u64>> = BTreeMap::new();
        for (reach, start) in ways.reach.iter().zip(&placement.starts) {
            for (link, delay) in reach {
                links.entry(*link).or_default().push((start.as_ps() + delay) % interval);
            }
        }
        links.values_mut().all(|times| {
            times.sort_unstable();
            let around = times.first().map(|first| first + interval);
            let next = times.iter().copied().skip(1).chain(around);
            times.iter().zip(next).all(|(time, next)| next - time >= slot)
        })
    }

    fn ways(reach: &[&[(u32, u64)]]) -> Ways {
        let link = |&(link, delay): &(u32, u64)| (LinkId(link), delay);
        Ways::of(reach.iter().map(|links| links.iter().map(link).collect()).collect())
    }

    /// One link in common behind access links of different length: no time is lost.
    #[test]
    fn flows_of_one_bottleneck_follow_each_other() {
        let ways = ways(&[&[(1, 0), (0, 70)], &[(2, 0), (0, 1000)], &[(3, 0), (0, 5)]]);
        let placement = ways.place(Span::from_ps(10));
        assert_eq!(placement.interval, Span::from_ps(30));
        assert_eq!(placement.starts, [930, 10, 1015].map(Span::from_ps));
        assert!(apart(&ways, 10, &placement));
    }

    /// Two flows part and meet again, one way 25 longer: they cannot be in step on both links.
    #[test]
    fn ways_of_different_length_cost_an_interval_no_more_than_they_must() {
        let ways = ways(&[&[(0, 0), (1, 10), (2, 50)], &[(0, 0), (3, 10), (2, 75)]]);
        let placement = ways.place(Span::from_ps(10));
        assert!(apart(&ways, 10, &placement));
        // Of 20 there is none: 10 apart on the first link are 15 on the last, and 5 less than a slot.
        assert_eq!(placement.interval, Span::from_ps(30));
    }

    proptest! {
        #[test]
        fn no_two_flows_are_on_a_link_at_once(
            paths in prop::collection::vec(prop::collection::vec((0u32..8, 0u64..500), 1..5), 1..30),
            slot in 1u64..60,
        ) {
            let path = |links: Vec<(u32, u64)>| {
                let mut delay = 0;
                let distinct: BTreeMap<u32, u64> = links.into_iter().collect();
                let step = |(link, length)| { delay += length; (LinkId(link), delay - length) };
                distinct.into_iter().map(step).collect()
            };
            let ways = Ways::of(paths.into_iter().map(path).collect());
            let placement = ways.place(Span::from_ps(slot));
            prop_assert!(apart(&ways, slot, &placement));
            prop_assert!(placement.interval.as_ps() >= ways.most() * slot);
        }
    }
}
