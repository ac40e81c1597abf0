//! Routing: which paths the packets of each pair of nodes take, and in which shares.
//!
//! A [`Scheme`] looks at a [`Network`](anabranch_network::Network) and at what of it is up, and
//! answers with a [`Plan`]. It neither scores a plan nor forwards a packet. Beneath stand the
//! algorithms, one to a file, over any additive cost: shortest paths ([`dijkstra`]), k shortest
//! loopless paths ([`yen`]), link-disjoint paths ([`disjoint`]), equal-cost multipath ([`ecmp`])
//! and maximum flow ([`max_flow`](mod@max_flow)); and, over delay and loss that somebody measures,
//! paths by predicted TCP throughput, as published ([`tcpbp`]) and exactly ([`tcpbp_exact`]), with
//! what smooths the measurements. All break ties by the one rule that [`dijkstra`] states, and answer the same for the same network on every machine. A plan for many pairs leaves
//! hosts and whatever else hangs on one cable out of its searches; that changes no path.

pub mod dijkstra;
pub mod disjoint;
pub mod ecmp;
mod estimate;
mod flow;
mod graph;
mod length;
mod mask;
pub mod max_flow;
mod metric;
mod mirror;
mod plan;
mod plan_error;
mod planner;
mod prune;
mod scheme;
mod semper;
mod stubs;
pub mod tcpbp;
pub mod tcpbp_exact;
pub mod yen;

pub use dijkstra::{TreeFrom, TreeTo, shortest_path};
pub use disjoint::{Disjoint, disjoint_paths};
pub use ecmp::ecmp_table;
pub use estimate::{Granularity, MovingAverage};
pub use graph::CostGraph;
pub use length::Length;
pub use mask::LinkMask;
pub use max_flow::{MaxFlow, PathFlow, max_flow};
pub use metric::{Metric, REFERENCE_CAPACITY_BPS};
pub use mirror::Mirror;
pub use plan::{Plan, Route, Table, WeightedPath};
pub use plan_error::PlanError;
pub use prune::prune;
pub use scheme::Scheme;
pub use semper::PathShares;
pub use tcpbp::{LinkQuality, PathQuality, TcpbpTree, tcpbp_path};
pub use tcpbp_exact::{TcpbpExactTree, tcpbp_exact_path};
pub use yen::{KShortest, k_shortest_paths};
