//! Choosing one of several routes for a packet: by flow, flowlet or packet.
//!
//! A balancer knows neither clock nor network: it is given the time and what tells flows apart, and
//! answers with the index of a choice. The same one picks a path at a source and a next hop in a switch.

use crate::random::Stream;
use crate::setup::Spread;
use anabranch_units::{Instant, Span};

/// What tells the packets of one direction of a flow from all others.
#[derive(Clone, Copy, Debug)]
pub struct FlowKey {
    /// Hash of the 5-tuple.
    pub hash: u64,
    /// Dense number of the flow and direction, for per-flow state.
    pub index: u32,
}

/// Weighted choices and the state that spreading over them needs.
pub struct Balancer {
    spread: Spread,
    /// Upper ends of the choices' shares of 0..2^64; the last one is `u64::MAX`.
    shares: Vec<u64>,
    weights: Vec<f64>,
    /// Smooth weighted round-robin: credit of each choice.
    credits: Vec<f64>,
    /// Makes switches choose independently of each other.
    salt: u64,
    stream: Stream,
    flowlets: Vec<Flowlet>,
}

#[derive(Clone, Copy)]
struct Flowlet {
    last: Instant,
    choice: u32,
}

const UNSEEN: u32 = u32::MAX;

impl Balancer {
    /// A balancer over choices of these positive weights. `salt` makes it choose flows' ways
    /// independently of others; `stream` gives the random choices.
    #[must_use]
    pub fn new(spread: Spread, weights: Vec<f64>, salt: u64, stream: Stream) -> Self {
        let total: f64 = weights.iter().sum();
        let mut reached = 0.0;
        let mut shares: Vec<u64> = weights
            .iter()
            .map(|weight| {
                reached += weight / total;
                // 2^64 as a double; the conversion saturates.
                (reached * 18_446_744_073_709_551_616.0) as u64
            })
            .collect();
        if let Some(last) = shares.last_mut() {
            *last = u64::MAX;
        }
        let credits = vec![0.0; weights.len()];
        Self { spread, shares, weights, credits, salt, stream, flowlets: Vec::new() }
    }

    /// Whether it spreads over choices of these weights.
    #[must_use]
    pub fn has_weights(&self, weights: &[f64]) -> bool {
        self.weights == weights
    }

    /// The index of the choice for a packet.
    #[inline]
    pub fn choose(&mut self, now: Instant, key: FlowKey) -> usize {
        if self.shares.len() == 1 {
            return 0;
        }
        match self.spread {
            Spread::Flow {} => self.share_of(mix(key.hash ^ self.salt)),
            Spread::Packet {} => {
                let draw = self.stream.next_u64();
                self.share_of(draw)
            }
            Spread::PacketRoundRobin {} => self.round_robin(),
            Spread::Flowlet { gap } => self.flowlet(now, key, gap),
        }
    }

    #[inline]
    fn share_of(&self, draw: u64) -> usize {
        self.shares.iter().position(|&end| draw < end).unwrap_or(self.shares.len() - 1)
    }

    /// Smooth weighted round-robin: every choice earns its weight, the richest one pays the total.
    fn round_robin(&mut self) -> usize {
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

    fn flowlet(&mut self, now: Instant, key: FlowKey, gap: Span) -> usize {
        let index = key.index as usize;
        if index >= self.flowlets.len() {
            self.flowlets.resize(index + 1, Flowlet { last: Instant::ZERO, choice: UNSEEN });
        }
        let Flowlet { last, choice } = self.flowlets[index];
        let choice = if choice == UNSEEN || now.saturating_since(last) > gap {
            let draw = self.stream.next_u64();
            self.share_of(draw) as u32
        } else {
            choice
        };
        self.flowlets[index] = Flowlet { last: now, choice };
        choice as usize
    }
}

/// Credits that differ by less are equal: sums of weights such as 1/3 are not exact.
const CREDIT_TIE: f64 = 1e-9;

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): spreads every bit over all.
#[inline]
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;

    fn balancer(spread: Spread, weights: &[f64]) -> Balancer {
        let mut stream = Streams::new(1, 0).stream("a", "spread");
        Balancer::new(spread, weights.to_vec(), stream.next_u64(), stream)
    }

    fn key(index: u32) -> FlowKey {
        FlowKey { hash: mix(u64::from(index) + 1), index }
    }

    fn counts(balancer: &mut Balancer, keys: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut counts = vec![0; balancer.shares.len()];
        keys.for_each(|k| counts[balancer.choose(Instant::ZERO, key(k))] += 1);
        counts
    }

    #[test]
    fn a_flow_keeps_its_choice_and_flows_share_by_weight() {
        let mut balancer = balancer(Spread::Flow {}, &[3.0, 1.0]);
        let once = balancer.choose(Instant::ZERO, key(7));
        assert!((0..100).all(|_| balancer.choose(Instant::ZERO, key(7)) == once));
        let counts = counts(&mut balancer, 0..10_000);
        // Binomial, standard deviation 43.
        assert!(counts[0].abs_diff(7_500) < 200, "{counts:?}");
    }

    #[test]
    fn packets_share_by_weight_at_random() {
        let counts = counts(&mut balancer(Spread::Packet {}, &[1.0, 1.0, 2.0]), (0..40_000).map(|_| 1));
        assert!(counts[0].abs_diff(10_000) < 400 && counts[2].abs_diff(20_000) < 500, "{counts:?}");
    }

    #[test]
    fn round_robin_is_exact_and_smooth() {
        let mut balancer = balancer(Spread::PacketRoundRobin {}, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
        let choices: Vec<usize> = (0..9).map(|_| balancer.choose(Instant::ZERO, key(1))).collect();
        assert_eq!(choices, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        let mut weighted = self::balancer(Spread::PacketRoundRobin {}, &[2.0, 1.0]);
        let choices: Vec<usize> = (0..6).map(|_| weighted.choose(Instant::ZERO, key(1))).collect();
        assert_eq!(choices, [0, 1, 0, 0, 1, 0]);
    }

    #[test]
    fn a_flowlet_changes_only_after_a_pause() {
        let mut balancer = balancer(Spread::Flowlet { gap: Span::from_ms(10) }, &[1.0, 1.0]);
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let first = balancer.choose(at(0), key(1));
        assert!((1..100).all(|i| balancer.choose(at(i * 10), key(1)) == first));
        let later: Vec<usize> = (1..50).map(|i| balancer.choose(at(1000 + i * 11), key(1))).collect();
        assert!(later.contains(&0) && later.contains(&1));
    }
}
