//! (map follows)

pub use anabranch_transport as transport;

pub mod capture;
pub mod codel;
pub mod loss;
pub mod random;
pub mod reordering;
pub mod setup;
pub mod variate;
