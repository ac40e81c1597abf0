//! The table of what the senders of the flows in `ProbeSetup::log` have decided.
//!
//! The senders keep their entries themselves, so that a run without a log does nothing for it.

use super::Simulation;
use super::columns::milliseconds;
use super::flows::Flows;
use super::share::Share;
use crate::records::Table;
use crate::setup::Setup;
use anabranch_transport::log::{Decision, LogEntry};
use anabranch_units::{Rate, Span};

/// Most rows of a run. Each takes 350 bytes at the end of it: 184 at its sender, the others in the table.
const MOST_ROWS: usize = 2_000_000;

/// Lets the senders of the flows that the setup names keep a log. They share the rows equally.
pub(super) fn begin(setup: &Setup, share: &Share<'_>, flows: &mut Flows) {
    for flow in setup.probes.log.iter().filter_map(|&flow| share.place(flow)) {
        // Where its sender is.
        let Some(flow) = flows.get_mut(flow.index()) else { continue };
        flow.sender.keep_log(MOST_ROWS / setup.probes.log.len());
    }
}

struct Row {
    flow: u64,
    entry: LogEntry,
}

impl Simulation {
    /// The table `log`, if any flow keeps one: by flow, and within a flow in order of time.
    pub(super) fn log_table(&mut self) -> Option<Table> {
        let flows = &self.setup.probes.log;
        if flows.is_empty() {
            return None;
        }
        let mut rows = Vec::new();
        for flow in flows {
            let entries = self.flows[flow.index()].sender.take_log();
            rows.extend(entries.into_iter().map(|entry| Row { flow: u64::from(flow.0), entry }));
        }
        let mut table = Table::new("log");
        table.numbers("time_s", rows.iter().map(|row| row.entry.at.as_secs_f64()));
        table.integers("flow", rows.iter().map(|row| row.flow));
        table.numbers("subflow", rows.iter().map(|row| row.entry.subflow.map_or(f64::NAN, f64::from)));
        table.choices("event", rows.iter().map(|row| row.entry.decision.name()));
        table.choices("cause", rows.iter().map(|row| row.entry.decision.cause()));
        add_metrics(&mut table, &rows);
        add_details(&mut table, &rows);
        Some(table)
    }
}

fn mbps(rate: Option<Rate>) -> f64 {
    rate.map_or(f64::NAN, |rate| rate.as_bps() as f64 / 1e6)
}

/// How the connection stands after the event.
fn add_metrics(table: &mut Table, rows: &[Row]) {
    table.integers("cwnd_bytes", rows.iter().map(|row| row.entry.metrics.cwnd));
    let ssthresh = rows.iter().map(|row| match row.entry.metrics.ssthresh {
        u64::MAX => f64::NAN,
        bytes => bytes as f64,
    });
    table.numbers("ssthresh_bytes", ssthresh);
    table.integers("in_flight_bytes", rows.iter().map(|row| row.entry.metrics.in_flight));
    let mut time = |name, span: fn(&LogEntry) -> Span| {
        table.numbers(name, rows.iter().map(|row| milliseconds(span(&row.entry))));
    };
    time("srtt_ms", |entry| entry.metrics.srtt);
    time("rttvar_ms", |entry| entry.metrics.rttvar);
    time("rtt_min_ms", |entry| entry.metrics.min_rtt);
    time("rto_ms", |entry| entry.metrics.rto);
    table.numbers("pacing_rate_mbps", rows.iter().map(|row| mbps(row.entry.metrics.pacing_rate)));
    table.choices("phase", rows.iter().map(|row| row.entry.metrics.phase));
}

/// What belongs to some events only.
fn add_details(table: &mut Table, rows: &[Row]) {
    let mut number = |name, value: fn(&Decision) -> Option<f64>| {
        table.numbers(name, rows.iter().map(|row| value(&row.entry.decision).unwrap_or(f64::NAN)));
    };
    number("rtt_ms", |decision| match decision {
        Decision::Acknowledged { rtt, .. } => rtt.map(milliseconds),
        _ => None,
    });
    number("acked_bytes", |decision| match decision {
        Decision::Acknowledged { acked, .. } => Some(*acked as f64),
        _ => None,
    });
    number("delivered_bytes", |decision| match decision {
        Decision::Acknowledged { delivered, .. } => Some(*delivered as f64),
        _ => None,
    });
    number("delivery_rate_mbps", |decision| match decision {
        Decision::Acknowledged { delivery_rate, .. } => delivery_rate.map(|(rate, _)| mbps(Some(rate))),
        _ => None,
    });
    number("sequence_bytes", |decision| match decision {
        Decision::Lost { position, .. } => Some(*position as f64),
        _ => None,
    });
    number("bytes", |decision| match decision {
        Decision::Lost { bytes, .. }
        | Decision::Reinjected { bytes, .. }
        | Decision::RetransmittedData { bytes }
        | Decision::RetransmittedOpportunistically { bytes, .. } => Some(*bytes as f64),
        _ => None,
    });
    number("window_before_bytes", |decision| windows(decision).map(|(before, _)| before as f64));
    number("window_after_bytes", |decision| windows(decision).map(|(_, after)| after as f64));
    number("backoff", |decision| match decision {
        Decision::TimedOut { backoff, .. } => Some(f64::from(*backoff)),
        _ => None,
    });
    number("from_subflow", |decision| match decision {
        Decision::Reinjected { from, .. } | Decision::RetransmittedOpportunistically { from, .. } => {
            Some(f64::from(*from))
        }
        _ => None,
    });
    let limit = rows.iter().map(|row| match row.entry.decision {
        Decision::Acknowledged { delivery_rate: Some((_, true)), .. } => "application",
        Decision::Acknowledged { delivery_rate: Some((_, false)), .. } => "network",
        _ => "",
    });
    table.choices("delivery_rate_limit", limit);
    let before = rows.iter().map(|row| match row.entry.decision {
        Decision::PhaseChanged { from } => from,
        _ => "",
    });
    table.choices("phase_before", before);
}

/// The controller's window before and after an event that sets it.
fn windows(decision: &Decision) -> Option<(u64, u64)> {
    match *decision {
        Decision::Reduced { before, after, .. }
        | Decision::Undone { before, after }
        | Decision::RestartedAfterIdle { before, after } => Some((before, after)),
        _ => None,
    }
}
