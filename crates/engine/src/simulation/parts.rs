//! The parts of a run that is divided between cores.
//!
//! Each part is a [`Simulation`] of a share of the setup: the links that leave its nodes, and the flows with an end at them. A
//! link between two parts exists in both: where it begins, packets wait and are sent; where it ends, they arrive. At the end
//! all parts become one again.

use super::account::Account;
use super::datagrams::DatagramFlow;
use super::drops::{Carried, DropsByFlow};
use super::flow::Flow;
use super::flows::Flows;
use super::measure::{check_flow, unbalanced};
use super::probe::{Probe, drops_of};
use super::receiving::Receiving;
use super::{Numbering, Progress, Simulation};
use crate::error::EngineError;
use crate::forwarding::PathStart;
use crate::link::SimulatedLink;
use crate::packet::PacketPool;
use crate::schedule::Schedule;
use crate::setup::{LinkSetup, Setup};
use anabranch_routing::Plan;
use anabranch_units::{FlowId, Instant, NodeId};
use std::mem::{swap, take};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What the parts held when they became one: packets stay in pools that are gone.
pub(super) struct Joined {
    /// As [`Simulation::held`] has it.
    pub(super) held: Vec<(Carried, u64)>,
    /// As [`Simulation::queue_integrals`] has them.
    pub(super) queue_integrals: Vec<u128>,
    /// Packets in the pools.
    pub(super) live: usize,
    /// Packets that nodes kept.
    pub(super) kept: u64,
}

/// So many flows move from the parts before the room that they leave is given back.
const FLOWS_AT_ONCE: usize = 4096;

impl Simulation {
    /// When the network or its routes change next, if they do before the end of the run.
    pub(super) fn next_change(&self) -> Option<Instant> {
        let due = |source| self.data.schedule.due(source);
        due(Numbering::CHANGES).into_iter().chain(due(Numbering::ROUTES)).min().filter(|&at| at <= self.end)
    }

    /// Makes the changes of the network that are due at this instant, of which nothing else has been done.
    pub(super) fn change_at(&mut self, at: Instant) {
        self.data.now = at;
        if self.data.schedule.due(Numbering::CHANGES) == Some(at) {
            self.data.schedule.clear(Numbering::CHANGES);
            self.on_changes();
            self.events += 1;
        }
    }

