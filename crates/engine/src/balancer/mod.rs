//! Choosing one of several routes for a packet.
//!
//! A balancer knows neither clock nor network: it is given the time and what tells flows apart, and
//! answers with the index of a choice. The same one picks a path at a source and a next hop in a switch.
//!
//! One way to choose is one file, with its parameters, and a line in the list `balancers!`: `flow` ([`flow`]), `flowlet` ([`flowlet`]), `packet` ([`packet`]),
//! `packet-round-robin` ([`packet_round_robin`]), and those that send both directions of a subflow the same
//! way over paths that are the same in both: `hash` ([`hash`]), `weighted-hash` ([`weighted_hash`]),
//! `resilient-hash` ([`resilient_hash`]) and `subflow-round-robin` ([`subflow_round_robin`]).

mod entries;
mod entropy;
mod external;
mod flow;
mod flowlet;
mod hash;
mod key;
mod packet;
mod packet_round_robin;
mod resilient_hash;
mod shares;
mod subflow_round_robin;
#[cfg(test)]
mod test_support;
mod weighted_hash;

pub use entropy::EntropyParameters;
pub use external::{BalancerMaker, ExternalBalancer, ExternalBalancing, ExternalChoice};
pub use flow::{FlowParameters, choose_equally};
pub use flowlet::FlowletParameters;
pub use hash::HashParameters;
pub use key::{FlowKey, mix};
pub use packet::PacketParameters;
pub use packet_round_robin::PacketRoundRobinParameters;
pub use resilient_hash::ResilientHashParameters;
pub use subflow_round_robin::SubflowRoundRobinParameters;
pub use weighted_hash::WeightedHashParameters;

use self::entropy::ByEntropy;
use self::flow::FlowHash;
use self::flowlet::Flowlets;
use self::hash::ModuloHash;
use self::packet::PacketRandom;
use self::packet_round_robin::PacketRoundRobin;
use self::resilient_hash::ResilientHash;
use self::subflow_round_robin::SubflowRoundRobin;
use self::weighted_hash::WeightedHash;
use crate::random::Stream;
use anabranch_units::Instant;
use anabranch_units::declaration::Parameters;

/// A way to choose, with its parameters.
pub trait Spread: Sized {
    /// What it lets a user choose.
    type Parameters: Parameters;
    /// Whether it sends both directions of a subflow over the same path.
    const SYMMETRIC: bool;
    /// Whether it remembers flows though there is only one choice now, because others may come
    /// ([`Spread::follow`]).
    const KEEPS_ENTRIES: bool = false;

    /// One over these choices; the parameters are within their bounds.
    fn configured(parameters: &Self::Parameters, choices: Choices<'_>) -> Self;

    /// The index of the choice for a packet.
    fn choose(&mut self, now: Instant, key: FlowKey) -> usize;

    /// Whether a switch has one for all destinations behind the same next hops.
    fn is_shared(_parameters: &Self::Parameters) -> bool {
        false
    }

    /// Takes other choices without forgetting where flows are; `false` if it has nothing to carry over.
    fn follow(&mut self, _identities: &[u64]) -> bool {
        false
    }

    /// What it keeps for flows.
    fn state(&self) -> State {
        State::default()
    }
}

impl<S: Spread> Spread for Box<S> {
    type Parameters = S::Parameters;
    const SYMMETRIC: bool = S::SYMMETRIC;
    const KEEPS_ENTRIES: bool = S::KEEPS_ENTRIES;

    fn configured(parameters: &S::Parameters, choices: Choices<'_>) -> Self {
        Self::new(S::configured(parameters, choices))
    }

    #[inline]
    fn choose(&mut self, now: Instant, key: FlowKey) -> usize {
        (**self).choose(now, key)
    }

    fn is_shared(parameters: &S::Parameters) -> bool {
        S::is_shared(parameters)
    }

    fn follow(&mut self, identities: &[u64]) -> bool {
        (**self).follow(identities)
    }

    fn state(&self) -> State {
        (**self).state()
    }
}

/// Makes the configuration, the balancers and the dispatch of one list.
macro_rules! balancers {
    ($( $name:literal => $variant:ident($balancer:ty) ),+ $(,)?; $external:literal) => {
        anabranch_units::registry! {
            /// How packets are spread over several routes: what keeps to one route.
            pub enum LoadBalancing: "load_balancing" {
                $( $name => $variant(<$balancer as Spread>::Parameters), )+
                ; $external => External(ExternalBalancing)
            }
        }

        impl LoadBalancing {
            /// Whether it sends both directions of a subflow over the same path.
            #[must_use]
            pub const fn is_symmetric(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$balancer as Spread>::SYMMETRIC, )+
                    Self::External(_) => false,
                }
            }

            /// Whether a switch has one for all destinations behind the same next hops.
            #[must_use]
            pub fn is_shared(&self) -> bool {
                match self {
                    $( Self::$variant(parameters) => <$balancer as Spread>::is_shared(parameters), )+
                    Self::External(_) => false,
                }
            }

            /// Whether it remembers flows, so that other choices change as few of them as can be.
            #[must_use]
            pub const fn keeps_entries(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$balancer as Spread>::KEEPS_ENTRIES, )+
                    Self::External(_) => false,
                }
            }
        }

        #[derive(Debug)]
        enum Spreader {
            /// There is one choice, and nothing to remember.
            Only,
            $( $variant($balancer), )+
            External(Box<dyn ExternalBalancer>),
        }

        impl Spreader {
            fn new(load_balancing: LoadBalancing, choices: Choices<'_>) -> Self {
                match load_balancing {
                    $( LoadBalancing::$variant(parameters) => {
                        Self::$variant(Spread::configured(&parameters, choices))
                    } )+
                    // Made by [`Balancer::brought`] where the links of its choices are known.
                    LoadBalancing::External(_) => Self::Only,
                }
            }

            #[inline]
            fn choose(&mut self, now: Instant, key: FlowKey) -> usize {
                match self {
                    Self::Only => 0,
                    $( Self::$variant(balancer) => balancer.choose(now, key), )+
                    Self::External(balancer) => balancer.choose(now, key.index),
                }
            }

            fn follow(&mut self, identities: &[u64]) -> bool {
                match self {
                    Self::Only | Self::External(_) => false,
                    $( Self::$variant(balancer) => balancer.follow(identities), )+
                }
            }

            fn state(&self) -> State {
                match self {
                    Self::Only | Self::External(_) => State::default(),
                    $( Self::$variant(balancer) => balancer.state(), )+
                }
            }
        }
    };
}

