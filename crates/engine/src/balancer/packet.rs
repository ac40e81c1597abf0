//! `packet`: every packet at random by weight.

use super::shares::Shares;
use super::{Choices, FlowKey, Spread};
use crate::random::Stream;
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// Every packet takes a route at random by weight.
    #[derive(Copy, Eq)]
    pub struct PacketParameters {}
}

#[derive(Clone, Debug)]
pub struct PacketRandom {
    shares: Shares,
    stream: Stream,
}

impl Spread for PacketRandom {
    type Parameters = PacketParameters;
    const SYMMETRIC: bool = false;

    fn configured(_: &PacketParameters, choices: Choices<'_>) -> Self {
        Self { shares: Shares::new(choices.weights), stream: choices.stream }
    }

    #[inline]
    fn choose(&mut self, _: Instant, _: FlowKey) -> usize {
        let draw = self.stream.next_u64();
        self.shares.of(draw)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{balancer, counts};
    use crate::balancer::{LoadBalancing, PacketParameters};

    #[test]
    fn packets_share_by_weight_at_random() {
        let counts = counts(
            &mut balancer(LoadBalancing::Packet(PacketParameters {}), &[1.0, 1.0, 2.0]),
            (0..40_000).map(|_| 1),
        );
        assert!(counts[0].abs_diff(10_000) < 400 && counts[2].abs_diff(20_000) < 500, "{counts:?}");
    }
}
