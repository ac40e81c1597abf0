//! Routing: which paths the packets of each pair of nodes take, and in which shares.
//!
//! A [`Scheme`] looks at a [`Network`](anabranch_network::Network) and at what of it is up, and
//! answers with a [`Plan`]. It neither scores a plan nor forwards a packet. Beneath stand the
//! algorithms, one to a file, over any additive cost: shortest paths ([`dijkstra`]), k shortest
//! loopless paths ([`yen`]), link-disjoint paths ([`disjoint`]), equal-cost multipath ([`ecmp`])
//! and maximum flow ([`max_flow`](mod@max_flow)). Metrics of whole paths ([`path_metric`]), such as
//! predicted TCP throughput, have searches of their own: the modified Dijkstra as published
//! ([`tcpbp`]), exact ones for the best path ([`mod@exact`]) and the k best ([`k_best`]), and all
//! paths that no other beats in delay, loss and capacity ([`pareto`]); [`hop_by_hop`] says where
//! forwarding by such a metric would go wrong. All break ties by the one rule that [`dijkstra`]
//! states, and answer the same for the same network on every machine. A plan for many pairs leaves
//! hosts and whatever else hangs on one edge out of its searches; that changes no path.

mod bounds;
pub mod dijkstra;
pub mod disjoint;
pub mod ecmp;
mod estimate;
pub mod exact;
mod flow;
mod graph;
pub mod hop_by_hop;
mod joined;
pub mod k_best;
mod labels;
mod length;
mod limits;
mod marks;
mod mask;
pub mod max_flow;
mod metric;
mod mirror;
pub mod pareto;
pub mod path_metric;
mod path_planner;
mod plan;
mod plan_error;
mod planner;
mod prune;
mod quality;
mod scheme;
mod shares;
mod stubs;
pub mod tcpbp;
mod watch;
pub mod weights;
mod within;
pub mod yen;

pub use dijkstra::{TreeFrom, TreeTo, shortest_path};
pub use disjoint::{Disjoint, disjoint_paths};
pub use ecmp::ecmp_table;
pub use estimate::{
    Estimate, Estimator, EstimatorSetup, Ewma, EwmaParameters, Granularity, HypothesisTest,
    HypothesisTestParameters, MovingAverage, MovingAverageParameters, Sample,
};
pub use exact::{ExactTree, exact_path};
pub use graph::CostGraph;
pub use hop_by_hop::{Disagreement, Search, Walk, check_hop_by_hop, check_hop_by_hop_watched};
pub use k_best::{KBest, k_best_paths};
pub use length::Length;
pub use limits::PathLimits;
pub use mask::LinkMask;
pub use max_flow::{MaxFlow, PathFlow, max_flow};
pub use metric::{AdditiveMetric, Fallback, Metric, MetricKind, REFERENCE_CAPACITY_BPS};
pub use mirror::Mirror;
pub use pareto::{TooMany, pareto_paths};
pub use path_metric::{PathMetric, Rank};
pub use plan::{NextHopsTo, Plan, Route, WeightedPath};
pub use plan_error::PlanError;
pub use prune::prune;
pub use quality::{LinkQuality, PathQuality};
pub use scheme::{
    ChosenScheme, DisjointScheme, EcmpScheme, KShortestScheme, MaxFlowScheme, NearShortestScheme, PathShares,
    Scheme, SemperScheme, ShortestScheme, TcpbpExactScheme, TcpbpMetric, TcpbpScheme, planned,
};
pub use shares::{HopByHop, NextLinks, SharedPath, Shares, shares_along};
pub use tcpbp::{TcpbpTree, tcpbp_path};
pub use watch::Watch;
pub use yen::{KShortest, k_shortest_paths};
