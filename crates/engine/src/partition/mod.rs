//! Dividing a run between two cores: which nodes each gets, or why it cannot be divided.
//!
//! What a core can do before it has to wait for the other is bounded by the lookahead, the smallest delay of a link that is
//! cut. A good cut gives both cores the same work (`loads.rs`), cuts links that few packets take, and none with a small delay
//! (`search.rs`).

mod loads;
mod search;

use crate::link_setup::LinkSetup;
use crate::setup::{RunEnd, Setup};
use anabranch_network::Network;
use anabranch_routing::Plan;
use anabranch_transport::TransportConfig;
use anabranch_units::{LinkId, Span};
use loads::Loads;
use thiserror::Error;

/// Why a run stays on one core.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Undivided {
    /// The network changes.
    #[error("the network changes during the run")]
    Changes,
    /// The end of the run hangs on all flows.
    #[error("it ends when all flows are done (run.until), which neither half knows in time")]
    EndsWhenDone,
    /// There is a controller.
    #[error("it has an SDN controller, which sees the whole network at once")]
    Controller,
    /// Flows wait for others.
    #[error("it has flows that begin when others are complete, wherever these are")]
    Waits,
    /// Nodes take time to look at packets.
    #[error("its hosts or routers have a processing delay")]
    Processing,
    /// There are pings or UDP.
    #[error("it has pings or UDP")]
    Datagrams,
    /// A connection of which one end looks at the other.
    #[error("transport {0} is not TCP: its ends look at each other")]
    Transport(String),
    /// Both directions of a pair share a balancer.
    #[error("its load balancing keeps entries for both directions of a pair in one place")]
    LoadBalancing,
    /// Packets are written to files.
    #[error("it captures packets")]
    Captures,
    /// Sequence numbers are noted.
    #[error("it notes sequence numbers")]
    Sequences,
    /// Every cut goes through a link without a delay.
    #[error("every cut of the network goes through a link without a delay")]
    NoLookahead,
    /// The best cut is not good enough.
    #[error(
        "the best cut promises {speed_up:.2} times the speed: too many packets cross it, its halves differ too much, \
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

/// The nodes of a run that can be divided, in two halves.
#[derive(Clone, PartialEq, Debug)]
pub struct Cut {
    sides: Vec<bool>,
    lookahead: Span,
}

impl Cut {
    /// A cut of somebody's choice: for each node whether it is in the second half.
    ///
    /// # Errors
    /// If the run cannot be divided so.
    ///
    /// # Panics
    /// If the setup has another number of nodes.
    pub fn new(setup: &Setup, sides: Vec<bool>) -> Result<Self, Undivided> {
        assert_eq!(sides.len(), setup.nodes.len(), "each node is on one side");
        check(setup)?;
        let smallest = cut_links(&setup.links, &sides).map(|(_, link)| link.least_delay()).min();
        // A packet may be sent in no time at all, and a window has both of its ends.
        let lookahead = smallest.unwrap_or(setup.duration).saturating_sub(Span::from_ps(1));
        if lookahead == Span::ZERO { Err(Undivided::NoLookahead) } else { Ok(Self { sides, lookahead }) }
    }

    /// The best cut that was found, by an estimate of what each node and link will have to do.
    ///
    /// # Errors
    /// If the run cannot be divided, or would gain little.
    pub fn find(setup: &Setup, network: &Network, plan: &Plan) -> Result<Self, Undivided> {
        check(setup)?;
        let loads = Loads::estimate(setup, network, plan);
        let (sides, cost) = search::search(setup, &loads).ok_or(Undivided::NoLookahead)?;
        let cut = Self::new(setup, sides)?;
        let speed_up = loads.total() / cost;
        if speed_up >= LEAST_SPEED_UP {
            Ok(cut)
        } else {
            Err(Undivided::NoGain { speed_up, lookahead: cut.lookahead })
        }
    }

    /// For each node whether it is in the second half.
    #[must_use]
    pub fn sides(&self) -> &[bool] {
        &self.sides
    }

    /// How long what happens in one half does not show in the other.
    #[must_use]
    pub const fn lookahead(&self) -> Span {
        self.lookahead
    }

    /// The links that leave each half.
    #[must_use]
    pub fn links(&self, setup: &Setup) -> [Vec<LinkId>; 2] {
        [false, true].map(|side| {
            let leave = |link: &LinkSetup| self.sides[link.from.index()] == side;
            cut_links(&setup.links, &self.sides).filter(|(_, link)| leave(link)).map(|(id, _)| id).collect()
        })
    }
}

/// The links between the halves.
fn cut_links<'l>(
    links: &'l [LinkSetup],
    sides: &'l [bool],
) -> impl Iterator<Item = (LinkId, &'l LinkSetup)> + 'l {
    let all = links.iter().enumerate().map(|(index, link)| (LinkId::from_index(index), link));
    all.filter(|(_, link)| sides[link.from.index()] != sides[link.to.index()])
}

/// Whether the run can be divided at all.
fn check(setup: &Setup) -> Result<(), Undivided> {
    let is_tcp = |config: &TransportConfig| matches!(config, TransportConfig::Tcp(_));
    let other = setup.transports.iter().find(|transport| !is_tcp(&transport.config));
    let processes = setup.hosts.iter().any(|host| host.processing_delay.is_some())
        || setup.routers.iter().any(|router| router.processing_delay.is_some());
    let reasons = [
        (!setup.events.is_empty(), Undivided::Changes),
        (setup.until == RunEnd::Done, Undivided::EndsWhenDone),
        (setup.controller.is_some(), Undivided::Controller),
        (processes, Undivided::Processing),
        (!setup.waits.is_empty(), Undivided::Waits),
        (!setup.datagrams.is_empty(), Undivided::Datagrams),
        (setup.routing.load_balancing.keeps_entries(), Undivided::LoadBalancing),
        (!setup.captures.is_empty(), Undivided::Captures),
        (!setup.probes.sequences.is_empty(), Undivided::Sequences),
    ];
    if let Some(transport) = other {
        return Err(Undivided::Transport(transport.name.clone()));
    }
    reasons.into_iter().find(|(holds, _)| *holds).map_or(Ok(()), |(_, reason)| Err(reason))
}
