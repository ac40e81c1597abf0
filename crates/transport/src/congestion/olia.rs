//! Opportunistic linked increases (Khalili et al., "MPTCP is not Pareto-optimal", CoNEXT 2012).

use super::coupling::{Coupled, Coupling, CouplingRule};

/// OLIA.
pub type Olia = Coupled<OliaRule>;

/// Khalili 2012, section 4: the increase, and the losses that tell good paths from bad.
#[derive(Clone, Default, Debug)]
pub struct OliaRule {
    /// Bytes acknowledged since the last loss (l_2r).
    since_loss: u64,
    /// Bytes acknowledged between the last two losses (l_1r).
    between_losses: u64,
}

anabranch_units::parameters! {
    /// Opportunistic linked increases (Khalili 2012); on one path NewReno.
    pub struct OliaParameters {}
}

impl CouplingRule for OliaRule {
    type Parameters = OliaParameters;
    const COMPARES_LOSSES: bool = true;

    /// Equation (5): (w / rtt^2) / (sum of w / rtt)^2 + alpha / w.
    fn increase(&self, coupling: &Coupling, cwnd: f64) -> f64 {
        coupling.gain / (coupling.total_rate * coupling.total_rate) + coupling.olia_alpha / cwnd
    }

    fn on_acked(&mut self, bytes: u64) {
        self.since_loss += bytes;
    }

    fn on_loss(&mut self) {
        self.between_losses = std::mem::take(&mut self.since_loss);
    }

    fn loss_interval(&self) -> u64 {
        self.since_loss.max(self.between_losses)
    }
}
