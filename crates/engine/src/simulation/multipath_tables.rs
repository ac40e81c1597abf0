//! The tables of multipath connections and their subflows, and the check of their streams.

use super::Simulation;
use super::account::active;
use super::columns::{mbps, milliseconds};
use super::flow::Flow;
use super::multipath::Notes;
use super::receiving::Receiving;
use crate::forwarding::PathStart;
use crate::records::Table;
use crate::reordering::Totals;
use anabranch_transport::mptcp::{SubflowState, SubflowSummary};
use anabranch_units::{FlowId, Instant, Span};

/// Whether each byte of the stream has been delivered once: none that never arrived, none twice, none that was
/// acknowledged and is missing. What does not hold, in words.
pub(super) fn check_stream(flow: &Flow, receiving: &Receiving) -> Result<(), String> {
    let (Some(multipath), Some(data)) = (&flow.multipath, receiving.agent.multipath_stats()) else {
        return Ok(());
    };
    let arrived = &multipath.arrived;
    let delivered = receiving.agent.stats().delivered + receiving.agent.unread();
    let (written, acknowledged) = (flow.sender.stream_length(), flow.sender.stream_acknowledged());
    let problem = if delivered > arrived.in_order {
        Some(format!("delivered {delivered} bytes, of which {} arrived", arrived.in_order))
    } else if delivered + data.duplicate_bytes > arrived.bytes {
        let twice = data.duplicate_bytes;
        Some(format!("took {delivered} bytes and {twice} again, of {} that arrived", arrived.bytes))
    } else if acknowledged > delivered {
        Some(format!("{acknowledged} bytes are acknowledged, {delivered} delivered"))
    } else if written.is_some_and(|written| delivered > written) {
        Some(format!("delivered {delivered} bytes of {written:?} written"))
    } else if receiving.completed_at.is_some() && written != Some(delivered) {
        Some(format!("complete with {delivered} bytes delivered of {written:?} written"))
    } else {
        None
    };
    problem.map_or(Ok(()), Err)
}

/// A subflow and the connection that it is of.
struct Row<'s> {
    flow_index: u64,
    index: u8,
    flow: &'s Flow,
    receiving: &'s Receiving,
    notes: &'s Notes,
    summary: SubflowSummary,
}

impl Row<'_> {
    fn delivered(&self) -> u64 {
        self.receiving.agent.subflow(self.index).map_or(0, |stats| stats.delivered)
    }

    fn spurious(&self) -> u64 {
        let again = self.receiving.agent.subflow(self.index).map_or(0, |stats| stats.duplicate_segments);
        again.saturating_sub(self.reordering().repeats())
    }

    fn reordering(&self) -> Totals {
        self.receiving.reordering.get(self.index).totals()
    }

    fn active(&self, now: Instant) -> Span {
        active(now, self.flow.application.start, self.receiving.completed_at)
    }

    fn since_start(&self, at: Option<Instant>) -> f64 {
        at.map_or(f64::NAN, |at| at.saturating_since(self.flow.application.start).as_secs_f64())
    }

    fn state(&self) -> &'static str {
        match self.summary.state {
            SubflowState::Idle => "idle",
            SubflowState::Opening => "opening",
            SubflowState::Established => "established",
            SubflowState::Suspect => "suspect",
            SubflowState::Failed => "failed",
            SubflowState::Removed => "removed",
        }
    }
}

fn address(bytes: [u8; 4]) -> String {
    std::net::Ipv4Addr::from(bytes).to_string()
}

impl Simulation {
    /// The tables `connections` and `subflows`, if any flow is multipath.
    pub(super) fn multipath_tables(&self) -> Vec<Table> {
        let multipath = self.flows.iter().any(|flow| flow.multipath.is_some());
        if multipath { vec![self.connection_table(), self.subflow_table()] } else { Vec::new() }
    }

