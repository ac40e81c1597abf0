//! `flowlet`: a flow's choice is drawn anew after a pause longer than the gap (Kandula, Katabi, Sinha,
//! Berger 2007, "Dynamic load balancing without packet reordering").

use super::shares::Shares;
use super::{Choices, FlowKey, Spread, State};
use crate::random::Stream;
use anabranch_units::declaration::above;
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// A flow may change its route after a pause (Kandula 2007).
    #[derive(Copy, Eq)]
    pub struct FlowletParameters {
        /// Length of the pause.
        gap: Span = Span::ZERO, above(Span::ZERO).at_most(Span::LONGEST_INPUT);
    }
}

#[derive(Clone, Debug)]
pub struct Flowlets {
    gap: Span,
    shares: Shares,
    stream: Stream,
    /// By [`FlowKey::index`].
    flowlets: Vec<Flowlet>,
}

#[derive(Clone, Copy, Debug)]
struct Flowlet {
    last: Instant,
    choice: u32,
}

const UNSEEN: u32 = u32::MAX;

impl Spread for Flowlets {
    type Parameters = FlowletParameters;
    const SYMMETRIC: bool = false;

    fn configured(parameters: &FlowletParameters, choices: Choices<'_>) -> Self {
        Self {
            gap: parameters.gap,
            shares: Shares::new(choices.weights),
            stream: choices.stream,
            flowlets: Vec::new(),
        }
    }

    fn choose(&mut self, now: Instant, key: FlowKey) -> usize {
        let index = key.index as usize;
        if index >= self.flowlets.len() {
            self.flowlets.resize(index + 1, Flowlet { last: Instant::ZERO, choice: UNSEEN });
        }
        let Flowlet { last, choice } = self.flowlets[index];
        let choice = if choice == UNSEEN || now.saturating_since(last) > self.gap {
            let draw = self.stream.next_u64();
            self.shares.of(draw) as u32
        } else {
            choice
        };
        self.flowlets[index] = Flowlet { last: now, choice };
        choice as usize
    }

    fn state(&self) -> State {
        State {
            entries: self.flowlets.iter().filter(|flowlet| flowlet.choice != UNSEEN).count(),
            bytes: self.flowlets.len() * size_of::<Flowlet>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{balancer, key};
    use crate::balancer::{FlowletParameters, LoadBalancing};
    use anabranch_units::{Instant, Span};

    #[test]
    fn a_flowlet_changes_only_after_a_pause() {
        let mut balancer =
            balancer(LoadBalancing::Flowlet(FlowletParameters { gap: Span::from_ms(10) }), &[1.0, 1.0]);
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let first = balancer.choose(at(0), key(1));
        assert!((1..100).all(|i| balancer.choose(at(i * 10), key(1)) == first));
        let later: Vec<usize> = (1..50).map(|i| balancer.choose(at(1000 + i * 11), key(1))).collect();
        assert!(later.contains(&0) && later.contains(&1));
        assert_eq!(balancer.state().entries, 1);
    }
}
