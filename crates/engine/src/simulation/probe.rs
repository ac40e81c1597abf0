//! Samples of flows and links at regular times.

use super::Simulation;
use super::columns::{mbps, milliseconds};
use super::data_plane::DataPlane;
use super::datagram_tables::DatagramSeries;
use super::drops::FlowDrops;
use super::flow::Flow;
use super::receiving::Receiving;
use super::share::Share;
use super::state::FlowState;
use crate::records::Table;
use crate::setup::Setup;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};

/// The series so far, and the counters at the last sample.
pub(super) struct Probe {
    pub(super) interval: Span,
    flows: Option<FlowSeries>,
    links: Option<LinkSeries>,
    pub(super) datagrams: Option<DatagramSeries>,
}

#[derive(Default)]
struct FlowSeries {
    rows: Vec<FlowRow>,
    delivered: Vec<u64>,
    done: Vec<bool>,
    /// Of multipath flows.
    subflow_rows: Vec<SubflowRow>,
    /// Bytes delivered on each subflow of each flow at the last sample.
    subflow_delivered: Vec<Vec<u64>>,
}

struct SubflowRow {
    time_s: f64,
    flow: u64,
    subflow: u64,
    throughput_mbps: f64,
    cwnd_bytes: u64,
    srtt_ms: f64,
    in_flight_bytes: u64,
    retransmissions: u64,
}

struct FlowRow {
    time_s: f64,
    flow: u64,
    goodput_mbps: f64,
    cwnd_bytes: u64,
    ssthresh_bytes: f64,
    srtt_ms: f64,
    rtt_ms: f64,
    in_flight_bytes: u64,
    retransmissions: u64,
}

#[derive(Default)]
struct LinkSeries {
    rows: Vec<LinkRow>,
    sent_bytes: Vec<u64>,
}

struct LinkRow {
    time_s: f64,
    link: u64,
    queue_packets: u64,
    queue_bytes: u64,
    throughput_mbps: f64,
    drops: u64,
}

impl Probe {
    /// Of a run that is not divided, or of all of its parts.
    pub(super) fn new(setup: &Setup, share: &Share<'_>) -> Self {
        let probes = &setup.probes;
        let interval = probes.interval.unwrap_or(Span::ZERO);
        let on = probes.interval.is_some() && share.part.is_none();
        let (flows, links) = (setup.flows.len(), setup.links.len());
        Self {
            interval,
            flows: (on && probes.flows).then(|| FlowSeries {
                rows: Vec::new(),
                delivered: vec![0; flows],
                done: vec![false; flows],
                subflow_delivered: vec![Vec::new(); flows],
                ..FlowSeries::default()
            }),
            datagrams: (on && probes.flows && !setup.datagrams.is_empty()).then(DatagramSeries::default),
            links: (on && probes.links).then(|| LinkSeries { rows: Vec::new(), sent_bytes: vec![0; links] }),
        }
    }

    /// Whether a flow is to be sampled once more.
    pub(super) fn waits_for(&self, flow: FlowId) -> bool {
        self.flows.as_ref().is_some_and(|series| !series.done[flow.index()])
    }

    pub(super) fn tables(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        if let Some(series) = &self.flows {
            let rows = &series.rows;
            let mut table = Table::new("flow_series");
            table.numbers("time_s", rows.iter().map(|row| row.time_s));
            table.integers("flow", rows.iter().map(|row| row.flow));
            table.numbers("goodput_mbps", rows.iter().map(|row| row.goodput_mbps));
            table.integers("cwnd_bytes", rows.iter().map(|row| row.cwnd_bytes));
            table.numbers("ssthresh_bytes", rows.iter().map(|row| row.ssthresh_bytes));
            table.numbers("srtt_ms", rows.iter().map(|row| row.srtt_ms));
            table.numbers("rtt_ms", rows.iter().map(|row| row.rtt_ms));
            table.integers("in_flight_bytes", rows.iter().map(|row| row.in_flight_bytes));
            table.integers("retransmissions", rows.iter().map(|row| row.retransmissions));
            tables.push(table);
            if series.subflow_delivered.iter().any(|delivered| !delivered.is_empty()) {
                tables.push(series.subflow_table());
            }
        }
        tables.extend(self.datagrams.as_ref().map(DatagramSeries::table));
        if let Some(series) = &self.links {
            let rows = &series.rows;
            let mut table = Table::new("link_series");
            table.numbers("time_s", rows.iter().map(|row| row.time_s));
            table.integers("link", rows.iter().map(|row| row.link));
            table.integers("queue_packets", rows.iter().map(|row| row.queue_packets));
            table.integers("queue_bytes", rows.iter().map(|row| row.queue_bytes));
            table.numbers("throughput_mbps", rows.iter().map(|row| row.throughput_mbps));
            table.integers("drops", rows.iter().map(|row| row.drops));
            tables.push(table);
        }
        tables
    }
}

