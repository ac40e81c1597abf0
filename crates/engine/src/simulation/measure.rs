//! The tables at the end of a run, and the check that every packet is accounted for.

use super::Simulation;
use super::account::Account;
use super::columns::{mbps, milliseconds};
use super::data_plane::DataPlane;
use super::drops::{Carried, FlowDrops};
use super::flow::Flow;
use super::multipath_tables::check_stream;
use super::receiving::Receiving;
use crate::error::EngineError;
use crate::link::{LinkStats, SimulatedLink};
use crate::packet::{Direction, NO_FLOW, PacketId};
use crate::queues::DropCause;
use crate::records::{Column, Table};
use crate::reordering::{Reordering, Totals};
use crate::schedule::Schedule;
use crate::setup::Setup;
use anabranch_transport::Failure;
use anabranch_transport::tcp::SenderStats;
use anabranch_units::{FlowId, Instant, MaybeInstant, Span, jain_index};

impl Simulation {
    /// All tables but those of flows and links.
    pub(super) fn take_other_tables(&mut self) -> Vec<Table> {
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
        tables
    }

    /// What there is to say of the flows, which are gone then: of many they take most of the memory, and their table and that
    /// of links find it free.
    pub(super) fn take_accounts(&mut self) -> Vec<Account> {
        // Nothing is sent any more.
        self.data.forwarding.clear();
        self.data.schedule = Schedule::new(0, 0);
        std::mem::take(&mut self.flows).into_accounts(&self.setup)
    }

    /// The table of flows that are gone.
    pub(super) fn table_of(&self, accounts: Vec<Account>) -> Table {
        let mut table = self.flow_measures(&accounts, &self.held());
        drop(accounts);
        self.add_flow_names(&mut table);
        table
    }

    pub(super) fn flow_table(&self) -> Table {
        self.table_of(self.flows.accounts(&self.setup).collect())
    }

    /// What only the setup knows of the flows, in the place behind their ids.
    fn add_flow_names(&self, table: &mut Table) {
        let setup = &self.setup.flows;
        let mut names = Table::new(table.name);
        names.texts("name", setup.iter().map(|flow| &flow.name));
        names.texts("from", setup.iter().map(|flow| &self.data.network.node(flow.from).name));
        names.texts("to", setup.iter().map(|flow| &self.data.network.node(flow.to).name));
        let transports = &self.setup.transports;
        names.texts("transport", setup.iter().map(|flow| &transports[flow.transport].name));
        table.columns.splice(1..1, names.columns);
    }

    /// The table of flows without their names; `held` as [`Simulation::held`] has it.
    fn flow_measures(&self, flows: &[Account], held: &[(Carried, u64)]) -> Table {
        let mut table = Table::new("flows");
        table.integers("flow", 0..flows.len() as u64);
        // That of a flow that waits for others is not known yet.
        let start = |flow: &Account| match flow.start {
            Instant::MAX => f64::NAN,
            start => start.as_secs_f64(),
        };
        table.numbers("start_s", flows.iter().map(start));
        self.add_progress(&mut table, flows);
        add_sender(&mut table, flows);
        add_rtt(&mut table, flows);
        add_reordering(&mut table, flows);
        self.add_drops(&mut table, flows, held);
        table
    }

    fn add_progress(&self, table: &mut Table, flows: &[Account]) {
        let now = self.data.now;
        let mut add = |name, at: fn(&Account) -> MaybeInstant| {
            table.numbers(name, flows.iter().map(|flow| since_start(flow, at(flow))));
        };
        add("handshake_s", |flow| flow.established_at);
        add("setup_s", |flow| flow.first_data_at);
        add("fin_s", |flow| flow.fin_at);
        let failure = |(flow, drops): (&Account, FlowDrops)| why_given_up(flow, &drops);
        let drops = self.data.taps.drops.of(0..flows.len());
        table.texts("failure", flows.iter().zip(drops).map(failure));
        table.numbers("completion_s", flows.iter().map(|flow| since_start(flow, flow.completed_at)));
        table.numbers("completion_more_than_s", flows.iter().map(|flow| unfinished_for(flow, now)));
        table.integers("delivered_bytes", flows.iter().map(|flow| flow.delivered));
        table.numbers("goodput_mbps", flows.iter().map(|flow| mbps(flow.delivered, flow.active(now))));
    }

    /// Over the goodputs of the flows that opened. `None` if none got anything.
    pub(super) fn jain_index(&self, flows: &[Account]) -> Option<f64> {
        let opened = flows.iter().filter(|flow| flow.opened);
        jain_index(opened.map(|flow| mbps(flow.delivered, flow.active(self.data.now))))
    }

