//! Where a search stands: weights, the trees of all cases by them, and what other weights would lead to.

use super::draws::Draws;
use super::limits::{FIRST_POWER, SearchLimits, SearchResult};
use super::tree::{Scratch, Tree};
use super::worst_traffic::{PairTraffic, WorstTraffic};
use super::{Evaluator, add};

/// A case with its trees.
pub(super) struct Standing {
    pub(super) trees: Vec<Tree>,
    /// The traffic of each arc: all of it, or the most that bounds allow.
    pub(super) mbps: Vec<f64>,
    /// Within bounds, the traffic of each arc if all pairs were at their bounds at once.
    full_mbps: Vec<f64>,
    /// Within bounds, the matrix that loads each arc the most.
    matrix: Vec<Vec<PairTraffic>>,
}

/// What a change would lead to; infinite where it is known to be worse than was allowed.
pub(super) struct Trial {
    pub(super) highest: f64,
    pub(super) norm: f64,
}

impl Trial {
    pub(super) const WORSE: Self = Self { highest: f64::INFINITY, norm: f64::INFINITY };
}

/// An arc whose worst traffic a trial may have changed.
struct Changed {
    case: usize,
    arc: usize,
    /// With all pairs at their bounds at once.
    full_mbps: f64,
    /// About the load; by this order the search for those that are worse than allowed is short.
    guess: f64,
}

/// The worst traffic of an arc as a trial has it.
struct Worst {
    case: usize,
    arc: usize,
    mbps: f64,
    full_mbps: f64,
    matrix: Vec<PairTraffic>,
}

/// Where a search stands.
pub(super) struct Walk<'a> {
    pub(super) evaluator: &'a Evaluator,
    pub(super) limits: &'a SearchLimits,
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) weights: Vec<u32>,
    pub(super) cases: Vec<Standing>,
    /// The trees that feel a trial: case, place, the tree as it would be.
    grown: Vec<(usize, usize, Tree)>,
    /// The worst traffic of arcs as a trial has it.
    worst: Vec<Worst>,
    spare: Vec<Tree>,
    scratch: Scratch,
    worst_traffic: WorstTraffic,
    /// Loads are measured by it, so that no power of them overflows.
    unit: f64,
    /// What a load with all pairs at their bounds counts beside the load itself.
    full_weight: f64,
    pub(super) power: u32,
    pub(super) highest: f64,
    pub(super) norm: f64,
    /// Nodes, arcs and pairs touched.
    pub(super) work: u64,
    pub(super) trials: u64,
    pub(super) draws: Draws,
}

impl<'a> Walk<'a> {
    pub(super) fn new(evaluator: &'a Evaluator, limits: &'a SearchLimits) -> Self {
        let count = limits.group.iter().max().map_or(0, |&last| last as usize + 1);
        let mut groups = vec![Vec::new(); count];
        for (arc, &group) in limits.group.iter().enumerate() {
            groups[group as usize].push(arc);
        }
        let arcs = &evaluator.arcs;
        let standing = || Standing {
            trees: vec![Tree::new(arcs); evaluator.traffic.len()],
            mbps: vec![0.0; arcs.arcs()],
            full_mbps: vec![0.0; arcs.arcs()],
            matrix: vec![Vec::new(); arcs.arcs()],
        };
        let mut walk = Self {
            evaluator,
            limits,
            groups,
            weights: limits.begin.clone(),
            cases: evaluator.down.iter().map(|_| standing()).collect(),
            grown: Vec::new(),
            worst: Vec::new(),
            spare: Vec::new(),
            scratch: Scratch::new(arcs),
            worst_traffic: WorstTraffic::default(),
            unit: 1.0,
            full_weight: 0.0,
            power: FIRST_POWER,
            highest: 0.0,
            norm: 0.0,
            work: 0,
            trials: 0,
            draws: Draws::new(limits.seed),
        };
        walk.return_to(&limits.begin, FIRST_POWER);
        if walk.highest > 0.0 && walk.highest.is_finite() {
            walk.unit = walk.highest;
            let full = walk.highest_full();
            walk.full_weight =
                if full.is_finite() && full > 0.0 { limits.evenness * walk.highest / full } else { 0.0 };
        }
        walk
    }

