//! `weighted-hash`: a hash of the 4-tuple that both directions have in common, in shares by weight. Without
//! state; a change of the set of paths or of a weight moves subflows of all paths.

use super::shares::Shares;
use super::{Choices, FlowKey, Spread, mix};
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// A subflow keeps its path in both directions: a hash of the 4-tuple, by weight.
    #[derive(Copy, Eq)]
    pub struct WeightedHashParameters {}
}

#[derive(Clone, Debug)]
pub struct WeightedHash {
    shares: Shares,
    salt: u64,
}

impl Spread for WeightedHash {
    type Parameters = WeightedHashParameters;
    const SYMMETRIC: bool = true;

    fn configured(_: &WeightedHashParameters, choices: Choices<'_>) -> Self {
        Self { shares: Shares::new(choices.weights), salt: choices.salt }
    }

    #[inline]
    fn choose(&mut self, _: Instant, key: FlowKey) -> usize {
        self.shares.of(mix(key.symmetric() ^ self.salt))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{balancer, counts};
    use crate::balancer::{LoadBalancing, WeightedHashParameters};

    /// A private line of 20 Mbps, a broadband access of 100, LTE of 30. The standard deviation of the
    /// largest count is 47.
    #[test]
    fn subflows_share_by_weight() {
        let counts = counts(
            &mut balancer(LoadBalancing::WeightedHash(WeightedHashParameters {}), &[20.0, 100.0, 30.0]),
            0..10_000,
        );
        for (count, expected) in counts.iter().zip([1_333, 6_667, 2_000]) {
            assert!(count.abs_diff(expected) < 4 * 47, "{counts:?}");
        }
    }
}
