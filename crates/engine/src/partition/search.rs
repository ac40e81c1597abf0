//! The search for a good cut.
//!
//! For some smallest delays in turn, nodes between which a link is faster are kept together. Parts grow from nodes until each
//! has its share of the work, halves first and then halves of these (greedy graph growing: Karypis and Kumar, SIAM J. Sci.
//! Comput. 20(1), 1998), and single nodes change parts as long as that makes the run shorter (Fiduccia and Mattheyses 1982,
//! without their tentative moves).

use super::loads::Loads;
use crate::random::{Stream, Streams};
use crate::setup::Setup;
use anabranch_units::NodeId;
use std::collections::BinaryHeap;

/// Smallest delays tried, as quantiles of those of the links.
const DELAYS: usize = 10;

/// Starts for each.
const STARTS: usize = 12;

/// Passes over all nodes in which one may change parts.
const PASSES: usize = 16;

/// Work of handing a packet over to another part, in arrivals at a node, for both parts together.
const CROSSING: f64 = 1.0;

/// Time that a stride takes, and for each neighbour more, in arrivals at a node.
const STRIDE: f64 = 8.0;
const NEIGHBOUR: f64 = 2.0;

/// A cut that was found.
pub(super) struct Division {
    /// The part of each node.
    pub(super) parts: Vec<u32>,
    /// The time that the longest part takes, in arrivals at a node.
    pub(super) cost: f64,
}

/// The best cut into so many parts at most. None if every cut has a link without a delay. `delays_ps` are the least of each
/// link; `together` are pairs of nodes that one part must have.
pub(super) fn search(
    setup: &Setup,
    delays_ps: &[u64],
    together: &[(NodeId, NodeId)],
    loads: &Loads,
    cores: usize,
) -> Option<Division> {
    let mut sorted = delays_ps.to_vec();
    sorted.sort_unstable();
    let quantiles = (0..DELAYS).filter_map(|place| sorted.get(sorted.len() * place / DELAYS).copied());
    let mut least: Vec<u64> = quantiles.map(|delay| delay.max(1)).collect();
    least.dedup();
    // The search draws nothing that the run does.
    let mut stream = Streams::new(0, 0).stream("partition", "search");
    let mut best: Option<Division> = None;
    for delay in least {
        let groups = Groups::new(setup, delays_ps, together, loads, delay);
        let counts = std::iter::successors(Some(cores), |&count| (count > 2).then_some(count.div_ceil(2)));
        for count in counts.filter(|&count| 2 <= count && count <= groups.work.len()) {
            for _ in 0..STARTS {
                let mut division = groups.grow(count, &mut stream);
                for _ in 0..PASSES {
                    if !groups.improve(&mut division) {
                        break;
                    }
                }
                let cost = groups.cost(&division, setup.duration.as_ps() as f64);
                if best.as_ref().is_none_or(|best| cost < best.cost) {
                    best = Some(Division { parts: groups.of_nodes(&division.parts), cost });
                }
            }
        }
    }
    best
}

/// Another group at which links of a group end, or begin.
#[derive(Clone, Copy)]
struct Edge {
    other: usize,
    packets: f64,
    delay_ps: u64,
}

/// Nodes that stay together.
struct Groups {
    /// The group of each node.
    of: Vec<usize>,
    work: Vec<f64>,
    edges: Vec<Vec<Edge>>,
}

/// A cut of groups.
struct Assignment {
    parts: Vec<u32>,
    /// Work of each part, and what crosses its borders.
    work: Vec<f64>,
    crossing: Vec<f64>,
    /// What a part would have if all had the same.
    mean: f64,
}

impl Assignment {
    /// What a part adds to what is made small: the eighth power, as the longest is what the run waits for.
    fn weight(&self, work: f64, crossing: f64) -> f64 {
        let share = (work + CROSSING / 2.0 * crossing) / self.mean;
        let to_the_fourth = share * share * share * share;
        to_the_fourth * to_the_fourth
    }

    /// What it is worth to move a group of so much work, as [`Groups::improve`] has it.
    fn gain(&self, from: usize, to: usize, work: f64, more: (f64, f64)) -> f64 {
        let now =
            self.weight(self.work[from], self.crossing[from]) + self.weight(self.work[to], self.crossing[to]);
        let then = self.weight(self.work[from] - work, self.crossing[from] + more.0)
            + self.weight(self.work[to] + work, self.crossing[to] + more.1);
        now - then
    }
}

