//! Routing schemes: each a file with its parameters and its plan, and a line in the list below.
//!
//! The metric is a parameter of each scheme, whose type says which metrics it takes: schemes that add costs up,
//! or forward hop by hop, take only metrics that are sums over links. Schemes that take a solver or a throughput model
//! have their parameters here, too ([`planned`]); their plans are made in Python.

mod disjoint;
mod ecmp;
mod k_shortest;
mod max_flow;
mod near_shortest;
pub mod planned;
mod semper;
mod shortest;
mod tcpbp;

pub use disjoint::DisjointScheme;
pub use ecmp::EcmpScheme;
pub use k_shortest::KShortestScheme;
pub use max_flow::MaxFlowScheme;
pub use near_shortest::NearShortestScheme;
pub use semper::{PathShares, SemperScheme};
pub use shortest::ShortestScheme;
pub use tcpbp::{TcpbpExactScheme, TcpbpMetric, TcpbpScheme};

use crate::hop_by_hop::Search;
use crate::path_planner::PathPlanner;
use crate::planner::Planner;
use crate::watch::unwatched;
use crate::{AdditiveMetric, LinkMask, Metric, PathLimits, PathMetric, Plan, Route, Watch, WeightedPath};
use anabranch_network::{Network, Path};
use anabranch_units::NodeId;
use anabranch_units::declaration::{OutOfRange, Registry};
use planned::PlannedScheme;
use serde::{Deserialize, Deserializer, Serialize};

/// Most paths of a pair that a scenario can ask for.
const MOST_PATHS: u32 = 64;

/// Makes a type of the metrics that a scheme takes: some of [`Metric`], with the names and texts that they have there.
macro_rules! metrics {
    ($(#[doc = $doc:literal])+ pub enum $name:ident { $($metric:ident),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(into = "crate::Metric", try_from = "crate::Metric")]
        pub enum $name {
            $( #[doc = concat!("[`Metric::", stringify!($metric), "`](crate::Metric::", stringify!($metric), ").")]
            $metric, )+
        }

        impl From<$name> for crate::Metric {
            fn from(metric: $name) -> Self {
                match metric { $( $name::$metric => Self::$metric, )+ }
            }
        }

        impl TryFrom<crate::Metric> for $name {
            type Error = String;

            fn try_from(metric: crate::Metric) -> Result<Self, String> {
                match metric {
                    $( crate::Metric::$metric => Ok(Self::$metric), )+
                    _ => {
                        let names = <Self as anabranch_units::declaration::Value>::choices();
                        let names: Vec<_> = names.iter().map(|choice| format!("`{}`", choice.name)).collect();
                        let read = anabranch_units::declaration::Value::plain(&metric);
                        Err(format!("unknown variant `{read}`, expected {}", names.join(" or ")))
                    }
                }
            }
        }

        impl anabranch_units::declaration::Value for $name {
            const KIND: anabranch_units::declaration::Kind = anabranch_units::declaration::Kind::Choice;

            fn plain(&self) -> anabranch_units::declaration::Plain {
                crate::Metric::from(*self).plain()
            }

            fn choices() -> Vec<anabranch_units::declaration::Choice> {
                let names = [$( Self::$metric.plain().to_string() ),+];
                let mut choices = crate::Metric::choices();
                choices.retain(|choice| names.iter().any(|name| name == choice.name));
                choices
            }
        }
    };
}
use metrics;

/// Makes the enumeration of schemes, which passes each call on.
macro_rules! schemes {
    ($( $name:literal => $variant:ident($scheme:ty) ),+ $(,)?) => {
        anabranch_units::registry! {
            /// How routes are chosen.
            pub enum Scheme: "scheme" {
                $( $name => $variant($scheme), )+
            }
        }

        impl Scheme {
            /// The metric by which it calls a path short.
            #[must_use]
            pub fn metric(&self) -> Metric {
                match self { $( Self::$variant(scheme) => scheme.metric.into(), )+ }
            }

            /// Routes for these pairs over what `mask` leaves usable. Pairs that cannot be connected are
            /// absent from the plan, and so are pairs of a node with itself; it does not matter in which
            /// order or how often a pair is named.
            ///
            /// # Panics
            /// If a pair names a node that the network lacks, or the mask is one of a smaller network.
            #[must_use]
            pub fn plan(&self, network: &Network, mask: &LinkMask, pairs: &[(NodeId, NodeId)]) -> Plan {
                unwatched(|watch| self.plan_watched(network, mask, pairs, watch))
            }

            /// The same, and `watch` hears how far the work is.
            ///
            /// # Errors
            /// That of `watch`, which ends the work.
            ///
            /// # Panics
            /// As [`Scheme::plan`].
            pub fn plan_watched<E>(
                &self,
                network: &Network,
                mask: &LinkMask,
                pairs: &[(NodeId, NodeId)],
                watch: &mut Watch<'_, E>,
            ) -> Result<Plan, E> {
                let wanted = Wanted { network, mask, pairs };
                match self { $( Self::$variant(scheme) => scheme.plan(wanted, watch), )+ }
            }
        }
    };
}

schemes! {
    "shortest" => Shortest(ShortestScheme),
    "ecmp" => Ecmp(EcmpScheme),
    "k-shortest" => KShortest(KShortestScheme),
    "near-shortest" => NearShortest(NearShortestScheme),
    "disjoint" => Disjoint(DisjointScheme),
    "max-flow" => MaxFlow(MaxFlowScheme),
    "tcpbp" => Tcpbp(TcpbpScheme),
    "tcpbp-exact" => TcpbpExact(TcpbpExactScheme),
    "semper" => Semper(SemperScheme),
}

impl Scheme {
    /// Checks that the core makes its plans.
    ///
    /// # Errors
    /// The parameter with which a planner does.
    pub fn check_planned_here(&self) -> Result<(), OutOfRange> {
        if let Self::TcpbpExact(TcpbpExactScheme { model: Some(_), .. }) = self {
            return Err(OutOfRange::new(
                "model",
                "is for a planner; give the plan that it makes, and no scheme",
            ));
        }
        Ok(())
    }
}

/// A scheme as a scenario names it, whoever makes its plans.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum ChosenScheme {
    /// One of the core.
    Core(Scheme),
    /// One that a planner declares, with all its parameters.
    Planned(PlannedScheme),
}

