//! A run: the event loop and everything that happens in it.
//!
//! Hosts stand at the ends (`hosts.rs`, `application.rs`), the data plane between them (`data_plane.rs`), and the
//! control plane above that, where there is one (`control.rs`). [`Simulation::advance`] is the one loop; a run is a
//! single step to the end, and any other steps give the same bytes. So does a run whose nodes are divided between
//! cores (`parallel.rs`, `parts.rs`, `crossing.rs`).

mod account;
mod addresses;
mod application;
mod changes;
mod collective_tables;
mod columns;
mod control;
mod critical_path;
mod crossing;
mod data_plane;
mod datagram_tables;
mod datagrams;
mod dependencies;
mod drops;
mod external;
mod flow;
mod flows;
mod hosts;
mod log;
mod measure;
mod multipath;
mod multipath_tables;
mod nic;
mod numbering;
mod parallel;
mod parts;
mod passage;
mod probe;
mod processing;
mod reader;
mod receiving;
mod sequences;
mod share;
mod spray_tables;
mod state;
mod taps;
mod way;

use crate::control::Breach;
use crate::error::EngineError;
use crate::forwarding::Forwarding;
use crate::link::SimulatedLink;
use crate::packet::{Packet, PacketId, PacketPool, Steering};
use crate::queues::DropCause;
use crate::records::Table;
use crate::schedule::Schedule;
use crate::setup::{Change, RunEnd, Setup};
use anabranch_network::Network;
use anabranch_routing::{Mirror, Plan};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span, rarely};
use changes::Changes;
use control::ControlPlane;
pub use critical_path::CriticalPath;
use data_plane::DataPlane;
use datagrams::DatagramFlow;
use dependencies::Dependencies;
pub use external::{Departure, ExternalPacket, Fate};
use flow::Maker;
use flows::Flows;
use nic::Nics;
use numbering::{Event, Numbering};
use parts::Joined;
use passage::Passage;
use probe::Probe;
use processing::Processing;
use sequences::Sequences;
use share::Share;
pub use state::{FlowState, HeldState, LinkState, Phase};
use std::ops::ControlFlow;
use std::sync::Arc;
pub use taps::LostCapture;
use taps::Taps;

/// Events between two calls of the progress callback.
const EVENTS_PER_REPORT: u64 = 1 << 16;

/// Bytes of links that a core's own cache does not hold beside the rest.
const LARGE: usize = 1 << 20;

/// Most hops of a packet: no path of a network is longer than any real TTL allows.
const MAX_HOPS: u8 = 255;

/// How far a run has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// Packets that have crossed a link, summed over links.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
}

/// What a run leaves behind.
#[derive(Debug)]
pub struct Outcome {
    /// The tables.
    pub tables: Vec<Table>,
    /// Where the run ended: its duration, or earlier if all flows were done ([`RunEnd::Done`]) or it was stopped.
    pub ended: Instant,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Packet hops and events.
    pub progress: Progress,
    /// Jain's fairness index of the goodputs of all flows that opened; `None` without such a flow.
    pub jain_index: Option<f64>,
    /// Payload handed to the applications of all flows, and the packets of pings and UDP that arrived, over the time of
    /// the run, in Mbps; `None` if no time has passed.
    pub delivered_mbps: Option<f64>,
    /// Packets with data, pings and UDP packets that were lost.
    pub packets_lost: u64,
    /// Captures that could not be written to their end.
    pub lost_captures: Vec<LostCapture>,
    /// Assumptions of the controller's application that the run has broken.
    pub breaches: Vec<Breach>,
}

/// What is left of a plan that is in force. One that was made elsewhere loses its dead paths when a link fails; where a
/// scheme makes another one, or routes stay, nothing is asked of it: with many flows it takes much memory.
fn kept(setup: &Setup, plan: Arc<Plan>) -> Arc<Plan> {
    let is_pruned =
        setup.routing.reaction.is_some() && setup.routing.schemes().any(|scheme| scheme.is_none());
    if is_pruned { plan } else { Arc::new(plan.emptied()) }
}

/// A run in progress. It has neither a clock nor any input of its own: it goes on when it is told to, and only so far.
pub struct Simulation {
    setup: Arc<Setup>,
    /// The first plan, as far as routing will ask for it.
    plan: Arc<Plan>,
    end: Instant,
    /// Flows that the end waits for; `None` where the run ends when its duration is over.
    awaited: Option<usize>,
    data: DataPlane,
    control: Option<Box<ControlPlane>>,
    flows: Flows,
    /// Nodes with a processing delay, if there are any.
    processing: Option<Box<Processing>>,
    changes: Changes,
    nics: Nics,
    dependencies: Dependencies,
    /// The number of the next subflow, and the step to the one after it: parts of a run do not give the same.
    numbered: u32,
    numbered_by: u32,
    probe: Probe,
    sequences: Option<Sequences>,
    events: u64,
    /// Where the run had two parts and they are together again.
    joined: Option<Box<Joined>>,
}

