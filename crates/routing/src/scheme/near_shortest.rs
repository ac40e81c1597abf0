use super::{KShortestScheme, MOST_PATHS, Wanted};
use crate::quality::{LinkQuality, PathQuality};
use crate::{Metric, MetricKind, PathLimits, PathMetric, Plan, Watch};
use anabranch_network::{Network, Path};
use anabranch_units::declaration::{at_least, at_most};

anabranch_units::parameters! {
    /// The loop-free paths that are nearly as short as the shortest, in equal shares (Carlyle and Wood 2005).
    #[derive(Copy)]
    pub struct NearShortestScheme {
        /// How much longer a path may be than the shortest of its pair, in percent.
        within_percent: u32 = 10, at_most(10_000);
        /// Most paths of a pair; of more, the shortest.
        k: u32 = 8, at_least(1).at_most(MOST_PATHS);
        /// What a short path is short in.
        metric: Metric = Metric::Hops;
        /// Paths beyond these are left out; the shortest is the one within them.
        limits: Option<PathLimits> = None;
    }
}

impl NearShortestScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        let mut plan =
            KShortestScheme { k: self.k, metric: self.metric, limits: self.limits }.plan(wanted, watch)?;
        for route in &mut plan.routes {
            let Some(best) = route.paths.first().map(|path| path.links.clone()) else { continue };
            route.paths.retain(|path| self.is_near(wanted.network, &path.links, &best));
            let weight = 1.0 / route.paths.len() as f64;
            route.paths.iter_mut().for_each(|path| path.weight = weight);
        }
        Ok(plan)
    }

    /// Whether a path is not much longer than the best one; where the metric says nothing, by delay.
    fn is_near(self, network: &Network, path: &Path, best: &Path) -> bool {
        let metric = match self.metric.kind() {
            MetricKind::Path(metric) => metric,
            MetricKind::Additive(metric) => {
                let cost = |path: &Path| {
                    path.links().iter().map(|&link| u128::from(metric.cost(network, link))).sum::<u128>()
                };
                return cost(path) * 100 <= cost(best) * u128::from(100 + self.within_percent);
            }
        };
        let quality = |path: &Path| {
            PathQuality::of(path.links().iter().map(|&link| LinkQuality::of(network.link(link))))
        };
        let (path, best) = (quality(path), quality(best));
        let most = 1.0 + f64::from(self.within_percent) / 100.0;
        if metric == PathMetric::Capacity {
            return best.capacity().as_bps() as f64 <= path.capacity().as_bps() as f64 * most;
        }
        let says_nothing = metric.cost(best) == 0.0;
        let delays = (path.delay().as_secs_f64(), best.delay().as_secs_f64());
        metric.cost(path) <= metric.cost(best) * most && (!says_nothing || delays.0 <= delays.1 * most)
    }
}
