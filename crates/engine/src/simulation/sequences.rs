//! Sequence numbers over time, as the sender of a flow sees them (Gholizadeh 2019, appendix A.1).

use super::flows::Flows;
use super::share::Share;
use crate::records::Table;
use crate::setup::Setup;
use anabranch_transport::{Flags, Segment, unwrap_sequence};
use anabranch_units::{FlowId, Instant};

/// What is noted of the flows that the setup names.
pub(super) struct Sequences {
    /// By flow: whether it is watched, and its progress.
    flows: Vec<Option<Progress>>,
    rows: Vec<Row>,
}

/// Positions are relative to the SYN, which is 0, so that the first byte is 1.
#[derive(Clone, Copy, Default)]
struct Progress {
    initial: u32,
    /// Behind the last byte sent so far: what lies below was sent before.
    next: u64,
    acknowledged: u64,
}

struct Row {
    at: Instant,
    flow: FlowId,
    kind: &'static str,
    position: u64,
    bytes: u64,
}

impl Sequences {
    /// None where no flow is watched.
    pub(super) fn new(setup: &Setup, share: &Share<'_>) -> Option<Self> {
        // Their senders are in one part of the run.
        let sender = |flow: FlowId| setup.flows[flow.index()].from;
        if !setup.probes.sequences.first().is_some_and(|&flow| share.has(sender(flow))) {
            return None;
        }
        let mut flows = vec![None; share.flows.len()];
        for flow in setup.probes.sequences.iter().filter_map(|&flow| share.place(flow)) {
            flows[flow.index()] = Some(Progress::default());
        }
        Some(Self { flows, rows: Vec::new() })
    }

    /// The same with the numbers that flows have in the setup.
    pub(super) fn with_numbers(mut self, number: impl Fn(FlowId) -> FlowId) -> Self {
        self.rows.iter_mut().for_each(|row| row.flow = number(row.flow));
        self
    }

    /// The sender sends a segment. Cold, so that runs in which nobody is watched pay for a branch and no more.
    #[cold]
    pub(super) fn sent(&mut self, now: Instant, flow: FlowId, segment: &Segment) {
        let Some(progress) = &mut self.flows[flow.index()] else { return };
        if segment.flags.has(Flags::SYN) {
            progress.initial = segment.seq;
            self.rows.push(Row { at: now, flow, kind: "syn", position: 0, bytes: 0 });
            return;
        }
        if segment.sequence_len() == 0 {
            return;
        }
        let position = unwrap_sequence(segment.seq.wrapping_sub(progress.initial), progress.next);
        let again = position < progress.next;
        progress.next = progress.next.max(position + u64::from(segment.sequence_len()));
        let kind = match (segment.payload, again) {
            (0, _) => "fin",
            (_, true) => "retransmission",
            (_, false) => "data",
        };
        let bytes = u64::from(segment.payload);
        self.rows.push(Row { at: now, flow, kind, position: position - 1, bytes });
    }

    /// The sender receives a segment.
    #[cold]
    pub(super) fn received(&mut self, now: Instant, flow: FlowId, segment: &Segment) {
        let Some(progress) = &mut self.flows[flow.index()] else { return };
        let position = unwrap_sequence(segment.ack.wrapping_sub(progress.initial), progress.acknowledged);
        progress.acknowledged = progress.acknowledged.max(position);
        let kind = if segment.flags.has(Flags::SYN) {
            "syn-ack"
        } else if segment.flags.has(Flags::FIN) {
            "fin-ack"
        } else {
            "ack"
        };
        self.rows.push(Row { at: now, flow, kind, position: position.saturating_sub(1), bytes: 0 });
    }

    /// The sender receives a CTRL of the SDN controller.
    pub(super) fn control(&mut self, now: Instant, flow: FlowId) {
        let Some(progress) = &self.flows[flow.index()] else { return };
        let position = progress.next.saturating_sub(1);
        self.rows.push(Row { at: now, flow, kind: "ctrl", position, bytes: 0 });
    }

    /// The table `sequence`; `segment` counts from 1 where all segments but the last are of one length. The
    /// SYN is 0, and the FIN one more than the last.
    pub(super) fn table(&self, flows: &Flows) -> Table {
        let rows = &self.rows;
        let mut full = vec![0; flows.len()];
        for row in rows {
            full[row.flow.index()] = row.bytes.max(full[row.flow.index()]);
        }
        let segment = |row: &Row| {
            let full = full[row.flow.index()];
            match row.kind {
                _ if full == 0 => f64::NAN,
                "data" | "retransmission" => (row.position / full + 1) as f64,
                "ack" | "fin-ack" => row.position.div_ceil(full) as f64,
                "syn" | "syn-ack" => 0.0,
                "fin" => (row.position.div_ceil(full) + 1) as f64,
                _ => f64::NAN,
            }
        };
        let mut table = Table::new("sequence");
        table.numbers("time_s", rows.iter().map(|row| row.at.as_secs_f64()));
        table.integers("flow", rows.iter().map(|row| u64::from(row.flow.0)));
        table.texts("kind", rows.iter().map(|row| row.kind));
        table.integers("sequence_bytes", rows.iter().map(|row| row.position));
        table.integers("bytes", rows.iter().map(|row| row.bytes));
        table.numbers("segment", rows.iter().map(segment));
        table
    }
}
