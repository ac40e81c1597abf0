//! Tables of flows without a connection, and the check that each of their packets is accounted for.

use super::Simulation;
use super::columns::mbps;
use super::datagrams::{DatagramFlow, Recent};
use super::drops::{Carried, FlowDrops};
use crate::error::EngineError;
use crate::queues::DropCause;
use crate::records::Table;
use anabranch_units::{Instant, Span};

const PS_PER_MS: f64 = 1e9;

/// Columns of quantiles, in thousandths.
const QUANTILES: [(&str, u64); 7] = [
    ("latency_min_ms", 0),
    ("latency_p50_ms", 500),
    ("latency_p90_ms", 900),
    ("latency_p95_ms", 950),
    ("latency_p99_ms", 990),
    ("latency_p999_ms", 999),
    ("latency_max_ms", 1000),
];

/// Samples so far.
#[derive(Default)]
pub(super) struct DatagramSeries {
    rows: Vec<SeriesRow>,
    /// By flow: whether its series has ended, because nothing of it is left.
    done: Vec<bool>,
}

struct SeriesRow {
    time_s: f64,
    flow: u64,
    recent: Recent,
    jitter_ms: f64,
    throughput_mbps: f64,
    sent: u64,
    lost: u64,
}

/// A flow with what became of its packets.
struct Row<'s> {
    flow: &'s DatagramFlow,
    drops: FlowDrops,
    in_flight: u64,
}

impl Row<'_> {
    fn drops_forward(&self) -> u64 {
        self.drops.forward.data + self.drops.forward.bare
    }

    fn copies(&self) -> u64 {
        self.drops.copies.data + self.drops.copies.bare + self.drops.copies_back
    }

    fn lost(&self) -> u64 {
        self.drops.all()
    }

    /// Of the packets whose fate is known.
    fn loss_ratio(&self) -> f64 {
        let ended = self.flow.received() + self.lost();
        if ended == 0 { f64::NAN } else { self.lost() as f64 / ended as f64 }
    }

    /// From the first packet until the flow stops, or now.
    fn active(&self, now: Instant) -> Span {
        let end = self.flow.setup.stop.map_or(now, |stop| stop.min(now));
        end.saturating_since(self.flow.setup.start)
    }
}

fn milliseconds(span: Option<Span>) -> f64 {
    span.map_or(f64::NAN, |span| span.as_ps() as f64 / PS_PER_MS)
}

impl Simulation {
    fn datagram_rows(&self) -> Vec<Row<'_>> {
        let first = self.flows.len();
        let (drops, held) = (&self.data.taps.drops, self.held());
        let books = drops.of(first..drops.len()).zip(&held[first..]);
        let rows = self.data.datagrams.iter().zip(books);
        rows.map(|(flow, (drops, &(forward, backward)))| Row {
            flow,
            drops,
            in_flight: forward.data + forward.bare + backward,
        })
        .collect()
    }

    /// None where there are no such flows.
    pub(super) fn datagram_tables(&self) -> Vec<Table> {
        if self.data.datagrams.is_empty() {
            return Vec::new();
        }
        vec![self.datagram_table(), self.latency_table()]
    }

    pub(super) fn datagram_table(&self) -> Table {
        let rows = self.datagram_rows();
        let mut table = Table::new("datagram_flows");
        table.integers("flow", 0..rows.len() as u64);
        table.texts("name", rows.iter().map(|row| &row.flow.setup.name));
        table.texts("kind", rows.iter().map(|row| row.flow.setup.source.name()));
        let node = |node| self.data.network.node(node).name.as_str();
        table.texts("from", rows.iter().map(|row| node(row.flow.setup.from)));
        table.texts("to", rows.iter().map(|row| node(row.flow.setup.to)));
        table.integers("packet_bytes", rows.iter().map(|row| u64::from(row.flow.setup.packet_bytes)));
        table.numbers("start_s", rows.iter().map(|row| row.flow.setup.start.as_secs_f64()));
        table.integers("sent", rows.iter().map(|row| row.flow.sent));
        table.integers("received", rows.iter().map(|row| row.flow.received()));
        table.integers("lost", rows.iter().map(Row::lost));
        table.integers("packets_in_flight", rows.iter().map(|row| row.in_flight));
        table.numbers("loss_ratio", rows.iter().map(Row::loss_ratio));
        let throughput = |row: &Row<'_>| {
            mbps(row.flow.received() * u64::from(row.flow.setup.packet_bytes), row.active(self.data.now))
        };
        table.numbers("throughput_mbps", rows.iter().map(throughput));
        add_latency(&mut table, &rows);
        add_reordering(&mut table, &rows);
        table.integers("drops_forward", rows.iter().map(Row::drops_forward));
        table.integers("drops_backward", rows.iter().map(|row| row.drops.backward));
        for &cause in DropCause::ALL {
            table.integers(cause.column(), rows.iter().map(|row| row.drops.causes.of(cause)));
        }
        table
    }

    /// The distribution of each flow's latencies.
    fn latency_table(&self) -> Table {
        let flows = (0..).zip(&self.data.datagrams);
        let steps = flows.flat_map(|(number, flow)| {
            let steps = flow.measured.latencies.steps();
            steps.map(move |(largest_ps, packets)| (number, Span::from_ps(largest_ps), packets))
        });
        let rows: Vec<(u64, Span, u64)> = steps.collect();
        let mut table = Table::new("latencies");
        table.integers("flow", rows.iter().map(|row| row.0));
        table.numbers("latency_ms", rows.iter().map(|row| milliseconds(Some(row.1))));
        table.integers("packets", rows.iter().map(|row| row.2));
        table
    }

    /// Sent and duplicated = received + dropped + under way, for each direction; and as many answers as packets that arrived.
    pub(super) fn check_datagrams(&self, held: &[(Carried, u64)]) -> Result<(), EngineError> {
        let drops = &self.data.taps.drops;
        let books = drops.of(self.flows.len()..drops.len()).zip(held);
        for (flow, (drops, (forward, backward))) in self.data.datagrams.iter().zip(books) {
            let lost = drops.forward.data + drops.forward.bare;
            let answered = if flow.setup.source.is_answered() { flow.arrived } else { 0 };
            let copies = drops.copies.data + drops.copies.bare;
            let books = [
                ("sent", flow.sent + copies, flow.arrived + lost + forward.data + forward.bare),
                ("answered", answered + drops.copies_back, flow.answers + drops.backward + backward),
            ];
            if let Some((what, sent, accounted)) =
                books.into_iter().find(|&(_, sent, counted)| sent != counted)
            {
                let books = format!("{}: {what} {sent}, accounted for {accounted}", flow.setup.name);
                return Err(EngineError::Conservation(books));
            }
        }
        Ok(())
    }

    pub(super) fn sample_datagrams(&mut self) {
        let (first, times) = (self.flows.len(), (self.data.now, self.probe.interval));
        let Some(series) = &mut self.probe.datagrams else { return };
        for (number, flow) in self.data.datagrams.iter_mut().enumerate() {
            let recent = std::mem::take(&mut flow.recent);
            let drops = self.data.taps.drops.at(first + number);
            series.sample(times, number, (flow, flow), (recent, &drops));
        }
    }
}

