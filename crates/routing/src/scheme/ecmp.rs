use super::Wanted;
use crate::{AdditiveMetric, Plan, Watch};

anabranch_units::parameters! {
    /// All paths of equal and least cost, hop by hop (RFC 2328 section 16.1).
    #[derive(Copy, Eq)]
    pub struct EcmpScheme {
        /// What a short path is short in.
        metric: AdditiveMetric = AdditiveMetric::Hops;
    }
}

impl EcmpScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        wanted.planner(self.metric).tables(wanted.pairs, watch)
    }
}
