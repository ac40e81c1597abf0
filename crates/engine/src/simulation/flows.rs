//! The flows of a run.
//!
//! Usually all of them are there from the beginning to the end, each at its number. Where nobody looks into the run before
//! its end, those that end may come and go ([`may_come_and_go`]): a flow is made when it opens, and when nothing of it is
//! under way any more, what tables ask for is all that is kept. So many short flows take the memory of those under way. A part
//! of a divided run has of a flow that ends in it, and begins elsewhere, the end that receives alone.

use super::account::Account;
use super::flow::{Flow, Maker, without_route};
use super::receiving::Receiving;
use super::share::Share;
use super::way::routes;
use crate::balancer::FlowKey;
use crate::error::{EngineError, SetupError};
use crate::forwarding::{Ends, Forwarding, RouteIndex};
use crate::packet::{Direction, Packet};
use crate::setup::{FlowSetup, Setup, SourceSetup};
use anabranch_transport::{SharedConfig, TransportConfig};
use anabranch_units::{FlowId, rarely};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// The place of a flow that has not begun.
const AHEAD: u32 = u32::MAX;

/// Set in the place of a flow that has gone; the rest is that of its account, or nothing in a part of a run.
const GONE: u32 = 1 << 31;

/// Set in the place of a flow of which one end alone is there; the rest is the place of that.
const HALF: u32 = 1 << 30;

/// Flows by their numbers.
#[derive(Default)]
pub(super) struct Flows {
    /// Those that are there: both of their ends, or the one that sends.
    there: Vec<Flow>,
    apart: Option<Box<Apart>>,
}

/// Where not all flows are there, or not at their numbers.
#[derive(Default)]
struct Apart {
    /// Of each flow: its place among those that are there, that of a [`HALF`] or one that has [`GONE`], or [`AHEAD`].
    places: Vec<u32>,
    /// The numbers of those that are there.
    numbers: Vec<FlowId>,
    /// Ends that receive, without the others, and their numbers.
    halves: Vec<Receiving>,
    half_numbers: Vec<FlowId>,
    /// What is left of those that are gone.
    accounts: Vec<Account>,
    turnover: Option<Turnover>,
}

/// What flows are made of that come and go.
struct Turnover {
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
    (share.is_unwatched || share.part.is_some())
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

impl Flows {
    /// The flows of a share of a setup that has been checked, and how many subflows all flows of the setup have.
    pub(super) fn new(
        maker: &Maker<'_>,
        share: &Share<'_>,
        forwarding: &mut Forwarding,
    ) -> Result<(Self, u32), EngineError> {
        if may_come_and_go(maker.setup, share) {
            return Ok((Self::ahead(maker.setup, share, forwarding)?, maker.setup.flows.len() as u32));
        }
        let mut flows = Self::default();
        if share.part.is_some() {
            flows.apart =
                Some(Box::new(Apart { places: vec![AHEAD; share.flows.len()], ..Apart::default() }));
        }
        let senders = share.flows.iter().filter(|id| share.has(maker.setup.flows[id.index()].from));
        flows.there.reserve_exact(senders.count());
        let mut next = 0;
        let subflows = maker.flows(share, forwarding, |flow| {
            let id = FlowId(next);
            if share.has(flow.forward.from) {
                flows.add(id, flow)
            } else {
                flows.add_half(id, flow.receiving)
            }
            next += 1;
        })?;
        Ok((flows, subflows))
    }

    /// Flows that come and go ([`may_come_and_go`]), none of which is there yet; each has one subflow.
    fn ahead(setup: &Setup, share: &Share<'_>, forwarding: &mut Forwarding) -> Result<Self, SetupError> {
        let configs = setup.transports.iter().filter_map(|transport| match &transport.config {
            TransportConfig::Tcp(config) => Some(SharedConfig::Tcp(Arc::new(config.clone()))),
            _ => None,
        });
        let routes = share.flows.iter().map(|id| {
            let flow = &setup.flows[id.index()];
            let ends = Ends { routing: flow.routing, from: flow.from, to: flow.to };
            routes(ends, None, forwarding).ok_or_else(|| without_route(id.index()))
        });
        let turnover = Turnover { routes: routes.collect::<Result<_, _>>()?, configs: configs.collect() };
        let places = vec![AHEAD; share.flows.len()];
        let apart = Apart { places, turnover: Some(turnover), ..Apart::default() };
        Ok(Self { there: Vec::new(), apart: Some(Box::new(apart)) })
    }

