//! Collective operations as flows, and what flows wait for.

use super::flow_list::Listed;
use super::flows::{Flows, Maker, Part};
use super::pairs::{Entry, NodePairs};
use crate::problem::{Place, Problems};
use crate::read::Usual;
use crate::traffic::{Collective, Operation, Traffic};
use crate::words::{quoted, unknown_name};
use anabranch_engine::setup::{CollectiveSetup, WaitSetup};
use anabranch_units::{FlowId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Entries of a circle that are named beside the first.
const MOST_NAMED: usize = 5;

/// So many waits of flows for flows a run can have.
const MOST_WAITS: usize = 4_000_000;

impl Collective {
    /// Steps among so many nodes.
    const fn steps(&self, nodes: usize) -> usize {
        match self.operation {
            Operation::RingAllReduce => 2 * (nodes - 1),
            Operation::AllToAll | Operation::AllGather | Operation::ReduceScatter => nodes - 1,
        }
    }

    /// Who sends to whom in a step, by places in the ring: as many pairs as nodes. In a ring the n-th pair is that of the n-th
    /// part, in an all-to-all that of the n-th node.
    fn pairs(&self, nodes: usize, step: usize) -> impl Iterator<Item = (usize, usize)> {
        let is_ring = self.operation != Operation::AllToAll;
        (0..nodes).map(move |place| {
            if is_ring {
                ((place + step) % nodes, (place + step + 1) % nodes)
            } else {
                (place, (place + step + 1) % nodes)
            }
        })
    }

    /// Whether the pairs of a step wait, each for that with its number in the step before.
    fn waits(&self, step: usize) -> bool {
        step > 0 && !(self.operation == Operation::AllToAll && self.at_once)
    }
}

impl Maker<'_> {
    /// The flows of a collective operation; what is wrong is noted.
    pub(super) fn collective(&mut self, entry: &Entry<'_>, collective: &Collective) -> Option<Part> {
        let before = self.problems.count();
        let nodes = entry.senders(self.problems);
        if self.problems.count() > before {
            return None;
        }
        let at = entry.at.key("from");
        if nodes.iter().collect::<BTreeSet<_>>().len() < nodes.len() {
            self.problems.add(&at, "names a node twice; in a collective operation each takes part once");
            return None;
        }
        if nodes.len() < 2 {
            self.problems.add(&at, "a collective operation needs at least two nodes");
            return None;
        }
        let part = collective.bytes.0.div_ceil(nodes.len() as u64);
        let start = entry.table.start.fixed().map_or(0, |start| start.as_ps());
        let steps = 0..collective.steps(nodes.len());
        let pairs: NodePairs = steps
            .flat_map(|step| collective.pairs(nodes.len(), step).map(|(from, to)| (nodes[from], nodes[to])))
            .collect();
        let listed = Listed { bytes: vec![part; pairs.len()], start: vec![start; pairs.len()] };
        Some(Part::of_list(pairs, listed))
    }
}

/// What flows wait for, and the collective operations among them.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Waits {
    /// Flows that wait for others.
    pub waits: Vec<WaitSetup>,
    /// Collective operations.
    pub collectives: Vec<CollectiveSetup>,
}

impl Waits {
    /// Those of the entries of a scenario; what is wrong is noted.
    #[must_use]
    pub fn new(traffic: &[Traffic], flows: &Flows, problems: &mut Problems) -> Self {
        let places: Vec<_> = (0..traffic.len()).map(|place| format!("traffic[{place}]")).collect();
        let name = |place: usize| traffic[place].name.as_deref().unwrap_or(&places[place]);
        let names: BTreeMap<&str, usize> = (0..traffic.len()).map(|place| (name(place), place)).collect();
        let mut waits = Self::default();
        let mut after: Vec<Vec<usize>> = Vec::new();
        for (entry, place) in traffic.iter().zip(&places) {
            let at = Place::Told(place);
            after.push(entries_before(entry, traffic, &names, &at, problems));
        }
        if let Some(circle) = circle(&after) {
            let at = Place::Told(&places[circle[0]]);
            let named: Vec<String> = circle.iter().map(|&place| quoted(name(place))).collect();
            problems.add(&at.key("after"), in_a_circle(&named));
            return waits;
        }
        let count = |place: usize| flows.of_entries[place].len();
        let all: usize = (0..traffic.len())
            .map(|place| count(place) * after[place].iter().map(|&of| count(of)).sum::<usize>())
            .sum();
        if all > MOST_WAITS {
            problems.add_at(
                "traffic",
                format!(
                    "{all} pairs of flows of which one waits for the other are too many; at most {MOST_WAITS}"
                ),
            );
            return waits;
        }
        for (place, entry) in traffic.iter().enumerate() {
            let range = flows.of_entries[place].clone();
            let others: Vec<FlowId> =
                after[place].iter().flat_map(|&of| flows.of_entries[of].clone()).map(FlowId).collect();
            match &entry.collective {
                Some(collective) => waits.add_collective((name(place), collective), range, &others),
                None if others.is_empty() => {}
                None => waits.waits.extend(range.map(|flow| WaitSetup {
                    flow: FlowId(flow),
                    after: others.clone(),
                    delay: Span::ZERO,
                })),
            }
        }
        waits
    }

