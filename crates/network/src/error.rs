use anabranch_units::{LinkId, NodeId};
use thiserror::Error;

/// Why a network or a path is not valid.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum NetworkError {
    /// A link names a node that is not there.
    #[error("link {link}: no node number {}; the network has {nodes} nodes", node.0)]
    NoSuchNode {
        /// Index of the link.
        link: usize,
        /// The number it names.
        node: NodeId,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A link from a node to itself.
    #[error("link {link}: both ends are node {node:?}")]
    SelfLoop {
        /// Index of the link.
        link: usize,
        /// Name of the node.
        node: String,
    },
    /// A link that can carry nothing.
    #[error("link {link} ({from} -> {to}): capacity must be above zero")]
    NoCapacity {
        /// Index of the link.
        link: usize,
        /// Name of its source.
        from: String,
        /// Name of its destination.
        to: String,
    },
    /// A weight of zero.
    #[error("link {link} ({from} -> {to}): weight must be at least 1")]
    NoWeight {
        /// Index of the link.
        link: usize,
        /// Name of its source.
        from: String,
        /// Name of its destination.
        to: String,
    },
    /// A loss that is not a probability.
    #[error("link {link} ({from} -> {to}): loss is {loss}; it must lie in 0..1")]
    BadLoss {
        /// Index of the link.
        link: usize,
        /// Name of its source.
        from: String,
        /// Name of its destination.
        to: String,
        /// What was given.
        loss: f64,
    },
    /// Two nodes of one name.
    #[error("two nodes are called {0:?}")]
    DuplicateName(String),
    /// A path without links.
    #[error("a path has at least one link")]
    EmptyPath,
    /// A path names a link that is not there.
    #[error("a path names link {}, the network has {links} links", link.0)]
    NoSuchLink {
        /// The number it names.
        link: LinkId,
        /// How many links there are.
        links: usize,
    },
    /// A path whose links do not join.
    #[error("a path breaks at {at:?}: its next link starts at {next:?}")]
    BrokenPath {
        /// Where the last link ends.
        at: String,
        /// Where the next link starts.
        next: String,
    },
    /// A path that comes back to a node.
    #[error("a path visits {0:?} twice")]
    Loop(String),
}
