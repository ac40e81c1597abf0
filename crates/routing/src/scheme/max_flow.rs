use super::Wanted;
use crate::{AdditiveMetric, MaxFlow, PathFlow, Plan, Watch, WeightedPath};
use anabranch_units::{LinkId, Rate};

anabranch_units::parameters! {
    /// The split that carries most, each path with its share of the flow (Ford and Fulkerson 1962).
    #[derive(Copy, Eq)]
    pub struct MaxFlowScheme {
        /// Among the splits that carry most, the one whose paths are shortest in this.
        metric: AdditiveMetric = AdditiveMetric::Hops;
    }
}

impl MaxFlowScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        let planner = wanted.planner(self.metric);
        let mut finder = MaxFlow::new(planner.core());
        let rate = |link: LinkId| wanted.network.link(link).capacity.as_bps();
        planner.paths(wanted.pairs, rate, watch, |tree, from, room, _| {
            Ok(in_shares_of_flow(finder.paths_up_to(tree, from, room.flow.map(Rate::from_bps))))
        })
    }
}

fn in_shares_of_flow(flows: Vec<PathFlow>) -> Vec<WeightedPath> {
    // The sum of many rates may exceed the largest single one.
    let total: u128 = flows.iter().map(|flow| u128::from(flow.rate.as_bps())).sum();
    let share = |rate: Rate| rate.as_bps() as f64 / total as f64;
    flows.into_iter().map(|flow| WeightedPath { weight: share(flow.rate), links: flow.path }).collect()
}