    fn add_collective(
        &mut self,
        (name, collective): (&str, &Collective),
        range: std::ops::Range<u32>,
        others: &[FlowId],
    ) {
        let nodes = (2..=range.len() + 1).find(|&nodes| nodes * collective.steps(nodes) == range.len());
        let Some(nodes) = nodes else { return };
        let steps = collective.steps(nodes);
        let flow = |step: usize, pair: usize| FlowId(range.start + (step * nodes + pair) as u32);
        for (step, pair) in (0..steps).flat_map(|step| (0..nodes).map(move |pair| (step, pair))) {
            let (after, delay) = if collective.waits(step) {
                (vec![flow(step - 1, pair)], collective.compute)
            } else {
                (others.to_vec(), Span::ZERO)
            };
            if !after.is_empty() {
                self.waits.push(WaitSetup { flow: flow(step, pair), after, delay });
            }
        }
        self.collectives.push(CollectiveSetup {
            name: name.to_owned(),
            operation: collective.operation.usual().as_str().unwrap_or_default().to_owned(),
            first: FlowId(range.start),
            hosts: nodes as u64,
            flows: nodes as u64,
            steps: steps as u64,
        });
    }
}

/// The places of the entries that an entry waits for; what is wrong is noted.
fn entries_before(
    entry: &Traffic,
    traffic: &[Traffic],
    names: &BTreeMap<&str, usize>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Vec<usize> {
    let mut places = Vec::new();
    for name in entry.after.iter().flat_map(|after| &after.0) {
        let Some(&place) = names.get(name.as_str()) else {
            let all_names: Vec<_> = names.keys().copied().collect();
            problems.add(&at.key("after"), format!("entry of traffic {}", unknown_name(name, &all_names)));
            continue;
        };
        let other = &traffic[place];
        if other.has_datagrams() || !(other.has_end() || other.stop.is_some()) {
            let message = format!("the flows of {} have no end; give them a size", quoted(name));
            problems.add(&at.key("after"), message);
            continue;
        }
        places.push(place);
    }
    places
}

/// What is said of entries each of which waits for the next, and the last for the first.
fn in_a_circle(named: &[String]) -> String {
    let (first, others) = (&named[0], &named[1..]);
    if others.is_empty() {
        return format!("{first} waits for itself; leave it out");
    }
    let shown = others.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", that for ");
    let more = others.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(", over {more} more") } else { String::new() };
    format!(
        "{first} waits for itself: for {shown}{more}, and that for {first}; none of them would begin, so take one of these out"
    )
}

/// Entries that each wait for the next one, and the last for the first, if there are any.
fn circle(after: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut left: BTreeSet<usize> = (0..after.len()).collect();
    loop {
        let free: Vec<usize> = left
            .iter()
            .copied()
            .filter(|&place| after[place].iter().all(|other| !left.contains(other)))
            .collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|place| {
            left.remove(place);
        });
    }
    // Each that is left waits for another one that is, so that a walk comes by one twice; what it began with may only lead there.
    let mut walk: Vec<usize> = left.first().copied().into_iter().collect();
    loop {
        let next = after[*walk.last()?].iter().copied().find(|other| left.contains(other))?;
        if let Some(start) = walk.iter().position(|&before| before == next) {
            let mut circle = walk.split_off(start);
            let lowest = (0..circle.len()).min_by_key(|&at| circle[at])?;
            circle.rotate_left(lowest);
            return Some(circle);
        }
        walk.push(next);
    }
}
