use super::{Wanted, best_paths};
use crate::hop_by_hop::Search;
use crate::{Metric, MetricKind, Plan, Watch};

anabranch_units::parameters! {
    /// One shortest path (Dijkstra 1959), or the best one by a metric of whole paths.
    #[derive(Copy, Eq)]
    pub struct ShortestScheme {
        /// What a short path is short in.
        metric: Metric = Metric::Hops;
    }
}

impl ShortestScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        let metric = match self.metric.kind() {
            MetricKind::Additive(metric) => metric,
            MetricKind::Path(metric) => return best_paths(wanted, watch, metric, (Search::Exact, 1)),
        };
        wanted.planner(metric).shortest(wanted.pairs, watch)
    }
}
