use anabranch_network::{Network, NetworkError, Path};
use anabranch_units::{LinkId, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a routing scheme answers: for each pair of nodes that traffic wants, weighted paths or
/// hop-by-hop forwarding. Plain data; it does not know who made it, nor who will use it.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Routes by pair, in the order of (from, to). A pair that cannot be connected is absent.
    pub routes: Vec<Route>,
    /// Forwarding tables, for destinations that are forwarded hop by hop.
    pub tables: Vec<Table>,
}

/// The routes of one pair.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Source.
    pub from: NodeId,
    /// Destination.
    pub to: NodeId,
    /// Paths with weights that add up to one; empty: hop by hop along the table of `to`.
    pub paths: Vec<WeightedPath>,
}

/// A path and the share of packets that takes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedPath {
    /// The path.
    pub links: Path,
    /// Share, above 0 and at most 1.
    pub weight: f64,
}

/// Next hops of every node towards one destination, all equally good.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Destination.
    pub to: NodeId,
    /// For each node, the links it may use; empty where there is no way, and at the destination.
    pub next: Vec<Vec<LinkId>>,
}
