//! Weights of links for a link-state protocol: what each link carries by them, and a search for better ones.
//!
//! Routers forward over all links that begin a path of least weight, in equal parts (RFC 2328 section 16.1 and RFC 2992).
//! Weights that make the highest load least are the problem of Fortz and Thorup, Internet Traffic Engineering by Optimizing
//! OSPF Weights, 2000: it is NP-hard, and [`search`](Evaluator::search) a local search. Its traffic is one matrix, or any that
//! bounds of pairs and the [`Hose`] model allow: then each arc has a worst matrix of its own, anew for all weights (Altin,
//! Fortz, Thorup and Umit, Intra-domain traffic engineering with shortest path routing protocols, 2013, section 5). The load
//! to be lowered is the highest of any arc in any case, which is what is down meanwhile.

mod draws;
mod limits;
mod moves;
mod search;
mod tree;
mod walk;
mod worst_traffic;

pub use limits::{SearchLimits, SearchResult};

use tree::{Scratch, Tree};
use worst_traffic::{ArcPair, WorstTraffic};

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
    /// Traffic from each node in Mbps; with a [`Hose`] the most of each pair.
    pub from_mbps: Vec<f64>,
}

/// The most that enters and leaves at each node; infinity is no bound.
#[derive(Clone, Debug)]
pub struct Hose {
    /// For all others, in Mbps.
    pub ingress_mbps: Vec<f64>,
    /// From all others, in Mbps.
    pub egress_mbps: Vec<f64>,
}

/// Says what weights do to traffic in some cases.
#[derive(Clone, Debug)]
pub struct Evaluator {
    arcs: WeightedArcs,
    traffic: Vec<TrafficTo>,
    hose: Option<Hose>,
    /// The arcs that are down in each case.
    down: Vec<Vec<bool>>,
}

impl Evaluator {
    /// Of these arcs and this traffic, of which nodes without any may be left out: all of it at once, or within a hose. Each
    /// case says of each arc whether it is down.
    ///
    /// # Panics
    /// If a case does not have all arcs, or the hose not all nodes.
    #[must_use]
    pub fn new(
        arcs: WeightedArcs,
        traffic: Vec<TrafficTo>,
        hose: Option<Hose>,
        down: Vec<Vec<bool>>,
    ) -> Self {
        assert!(down.iter().all(|case| case.len() == arcs.arcs()), "one entry for each arc");
        if let Some(Hose { ingress_mbps, egress_mbps }) = &hose {
            assert!(ingress_mbps.len() == arcs.nodes && egress_mbps.len() == arcs.nodes, "one for each node");
        }
        Self { arcs, traffic, hose, down }
    }

    /// The load of each arc in each case, and the nodes, arcs and pairs that were touched. Traffic without a path is in no load.
    ///
    /// # Errors
    /// What `watch` returns, which hears the work done now and then.
    pub fn loads<E>(
        &self,
        weights: &[u32],
        watch: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(Vec<Vec<f64>>, u64), E> {
        let mut scratch = Scratch::new(&self.arcs);
        let mut worst = WorstTraffic::default();
        let mut work = 0;
        let mut loads = Vec::with_capacity(self.down.len());
        for down in &self.down {
            watch(work + worst.work)?;
            let mut trees =
                vec![Tree::new(&self.arcs); if self.hose.is_some() { self.traffic.len() } else { 1 }];
            let mut mbps = vec![0.0; self.arcs.arcs()];
            for (number, traffic) in self.traffic.iter().enumerate() {
                let place = number % trees.len();
                work += self.grow(&mut trees[place], weights, down, traffic, &mut scratch);
                if self.hose.is_none() {
                    add(&mut mbps, &trees[place].mbps);
                }
            }
            if let Some(hose) = &self.hose {
                for (arc, mbps) in mbps.iter_mut().enumerate() {
                    *mbps = self.worst_on(arc, trees.iter(), hose, &mut worst);
                }
            }
            loads.push(mbps.iter().enumerate().map(|(arc, &mbps)| self.arcs.load(arc, mbps)).collect());
        }
        Ok((loads, work + worst.work))
    }

    /// Grows a tree, and divides it by sources where there is a hose; what was touched.
    fn grow(
        &self,
        tree: &mut Tree,
        weights: &[u32],
        down: &[bool],
        traffic: &TrafficTo,
        scratch: &mut Scratch,
    ) -> u64 {
        tree.grow(&self.arcs, weights, down, traffic, scratch);
        let mut touched = self.arcs.nodes + self.arcs.arcs();
        if self.hose.is_some() {
            tree.divide(&self.arcs, traffic, scratch);
            touched += 2 * tree.size();
        }
        touched as u64
    }

    /// The most traffic on an arc, in Mbps, by a tree for each node that traffic goes to.
    fn worst_on<'a>(
        &self,
        arc: usize,
        trees: impl Iterator<Item = &'a Tree>,
        hose: &Hose,
        worst: &mut WorstTraffic,
    ) -> f64 {
        self.lay_out(arc, trees, worst);
        worst.most_mbps(hose)
    }

    /// Lays out the pairs on an arc: by target, then by source.
    fn lay_out<'a>(&self, arc: usize, trees: impl Iterator<Item = &'a Tree>, worst: &mut WorstTraffic) {
        worst.pairs.clear();
        for (tree, traffic) in trees.zip(&self.traffic) {
            worst.work += 1;
            worst.pairs.extend(tree.parts(&self.arcs, arc).iter().map(|part| ArcPair {
                source: part.source,
                target: traffic.to,
                share: part.share,
                most_mbps: traffic.from_mbps[part.source as usize],
            }));
        }
        worst.work += worst.pairs.len() as u64;
    }
}

/// Adds traffic of arcs up.
fn add(sum_mbps: &mut [f64], mbps: &[f64]) {
    for (sum, part) in sum_mbps.iter_mut().zip(mbps) {
        *sum += part;
    }
}

#[cfg(test)]
mod tests;
