//! The least distances to one node, and what its traffic puts on each arc.

use super::{TrafficTo, WeightedArcs};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A distance that no path has.
pub(super) const FAR: u64 = u64::MAX;

/// What growing a tree needs for a while.
pub(super) struct Scratch {
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    settled: Vec<u32>,
    through_mbps: Vec<f64>,
    arrived: Vec<Vec<Part>>,
    part: Vec<f64>,
    sources: Vec<u32>,
}

impl Scratch {
    pub(super) fn new(arcs: &WeightedArcs) -> Self {
        Self {
            waiting: BinaryHeap::new(),
            settled: Vec::new(),
            through_mbps: vec![0.0; arcs.nodes],
            arrived: vec![Vec::new(); arcs.nodes],
            part: vec![0.0; arcs.nodes],
            sources: Vec::new(),
        }
    }

    /// Adds the parts of each source up, and all of `own`; sources in the order of their numbers.
    fn merge(&mut self, arrived: &[Part], own: Option<u32>) {
        for &Part { source, share } in arrived.iter().chain(&own.map(|source| Part { source, share: 1.0 })) {
            if self.part[source as usize] == 0.0 {
                self.sources.push(source);
            }
            self.part[source as usize] += share;
        }
        self.sources.sort_unstable();
    }
}

/// The part of a source's traffic that an arc carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) source: u32,
    pub(super) share: f64,
}

/// The way to one node from all others.
#[derive(Clone)]
pub(super) struct Tree {
    /// Least sum of weights from each node, or [`FAR`].
    pub(super) distance: Vec<u64>,
    /// Traffic on each arc.
    pub(super) mbps: Vec<f64>,
    /// Where it is divided by sources: what each arc out of a node carries of each, node after node.
    parts: Vec<Part>,
    /// Where those of each node begin and end.
    of_node: Vec<(u32, u32)>,
}

impl Tree {
    pub(super) fn new(arcs: &WeightedArcs) -> Self {
        Self {
            distance: vec![FAR; arcs.nodes],
            mbps: vec![0.0; arcs.arcs()],
            parts: Vec::new(),
            of_node: vec![(0, 0); arcs.nodes],
        }
    }

    /// What an arc carries of each source, by their numbers; once the tree is divided.
    pub(super) fn parts(&self, arcs: &WeightedArcs, arc: usize) -> &[Part] {
        if self.mbps[arc] <= 0.0 {
            return &[];
        }
        let (first, end) = self.of_node[arcs.tail(arc)];
        &self.parts[first as usize..end as usize]
    }

    /// How many parts there are.
    pub(super) fn size(&self) -> usize {
        self.parts.len()
    }

    /// Distances by Dijkstra's algorithm, then the traffic from the farthest node inwards: each node sends equal parts of
    /// what comes over all arcs that begin a least path.
    pub(super) fn grow(
        &mut self,
        arcs: &WeightedArcs,
        weights: &[u32],
        down: &[bool],
        traffic: &TrafficTo,
        scratch: &mut Scratch,
    ) {
        self.measure(arcs, weights, down, traffic.to, scratch);
        self.mbps.fill(0.0);
        scratch.through_mbps.copy_from_slice(&traffic.from_mbps);
        for &node in scratch.settled.iter().rev() {
            let here = scratch.through_mbps[node as usize];
            if node == traffic.to || here <= 0.0 {
                continue;
            }
            let begins = |&&arc: &&u32| self.begins_least(arcs, weights, down, arc as usize);
            let ways = arcs.out[node as usize].iter().filter(begins).count();
            let part = here / f64::from(u32::try_from(ways).expect("arcs are numbered by u32"));
            for at in 0..arcs.out[node as usize].len() {
                let arc = arcs.out[node as usize][at] as usize;
                if self.begins_least(arcs, weights, down, arc) {
                    self.mbps[arc] = part;
                    scratch.through_mbps[arcs.head(arc)] += part;
                }
            }
        }
    }

