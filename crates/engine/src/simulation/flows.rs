//! The flows of a run.
//!
//! Usually all of them are there from the beginning to the end, each at its number. Where nobody looks into the run before
//! its end, those that end may come and go ([`may_come_and_go`]): a flow is made when it opens, and when nothing of it is
//! under way any more, what tables ask for is all that is kept. So many short flows take the memory of those under way.

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
use anabranch_transport::wire::Endpoint;
use anabranch_transport::{ReceiverAgent, Segment, SharedConfig, TransportConfig};
use anabranch_units::{FlowId, Instant, NodeId, rarely};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// The place of what has not come yet.
const AHEAD: u32 = u32::MAX;

/// Set in the place of what has gone; the rest is that of an account, or nothing.
const GONE: u32 = 1 << 31;

/// The place of what is in another part of the run: as if it had gone.
const ELSEWHERE: u32 = GONE;

/// Ends of one kind, by the numbers of their flows.
struct EndList<T> {
    there: Vec<T>,
    apart: Option<Box<Places>>,
}

/// Where not all ends are there, or not at their numbers.
struct Places {
    /// Of each flow: its place among the ends that are there, or one that has [`GONE`], or [`AHEAD`].
    of: Vec<u32>,
    /// The numbers of those that are there.
    numbers: Vec<FlowId>,
}

/// Flows by their numbers: their ends that send, and those that receive. A part of a divided run has those that are at its nodes.
#[derive(Default)]
pub(super) struct Flows {
    sending: EndList<Flow>,
    receiving: EndList<Receiving>,
    turnover: Option<Box<Turnover>>,
    /// What is left of those that are gone.
    accounts: Vec<Account>,
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

impl<T> Default for EndList<T> {
    fn default() -> Self {
        Self { there: Vec::new(), apart: None }
    }
}

impl<T> EndList<T> {
    /// Those of some flows, of which none is there yet; some are in this part of the run.
    fn ahead(are_here: impl Iterator<Item = bool>) -> Self {
        let of = are_here.map(|is_here| if is_here { AHEAD } else { ELSEWHERE }).collect();
        Self { there: Vec::new(), apart: Some(Box::new(Places { of, numbers: Vec::new() })) }
    }

    /// Makes room for those that will be here.
    fn reserve(&mut self, are_here: impl Iterator<Item = bool>) {
        self.there.reserve_exact(are_here.filter(|&is_here| is_here).count());
    }

    /// Of how many flows they are, wherever these are.
    #[inline]
    fn len(&self) -> usize {
        self.apart.as_ref().map_or(self.there.len(), |places| places.of.len())
    }

    /// The place of one among those that are there; too large a number where it is not.
    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        if rarely(self.apart.is_some()) { self.place_apart(index) } else { index }
    }

    #[inline]
    fn place_apart(&self, index: usize) -> usize {
        let place = self.apart.as_ref().and_then(|places| places.of.get(index));
        place.map_or(usize::MAX, |&place| place as usize)
    }

    #[inline(always)]
    fn get(&self, index: usize) -> Option<&T> {
        self.there.get(self.place(index))
    }

