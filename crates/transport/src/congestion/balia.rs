//! Balanced linked adaptation (Peng, Walid, Hwang, Low, "Multipath TCP: Analysis, Design, and Implementation",
//! IEEE/ACM Transactions on Networking 24(1), 2016).

use super::coupling::{Coupled, Coupling, CouplingRule};

/// BALIA.
pub type Balia = Coupled<BaliaRule>;

/// Peng 2016, section V.
#[derive(Clone, Default, Debug)]
pub struct BaliaRule {}

/// alpha: the largest w / rtt over this subflow's; at least 1.
fn alpha(coupling: &Coupling) -> f64 {
    if coupling.rate > 0.0 { (coupling.max_rate / coupling.rate).max(1.0) } else { 1.0 }
}

anabranch_units::parameters! {
    /// Balanced linked adaptation (Peng 2016); on one path NewReno.
    pub struct BaliaParameters {}
}

impl CouplingRule for BaliaRule {
    type Parameters = BaliaParameters;

    /// For each ACK: x / (rtt (sum of x)^2) * (1 + alpha) / 2 * (4 + alpha) / 5, with x = w / rtt.
    fn increase(&self, coupling: &Coupling, _cwnd: f64) -> f64 {
        let alpha = alpha(coupling);
        let base = coupling.gain / (coupling.total_rate * coupling.total_rate);
        base * (1.0 + alpha) / 2.0 * (4.0 + alpha) / 5.0
    }

    /// For each loss the window falls by w / 2 * min(alpha, 1.5).
    fn kept(&self, coupling: &Coupling) -> f64 {
        1.0 - alpha(coupling).min(1.5) / 2.0
    }
}