impl DatagramSeries {
    /// A flow has rows from its first packet until it has stopped and nothing of it is under way. Its ends may be in different
    /// parts of a run: the sender's end comes first. `recent` is of the end that measures.
    pub(super) fn sample(
        &mut self,
        (now, interval): (Instant, Span),
        number: usize,
        (from, to): (&DatagramFlow, &DatagramFlow),
        (recent, drops): (Recent, &FlowDrops),
    ) {
        self.done.resize(self.done.len().max(number + 1), false);
        if from.sent == 0 || self.done[number] {
            return;
        }
        let lost = drops.forward.data + drops.forward.bare + drops.backward;
        let is_answered = from.setup.source.is_answered();
        let (arrived, measured) =
            if is_answered { (from.answers, &from.measured) } else { (to.arrived, &to.measured) };
        let copies = drops.copies.data + drops.copies.bare + drops.copies_back;
        self.done[number] = from.next_event().is_none() && arrived + lost == from.sent + copies;
        self.rows.push(SeriesRow {
            time_s: now.as_secs_f64(),
            flow: number as u64,
            recent,
            jitter_ms: measured.jitter.smoothed_ps().map_or(f64::NAN, |ps| ps / PS_PER_MS),
            throughput_mbps: mbps(recent.received * u64::from(from.setup.packet_bytes), interval),
            sent: from.sent,
            lost,
        });
    }

    pub(super) fn table(&self) -> Table {
        let rows = &self.rows;
        let mut table = Table::new("datagram_series");
        table.numbers("time_s", rows.iter().map(|row| row.time_s));
        table.integers("flow", rows.iter().map(|row| row.flow));
        table.numbers("latency_min_ms", rows.iter().map(|row| milliseconds(row.recent.smallest)));
        let mean = |recent: Recent| recent.sum_ps as f64 / recent.received as f64 / PS_PER_MS;
        table.numbers("latency_mean_ms", rows.iter().map(|row| mean(row.recent)));
        table.numbers("latency_max_ms", rows.iter().map(|row| milliseconds(row.recent.largest)));
        table.numbers("jitter_ms", rows.iter().map(|row| row.jitter_ms));
        table.integers("received", rows.iter().map(|row| row.recent.received));
        table.numbers("throughput_mbps", rows.iter().map(|row| row.throughput_mbps));
        table.integers("sent", rows.iter().map(|row| row.sent));
        table.integers("lost", rows.iter().map(|row| row.lost));
        table
    }
}

fn add_latency(table: &mut Table, rows: &[Row<'_>]) {
    let mean = |row: &Row<'_>| row.flow.measured.latencies.mean().map_or(f64::NAN, |ps| ps / PS_PER_MS);
    table.numbers("latency_mean_ms", rows.iter().map(mean));
    let quantiles = |row: &Row<'_>| {
        row.flow.measured.latencies.quantiles(QUANTILES.map(|quantile_and_name| quantile_and_name.1))
    };
    let quantiles: Vec<_> = rows.iter().map(quantiles).collect();
    for (at, (name, _)) in QUANTILES.into_iter().enumerate() {
        let quantile = |latencies_ps: &Option<[u64; QUANTILES.len()]>| {
            milliseconds(latencies_ps.map(|latencies_ps| Span::from_ps(latencies_ps[at])))
        };
        table.numbers(name, quantiles.iter().map(quantile));
    }
    let jitter = |row: &Row<'_>| row.flow.measured.jitter.mean_ps().map_or(f64::NAN, |ps| ps / PS_PER_MS);
    table.numbers("jitter_ms", rows.iter().map(jitter));
}

fn add_reordering(table: &mut Table, rows: &[Row<'_>]) {
    let of = |row: &Row<'_>| row.flow.measured.reordering.totals();
    table.integers("reordered_packets", rows.iter().map(|row| of(row).reordered()));
    table.numbers("reordering_ratio", rows.iter().map(|row| of(row).ratio()));
    table.numbers("reordering_extent_mean", rows.iter().map(|row| of(row).mean_extent()));
    table.integers("reordering_extent_max", rows.iter().map(|row| of(row).max_extent()));
    table.integers("duplicates_received", rows.iter().map(|row| of(row).repeats()));
    table.integers("duplicated_packets", rows.iter().map(Row::copies));
}