impl FlowSeries {
    fn subflow_table(&self) -> Table {
        let rows = &self.subflow_rows;
        let mut table = Table::new("subflow_series");
        table.numbers("time_s", rows.iter().map(|row| row.time_s));
        table.integers("flow", rows.iter().map(|row| row.flow));
        table.integers("subflow", rows.iter().map(|row| row.subflow));
        table.numbers("throughput_mbps", rows.iter().map(|row| row.throughput_mbps));
        table.integers("cwnd_bytes", rows.iter().map(|row| row.cwnd_bytes));
        table.numbers("srtt_ms", rows.iter().map(|row| row.srtt_ms));
        table.integers("in_flight_bytes", rows.iter().map(|row| row.in_flight_bytes));
        table.integers("retransmissions", rows.iter().map(|row| row.retransmissions));
        table
    }

    /// A flow has rows from its opening until all it sent has been delivered. Its ends may be in different parts of a run:
    /// the sender's end comes first. That of the receiver is missing before its first packet.
    fn sample(
        &mut self,
        (now, interval): (Instant, Span),
        index: usize,
        (from, to): (&Flow, Option<&Receiving>),
    ) {
        if !from.application.opened() || self.done[index] {
            return;
        }
        let state = FlowState::of(from, to);
        let delivered = to.map_or(0, |to| to.agent.stats().delivered);
        let before = std::mem::replace(&mut self.delivered[index], delivered);
        self.rows.push(FlowRow {
            time_s: now.as_secs_f64(),
            flow: index as u64,
            goodput_mbps: mbps(delivered - before, interval),
            cwnd_bytes: state.cwnd_bytes,
            ssthresh_bytes: state.ssthresh_bytes.map_or(f64::NAN, |bytes| bytes as f64),
            srtt_ms: milliseconds(state.smoothed_rtt),
            rtt_ms: milliseconds(state.latest_rtt),
            in_flight_bytes: state.in_flight_bytes,
            retransmissions: state.retransmissions,
        });
        if let Some(to) = to.filter(|_| from.multipath.is_some()) {
            self.sample_subflows((now, interval), index, from, to);
        }
        self.done[index] = to.is_some_and(|to| to.completed_at.is_some());
    }

    /// A subflow has rows from its establishment on, as long as its connection has.
    fn sample_subflows(
        &mut self,
        (now, interval): (Instant, Span),
        index: usize,
        flow: &Flow,
        receiving: &Receiving,
    ) {
        let before = &mut self.subflow_delivered[index];
        before.resize(usize::from(flow.sender.subflow_count()), 0);
        for (number, before) in (0..).zip(before) {
            let Some(summary) = flow.sender.subflow(number) else { continue };
            if summary.established_at.is_none() {
                continue;
            }
            let delivered = receiving.agent.subflow(number).map_or(0, |stats| stats.delivered);
            let fresh = delivered - std::mem::replace(before, delivered);
            self.subflow_rows.push(SubflowRow {
                time_s: now.as_secs_f64(),
                flow: index as u64,
                subflow: u64::from(number),
                throughput_mbps: mbps(fresh, interval),
                cwnd_bytes: summary.cwnd,
                srtt_ms: milliseconds(summary.rtt.smoothed),
                in_flight_bytes: summary.in_flight,
                retransmissions: summary.stats.retransmissions,
            });
        }
    }
}

impl Simulation {
    pub(super) fn on_probe(&mut self) {
        if self.probe.datagrams.is_some() {
            // A queue that drops what has waited too long does so when it is brought forward.
            self.data.network.link_ids().for_each(|id| self.data.advance_link(id));
        }
        self.sample_flows();
        self.sample_datagrams();
        self.sample_links();
        let next = self.data.now.saturating_add(self.probe.interval);
        self.data.schedule.set(self.data.numbering.probe(), next);
    }

