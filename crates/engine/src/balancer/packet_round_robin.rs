//! `packet-round-robin`: every packet in smooth weighted round-robin.

use super::Choices;

#[derive(Clone, Debug)]
pub(super) struct PacketRoundRobin {
    weights: Vec<f64>,
    credits: Vec<f64>,
}

/// Credits that differ by less are equal: sums of weights such as 1/3 are not exact.
const CREDIT_TIE: f64 = 1e-9;

impl PacketRoundRobin {
    pub(super) fn new(choices: &Choices<'_>) -> Self {
        Self { weights: choices.weights.to_vec(), credits: vec![0.0; choices.weights.len()] }
    }

    /// Every choice earns its weight, the richest one pays the total.
    pub(super) fn choose(&mut self) -> usize {
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
    use crate::balancer::Spread;
    use anabranch_units::Instant;

    #[test]
    fn round_robin_is_exact_and_smooth() {
        let mut equal = balancer(Spread::PacketRoundRobin {}, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
        let choices: Vec<usize> = (0..9).map(|_| equal.choose(Instant::ZERO, key(1))).collect();
        assert_eq!(choices, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        let mut weighted = balancer(Spread::PacketRoundRobin {}, &[2.0, 1.0]);
        let choices: Vec<usize> = (0..6).map(|_| weighted.choose(Instant::ZERO, key(1))).collect();
        assert_eq!(choices, [0, 1, 0, 0, 1, 0]);
    }
}
