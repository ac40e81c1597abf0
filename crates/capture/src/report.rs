//! The tables of an analysis.

use crate::group::{Connection, Tie};
use crate::measure::{Measured, Times, handshake_rtt_ns};
use crate::packet::Endpoint;
use crate::select::{Flow, PointId, Selection};
use crate::series::{DataLevel, data_level};
use crate::steady::Steady;
use crate::survey::{FileSurvey, NEVER};
use anabranch_units::jain_index;
use anabranch_units::records::{Column, Table};
use std::fmt::Display;
use std::net::Ipv6Addr;

/// What an analysis says as a whole. Times are seconds since the first packet of all flows.
#[derive(Clone, Debug)]
pub struct Summary {
    /// That packet's time, in seconds since 1970-01-01 00:00 UTC.
    pub began_unix_s: f64,
    /// The last packet.
    pub ended_s: f64,
    /// T1, the last ACK of a handshake.
    pub t1_s: Option<f64>,
    /// T2, the first FIN.
    pub t2_s: Option<f64>,
    /// The window that was measured.
    pub window_start_s: f64,
    /// Its end.
    pub window_end_s: f64,
    /// Jain index of the connections' throughputs in the window; NaN without any.
    pub jain_index: f64,
    /// Sum of these throughputs, in Mbit/s; NaN without any.
    pub throughput_mbps: f64,
    /// Subflows with a handshake, with a FIN, and all.
    pub established: usize,
    /// Subflows with a FIN.
    pub finished: usize,
    /// Connection attempts without an answer.
    pub unanswered: usize,
    /// Packets of all files.
    pub packets: u64,
    /// Of these, with a TCP header.
    pub tcp_packets: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// What a reader should know, a line each.
    pub warnings: Vec<String>,
}

/// Tables and summary of captures.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// `connections`, `subflows`, `subflow_series`, `connection_series`, `capture_series`.
    pub tables: Vec<Table>,
    /// Totals.
    pub summary: Summary,
}

/// Everything that was found.
pub(crate) struct Found<'a> {
    pub files: &'a [FileSurvey],
    pub selection: &'a Selection,
    pub connections: &'a [Connection],
    pub ties: &'a [Tie],
    pub data_direction: &'a [usize],
    pub measured: &'a [[Measured; 2]],
    pub steady: &'a Steady,
    pub times: &'a Times,
    pub warnings: Vec<String>,
}

impl Found<'_> {
    fn flow(&self, flow: usize) -> &Flow {
        &self.selection.flows[flow]
    }

    /// What was measured in the direction of a flow's data.
    fn data(&self, flow: usize) -> &Measured {
        &self.measured[flow][self.data_direction[flow]]
    }

    /// What was measured in the direction of its acknowledgments.
    fn acks(&self, flow: usize) -> &Measured {
        &self.measured[flow][1 - self.data_direction[flow]]
    }

    /// Whether acknowledgments of a flow were captured at all.
    fn has_acks(&self, flow: usize) -> bool {
        self.flow(flow).directions[1 - self.data_direction[flow]].packets > 0
    }

    fn since(&self, ns: u64) -> f64 {
        if ns == NEVER { f64::NAN } else { ns.saturating_sub(self.times.origin_ns) as f64 / 1e9 }
    }

    fn window_s(&self) -> f64 {
        (self.times.end_ns - self.times.start_ns) as f64 / 1e9
    }

    /// Throughput of bytes acknowledged in the window.
    fn window_mbps(&self, bytes: u64) -> f64 {
        let window_s = self.window_s();
        if window_s > 0.0 { bytes as f64 * 8.0 / 1e6 / window_s } else { f64::NAN }
    }

    fn subflow_mbps(&self, flow: usize) -> f64 {
        if self.has_acks(flow) { self.window_mbps(self.acks(flow).window_acked) } else { f64::NAN }
    }

    /// Sum over the subflows that have a value; NaN if none has.
    fn connection_mbps(&self, connection: &Connection) -> f64 {
        let shares = connection.flows.iter().map(|&flow| self.subflow_mbps(flow));
        shares.filter(|share| !share.is_nan()).reduce(|a, b| a + b).unwrap_or(f64::NAN)
    }

    fn data_level(&self, connection: &Connection) -> Option<DataLevel> {
        let members: Vec<_> = connection
            .flows
            .iter()
            .map(|&flow| (self.flow(flow), 1 - self.data_direction[flow], self.acks(flow)))
            .collect();
        data_level(&members, self.times)
    }
}

