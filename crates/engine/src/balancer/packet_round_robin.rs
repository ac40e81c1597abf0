//! `packet-round-robin`: every packet in smooth weighted round-robin.

use super::{Choices, FlowKey, Spread};
use crate::random::Stream;
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// Packets take the routes in smooth weighted round-robin.
    #[derive(Copy, Eq)]
    pub struct PacketRoundRobinParameters {
        /// A switch has one turn for all destinations behind the same next hops, each lap in another order, as in uet-htsim.
        /// Otherwise it has one for each destination, always in the same order.
        shared: bool = false;
    }
}

#[derive(Clone, Debug)]
pub struct PacketRoundRobin {
    weights: Vec<f64>,
    credits: Vec<f64>,
    /// Where the turn is shared: what is left of the lap, and what draws the order of the next.
    laps: Option<Box<Laps>>,
}

#[derive(Clone, Debug)]
struct Laps {
    left: Vec<usize>,
    stream: Stream,
}

/// Credits that differ by less are equal: sums of weights such as 1/3 are not exact.
const CREDIT_TIE: f64 = 1e-9;

impl Spread for PacketRoundRobin {
    type Parameters = PacketRoundRobinParameters;
    const SYMMETRIC: bool = false;

    fn is_shared(parameters: &PacketRoundRobinParameters) -> bool {
        parameters.shared
    }

    fn configured(parameters: &PacketRoundRobinParameters, choices: Choices<'_>) -> Self {
        Self {
            weights: choices.weights.to_vec(),
            credits: vec![0.0; choices.weights.len()],
            laps: parameters.shared.then(|| Box::new(Laps { left: Vec::new(), stream: choices.stream })),
        }
    }

    fn choose(&mut self, _: Instant, _: FlowKey) -> usize {
        let Some(mut laps) = self.laps.take() else { return self.richest() };
        if laps.left.is_empty() {
            // As many packets as choices; with equal weights each has one of them.
            laps.left = (0..self.weights.len()).map(|_| self.richest()).collect();
            for place in (1..laps.left.len()).rev() {
                let other = (laps.stream.uniform() * (place as f64 + 1.0)) as usize;
                laps.left.swap(place, other.min(place));
            }
        }
        let choice = laps.left.pop().unwrap_or(0);
        self.laps = Some(laps);
        choice
    }
}

impl PacketRoundRobin {
    /// Every choice earns its weight, the richest one pays the total.
    fn richest(&mut self) -> usize {
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

    /// A shared turn gives each of equal choices one packet of a lap, and laps in other orders: of 200 laps of four each order
    /// of 24 has eight or so, and all come with a probability of 0.995.
    #[test]
    fn laps_of_a_shared_turn_have_each_choice_once() {
        let shared = LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters { shared: true });
        let mut equal = balancer(shared, &[1.0; 4]);
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let lap: Vec<usize> = (0..4).map(|_| equal.choose(Instant::ZERO, key(1))).collect();
            let mut sorted = lap.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
            orders.insert(lap);
        }
        assert_eq!(orders.len(), 24);
    }

    #[test]
    fn round_robin_is_exact_and_smooth() {
        let mut equal = balancer(
            LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters::default()),
            &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
        );
        let choices: Vec<usize> = (0..9).map(|_| equal.choose(Instant::ZERO, key(1))).collect();
        assert_eq!(choices, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        let mut weighted =
            balancer(LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters::default()), &[2.0, 1.0]);
        let choices: Vec<usize> = (0..6).map(|_| weighted.choose(Instant::ZERO, key(1))).collect();
        assert_eq!(choices, [0, 1, 0, 0, 1, 0]);
    }
}
