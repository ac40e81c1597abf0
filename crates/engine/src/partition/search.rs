//! The search for a good cut.
//!
//! For some smallest delays in turn, nodes between which a link is faster are kept together. Halves grow from a node until
//! they have half of the work, and single nodes change sides as long as that makes the run shorter (Kernighan and Lin 1970;
//! Fiduccia and Mattheyses 1982, without their tentative moves).

use super::loads::Loads;
use crate::random::{Stream, Streams};
use crate::setup::Setup;
use std::collections::VecDeque;

/// Smallest delays tried, as quantiles of those of the links.
const DELAYS: usize = 10;

/// Starts for each.
const STARTS: usize = 24;

/// Work of handing a packet over to the other half, in arrivals at a node, for both halves together.
const CROSSING: f64 = 1.0;

/// Time that a window's end takes, in arrivals at a node.
const WINDOW: f64 = 10.0;

/// The best sides found, and the time that they take in arrivals at a node. None if every cut has a link without a delay.
pub(super) fn search(setup: &Setup, loads: &Loads) -> Option<(Vec<bool>, f64)> {
    let mut delays: Vec<u64> = setup.links.iter().map(|link| link.least_delay().as_ps()).collect();
    delays.sort_unstable();
    let quantiles = (0..DELAYS).filter_map(|place| delays.get(delays.len() * place / DELAYS).copied());
    let mut least: Vec<u64> = quantiles.map(|delay| delay.max(2)).collect();
    least.dedup();
    // The search draws nothing that the run does.
    let mut stream = Streams::new(0, 0).stream("partition", "search");
    let cuts = least.into_iter().filter_map(|delay| {
        let groups = Groups::new(setup, loads, delay);
        let duration = setup.duration.as_ps() as f64;
        let best = (0..STARTS)
            .filter_map(|_| groups.halves(&mut stream))
            .min_by(|a, b| a.cost.total_cmp(&b.cost))?;
        let windows = groups.lookahead(&best.sides).map_or(1.0, |lookahead| duration / lookahead as f64);
        Some((groups.of_nodes(&best.sides), best.cost + WINDOW * windows))
    });
    cuts.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Nodes that stay together.
struct Groups {
    /// The group of each node.
    of: Vec<usize>,
    work: Vec<f64>,
    total: f64,
    /// Neighbours of each group: which, packets between both in one direction, delay in picoseconds.
    edges: Vec<Vec<(usize, f64, u64)>>,
}

/// A cut of groups, and how long a run takes with it but for the windows.
struct Halves {
    sides: Vec<bool>,
    second: f64,
    crossing: f64,
    cost: f64,
}

impl Groups {
    /// Nodes between which a link has less than this delay are in one group.
    fn new(setup: &Setup, loads: &Loads, delay_ps: u64) -> Self {
        let mut leader: Vec<usize> = (0..setup.nodes.len()).collect();
        for link in setup.links.iter().filter(|link| link.least_delay().as_ps() < delay_ps) {
            let (from, to) = (find(&mut leader, link.from.index()), find(&mut leader, link.to.index()));
            leader[from.max(to)] = from.min(to);
        }
        let (mut of, mut work) = (Vec::new(), Vec::new());
        for node in 0..leader.len() {
            // A leader has the lowest number of its group.
            let leader = find(&mut leader, node);
            let group = if leader == node { work.len() } else { of[leader] };
            if leader == node {
                work.push(0.0);
            }
            of.push(group);
            work[group] += loads.nodes[node];
        }
        let mut edges = vec![Vec::new(); work.len()];
        for (link, &packets) in setup.links.iter().zip(&loads.links) {
            let (from, to) = (of[link.from.index()], of[link.to.index()]);
            if from != to {
                edges[from].push((to, packets, link.least_delay().as_ps()));
                edges[to].push((from, packets, link.least_delay().as_ps()));
            }
        }
        Self { of, total: work.iter().sum(), work, edges }
    }

    /// Smallest delay between the halves.
    fn lookahead(&self, sides: &[bool]) -> Option<u64> {
        let edges = self.edges.iter().enumerate();
        let cut = edges.flat_map(|(group, edges)| edges.iter().map(move |edge| (group, edge)));
        cut.filter(|(group, edge)| sides[*group] != sides[edge.0]).map(|(_, edge)| edge.2).min()
    }

    fn of_nodes(&self, sides: &[bool]) -> Vec<bool> {
        self.of.iter().map(|&group| sides[group]).collect()
    }

    fn cost(&self, second: f64, crossing: f64) -> f64 {
        second.max(self.total - second) + CROSSING / 2.0 * crossing
    }

    /// Halves that no change of a single group makes better; none if one is empty.
    fn halves(&self, stream: &mut Stream) -> Option<Halves> {
        let mut halves = self.grow(stream.below(self.work.len() as u64) as usize);
        while self.improve(&mut halves) {}
        let is_cut = halves.sides.contains(&true) && halves.sides.contains(&false);
        is_cut.then_some(halves)
    }

    /// A half that has grown from a group.
    fn grow(&self, start: usize) -> Halves {
        let mut sides = vec![false; self.work.len()];
        let (mut seen, mut second) = (sides.clone(), 0.0);
        let mut queue = VecDeque::from([start]);
        seen[start] = true;
        while let Some(group) = queue.pop_front() {
            if second + self.work[group] / 2.0 > self.total / 2.0 {
                continue;
            }
            sides[group] = true;
            second += self.work[group];
            for &(neighbour, ..) in &self.edges[group] {
                if !std::mem::replace(&mut seen[neighbour], true) {
                    queue.push_back(neighbour);
                }
            }
        }
        let edges = self.edges.iter().enumerate();
        let cut = edges.flat_map(|(group, edges)| edges.iter().map(move |edge| (group, edge)));
        let twice: f64 =
            cut.filter(|(group, edge)| sides[*group] != sides[edge.0]).map(|(_, edge)| edge.1).sum();
        Halves { sides, second, crossing: twice / 2.0, cost: self.cost(second, twice / 2.0) }
    }

    /// Lets each group change sides that makes it better. Whether one did.
    fn improve(&self, halves: &mut Halves) -> bool {
        let before = halves.cost;
        for (group, edges) in self.edges.iter().enumerate() {
            let side = halves.sides[group];
            let change = |&(other, packets, _): &(usize, f64, u64)| {
                if halves.sides[other] == side { packets } else { -packets }
            };
            let crossing = halves.crossing + edges.iter().map(change).sum::<f64>();
            let second = halves.second + if side { -self.work[group] } else { self.work[group] };
            let cost = self.cost(second, crossing);
            // By more than rounding, or it would go back and forth.
            if cost < halves.cost * (1.0 - 1e-9) {
                halves.sides[group] = !side;
                (halves.second, halves.crossing, halves.cost) = (second, crossing, cost);
            }
        }
        halves.cost < before
    }
}

/// The leader of a node's group.
fn find(leader: &mut [usize], mut node: usize) -> usize {
    while leader[node] != node {
        leader[node] = leader[leader[node]];
        node = leader[node];
    }
    node
}
