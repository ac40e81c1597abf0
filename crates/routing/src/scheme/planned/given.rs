use super::{Planned, Planner};
use crate::Metric;

anabranch_units::parameters! {
    /// The paths of `paths`, with their weights: routes computed or measured elsewhere.
    #[derive(Copy, Eq)]
    pub struct GivenScheme {
        /// What a short path is short in.
        metric: Metric = Metric::Hops;
    }
}

/// The paths themselves are data beside the choice of the scheme, and no parameter.
impl Planned for GivenScheme {
    const PLANNER: Planner = Planner::of("given");
}