    /// The flows of a divided run, whose parts are one again, of so many: those that are there, the last one first, and what is
    /// left of others.
    pub(super) fn joined(
        count: usize,
        mut there: Vec<Flow>,
        mut numbers: Vec<FlowId>,
        mut accounts: Vec<(FlowId, Account)>,
    ) -> Self {
        there.reverse();
        if there.len() == count {
            return Self { there, apart: None };
        }
        numbers.reverse();
        accounts.sort_unstable_by_key(|&(number, _)| number);
        let mut places = vec![AHEAD; count];
        for (place, number) in (0..).zip(&numbers) {
            places[number.index()] = place;
        }
        for (place, (number, _)) in (0..).zip(&accounts) {
            places[number.index()] = GONE | place;
        }
        let accounts = accounts.into_iter().map(|(_, account)| account).collect();
        Self { there, apart: Some(Box::new(Apart { places, numbers, accounts, ..Apart::default() })) }
    }

    /// How many flows the run has, wherever they are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        match &self.apart {
            None => self.there.len(),
            Some(apart) => apart.places.len(),
        }
    }

    /// How many flows are there, and ends without the other.
    pub(super) fn count(&self) -> usize {
        self.there.len() + self.apart.as_ref().map_or(0, |apart| apart.halves.len())
    }

    /// Whether flows come and go.
    #[inline]
    pub(super) fn turn_over(&self) -> bool {
        self.apart.as_ref().is_some_and(|apart| apart.turnover.is_some())
    }

    /// The place of a flow among those that are there; too large a number where it is not.
    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        if rarely(self.apart.is_some()) { self.place_apart(index) } else { index }
    }

    #[inline]
    fn place_apart(&self, index: usize) -> usize {
        let place = self.apart.as_ref().and_then(|apart| apart.places.get(index));
        place.map_or(usize::MAX, |&place| place as usize)
    }

    /// A flow that is there, with the end that sends.
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

    /// The end of a flow that receives, if it is there. In a part of a run without it, where the other is, it is one to which
    /// nothing comes.
    pub(super) fn receiving(&self, index: usize) -> Option<&Receiving> {
        match self.get(index) {
            Some(flow) => Some(&flow.receiving),
            None => self.apart.as_ref()?.half(index),
        }
    }

    /// The same, to change it.
    #[inline(always)]
    pub(super) fn receiving_mut(&mut self, index: usize) -> Option<&mut Receiving> {
        let place = self.place(index);
        if rarely(place >= self.there.len()) {
            return self.apart.as_mut()?.half_mut(index);
        }
        Some(&mut self.there[place].receiving)
    }

    /// The end of a flow that receives, which is there.
    #[inline(always)]
    pub(super) fn end(&mut self, id: FlowId) -> &mut Receiving {
        self.receiving_mut(id.index()).expect("the end that is asked for is there")
    }

    /// The key of a packet of a flow of which only the end that receives is there.
    pub(super) fn key_of_half(&self, packet: &Packet) -> Option<FlowKey> {
        let half = self.apart.as_ref()?.half(packet.flow.index())?;
        let back = half.backward.lanes.get(packet.subflow).key;
        Some(match packet.direction {
            Direction::Forward => back.reversed(),
            Direction::Backward => back,
        })
    }

    /// The flows that are there, with their numbers: in order where none come and go.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (FlowId, &Flow)> {
        let number = |place: usize| match &self.apart {
            None => FlowId::from_index(place),
            Some(apart) => apart.numbers[place],
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

    /// Gives back the room of flows that were taken out.
    pub(super) fn shrink_to_fit(&mut self) {
        self.there.shrink_to_fit();
        if let Some(apart) = &mut self.apart {
            apart.halves.shrink_to_fit();
        }
    }

    /// A flow that comes is there from now on, unless it was before. `number` is that in the setup.
    pub(super) fn come(&mut self, setup: &Setup, id: FlowId, number: FlowId) {
        if let Some(flow) = self.made(setup, id, number) {
            make_room(&mut self.there);
            self.add(id, flow);
        }
    }

    /// The same of the end that receives, whose sender is in another part of the run.
    pub(super) fn come_half(&mut self, setup: &Setup, id: FlowId, number: FlowId) {
        if let Some(flow) = self.made(setup, id, number) {
            self.add_half(id, flow.receiving);
        }
    }

    /// A flow that comes; none where it was there before.
    fn made(&self, setup: &Setup, id: FlowId, number: FlowId) -> Option<Flow> {
        let apart = self.apart.as_ref()?;
        let turnover = apart.turnover.as_ref().filter(|_| apart.places.get(id.index()) == Some(&AHEAD))?;
        Some(turnover.make(setup, id, number))
    }

    fn add(&mut self, id: FlowId, flow: Flow) {
        if let Some(apart) = &mut self.apart {
            apart.places[id.index()] = self.there.len() as u32;
            apart.numbers.push(id);
        }
        self.there.push(flow);
    }

    fn add_half(&mut self, id: FlowId, receiving: Receiving) {
        let apart = self.apart.as_mut().expect("a part of a run");
        apart.places[id.index()] = HALF | apart.halves.len() as u32;
        apart.half_numbers.push(id);
        make_room(&mut apart.halves);
        apart.halves.push(receiving);
    }

    /// A flow that is there goes, and leaves its account.
    pub(super) fn go(&mut self, id: FlowId) {
        let Some(flow) = self.take(id) else { return };
        let Some(apart) = &mut self.apart else { return };
        apart.places[id.index()] = GONE | apart.accounts.len() as u32;
        make_room(&mut apart.accounts);
        apart.accounts.push(Account::of(&flow));
    }

    /// Takes out a flow that is there.
    pub(super) fn take(&mut self, id: FlowId) -> Option<Flow> {
        let apart = self.apart.as_mut()?;
        let place = apart.places[id.index()] as usize;
        if place >= self.there.len() {
            return None;
        }
        apart.places[id.index()] = GONE;
        apart.numbers.swap_remove(place);
        if let Some(moved) = apart.numbers.get(place) {
            apart.places[moved.index()] = place as u32;
        }
        Some(self.there.swap_remove(place))
    }

    /// Takes out the end of a flow that receives, where it is there without the other.
    pub(super) fn take_half(&mut self, id: FlowId) -> Option<Receiving> {
        let apart = self.apart.as_mut()?;
        let place = half_place(apart.places[id.index()]).filter(|&place| place < apart.halves.len())?;
        apart.places[id.index()] = GONE;
        apart.half_numbers.swap_remove(place);
        if let Some(moved) = apart.half_numbers.get(place) {
            apart.places[moved.index()] = HALF | place as u32;
        }
        Some(apart.halves.swap_remove(place))
    }

    /// What tables say of each flow, in order.
    pub(super) fn accounts<'f>(&'f self, setup: &'f Setup) -> impl Iterator<Item = Account> + 'f {
        (0..self.len()).map(move |index| match (self.get(index), &self.apart) {
            (Some(flow), _) => Account::of(flow),
            (None, Some(apart)) if apart.places[index] != AHEAD => {
                apart.accounts[(apart.places[index] & !GONE) as usize]
            }
            _ => Account::of_none(setup.flows[index].start, setup.flows[index].ends()),
        })
    }

    /// The same, after which the flows are gone: the last ones first, so that the room that they leave serves.
    pub(super) fn into_accounts(mut self, setup: &Setup) -> Vec<Account> {
        if let Some(apart) = &mut self.apart {
            // Where all are there, and in order, they are what is asked for.
            let mut places = (0..).zip(&apart.places);
            if places.all(|(index, &place)| place == GONE | index) {
                return std::mem::take(&mut apart.accounts);
            }
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

/// The place among halves that this is the place of.
fn half_place(place: u32) -> Option<usize> {
    (place & (GONE | HALF) == HALF).then_some((place & !HALF) as usize)
}

impl Apart {
    /// The end of a flow that receives, where it is there without the other.
    fn half(&self, index: usize) -> Option<&Receiving> {
        self.halves.get(half_place(*self.places.get(index)?)?)
    }

    /// The same, to change it.
    #[inline(never)]
    fn half_mut(&mut self, index: usize) -> Option<&mut Receiving> {
        self.halves.get_mut(half_place(*self.places.get(index)?)?)
    }
}

impl Turnover {
    fn make(&self, setup: &Setup, id: FlowId, number: FlowId) -> Flow {
        let flow = &setup.flows[number.index()];
        let (config, routes) = (&self.configs[flow.transport], self.routes[id.index()]);
        // Each flow has one subflow, so that the number of this is that of the flow.
        let flow = Flow::plain(flow, config, setup.streams(), (routes, number.0));
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
