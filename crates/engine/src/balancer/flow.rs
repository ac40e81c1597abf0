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

impl FlowHash {
    /// Its salt, if its choices are equal: [`choose_equally`] then does what it does.
    pub(super) const fn salt_of_equal(&self) -> Option<u64> {
        if let Shares::Equal(_) = self.shares { Some(self.salt) } else { None }
    }
}

/// The choice of a `flow` over so many equal ones with this salt, for those who have thousands of them and keep no more
/// than these two numbers of each.
#[inline]
#[must_use]
pub fn choose_equally((salt, count): (u64, u16), key: &FlowKey) -> usize {
    Shares::Equal(u32::from(count)).of(mix(key.hash ^ salt))
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{balancer, counts, key};
    use super::choose_equally;
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
    /// What is kept of a balancer over equal choices chooses as it does; over unlike ones nothing is.
    #[test]
    fn two_numbers_choose_as_the_balancer_of_equal_choices() {
        let mut equal = balancer(LoadBalancing::Flow(FlowParameters {}), &[1.0; 5]);
        let salt = equal.salt_of_equal().expect("they are equal");
        let is_same =
            |index| equal.choose(Instant::ZERO, key(index)) == choose_equally((salt, 5), &key(index));
        assert!((0..1000).all(is_same));
        assert_eq!(balancer(LoadBalancing::Flow(FlowParameters {}), &[3.0, 1.0]).salt_of_equal(), None);
    }
}
