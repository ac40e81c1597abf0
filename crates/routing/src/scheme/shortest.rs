use super::{KShortestScheme, Wanted};
use crate::{Metric, MetricKind, PathLimits, Plan, Watch};

anabranch_units::parameters! {
    /// One shortest path (Dijkstra 1959), or the best one by a metric of whole paths.
    #[derive(Copy)]
    pub struct ShortestScheme {
        /// What a short path is short in.
        metric: Metric = Metric::Hops;
        /// Paths beyond these are left out.
        limits: Option<PathLimits> = None;
    }
}

impl ShortestScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        match self.metric.kind() {
            MetricKind::Additive(metric) if self.limits.is_none() => {
                wanted.planner(metric).shortest(wanted.pairs, watch)
            }
            MetricKind::Additive(_) | MetricKind::Path(_) => {
                KShortestScheme { k: 1, metric: self.metric, limits: self.limits }.plan(wanted, watch)
            }
        }
    }
}