    #[inline(always)]
    fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let place = self.place(index);
        self.there.get_mut(place)
    }

    /// Whether one has not come yet.
    fn is_ahead(&self, id: FlowId) -> bool {
        self.apart.as_ref().is_some_and(|places| places.of.get(id.index()) == Some(&AHEAD))
    }

    fn add(&mut self, id: FlowId, end: T) {
        if let Some(places) = &mut self.apart {
            places.of[id.index()] = self.there.len() as u32;
            places.numbers.push(id);
            make_room(&mut self.there);
        }
        self.there.push(end);
    }

    /// Takes one out that is there; what is left of it has this place among accounts.
    fn take(&mut self, id: FlowId, account: u32) -> Option<T> {
        let places = self.apart.as_mut()?;
        let place = places.of[id.index()] as usize;
        if place >= self.there.len() {
            return None;
        }
        places.of[id.index()] = GONE | account;
        places.numbers.swap_remove(place);
        if let Some(moved) = places.numbers.get(place) {
            places.of[moved.index()] = place as u32;
        }
        Some(self.there.swap_remove(place))
    }

    /// Those that are there, with the numbers of their flows: in order where none come and go.
    fn numbered(&self) -> impl Iterator<Item = (FlowId, &T)> {
        let number = |place: usize| match &self.apart {
            None => FlowId::from_index(place),
            Some(places) => places.numbers[place],
        };
        self.there.iter().enumerate().map(move |(place, end)| (number(place), end))
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
            return Ok((Self::ahead(maker.setup, share, forwarding)?, maker.setup.flows.len() as u32));
        }
        let mut flows = Self::default();
        if share.part.is_some() {
            (flows.sending, flows.receiving) = both_ahead(maker.setup, share);
        }
        flows.sending.reserve(are_here(maker.setup, share, |flow| flow.from));
        flows.receiving.reserve(are_here(maker.setup, share, |flow| flow.to));
        let mut next = 0;
        let subflows = maker.flows(share, forwarding, |flow, receiving| {
            let (id, (from, to)) = (FlowId(next), flow.between(Direction::Forward));
            if share.has(from) {
                flows.sending.add(id, flow);
            }
            if share.has(to) {
                flows.receiving.add(id, receiving);
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
        let (sending, receiving) = both_ahead(setup, share);
        Ok(Self { sending, receiving, turnover: Some(Box::new(turnover)), accounts: Vec::new() })
    }

    /// The flows of a divided run, whose parts are one again, of so many: those that are there, the last one first, and what is
    /// left of others.
    pub(super) fn joined(
        count: usize,
        there: Vec<(FlowId, Flow, Receiving)>,
        mut ended: Vec<(FlowId, Account)>,
    ) -> Self {
        let (mut sending, mut receiving) = (EndList::default(), EndList::default());
        if there.len() < count {
            sending = EndList::ahead((0..count).map(|_| true));
            receiving = EndList::ahead((0..count).map(|_| true));
        }
        for (id, flow, end) in there.into_iter().rev() {
            sending.add(id, flow);
            receiving.add(id, end);
        }
        ended.sort_unstable_by_key(|&(id, _)| id);
        if let Some(places) = &mut sending.apart {
            for (place, (id, _)) in (0..).zip(&ended) {
                places.of[id.index()] = GONE | place;
            }
        }
        let accounts = ended.into_iter().map(|(_, account)| account).collect();
        Self { sending, receiving, turnover: None, accounts }
    }

    /// How many flows the run has, wherever they are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.sending.len()
    }

    /// How many ends of flows are there.
    pub(super) fn count(&self) -> usize {
        self.sending.there.len() + self.receiving.there.len()
    }

    /// Whether flows come and go.
    #[inline]
    pub(super) fn turn_over(&self) -> bool {
        self.turnover.is_some()
    }

    /// The end of a flow that sends, if it is there.
    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> Option<&Flow> {
        self.sending.get(index)
    }

    /// The same, to change it.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Flow> {
        self.sending.get_mut(index)
    }

    /// The end of a flow that receives, if it is there.
    #[inline(always)]
    pub(super) fn receiving(&self, index: usize) -> Option<&Receiving> {
        self.receiving.get(index)
    }

    /// The same, to change it.
    #[inline(always)]
    pub(super) fn receiving_mut(&mut self, index: usize) -> Option<&mut Receiving> {
        self.receiving.get_mut(index)
    }

    /// The end of a flow that receives, which is there.
    #[inline(always)]
    pub(super) fn end(&mut self, id: FlowId) -> &mut Receiving {
        self.receiving.get_mut(id.index()).expect("the end that is asked for is there")
    }

    /// Both ends of a flow, if they are there.
    pub(super) fn ends(&self, index: usize) -> Option<(&Flow, &Receiving)> {
        self.sending.get(index).zip(self.receiving.get(index))
    }

    /// The same, to change them.
    pub(super) fn ends_mut(&mut self, index: usize) -> Option<(&mut Flow, &mut Receiving)> {
        self.sending.get_mut(index).zip(self.receiving.get_mut(index))
    }

    /// Begins to fetch the end of a flow to which packets of this direction come; whether it is there.
    #[inline(never)]
    pub(super) fn prefetch(&self, index: usize, direction: Direction) -> bool {
        match direction {
            Direction::Forward => self.receiving.get(index).map(Receiving::prefetch).is_some(),
            Direction::Backward => self.sending.get(index).map(Flow::prefetch).is_some(),
        }
    }

    /// A segment has come to the end of a flow that receives, which takes it if it is simulated. Whether the flow is done with
    /// it; none where that end is not there.
    #[inline]
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        index: usize,
        (segment, order): (&Segment, impl FnOnce() -> Option<u32>),
        is_simulated: bool,
    ) -> Option<bool> {
        let Self { sending, receiving, .. } = self;
        let receiving = receiving.get_mut(index)?;
        receiving.note_arrival(segment, order);
        if !is_simulated {
            return Some(false);
        }
        if let ReceiverAgent::Mptcp(_) = receiving.agent
            && segment.payload > 0
            && let Some(Flow { multipath: Some(multipath), sender, .. }) = sending.get_mut(index)
        {
            multipath.on_arrival(sender, segment);
        }
        receiving.agent.on_segment(now, segment);
        Some(receiving.read(now, || sending.get(index)?.sender.stream_length()))
    }

    /// The application at the receiver reads, as [`Receiving::read`] has it.
    #[inline]
    pub(super) fn read(&mut self, now: Instant, index: usize) -> bool {
        let Self { sending, receiving, .. } = self;
        let length = || sending.get(index)?.sender.stream_length();
        receiving.get_mut(index).is_some_and(|receiving| receiving.read(now, length))
    }

    /// The key of a packet of a flow of which an end is there.
    pub(super) fn key(&self, packet: &Packet) -> Option<FlowKey> {
        match self.get(packet.flow.index()) {
            Some(flow) => Some(flow.key(packet.direction, packet.subflow)),
            None => self.key_by_receiver(packet),
        }
    }

    /// The addresses of the ends of a flow's subflows, of which an end is there: those that open, and the others.
    pub(super) fn endpoints(&self, index: usize) -> Vec<(Endpoint, Endpoint)> {
        if let Some(flow) = self.get(index) {
            return flow.forward.lanes.iter().map(|lane| (lane.key.source, lane.key.destination)).collect();
        }
        let back = self.receiving(index).into_iter().flat_map(|receiving| receiving.backward.lanes.iter());
        back.map(|lane| (lane.key.destination, lane.key.source)).collect()
    }

    /// The key of a packet of a flow of which the end that receives is there.
    pub(super) fn key_by_receiver(&self, packet: &Packet) -> Option<FlowKey> {
        let back = self.receiving(packet.flow.index())?.backward.lanes.get(packet.subflow).key;
        Some(match packet.direction {
            Direction::Forward => back.reversed(),
            Direction::Backward => back,
        })
    }

    /// The ends that send and are there, with the numbers of their flows: in order where none come and go.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (FlowId, &Flow)> {
        self.sending.numbered()
    }

    /// The ends that send and are there: all, in order, where none come and go.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Flow> {
        self.sending.there.iter()
    }

    /// The same, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Flow> {
        self.sending.there.iter_mut()
    }

    /// The flows whose ends are both there, with their numbers: all, in order, where none come and go.
    pub(super) fn iter_ends(&self) -> impl Iterator<Item = (FlowId, &Flow, &Receiving)> {
        self.numbered().filter_map(|(id, flow)| Some((id, flow, self.receiving(id.index())?)))
    }

    /// Gives back the room of ends that were taken out.
    pub(super) fn shrink_to_fit(&mut self) {
        self.sending.there.shrink_to_fit();
        self.receiving.there.shrink_to_fit();
    }

    /// The ends of a flow that comes are there from now on, those of them that belong here, unless they were before. `number` is
    /// that in the setup.
    #[inline]
    pub(super) fn come(&mut self, setup: &Setup, id: FlowId, number: FlowId) {
        if self.turnover.is_some() {
            self.make(setup, id, number);
        }
    }

    #[inline(never)]
    fn make(&mut self, setup: &Setup, id: FlowId, number: FlowId) {
        let comes = (self.sending.is_ahead(id), self.receiving.is_ahead(id));
        let Some(turnover) = self.turnover.as_ref().filter(|_| comes.0 || comes.1) else { return };
        let (flow, receiving) = turnover.make(setup, id, number);
        if comes.0 {
            self.sending.add(id, flow);
        }
        if comes.1 {
            self.receiving.add(id, receiving);
        }
    }

    /// The end of a flow that receives as it is before anything has come to it.
    pub(super) fn fresh_receiver(&self, setup: &Setup, (id, number): (FlowId, FlowId)) -> Option<Receiving> {
        Some(self.turnover.as_ref()?.make(setup, id, number).1)
    }

    /// A flow that is there goes, and leaves its account.
    pub(super) fn go(&mut self, id: FlowId) {
        let place = self.accounts.len() as u32;
        let ends = self.sending.take(id, place).zip(self.receiving.take(id, place));
        let Some((flow, receiving)) = ends else { return };
        make_room(&mut self.accounts);
        self.accounts.push(Account::of(&flow, &receiving));
    }

    /// Takes out the end of a flow that sends, if it is there.
    pub(super) fn take_sending(&mut self, id: FlowId) -> Option<Flow> {
        self.sending.take(id, 0)
    }

    /// Takes out the end of a flow that receives, if it is there.
    pub(super) fn take_receiving(&mut self, id: FlowId) -> Option<Receiving> {
        self.receiving.take(id, 0)
    }

    /// What tables say of each flow, in order.
    pub(super) fn accounts<'f>(&'f self, setup: &'f Setup) -> impl Iterator<Item = Account> + 'f {
        (0..self.len()).map(move |index| match (self.ends(index), &self.sending.apart) {
            (Some((flow, receiving)), _) => Account::of(flow, receiving),
            (None, Some(places)) if places.of[index] != AHEAD => {
                self.accounts[(places.of[index] & !GONE) as usize]
            }
            _ => Account::of_none(setup.flows[index].start, setup.flows[index].ends()),
        })
    }

    /// The same, after which the flows are gone: the last ones first, so that the room that they leave serves.
    pub(super) fn into_accounts(mut self, setup: &Setup) -> Vec<Account> {
        if let Some(places) = &self.sending.apart {
            // Where all are there, and in order, they are what is asked for.
            let mut places = (0..).zip(&places.of);
            if places.all(|(index, &place)| place == GONE | index) {
                return self.accounts;
            }
            return self.accounts(setup).collect();
        }
        let mut accounts = Vec::with_capacity(self.len());
        while let Some((flow, receiving)) = self.sending.there.pop().zip(self.receiving.there.pop()) {
            accounts.push(Account::of(&flow, &receiving));
            if self.sending.there.len().is_multiple_of(FLOWS_AT_ONCE) {
                self.shrink_to_fit();
            }
        }
        accounts.reverse();
        accounts
    }
}

