//! Choosing one of several routes for a packet.
//!
//! A balancer knows neither clock nor network: it is given the time and what tells flows apart, and
//! answers with the index of a choice. The same one picks a path at a source and a next hop in a switch.
//!
//! One spread is one file: `flow` ([`flow`]), `flowlet` ([`flowlet`]), `packet` ([`packet`]),
//! `packet-round-robin` ([`packet_round_robin`]), and those that send both directions of a subflow the same
//! way over paths that are the same in both: `hash` ([`hash`]), `weighted-hash` ([`weighted_hash`]),
//! `resilient-hash` ([`resilient_hash`]) and `subflow-round-robin` ([`subflow_round_robin`]).

mod entries;
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

pub use key::{FlowKey, mix};

use self::flow::FlowHash;
use self::flowlet::Flowlets;
use self::hash::ModuloHash;
use self::packet::PacketRandom;
use self::packet_round_robin::PacketRoundRobin;
use self::resilient_hash::ResilientHash;
use self::subflow_round_robin::SubflowRoundRobin;
use self::weighted_hash::WeightedHash;
use crate::random::Stream;
use anabranch_units::{Instant, Span};
use serde::{Deserialize, Serialize};

/// How packets are spread over several routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Spread {
    /// By a hash of the 5-tuple: a flow keeps its route. Each direction is hashed for itself.
    Flow {},
    /// By flowlet: a flow may change its route after a pause.
    Flowlet {
        /// Length of the pause.
        gap: Span,
    },
    /// Packet by packet, at random by weight.
    Packet {},
    /// Packet by packet, in smooth weighted round-robin.
    PacketRoundRobin {},
    /// By a hash of the 4-tuple modulo the number of routes, whatever their weights (Garcia-Aviles 2017,
    /// SEMPER). Like the next ones it sends both directions of a subflow over the same path, where the
    /// paths of both are the same.
    Hash {},
    /// By a hash of the 4-tuple, by weight.
    WeightedHash {},
    /// By weighted rendezvous hashing of the 4-tuple: a path's failure or return moves only the subflows of
    /// that path.
    ResilientHash {},
    /// The first subflow of a host by a hash, the next ones over the routes in turn, with an entry for each
    /// (Garcia-Aviles 2017, the stateful benchmark).
    SubflowRoundRobin {
        /// An entry that no packet has matched for longer is forgotten; `None`: never.
        idle_timeout: Option<Span>,
    },
}

impl Spread {
    /// Whether it sends both directions of a subflow over the same path.
    #[must_use]
    pub const fn is_symmetric(self) -> bool {
        match self {
            Self::Flow {} | Self::Flowlet { .. } | Self::Packet {} | Self::PacketRoundRobin {} => false,
            Self::Hash {}
            | Self::WeightedHash {}
            | Self::ResilientHash {}
            | Self::SubflowRoundRobin { .. } => true,
        }
    }
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
#[derive(Clone, Debug)]
pub struct Balancer {
    weights: Vec<f64>,
    spreader: Spreader,
}

#[derive(Clone, Debug)]
enum Spreader {
    /// There is one choice, and nothing to remember.
    Only,
    Flow(FlowHash),
    Flowlet(Flowlets),
    Packet(PacketRandom),
    PacketRoundRobin(PacketRoundRobin),
    Hash(ModuloHash),
    WeightedHash(WeightedHash),
    ResilientHash(ResilientHash),
    SubflowRoundRobin(SubflowRoundRobin),
}

impl Balancer {
    /// A balancer over these choices.
    #[must_use]
    pub fn new(spread: Spread, choices: Choices<'_>) -> Self {
        let weights = choices.weights.to_vec();
        let spreader = match spread {
            Spread::SubflowRoundRobin { idle_timeout } => {
                Spreader::SubflowRoundRobin(SubflowRoundRobin::new(idle_timeout, &choices))
            }
            _ if weights.len() == 1 => Spreader::Only,
            Spread::Flow {} => Spreader::Flow(FlowHash::new(&choices)),
            Spread::Flowlet { gap } => Spreader::Flowlet(Flowlets::new(gap, choices)),
            Spread::Packet {} => Spreader::Packet(PacketRandom::new(choices)),
            Spread::PacketRoundRobin {} => Spreader::PacketRoundRobin(PacketRoundRobin::new(&choices)),
            Spread::Hash {} => Spreader::Hash(ModuloHash::new(&choices)),
            Spread::WeightedHash {} => Spreader::WeightedHash(WeightedHash::new(&choices)),
            Spread::ResilientHash {} => Spreader::ResilientHash(ResilientHash::new(&choices)),
        };
        Self { weights, spreader }
    }

    /// Whether it spreads over choices of these weights.
    #[must_use]
    pub fn has_weights(&self, weights: &[f64]) -> bool {
        self.weights == weights
    }

    /// Takes other choices without forgetting where flows are. `false` if it has nothing to carry over, and
    /// a new balancer does as well.
    pub fn follow(&mut self, weights: &[f64], identities: &[u64]) -> bool {
        let Spreader::SubflowRoundRobin(balancer) = &mut self.spreader else { return false };
        balancer.follow(identities);
        self.weights = weights.to_vec();
        true
    }

    /// Whether the only choice is the first one, for every packet and without anything to remember: nobody
    /// needs to look for the flow's key then.
    #[inline]
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        matches!(self.spreader, Spreader::Only)
    }

    /// The index of the choice for a packet.
    #[inline]
    pub fn choose(&mut self, now: Instant, key: FlowKey) -> usize {
        match &mut self.spreader {
            Spreader::Only => 0,
            Spreader::Flow(flow) => flow.choose(key),
            Spreader::Flowlet(flowlets) => flowlets.choose(now, key),
            Spreader::Packet(packet) => packet.choose(),
            Spreader::PacketRoundRobin(packet) => packet.choose(),
            Spreader::Hash(hash) => hash.choose(key),
            Spreader::WeightedHash(hash) => hash.choose(key),
            Spreader::ResilientHash(hash) => hash.choose(key),
            Spreader::SubflowRoundRobin(subflows) => subflows.choose(now, key),
        }
    }

    /// What it keeps for flows; nothing where it hashes or looks at packets alone.
    #[must_use]
    pub fn state(&self) -> State {
        match &self.spreader {
            Spreader::Flowlet(flowlets) => flowlets.state(),
            Spreader::SubflowRoundRobin(subflows) => subflows.state(),
            _ => State::default(),
        }
    }
}