    /// What all flows delivered, those of datagrams included, over the time of the run: not the sum of their goodputs,
    /// since short flows have theirs one after another. `None` if no time has passed.
    pub(super) fn delivered_mbps(&self, flows: &[Account]) -> Option<f64> {
        let payload: u64 = flows.iter().map(|flow| flow.delivered).sum();
        let packets = self.data.datagrams.iter();
        let delivered =
            payload + packets.map(|flow| flow.received() * u64::from(flow.setup.packet_bytes)).sum::<u64>();
        Some(mbps(delivered, self.duration())).filter(|rate| rate.is_finite())
    }

    /// Packets with data, and of pings and UDP, that were lost.
    pub(super) fn packets_lost(&self) -> u64 {
        let (drops, flows) = (&self.data.taps.drops, self.flows.len());
        let of_flows = drops.of(0..flows).map(|drops| drops.forward.data);
        let of_datagrams = drops.of(flows..drops.len()).map(|drops| drops.all());
        of_flows.chain(of_datagrams).sum()
    }

    fn add_drops(&self, table: &mut Table, flows: &[Account], held: &[(Carried, u64)]) {
        // Behind the flows with a connection are those of datagrams.
        let drops = || self.data.taps.drops.of(0..flows.len());
        table.integers("ecn_marks", flows.iter().map(|flow| flow.marked_segments));
        let mut count = |name, value: fn(&FlowDrops) -> u64| {
            table.integers(name, drops().map(|drops| value(&drops)));
        };
        count("duplicated_packets", |drops| drops.copies.data);
        count("drops_data", |drops| drops.forward.data);
        count("drops_without_data", |drops| drops.forward.bare);
        count("drops_acks", |drops| drops.backward);
        for &cause in DropCause::ALL {
            table.integers(cause.column(), drops().map(|drops| drops.causes.of(cause)));
        }
        table.integers("drops_control", drops().map(|drops| drops.control));
        table.integers("packets_in_flight", held[..flows.len()].iter().map(|(forward, _)| forward.data));
    }

