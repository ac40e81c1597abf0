//! A balancer that is no part of this crate: the caller brings it along, as Python does.

use anabranch_transport::Brought;
use anabranch_units::{Instant, LinkId};
use std::fmt::Debug;

/// One of the routes that such a balancer spreads over.
#[derive(Clone, PartialEq, Debug)]
pub struct ExternalChoice {
    /// Its weight, above zero.
    pub weight: f64,
    /// Its links: all of a path, or the next one.
    pub links: Vec<LinkId>,
}

/// A balancer of the caller's own. All calls come from the thread that runs the simulation.
pub trait ExternalBalancer: Debug + Send {
    /// The place of the choice for a packet of a flow; what is no place counts as the first.
    fn choose(&mut self, now: Instant, flow: u32) -> usize;
}

/// Makes the balancer of each pair of nodes, and of each node that forwards hop by hop.
pub trait BalancerMaker: Debug + Send + Sync {
    /// A balancer over these choices; `seed` differs between balancers.
    fn balancer(&self, choices: &[ExternalChoice], seed: u64) -> Box<dyn ExternalBalancer>;
}

anabranch_units::leaf! {
    /// The choice of such a balancer.
    pub struct ExternalBalancing: "load_balancing" by "algorithm" = "python" {
        /// Its number among what the caller brings along.
        pub code: usize,
        ;
        /// What makes it.
        pub maker: Brought<dyn BalancerMaker>,
    }
}