    /// The new routes that are due at this instant, if any are; the answer breaks where `report` does.
    pub(super) fn routes_at(
        &self,
        at: Instant,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> ControlFlow<(), Option<Plan>> {
        if self.data.schedule.due(Numbering::ROUTES) != Some(at) {
            return ControlFlow::Continue(None);
        }
        self.new_plan(report).map_continue(Some)
    }

    /// Takes these routes.
    pub(super) fn take_routes(&mut self, plan: &Plan) {
        self.data.schedule.clear(Numbering::ROUTES);
        self.follow_plan(plan);
        self.events += 1;
    }

    /// Takes a flow of the setup out whose sender is here, if it is there.
    fn take_flow(&mut self, id: FlowId) -> Option<Flow> {
        self.flows.take_sending(self.flow_place(id))
    }

    /// Takes the end of a flow of the setup out that receives here, if it is there.
    fn take_receiving(&mut self, id: FlowId) -> Option<Receiving> {
        self.flows.take_receiving(self.flow_place(id))
    }

    /// Forgets the routes and events of a part, and the packets that have been counted: the run is over.
    fn forget_ways(&mut self) {
        self.data.forwarding.clear();
        (self.data.schedule, self.data.pool) = (Schedule::new(0, 0), PacketPool::default());
    }

    /// Brings all links forward, and counts what this part holds.
    fn settle(&mut self, held: &mut [(Carried, u64)]) {
        self.settle_links();
        let here = self.held();
        let passage = self.data.passage.as_ref().expect("a part of a run");
        for (place, (forward, backward)) in (0..).zip(here) {
            let (there, back) = &mut held[passage.id(FlowId(place)).index()];
            there.add(forward);
            *back += backward;
        }
    }

    /// The parts become one, to be finished. `part_of` gives the part of a node, `ended` is what is left of flows that have gone.
    pub(super) fn join(
        setup: &Arc<Setup>,
        mut parts: Vec<Self>,
        (probe, ended): (Probe, Vec<(FlowId, Account)>),
        part_of: impl Fn(NodeId) -> usize,
    ) -> Result<Self, EngineError> {
        let mut held = vec![(Carried::default(), 0); setup.flows.len() + setup.datagrams.len()];
        parts.iter_mut().for_each(|part| part.settle(&mut held));
        let mut queue_integrals = vec![0; setup.links.len()];
        for (index, link) in setup.links.iter().enumerate() {
            let from = &parts[part_of(link.from)].data;
            queue_integrals[index] = from.links[index].queue_integral(from.now, &from.pool);
        }
        let live = parts.iter().map(|part| part.data.pool.live()).sum();
        let kept = parts.iter().map(Self::kept_count).sum();
        let mut drops = DropsByFlow::new(held.len());
        for part in &parts {
            let passage = part.data.passage.as_ref().expect("a part of a run");
            let taps = &part.data.taps;
            let flow_drops = (0..).map(FlowId).zip(taps.drops.of(0..taps.drops.len()));
            for (place, of_flow) in
                flow_drops.chain(taps.passing_drops.iter().map(|(&place, &drops)| (place, drops)))
            {
                drops.add(passage.id(place).index(), &of_flow);
            }
        }
        gather_paths(&mut parts);
        parts.iter_mut().skip(1).for_each(Self::forget_ways);
        let books = Books { drops: &drops, held: &held };
        let flows = gather_flows(setup, &mut parts, &part_of, (ended, &books))?;
        let datagrams = gather_datagrams(setup, &mut parts, &part_of);
        let sequences = parts.iter_mut().find_map(|part| {
            let passage = part.data.passage.as_ref()?;
            Some(part.sequences.take()?.with_numbers(|place| passage.id(place)))
        });
        let links = gather_links(setup, &mut parts, &part_of);
        let mut rest = parts.into_iter();
        let mut whole = rest.next().expect("a run has parts");
        for mut part in rest {
            whole.data.packet_hops += part.data.packet_hops;
            whole.events += part.events;
            whole.data.taps.take_captures(&mut part.data.taps);
        }
        (whole.flows, whole.data.links) = (flows, links);
        (whole.data.datagrams, whole.data.taps.drops) = (datagrams, drops);
        (whole.sequences, whole.probe) = (sequences, probe);
        // What waits at nodes is counted, and its pools are gone.
        (whole.data.passage, whole.processing) = (None, None);
        whole.joined = Some(Box::new(Joined { held, queue_integrals, live, kept }));
        Ok(whole)
    }
}

/// Lets the flows go that have ended and of which nothing is under way between any parts, but for those that `waits`; `ended` gets
/// what is left of them.
pub(super) fn let_go(
    setup: &Setup,
    parts: &mut [&mut Simulation],
    part_of: impl Fn(NodeId) -> usize,
    (waits, ended): (impl Fn(FlowId) -> bool, &mut Vec<(FlowId, Account)>),
) {
    for from in 0..parts.len() {
        let passage = parts[from].data.passage.as_ref().expect("a part of a run");
        let may_go = |(place, flow): (FlowId, &Flow)| {
            let id = passage.id(place);
            let receiving = parts[part_of(flow.forward.to)].receiving_here(id)?;
            let is_over = flow.is_at_rest(receiving)
                && !waits(id)
                && unbalanced((flow, receiving), &drops_of(parts, id), &Default::default()).is_none();
            is_over.then(|| (id, Account::of(flow, receiving)))
        };
        let over: Vec<_> = parts[from].flows.numbered().filter_map(may_go).collect();
        for (id, account) in over {
            parts[from].take_flow(id);
            parts[part_of(setup.flows[id.index()].to)].take_receiving(id);
            ended.push((id, account));
        }
    }
}

/// Gives the first part the paths on which the latest packets of subflows have set out, which tables name.
fn gather_paths(parts: &mut [Simulation]) {
    let Some((first, others)) = parts.split_first_mut() else { return };
    for part in others {
        let (forwarding, network) = (&part.data.forwarding, &part.data.network);
        for flow in part.flows.iter_mut() {
            let to = flow.forward.to;
            for notes in flow.multipath.iter_mut().flat_map(|multipath| &mut multipath.subflows) {
                if let Some(PathStart::Path(cursor)) = &mut notes.start {
                    *cursor = first.data.forwarding.lay(forwarding.path_links(network, *cursor, to));
                }
            }
        }
    }
}

/// Drops of each flow, and what of it is under way there and back.
struct Books<'b> {
    drops: &'b DropsByFlow,
    held: &'b [(Carried, u64)],
}

