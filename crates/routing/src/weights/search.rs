//! A local search for weights: simulated annealing over single weights, each change evaluated on the trees that feel it.
//!
//! The objective is a norm of all loads, whose order doubles from round to round: the higher it is, the more the highest load
//! decides. Unlike the piecewise cost of Fortz and Thorup (2000), eq. (1), it does not depend on how much traffic there is.

use super::tree::{Scratch, Tree};
use super::{Evaluator, TrafficTo};

/// Orders of the norm are two to these powers, round after round.
const FIRST_POWER: u32 = 3;
const LAST_POWER: u32 = 6;
/// Loads that differ by this part of the higher one are the same.
const SAME: f64 = 1e-9;
/// Of how many arcs drawn the most, or least, loaded is changed.
const DRAWN: usize = 3;
/// Trials between two calls of the watch.
const BETWEEN_LOOKS: u64 = 64;

/// What a search may do.
#[derive(Clone, Debug)]
pub struct SearchLimits {
    /// The weights that are there. Changes are counted from them.
    pub present: Vec<u32>,
    /// Where the search begins: weights that keep these limits.
    pub begin: Vec<u32>,
    /// Arcs whose weights change together, each with the same number; numbered from 0 without gaps.
    pub group: Vec<u32>,
    /// The greatest weight.
    pub greatest: u32,
    /// Arcs that may get another weight than the present one.
    pub most_changes: usize,
    /// By which part a trial may be worse and yet be taken, at the start of a round; it falls to 0.
    pub boldness: f64,
    /// Nodes and arcs that trees may touch, all together.
    pub work: u64,
    /// Of the draws.
    pub seed: u64,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The best weights.
    pub weights: Vec<u32>,
    /// The highest load of any arc in any case.
    pub load: f64,
    /// Nodes and arcs that trees have touched.
    pub work: u64,
    /// Changes that were tried.
    pub trials: u64,
}