impl ChosenScheme {
    /// Reads the scheme of a name from the data that names it, too, as `algorithm`.
    ///
    /// # Errors
    /// That of the data: an unknown name or parameter, or a value of another type.
    pub fn read<'de, D: Deserializer<'de>>(name: &str, data: D) -> Result<Self, D::Error> {
        if PlannedScheme::NAMES.contains(&name) {
            PlannedScheme::deserialize(data).map(Self::Planned)
        } else {
            Scheme::deserialize(data).map(Self::Core)
        }
    }

    /// Checks the parameters against their bounds and against each other.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn verify(&self) -> Result<(), OutOfRange> {
        match self {
            Self::Core(scheme) => scheme.check(),
            Self::Planned(scheme) => scheme.verify(),
        }
    }

    /// All schemes with their parameters: those of the core, and behind them those of planners.
    #[must_use]
    pub fn described() -> Registry {
        let mut registry = Scheme::described();
        // A class of the user's own is a planner, too.
        registry.external = true;
        for planned in PlannedScheme::described_with_planners().algorithms {
            match registry.algorithms.iter_mut().find(|scheme| scheme.name == planned.name) {
                // The core makes some of its plans.
                Some(scheme) => *scheme = planned,
                None => registry.algorithms.push(planned),
            }
        }
        registry
    }
}

/// What there is to plan.
#[derive(Clone, Copy)]
struct Wanted<'w> {
    network: &'w Network,
    /// What of it is usable.
    mask: &'w LinkMask,
    pairs: &'w [(NodeId, NodeId)],
}

impl<'w> Wanted<'w> {
    /// Searches over a graph of costs.
    fn planner(self, metric: AdditiveMetric) -> Planner<'w> {
        Planner::new(self.network, self.mask, |link| metric.cost(self.network, link))
    }
}

/// The `k` best paths by a metric of whole paths, in equal shares.
fn best_paths<E>(
    wanted: Wanted<'_>,
    watch: &mut Watch<'_, E>,
    metric: PathMetric,
    (search, k): (Search, u32),
    limits: Option<PathLimits>,
) -> Result<Plan, E> {
    let planner = PathPlanner::new(wanted.network, wanted.mask, metric, search, limits);
    let paths = planner.paths(wanted.pairs, k as usize, watch)?;
    let route = |((from, to), paths)| Route { from, to, paths: in_equal_shares(paths) };
    Ok(Plan { routes: paths.into_iter().map(route).collect(), ..Plan::default() })
}

fn in_equal_shares(paths: Vec<Path>) -> Vec<WeightedPath> {
    let weight = 1.0 / paths.len() as f64;
    paths.into_iter().map(|links| WeightedPath { links, weight }).collect()
}
