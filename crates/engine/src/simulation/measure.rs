//! The tables at the end of a run, and the check that every packet is accounted for.

use super::Simulation;
use super::columns::{mbps, milliseconds};
use super::data_plane::DataPlane;
use super::flow::Flow;
use super::multipath_tables::check_stream;
use super::taps::{Carried, FlowDrops};
use crate::error::EngineError;
use crate::link::{LinkStats, SimulatedLink};
use crate::packet::{Direction, NO_FLOW, PacketId};
use crate::queues::DropCause;
use crate::records::Table;
use crate::reordering::Reordering;
use crate::schedule::Schedule;
use anabranch_transport::Failure;
use anabranch_transport::tcp::SenderStats;
use anabranch_units::{Instant, Span, jain_index};

/// So many flows are measured, and gone, at once.
const FLOWS_AT_ONCE: usize = 8192;

impl Simulation {
    /// The tables of the run up to now, after which the flows are gone: they and names or the table of links, which of
    /// many flows are what takes most memory, are not there together.
    pub(super) fn take_tables(&mut self) -> Vec<Table> {
        let mut tables = self.multipath_tables();
        tables.extend(self.datagram_tables());
        tables.extend(self.spray_tables());
        tables.extend(self.collective_tables());
        tables.extend(self.probe.tables());
        tables.push(self.changes.table());
        if let Some(sequences) = &self.sequences {
            tables.push(sequences.table(&self.flows));
        }
        if let Some(control) = &self.control {
            tables.extend(control.tables(&self.data.network, self.data.taps.control_drops));
        }
        tables.extend(self.log_table());
        // Nothing is sent any more.
        self.data.forwarding.clear();
        self.data.schedule = Schedule::new(0, 0);
        let mut flows = self.take_flow_measures();
        self.add_flow_names(&mut flows);
        tables.splice(0..0, [flows, self.link_table()]);
        tables
    }

    /// What was measured of the flows, which go meanwhile, the last ones first: their columns take the room of those that
    /// are gone.
    fn take_flow_measures(&mut self) -> Table {
        let (held, mut parts) = (self.held(), Vec::new());
        while parts.is_empty() || !self.flows.is_empty() {
            let first = self.flows.len().saturating_sub(FLOWS_AT_ONCE);
            parts.push(self.flow_measures(first, &held));
            self.flows.truncate(first);
            self.flows.shrink_to_fit();
        }
        let later = parts.split_off(1);
        let mut parts = later.into_iter().rev().chain(parts);
        let mut table = parts.next().expect("there is one part, if of no flow");
        parts.for_each(|part| table.append(part));
        table
    }

    pub(super) fn flow_table(&self) -> Table {
        let mut table = self.flow_measures(0, &self.held());
        self.add_flow_names(&mut table);
        table
    }

    /// What only the setup knows of the flows, in the place behind their ids.
    fn add_flow_names(&self, table: &mut Table) {
        let setup = &self.setup.flows;
        let mut names = Table::new(table.name);
        names.texts("name", setup.iter().map(|flow| flow.name.clone()));
        names.texts("from", setup.iter().map(|flow| self.data.network.node(flow.from).name.clone()));
        names.texts("to", setup.iter().map(|flow| self.data.network.node(flow.to).name.clone()));
        let transports = &self.setup.transports;
        names.texts("transport", setup.iter().map(|flow| transports[flow.transport].name.clone()));
        table.columns.splice(1..1, names.columns);
    }

    /// The table of flows from a first one on, without their names; `held` as [`Simulation::held`] has it.
    fn flow_measures(&self, first: usize, held: &[(Carried, u64)]) -> Table {
        let (flows, mut table) = (&self.flows[first..], Table::new("flows"));
        table.integers("flow", first as u64..self.flows.len() as u64);
        // That of a flow that waits for others is not known yet.
        let start = |flow: &Flow| match flow.application.start {
            Instant::MAX => f64::NAN,
            start => start.as_secs_f64(),
        };
        table.numbers("start_s", flows.iter().map(start));
        self.add_progress(&mut table, first);
        add_sender(&mut table, flows);
        add_rtt(&mut table, flows);
        add_reordering(&mut table, flows);
        self.add_drops(&mut table, first, held);
        table
    }

    /// From the opening (the SYN) to the arrival of the last byte, or to now.
    pub(super) fn active(&self, flow: &Flow) -> Span {
        flow.completed_at.get().unwrap_or(self.data.now).saturating_since(flow.application.start)
    }

