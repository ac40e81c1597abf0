//! `resilient-hash`: weighted rendezvous hashing. Every path draws a number for a subflow from the hash of
//! both, and the best number wins (D. G. Thaler, C. V. Ravishankar, "Using name-based mappings to increase
//! hit rates", IEEE/ACM Transactions on Networking 6, 1998). With -ln(u) / weight for a uniform u, a path
//! wins in proportion to its weight: these are exponential variates with the weights as rates, of which
//! the least is sought. What the other paths draw does not depend on a path's being there, so that its
//! failure or return moves only its own subflows. Without state.

use super::{Choices, FlowKey, Spread, mix};
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// As `weighted-hash`, but a failure or repair moves only the subflows of that path (weighted rendezvous
    /// hashing, Thaler and Ravishankar 1998).
    #[derive(Copy, Eq)]
    pub struct ResilientHashParameters {}
}

#[derive(Clone, Debug)]
pub struct ResilientHash {
    paths: Vec<Contender>,
    /// With equal weights the largest u wins, and no logarithm is needed to know it.
    equal: bool,
    salt: u64,
}

#[derive(Clone, Copy, Debug)]
struct Contender {
    identity: u64,
    mean: f64,
}

impl Spread for ResilientHash {
    type Parameters = ResilientHashParameters;
    const SYMMETRIC: bool = true;

    fn configured(_: &ResilientHashParameters, choices: Choices<'_>) -> Self {
        let contenders = choices.identities.iter().zip(choices.weights);
        Self {
            paths: contenders.map(|(&identity, weight)| Contender { identity, mean: 1.0 / weight }).collect(),
            equal: choices.weights.windows(2).all(|pair| pair[0] == pair[1]),
            salt: choices.salt,
        }
    }

    #[inline]
    fn choose(&mut self, _: Instant, key: FlowKey) -> usize {
        let subflow = mix(key.symmetric() ^ self.salt);
        if self.equal { self.largest(subflow) } else { self.earliest(subflow) }
    }
}

impl ResilientHash {
    #[inline]
    fn largest(&self, subflow: u64) -> usize {
        let (mut best, mut most) = (0, 0);
        for (index, path) in self.paths.iter().enumerate() {
            let number = number(subflow, path.identity);
            if number > most {
                (best, most) = (index, number);
            }
        }
        best
    }

    fn earliest(&self, subflow: u64) -> usize {
        let (mut best, mut least) = (0, f64::INFINITY);
        for (index, path) in self.paths.iter().enumerate() {
            // Uniform in (0, 1): half a step above a multiple of 2^-52.
            let uniform = (number(subflow, path.identity) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64);
            let variate = -libm::log(uniform) * path.mean;
            if variate < least {
                (best, least) = (index, variate);
            }
        }
        best
    }
}

/// 52 random bits that a path draws for a subflow.
#[inline]
const fn number(subflow: u64, identity: u64) -> u64 {
    mix(subflow.wrapping_add(identity)) >> 12
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{balancer, balancer_of, counts, key};
    use crate::balancer::{LoadBalancing, ResilientHashParameters};
    use anabranch_units::Instant;
    use proptest::prelude::*;

    /// As of `weighted-hash`.
    #[test]
    fn subflows_share_by_weight() {
        let counts = counts(
            &mut balancer(LoadBalancing::ResilientHash(ResilientHashParameters {}), &[20.0, 100.0, 30.0]),
            0..10_000,
        );
        for (count, expected) in counts.iter().zip([1_333, 6_667, 2_000]) {
            assert!(count.abs_diff(expected) < 4 * 47, "{counts:?}");
        }
    }

    /// One in eight, with a standard deviation of 33 of 10,000.
    #[test]
    fn equal_weights_share_equally() {
        let counts = counts(
            &mut balancer(LoadBalancing::ResilientHash(ResilientHashParameters {}), &[0.125; 8]),
            0..10_000,
        );
        assert!(counts.iter().all(|count| count.abs_diff(1_250) < 4 * 33), "{counts:?}");
    }

    proptest! {
        /// Whatever the weights, and scaled as they are when those of the others rise in proportion: a path
        /// that goes moves its own subflows and no other, and moves them back when it returns, wherever in
        /// the list the paths then stand.
        #[test]
        fn a_path_moves_only_its_own_subflows(
            paths in prop::collection::vec((any::<u64>(), 0.05f64..1.0), 2..12),
            equal in any::<bool>(),
            gone in any::<prop::sample::Index>(),
            turn in any::<prop::sample::Index>(),
        ) {
            let paths: Vec<(u64, f64)> =
                paths.into_iter().map(|(id, weight)| (id, if equal { 1.0 } else { weight })).collect();
            let gone = gone.index(paths.len());
            let mut left = paths.clone();
            left.remove(gone);
            left.rotate_left(turn.index(paths.len()) % (paths.len() - 1));
            let rest: f64 = left.iter().map(|path| path.1).sum();
            left.iter_mut().for_each(|path| path.1 /= rest);
            let spread = LoadBalancing::ResilientHash(ResilientHashParameters {});
            let (mut before, mut after) = (balancer_of(spread.clone(), &paths), balancer_of(spread, &left));
            for subflow in 0..500 {
                let old = before.choose(Instant::ZERO, key(subflow));
                let new = after.choose(Instant::ZERO, key(subflow));
                prop_assert!(old == gone || paths[old].0 == left[new].0, "subflow {subflow}");
            }
        }
    }
}