impl Groups {
    /// Nodes between which a link has less than this delay are in one group, and those that belong together.
    fn new(
        setup: &Setup,
        delays_ps: &[u64],
        together: &[(NodeId, NodeId)],
        loads: &Loads,
        delay_ps: u64,
    ) -> Self {
        let mut leader: Vec<usize> = (0..setup.nodes.len()).collect();
        let near = setup.links.iter().zip(delays_ps).filter(|&(_, &delay)| delay < delay_ps);
        let near = near.map(|(link, _)| (link.from, link.to));
        for (one, other) in near.chain(together.iter().copied()) {
            let (one, other) = (find(&mut leader, one.index()), find(&mut leader, other.index()));
            leader[one.max(other)] = one.min(other);
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
        for ((link, &packets), &delay_ps) in setup.links.iter().zip(&loads.links).zip(delays_ps) {
            let (from, to) = (of[link.from.index()], of[link.to.index()]);
            if from != to {
                edges[from].push(Edge { other: to, packets, delay_ps });
                edges[to].push(Edge { other: from, packets, delay_ps });
            }
        }
        Self { of, work, edges }
    }

    fn of_nodes(&self, parts: &[u32]) -> Vec<u32> {
        self.of.iter().map(|&group| parts[group]).collect()
    }

    /// Parts that have grown from groups that were drawn.
    fn grow(&self, count: usize, stream: &mut Stream) -> Assignment {
        let mut parts = vec![0; self.work.len()];
        self.halve((0..self.work.len()).collect(), (0, count), &mut parts, stream);
        let (mut work, mut crossing) = (vec![0.0; count], vec![0.0; count]);
        for (group, edges) in self.edges.iter().enumerate() {
            let part = parts[group] as usize;
            work[part] += self.work[group];
            let outside = edges.iter().filter(|edge| parts[edge.other] as usize != part);
            crossing[part] += outside.map(|edge| edge.packets).sum::<f64>();
        }
        let mean = (work.iter().sum::<f64>() / count as f64).max(f64::MIN_POSITIVE);
        Assignment { parts, work, crossing, mean }
    }

    /// Gives some groups to so many parts from a first one on, by halves.
    fn halve(
        &self,
        groups: Vec<usize>,
        (first, count): (usize, usize),
        parts: &mut [u32],
        stream: &mut Stream,
    ) {
        if count == 1 {
            groups.iter().for_each(|&group| parts[group] = first as u32);
            return;
        }
        let left = count / 2;
        let total: f64 = groups.iter().map(|&group| self.work[group]).sum();
        let wanted = total * left as f64 / count as f64;
        let mut open = vec![false; self.work.len()];
        groups.iter().for_each(|&group| open[group] = true);
        let start = groups[stream.below(groups.len() as u64) as usize];
        // Next is the group that most packets connect with what has grown; where nothing does, any other.
        let (mut grown, mut ready, mut pull) = (Vec::new(), BinaryHeap::new(), vec![0.0; self.work.len()]);
        let (mut work, mut rest) = (0.0, groups.iter().copied());
        ready.push((0, start));
        while grown.len() + (count - left) < groups.len() {
            let Some(group) = ready.pop().map(|(_, group)| group).or_else(|| rest.next()) else { break };
            if !open[group] {
                continue;
            }
            if work + self.work[group] / 2.0 > wanted && grown.len() >= left {
                break;
            }
            open[group] = false;
            work += self.work[group];
            grown.push(group);
            for edge in self.edges[group].iter().filter(|edge| open[edge.other]) {
                pull[edge.other] += edge.packets;
                ready.push((pull[edge.other] as u64, edge.other));
            }
        }
        let others = groups.into_iter().filter(|&group| open[group]).collect();
        self.halve(grown, (first, left), parts, stream);
        self.halve(others, (first + left, count - left), parts, stream);
    }

    /// Lets each group change parts that makes it better. Whether one did.
    fn improve(&self, cut: &mut Assignment) -> bool {
        let mut has_improved = false;
        let mut neighbours: Vec<usize> = Vec::new();
        for (group, edges) in self.edges.iter().enumerate() {
            let from = cut.parts[group] as usize;
            neighbours.clear();
            neighbours.extend(edges.iter().map(|edge| cut.parts[edge.other] as usize));
            neighbours.sort_unstable();
            neighbours.dedup();
            let packets = |part: usize| -> f64 {
                let there = edges.iter().filter(|edge| cut.parts[edge.other] as usize == part);
                there.map(|edge| edge.packets).sum()
            };
            let (all, inside) = (edges.iter().map(|edge| edge.packets).sum::<f64>(), packets(from));
            let moves = neighbours.iter().filter(|&&to| to != from).map(|&to| {
                let there = packets(to);
                // What it exchanges with its part will cross, and with the other one no more.
                let more = (inside - (all - inside), (all - there) - there);
                (cut.gain(from, to, self.work[group], more), to, more)
            });
            let Some((gain, to, more)) = moves.max_by(|one, other| one.0.total_cmp(&other.0)) else {
                continue;
            };
            // By more than rounding, or it would go back and forth.
            if gain > 1e-9 {
                cut.parts[group] = to as u32;
                cut.work[from] -= self.work[group];
                cut.work[to] += self.work[group];
                cut.crossing[from] += more.0;
                cut.crossing[to] += more.1;
                has_improved = true;
            }
        }
        has_improved
    }

    /// The time that the longest part takes, in arrivals at a node, of a run that lasts so many picoseconds.
    fn cost(&self, cut: &Assignment, duration_ps: f64) -> f64 {
        let count = cut.work.len();
        let mut strides = vec![u64::MAX; count];
        let mut neighbours = vec![Vec::new(); count];
        for (group, edges) in self.edges.iter().enumerate() {
            let part = cut.parts[group] as usize;
            for edge in edges.iter().filter(|edge| cut.parts[edge.other] as usize != part) {
                strides[part] = strides[part].min(edge.delay_ps);
                neighbours[part].push(cut.parts[edge.other]);
            }
        }
        let of_part = |part: usize| {
            let mut others = neighbours[part].clone();
            others.sort_unstable();
            others.dedup();
            let each = STRIDE + NEIGHBOUR * others.len() as f64;
            let strides = (duration_ps / strides[part] as f64).max(1.0);
            cut.work[part] + CROSSING / 2.0 * cut.crossing[part] + each * strides
        };
        (0..count).map(of_part).fold(0.0, f64::max)
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
