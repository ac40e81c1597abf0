//! `packet`: every packet at random by weight.

use super::Choices;
use super::shares::Shares;
use crate::random::Stream;

#[derive(Clone, Debug)]
pub(super) struct PacketRandom {
    shares: Shares,
    stream: Stream,
}

impl PacketRandom {
    pub(super) fn new(choices: Choices<'_>) -> Self {
        Self { shares: Shares::new(choices.weights), stream: choices.stream }
    }

    #[inline]
    pub(super) fn choose(&mut self) -> usize {
        let draw = self.stream.next_u64();
        self.shares.of(draw)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{balancer, counts};
    use crate::balancer::Spread;

    #[test]
    fn packets_share_by_weight_at_random() {
        let counts = counts(&mut balancer(Spread::Packet {}, &[1.0, 1.0, 2.0]), (0..40_000).map(|_| 1));
        assert!(counts[0].abs_diff(10_000) < 400 && counts[2].abs_diff(20_000) < 500, "{counts:?}");
    }
}