    fn sample_flows(&mut self) {
        let Some(series) = &mut self.probe.flows else { return };
        let times = (self.data.now, self.probe.interval);
        for index in 0..self.flows.len() {
            if let Some((flow, receiving)) = self.flows.ends(index) {
                series.sample(times, index, (flow, Some(receiving)));
            }
        }
        if self.flows.turn_over() {
            let done = series.done.iter().enumerate().filter(|(_, done)| **done);
            let done: Vec<_> = done.map(|(index, _)| FlowId::from_index(index)).collect();
            done.into_iter().for_each(|id| self.let_go(id));
        }
    }

    fn sample_links(&mut self) {
        let Some(series) = &mut self.probe.links else { return };
        if let Some(control) = &mut self.control {
            control.sample_tables(self.data.now);
        }
        for id in self.data.network.link_ids() {
            series.sample((&mut self.data, 0), self.probe.interval, id);
        }
    }
}

impl Probe {
    /// A sample of a divided run: each flow's ends and each link where they are. `part_of` gives the part of a node.
    pub(super) fn sample(
        &mut self,
        setup: &Setup,
        parts: &mut [&mut Simulation],
        part_of: impl Fn(NodeId) -> usize,
    ) {
        let times @ (_, interval) = (parts[0].data.now, self.interval);
        if let Some(series) = &mut self.flows {
            for (index, flow) in setup.flows.iter().enumerate() {
                let id = FlowId::from_index(index);
                let to = parts[part_of(flow.to)].receiving_here(id);
                if let Some(from) = parts[part_of(flow.from)].sending_here(id) {
                    series.sample(times, index, (from, to));
                }
            }
        }
        if let Some(series) = &mut self.datagrams {
            for (index, link) in setup.links.iter().enumerate() {
                parts[part_of(link.from)].data.advance_link(LinkId::from_index(index));
            }
            for (number, flow) in setup.datagrams.iter().enumerate() {
                let drops = drops_of(parts, FlowId::from_index(setup.flows.len() + number));
                let measures = if flow.source.is_answered() { flow.from } else { flow.to };
                let recent = parts[part_of(measures)].take_recent(number);
                let at = |node| parts[part_of(node)].datagrams_here(number);
                series.sample(times, number, (at(flow.from), at(flow.to)), (recent, &drops));
            }
        }
        if let Some(series) = &mut self.links {
            for (index, link) in setup.links.iter().enumerate() {
                let (from, to) = (part_of(link.from), part_of(link.to));
                // What was in flight when the link went down was lost where it would have arrived.
                let far = &parts[to].data.links[index];
                let lost_there = if from == to { 0 } else { far.stats().drops.total() };
                series.sample((&mut parts[from].data, lost_there), interval, LinkId::from_index(index));
            }
        }
    }
}

/// What all parts of a run have lost of a flow.
pub(super) fn drops_of(parts: &[&mut Simulation], id: FlowId) -> FlowDrops {
    let mut sum = FlowDrops::default();
    for part in parts {
        let taps = &part.data.taps;
        let passage = part.data.passage.iter();
        for place in passage.flat_map(|passage| passage.places(id)) {
            let passing = || taps.passing_drops.get(&place).copied();
            let drops = taps.drops.get(place.index()).or_else(passing);
            drops.into_iter().for_each(|drops| sum.add(&drops));
        }
    }
    sum
}

impl DataPlane {
    /// Brings a link forward to now.
    fn advance_link(&mut self, id: LinkId) {
        self.links[id.index()].advance(self.now, &mut self.pool, &mut self.taps.at(id));
    }
}

impl LinkSeries {
    /// `lost_there` was lost at the link's other end, in another part of the run.
    fn sample(&mut self, (data, lost_there): (&mut DataPlane, u64), interval: Span, id: LinkId) {
        data.advance_link(id);
        let link = &data.links[id.index()];
        let stats = link.stats();
        let before = &mut self.sent_bytes[id.index()];
        let fresh = stats.sent_bytes - std::mem::replace(before, stats.sent_bytes);
        let (queue_packets, queue_bytes) = link.backlog();
        self.rows.push(LinkRow {
            time_s: data.now.as_secs_f64(),
            link: u64::from(id.0),
            queue_packets,
            queue_bytes,
            throughput_mbps: mbps(fresh, interval),
            drops: stats.drops.total() + lost_there,
        });
    }
}