/// So many flows go before the room that they leave is given back.
const FLOWS_AT_ONCE: usize = 8192;

/// Whether each flow of a share has this end here.
fn are_here<'s>(
    setup: &'s Setup,
    share: &'s Share<'_>,
    end: fn(&FlowSetup) -> NodeId,
) -> impl Iterator<Item = bool> + 's {
    share.flows.iter().map(move |id| share.has(end(&setup.flows[id.index()])))
}

/// The ends that send, and those that receive, of the flows of a share, none of which is there yet.
fn both_ahead(setup: &Setup, share: &Share<'_>) -> (EndList<Flow>, EndList<Receiving>) {
    (
        EndList::ahead(are_here(setup, share, |flow| flow.from)),
        EndList::ahead(are_here(setup, share, |flow| flow.to)),
    )
}

/// Makes an eighth as much room again where there is none: what vectors make by themselves, twice as much, would be the
/// larger part of what is left of many flows.
fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
}

impl Turnover {
    fn make(&self, setup: &Setup, id: FlowId, number: FlowId) -> (Flow, Receiving) {
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
        &self.sending.there[self.sending.place(index)]
    }
}

impl IndexMut<usize> for Flows {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut Flow {
        let place = self.sending.place(index);
        &mut self.sending.there[place]
    }
}
