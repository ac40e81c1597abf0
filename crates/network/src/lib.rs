//! The network as data: nodes, directed links, places, paths and their validation.
//!
//! Nothing here moves packets or chooses routes. A link's attributes are those that routing
//! needs (capacity, delay, loss); queues and loss processes belong to the engine.

mod error;
mod graph;
mod path;
mod path_text;

pub use error::NetworkError;
pub use graph::{Link, Network, Node, Place};
pub use path::Path;
pub use path_text::{PathNode, PathTextError, path_text, read_path};