impl Simulation {
    /// A run of this setup over these routes, ready to start.
    ///
    /// # Errors
    /// If the setup or the plan does not hold, or a capture file cannot be created.
    pub fn new(setup: impl Into<Arc<Setup>>, plan: impl Into<Arc<Plan>>) -> Result<Self, EngineError> {
        let (setup, plan): (Arc<Setup>, Arc<Plan>) = (setup.into(), plan.into());
        let network = setup.check()?;
        plan.check(&network)?;
        let share = Share::all(&setup);
        Self::of_share(setup, plan, network, &share)
    }

    /// A whole run of this setup over these routes, into which nobody looks before its end: it may forget flows that have
    /// ended, and make those that begin later when they do. The tables are those of [`Simulation::run`].
    ///
    /// # Errors
    /// As [`Simulation::new`] and [`Simulation::run`].
    ///
    /// # Panics
    /// As [`Simulation::advance`].
    pub fn run_whole(
        setup: impl Into<Arc<Setup>>,
        plan: impl Into<Arc<Plan>>,
        report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Outcome, EngineError> {
        let (setup, plan): (Arc<Setup>, Arc<Plan>) = (setup.into(), plan.into());
        let network = setup.check()?;
        plan.check(&network)?;
        let share = Share { is_unwatched: true, ..Share::all(&setup) };
        Self::of_share(setup, plan, network, &share)?.run(report)
    }

    /// A run of a share of a setup, which has been checked as the plan has.
    fn of_share(
        setup: Arc<Setup>,
        plan: Arc<Plan>,
        network: Network,
        share: &Share<'_>,
    ) -> Result<Self, EngineError> {
        let numbering = Numbering::new(&setup, share);
        let streams = setup.streams();
        let seeds = setup.routers.iter().filter_map(|router| Some((router.node, router.hash_seed?)));
        let mut forwarding = Forwarding::new(
            setup.routing.load_balancing.clone(),
            streams,
            setup.nodes.len(),
            share.ends(&setup),
        )
        .with_hash_seeds(seeds.collect());
        if share.part.is_some() {
            let here = network.node_ids().map(|node| share.has(node)).collect();
            let plans = setup.ends().map(|ends| ends.routing + 1).max();
            forwarding = forwarding.at(here, plans.unwrap_or(1));
        }
        let mirror = Mirror::new(&network);
        let maker = Maker { setup: &setup, network: &network, plan: &plan, mirror, streams };
        let (mut flows, subflows) = Flows::new(&maker, share, &mut forwarding)?;
        let datagrams = DatagramFlow::all(&setup, share, streams, &forwarding, subflows)?;
        log::begin(&setup, share, &mut flows);
        forwarding.install_by(&network, &maker.mirror, &plan);
        if setup.routing.reaction.is_none() && flows.iter().all(|flow| flow.multipath.is_none()) {
            forwarding.settle();
        }
        let plan = kept(&setup, plan);
        let mut simulation = Self {
            end: Instant::ZERO + setup.duration,
            awaited: (setup.until == RunEnd::Done)
                .then(|| share.flows.iter().filter(|flow| setup.flows[flow.index()].ends()).count()),
            control: ControlPlane::new(&setup, &network).map(Box::new),
            processing: Processing::new(&setup, streams)?,
            changes: Changes::new(&network),
            nics: Nics::new(&setup, &network),
            dependencies: Dependencies::new(&setup),
            numbered: subflows + setup.datagrams.len() as u32 + share.part.map_or(0, |(_, _, part)| part),
            numbered_by: share.part.map_or(1, |(_, count, _)| count),
            probe: Probe::new(&setup, share),
            sequences: Sequences::new(&setup, share),
            events: 0,
            joined: None,
            data: DataPlane {
                now: Instant::ZERO,
                schedule: Schedule::new(numbering.count(), numbering.behind_links()),
                numbering,
                pool: PacketPool::default(),
                links: hosts::links(&setup, share, streams)?,
                forwarding,
                taps: Taps::new(&setup, share, &flows, &datagrams)?,
                passage: share.part.map(|_| Box::new(Passage::new(&setup, share))),
                datagrams,
                packet_hops: 0,
                looks_ahead: setup.links.len() * size_of::<SimulatedLink>() > LARGE,
                network,
            },
            flows,
            plan,
            setup,
        };
        simulation.hold_waiting();
        simulation.schedule_first(share);
        Ok(simulation)
    }

    fn schedule_first(&mut self, share: &Share<'_>) {
        let DataPlane { schedule, numbering, datagrams, .. } = &mut self.data;
        // What happens at the end itself still counts; a flow that would begin there has no time left.
        let end = self.end;
        if let Some(first) = self.setup.events.first() {
            schedule.set(Numbering::CHANGES, first.at);
        }
        for (place, &number) in share.flows.iter().enumerate() {
            let id = FlowId::from_index(place);
            let setup = &self.setup.flows[number.index()];
            // One that waits for others does not begin by itself.
            let start = Some(setup.start).filter(|&start| start < end && share.has(setup.from));
            schedule.put(numbering.application(id), start.filter(|_| !self.dependencies.holds(number)));
        }
        for (number, flow) in (0..).zip(datagrams) {
            let begins = flow.setup.start < end && share.has(flow.setup.from);
            schedule.put(numbering.datagrams(number), flow.next_event().filter(|_| begins));
        }
        if let Some(next) = self.control.as_ref().and_then(|control| control.next_timer()) {
            schedule.set(numbering.controller(), next);
        }
        // Of a divided run, somebody samples who sees all parts.
        if let Some(interval) = self.setup.probes.interval.filter(|_| share.part.is_none()) {
            schedule.set(numbering.probe(), Instant::ZERO + interval);
        }
    }

    /// The simulated time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.data.now
    }

