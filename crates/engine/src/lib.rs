//! (map follows)

pub mod capture;
pub mod random;
pub mod reordering;
