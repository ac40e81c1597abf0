//! A run: the event loop and everything that happens in it.
//!
//! Event sources are numbered by class, and at one instant the lower number goes first: changes of
//! the network, new routes, arrivals by link, timers of senders, timers of receivers, applications,
//! and last the probe, which so sees the instant complete.

mod application;
mod changes;
mod control;
mod flow;
mod hosts;
mod log;
mod measure;
mod multipath;
mod probe;
mod sequences;
mod taps;

use crate::error::EngineError;
use crate::forwarding::Forwarding;
use crate::link::{DropCause, Link, LinkObserver};
use crate::packet::{Packet, PacketId, PacketPool};
use crate::records::Table;
use crate::schedule::{Schedule, Source};
use crate::setup::Setup;
use anabranch_network::Network;
use anabranch_routing::{LinkMask, Mirror, Plan};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use changes::Reactions;
use control::{BY_FLOW_TABLE, Control};
use flow::{Flow, Maker};
use probe::Probe;
use sequences::Sequences;
use std::ops::ControlFlow;
use std::sync::Arc;
use taps::Taps;

/// Events between two calls of the progress callback.
const EVENTS_PER_REPORT: u64 = 1 << 16;

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
    /// Where the run ended: its duration, or earlier if it was stopped.
    pub ended: Instant,
    /// Whether it was stopped.
    pub interrupted: bool,
    /// Packet hops and events.
    pub progress: Progress,
    /// Jain's fairness index of the goodputs of all flows that opened; `None` without such a flow.
    pub jain_index: Option<f64>,
}

/// Numbers of the event sources.
#[derive(Clone, Copy, Debug)]
struct Numbering {
    links: u32,
    flows: u32,
    /// Sources of the control plane: the switches, by node, and the controller.
    control: u32,
}

impl Numbering {
    const CHANGES: Source = Source(0);
    const ROUTES: Source = Source(1);
    const FIRST_LINK: u32 = 2;

    fn link(self, link: LinkId) -> Source {
        Source(Self::FIRST_LINK + link.0)
    }

    fn sender(self, flow: FlowId) -> Source {
        Source(Self::FIRST_LINK + self.links + flow.0)
    }

    fn receiver(self, flow: FlowId) -> Source {
        Source(Self::FIRST_LINK + self.links + self.flows + flow.0)
    }

    fn application(self, flow: FlowId) -> Source {
        Source(Self::FIRST_LINK + self.links + 2 * self.flows + flow.0)
    }

    fn switch(self, node: NodeId) -> Source {
        Source(Self::FIRST_LINK + self.links + 3 * self.flows + node.0)
    }

    fn controller(self) -> Source {
        Source(Self::FIRST_LINK + self.links + 3 * self.flows + self.control - 1)
    }

    fn probe(self) -> Source {
        Source(Self::FIRST_LINK + self.links + 3 * self.flows + self.control)
    }

    fn count(self) -> usize {
        self.probe().0 as usize + 1
    }
}