    fn add_progress(&self, table: &mut Table, first: usize) {
        let flows = &self.flows[first..];
        let since_start = |flow: &Flow, at: Option<Instant>| {
            at.map_or(f64::NAN, |at| at.saturating_since(flow.application.start).as_secs_f64())
        };
        let established = flows.iter().map(|flow| since_start(flow, flow.sender.established_at()));
        table.numbers("handshake_s", established);
        let first_data = flows.iter().map(|flow| since_start(flow, flow.first_data_at.get()));
        table.numbers("setup_s", first_data);
        table.numbers("fin_s", flows.iter().map(|flow| since_start(flow, flow.fin_at.get())));
        table.texts("failure", (first..self.flows.len()).map(|index| self.failure(index)));
        table.numbers("completion_s", flows.iter().map(|flow| since_start(flow, flow.completed_at.get())));
        table.numbers("completion_more_than_s", flows.iter().map(|flow| self.unfinished_for(flow)));
        table.integers("delivered_bytes", flows.iter().map(|flow| flow.receiver.stats().delivered));
        let goodput = flows.iter().map(|flow| mbps(flow.receiver.stats().delivered, self.active(flow)));
        table.numbers("goodput_mbps", goodput);
    }

    /// How long a flow that can complete has gone on without: its completion time is more than that. Not a number where
    /// it is done, its stream has no end, or it was not to begin before now.
    fn unfinished_for(&self, flow: &Flow) -> f64 {
        let (start, now) = (flow.application.start, self.data.now);
        let is_unfinished = flow.application.ends() && !flow.completed_at.is_some() && start < now;
        if is_unfinished { now.since(start).as_secs_f64() } else { f64::NAN }
    }

    /// Why a flow was given up; empty if it was not.
    fn failure(&self, index: usize) -> String {
        match self.flows[index].sender.failure() {
            None => return String::new(),
            Some(Failure::AddressLost) => {
                return "its address went away before a second subflow could join".into();
            }
            Some(Failure::Refused) => return "the other host refused it by an RST".into(),
            Some(Failure::Reset) => return "the other host ended it by an RST".into(),
            Some(Failure::NoAnswer) => {}
        }
        let drops = &self.data.taps.drops[index];
        let reason = if drops.control > 0 {
            "the controller could not be reached"
        } else if drops.causes.of(DropCause::Unreachable) > 0 {
            "there was no route"
        } else if drops.causes.of(DropCause::Down) > 0 {
            "a link was down"
        } else if drops.causes.total() > 0 {
            "every SYN or its answer was lost"
        } else {
            "no answer came in time"
        };
        format!("the handshake was given up: {reason}")
    }

    /// Over the goodputs of the flows that opened. `None` if none got anything.
    pub(super) fn jain_index(&self) -> Option<f64> {
        let opened = self.flows.iter().filter(|flow| flow.application.opened());
        jain_index(opened.map(|flow| mbps(flow.receiver.stats().delivered, self.active(flow))))
    }

    /// What all flows delivered, those of datagrams included, over the time of the run: not the sum of their goodputs,
    /// since short flows have theirs one after another. `None` if no time has passed.
    pub(super) fn delivered_mbps(&self) -> Option<f64> {
        let payload: u64 = self.flows.iter().map(|flow| flow.receiver.stats().delivered).sum();
        let packets = self.data.datagrams.iter();
        let delivered =
            payload + packets.map(|flow| flow.received() * u64::from(flow.setup.packet_bytes)).sum::<u64>();
        Some(mbps(delivered, self.duration())).filter(|rate| rate.is_finite())
    }

    /// Packets with data, and of pings and UDP, that were lost.
    pub(super) fn packets_lost(&self) -> u64 {
        let (flows, datagrams) = self.data.taps.drops.split_at(self.flows.len());
        let of_flows = flows.iter().map(|drops| drops.forward.data);
        let of_datagrams = datagrams.iter().map(FlowDrops::all);
        of_flows.chain(of_datagrams).sum()
    }

    fn add_drops(&self, table: &mut Table, first: usize, held: &[(Carried, u64)]) {
        let flows = first..self.flows.len();
        // Behind the flows with a connection are those of datagrams.
        let drops = &self.data.taps.drops[flows.clone()];
        let marks = self.flows[first..].iter().map(|flow| flow.receiver.stats().marked_segments);
        table.integers("ecn_marks", marks);
        let mut count = |name, value: fn(&FlowDrops) -> u64| {
            table.integers(name, drops.iter().map(value));
        };
        count("duplicated_packets", |drops| drops.copies.data);
        count("drops_data", |drops| drops.forward.data);
        count("drops_without_data", |drops| drops.forward.bare);
        count("drops_acks", |drops| drops.backward);
        for &cause in DropCause::ALL {
            table.integers(cause.column(), drops.iter().map(|drops| drops.causes.of(cause)));
        }
        table.integers("drops_control", drops.iter().map(|drops| drops.control));
        table.integers("packets_in_flight", held[flows].iter().map(|(forward, _)| forward.data));
    }

