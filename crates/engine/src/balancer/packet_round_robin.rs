//! `packet-round-robin`: every packet in smooth weighted round-robin.

use super::{Choices, FlowKey, Spread};
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// Packets take the routes in smooth weighted round-robin.
    #[derive(Copy, Eq)]
    pub struct PacketRoundRobinParameters {}
}

#[derive(Clone, Debug)]
pub struct PacketRoundRobin {
    weights: Vec<f64>,
    credits: Vec<f64>,
}

/// Credits that differ by less are equal: sums of weights such as 1/3 are not exact.
const CREDIT_TIE: f64 = 1e-9;

impl Spread for PacketRoundRobin {
    type Parameters = PacketRoundRobinParameters;
    const SYMMETRIC: bool = false;

    fn configured(_: &PacketRoundRobinParameters, choices: Choices<'_>) -> Self {
        Self { weights: choices.weights.to_vec(), credits: vec![0.0; choices.weights.len()] }
    }

    /// Every choice earns its weight, the richest one pays the total.
    fn choose(&mut self, _: Instant, _: FlowKey) -> usize {
        let mut richest = 0;
        let mut total = 0.0;
        for (credit, weight) in self.credits.iter_mut().zip(&self.weights) {
            *credit += weight;
            total += weight;
        }
        for index in 1..self.credits.len() {
            if self.credits[index] > self.credits[richest] + CREDIT_TIE {
                richest = index;
            }
        }
        self.credits[richest] -= total;
        richest
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{balancer, key};
    use crate::balancer::{LoadBalancing, PacketRoundRobinParameters};
    use anabranch_units::Instant;

    #[test]
    fn round_robin_is_exact_and_smooth() {
        let mut equal = balancer(
            LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters {}),
            &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
        );
        let choices: Vec<usize> = (0..9).map(|_| equal.choose(Instant::ZERO, key(1))).collect();
        assert_eq!(choices, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        let mut weighted =
            balancer(LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters {}), &[2.0, 1.0]);
        let choices: Vec<usize> = (0..6).map(|_| weighted.choose(Instant::ZERO, key(1))).collect();
        assert_eq!(choices, [0, 1, 0, 0, 1, 0]);
    }
}