balancers! {
    "flow" => Flow(FlowHash),
    "entropy" => Entropy(ByEntropy),
    // Boxed are those with a random stream, which is large.
    "flowlet" => Flowlet(Box<Flowlets>),
    "packet" => Packet(Box<PacketRandom>),
    "packet-round-robin" => PacketRoundRobin(Box<PacketRoundRobin>),
    "hash" => Hash(ModuloHash),
    "weighted-hash" => WeightedHash(WeightedHash),
    "resilient-hash" => ResilientHash(ResilientHash),
    "subflow-round-robin" => SubflowRoundRobin(Box<SubflowRoundRobin>),
    // What the caller brings along has no line here, but a name (`external.rs`).
    ; "python"
}

/// What a balancer spreads over, and what makes its choices its own.
#[derive(Clone, Debug)]
pub struct Choices<'c> {
    /// Weights, above zero; at least one.
    pub weights: &'c [f64],
    /// What a choice is known by, as many as weights and all different. A path has the same identity in
    /// both directions and in every plan.
    pub identities: &'c [u64],
    /// Makes hashes of different balancers independent of each other; the two of a pair of nodes that are
    /// to agree have the same.
    pub salt: u64,
    /// Where random choices come from.
    pub stream: Stream,
}

/// What a balancer keeps for flows; its choices and their weights are not counted.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct State {
    /// Entries for flows, subflows and hosts.
    pub entries: usize,
    /// Memory of their table, free places included.
    pub bytes: usize,
}

/// Weighted choices and the state that spreading over them needs.
#[derive(Debug)]
pub struct Balancer {
    weights: Weights,
    spreader: Spreader,
}

/// Weights, of which equal ones, as nearly all are, have no memory of their own.
#[derive(Debug)]
enum Weights {
    Equal(f64, u32),
    Unlike(Box<[f64]>),
}

impl Weights {
    fn of(weights: &[f64]) -> Self {
        match weights {
            [first, others @ ..] if others.iter().all(|other| other == first) => {
                Self::Equal(*first, weights.len() as u32)
            }
            _ => Self::Unlike(weights.into()),
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        match self {
            Self::Equal(_, count) => *count as usize,
            Self::Unlike(unlike) => unlike.len(),
        }
    }

    fn are(&self, weights: &[f64]) -> bool {
        match self {
            Self::Equal(weight, count) => {
                weights.len() == *count as usize && weights.iter().all(|other| other == weight)
            }
            Self::Unlike(unlike) => **unlike == *weights,
        }
    }
}

impl Balancer {
    /// A balancer over these choices.
    #[must_use]
    pub fn new(load_balancing: LoadBalancing, choices: Choices<'_>) -> Self {
        let weights = Weights::of(choices.weights);
        let fixed = choices.weights.len() == 1 && !load_balancing.keeps_entries();
        let spreader = if fixed { Spreader::Only } else { Spreader::new(load_balancing, choices) };
        Self { weights, spreader }
    }

    /// A balancer that the caller has brought along; the first choice where what is chosen is none.
    pub(crate) fn brought(made: &ExternalBalancing, choices: &[ExternalChoice], seed: u64) -> Self {
        let weights: Vec<f64> = choices.iter().map(|choice| choice.weight).collect();
        Self {
            weights: Weights::of(&weights),
            spreader: Spreader::External(made.maker.get().balancer(choices, seed)),
        }
    }

    /// Whether it spreads over choices of these weights.
    #[must_use]
    pub fn has_weights(&self, weights: &[f64]) -> bool {
        self.weights.are(weights)
    }

    /// Takes other choices without forgetting where flows are. `false` if it has nothing to carry over, and
    /// a new balancer does as well.
    pub fn follow(&mut self, weights: &[f64], identities: &[u64]) -> bool {
        let follows = self.spreader.follow(identities);
        if follows {
            self.weights = Weights::of(weights);
        }
        follows
    }

    /// Whether the only choice is the first one, for every packet and without anything to remember: nobody
    /// needs to look for the flow's key then.
    #[inline]
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        matches!(self.spreader, Spreader::Only)
    }

    /// The salt of one that does nothing but hash over equal choices ([`choose_equally`]).
    #[must_use]
    pub const fn salt_of_equal(&self) -> Option<u64> {
        if let Spreader::Flow(flow) = &self.spreader { flow.salt_of_equal() } else { None }
    }

    /// The index of the choice for a packet.
    #[inline]
    pub fn choose(&mut self, now: Instant, key: FlowKey) -> usize {
        self.spreader.choose(now, key)
    }

    /// What it keeps for flows; nothing where it hashes or looks at packets alone.
    #[must_use]
    pub fn state(&self) -> State {
        self.spreader.state()
    }
}
