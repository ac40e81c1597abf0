//! Searches and plans against definitions and oracles, in one program.

mod common;
mod golden;
mod hop_by_hop;
mod limits;
mod oracles;
mod path_metrics;
mod plans;
mod semper;
mod stubs;
mod tcpbp;
mod tcpbp_exact;