    pub(super) fn link_table(&self) -> Table {
        let mut table = Table::new("links");
        let links = self.data.network.links();
        table.integers("link", 0..links.len() as u64);
        table.texts("name", self.setup.links.iter().map(|link| link.name.to_string()));
        table.texts("from", links.iter().map(|link| self.data.network.node(link.from).name.clone()));
        table.texts("to", links.iter().map(|link| self.data.network.node(link.to).name.clone()));
        table.numbers("capacity_mbps", links.iter().map(|link| link.capacity.as_bps() as f64 / 1e6));
        table.numbers("delay_ms", links.iter().map(|link| link.delay.as_secs_f64() * 1e3));
        let mut count = |name, value: fn(&LinkStats) -> u64| {
            table.integers(name, self.data.links.iter().map(|link| value(&link.stats())));
        };
        count("packets", |stats| stats.sent);
        count("bytes", |stats| stats.sent_bytes);
        for cause in DropCause::on_links() {
            let drops = self.data.links.iter().map(|link| link.stats().drops.of(cause));
            table.integers(cause.column(), drops);
        }
        let mut count = |name, value: fn(&LinkStats) -> u64| {
            table.integers(name, self.data.links.iter().map(|link| value(&link.stats())));
        };
        count("duplicated_packets", |stats| stats.duplicated);
        count("corrupted_packets", |stats| stats.corrupted);
        count("reordered_packets", |stats| stats.reordered);
        count("ecn_marks", |stats| stats.marks);
        count("trims", |stats| stats.trims);
        count("queue_max_packets", |stats| stats.queue_max_packets);
        let duration_ps = self.duration().as_ps().max(1) as f64;
        let integrals = self.queue_integrals();
        table.numbers(
            "queue_mean_packets",
            integrals.into_iter().map(|integral| integral as f64 / duration_ps),
        );
        let busy = |link: &SimulatedLink| link.busy(self.data.now).as_ps() as f64 / duration_ps;
        table.numbers("utilization", self.data.links.iter().map(busy));
        table
    }

    /// Sent and duplicated = delivered + dropped + queued + in flight, for each link and each flow's directions; and each byte
    /// of a multipath stream delivered once.
    pub(super) fn check_conservation(&self) -> Result<(), EngineError> {
        let mut in_network = 0;
        for (index, link) in self.data.links.iter().enumerate() {
            let stats = link.stats();
            let held = link.backlog().0 + link.in_flight();
            in_network += held;
            let (given, accounted) =
                (stats.offered + stats.duplicated, stats.delivered + stats.drops.total() + held);
            if given != accounted {
                let name = &self.setup.links[index].name;
                let books = format!("link {name}: offered or duplicated {given}, accounted for {accounted}");
                return Err(EngineError::Conservation(books));
            }
        }
        in_network += self.kept_count();
        let live = self.joined.as_ref().map_or(self.data.pool.live(), |joined| joined.live);
        if in_network != live as u64 {
            let books = format!("{in_network} packets on links, {live} in the pool");
            return Err(EngineError::Conservation(books));
        }
        self.check_flows()
    }

    /// How many packets switches, the controller and nodes that take their time keep.
    pub(super) fn kept_count(&self) -> u64 {
        self.joined.as_ref().map_or_else(|| self.kept().count() as u64, |joined| joined.kept)
    }

    fn kept(&self) -> impl Iterator<Item = PacketId> {
        let waiting = self.processing.iter().flat_map(|all| all.packets());
        self.control.iter().flat_map(|control| control.kept()).chain(waiting)
    }

