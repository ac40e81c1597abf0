//! A local search for weights: simulated annealing over single weights, each change evaluated on the trees that feel it.
//!
//! The objective is a norm of all loads, whose order doubles from round to round: the higher it is, the more the highest load
//! decides. Unlike the piecewise cost of Fortz and Thorup (2000), eq. (1), it does not depend on how much traffic there is.

use super::Evaluator;
use super::limits::{FIRST_POWER, SearchLimits, SearchResult};
use super::walk::{Trial, Walk};

/// Orders of the norm are two to powers up to this, round after round.
const LAST_POWER: u32 = 6;
/// Loads that differ by this part of the higher one are the same.
const SAME: f64 = 1e-9;
/// Trials between two calls of the watch.
const BETWEEN_LOOKS: u64 = 64;

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

    /// The changes from `present` to `weights` that matter, in an order in which each lowers the load the most, and the nodes,
    /// arcs and pairs that were touched; by the weights with these alone the highest load is no higher.
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
                let most = Trial { highest: goal, norm: 0.0 };
                if walk.work < limits.work && walk.trial(&back, &most).highest <= goal {
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
        for down in &self.down {
            let alone = Self { down: vec![down.clone()], ..self.clone() };
            let mut walk = Walk::new(&alone, limits);
            for (change, highest) in changes.iter().zip(&mut highest) {
                watch(work + walk.work)?;
                walk.trial(change, &Trial::WORSE);
                walk.take(change);
                *highest = highest.max(walk.highest);
            }
            work += walk.work;
        }
        Ok(highest)
    }
}

impl Walk<'_> {
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
            let trial = if is_over { Trial::WORSE } else { self.trial(&back, &Trial::WORSE) };
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
                let most = best.as_ref().map_or(f64::INFINITY, |(_, best)| best.highest * (1.0 + SAME));
                let trial = self.trial(&there, &Trial { highest: most, norm: 0.0 });
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
            self.trial(&there, &Trial::WORSE);
            self.take(&there);
            order.push(group);
        }
        order.append(&mut left);
        Ok(order)
    }
}