/// Makes the tables.
pub(crate) fn report(mut found: Found<'_>) -> Analysis {
    warn_of_flows(&mut found);
    let levels: Vec<Option<DataLevel>> =
        found.connections.iter().map(|connection| found.data_level(connection)).collect();
    let mut tables = vec![connections(&found, &levels), subflows(&found)];
    tables.extend(series(&found, &levels));
    let shares = || found.connections.iter().map(|connection| found.connection_mbps(connection));
    let seconds = |ns: Option<u64>| ns.map(|ns| found.since(ns));
    let counted = |of: fn(&FileSurvey) -> u64| found.files.iter().map(of).sum();
    let summary = Summary {
        began_unix_s: found.times.origin_ns as f64 / 1e9,
        ended_s: found.since(found.steady.last_ns),
        t1_s: seconds(found.steady.t1_ns),
        t2_s: seconds(found.steady.t2_ns),
        window_start_s: found.since(found.times.start_ns),
        window_end_s: found.since(found.times.end_ns),
        jain_index: jain_index(shares()).unwrap_or(f64::NAN),
        throughput_mbps: shares().filter(|share| !share.is_nan()).reduce(|a, b| a + b).unwrap_or(f64::NAN),
        established: found.steady.established,
        finished: found.steady.finished,
        unanswered: found.steady.unanswered,
        packets: counted(|file| file.counts.packets),
        tcp_packets: counted(|file| file.counts.tcp),
        bytes: counted(|file| file.bytes),
        warnings: std::mem::take(&mut found.warnings),
    };
    Analysis { tables, summary }
}

/// What the packets themselves say against the numbers.
fn warn_of_flows(found: &mut Found<'_>) {
    let flows = 0..found.selection.flows.len();
    let count = |of: &dyn Fn(usize) -> bool| flows.clone().filter(|&flow| of(flow)).count();
    let without_acks = count(&|flow| !found.has_acks(flow) && found.data(flow).data.packets > 0);
    let guessed = count(&|flow| found.ties[flow] == Tie::DataSequence);
    let alone = count(&|flow| found.ties[flow] == Tie::Unknown);
    // Elsewhere, and not here: what is missing may have passed another of the points.
    let spread = count(&|flow| {
        let direction = &found.flow(flow).directions[found.data_direction[flow]];
        direction.points.len() < direction.seen_at && found.data(flow).data.missing > 0
    });
    let missing: u64 = flows.clone().map(|flow| found.data(flow).data.missing).sum();
    let implausible: u64 = found.measured.iter().flatten().map(|measured| measured.implausible).sum();
    let forgotten = count(&|flow| found.data(flow).data.forgotten > 0);
    let all = flows.len();
    let mut warn = |number: u64, text: &str| {
        if number > 0 {
            let text =
                text.replace("{n}", &number.to_string()).replace("{of}", &format!("{number} of {all}"));
            found.warnings.push(text);
        }
    };
    warn(without_acks as u64, "{of} subflows without a packet in the direction of the ACKs: no throughput");
    warn(
        guessed as u64,
        "{of} subflows tied to their connection by a guess, by the same hosts and close data sequence \
         numbers: the handshake was not captured",
    );
    warn(
        alone as u64,
        "{of} subflows with MPTCP options, where nothing says to which connection they belong: each is listed \
         as one of its own",
    );
    warn(
        spread as u64,
        "{of} subflows with bytes missing at the capture point where most of their packets are, though other \
         points saw them, too; if no packet passes two points, --disjoint counts them all",
    );
    warn(missing, "bytes of data never seen at the capture points, lost before or not captured: {n}");
    warn(implausible, "segments passed over, with sequence numbers outside any window: {n}");
    warn(forgotten as u64, "{of} subflows with more holes than are remembered: reordering is a lower bound");
}