impl Evaluator {
    /// The best weights within the limits that the search meets; never worse than those that it begins with.
    ///
    /// # Errors
    /// What `watch` returns, which hears the work done now and then.
    pub fn search<E>(
        &self,
        limits: &SearchLimits,
        watch: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<SearchResult, E> {
        let mut walk = Walk::new(self, limits);
        let mut best = walk.kept();
        let rounds = LAST_POWER - FIRST_POWER + 1;
        for round in 0..rounds {
            walk.return_to(&best.weights, FIRST_POWER + round);
            let from = walk.work;
            let until = limits.work / u64::from(rounds) * u64::from(round + 1);
            while walk.work < until {
                if walk.trials.is_multiple_of(BETWEEN_LOOKS) {
                    watch(walk.work)?;
                }
                let left = (until - walk.work) as f64 / (until - from) as f64;
                walk.try_one(limits.boldness * left);
                if walk.highest < best.load * (1.0 - SAME) {
                    best = walk.kept();
                }
            }
        }
        best.work = walk.work;
        best.trials = walk.trials;
        Ok(best)
    }

    /// The changes from `present` to `weights` that matter, in an order in which each lowers the load the most, and the nodes and
    /// arcs that trees have touched; by the weights with these alone the highest load is no higher.
    ///
    /// When the work of the limits is done, more may be there than matter, and those at the end are in no order.
    ///
    /// # Errors
    /// What `watch` returns.
    pub fn fewest_changes<E>(
        &self,
        limits: &SearchLimits,
        weights: &[u32],
        watch: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(Vec<usize>, u64), E> {
        let mut walk = Walk::new(self, limits);
        walk.return_to(weights, LAST_POWER);
        let goal = walk.highest * (1.0 + SAME);
        let mut left = walk.by_harm(watch)?;
        // What one cannot spare it may be able to spare once another is left out.
        let mut is_shorter = true;
        while is_shorter && walk.work < limits.work {
            is_shorter = false;
            let mut kept = Vec::new();
            for group in left {
                watch(walk.work)?;
                let back = walk.of_group(group, &limits.present);
                if walk.work < limits.work && walk.trial(&back).highest <= goal {
                    walk.take(&back);
                    is_shorter = true;
                } else {
                    kept.push(group);
                }
            }
            left = kept;
        }
        let kept = walk.weights.clone();
        left.sort_unstable();
        let order = walk.by_gain(&kept, left, watch)?;
        Ok((order, walk.work))
    }

    /// The highest load of any arc in any case after each of some changes, one on top of the other, from the weights with which
    /// the limits begin.
    ///
    /// # Errors
    /// What `watch` returns.
    pub fn along<E>(
        &self,
        limits: &SearchLimits,
        changes: &[Vec<(usize, u32)>],
        watch: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Vec<f64>, E> {
        let mut highest = vec![0.0_f64; changes.len()];
        let mut work = 0;
        // Case by case: the trees of all of them together would take much memory.
        for case in &self.cases {
            let matrices = vec![self.matrices[case.matrix].clone()];
            let cases = vec![super::Case { matrix: 0, down: case.down.clone() }];
            let alone = Self { arcs: self.arcs.clone(), matrices, cases };
            let mut walk = Walk::new(&alone, limits);
            for (change, highest) in changes.iter().zip(&mut highest) {
                watch(work + walk.work)?;
                walk.trial(change);
                walk.take(change);
                *highest = highest.max(walk.highest);
            }
            work += walk.work;
        }
        Ok(highest)
    }
}

/// A case with its trees.
struct Standing {
    matrix: usize,
    trees: Vec<Tree>,
    mbps: Vec<f64>,
}

/// What a change would lead to.
struct Trial {
    highest: f64,
    norm: f64,
}

/// Where a search stands.
struct Walk<'a> {
    evaluator: &'a Evaluator,
    limits: &'a SearchLimits,
    groups: Vec<Vec<usize>>,
    weights: Vec<u32>,
    cases: Vec<Standing>,
    /// Arc and new weight, and the trees that feel a trial: case, tree, the tree as it would be.
    grown: Vec<(usize, usize, Tree)>,
    spare: Vec<Tree>,
    scratch: Scratch,
    /// Loads are measured by it, so that no power of them overflows.
    unit: f64,
    power: u32,
    highest: f64,
    norm: f64,
    work: u64,
    trials: u64,
    draws: Draws,
}

impl<'a> Walk<'a> {
    fn new(evaluator: &'a Evaluator, limits: &'a SearchLimits) -> Self {
        let count = limits.group.iter().max().map_or(0, |&last| last as usize + 1);
        let mut groups = vec![Vec::new(); count];
        for (arc, &group) in limits.group.iter().enumerate() {
            groups[group as usize].push(arc);
        }
        let arcs = &evaluator.arcs;
        let standing = |case: &super::Case| Standing {
            matrix: case.matrix,
            trees: vec![Tree::new(arcs); evaluator.matrices[case.matrix].len()],
            mbps: vec![0.0; arcs.arcs()],
        };
        let mut walk = Self {
            evaluator,
            limits,
            groups,
            weights: limits.begin.clone(),
            cases: evaluator.cases.iter().map(standing).collect(),
            grown: Vec::new(),
            spare: Vec::new(),
            scratch: Scratch::new(arcs),
            unit: 1.0,
            power: FIRST_POWER,
            highest: 0.0,
            norm: 0.0,
            work: 0,
            trials: 0,
            draws: Draws(limits.seed),
        };
        walk.return_to(&limits.begin, FIRST_POWER);
        if walk.highest > 0.0 && walk.highest.is_finite() {
            walk.unit = walk.highest;
        }
        walk
    }

    fn kept(&self) -> SearchResult {
        SearchResult {
            weights: self.weights.clone(),
            load: self.highest,
            work: self.work,
            trials: self.trials,
        }
    }

    /// Starts anew from these weights, with a norm of this order.
    fn return_to(&mut self, weights: &[u32], power: u32) {
        self.weights.copy_from_slice(weights);
        self.power = power;
        let Evaluator { arcs, matrices, cases } = self.evaluator;
        for (standing, case) in self.cases.iter_mut().zip(cases) {
            for (tree, traffic) in standing.trees.iter_mut().zip(&matrices[case.matrix]) {
                tree.grow(arcs, &self.weights, &case.down, traffic, &mut self.scratch);
            }
            standing.sum();
        }
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
                sum += power(load / self.unit, self.power);
            }
        }
        Trial { highest, norm: sum }
    }