/// A run in progress.
pub struct Simulation {
    setup: Arc<Setup>,
    network: Network,
    plan: Arc<Plan>,
    now: Instant,
    end: Instant,
    schedule: Schedule,
    numbering: Numbering,
    pool: PacketPool,
    links: Vec<Link>,
    forwarding: Forwarding,
    flows: Vec<Flow>,
    taps: Taps,
    mask: LinkMask,
    next_change: usize,
    reactions: Reactions,
    probe: Probe,
    sequences: Sequences,
    watches_sequences: bool,
    control: Option<Box<Control>>,
    events_log: changes::Log,
    packet_hops: u64,
    events: u64,
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
        let numbering = Numbering {
            links: setup.links.len() as u32,
            flows: setup.flows.len() as u32,
            control: Numbering::controller_sources(&setup),
        };
        let streams = setup.streams();
        let ends = setup.flows.iter().flat_map(|flow| [(flow.from, flow.to), (flow.to, flow.from)]);
        let mut forwarding =
            Forwarding::new(setup.routing.load_balancing, streams, setup.nodes.len(), ends.clone());
        let mirror = Mirror::new(&network);
        let maker = Maker { setup: &setup, network: &network, plan: &plan, mirror, streams };
        let mut flows = maker.flows(&mut forwarding)?;
        log::begin(&setup, &mut flows);
        forwarding.install(&network, &plan);
        let links = setup.links.iter().map(|link| hosts::link(link, streams)).collect::<Result<_, _>>()?;
        let taps = Taps::new(&setup, &flows)?;
        let mut simulation = Self {
            now: Instant::ZERO,
            end: Instant::ZERO + setup.duration,
            schedule: Schedule::new(numbering.count()),
            numbering,
            pool: PacketPool::default(),
            links,
            forwarding,
            flows,
            taps,
            mask: LinkMask::all_up(&network),
            next_change: 0,
            reactions: Reactions::default(),
            probe: Probe::new(&setup),
            watches_sequences: !setup.probes.sequences.is_empty(),
            sequences: Sequences::new(&setup),
            control: Control::new(&setup, &network).map(Box::new),
            events_log: changes::Log::default(),
            packet_hops: 0,
            events: 0,
            network,
            plan,
            setup,
        };
        simulation.schedule_first();
        Ok(simulation)
    }

    fn schedule_first(&mut self) {
        if let Some(first) = self.setup.events.first() {
            self.schedule.set(Numbering::CHANGES, first.at);
        }
        for (index, flow) in self.flows.iter().enumerate() {
            let source = self.numbering.application(FlowId::from_index(index));
            self.schedule.put(source, flow.next_application_event());
        }
        if let Some(next) = self.control.as_ref().and_then(|control| control.next_timer()) {
            self.schedule.set(self.numbering.controller(), next);
        }
        if let Some(interval) = self.setup.probes.interval {
            self.schedule.set(self.numbering.probe(), Instant::ZERO + interval);
        }
    }

    /// Runs to the end, or until `report` breaks; then checks conservation and gives the tables.
    ///
    /// # Errors
    /// If a capture file cannot be written, or the books do not balance, which is a bug.
    pub fn run(
        mut self,
        mut report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Outcome, EngineError> {
        let mut interrupted = false;
        let mut until_report = EVENTS_PER_REPORT;
        while let Some((at, source)) = self.schedule.first() {
            if at > self.end {
                break;
            }
            self.now = at;
            self.handle(source);
            until_report -= 1;
            if until_report == 0 {
                until_report = EVENTS_PER_REPORT;
                self.events += EVENTS_PER_REPORT;
                self.taps.check()?;
                if report(self.progress()).is_break() {
                    interrupted = true;
                    break;
                }
            }
        }
        self.events += EVENTS_PER_REPORT - until_report;
        if !interrupted {
            self.now = self.end;
        }
        self.finish(interrupted)
    }

    fn progress(&self) -> Progress {
        Progress { now: self.now, packet_hops: self.packet_hops, events: self.events }
    }

    fn finish(mut self, interrupted: bool) -> Result<Outcome, EngineError> {
        let now = self.now;
        for (index, link) in self.links.iter_mut().enumerate() {
            let mut observer = self.taps.at(LinkId::from_index(index));
            link.settle(now, &mut self.pool, &mut observer);
        }
        self.check_conservation()?;
        let mut tables = self.tables();
        tables.extend(self.log_table());
        let (progress, jain_index) = (self.progress(), self.jain_index());
        self.taps.finish()?;
        Ok(Outcome { tables, ended: now, interrupted, progress, jain_index })
    }

    #[inline]
    fn handle(&mut self, source: Source) {
        let Numbering { links, flows, control } = self.numbering;
        let Some(number) = source.0.checked_sub(Numbering::FIRST_LINK) else {
            if source == Numbering::CHANGES {
                self.on_changes()
            } else {
                self.on_routes()
            }
            return;
        };
        if number < links {
            self.on_link(LinkId(number));
            return;
        }
        let number = number - links;
        match number.checked_div(flows) {
            Some(0) => self.on_sender_timer(FlowId(number)),
            Some(1) => self.on_receiver_timer(FlowId(number - flows)),
            Some(2) => self.on_application(FlowId(number - 2 * flows)),
            _ => {
                let number = number - 3 * flows;
                if number == control {
                    self.on_probe();
                } else if number + 1 == control {
                    self.on_controller();
                } else {
                    self.on_switch(NodeId(number));
                }
            }
        }
    }

    #[inline]
    fn on_link(&mut self, id: LinkId) {
        let link = &mut self.links[id.index()];
        let packet = link.poll(self.now, &mut self.pool, &mut self.taps.at(id));
        self.schedule.put(self.numbering.link(id), link.next_event());
        if let Some(packet) = packet {
            self.packet_hops += 1;
            let node = self.network.link(id).to;
            let Packet { destination, channel, .. } = *self.pool.get(packet);
            if destination != node {
                self.forward(node, packet, Some(id));
            } else if channel {
                self.on_channel_end(node, packet);
            } else {
                self.deliver(packet);
            }
        }
    }

    /// Sends a packet on from a node, which had it over a link or made it itself.
    #[inline]
    fn forward(&mut self, node: NodeId, id: PacketId, over: Option<LinkId>) {
        let packet = self.pool.get_mut(id);
        if packet.cursor == BY_FLOW_TABLE {
            self.forward_by_table(node, id, over);
            return;
        }
        let flows = &self.flows;
        let key = |packet: &Packet| flows[packet.flow.index()].lane(packet.direction, packet.subflow).key;
        let link = if packet.hops_left == 0 {
            None
        } else {
            packet.hops_left -= 1;
            self.forwarding.next_link(self.now, node, packet, key)
        };
        let Some(link) = link else {
            self.taps.at(LinkId(0)).dropped(id, &self.pool, DropCause::Unreachable);
            self.pool.remove(id);
            return;
        };
        let mut observer = self.taps.at(link);
        if self.links[link.index()].offer(self.now, id, &mut self.pool, &mut observer) {
            let next = self.links[link.index()].next_event();
            self.schedule.put(self.numbering.link(link), next);
        }
    }

    /// Sets a timer's event unless an earlier one is pending, which will set it anew.
    #[inline]
    fn set_timer(&mut self, source: Source, next: Option<Instant>) {
        if let Some(next) = next
            && self.schedule.due(source).is_none_or(|due| next < due)
        {
            self.schedule.set(source, next.max(self.now));
        }
    }

    fn duration(&self) -> Span {
        self.now.since(Instant::ZERO)
    }
}