fn address(endpoint: Endpoint) -> String {
    let address = Ipv6Addr::from_bits(endpoint.address);
    address.to_ipv4_mapped().map_or_else(|| address.to_string(), |address| address.to_string())
}

fn ends(flow: &Flow) -> (Endpoint, Endpoint) {
    let ends = flow.key.ends();
    (ends[flow.client], ends[1 - flow.client])
}

fn sender_name(found: &Found<'_>, flow: usize) -> String {
    let from_client = found.data_direction[flow] == found.flow(flow).client;
    if from_client { "client" } else { "server" }.to_owned()
}

/// A column with a value for each row.
fn integers<T>(rows: &[T], of: impl Fn(&T) -> u64) -> Column {
    Column::Integers(rows.iter().map(of).collect())
}

fn numbers<T>(rows: &[T], of: impl Fn(&T) -> f64) -> Column {
    Column::Numbers(rows.iter().map(of).collect())
}

fn texts<T>(rows: &[T], of: impl Fn(&T) -> String) -> Column {
    Column::Texts(rows.iter().map(of).collect())
}

/// Rows whose columns are filled one after the other: what is known of so many flows stays in the cache.
const BLOCK: usize = 1024;

/// A table from the columns of each block of its rows.
fn in_blocks<T>(
    name: &'static str,
    rows: &[T],
    columns_of: impl Fn(&[T]) -> Vec<(&'static str, Column)>,
) -> Table {
    let (first, others) = rows.split_at(rows.len().min(BLOCK));
    let mut columns = columns_of(first);
    for block in others.chunks(BLOCK) {
        for (column, more) in columns.iter_mut().zip(columns_of(block)) {
            column.1.append(more.1);
        }
    }
    Table { name, columns }
}

fn connections(found: &Found<'_>, levels: &[Option<DataLevel>]) -> Table {
    let rows: Vec<(usize, &Connection)> = found.connections.iter().enumerate().collect();
    in_blocks("connections", &rows, |rows| connection_columns(found, levels, rows))
}

fn connection_columns(
    found: &Found<'_>,
    levels: &[Option<DataLevel>],
    rows: &[(usize, &Connection)],
) -> Vec<(&'static str, Column)> {
    let first = |row: &(usize, &Connection)| found.flow(row.1.flows[0]);
    let earliest = |row: &(usize, &Connection), of: fn(&Flow) -> u64| {
        found.since(row.1.flows.iter().map(|&flow| of(found.flow(flow))).min().unwrap_or(NEVER))
    };
    let sum = |row: &(usize, &Connection), of: &dyn Fn(usize) -> u64| -> u64 {
        row.1.flows.iter().map(|&flow| of(flow)).sum()
    };
    let window = |row: &(usize, &Connection)| levels[row.0].as_ref().and_then(|level| level.window);
    vec![
        ("connection", integers(rows, |row| row.0 as u64)),
        ("kind", texts(rows, |row| if row.1.multipath { "mptcp" } else { "tcp" }.to_owned())),
        ("client", texts(rows, |row| address(ends(first(row)).0))),
        ("server", texts(rows, |row| address(ends(first(row)).1))),
        ("server_port", integers(rows, |row| u64::from(ends(first(row)).1.port))),
        ("subflows", integers(rows, |row| row.1.flows.len() as u64)),
        ("first_s", numbers(rows, |row| earliest(row, Flow::first_ns))),
        ("established_s", numbers(rows, |row| earliest(row, Flow::established_ns))),
        ("fin_s", numbers(rows, |row| earliest(row, Flow::fin_ns))),
        ("data_from", texts(rows, |row| sender_name(found, row.1.flows[0]))),
        ("acked_bytes", integers(rows, |row| sum(row, &|flow| found.acks(flow).acked))),
        ("reverse_acked_bytes", integers(rows, |row| sum(row, &|flow| found.data(flow).acked))),
        ("window_acked_bytes", integers(rows, |row| sum(row, &|flow| found.acks(flow).window_acked))),
        ("throughput_mbps", numbers(rows, |row| found.connection_mbps(row.1))),
        ("window_data_acked_bytes", numbers(rows, |row| window(row).map_or(f64::NAN, |bytes| bytes as f64))),
        (
            "data_throughput_mbps",
            numbers(rows, |row| window(row).map_or(f64::NAN, |bytes| found.window_mbps(bytes))),
        ),
        ("data_packets", integers(rows, |row| sum(row, &|flow| found.data(flow).data.packets))),
        ("retransmissions", integers(rows, |row| sum(row, &|flow| found.data(flow).data.retransmissions))),
        ("reordered_packets", integers(rows, |row| sum(row, &|flow| found.data(flow).data.reordered))),
        ("missing_bytes", integers(rows, |row| sum(row, &|flow| found.data(flow).data.missing))),
    ]
}

/// The connection of each flow.
fn connection_of(found: &Found<'_>) -> Vec<usize> {
    let mut numbers = vec![0; found.selection.flows.len()];
    for (number, connection) in found.connections.iter().enumerate() {
        for &flow in &connection.flows {
            numbers[flow] = number;
        }
    }
    numbers
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { part as f64 / whole as f64 }
}

fn subflows(found: &Found<'_>) -> Table {
    let of = connection_of(found);
    let rows: Vec<usize> = (0..found.selection.flows.len()).collect();
    in_blocks("subflows", &rows, |rows| subflow_columns(found, &of, rows))
}

fn subflow_columns(found: &Found<'_>, of: &[usize], rows: &[usize]) -> Vec<(&'static str, Column)> {
    let flow = |row: &usize| found.flow(*row);
    let data = |row: &usize| found.data(*row).data;
    let bytes = |row: &usize, bytes: u64| if found.has_acks(*row) { bytes as f64 } else { f64::NAN };
    let rtt = |row: &usize| handshake_rtt_ns(flow(row)).map_or(f64::NAN, |ns| ns as f64 / 1e6);
    vec![
        ("subflow", integers(rows, |row| *row as u64)),
        ("connection", integers(rows, |row| of[*row] as u64)),
        ("tie", texts(rows, |row| found.ties[*row].name().to_owned())),
        ("client", texts(rows, |row| address(ends(flow(row)).0))),
        ("client_port", integers(rows, |row| u64::from(ends(flow(row)).0.port))),
        ("server", texts(rows, |row| address(ends(flow(row)).1))),
        ("server_port", integers(rows, |row| u64::from(ends(flow(row)).1.port))),
        ("first_s", numbers(rows, |row| found.since(flow(row).first_ns()))),
        ("established_s", numbers(rows, |row| found.since(flow(row).established_ns()))),
        ("fin_s", numbers(rows, |row| found.since(flow(row).fin_ns()))),
        ("reset_s", numbers(rows, |row| found.since(flow(row).rst_ns()))),
        ("last_s", numbers(rows, |row| found.since(flow(row).last_ns()))),
        ("handshake_rtt_ms", numbers(rows, rtt)),
        ("data_from", texts(rows, |row| sender_name(found, *row))),
        ("data_at", texts(rows, |row| points(found, *row, found.data_direction[*row]))),
        ("acks_at", texts(rows, |row| points(found, *row, 1 - found.data_direction[*row]))),
        ("acked_bytes", numbers(rows, |row| bytes(row, found.acks(*row).acked))),
        ("reverse_acked_bytes", integers(rows, |row| found.data(*row).acked)),
        ("window_acked_bytes", numbers(rows, |row| bytes(row, found.acks(*row).window_acked))),
        ("throughput_mbps", numbers(rows, |row| found.subflow_mbps(*row))),
        ("data_packets", integers(rows, |row| data(row).packets)),
        ("payload_bytes", integers(rows, |row| data(row).payload)),
        ("retransmissions", integers(rows, |row| data(row).retransmissions)),
        ("retransmitted_bytes", integers(rows, |row| data(row).retransmitted_bytes)),
        ("reordered_packets", integers(rows, |row| data(row).reordered)),
        ("reordering_ratio", numbers(rows, |row| ratio(data(row).reordered, data(row).packets))),
        ("reordering_extent_mean", numbers(rows, |row| ratio(data(row).extent_sum, data(row).reordered))),
        ("reordering_extent_max", integers(rows, |row| data(row).extent_max)),
        ("three_reordered_packets", integers(rows, |row| data(row).three_reordered)),
        ("missing_bytes", integers(rows, |row| data(row).missing)),
    ]
}

/// The capture points at which a direction is read: number of the file, and the interface in it.
fn points(found: &Found<'_>, flow: usize, direction: usize) -> String {
    let name = |id: &PointId| {
        let point = &found.files[id.file as usize].points[id.point as usize];
        let interface: &dyn Display = point.name.as_ref().map_or(&point.interface, |name| name);
        match point.view {
            0 => format!("{}:{interface}", id.file),
            view => format!("{}:{interface}/{view}", id.file),
        }
    };
    match found.flow(flow).directions[direction].points.as_slice() {
        // Nearly always, and for each of very many flows.
        [only] => name(only),
        several => several.iter().map(name).collect::<Vec<_>>().join(" "),
    }
}

/// Sums of a connection over its subflows, interval by interval.
struct ConnectionSeries {
    first_bin: usize,
    acked: Vec<u64>,
}

fn series(found: &Found<'_>, levels: &[Option<DataLevel>]) -> [Table; 3] {
    let of = connection_of(found);
    let bin = |ns: u64| found.times.bin(ns);
    let mut sums: Vec<ConnectionSeries> = Vec::new();
    for connection in found.connections {
        let flows = || connection.flows.iter().map(|&flow| found.flow(flow));
        let first_bin = flows().map(|flow| bin(flow.first_ns())).min().unwrap_or(0);
        let last_bin = flows().map(|flow| bin(flow.last_ns())).max().unwrap_or(0);
        sums.push(ConnectionSeries { first_bin, acked: vec![0; last_bin - first_bin + 1] });
    }
    let rows = found.selection.flows.iter().map(|flow| bin(flow.last_ns()) - bin(flow.first_ns()) + 1).sum();
    let (mut times, mut throughputs) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let (mut numbers, mut owners) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut retransmissions = Vec::with_capacity(rows);
    for (index, flow) in found.selection.flows.iter().enumerate() {
        let (data, acks) = (found.data(index), found.acks(index));
        let begin = |direction: usize| bin(flow.directions[direction].first_ns);
        let (data_begin, acks_begin) =
            (begin(found.data_direction[index]), begin(1 - found.data_direction[index]));
        let sum = &mut sums[of[index]];
        for at in bin(flow.first_ns())..=bin(flow.last_ns()) {
            let acked = at.checked_sub(acks_begin).and_then(|at| acks.acked_series.get(at)).copied();
            let repeated = at.checked_sub(data_begin).and_then(|at| data.retransmissions.get(at)).copied();
            sum.acked[at - sum.first_bin] += acked.unwrap_or(0);
            times.push(interval_end(found, at));
            numbers.push(index as u64);
            owners.push(of[index] as u64);
            let known = found.has_acks(index);
            throughputs.push(if known { interval_mbps(found, at, acked.unwrap_or(0)) } else { f64::NAN });
            retransmissions.push(u64::from(repeated.unwrap_or(0)));
        }
    }
    let columns = vec![
        ("time_s", Column::Numbers(times)),
        ("subflow", Column::Integers(numbers)),
        ("connection", Column::Integers(owners)),
        ("throughput_mbps", Column::Numbers(throughputs)),
        ("retransmissions", Column::Integers(retransmissions)),
    ];
    let subflow_series = Table { name: "subflow_series", columns };
    [subflow_series, connection_series(found, &sums, levels), capture_series(found, &sums)]
}

/// The end of an interval; the last one ends with the last packet.
fn interval_end(found: &Found<'_>, bin: usize) -> f64 {
    let end = (bin as u64 + 1).saturating_mul(found.times.interval_ns);
    end.min(found.steady.last_ns - found.times.origin_ns) as f64 / 1e9
}

/// Throughput in an interval; NaN in one without length, at the very last packet.
fn interval_mbps(found: &Found<'_>, bin: usize, bytes: u64) -> f64 {
    let start_s = (bin as u64).saturating_mul(found.times.interval_ns) as f64 / 1e9;
    let length_s = interval_end(found, bin) - start_s;
    if length_s > 0.0 { bytes as f64 * 8.0 / 1e6 / length_s } else { f64::NAN }
}

fn connection_series(found: &Found<'_>, sums: &[ConnectionSeries], levels: &[Option<DataLevel>]) -> Table {
    let (mut times, mut numbers) = (Vec::new(), Vec::new());
    let (mut throughputs, mut data_throughputs) = (Vec::new(), Vec::new());
    for (number, sum) in sums.iter().enumerate() {
        let connection = &found.connections[number];
        let known = connection.flows.iter().any(|&flow| found.has_acks(flow));
        let data_begin = connection.flows.iter().filter(|&&flow| found.acks(flow).data_first.is_some());
        let data_begin = data_begin
            .map(|&flow| {
                found.times.bin(found.flow(flow).directions[1 - found.data_direction[flow]].first_ns)
            })
            .min();
        for (index, &bytes) in sum.acked.iter().enumerate() {
            let at = sum.first_bin + index;
            times.push(interval_end(found, at));
            numbers.push(number as u64);
            throughputs.push(if known { interval_mbps(found, at, bytes) } else { f64::NAN });
            let data = levels[number].as_ref().zip(data_begin).map(|(level, begin)| {
                at.checked_sub(begin).and_then(|at| level.series.get(at)).copied().unwrap_or(0)
            });
            data_throughputs.push(data.map_or(f64::NAN, |bytes| interval_mbps(found, at, bytes)));
        }
    }
    let columns = vec![
        ("time_s", Column::Numbers(times)),
        ("connection", Column::Integers(numbers)),
        ("throughput_mbps", Column::Numbers(throughputs)),
        ("data_throughput_mbps", Column::Numbers(data_throughputs)),
    ];
    Table { name: "connection_series", columns }
}

/// All connections together: those that are there in an interval share it.
fn capture_series(found: &Found<'_>, sums: &[ConnectionSeries]) -> Table {
    // (interval, bytes) of every connection, by interval.
    let mut shares: Vec<(usize, u64)> = sums
        .iter()
        .flat_map(|sum| sum.acked.iter().enumerate().map(|(index, bytes)| (sum.first_bin + index, *bytes)))
        .collect();
    shares.sort_unstable();
    let (mut times, mut throughputs, mut jain, mut present) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for interval in shares.chunk_by(|a, b| a.0 == b.0) {
        let bin = interval[0].0;
        times.push(interval_end(found, bin));
        throughputs.push(interval_mbps(found, bin, interval.iter().map(|share| share.1).sum()));
        jain.push(jain_index(interval.iter().map(|share| share.1 as f64)).unwrap_or(f64::NAN));
        present.push(interval.len() as u64);
    }
    let columns = vec![
        ("time_s", Column::Numbers(times)),
        ("throughput_mbps", Column::Numbers(throughputs)),
        ("jain_index", Column::Numbers(jain)),
        ("connections", Column::Integers(present)),
    ];
    Table { name: "capture_series", columns }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks are put together in the order of the rows, the last one shorter; a table without rows has columns.
    #[test]
    fn blocks_make_one_table() {
        let rows: Vec<u64> = (0..2 * BLOCK as u64 + 5).collect();
        let columns = |rows: &[u64]| {
            let text = texts(rows, u64::to_string);
            vec![
                ("number", integers(rows, |row| *row)),
                ("half", numbers(rows, |row| *row as f64 / 2.0)),
                ("text", text),
            ]
        };
        for count in [0, 1, BLOCK, BLOCK + 1, rows.len()] {
            let table = in_blocks("rows", &rows[..count], columns);
            let expected: Vec<u64> = (0..count as u64).collect();
            let [Column::Integers(whole), Column::Numbers(halves), Column::Texts(texts)] =
                [&table.columns[0].1, &table.columns[1].1, &table.columns[2].1]
            else {
                panic!("other kinds of columns: {table:?}");
            };
            assert_eq!(*whole, expected);
            assert!(halves.iter().zip(&expected).all(|(half, number)| half * 2.0 == *number as f64));
            assert!(texts.iter().zip(&expected).all(|(text, number)| *text == number.to_string()));
            assert_eq!((halves.len(), texts.len()), (count, count));
        }
    }
}