    /// What other weights of some arcs would lead to.
    fn trial(&mut self, changes: &[(usize, u32)]) -> Trial {
        let Evaluator { arcs, matrices, cases } = self.evaluator;
        self.trials += 1;
        self.spare.extend(self.grown.drain(..).map(|(_, _, tree)| tree));
        let before: Vec<u32> = changes.iter().map(|&(arc, _)| self.weights[arc]).collect();
        let mut touched = 0;
        let mut felt = Vec::new();
        for (number, (standing, case)) in self.cases.iter().zip(cases).enumerate() {
            for (place, tree) in standing.trees.iter().enumerate() {
                let feels =
                    |&(arc, new): &(usize, u32)| !case.down[arc] && tree.feels(arcs, &self.weights, arc, new);
                if changes.iter().any(feels) {
                    felt.push((number, place));
                }
            }
            touched += standing.trees.len();
        }
        for &(arc, new) in changes {
            self.weights[arc] = new;
        }
        for (number, place) in felt {
            let mut tree = self.spare.pop().unwrap_or_else(|| Tree::new(arcs));
            let traffic: &TrafficTo = &matrices[self.cases[number].matrix][place];
            tree.grow(arcs, &self.weights, &cases[number].down, traffic, &mut self.scratch);
            self.grown.push((number, place, tree));
        }
        for (&(arc, _), before) in changes.iter().zip(before) {
            self.weights[arc] = before;
        }
        touched += (arcs.nodes + arcs.arcs()) * (self.grown.len() + 1) + self.cases.len() * arcs.arcs();
        self.work += touched as u64;
        self.measured()
    }

    /// Takes the changes of the last trial.
    fn take(&mut self, changes: &[(usize, u32)]) {
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
        for number in sums {
            self.cases[number].sum();
        }
        let now = self.measured();
        (self.highest, self.norm) = (now.highest, now.norm);
    }

    /// Draws a change, tries it and takes it if it is better, or worse by no more than chance allows.
    fn try_one(&mut self, boldness: f64) {
        let Some((group, new)) = self.drawn() else {
            // Nothing was looked at but some arcs.
            self.trials += 1;
            self.work += self.evaluator.arcs.nodes as u64;
            return;
        };
        let mut changes: Vec<_> = self.groups[group].iter().map(|&arc| (arc, new)).collect();
        if !self.make_room(group, &mut changes) {
            self.trials += 1;
            self.work += self.evaluator.arcs.nodes as u64;
            return;
        }
        let trial = self.trial(&changes);
        // The norm is a sum of powers: a part of the load is as many parts of it as its order says.
        let allowed = self.norm * power(1.0 + boldness * self.draws.unit(), self.power);
        if trial.norm <= allowed || (self.norm.is_infinite() && trial.norm.is_finite()) {
            self.take(&changes);
        }
    }

