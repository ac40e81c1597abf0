//! (map follows)

pub use anabranch_transport as transport;
