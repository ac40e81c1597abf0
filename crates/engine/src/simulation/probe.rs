//! Samples of flows and links at regular times.

use super::Simulation;
use super::data_plane::DataPlane;
use super::datagram_tables::DatagramSeries;
use super::flow::Flow;
use super::state::FlowState;
use crate::records::Table;
use crate::setup::Setup;
use anabranch_units::{Instant, LinkId, Span};

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

/// Bytes over a span in Mbps.
pub(super) fn mbps(bytes: u64, span: Span) -> f64 {
    let seconds = span.as_secs_f64();
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { f64::NAN }
}

/// NaN for no time at all, which stands for no sample.
pub(super) fn milliseconds(span: Span) -> f64 {
    if span == Span::ZERO { f64::NAN } else { span.as_secs_f64() * 1e3 }
}

impl Simulation {
    pub(super) fn on_probe(&mut self) {
        self.sample_flows();
        self.sample_datagrams();
        self.sample_links();
        let next = self.data.now.saturating_add(self.probe.interval);
        self.data.schedule.set(self.data.numbering.probe(), next);
    }

    /// A flow has rows from its opening until all it sent has been delivered.
    fn sample_flows(&mut self) {
        let Some(series) = &mut self.probe.flows else { return };
        for (index, flow) in self.flows.iter().enumerate() {
            if !flow.application.opened() || series.done[index] {
                continue;
            }
            let state = FlowState::of(flow);
            let before = std::mem::replace(&mut series.delivered[index], state.delivered_bytes);
            series.rows.push(FlowRow {
                time_s: self.data.now.as_secs_f64(),
                flow: index as u64,
                goodput_mbps: mbps(state.delivered_bytes - before, self.probe.interval),
                cwnd_bytes: state.cwnd_bytes,
                ssthresh_bytes: state.ssthresh_bytes.map_or(f64::NAN, |bytes| bytes as f64),
                srtt_ms: milliseconds(state.smoothed_rtt),
                rtt_ms: milliseconds(state.latest_rtt),
                in_flight_bytes: state.in_flight_bytes,
                retransmissions: state.retransmissions,
            });
            if flow.multipath.is_some() {
                series.sample_subflows(self.data.now, self.probe.interval, index, flow);
            }
            series.done[index] = flow.completed_at.is_some();
        }
    }

    fn sample_links(&mut self) {
        let Some(series) = &mut self.probe.links else { return };
        if let Some(control) = &mut self.control {
            control.sample_tables(self.data.now);
        }
        let DataPlane { links, pool, taps, now, .. } = &mut self.data;
        for (index, link) in links.iter_mut().enumerate() {
            link.advance(*now, pool, &mut taps.at(LinkId::from_index(index)));
            let stats = link.stats();
            let fresh = stats.sent_bytes - std::mem::replace(&mut series.sent_bytes[index], stats.sent_bytes);
            let (queue_packets, queue_bytes) = link.backlog();
            series.rows.push(LinkRow {
                time_s: now.as_secs_f64(),
                link: index as u64,
                queue_packets,
                queue_bytes,
                throughput_mbps: mbps(fresh, self.probe.interval),
                drops: stats.drops.total(),
            });
        }
    }
}
