use crate::hop_by_hop::Search;
use crate::path_planner::PathPlanner;
use crate::planner::Planner;
use crate::semper::semper_plan;
use crate::watch::unwatched;
use crate::{
    AdditiveMetric, Disjoint, KShortest, LinkMask, MaxFlow, Metric, MetricKind, PathFlow, PathMetric,
    PathShares, Plan, Route, Watch, WeightedPath,
};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId, Rate};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// A way to choose routes, with its parameters. In text: `{"name": "k-shortest", "k": 2,
/// "metric": "hops"}`.
///
/// Schemes that add costs up, or forward hop by hop, take only metrics that are sums over links.
///
/// To add one: a file with its algorithm, a variant here, its line in [`Scheme::NAMES`] and its
/// arm in [`Scheme::plan`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scheme {
    /// The shortest path (Dijkstra 1959; see [`crate::dijkstra`]), or the best one by a metric of
    /// whole paths ([`mod@crate::exact`]).
    Shortest {
        /// What is short.
        metric: Metric,
    },
    /// Hop by hop over all paths of equal and least cost (RFC 2328 section 16.1; see
    /// [`crate::ecmp`]).
    Ecmp {
        /// What is short.
        metric: AdditiveMetric,
    },
    /// The k shortest loopless paths in equal shares (Yen 1971; see [`crate::yen`], and
    /// [`crate::k_best`] for metrics of whole paths).
    KShortest {
        /// How many, or as many as exist.
        k: NonZeroUsize,
        /// What is short.
        metric: Metric,
    },
    /// Link-disjoint paths of least total cost in equal shares (Suurballe 1974; see
    /// [`crate::disjoint`]).
    Disjoint {
        /// How many, or as many as exist; `None`: as many as exist.
        #[serde(default)]
        k: Option<NonZeroUsize>,
        /// What is short.
        metric: AdditiveMetric,
    },
    /// The paths of a maximum flow of least cost, each with its share of the flow (Ford and
    /// Fulkerson 1962; see [`mod@crate::max_flow`]).
    MaxFlow {
        /// What is short.
        metric: AdditiveMetric,
    },
    /// The path of highest predicted TCP throughput as published: what the modified Dijkstra finds (Vilela
    /// 2022, algorithm 1; see [`crate::tcpbp`]), or the first k of Yen's algorithm over it, in equal shares
    /// (section 3.5.2; see [`crate::k_best`]).
    Tcpbp {
        /// How many, or as many as exist; `None`: one.
        #[serde(default)]
        k: Option<NonZeroUsize>,
        /// What is predicted.
        metric: TcpbpMetric,
    },
    /// The path of highest predicted TCP throughput, without exception, or the k best in equal shares (see
    /// [`mod@crate::exact`] and [`crate::k_best`]).
    TcpbpExact {
        /// How many, or as many as exist; `None`: one.
        #[serde(default)]
        k: Option<NonZeroUsize>,
        /// What is predicted.
        metric: TcpbpMetric,
    },
    /// Link-disjoint paths between the edge routers, the same ones in both directions (Garcia-Aviles
    /// 2017; see `semper.rs`).
    Semper {
        /// How many, or as many as exist; `None`: as many as exist.
        #[serde(default)]
        k: Option<NonZeroUsize>,
        /// What is short, there and back together.
        metric: AdditiveMetric,
        /// How much each path gets.
        #[serde(default)]
        shares: PathShares,
    },
}

/// The one metric of the schemes that are called by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpbpMetric {
    /// See [`PathMetric::Tcpbp`].
    Tcpbp,
}

/// How a scheme searches its paths.
enum Method {
    /// Over a graph of costs.
    Costs(AdditiveMetric),
    /// The k best by a metric of whole paths.
    Paths(PathMetric, Search, usize),
}

