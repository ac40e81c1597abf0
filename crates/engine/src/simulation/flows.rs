//! The flows of a run.
//!
//! Usually all of them are there from the beginning to the end, each at its number. Where nobody looks into the run before
//! its end, those that end may come and go ([`may_come_and_go`]): a flow is made when it opens, and when nothing of it is
//! under way any more, what tables ask for is all that is kept. So many short flows take the memory of those under way.

use super::account::Account;
use super::flow::{Flow, Maker, routes, without_route};
use super::share::Share;
use crate::error::{EngineError, SetupError};
use crate::forwarding::{Ends, Forwarding, RouteIndex};
use crate::setup::{FlowSetup, Setup, SourceSetup};
use anabranch_transport::{SharedConfig, TransportConfig};
use anabranch_units::{FlowId, rarely};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// The place of a flow that has not begun.
const AHEAD: u32 = u32::MAX;

/// Set in the place of a flow that has gone; the rest is that of its account.
const GONE: u32 = 1 << 31;

/// Flows by their numbers.
#[derive(Default)]
pub(super) struct Flows {
    /// Those that are there.
    there: Vec<Flow>,
    turnover: Option<Box<Turnover>>,
}

/// Where flows come and go.
struct Turnover {
    /// Of each flow: its place among those that are there, [`GONE`] and that of its account, or [`AHEAD`].
    places: Vec<u32>,
    /// The numbers of those that are there.
    numbers: Vec<FlowId>,
    /// What is left of those that are gone.
    accounts: Vec<Account>,
    /// The routes there and back of each flow.
    routes: Vec<(RouteIndex, RouteIndex)>,
    /// The transports of the setup.
    configs: Vec<SharedConfig<'static>>,
}

/// Whether flows of a run may be made when they open, and leave when they have ended: nobody looks at them meanwhile, each is
/// one connection of TCP that begins at its own time, and some of them end.
fn may_come_and_go(setup: &Setup, share: &Share<'_>) -> bool {
    let is_plain = |config: &TransportConfig| {
        matches!(config, TransportConfig::Tcp(_)) && config.external_control().is_none()
    };
    let is_simple = |flow: &FlowSetup| {
        flow.reads.is_none() && matches!(flow.source, SourceSetup::Sized { .. } | SourceSetup::Unlimited {})
    };
    let probes = &setup.probes;
    share.is_unwatched
        && share.part.is_none()
        && setup.controller.is_none()
        && setup.hosts.is_empty()
        && setup.waits.is_empty()
        && setup.collectives.is_empty()
        && setup.captures.is_empty()
        && (probes.log.is_empty() && probes.sequences.is_empty())
        && setup.transports.iter().all(|transport| is_plain(&transport.config))
        && setup.flows.iter().all(is_simple)
        && setup.flows.iter().any(|flow| matches!(flow.source, SourceSetup::Sized { .. }))
}

impl From<Vec<Flow>> for Flows {
    fn from(there: Vec<Flow>) -> Self {
        Self { there, turnover: None }
    }
}

impl Flows {
    /// The flows of a share of a setup that has been checked, and how many subflows all flows of the setup have.
    pub(super) fn new(
        maker: &Maker<'_>,
        share: &Share<'_>,
        forwarding: &mut Forwarding,
    ) -> Result<(Self, u32), EngineError> {
        if may_come_and_go(maker.setup, share) {
            return Ok((Self::ahead(maker.setup, forwarding)?, maker.setup.flows.len() as u32));
        }
        let (flows, subflows) = maker.flows(share, forwarding)?;
        Ok((flows.into(), subflows))
    }

    /// Flows that come and go ([`may_come_and_go`]), none of which is there yet; each has one subflow.
    fn ahead(setup: &Setup, forwarding: &mut Forwarding) -> Result<Self, SetupError> {
        let configs = setup.transports.iter().filter_map(|transport| match &transport.config {
            TransportConfig::Tcp(config) => Some(SharedConfig::Tcp(Arc::new(config.clone()))),
            _ => None,
        });
        let routes = setup.flows.iter().enumerate().map(|(index, flow)| {
            let ends = Ends { routing: flow.routing, from: flow.from, to: flow.to };
            routes(ends, None, forwarding).ok_or_else(|| without_route(index))
        });
        let turnover = Turnover {
            places: vec![AHEAD; setup.flows.len()],
            numbers: Vec::new(),
            accounts: Vec::new(),
            routes: routes.collect::<Result<_, _>>()?,
            configs: configs.collect(),
        };
        Ok(Self { there: Vec::new(), turnover: Some(Box::new(turnover)) })
    }