    pub(super) fn link_table(&self) -> Table {
        let mut table = Table::new("links");
        let links = self.data.network.links();
        table.integers("link", 0..links.len() as u64);
        table.texts("name", self.setup.links.iter().map(|link| &*link.name));
        table.texts("from", links.iter().map(|link| &self.data.network.node(link.from).name));
        table.texts("to", links.iter().map(|link| &self.data.network.node(link.to).name));
        table.numbers("capacity_mbps", links.iter().map(|link| link.capacity.as_bps() as f64 / 1e6));
        table.numbers("delay_ms", links.iter().map(|link| link.delay.as_secs_f64() * 1e3));
        table.columns.extend(self.link_counts());
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

    /// What each link has counted. The columns grow together: each link is looked at once, because many are far apart in memory.
    fn link_counts(&self) -> impl Iterator<Item = (&'static str, Column)> {
        type Count = (&'static str, fn(&LinkStats) -> u64);
        const BEFORE: &[Count] = &[("packets", |stats| stats.sent), ("bytes", |stats| stats.sent_bytes)];
        const BEHIND: &[Count] = &[
            ("duplicated_packets", |stats| stats.duplicated),
            ("corrupted_packets", |stats| stats.corrupted),
            ("reordered_packets", |stats| stats.reordered),
            ("ecn_marks", |stats| stats.marks),
            ("trims", |stats| stats.trims),
            ("queue_max_packets", |stats| stats.queue_max_packets),
        ];
        let causes: Vec<DropCause> = DropCause::on_links().collect();
        let names = BEFORE.iter().map(|&(name, _)| name);
        let names = names.chain(causes.iter().map(|cause| cause.column()));
        let names: Vec<&str> = names.chain(BEHIND.iter().map(|&(name, _)| name)).collect();
        let room = || Vec::with_capacity(self.data.links.len());
        let mut columns: Vec<Vec<u64>> = names.iter().map(|_| room()).collect();
        for link in &self.data.links {
            let stats = link.stats();
            let before = BEFORE.iter().map(|(_, value)| value(&stats));
            let counts = before.chain(causes.iter().map(|&cause| stats.drops.of(cause)));
            let counts = counts.chain(BEHIND.iter().map(|(_, value)| value(&stats)));
            for (column, count) in columns.iter_mut().zip(counts) {
                column.push(count);
            }
        }
        names.into_iter().zip(columns.into_iter().map(Column::Integers))
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

    /// Of those that have gone everything was accounted for when they went.
    fn check_flows(&self) -> Result<(), EngineError> {
        let held = self.held();
        for (id, flow, receiving) in self.flows.iter_ends() {
            let index = id.index();
            check_flow(&self.setup, (id, flow, receiving), (&self.data.taps.drops.at(index), &held[index]))?;
        }
        self.check_datagrams(&held[self.flows.len()..])
    }
}

/// Whether every packet of a flow is accounted for, and each byte of a multipath stream delivered once.
pub(super) fn check_flow(
    setup: &Setup,
    (id, flow, receiving): (FlowId, &Flow, &Receiving),
    (drops, held): (&FlowDrops, &(Carried, u64)),
) -> Result<(), EngineError> {
    let problem = match unbalanced((flow, receiving), drops, held) {
        Some(books) => Err(books),
        None => check_stream(flow, receiving),
    };
    problem.map_err(|problem| {
        EngineError::Conservation(format!("flow {}: {problem}", setup.flows[id.index()].name))
    })
}

/// What of the packets of a flow is not accounted for, `held` being under way there and back. Its ends may be in different
/// parts of a run: the one that sends comes first.
pub(super) fn unbalanced(
    (flow, receiving): (&Flow, &Receiving),
    drops: &FlowDrops,
    &(forward, backward): &(Carried, u64),
) -> Option<String> {
    let data_sent: u64 = flow.forward.lanes.iter().map(|lane| u64::from(lane.data_packets)).sum();
    let copies = drops.copies;
    let reordering = Reordering::sum(receiving.reordering.iter());
    let data_received = reordering.received() + reordering.repeats();
    let on_the_way = drops.forward.data + drops.forward.bare + forward.data + forward.bare;
    let books = [
        ("sent", flow.forward.injected + copies.data + copies.bare, receiving.received + on_the_way),
        (
            "sent with data",
            data_sent + copies.data,
            data_received + drops.forward.data + forward.data + drops.trims,
        ),
        (
            "answered",
            receiving.backward.injected + drops.copies_back,
            flow.answered + drops.backward + backward,
        ),
    ];
    let (what, sent, accounted) = books.into_iter().find(|&(_, sent, counted)| sent != counted)?;
    Some(format!("{what} {sent}, accounted for {accounted}"))
}

fn since_start(flow: &Account, at: MaybeInstant) -> f64 {
    at.get().map_or(f64::NAN, |at| at.saturating_since(flow.start).as_secs_f64())
}

/// How long a flow that can complete has gone on without: its completion time is more than that. Not a number where
/// it is done, its stream has no end, or it was not to begin before now.
fn unfinished_for(flow: &Account, now: Instant) -> f64 {
    let is_unfinished = flow.ends && !flow.completed_at.is_some() && flow.start < now;
    if is_unfinished { now.since(flow.start).as_secs_f64() } else { f64::NAN }
}

/// Why a flow was given up; empty if it was not.
fn why_given_up(flow: &Account, drops: &FlowDrops) -> String {
    match flow.failure {
        None => return String::new(),
        Some(Failure::AddressLost) => {
            return "its address went away before a second subflow could join".into();
        }
        Some(Failure::Refused) => return "the other host refused it by an RST".into(),
        Some(Failure::Reset) => return "the other host ended it by an RST".into(),
        Some(Failure::NoAnswer) => {}
    }
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

fn add_sender(table: &mut Table, flows: &[Account]) {
    let mut count = |name, value: fn(&SenderStats) -> u64| {
        table.integers(name, flows.iter().map(|flow| value(&flow.sent)));
    };
    count("segments_sent", |stats| stats.segments);
    count("retransmissions", |stats| stats.retransmissions);
    count("timeouts", |stats| stats.timeouts);
    count("fast_recoveries", |stats| stats.fast_recoveries);
    count("undone_recoveries", |stats| stats.undone_recoveries);
    count("tail_loss_probes", |stats| stats.tail_loss_probes);
    count("ecn_reductions", |stats| stats.ecn_reductions);
    // What came again because a link had duplicated it, nobody sent again.
    let spurious = |flow: &Account| flow.duplicate_segments.saturating_sub(flow.reordering.repeats());
    table.integers("spurious_retransmissions", flows.iter().map(spurious));
}

fn add_rtt(table: &mut Table, flows: &[Account]) {
    let mut add = |name, value: fn(&Account) -> Span| {
        table.numbers(name, flows.iter().map(|flow| milliseconds(value(flow))));
    };
    add("rtt_min_ms", |flow| flow.smallest_rtt);
    add("rtt_mean_ms", |flow| flow.mean_rtt);
    add("rtt_max_ms", |flow| flow.largest_rtt);
}

fn add_reordering(table: &mut Table, flows: &[Account]) {
    let mut count = |name, value: fn(&Totals) -> u64| {
        table.integers(name, flows.iter().map(|flow| value(&flow.reordering)));
    };
    count("packets_received", Totals::received);
    count("reordered_packets", Totals::reordered);
    let totals = || flows.iter().map(|flow| &flow.reordering);
    table.numbers("reordering_ratio", totals().map(Totals::ratio));
    table.numbers("reordering_extent_mean", totals().map(Totals::mean_extent));
    table.integers("reordering_extent_max", totals().map(Totals::max_extent));
    table.integers("duplicates_received", totals().map(Totals::repeats));
}