    /// Divides the traffic of the tree that has just been grown with this scratch by sources: what comes to a node, and its own,
    /// leaves it in equal parts over the arcs that have traffic.
    pub(super) fn divide(&mut self, arcs: &WeightedArcs, traffic: &TrafficTo, scratch: &mut Scratch) {
        self.parts.clear();
        self.of_node.fill((0, 0));
        for at in (0..scratch.settled.len()).rev() {
            let node = scratch.settled[at] as usize;
            let mut arrived = std::mem::take(&mut scratch.arrived[node]);
            if node != traffic.to as usize {
                scratch.merge(&arrived, (traffic.from_mbps[node] > 0.0).then_some(scratch.settled[at]));
                self.pass_on(arcs, node, scratch);
            }
            arrived.clear();
            scratch.arrived[node] = arrived;
        }
    }

    /// The parts of what is merged leave a node.
    fn pass_on(&mut self, arcs: &WeightedArcs, node: usize, scratch: &mut Scratch) {
        let first = self.parts.len();
        let out = || arcs.out[node].iter().map(|&arc| arc as usize);
        let ways = out().filter(|&arc| self.mbps[arc] > 0.0).count();
        for &source in &scratch.sources {
            let share = std::mem::take(&mut scratch.part[source as usize]) / ways as f64;
            if ways > 0 {
                self.parts.push(Part { source, share });
            }
        }
        scratch.sources.clear();
        for arc in out().filter(|&arc| self.mbps[arc] > 0.0) {
            scratch.arrived[arcs.head(arc)].extend_from_slice(&self.parts[first..]);
        }
        let place = |number: usize| u32::try_from(number).expect("parts are numbered by u32");
        self.of_node[node] = (place(first), place(self.parts.len()));
    }

    fn measure(
        &mut self,
        arcs: &WeightedArcs,
        weights: &[u32],
        down: &[bool],
        to: u32,
        scratch: &mut Scratch,
    ) {
        self.distance.fill(FAR);
        scratch.settled.clear();
        scratch.waiting.clear();
        self.distance[to as usize] = 0;
        scratch.waiting.push(Reverse((0, to)));
        while let Some(Reverse((distance, node))) = scratch.waiting.pop() {
            if distance > self.distance[node as usize] {
                continue;
            }
            scratch.settled.push(node);
            for &arc in &arcs.into[node as usize] {
                let (arc, from) = (arc as usize, arcs.tail(arc as usize));
                let longer = distance + u64::from(weights[arc]);
                if !down[arc] && longer < self.distance[from] {
                    self.distance[from] = longer;
                    scratch.waiting.push(Reverse((longer, arcs.tail[arc])));
                }
            }
        }
    }

    /// Whether an arc begins a path of least weight.
    pub(super) fn begins_least(
        &self,
        arcs: &WeightedArcs,
        weights: &[u32],
        down: &[bool],
        arc: usize,
    ) -> bool {
        !down[arc] && self.slack(arcs, weights, arc) == Some(0)
    }

    /// By how much the least path over an arc is longer than without it being told; None where there is no path.
    pub(super) fn slack(&self, arcs: &WeightedArcs, weights: &[u32], arc: usize) -> Option<u64> {
        let (here, behind) = (self.distance[arcs.tail(arc)], self.distance[arcs.head(arc)]);
        (here != FAR && behind != FAR).then(|| (behind + u64::from(weights[arc])).saturating_sub(here))
    }

    /// Whether another weight of an arc that is up can change this tree: a higher one, if the arc begins a least path, a lower
    /// one, if the arc then does.
    pub(super) fn feels(&self, arcs: &WeightedArcs, weights: &[u32], arc: usize, other: u32) -> bool {
        let Some(slack) = self.slack(arcs, weights, arc) else { return false };
        if other > weights[arc] { slack == 0 } else { slack <= u64::from(weights[arc] - other) }
    }
}
