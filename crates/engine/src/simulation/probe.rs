//! Samples of flows and links at regular times.

use super::Simulation;
use super::columns::{mbps, milliseconds};
use super::data_plane::DataPlane;
use super::datagram_tables::DatagramSeries;
use super::flow::Flow;
use super::state::FlowState;
use crate::records::Table;
use crate::setup::Setup;
use anabranch_units::{Instant, LinkId, NodeId, Span};

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
    pub(super) fn new(setup: &Setup) -> Self {
        let probes = &setup.probes;
        let interval = probes.interval.unwrap_or(Span::ZERO);
        let on = probes.interval.is_some();
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
    /// the sender's end comes first.
    fn sample(&mut self, (now, interval): (Instant, Span), index: usize, (from, to): (&Flow, &Flow)) {
        if !from.application.opened() || self.done[index] {
            return;
        }
        let state = FlowState::of(from);
        let delivered = to.receiver.stats().delivered;
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
        if from.multipath.is_some() {
            self.sample_subflows(now, interval, index, from);
        }
        self.done[index] = to.completed_at.is_some();
    }

    /// A subflow has rows from its establishment on, as long as its connection has.
    fn sample_subflows(&mut self, now: Instant, interval: Span, index: usize, flow: &Flow) {
        let before = &mut self.subflow_delivered[index];
        before.resize(usize::from(flow.sender.subflow_count()), 0);
        for (number, before) in (0..).zip(before) {
            let Some(summary) = flow.sender.subflow(number) else { continue };
            if summary.established_at.is_none() {
                continue;
            }
            let delivered = flow.receiver.subflow(number).map_or(0, |stats| stats.delivered);
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
        self.sample_flows();
        self.sample_datagrams();
        self.sample_links();
        let next = self.data.now.saturating_add(self.probe.interval);
        self.data.schedule.set(self.data.numbering.probe(), next);
    }

    fn sample_flows(&mut self) {
        let Some(series) = &mut self.probe.flows else { return };
        for (index, flow) in self.flows.iter().enumerate() {
            series.sample((self.data.now, self.probe.interval), index, (flow, flow));
        }
    }

    fn sample_links(&mut self) {
        let Some(series) = &mut self.probe.links else { return };
        if let Some(control) = &mut self.control {
            control.sample_tables(self.data.now);
        }
        for id in self.data.network.link_ids() {
            series.sample(&mut self.data, self.probe.interval, id);
        }
    }

    /// A sample of a run in two parts: each flow's ends and each link where they are simulated. `sides` says of a node
    /// whether it is in the other part.
    pub(super) fn sample_with(&mut self, other: &mut Self, sides: &[bool]) {
        let (now, interval) = (self.data.now, self.probe.interval);
        let of = |node: NodeId| sides[node.index()];
        if let Some(series) = &mut self.probe.flows {
            for (index, (here, there)) in self.flows.iter().zip(&other.flows).enumerate() {
                let at = |node| if of(node) { there } else { here };
                series.sample((now, interval), index, (at(here.forward.from), at(here.forward.to)));
            }
        }
        if let Some(series) = &mut self.probe.links {
            for id in self.data.network.link_ids() {
                let data = if of(self.data.network.link(id).from) { &mut other.data } else { &mut self.data };
                series.sample(data, interval, id);
            }
        }
    }
}

impl LinkSeries {
    fn sample(&mut self, data: &mut DataPlane, interval: Span, id: LinkId) {
        let DataPlane { links, pool, taps, now, .. } = data;
        let link = &mut links[id.index()];
        link.advance(*now, pool, &mut taps.at(id));
        let stats = link.stats();
        let before = &mut self.sent_bytes[id.index()];
        let fresh = stats.sent_bytes - std::mem::replace(before, stats.sent_bytes);
        let (queue_packets, queue_bytes) = link.backlog();
        self.rows.push(LinkRow {
            time_s: now.as_secs_f64(),
            link: u64::from(id.0),
            queue_packets,
            queue_bytes,
            throughput_mbps: mbps(fresh, interval),
            drops: stats.drops.total(),
        });
    }
}