    pub(super) fn kept(&self) -> SearchResult {
        SearchResult {
            weights: self.weights.clone(),
            load: self.highest,
            work: self.work,
            trials: self.trials,
        }
    }

    /// Starts anew from these weights, with a norm of this order. The caller has counted it as work.
    pub(super) fn return_to(&mut self, weights: &[u32], power: u32) {
        self.weights.copy_from_slice(weights);
        self.power = power;
        let evaluator = self.evaluator;
        for (standing, down) in self.cases.iter_mut().zip(&evaluator.down) {
            for (tree, traffic) in standing.trees.iter_mut().zip(&evaluator.traffic) {
                evaluator.grow(tree, &self.weights, down, traffic, &mut self.scratch);
            }
            match &evaluator.hose {
                None => standing.sum(),
                Some(hose) => {
                    standing.full_mbps.fill(0.0);
                    for tree in &standing.trees {
                        add(&mut standing.full_mbps, &tree.mbps);
                    }
                    for (arc, mbps) in standing.mbps.iter_mut().enumerate() {
                        *mbps = evaluator.worst_on(arc, standing.trees.iter(), hose, &mut self.worst_traffic);
                        standing.matrix[arc] = self.worst_traffic.matrix();
                    }
                }
            }
        }
        self.worst_traffic.work = 0;
        self.grown.clear();
        self.remember();
    }

    /// The highest load and the norm as the cases stand.
    fn remember(&mut self) {
        let now = self.measured();
        (self.highest, self.norm) = (now.highest, now.norm);
    }

    /// The highest load and the norm as the cases stand, with what has been grown in place of the trees that feel a trial.
    fn measured(&self) -> Trial {
        let (mut highest, mut sum) = (0.0_f64, 0.0_f64);
        let mut changed = vec![0.0; self.evaluator.arcs.arcs()];
        let mut at = 0;
        for (number, standing) in self.cases.iter().enumerate() {
            let first = at;
            while at < self.grown.len() && self.grown[at].0 == number {
                at += 1;
            }
            let of_case = &self.grown[first..at];
            if !of_case.is_empty() {
                changed.fill(0.0);
            }
            for (_, tree, new) in of_case {
                for ((sum, new), old) in changed.iter_mut().zip(&new.mbps).zip(&standing.trees[*tree].mbps) {
                    *sum += new - old;
                }
            }
            for (arc, &mbps) in standing.mbps.iter().enumerate() {
                let mbps = if of_case.is_empty() { mbps } else { (mbps + changed[arc]).max(0.0) };
                // What rounding leaves of differences is no traffic.
                let dust = mbps < 1e-9 * changed[arc].abs();
                let load = if dust { 0.0 } else { self.evaluator.arcs.load(arc, mbps) };
                highest = highest.max(load);
                sum += self.counted(arc, load, standing.full_mbps[arc]);
            }
        }
        Trial { highest, norm: sum }
    }

    /// What the load of an arc adds to the norm. Within bounds the load stays the same until a source has few enough targets
    /// behind the arc; what all pairs together would load it falls with each of them, and so shows the way.
    fn counted(&self, arc: usize, load: f64, full_mbps: f64) -> f64 {
        let even = if self.full_weight > 0.0 {
            self.full_weight * self.evaluator.arcs.load(arc, full_mbps)
        } else {
            0.0
        };
        power((load + even) / self.unit, self.power)
    }

    /// The highest load with all pairs at their bounds at once.
    fn highest_full(&self) -> f64 {
        let of_case = |standing: &Standing| {
            let loads = standing.full_mbps.iter().enumerate();
            loads.map(|(arc, &mbps)| self.evaluator.arcs.load(arc, mbps)).fold(0.0, f64::max)
        };
        self.cases.iter().map(of_case).fold(0.0, f64::max)
    }

