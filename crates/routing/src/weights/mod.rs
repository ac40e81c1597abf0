//! Weights of links for a link-state protocol: what each link carries by them, and a search for better ones.
//!
//! Routers forward over all links that begin a path of least weight, in equal parts (RFC 2328 section 16.1 and RFC 2992).
//! Weights that make the highest load least are the problem of Fortz and Thorup, Internet Traffic Engineering by Optimizing
//! OSPF Weights, 2000: it is NP-hard, and [`search`](Evaluator::search) a local search. A [`Case`] is a traffic matrix with
//! some arcs down; the load to be lowered is the highest of any arc in any case.

mod search;
mod tree;

pub use search::{SearchLimits, SearchResult};

use tree::{Scratch, Tree};

/// Nodes and directed arcs with their capacities, as numbers.
#[derive(Clone, Debug)]
pub struct WeightedArcs {
    nodes: usize,
    tail: Vec<u32>,
    head: Vec<u32>,
    capacity_mbps: Vec<f64>,
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
}

impl WeightedArcs {
    /// Arcs from `tail` to `head` with their capacities.
    ///
    /// # Panics
    /// If the slices differ in length, or an end is no node.
    #[must_use]
    pub fn new(nodes: usize, tail: Vec<u32>, head: Vec<u32>, capacity_mbps: Vec<f64>) -> Self {
        assert!(tail.len() == head.len() && tail.len() == capacity_mbps.len(), "one entry for each arc");
        let (mut out, mut into) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (arc, (&from, &to)) in (0..).zip(tail.iter().zip(&head)) {
            out[from as usize].push(arc);
            into[to as usize].push(arc);
        }
        Self { nodes, tail, head, capacity_mbps, out, into }
    }

    /// How many arcs there are.
    #[must_use]
    pub const fn arcs(&self) -> usize {
        self.tail.len()
    }

    fn tail(&self, arc: usize) -> usize {
        self.tail[arc] as usize
    }

    fn head(&self, arc: usize) -> usize {
        self.head[arc] as usize
    }

    /// Traffic over capacity; infinite where there is no capacity for some traffic.
    fn load(&self, arc: usize, mbps: f64) -> f64 {
        if mbps <= 0.0 { 0.0 } else { mbps / self.capacity_mbps[arc] }
    }
}

/// The traffic to one node.
#[derive(Clone, Debug)]
pub struct TrafficTo {
    /// The node.
    pub to: u32,
    /// Traffic from each node in Mbps.
    pub from_mbps: Vec<f64>,
}

/// A traffic matrix, and what is down meanwhile.
#[derive(Clone, Debug)]
pub struct Case {
    /// Which of the matrices.
    pub matrix: usize,
    /// Whether each arc is down.
    pub down: Vec<bool>,
}

/// Says what weights do to cases.
#[derive(Clone, Debug)]
pub struct Evaluator {
    arcs: WeightedArcs,
    matrices: Vec<Vec<TrafficTo>>,
    cases: Vec<Case>,
}

impl Evaluator {
    /// Of these arcs in these cases; nodes without traffic may be left out of a matrix.
    ///
    /// # Panics
    /// If a case names no matrix, or its arcs are not those of the network.
    #[must_use]
    pub fn new(arcs: WeightedArcs, matrices: Vec<Vec<TrafficTo>>, cases: Vec<Case>) -> Self {
        for case in &cases {
            assert!(case.matrix < matrices.len(), "a case has a matrix");
            assert_eq!(case.down.len(), arcs.arcs(), "one entry for each arc");
        }
        Self { arcs, matrices, cases }
    }

    /// The load of each arc in each case. Traffic without a path is in no load.
    #[must_use]
    pub fn loads(&self, weights: &[u32]) -> Vec<Vec<f64>> {
        let mut scratch = Scratch::new(&self.arcs);
        let mut tree = Tree::new(&self.arcs);
        let of_case = |case: &Case| {
            let mut mbps = vec![0.0; self.arcs.arcs()];
            for traffic in &self.matrices[case.matrix] {
                tree.grow(&self.arcs, weights, &case.down, traffic, &mut scratch);
                for (sum, part) in mbps.iter_mut().zip(&tree.mbps) {
                    *sum += part;
                }
            }
            mbps.iter().enumerate().map(|(arc, &mbps)| self.arcs.load(arc, mbps)).collect()
        };
        self.cases.iter().map(of_case).collect()
    }
}

#[cfg(test)]
mod tests;