    /// How many flows the run has, wherever they are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        match &self.turnover {
            None => self.there.len(),
            Some(turnover) => turnover.places.len(),
        }
    }

    /// Whether flows come and go.
    #[inline]
    pub(super) fn turn_over(&self) -> bool {
        self.turnover.is_some()
    }

    /// The place of a flow among those that are there; too large a number where it is not.
    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        if rarely(self.turnover.is_some()) { self.place_among_others(index) } else { index }
    }

    #[inline]
    fn place_among_others(&self, index: usize) -> usize {
        let place = self.turnover.as_ref().and_then(|turnover| turnover.places.get(index));
        place.map_or(usize::MAX, |&place| place as usize)
    }

    /// A flow that is there.
    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> Option<&Flow> {
        self.there.get(self.place(index))
    }

    /// The same, to change it.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Flow> {
        let place = self.place(index);
        self.there.get_mut(place)
    }

    /// The flows that are there, with their numbers: in order where none come and go.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (FlowId, &Flow)> {
        let number = |place: usize| match &self.turnover {
            None => FlowId::from_index(place),
            Some(turnover) => turnover.numbers[place],
        };
        self.there.iter().enumerate().map(move |(place, flow)| (number(place), flow))
    }

    /// The flows that are there: all, in order, where none come and go.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Flow> {
        self.there.iter()
    }

    /// The same, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Flow> {
        self.there.iter_mut()
    }

    /// Takes out the last flow of those that do not come and go.
    pub(super) fn pop(&mut self) -> Option<Flow> {
        self.there.pop()
    }

    /// Gives back the room of flows that were taken out.
    pub(super) fn shrink_to_fit(&mut self) {
        self.there.shrink_to_fit();
    }

    /// A flow that comes is there from now on, unless it was before.
    pub(super) fn come(&mut self, setup: &Setup, id: FlowId) {
        let Some(turnover) = &mut self.turnover else { return };
        if turnover.places[id.index()] != AHEAD {
            return;
        }
        let flow = turnover.make(setup, id);
        make_room(&mut self.there);
        turnover.places[id.index()] = self.there.len() as u32;
        turnover.numbers.push(id);
        self.there.push(flow);
    }

    /// A flow that is there goes, and leaves its account.
    pub(super) fn go(&mut self, id: FlowId) {
        let Some(turnover) = &mut self.turnover else { return };
        let account = GONE | turnover.accounts.len() as u32;
        let place = std::mem::replace(&mut turnover.places[id.index()], account) as usize;
        let flow = self.there.swap_remove(place);
        turnover.numbers.swap_remove(place);
        if let Some(moved) = turnover.numbers.get(place) {
            turnover.places[moved.index()] = place as u32;
        }
        make_room(&mut turnover.accounts);
        turnover.accounts.push(Account::of(&flow));
    }

    /// What tables say of each flow, in order.
    pub(super) fn accounts<'f>(&'f self, setup: &'f Setup) -> impl Iterator<Item = Account> + 'f {
        (0..self.len()).map(move |index| match (self.get(index), &self.turnover) {
            (Some(flow), _) => Account::of(flow),
            (None, Some(turnover)) if turnover.places[index] != AHEAD => {
                turnover.accounts[(turnover.places[index] & !GONE) as usize]
            }
            _ => Account::of_none(setup.flows[index].start, setup.flows[index].ends()),
        })
    }

    /// The same, after which the flows are gone: the last ones first, so that the room that they leave serves.
    pub(super) fn into_accounts(mut self, setup: &Setup) -> Vec<Account> {
        if self.turn_over() {
            return self.accounts(setup).collect();
        }
        let mut accounts = Vec::with_capacity(self.len());
        while let Some(flow) = self.there.pop() {
            accounts.push(Account::of(&flow));
            if self.there.len().is_multiple_of(FLOWS_AT_ONCE) {
                self.there.shrink_to_fit();
            }
        }
        accounts.reverse();
        accounts
    }
}

/// So many flows go before the room that they leave is given back.
const FLOWS_AT_ONCE: usize = 8192;

/// Makes an eighth as much room again where there is none: what vectors make by themselves, twice as much, would be the
/// larger part of what is left of many flows.
fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
}

impl Turnover {
    fn make(&self, setup: &Setup, id: FlowId) -> Flow {
        let flow = &setup.flows[id.index()];
        let (config, routes) = (&self.configs[flow.transport], self.routes[id.index()]);
        // Each flow has one subflow, so that the number of this is that of the flow.
        let flow = Flow::plain(flow, config, setup.streams(), (routes, id.0));
        flow.expect("only messages, which are drawn, can be refused")
    }
}

impl Index<usize> for Flows {
    type Output = Flow;

    #[inline(always)]
    fn index(&self, index: usize) -> &Flow {
        &self.there[self.place(index)]
    }
}

impl IndexMut<usize> for Flows {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut Flow {
        let place = self.place(index);
        &mut self.there[place]
    }
}