    /// The same for any traffic within bounds: the worst of each arc whose pairs or shares are others in what has been grown.
    /// What is worse than `most` in both is looked at no further: first with the matrices that were the worst, which are within
    /// the bounds whatever the weights, and so show loads that the worst are no lower than.
    fn measured_within(&mut self, most: &Trial) -> Trial {
        let mut changed = self.changed();
        changed.sort_by(|one, other| other.guess.total_cmp(&one.guess));
        let (mut highest, mut sum) = self.unchanged(&changed);
        let mut at_least = Vec::with_capacity(changed.len());
        let mut least = highest;
        for one in &changed {
            let load = self.evaluator.arcs.load(one.arc, self.by_old_matrix(one.case, one.arc));
            at_least.push(self.counted(one.arc, load, one.full_mbps));
            least = least.max(load);
            sum += at_least[at_least.len() - 1];
        }
        self.worst.clear();
        let is_worse = |sum: f64, highest: f64| sum > most.norm && highest > most.highest;
        if is_worse(sum, least) {
            return Trial::WORSE;
        }
        for (Changed { case, arc, full_mbps, .. }, at_least) in changed.into_iter().zip(at_least) {
            self.gather(case, arc);
            let Some(hose) = &self.evaluator.hose else { continue };
            let before = self.worst_traffic.work;
            let mbps = self.worst_traffic.most_mbps(hose);
            self.work += self.worst_traffic.work - before;
            self.worst.push(Worst { case, arc, mbps, full_mbps, matrix: self.worst_traffic.matrix() });
            let load = self.evaluator.arcs.load(arc, mbps);
            highest = highest.max(load);
            sum += self.counted(arc, load, full_mbps) - at_least;
            if is_worse(sum, highest) {
                return Trial::WORSE;
            }
        }
        Trial { highest, norm: sum }
    }

    /// The highest load and the norm of all other arcs.
    fn unchanged(&self, changed: &[Changed]) -> (f64, f64) {
        let arcs = &self.evaluator.arcs;
        let mut is_changed = vec![false; self.cases.len() * arcs.arcs()];
        for one in changed {
            is_changed[one.case * arcs.arcs() + one.arc] = true;
        }
        let known = self.cases.iter().flat_map(|case| case.mbps.iter().zip(&case.full_mbps).enumerate());
        let (mut highest, mut sum) = (0.0_f64, 0.0_f64);
        for ((arc, (&mbps, &full_mbps)), is_changed) in known.zip(is_changed) {
            if !is_changed {
                let load = arcs.load(arc, mbps);
                highest = highest.max(load);
                sum += self.counted(arc, load, full_mbps);
            }
        }
        (highest, sum)
    }

    /// The arcs whose pairs or shares are others in what has been grown; what full bounds of all pairs add is the guess.
    fn changed(&mut self) -> Vec<Changed> {
        let arcs = &self.evaluator.arcs;
        let mut changed = Vec::new();
        let mut more = vec![(false, 0.0); arcs.arcs()];
        for of_case in self.grown.chunk_by(|one, other| one.0 == other.0) {
            let case = of_case[0].0;
            more.fill((false, 0.0));
            for (_, place, new) in of_case {
                let old = &self.cases[case].trees[*place];
                self.work += (old.size() + new.size()) as u64;
                for (arc, (is_changed, mbps)) in more.iter_mut().enumerate() {
                    *is_changed |= old.parts(arcs, arc) != new.parts(arcs, arc);
                    *mbps += new.mbps[arc] - old.mbps[arc];
                }
            }
            let standing = &self.cases[case];
            let those = more.iter().enumerate().filter(|(_, (is_changed, _))| *is_changed);
            changed.extend(those.map(|(arc, (_, mbps))| Changed {
                case,
                arc,
                full_mbps: (standing.full_mbps[arc] + mbps).max(0.0),
                guess: (standing.mbps[arc] + mbps) / arcs.capacity_mbps[arc],
            }));
        }
        changed
    }

    /// Lays out the pairs on an arc by what has been grown and the other trees.
    fn gather(&mut self, case: usize, arc: usize) {
        let first = self.grown.partition_point(|one| one.0 < case);
        let mut grown = self.grown[first..].iter().peekable();
        let trees = self.cases[case].trees.iter().enumerate().map(|(place, tree)| {
            grown.next_if(|one| one.0 == case && one.1 == place).map_or(tree, |one| &one.2)
        });
        let before = self.worst_traffic.work;
        self.evaluator.lay_out(arc, trees, &mut self.worst_traffic);
        self.work += self.worst_traffic.work - before;
    }

