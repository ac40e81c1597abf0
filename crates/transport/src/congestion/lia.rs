//! Linked increases (RFC 6356): together the subflows take as much as one TCP would on the best of their paths.

use super::coupling::{Coupled, Coupling, CouplingRule};

/// LIA.
pub type Lia = Coupled<LiaRule>;

/// RFC 6356 section 3.
#[derive(Clone, Default, Debug)]
pub struct LiaRule {}

anabranch_units::parameters! {
    /// Linked increases over the subflows of a connection (RFC 6356); on one path NewReno.
    pub struct LiaParameters {}
}

impl CouplingRule for LiaRule {
    type Parameters = LiaParameters;

    /// Equation (1): the smaller of alpha / cwnd_total and 1 / cwnd for each byte, with alpha of equation (2),
    /// cwnd_total * max(w / rtt^2) / (sum of w / rtt)^2, so that cwnd_total cancels.
    fn increase(&self, coupling: &Coupling, cwnd: f64) -> f64 {
        (coupling.max_gain / (coupling.total_rate * coupling.total_rate)).min(1.0 / cwnd)
    }
}