    /// Puts other groups back to their present weights until the changes are few enough; false where they cannot be.
    fn make_room(&mut self, group: usize, changes: &mut Vec<(usize, u32)>) -> bool {
        let present = &self.limits.present;
        let is_other = |arc: usize| self.weights[arc] != present[arc];
        let mut others: Vec<usize> = (0..self.groups.len())
            .filter(|&one| one != group && self.groups[one].iter().any(|&arc| is_other(arc)))
            .collect();
        let differing = |members: &[usize]| members.iter().filter(|&&arc| is_other(arc)).count();
        let mut count: usize = others.iter().map(|&one| differing(&self.groups[one])).sum();
        count += changes.iter().filter(|&&(arc, new)| new != present[arc]).count();
        while count > self.limits.most_changes {
            if others.is_empty() {
                return false;
            }
            let back = others.swap_remove(self.draws.below(others.len()));
            count -= differing(&self.groups[back]);
            changes.extend(self.groups[back].iter().map(|&arc| (arc, self.limits.present[arc])));
        }
        true
    }

    /// A group and another weight of it.
    fn drawn(&mut self) -> Option<(usize, u32)> {
        let (arc, new) = match self.draws.below(8) {
            0..=3 => self.relief()?,
            4..=5 => self.attraction()?,
            6 => {
                let arc = self.draws.below(self.weights.len());
                (arc, self.limits.present[arc])
            }
            _ => {
                let arc = self.draws.below(self.weights.len());
                let usual = self.limits.present.iter().copied().max().unwrap_or(1).saturating_mul(2);
                let most = self.limits.greatest.min(usual);
                (arc, 1 + u32::try_from(self.draws.below(most as usize)).expect("below a weight"))
            }
        };
        let new = new.min(self.limits.greatest);
        (new != self.weights[arc]).then_some((self.limits.group[arc] as usize, new))
    }

    /// An arc with much load, and the weight by which some of its traffic takes, also or only, another way.
    fn relief(&mut self) -> Option<(usize, u32)> {
        let (case, arc) = self.loaded(|one, other| one > other)?;
        let tree = self.tree_over(case, arc)?;
        let down = &self.evaluator.cases[case].down;
        let arcs = &self.evaluator.arcs;
        let tree = &self.cases[case].trees[tree];
        let others = arcs.out[arcs.tail(arc)].iter().map(|&other| other as usize);
        let next = others
            .filter(|&other| other != arc && !down[other])
            .filter_map(|other| tree.slack(arcs, &self.weights, other))
            .min()?;
        let more = if next == 0 { 1 } else { next + self.draws.below(2) as u64 };
        Some((arc, self.weights[arc].saturating_add(u32::try_from(more).ok()?)))
    }

    /// An arc with little load, and the weight by which some traffic takes it, also or only.
    fn attraction(&mut self) -> Option<(usize, u32)> {
        let (case, arc) = self.loaded(|one, other| one < other)?;
        let trees = &self.cases[case].trees;
        if trees.is_empty() {
            return None;
        }
        let tree = &trees[self.draws.below(trees.len())];
        let slack = tree.slack(&self.evaluator.arcs, &self.weights, arc)?;
        let less = slack + self.draws.below(2) as u64;
        let new = u64::from(self.weights[arc]).checked_sub(less)?;
        (new >= 1).then(|| (arc, u32::try_from(new).expect("less than a weight")))
    }

    /// Of some arcs drawn, half of the time of all arcs, the one that is loaded most by this order; and its case.
    fn loaded(&mut self, before: impl Fn(f64, f64) -> bool) -> Option<(usize, usize)> {
        let (cases, arcs) = (self.cases.len(), self.evaluator.arcs.arcs());
        let load = |walk: &Self, (case, arc): (usize, usize)| {
            walk.evaluator.arcs.load(arc, walk.cases[case].mbps[arc])
        };
        let mut chosen: Option<(usize, usize)> = None;
        for _ in 0..DRAWN {
            let one = (self.draws.below(cases), self.draws.below(arcs));
            let is_down = self.evaluator.cases[one.0].down[one.1];
            if !is_down && chosen.is_none_or(|best| before(load(self, one), load(self, best))) {
                chosen = Some(one);
            }
        }
        if self.draws.below(2) == 0 && before(1.0, 0.0) {
            let every = (0..cases).flat_map(|case| (0..arcs).map(move |arc| (case, arc)));
            return every.fold(None, |best: Option<(usize, usize)>, one| {
                if best.is_none_or(|best| before(load(self, one), load(self, best))) {
                    Some(one)
                } else {
                    best
                }
            });
        }
        chosen
    }