    /// The traffic on an arc by the matrix that was the worst for it.
    fn by_old_matrix(&mut self, case: usize, arc: usize) -> f64 {
        self.gather(case, arc);
        let old = &self.cases[case].matrix[arc];
        let mut old = old.iter().peekable();
        let mut mbps = 0.0;
        for pair in &self.worst_traffic.pairs {
            let at = (pair.target, pair.source);
            while old.next_if(|traffic| (traffic.target, traffic.source) < at).is_some() {}
            if let Some(traffic) = old.next_if(|traffic| (traffic.target, traffic.source) == at) {
                mbps += pair.share * traffic.mbps;
            }
        }
        mbps
    }

    /// What other weights of some arcs would lead to. With any traffic within bounds one that is worse than `most`, in the norm
    /// and in the highest load, is not looked at any further.
    pub(super) fn trial(&mut self, changes: &[(usize, u32)], most: &Trial) -> Trial {
        let Evaluator { arcs, traffic, down, .. } = self.evaluator;
        self.trials += 1;
        self.spare.extend(self.grown.drain(..).map(|(_, _, tree)| tree));
        let before: Vec<u32> = changes.iter().map(|&(arc, _)| self.weights[arc]).collect();
        let mut touched = 0;
        let mut felt = Vec::new();
        for (number, (standing, down)) in self.cases.iter().zip(down).enumerate() {
            for (place, tree) in standing.trees.iter().enumerate() {
                let feels =
                    |&(arc, new): &(usize, u32)| !down[arc] && tree.feels(arcs, &self.weights, arc, new);
                if changes.iter().any(feels) {
                    felt.push((number, place));
                }
            }
            touched += standing.trees.len() as u64;
        }
        for &(arc, new) in changes {
            self.weights[arc] = new;
        }
        for (number, place) in felt {
            let mut tree = self.spare.pop().unwrap_or_else(|| Tree::new(arcs));
            let (down, traffic) = (&down[number], &traffic[place]);
            touched += self.evaluator.grow(&mut tree, &self.weights, down, traffic, &mut self.scratch);
            self.grown.push((number, place, tree));
        }
        for (&(arc, _), before) in changes.iter().zip(before) {
            self.weights[arc] = before;
        }
        self.work += touched + (arcs.nodes + arcs.arcs() + self.cases.len() * arcs.arcs()) as u64;
        if self.evaluator.hose.is_some() { self.measured_within(most) } else { self.measured() }
    }

    /// Takes the changes of the last trial, which was looked at to its end.
    pub(super) fn take(&mut self, changes: &[(usize, u32)]) {
        for &(arc, new) in changes {
            self.weights[arc] = new;
        }
        let mut sums = Vec::new();
        for (number, place, tree) in &mut self.grown {
            std::mem::swap(&mut self.cases[*number].trees[*place], tree);
            if sums.last() != Some(number) {
                sums.push(*number);
            }
        }
        self.spare.extend(self.grown.drain(..).map(|(_, _, tree)| tree));
        if self.evaluator.hose.is_some() {
            for Worst { case, arc, mbps, full_mbps, matrix } in self.worst.drain(..) {
                let standing = &mut self.cases[case];
                (standing.mbps[arc], standing.full_mbps[arc]) = (mbps, full_mbps);
                standing.matrix[arc] = matrix;
            }
        } else {
            for number in sums {
                self.cases[number].sum();
            }
        }
        self.remember();
    }

    pub(super) fn of_group(&self, group: usize, weights: &[u32]) -> Vec<(usize, u32)> {
        self.groups[group].iter().map(|&arc| (arc, weights[arc])).collect()
    }
}

impl Standing {
    /// Adds the traffic of its trees up.
    fn sum(&mut self) {
        self.mbps.fill(0.0);
        for tree in &self.trees {
            add(&mut self.mbps, &tree.mbps);
        }
    }
}

/// A number to the power of two to the power of `doublings`.
pub(super) fn power(number: f64, doublings: u32) -> f64 {
    (0..doublings).fold(number, |product, _| product * product)
}
