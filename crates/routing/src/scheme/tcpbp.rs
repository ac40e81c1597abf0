use super::planned::{Objective, Sharing, ThroughputModel};
use super::{MOST_PATHS, Wanted, best_paths, metrics};
use crate::hop_by_hop::Search;
use crate::{PathLimits, PathMetric, Plan, Watch};
use anabranch_units::declaration::at_least;

metrics! {
    /// The one metric of the schemes that are called by it.
    pub enum TcpbpMetric { Tcpbp }
}

anabranch_units::parameters! {
    /// The path of highest predicted TCP throughput as the published algorithm finds it, a modified Dijkstra
    /// (Vilela 2022, algorithm 1), or the first k of Yen's algorithm over it in equal shares (section 3.5.2).
    #[derive(Copy, Eq)]
    pub struct TcpbpScheme {
        /// Number of paths, or as many as there are.
        k: u32 = 1, at_least(1).at_most(MOST_PATHS);
        /// What is predicted.
        metric: TcpbpMetric = TcpbpMetric::Tcpbp;
    }
}

impl TcpbpScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        best_paths(wanted, watch, PathMetric::Tcpbp, (Search::Published, self.k), None)
    }
}

anabranch_units::parameters! {
    /// The path of highest predicted TCP throughput, without exception, or the k best in equal shares.
    #[derive(Copy)]
    pub struct TcpbpExactScheme {
        /// Number of paths, or as many as there are.
        k: u32 = 1, at_least(1).at_most(MOST_PATHS);
        /// What is predicted.
        metric: TcpbpMetric = TcpbpMetric::Tcpbp;
        /// Paths beyond these are left out.
        limits: Option<PathLimits> = None;
        /// The throughput model by whose prediction paths are chosen, in place of d sqrt(p).
        model: Option<ThroughputModel> = None;
        /// With a `model`: with whom a flow shares its path; left out, `pair`.
        sharing: Option<Sharing> = None;
        /// With `sharing = "all-pairs"`: what the routes make large; left out, `total`.
        objective: Option<Objective> = None;
    }
}

impl TcpbpExactScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        best_paths(wanted, watch, PathMetric::Tcpbp, (Search::Exact, self.k), self.limits)
    }
}
