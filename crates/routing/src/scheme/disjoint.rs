use super::{MOST_PATHS, Wanted, in_equal_shares};
use crate::{AdditiveMetric, Disjoint, Plan, Watch};
use anabranch_units::declaration::at_least;

anabranch_units::parameters! {
    /// Paths of least total cost that share no link, in equal shares (Suurballe 1974).
    #[derive(Copy, Eq)]
    pub struct DisjointScheme {
        /// Most paths of a pair; left out, as many as there are.
        k: Option<u32> = None, at_least(1).at_most(MOST_PATHS);
        /// What a short path is short in.
        metric: AdditiveMetric = AdditiveMetric::Hops;
    }
}

impl DisjointScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        let planner = wanted.planner(self.metric);
        let mut finder = Disjoint::new(planner.core());
        let k = self.k.map(|k| k as usize);
        planner.paths(
            wanted.pairs,
            |_| 1,
            watch,
            |tree, from, room, _| {
                // Paths over one stub share its links.
                Ok(in_equal_shares(finder.paths(tree, from, if room.flow.is_some() { Some(1) } else { k })))
            },
        )
    }
}
