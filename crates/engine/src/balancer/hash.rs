//! `hash`: SEMPER's balancer (Garcia-Aviles 2017, section IV, "Mapping of sub-flows to paths"): the hash of
//! the 4-tuple modulo the number of paths. Without state and without weights; another number of paths moves
//! most subflows.

use super::{Choices, FlowKey, Spread, mix};
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// A subflow keeps its path in both directions: a hash of the 4-tuple modulo the number of paths, without weights
    /// (Garcia-Aviles 2017).
    #[derive(Copy, Eq)]
    pub struct HashParameters {}
}

#[derive(Clone, Debug)]
pub struct ModuloHash {
    choices: u64,
    salt: u64,
}

impl Spread for ModuloHash {
    type Parameters = HashParameters;
    const SYMMETRIC: bool = true;

    fn configured(_: &HashParameters, choices: Choices<'_>) -> Self {
        Self { choices: choices.weights.len() as u64, salt: choices.salt }
    }

    #[inline]
    fn choose(&mut self, _: Instant, key: FlowKey) -> usize {
        (mix(key.symmetric() ^ self.salt) % self.choices) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{balancer, counts, key, subflow_keys};
    use crate::balancer::{HashParameters, LoadBalancing};
    use anabranch_units::Instant;

    /// Weights do not count: each choice gets one in five, with a standard deviation of 40 of 10,000.
    #[test]
    fn choices_share_equally() {
        let counts = counts(
            &mut balancer(LoadBalancing::Hash(HashParameters {}), &[9.0, 1.0, 1.0, 1.0, 1.0]),
            0..10_000,
        );
        assert!(counts.iter().all(|count| count.abs_diff(2_000) < 4 * 40), "{counts:?}");
    }

    /// With P paths in place of P + 1 a hash modulo P stays where it was with a probability of 1/(P + 1)
    /// (P and P + 1 have no common divisor): 1/4 here, with a standard deviation of 43 of 10,000.
    #[test]
    fn another_number_of_paths_moves_most() {
        let (mut four, mut three) = (
            balancer(LoadBalancing::Hash(HashParameters {}), &[1.0; 4]),
            balancer(LoadBalancing::Hash(HashParameters {}), &[1.0; 3]),
        );
        let stays =
            |index: &u32| four.choose(Instant::ZERO, key(*index)) == three.choose(Instant::ZERO, key(*index));
        let stayed = (0..10_000).filter(stays).count();
        assert!(stayed.abs_diff(2_500) < 4 * 43, "{stayed}");
    }

    /// 1 - (1 - 1/P)^(N K), the expected share of P bins that N K balls occupy. The share that 1000 draws
    /// show on average has a standard deviation below 0.5 / sqrt(1000 P).
    #[test]
    fn as_many_paths_are_occupied_as_random_ports_would() {
        let mut looked_at = 0;
        for paths in [2, 3, 4, 8, 16] {
            for (hosts, subflows) in [(1, 2), (2, 2), (2, 4), (2, 8), (2, 32), (4, 1), (8, 2), (32, 2)] {
                let mut balancer = balancer(LoadBalancing::Hash(HashParameters {}), &vec![1.0; paths]);
                let mut occupied = 0;
                for draw in 0..1000 {
                    let mut used = vec![false; paths];
                    for key in subflow_keys(draw, hosts, subflows) {
                        used[balancer.choose(Instant::ZERO, key)] = true;
                    }
                    occupied += used.iter().filter(|used| **used).count();
                }
                let share = occupied as f64 / (1000 * paths) as f64;
                let expected = 1.0 - (1.0 - 1.0 / paths as f64).powi((hosts * subflows) as i32);
                assert!((share - expected).abs() < 0.01, "P {paths}, N {hosts}, K {subflows}: {share}");
                if (paths, hosts) == (8, 2) && [2, 32].contains(&subflows) {
                    let printed = if subflows == 2 { 0.414 } else { 0.9998 };
                    assert!((expected - printed).abs() < 0.0005, "{expected}");
                }
                looked_at += 1;
            }
        }
        assert_eq!(looked_at, 40);
    }
}
