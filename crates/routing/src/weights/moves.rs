//! The changes that a search tries: drawn where loads are high or low, and put back where there are too many.

use super::limits::DRAWN;
use super::walk::{Trial, Walk, power};

impl Walk<'_> {
    /// Draws a change, tries it and takes it if it is better, or worse by no more than chance allows.
    pub(super) fn try_one(&mut self, boldness: f64) {
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
        // The norm is a sum of powers: a part of the load is as many parts of it as its order says.
        let allowed = self.norm * power(1.0 + boldness * self.draws.unit(), self.power);
        let trial = self.trial(&changes, &Trial { highest: 0.0, norm: allowed });
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
        let down = &self.evaluator.down[case];
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
            let is_down = self.evaluator.down[one.0][one.1];
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
}