/// The flows of all parts, or what is left of them, and `ended`, what was left of others before; the last ones first, so that
/// their room is free for others. Whole flows are kept where a table asks for more than their accounts.
fn gather_flows(
    setup: &Setup,
    parts: &mut [Simulation],
    part_of: impl Fn(NodeId) -> usize,
    (mut ended, books): (Vec<(FlowId, Account)>, &Books<'_>),
) -> Result<Flows, EngineError> {
    let are_kept = !setup.probes.log.is_empty()
        || parts.iter().any(|part| part.flows.iter().any(|flow| flow.multipath.is_some()));
    let count = parts.iter().map(|part| part.flows.iter().len()).sum();
    let mut flows = Vec::new();
    if are_kept {
        flows.reserve_exact(count)
    } else {
        ended.reserve_exact(count)
    }
    for (index, flow) in setup.flows.iter().enumerate().rev() {
        let (from, to, id) = (part_of(flow.from), part_of(flow.to), FlowId::from_index(index));
        let Some(flow) = parts[from].take_flow(id) else { continue };
        // An end to which nothing has come yet has not been made.
        let fresh = |part: &Simulation| part.flows.fresh_receiver(setup, (part.flow_place(id), id));
        let receiving = parts[to].take_receiving(id).or_else(|| fresh(&parts[from]));
        let receiving = receiving.expect("the end of a flow that receives is there, or can be made");
        if are_kept {
            flows.push((id, flow, receiving));
        } else {
            let books = (&books.drops.at(index), &books.held[index]);
            check_flow(setup, (id, &flow, &receiving), books)?;
            ended.push((id, Account::of(&flow, &receiving)));
        }
        if index % FLOWS_AT_ONCE == 0 {
            parts.iter_mut().for_each(|part| part.flows.shrink_to_fit());
        }
    }
    Ok(Flows::joined(setup.flows.len(), flows, ended))
}

/// The flows of datagrams of all parts, each with both of its ends.
fn gather_datagrams(
    setup: &Setup,
    parts: &mut [Simulation],
    part_of: impl Fn(NodeId) -> usize,
) -> Vec<DatagramFlow> {
    let mut flows = Vec::with_capacity(setup.datagrams.len());
    for flow in setup.datagrams.iter().rev() {
        let (from, to) = (part_of(flow.from), part_of(flow.to));
        let last = "each part has its datagrams in order";
        let mut whole = parts[from].data.datagrams.pop().expect(last);
        if from != to {
            whole.join_receiver(&mut parts[to].data.datagrams.pop().expect(last));
        }
        flows.push(whole);
    }
    flows.reverse();
    flows
}

/// The links, each with what its other end has got.
fn gather_links(
    setup: &Setup,
    parts: &mut [Simulation],
    part_of: impl Fn(NodeId) -> usize,
) -> Vec<SimulatedLink> {
    let mut copies: Vec<_> = parts.iter_mut().map(|part| take(&mut part.data.links).into_iter()).collect();
    let link = |link: &LinkSetup| {
        let mut ends: Vec<Option<SimulatedLink>> = copies.iter_mut().map(Iterator::next).collect();
        let mut whole = ends[part_of(link.from)].take().expect("each part has all links");
        // Of a link within one part the only copy has been taken.
        if let Some(far) = ends[part_of(link.to)].take() {
            whole.rejoin(&far);
        }
        whole
    };
    setup.links.iter().map(link).collect()
}

impl DatagramFlow {
    /// Takes the receiving end of a flow from the part where that is. Latencies are measured there where nobody answers.
    fn join_receiver(&mut self, far: &mut Self) {
        self.arrived = far.arrived;
        if !self.setup.source.is_answered() {
            swap(&mut self.measured, &mut far.measured);
        }
    }
}
