//! Dividing a run between cores: which nodes each gets, or why it cannot be divided.
//!
//! What a core can do before it has to wait for another is bounded by the lookahead, the smallest delay of a link between
//! their parts. A good cut gives all cores the same work (`loads.rs`), cuts links that few packets take, and none with a
//! small delay (`search.rs`).

mod fair;
mod loads;
mod search;

use crate::link_setup::LinkSetup;
use crate::setup::{Change, RunEnd, Setup};
use anabranch_network::Network;
use anabranch_routing::Plan;
use anabranch_transport::TransportConfig;
use anabranch_units::{LinkId, NodeId, Span};
use loads::Loads;
use thiserror::Error;

/// Why a run stays on one core.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Undivided {
    /// The end of the run hangs on all flows.
    #[error("it ends when all flows are done (run.until), which no part knows in time")]
    EndsWhenDone,
    /// There is a controller.
    #[error("it has an SDN controller, which sees the whole network at once")]
    Controller,
    /// Flows wait for others.
    #[error("it has flows that begin when others are complete, wherever these are")]
    Waits,
    /// A connection of which one end looks at the other.
    #[error("transport {0} is neither TCP nor Multipath TCP: its ends look at each other")]
    Transport(String),
    /// Both directions of a pair share a balancer.
    #[error("its load balancing keeps entries for both directions of a pair in one place")]
    LoadBalancing,
    /// Two nodes that one part must have are in different ones.
    #[error(
        "{one} and {other} are in different parts: one part has both ends of a connection of Multipath TCP, and the \
         senders of all flows whose sequence numbers are noted"
    )]
    Apart {
        /// Their names.
        one: String,
        /// As above.
        other: String,
    },
    /// Every cut goes through a link without a delay.
    #[error("every cut of the network goes through a link without a delay")]
    NoLookahead,
    /// The best cut is not good enough.
    #[error(
        "the best cut promises {speed_up:.2} times the speed: too many packets cross it, its parts differ too much, \
         or its smallest delay, {} us, is too short", lookahead.as_secs_f64() * 1e6
    )]
    NoGain {
        /// Speed to be expected, that on one core being 1.
        speed_up: f64,
        /// Smallest delay of a link that is cut.
        lookahead: Span,
    },
}

/// The speed that a cut must promise.
const LEAST_SPEED_UP: f64 = 1.3;

/// The nodes of a run that can be divided, in parts.
#[derive(Clone, PartialEq, Debug)]
pub struct Cut {
    parts: Vec<u32>,
    count: usize,
    lookahead: Span,
    /// The least delay of each link during the run, in picoseconds.
    delays_ps: Vec<u64>,
}

/// What a part has to do with another.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shared {
    /// The other part.
    pub(crate) part: usize,
    /// Picoseconds that what happens there takes at least to show here.
    pub(crate) delay: u64,
    /// Links that lead there.
    pub(crate) links: Vec<LinkId>,
}

impl Cut {
    /// A cut of somebody's choice: for each node the number of its part.
    ///
    /// # Errors
    /// If the run cannot be divided so.
    ///
    /// # Panics
    /// If the setup has another number of nodes.
    pub fn new(setup: &Setup, parts: Vec<u32>) -> Result<Self, Undivided> {
        assert_eq!(parts.len(), setup.nodes.len(), "each node is in one part");
        check(setup)?;
        for (one, other) in together(setup) {
            if parts[one.index()] != parts[other.index()] {
                let name = |node: NodeId| setup.nodes[node.index()].name.clone();
                return Err(Undivided::Apart { one: name(one), other: name(other) });
            }
        }
        let count = parts.iter().max().map_or(0, |&last| last as usize + 1);
        let mut cut = Self { parts, count, lookahead: setup.duration, delays_ps: least_delays(setup) };
        let smallest = cut.links(setup).map(|link| cut.delays_ps[link.index()]).min();
        cut.lookahead = smallest.map_or(setup.duration, Span::from_ps);
        if cut.lookahead == Span::ZERO { Err(Undivided::NoLookahead) } else { Ok(cut) }
    }

    /// The best cut that was found into so many parts at most, by an estimate of what each node and link will have to do.
    ///
    /// # Errors
    /// If the run cannot be divided, or would gain little.
    pub fn find(setup: &Setup, network: &Network, plan: &Plan, cores: usize) -> Result<Self, Undivided> {
        check(setup)?;
        let loads = Loads::estimate(setup, network, plan);
        let (delays_ps, together) = (least_delays(setup), together(setup));
        let division = search::search(setup, &delays_ps, &together, &loads, cores);
        let search::Division { parts, cost } = division.ok_or(Undivided::NoLookahead)?;
        let cut = Self::new(setup, parts)?;
        let speed_up = loads.total() / cost;
        if speed_up >= LEAST_SPEED_UP {
            Ok(cut)
        } else {
            Err(Undivided::NoGain { speed_up, lookahead: cut.lookahead })
        }
    }