    fn connection_table(&self) -> Table {
        let rows = self.flows.iter_ends().filter_map(|(id, flow, receiving)| {
            let sent = flow.sender.multipath_stats()?;
            Some((u64::from(id.0), flow, sent, receiving.agent.multipath_stats()?))
        });
        let rows: Vec<_> = rows.collect();
        let established = |flow: &Flow| {
            let all = 0..flow.sender.subflow_count();
            all.filter_map(|index| flow.sender.subflow(index)?.established_at).count() as u64
        };
        let waits = |flow: &Flow| flow.sender.stalled_since();
        let mut table = Table::new("connections");
        table.integers("flow", rows.iter().map(|row| row.0));
        table.integers("subflows", rows.iter().map(|row| u64::from(row.1.sender.subflow_count())));
        table.integers("subflows_established", rows.iter().map(|row| established(row.1)));
        table.integers("acknowledged_bytes", rows.iter().map(|row| row.1.sender.stream_acknowledged()));
        table.integers("reinjected_bytes", rows.iter().map(|row| row.2.reinjected_bytes));
        let opportunistic = rows.iter().map(|row| row.2.opportunistic_retransmissions);
        table.integers("opportunistic_retransmissions", opportunistic);
        table.integers("penalties", rows.iter().map(|row| row.2.penalties));
        table.integers("suspicions", rows.iter().map(|row| row.2.suspicions));
        table.integers("duplicate_bytes", rows.iter().map(|row| row.3.duplicate_bytes));
        table.integers("most_waiting_bytes", rows.iter().map(|row| row.3.most_waiting_bytes));
        let waited = rows.iter().map(|row| {
            let now = waits(row.1).map_or(Span::ZERO, |since| self.data.now.saturating_since(since));
            (row.2.stalled + now).as_secs_f64()
        });
        table.numbers("stalled_s", waited);
        let since = rows.iter().map(|row| waits(row.1).map_or(f64::NAN, Instant::as_secs_f64));
        table.numbers("stalled_since_s", since);
        table
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let of_flow = |(id, flow, receiving): (FlowId, _, _)| {
            let notes = |flow: &'_ Flow| flow.multipath.as_ref().map_or(0, |m| m.subflows.len());
            (0..notes(flow) as u8).filter_map(move |index| {
                let notes = &flow.multipath.as_ref()?.subflows[usize::from(index)];
                let (flow_index, summary) = (u64::from(id.0), flow.sender.subflow(index)?);
                Some(Row { flow_index, index, flow, receiving, notes, summary })
            })
        };
        self.flows.iter_ends().flat_map(of_flow).collect()
    }

    fn subflow_table(&self) -> Table {
        let rows = self.rows();
        let mut table = Table::new("subflows");
        table.integers("flow", rows.iter().map(|row| row.flow_index));
        table.integers("subflow", rows.iter().map(|row| u64::from(row.index)));
        let lane = |row: &Row<'_>| *row.flow.forward.lanes.get(row.index);
        table.texts("client", rows.iter().map(|row| address(lane(row).key.source.addr)));
        table.integers("client_port", rows.iter().map(|row| u64::from(lane(row).key.source.port)));
        table.texts("server", rows.iter().map(|row| address(lane(row).key.destination.addr)));
        table.integers("server_port", rows.iter().map(|row| u64::from(lane(row).key.destination.port)));
        table.texts("path", rows.iter().map(|row| self.path_text(row)));
        table.integers("path_changes", rows.iter().map(|row| row.notes.path_changes));
        table.texts("state", rows.iter().map(|row| row.state()));
        table.numbers("opened_s", rows.iter().map(|row| row.since_start(row.notes.opened_at)));
        table.numbers("handshake_s", rows.iter().map(|row| row.since_start(row.summary.established_at)));
        table.integers("delivered_bytes", rows.iter().map(Row::delivered));
        let throughput = |row: &Row<'_>| mbps(row.delivered(), row.active(self.data.now));
        table.numbers("throughput_mbps", rows.iter().map(throughput));
        self.add_subflow_counts(&mut table, &rows);
        table
    }

    fn add_subflow_counts(&self, table: &mut Table, rows: &[Row<'_>]) {
        let mut count = |name, value: fn(&Row<'_>) -> u64| {
            table.integers(name, rows.iter().map(value));
        };
        count("acknowledged_bytes", |row| row.summary.acknowledged);
        count("segments_sent", |row| row.summary.stats.segments);
        count("retransmissions", |row| row.summary.stats.retransmissions);
        count("timeouts", |row| row.summary.stats.timeouts);
        count("fast_recoveries", |row| row.summary.stats.fast_recoveries);
        count("spurious_retransmissions", |row| row.spurious());
        count("packets_received", |row| row.reordering().received());
        count("reordered_packets", |row| row.reordering().reordered());
        count("reordering_extent_max", |row| row.reordering().max_extent());
        let mut measure = |name, value: fn(&Row<'_>) -> f64| {
            table.numbers(name, rows.iter().map(value));
        };
        measure("reordering_ratio", |row| row.reordering().ratio());
        measure("reordering_extent_mean", |row| row.reordering().mean_extent());
        measure("rtt_min_ms", |row| milliseconds(row.summary.rtt.min));
        measure("rtt_mean_ms", |row| milliseconds(row.summary.rtt.mean));
        measure("rtt_max_ms", |row| milliseconds(row.summary.rtt.max));
    }

    /// The path of a subflow's latest packet; empty if it never had one, or goes hop by hop.
    fn path_text(&self, row: &Row<'_>) -> String {
        let Some(PathStart::Path(cursor)) = row.notes.start else { return String::new() };
        self.data.network.path_text(self.data.forwarding.path_links(
            &self.data.network,
            cursor,
            row.flow.forward.to,
        ))
    }
}