    /// What is under way of each flow: segments to the receiver, and those to the sender.
    pub(super) fn held(&self) -> Vec<(Carried, u64)> {
        if let Some(joined) = &self.joined {
            return joined.held.clone();
        }
        let passing = self.data.passage.as_ref().map_or(0, |passage| passage.passing());
        let mut held = vec![(Carried::default(), 0); self.data.taps.drops.len() + passing];
        let pool = &self.data.pool;
        for id in self.data.links.iter().flat_map(|link| link.packets(pool)).chain(self.kept()) {
            let packet = self.data.pool.get(id);
            if packet.flow != NO_FLOW {
                let (forward, backward) = &mut held[packet.flow.index()];
                match packet.direction {
                    Direction::Forward => forward.count(id, &self.data.pool),
                    Direction::Backward => *backward += self.data.pool.segment_count(id),
                }
            }
        }
        held
    }

    /// The queue integral of each link ([`SimulatedLink::queue_integral`]).
    pub(super) fn queue_integrals(&self) -> Vec<u128> {
        match &self.joined {
            Some(joined) => joined.queue_integrals.clone(),
            None => {
                let DataPlane { links, pool, now, .. } = &self.data;
                links.iter().map(|link| link.queue_integral(*now, pool)).collect()
            }
        }
    }

    fn check_flows(&self) -> Result<(), EngineError> {
        let held = self.held();
        for (index, flow) in self.flows.iter().enumerate() {
            let (drops, (forward, backward)) = (&self.data.taps.drops[index], held[index]);
            let data_sent: u64 = flow.forward.lanes.iter().map(|lane| u64::from(lane.data_packets)).sum();
            let copies = drops.copies;
            let reordering = Reordering::sum(flow.reordering.iter());
            let data_received = reordering.received() + reordering.repeats();
            let on_the_way = drops.forward.data + drops.forward.bare + forward.data + forward.bare;
            let books = [
                ("sent", flow.forward.injected + copies.data + copies.bare, flow.received + on_the_way),
                (
                    "sent with data",
                    data_sent + copies.data,
                    data_received + drops.forward.data + forward.data + drops.trims,
                ),
                (
                    "answered",
                    flow.backward.injected + drops.copies_back,
                    flow.answered + drops.backward + backward,
                ),
            ];
            if let Some((what, sent, accounted)) =
                books.into_iter().find(|&(_, sent, counted)| sent != counted)
            {
                let name = &self.setup.flows[index].name;
                let books = format!("flow {name}: {what} {sent}, accounted for {accounted}");
                return Err(EngineError::Conservation(books));
            }
            check_stream(flow).map_err(|problem| {
                EngineError::Conservation(format!("flow {}: {problem}", self.setup.flows[index].name))
            })?;
        }
        self.check_datagrams(&held[self.flows.len()..])
    }
}

fn add_sender(table: &mut Table, flows: &[Flow]) {
    let mut count = |name, value: fn(&SenderStats) -> u64| {
        table.integers(name, flows.iter().map(|flow| value(&flow.sender.stats())));
    };
    count("segments_sent", |stats| stats.segments);
    count("retransmissions", |stats| stats.retransmissions);
    count("timeouts", |stats| stats.timeouts);
    count("fast_recoveries", |stats| stats.fast_recoveries);
    count("undone_recoveries", |stats| stats.undone_recoveries);
    count("tail_loss_probes", |stats| stats.tail_loss_probes);
    count("ecn_reductions", |stats| stats.ecn_reductions);
    // What came again because a link had duplicated it, nobody sent again.
    let repeats = |flow: &Flow| Reordering::sum(flow.reordering.iter()).repeats();
    let spurious = |flow: &Flow| flow.receiver.stats().duplicate_segments.saturating_sub(repeats(flow));
    table.integers("spurious_retransmissions", flows.iter().map(spurious));
}

fn add_rtt(table: &mut Table, flows: &[Flow]) {
    let mut add = |name, value: fn(&Flow) -> Span| {
        table.numbers(name, flows.iter().map(|flow| milliseconds(value(flow))));
    };
    add("rtt_min_ms", |flow| flow.sender.rtt().min);
    add("rtt_mean_ms", |flow| flow.sender.rtt().mean);
    add("rtt_max_ms", |flow| flow.sender.rtt().max);
}

fn add_reordering(table: &mut Table, flows: &[Flow]) {
    let all = || flows.iter().map(|flow| Reordering::sum(flow.reordering.iter()));
    table.integers("packets_received", all().map(|totals| totals.received()));
    table.integers("reordered_packets", all().map(|totals| totals.reordered()));
    table.numbers("reordering_ratio", all().map(|totals| totals.ratio()));
    table.numbers("reordering_extent_mean", all().map(|totals| totals.mean_extent()));
    table.integers("reordering_extent_max", all().map(|totals| totals.max_extent()));
    table.integers("duplicates_received", all().map(|totals| totals.repeats()));
}