    /// When the run will be over: it does not go beyond. A run that ends when all flows are done has an earlier end from
    /// then on.
    #[must_use]
    pub const fn end(&self) -> Instant {
        self.end
    }

    /// When something will happen next, unless something is put in or changed before; `None` if nothing will before
    /// the end. Until then [`Simulation::advance`] has nothing to do.
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        self.data.schedule.first().map(|(at, _)| at).filter(|&at| at <= self.end)
    }

    /// Works off every event up to and including `until`, or the end of the run if that is earlier; that is the time
    /// then. Any steps to one time lead to the same state, whatever their number and length, zero included.
    ///
    /// `report` is called every 65,536 events of the run, and while a scheme computes new routes. Where it breaks, the
    /// step ends between two events, and so does the answer say; the next step goes on from there.
    ///
    /// # Errors
    /// If `until` is in the past.
    ///
    /// # Panics
    /// If an event lies in the past, which is a bug in the engine.
    pub fn advance(
        &mut self,
        until: Instant,
        mut report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError> {
        let now = self.data.now;
        if until < now {
            return Err(EngineError::Past { now, until });
        }
        let mut until = until.min(self.end);
        let mut left = EVENTS_PER_REPORT - self.events % EVENTS_PER_REPORT;
        let mut reported = self.events + left;
        while let Some((at, source)) = self.data.schedule.take(self.data.now, until) {
            self.data.now = at;
            match self.data.numbering.event(source) {
                Event::Routes => {
                    self.events = reported - left;
                    if self.on_routes(&mut report).is_break() {
                        self.data.schedule.set(source, at);
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Event::End => {
                    (self.end, until) = (at, at);
                    // Nothing happens in it: the run is that of a duration that ends here.
                    continue;
                }
                other => self.handle(other),
            }
            left -= 1;
            if rarely(left == 0) {
                self.events = reported;
                (left, reported) = (EVENTS_PER_REPORT, reported + EVENTS_PER_REPORT);
                if report(self.progress()).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        self.events = reported - left;
        self.data.now = until;
        Ok(ControlFlow::Continue(()))
    }

    /// Runs to the end, or until `report` breaks; then checks conservation and gives the tables.
    ///
    /// # Errors
    /// As [`Simulation::advance`] and [`Simulation::finish`].
    pub fn run(mut self, report: impl FnMut(Progress) -> ControlFlow<()>) -> Result<Outcome, EngineError> {
        // Where it is stopped is seen by the time.
        let _ = self.advance(self.end, report)?;
        self.finish()
    }

    /// Makes a change of the network now, after what has happened at this instant. It shows in the table `events`, and
    /// routing reacts to it, as to one that the setup announces.
    ///
    /// # Errors
    /// If the change does not hold.
    pub fn change(&mut self, change: &Change) -> Result<(), EngineError> {
        self.setup.check_change("change", change)?;
        self.apply(change);
        Ok(())
    }

    /// How far it has come.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        Progress { now: self.data.now, packet_hops: self.data.packet_hops, events: self.events }
    }

    /// Ends the run where it is: checks conservation, writes out the captures and gives the tables.
    ///
    /// # Errors
    /// If the books do not balance, which is a bug.
    pub fn finish(mut self) -> Result<Outcome, EngineError> {
        let now = self.data.now;
        let interrupted = now < self.end || self.next_event().is_some();
        self.settle_links();
        self.check_conservation()?;
        let (progress, packets_lost) = (self.progress(), self.packets_lost());
        let breaches = self.control.as_ref().map(|control| control.breaches()).unwrap_or_default();
        let mut tables = self.take_other_tables();
        let accounts = self.take_accounts();
        let (jain_index, delivered_mbps) = (self.jain_index(&accounts), self.delivered_mbps(&accounts));
        tables.splice(0..0, [self.table_of(accounts), self.link_table()]);
        let lost_captures = self.data.taps.finish(now);
        Ok(Outcome {
            tables,
            ended: now,
            interrupted,
            progress,
            jain_index,
            delivered_mbps,
            packets_lost,
            lost_captures,
            breaches,
        })
    }

    /// Brings every link and its books forward to now.
    fn settle_links(&mut self) {
        let DataPlane { links, pool, taps, now, .. } = &mut self.data;
        for (index, link) in links.iter_mut().enumerate() {
            link.advance(*now, pool, &mut taps.at(LinkId::from_index(index)));
        }
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Link(link) => self.on_link(link),
            Event::Processor(number) => self.on_processor(number),
            Event::Sender(flow) => self.on_sender_timer(flow),
            Event::Receiver(flow) => self.on_receiver_timer(flow),
            Event::Application(flow) => self.on_application(flow),
            Event::Nic(number) => self.on_nic(number),
            Event::Datagrams(number) => self.on_datagrams(number),
            Event::Routes => unreachable!("new routes are for `advance`, whom schemes report to"),
            Event::End => unreachable!("the end is for `advance`, which goes no further"),
            Event::Changes => self.on_changes(),
            Event::Probe => self.on_probe(),
            Event::Switch(node) => {
                if let Some(control) = &mut self.control {
                    control.on_switch(&mut self.data, node);
                }
            }
            Event::Controller => {
                if let Some(control) = &mut self.control {
                    control.on_timer(&mut self.data, &self.flows);
                }
            }
        }
    }

    #[inline]
    fn on_link(&mut self, id: LinkId) {
        if let Some((packet, node)) = self.data.poll(id) {
            if rarely(self.data.looks_ahead) {
                self.data.look_ahead(&self.flows, id);
            }
            self.arrive(node, packet, id);
        }
    }

    /// A node looks at a packet that came over a link.
    #[inline]
    fn look_at(&mut self, node: NodeId, packet: PacketId, over: LinkId) {
        let Packet { destination, steering, .. } = *self.data.pool.get(packet);
        if destination != node {
            self.forward(node, packet, Some(over));
        } else if rarely(steering == Steering::Channel) {
            self.on_channel_end(node, packet, over);
        } else {
            self.deliver(packet);
        }
    }

    /// Sends a packet on from a node, which had it over a link or made it itself.
    #[inline]
    fn forward(&mut self, node: NodeId, id: PacketId, over: Option<LinkId>) {
        if self.data.pool.get(id).steering == Steering::FlowTables {
            self.forward_by_table(node, id, over);
        } else {
            self.data.forward(&self.flows, node, id);
        }
    }

    /// Apart from the path of networks without a controller, which stays small.
    #[inline(never)]
    fn forward_by_table(&mut self, node: NodeId, id: PacketId, over: Option<LinkId>) {
        if let Some(control) = &mut self.control {
            control.forward(&mut self.data, &self.flows, node, id, over);
        }
    }

    /// A packet of the control plane has come to its end.
    #[inline(never)]
    fn on_channel_end(&mut self, node: NodeId, id: PacketId, over: LinkId) {
        if self.data.pool.is_corrupted(id) {
            // It came, whatever is in it: a probe counts the packets before it.
            self.data.taps.probes.arrived(id, over);
            self.data.taps.note_drop(id, &self.data.pool, DropCause::Corrupted);
            self.data.pool.remove(id);
            return;
        }
        let Some(control) = &mut self.control else { return };
        if let Some(flow) = control.on_channel_end(&mut self.data, &mut self.flows, node, id) {
            if let Some(sequences) = &mut self.sequences {
                sequences.control(self.data.now, flow);
            }
            self.flush_sender(flow);
        }
    }

    fn duration(&self) -> Span {
        self.data.now.since(Instant::ZERO)
    }
}
