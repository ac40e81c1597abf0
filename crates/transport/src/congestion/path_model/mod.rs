//! What both versions of BBR measure of a path, in parts that each of them composes: bandwidth and its windowed maximum,
//! packet-timed rounds, the smallest RTT and the probe for it, runs of ACKs ahead of the bandwidth, a bandwidth that grows
//! no more, and pacing. Constants that differ between the versions are arguments.

mod aggregation;
mod bandwidth;
mod draws;
mod min_rtt;
mod pacing;
mod plateau;
mod probe_rtt;
mod rounds;

pub use aggregation::AckEpoch;
pub use bandwidth::{Bandwidth, MaxFilter};
pub use draws::Draws;
pub use min_rtt::MinRtt;
pub use pacing::Pacer;
pub use plateau::Plateau;
pub use probe_rtt::ProbeRtt;
pub use rounds::RoundTrips;