impl Scheme {
    /// The name of every scheme.
    pub const NAMES: [&'static str; 8] =
        ["shortest", "ecmp", "k-shortest", "disjoint", "max-flow", "tcpbp", "tcpbp-exact", "semper"];

    /// The metric by which it calls a path short.
    #[must_use]
    pub fn metric(&self) -> Metric {
        match self {
            Self::Shortest { metric } | Self::KShortest { metric, .. } => *metric,
            Self::Ecmp { metric }
            | Self::Disjoint { metric, .. }
            | Self::MaxFlow { metric }
            | Self::Semper { metric, .. } => (*metric).into(),
            Self::Tcpbp { .. } | Self::TcpbpExact { .. } => Metric::Tcpbp,
        }
    }

    fn method(&self) -> Method {
        let search = if matches!(self, Self::Tcpbp { .. }) { Search::Published } else { Search::Exact };
        let k = match self {
            Self::KShortest { k, .. }
            | Self::Tcpbp { k: Some(k), .. }
            | Self::TcpbpExact { k: Some(k), .. } => k.get(),
            _ => 1,
        };
        match self.metric().kind() {
            MetricKind::Additive(metric) => Method::Costs(metric),
            MetricKind::Path(metric) => Method::Paths(metric, search, k),
        }
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
        match self.method() {
            Method::Costs(metric) => self.plan_by_costs(network, mask, pairs, metric, watch),
            Method::Paths(metric, search, k) => {
                let paths = PathPlanner::new(network, mask, metric, search).paths(pairs, k, watch)?;
                let route = |((from, to), paths)| Route { from, to, paths: in_equal_shares(paths) };
                Ok(Plan { routes: paths.into_iter().map(route).collect(), tables: Vec::new() })
            }
        }
    }

    fn plan_by_costs<E>(
        &self,
        network: &Network,
        mask: &LinkMask,
        pairs: &[(NodeId, NodeId)],
        metric: AdditiveMetric,
        watch: &mut Watch<'_, E>,
    ) -> Result<Plan, E> {
        let planner = Planner::new(network, mask, |link| metric.cost(network, link));
        let graph = planner.core();
        let no_bound = |_: LinkId| u64::MAX;
        let one_path = |_: LinkId| 1;
        let rate = |link: LinkId| network.link(link).capacity.as_bps();
        match self {
            Self::Ecmp { .. } => planner.tables(pairs, watch),
            Self::KShortest { k, .. } => {
                let mut finder = KShortest::new(graph);
                planner.paths(pairs, no_bound, watch, |tree, from, _, go_on| {
                    let mut paths = finder.paths(tree, from).take(k.get());
                    let next = || go_on().map(|()| paths.next()).transpose();
                    std::iter::from_fn(next).collect::<Result<_, E>>().map(in_equal_shares)
                })
            }
            Self::Disjoint { k, .. } => {
                let mut finder = Disjoint::new(graph);
                let k = k.map(NonZeroUsize::get);
                planner.paths(pairs, one_path, watch, |tree, from, room, _| {
                    // Paths over one stub share its links.
                    Ok(in_equal_shares(finder.paths(tree, from, if room.is_some() { Some(1) } else { k })))
                })
            }
            Self::MaxFlow { .. } => {
                let mut finder = MaxFlow::new(graph);
                planner.paths(pairs, rate, watch, |tree, from, room, _| {
                    Ok(in_shares_of_flow(finder.paths_up_to(tree, from, room.map(Rate::from_bps))))
                })
            }
            Self::Shortest { .. } | Self::Tcpbp { .. } | Self::TcpbpExact { .. } => {
                planner.paths(pairs, no_bound, watch, |tree, from, _, _| {
                    Ok(in_equal_shares(tree.path(graph, from).into_iter().collect()))
                })
            }
            Self::Semper { k, shares, .. } => {
                let cost = |link| metric.cost(network, link);
                semper_plan(network, mask, pairs, (k.map(NonZeroUsize::get), *shares), cost, watch)
            }
        }
    }
}

fn in_equal_shares(paths: Vec<Path>) -> Vec<WeightedPath> {
    let weight = 1.0 / paths.len() as f64;
    paths.into_iter().map(|links| WeightedPath { links, weight }).collect()
}

fn in_shares_of_flow(flows: Vec<PathFlow>) -> Vec<WeightedPath> {
    // The sum of many rates may exceed the largest single one.
    let total: u128 = flows.iter().map(|flow| u128::from(flow.rate.as_bps())).sum();
    let share = |rate: Rate| rate.as_bps() as f64 / total as f64;
    flows.into_iter().map(|flow| WeightedPath { weight: share(flow.rate), links: flow.path }).collect()
}
