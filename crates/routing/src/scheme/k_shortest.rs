use super::{MOST_PATHS, Wanted, best_paths, in_equal_shares};
use crate::hop_by_hop::Search;
use crate::{KShortest, Metric, MetricKind, PathLimits, Plan, Watch};
use anabranch_units::declaration::at_least;

anabranch_units::parameters! {
    /// The k shortest loop-free paths in equal shares (Yen 1971).
    #[derive(Copy)]
    pub struct KShortestScheme {
        /// Number of paths, or as many as there are.
        k: u32 = 2, at_least(1).at_most(MOST_PATHS);
        /// What a short path is short in.
        metric: Metric = Metric::Hops;
        /// Paths beyond these are left out.
        limits: Option<PathLimits> = None;
    }
}

impl KShortestScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        let metric = match self.metric.kind() {
            MetricKind::Additive(metric) => metric,
            MetricKind::Path(metric) => {
                return best_paths(wanted, watch, metric, (Search::Exact, self.k), self.limits);
            }
        };
        let planner = wanted.planner(metric);
        let (planner, mut limited) = match self.limits {
            None => (planner, None),
            Some(limits) => {
                let (planner, limited) = planner.limited(limits);
                (planner, Some(limited))
            }
        };
        let mut finder = KShortest::new(planner.core());
        planner.paths(
            wanted.pairs,
            |_| u64::MAX,
            watch,
            |tree, from, room, go_on| {
                let within = limited.as_mut().map(|limited| limited.to(tree.to(), room.budget));
                let mut paths = finder.paths_within(tree, from, within).take(self.k as usize);
                let next = || go_on().map(|()| paths.next()).transpose();
                std::iter::from_fn(next).collect::<Result<_, E>>().map(in_equal_shares)
            },
        )
    }
}