    /// The number of each node's part.
    #[must_use]
    pub fn parts(&self) -> &[u32] {
        &self.parts
    }

    /// How many parts there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// How long at least what happens in one part does not show in another.
    #[must_use]
    pub const fn lookahead(&self) -> Span {
        self.lookahead
    }

    /// The links between parts.
    pub fn links<'s>(&'s self, setup: &'s Setup) -> impl Iterator<Item = LinkId> + 's {
        let all = setup.links.iter().enumerate();
        let is_cut = |link: &LinkSetup| self.parts[link.from.index()] != self.parts[link.to.index()];
        all.filter(move |(_, link)| is_cut(link)).map(|(index, _)| LinkId::from_index(index))
    }

    /// Picoseconds of a stride of a part that waits for no other.
    pub(crate) fn pace(setup: &Setup) -> u64 {
        (setup.duration.as_ps() / PACES).max(1)
    }

    /// By part, what it has to do with others: those that its links lead to, and those whose links lead to it.
    pub(crate) fn borders(&self, setup: &Setup) -> Vec<Vec<Shared>> {
        let mut borders: Vec<Vec<Shared>> = vec![Vec::new(); self.count];
        let part_of = |node: NodeId| self.parts[node.index()] as usize;
        for id in self.links(setup) {
            let link = &setup.links[id.index()];
            let (from, to) = (part_of(link.from), part_of(link.to));
            border(&mut borders[from], to).links.push(id);
            let there = border(&mut borders[to], from);
            there.delay = there.delay.min(self.delays_ps[id.index()]);
        }
        self.join_all(setup, &mut borders);
        borders
    }

    /// Parts that no link joins with the first go with it, so that none is far ahead when the run is stopped.
    fn join_all(&self, setup: &Setup, borders: &mut [Vec<Shared>]) {
        let delay = Self::pace(setup);
        let mut reached = vec![false; self.count];
        for part in 0..self.count {
            if reached[part] {
                continue;
            }
            if part > 0 {
                for (here, there) in [(0, part), (part, 0)] {
                    border(&mut borders[here], there).delay = delay;
                }
            }
            let mut next = vec![part];
            while let Some(part) = next.pop() {
                if !std::mem::replace(&mut reached[part], true) {
                    next.extend(borders[part].iter().map(|border| border.part));
                }
            }
        }
    }
}

/// How often parts that have nothing to do with each other wait for each other.
const PACES: u64 = 256;

/// What a part has to do with another, of all that it has.
fn border(all: &mut Vec<Shared>, part: usize) -> &mut Shared {
    let place = all.iter().position(|border| border.part == part).unwrap_or_else(|| {
        all.push(Shared { part, delay: u64::MAX, links: Vec::new() });
        all.len() - 1
    });
    &mut all[place]
}

/// The least delay of each link during the run, in picoseconds.
fn least_delays(setup: &Setup) -> Vec<u64> {
    let mut least: Vec<u64> = setup.links.iter().map(|link| link.least_delay().as_ps()).collect();
    for event in &setup.events {
        if let Change::Delay { links, delay } = &event.change {
            for link in links {
                let changed = LinkSetup { delay: *delay, ..setup.links[link.index()].clone() };
                least[link.index()] = least[link.index()].min(changed.least_delay().as_ps());
            }
        }
    }
    least
}

/// Pairs of nodes that one part must have: the ends of a connection of Multipath TCP, of which one looks at the other, and the
/// senders of flows whose sequence numbers are noted, one after the other.
fn together(setup: &Setup) -> Vec<(NodeId, NodeId)> {
    let is_multipath =
        |transport: usize| matches!(setup.transports[transport].config, TransportConfig::Mptcp(_));
    let multipath = setup.flows.iter().filter(|flow| is_multipath(flow.transport));
    let senders: Vec<NodeId> =
        setup.probes.sequences.iter().map(|flow| setup.flows[flow.index()].from).collect();
    let mut pairs: Vec<_> = multipath.map(|flow| (flow.from, flow.to)).collect();
    pairs.extend(senders.windows(2).map(|two| (two[0], two[1])));
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Whether the run can be divided at all.
fn check(setup: &Setup) -> Result<(), Undivided> {
    let is_known =
        |config: &TransportConfig| matches!(config, TransportConfig::Tcp(_) | TransportConfig::Mptcp(_));
    let used = setup.flows.iter().map(|flow| &setup.transports[flow.transport]);
    if let Some(other) = used.into_iter().find(|transport| !is_known(&transport.config)) {
        return Err(Undivided::Transport(other.name.clone()));
    }
    let reasons = [
        (setup.until == RunEnd::Done, Undivided::EndsWhenDone),
        (setup.controller.is_some(), Undivided::Controller),
        (!setup.waits.is_empty(), Undivided::Waits),
        (setup.routing.load_balancing.keeps_entries(), Undivided::LoadBalancing),
    ];
    reasons.into_iter().find(|(holds, _)| *holds).map_or(Ok(()), |(_, reason)| Err(reason))
}
