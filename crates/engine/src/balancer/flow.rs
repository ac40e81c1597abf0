//! `flow`: a hash of the 5-tuple, in shares by weight. Each direction of a flow is hashed for itself, with
//! the balancer's salt, so that switches choose independently of each other (RFC 2992 section 1).

use super::shares::Shares;
use super::{Choices, FlowKey, Spread, mix};
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// A flow keeps its route: a hash of the 5-tuple, each direction for itself (RFC 2992).
    #[derive(Copy, Eq)]
    pub struct FlowParameters {}
}

#[derive(Clone, Debug)]
pub struct FlowHash {
    shares: Shares,
    salt: u64,
}

impl Spread for FlowHash {
    type Parameters = FlowParameters;
    const SYMMETRIC: bool = false;

    fn configured(_: &FlowParameters, choices: Choices<'_>) -> Self {
        Self { shares: Shares::new(choices.weights), salt: choices.salt }
    }

    #[inline]
    fn choose(&mut self, _: Instant, key: FlowKey) -> usize {
        self.shares.of(mix(key.hash ^ self.salt))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{balancer, counts, key};
    use crate::balancer::{FlowParameters, LoadBalancing};
    use anabranch_units::Instant;

    #[test]
    fn a_flow_keeps_its_choice_and_flows_share_by_weight() {
        let mut balancer = balancer(LoadBalancing::Flow(FlowParameters {}), &[3.0, 1.0]);
        let once = balancer.choose(Instant::ZERO, key(7));
        assert!((0..100).all(|_| balancer.choose(Instant::ZERO, key(7)) == once));
        let counts = counts(&mut balancer, 0..10_000);
        // Binomial, standard deviation 43.
        assert!(counts[0].abs_diff(7_500) < 200, "{counts:?}");
    }
}