    /// A tree that has traffic on an arc.
    fn tree_over(&mut self, case: usize, arc: usize) -> Option<usize> {
        let count = self.cases[case].trees.len();
        let first = self.draws.below(count.max(1));
        let trees = &self.cases[case].trees;
        (0..count).map(|step| (first + step) % count).find(|&tree| trees[tree].mbps[arc] > 0.0)
    }

    fn of_group(&self, group: usize, weights: &[u32]) -> Vec<(usize, u32)> {
        self.groups[group].iter().map(|&arc| (arc, weights[arc])).collect()
    }

    /// The groups that differ from the present weights, first that which does least harm where it alone is put back. What is not
    /// tried any more when the work is done comes last.
    fn by_harm<E>(&mut self, watch: &mut dyn FnMut(u64) -> Result<(), E>) -> Result<Vec<usize>, E> {
        let (weights, limits) = (self.weights.clone(), self.limits);
        let present = &limits.present;
        let changed = |group: &Vec<usize>| group.iter().any(|&arc| weights[arc] != present[arc]);
        let groups: Vec<usize> = (0..self.groups.len()).filter(|&one| changed(&self.groups[one])).collect();
        let mut harm = Vec::new();
        for group in groups {
            watch(self.work)?;
            let back = self.of_group(group, present);
            let is_over = self.work >= limits.work;
            let trial = if is_over {
                Trial { highest: f64::INFINITY, norm: f64::INFINITY }
            } else {
                self.trial(&back)
            };
            harm.push((trial.highest, trial.norm, group));
        }
        harm.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        Ok(harm.into_iter().map(|(_, _, group)| group).collect())
    }

    /// Groups that differ from the present weights, each next one with the lowest load after it, by the norm where loads are the
    /// same; as they come once the work is done.
    fn by_gain<E>(
        &mut self,
        weights: &[u32],
        mut left: Vec<usize>,
        watch: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Vec<usize>, E> {
        let limits = self.limits;
        self.return_to(&limits.present, LAST_POWER);
        let mut order = Vec::new();
        while self.work < limits.work {
            let mut best: Option<(usize, Trial)> = None;
            for (place, &group) in left.iter().enumerate() {
                watch(self.work)?;
                let there = self.of_group(group, weights);
                let trial = self.trial(&there);
                let better = best.as_ref().is_none_or(|(_, best)| {
                    trial.highest < best.highest * (1.0 - SAME)
                        || (trial.highest <= best.highest * (1.0 + SAME) && trial.norm < best.norm)
                });
                if better {
                    best = Some((place, trial));
                }
            }
            let Some((place, _)) = best else { break };
            let group = left.remove(place);
            let there = self.of_group(group, weights);
            self.trial(&there);
            self.take(&there);
            order.push(group);
        }
        order.append(&mut left);
        Ok(order)
    }
}

impl Standing {
    /// Adds the traffic of its trees up.
    fn sum(&mut self) {
        self.mbps.fill(0.0);
        for tree in &self.trees {
            for (sum, part) in self.mbps.iter_mut().zip(&tree.mbps) {
                *sum += part;
            }
        }
    }
}

/// A number to the power of two to the power of `doublings`.
fn power(number: f64, doublings: u32) -> f64 {
    (0..doublings).fold(number, |product, _| product * product)
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a fixed sequence that depends on the seed alone.
struct Draws(u64);

impl Draws {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// One of so many numbers from 0 on, each as likely up to a bias of 2^-32.
    fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }

    /// Between 0 and 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
