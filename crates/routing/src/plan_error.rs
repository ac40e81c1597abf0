use anabranch_network::NetworkError;
use anabranch_units::{LinkId, NodeId};
use thiserror::Error;

/// Why a plan does not fit a network. `pair` reads like `"Seattle" -> "Atlanta"`.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum PlanError {
    /// A route or table names a node that is not there.
    #[error("{place}: no node number {}; the network has {nodes} nodes", node.0)]
    NoSuchNode {
        /// Which route or table.
        place: String,
        /// The number it names.
        node: NodeId,
        /// How many nodes there are.
        nodes: usize,
    },
    /// One of the other plans has others.
    #[error("others: one of them has others in turn, and only the plan itself may have some")]
    Nested,
    /// A route from a node to itself.
    #[error("route {pair}: both ends are the same node")]
    SameEnds {
        /// The pair.
        pair: String,
    },
    /// Routes are not sorted, or two are for one pair.
    #[error("route {pair}: out of order; routes are sorted by the numbers of their ends, and a pair has one")]
    OutOfOrder {
        /// The pair.
        pair: String,
    },
    /// A path that is none.
    #[error("route {pair}, path {path}: {source}")]
    BadPath {
        /// The pair.
        pair: String,
        /// Index of the path.
        path: usize,
        /// What is wrong.
        source: NetworkError,
    },
    /// A path of another pair.
    #[error("route {pair}, path {path}: it leads {leads}")]
    OtherPair {
        /// The pair.
        pair: String,
        /// Index of the path.
        path: usize,
        /// The pair that the path connects.
        leads: String,
    },
    /// A weight that is not a share.
    #[error("route {pair}, path {path}: the weight is {weight}; it must be above 0 and at most 1")]
    BadWeight {
        /// The pair.
        pair: String,
        /// Index of the path.
        path: usize,
        /// What was given.
        weight: f64,
    },
    /// Weights that do not add up to one.
    #[error("route {pair}: the weights add up to {sum}, not to 1")]
    BadSum {
        /// The pair.
        pair: String,
        /// Their sum.
        sum: f64,
    },
    /// Neither paths nor a table.
    #[error("route {pair}: it has no paths, and there is no table to its destination")]
    NoTable {
        /// The pair.
        pair: String,
    },
    /// No paths, and a table that knows no way either.
    #[error("route {pair}: it has no paths, and the table to its destination has no next hop at its source")]
    NoNextHop {
        /// The pair.
        pair: String,
    },
    /// Two tables for one destination.
    #[error("tables: two of them lead to {to:?}")]
    TwoTables {
        /// Name of the destination.
        to: String,
    },
    /// Entries of a table are not sorted, or two are for one node.
    #[error(
        "table to {to:?}: the entry of {at:?} is out of order; they are sorted by node number, one a node"
    )]
    TableOutOfOrder {
        /// Name of the destination.
        to: String,
        /// Name of the node.
        at: String,
    },
    /// Next hops where the packet has arrived.
    #[error("table to {to:?}: there are next hops at the destination")]
    NextHopAtDestination {
        /// Name of the destination.
        to: String,
    },
    /// A next hop that is not there, or not at the node.
    #[error("table to {to:?}: no link {} leaves {at:?}", link.0)]
    BadNextHop {
        /// Name of the destination.
        to: String,
        /// Name of the node.
        at: String,
        /// The link it names.
        link: LinkId,
    },
}
