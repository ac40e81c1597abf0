//! The tables of an analysis.

mod findings;
mod over_time;
mod rtt;

use crate::group::{Connection, Tie};
use crate::measure::{DATA, handshake_rtt_ns};
use crate::packet::{Encapsulation, Endpoint, Protocol};
use crate::protocols::{ProtocolCount, Protocols};
use crate::select::{Flow, PointId};
use crate::sequence::DataCounts;
use crate::series::{DataLevel, Span};
use crate::survey::{FileSurvey, NEVER};
use anabranch_units::jain_index;
use anabranch_units::records::{Column, Table};
pub(crate) use findings::Findings;
use rtt::RttStatistics;
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
    /// T2, the first end of data.
    pub t2_s: Option<f64>,
    /// The window that was measured.
    pub window_start_s: f64,
    /// Its end.
    pub window_end_s: f64,
    /// Subflows that lasted, of which T1 and T2 are.
    pub lasting: usize,
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
    /// Whether reading standard input was ended by the caller.
    pub interrupted: bool,
    /// What a reader should know, a line each.
    pub warnings: Vec<String>,
}

impl Summary {
    /// A signal has ended standard input: what came before is measured, and a warning says so.
    pub fn interrupt(&mut self) {
        if !std::mem::replace(&mut self.interrupted, true) {
            self.warnings
                .insert(0, "interrupted: what came through standard input until then is measured".to_owned());
        }
    }
}

/// Tables and summary of captures.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// `connections`, `subflows`, `subflow_series`, `connection_series`, `capture_series`, `rtt_distribution`.
    pub tables: Vec<Table>,
    /// Totals.
    pub summary: Summary,
}

impl Analysis {
    /// The analysis of what came until standard input ended, by a signal if `interrupted`.
    pub(crate) fn ended(mut self, interrupted: bool) -> Self {
        if interrupted {
            self.summary.interrupt();
        }
        self
    }
}

/// Makes the tables.
pub(crate) fn report(mut findings: Findings<'_>) -> Analysis {
    warn_of_flows(&mut findings);
    let levels: Vec<Option<DataLevel>> =
        findings.connections.iter().map(|connection| findings.data_level(connection)).collect();
    let of = connection_of(&findings);
    let rtts = RttStatistics::of(&findings);
    let mut tables = vec![connections(&findings, &levels, &rtts), subflows(&findings, &of, &rtts)];
    tables.extend(over_time::series(&findings, &levels));
    tables.push(rtt::distribution(&mut findings, &of));
    tables.push(protocols(&findings));
    let shares = || findings.connections.iter().map(|connection| findings.connection_window_mbps(connection));
    let seconds = |ns: Option<u64>| ns.map(|ns| findings.since(ns));
    let counted = |of: fn(&FileSurvey) -> u64| findings.files.iter().map(of).sum();
    let summary = Summary {
        began_unix_s: findings.times.origin_ns as f64 / 1e9,
        ended_s: findings.since(findings.steady.last_ns),
        t1_s: seconds(findings.steady.t1_ns),
        t2_s: seconds(findings.steady.t2_ns),
        window_start_s: findings.since(findings.times.start_ns),
        window_end_s: findings.since(findings.times.end_ns),
        lasting: findings.steady.lasting,
        jain_index: jain_index(shares()).unwrap_or(f64::NAN),
        throughput_mbps: shares().filter(|share| !share.is_nan()).reduce(|a, b| a + b).unwrap_or(f64::NAN),
        established: findings.steady.established,
        finished: findings.steady.finished,
        unanswered: findings.steady.unanswered,
        packets: counted(|file| file.counts.packets),
        tcp_packets: counted(|file| file.counts.tcp),
        bytes: counted(|file| file.bytes),
        interrupted: false,
        warnings: std::mem::take(&mut findings.warnings),
    };
    Analysis { tables, summary }
}

/// What the packets themselves say against the numbers.
fn warn_of_flows(findings: &mut Findings<'_>) {
    let flows = 0..findings.selection.flows.len();
    let count = |of: &dyn Fn(usize) -> bool| flows.clone().filter(|&flow| of(flow)).count();
    let without_acks = count(&|flow| !findings.has_acks(flow) && findings.data(flow).data().packets > 0);
    let only_acks = count(&|flow| findings.is_known_by_acks(flow));
    let guessed = count(&|flow| findings.ties[flow] == Tie::DataSequence);
    let alone = count(&|flow| findings.ties[flow] == Tie::Unknown);
    // Elsewhere, and not here: what is missing may have passed another of the points.
    let spread = count(&|flow| {
        let direction = &findings.flow(flow).directions[findings.data_direction[flow]];
        direction.points.len() < direction.seen_at && findings.data(flow).data().missing > 0
    });
    let missing: u64 = flows.clone().map(|flow| findings.data(flow).data().missing).sum();
    let implausible: u64 = findings.measured.iter().flatten().map(|measured| measured.implausible).sum();
    let forgotten = count(&|flow| findings.data(flow).data().forgotten > 0);
    let nearer = count(&|flow| rtt::is_far_from_the_sender(findings, flow));
    let apart = count(&|flow| rtt::is_without_a_place(findings, flow));
    let other_clock = count(&|flow| findings.flow(flow).has_other_clock);
    let all = flows.len();
    let mut warn = |number: u64, text: &str| {
        if number > 0 {
            let text =
                text.replace("{n}", &number.to_string()).replace("{of}", &format!("{number} of {all}"));
            findings.warnings.push(text);
        }
    };
    warn(
        without_acks as u64,
        "{of} subflows of which only the data were captured, and no ACK: nothing says what has arrived, so that there is no \
         throughput and no round-trip time; sent_mbps is the rate of their new data",
    );
    warn(
        only_acks as u64,
        "{of} subflows of which only the ACKs were captured: throughput is of what they acknowledge, without a last byte on its \
         own, which is taken for the FIN; retransmissions, reordering and round-trip times are unknown",
    );
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
    warn(
        nearer as u64,
        "{of} subflows were captured away from the sender of the data: their RTTs are from the capture point to the \
         receiver and back, in the median less than half of the handshake's",
    );
    warn(
        apart as u64,
        "{of} subflows without a capture point that saw both their data and the ACKs: no round-trip times, since clocks \
         of two points cannot be compared",
    );
    warn(
        other_clock as u64,
        "{of} subflows of which a point with another clock saw more ACKs: left out, since their times cannot be compared \
         with those of the data; set the clock with editcap -t and analyse again",
    );
    warn(forgotten as u64, "{of} subflows with more holes than are remembered: reordering is a lower bound");
}

fn address(endpoint: Endpoint) -> String {
    let address = Ipv6Addr::from_bits(endpoint.address);
    let Some(octets) = address.to_ipv4_mapped().map(|address| address.octets()) else {
        return address.to_string();
    };
    // As it would be written, at a third of the time: there are four of each of very many flows.
    let mut text = String::with_capacity("255.255.255.255".len());
    for (index, octet) in octets.into_iter().enumerate() {
        if index > 0 {
            text.push('.');
        }
        for (unit, least) in [(100, 100), (10, 10), (1, 0)] {
            if octet >= least {
                text.push(char::from(b'0' + octet / unit % 10));
            }
        }
    }
    text
}

fn ends(flow: &Flow) -> (Endpoint, Endpoint) {
    let ends = flow.key.ends();
    (ends[flow.client], ends[1 - flow.client])
}

/// Who sends the data with this role.
fn sender_name(findings: &Findings<'_>, flow: usize, role: usize) -> &'static str {
    let from_client = findings.data_direction[flow] ^ role == findings.flow(flow).client;
    if from_client { "client" } else { "server" }
}

/// A column with a value for each row.
fn integers<T>(rows: &[T], of: impl Fn(&T) -> u64) -> Column {
    Column::Integers(rows.iter().map(of).collect())
}

fn numbers<T>(rows: &[T], of: impl Fn(&T) -> f64) -> Column {
    Column::Numbers(rows.iter().map(of).collect())
}

fn texts<T, S: AsRef<str>>(rows: &[T], of: impl Fn(&T) -> S) -> Column {
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

fn connections(findings: &Findings<'_>, levels: &[Option<DataLevel>], rtts: &RttStatistics) -> Table {
    let rows: Vec<(usize, &Connection)> = findings.connections.iter().enumerate().collect();
    in_blocks("connections", &rows, |rows| connection_columns(findings, levels, rtts, rows))
}

fn connection_columns(
    findings: &Findings<'_>,
    levels: &[Option<DataLevel>],
    rtts: &RttStatistics,
    rows: &[(usize, &Connection)],
) -> Vec<(&'static str, Column)> {
    let first = |row: &(usize, &Connection)| findings.flow(row.1.flows[0]);
    let earliest = |row: &(usize, &Connection), of: fn(&Flow) -> u64| {
        findings.since(row.1.flows.iter().map(|&flow| of(findings.flow(flow))).min().unwrap_or(NEVER))
    };
    let sum = |row: &(usize, &Connection), of: &dyn Fn(usize) -> u64| -> u64 {
        row.1.flows.iter().map(|&flow| of(flow)).sum()
    };
    let window = |row: &(usize, &Connection)| levels[row.0].as_ref().and_then(|level| level.window);
    let own_time = |row: &(usize, &Connection)| findings.own(&row.1.flows);
    let acked = |row: &(usize, &Connection), of: &dyn Fn(usize) -> u64| -> f64 {
        let is_known = row.1.flows.iter().any(|&flow| findings.has_acks(flow));
        if is_known { sum(row, of) as f64 } else { f64::NAN }
    };
    let own_data = |row: &(usize, &Connection)| levels[row.0].as_ref().and_then(|level| level.own);
    let mut columns = vec![
        ("connection", integers(rows, |row| row.0 as u64)),
        ("kind", texts(rows, |row| if row.1.multipath { "mptcp" } else { "tcp" }.to_owned())),
        ("client", texts(rows, |row| address(ends(first(row)).0))),
        ("server", texts(rows, |row| address(ends(first(row)).1))),
        ("server_port", integers(rows, |row| u64::from(ends(first(row)).1.port))),
        ("subflows", integers(rows, |row| row.1.flows.len() as u64)),
        ("first_s", numbers(rows, |row| earliest(row, Flow::first_ns))),
        ("established_s", numbers(rows, |row| earliest(row, Flow::established_ns))),
        ("fin_s", numbers(rows, |row| earliest(row, Flow::fin_ns))),
        ("data_from", texts(rows, |row| sender_name(findings, row.1.flows[0], DATA))),
        ("acked_bytes", numbers(rows, |row| acked(row, &|flow| findings.acks(flow).acked))),
        ("reverse_acked_bytes", integers(rows, |row| sum(row, &|flow| findings.data(flow).acked))),
        ("measured_bytes", numbers(rows, |row| own_time(row).map_or(f64::NAN, |span| span.bytes as f64))),
        (
            "measured_from_s",
            numbers(rows, |row| own_time(row).map_or(f64::NAN, |span| findings.since(span.from_ns))),
        ),
        (
            "measured_until_s",
            numbers(rows, |row| own_time(row).map_or(f64::NAN, |span| findings.since(span.until_ns))),
        ),
        ("throughput_mbps", numbers(rows, |row| own_time(row).map_or(f64::NAN, Span::mbps))),
        ("data_throughput_mbps", numbers(rows, |row| own_data(row).map_or(f64::NAN, Span::mbps))),
        ("sent_mbps", numbers(rows, |row| findings.sent(&row.1.flows).map_or(f64::NAN, Span::mbps))),
        ("window_acked_bytes", numbers(rows, |row| acked(row, &|flow| findings.acks(flow).window_acked))),
        ("window_throughput_mbps", numbers(rows, |row| findings.connection_window_mbps(row.1))),
        ("window_data_acked_bytes", numbers(rows, |row| window(row).map_or(f64::NAN, |bytes| bytes as f64))),
        (
            "window_data_throughput_mbps",
            numbers(rows, |row| window(row).map_or(f64::NAN, |bytes| findings.window_mbps(bytes))),
        ),
        ("data_packets", numbers(rows, |row| findings.counted(&row.1.flows, |data| data.packets))),
        ("retransmissions", numbers(rows, |row| findings.counted(&row.1.flows, |data| data.retransmissions))),
        ("keep_alives", integers(rows, |row| findings.probes(&row.1.flows, |probes| probes.keep_alives))),
        ("zero_window_probes", integers(rows, |row| findings.probes(&row.1.flows, |probes| probes.window))),
        ("reordered_packets", numbers(rows, |row| findings.counted(&row.1.flows, |data| data.reordered))),
        ("missing_bytes", numbers(rows, |row| findings.counted(&row.1.flows, |data| data.missing))),
        ("copies", integers(rows, |row| findings.copies(&row.1.flows))),
    ];
    columns.extend(rtts.columns(findings, rows, |row| &row.1.flows));
    columns
}

/// What the packets of all files are, and what becomes of them.
fn protocols(findings: &Findings<'_>) -> Table {
    let tcp = findings.files.iter().map(|file| file.counts.tcp).sum();
    let counts = Protocols::together(findings.files.iter().map(|file| &file.protocols), tcp);
    let reading = |count: &ProtocolCount| match (count.protocol, count.protocol.hides_tcp()) {
        (Protocol::Tcp, _) => "read",
        (_, None) => "not tcp",
        (_, Some(_)) => "may hold tcp",
    };
    let columns = vec![
        ("encapsulation", texts(&counts, |count| count.encapsulation.clone())),
        ("protocol", texts(&counts, |count| count.protocol.name().to_owned())),
        ("packets", integers(&counts, |count| count.packets)),
        ("reading", texts(&counts, |count| reading(count).to_owned())),
    ];
    Table { name: "protocols", columns }
}

/// What is around the packets of a flow, as the client sends them, and the server where it differs.
fn encapsulation(flow: &Flow) -> String {
    let around =
        |direction: usize| flow.directions[direction].encapsulation.as_deref().map(Encapsulation::to_string);
    match (around(flow.client), around(1 - flow.client)) {
        (None, None) => String::new(),
        (Some(one), None) | (None, Some(one)) => one,
        (Some(one), Some(other)) if one == other => one,
        (Some(one), Some(other)) => format!("{one} | {other}"),
    }
}

/// The address that is outside at an end of a flow, the client's or the server's; empty without.
fn outer_address(flow: &Flow, is_client: bool) -> String {
    let ends = |direction: usize| flow.directions[direction].encapsulation.as_deref()?.ends;
    let from_client = ends(flow.client).or_else(|| ends(1 - flow.client).map(|[from, to]| [to, from]));
    from_client.map_or_else(String::new, |ends| {
        address(Endpoint { address: ends[usize::from(!is_client)], port: 0 })
    })
}

/// The connection of each flow.
fn connection_of(findings: &Findings<'_>) -> Vec<usize> {
    let mut numbers = vec![0; findings.selection.flows.len()];
    for (number, connection) in findings.connections.iter().enumerate() {
        for &flow in &connection.flows {
            numbers[flow] = number;
        }
    }
    numbers
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { part as f64 / whole as f64 }
}

fn subflows(findings: &Findings<'_>, of: &[usize], rtts: &RttStatistics) -> Table {
    let rows: Vec<usize> = (0..findings.selection.flows.len()).collect();
    in_blocks("subflows", &rows, |rows| subflow_columns(findings, of, rtts, rows))
}

fn subflow_columns(
    findings: &Findings<'_>,
    of: &[usize],
    rtts: &RttStatistics,
    rows: &[usize],
) -> Vec<(&'static str, Column)> {
    let flow = |row: &usize| findings.flow(*row);
    let data = |row: &usize| findings.data(*row).data();
    let counted = |row: &usize, of: fn(DataCounts) -> u64| findings.counted(&[*row], of);
    let own_time = |row: &usize| findings.own(&[*row]);
    let bytes = |row: &usize, bytes: u64| if findings.has_acks(*row) { bytes as f64 } else { f64::NAN };
    let rtt = |row: &usize| handshake_rtt_ns(flow(row)).map_or(f64::NAN, |ns| ns as f64 / 1e6);
    let mut columns = vec![
        ("subflow", integers(rows, |row| *row as u64)),
        ("connection", integers(rows, |row| of[*row] as u64)),
        ("tie", texts(rows, |row| findings.ties[*row].name().to_owned())),
        ("client", texts(rows, |row| address(ends(flow(row)).0))),
        ("client_port", integers(rows, |row| u64::from(ends(flow(row)).0.port))),
        ("server", texts(rows, |row| address(ends(flow(row)).1))),
        ("server_port", integers(rows, |row| u64::from(ends(flow(row)).1.port))),
        ("first_s", numbers(rows, |row| findings.since(flow(row).first_ns()))),
        ("established_s", numbers(rows, |row| findings.since(flow(row).established_ns()))),
        ("fin_s", numbers(rows, |row| findings.since(flow(row).fin_ns()))),
        ("reset_s", numbers(rows, |row| findings.since(flow(row).rst_ns()))),
        ("last_s", numbers(rows, |row| findings.since(flow(row).last_ns()))),
        ("handshake_rtt_ms", numbers(rows, rtt)),
        ("data_from", texts(rows, |row| sender_name(findings, *row, DATA))),
        ("data_at", texts(rows, |row| points(findings, *row, findings.data_direction[*row]))),
        ("acks_at", texts(rows, |row| points(findings, *row, 1 - findings.data_direction[*row]))),
        ("rtt_at", texts(rows, |row| rtt::points(findings, *row))),
        ("acked_bytes", numbers(rows, |row| bytes(row, findings.acks(*row).acked))),
        ("reverse_acked_bytes", integers(rows, |row| findings.data(*row).acked)),
        ("measured_bytes", numbers(rows, |row| own_time(row).map_or(f64::NAN, |span| span.bytes as f64))),
        (
            "measured_from_s",
            numbers(rows, |row| own_time(row).map_or(f64::NAN, |span| findings.since(span.from_ns))),
        ),
        (
            "measured_until_s",
            numbers(rows, |row| own_time(row).map_or(f64::NAN, |span| findings.since(span.until_ns))),
        ),
        ("throughput_mbps", numbers(rows, |row| own_time(row).map_or(f64::NAN, Span::mbps))),
        ("sent_mbps", numbers(rows, |row| findings.sent(&[*row]).map_or(f64::NAN, Span::mbps))),
        ("window_acked_bytes", numbers(rows, |row| bytes(row, findings.acks(*row).window_acked))),
        ("window_throughput_mbps", numbers(rows, |row| findings.subflow_window_mbps(*row))),
        ("data_packets", numbers(rows, |row| counted(row, |data| data.packets))),
        ("payload_bytes", numbers(rows, |row| counted(row, |data| data.payload))),
        ("retransmissions", numbers(rows, |row| counted(row, |data| data.retransmissions))),
        ("retransmitted_bytes", numbers(rows, |row| counted(row, |data| data.retransmitted_bytes))),
        ("keep_alives", integers(rows, |row| findings.probes(&[*row], |probes| probes.keep_alives))),
        ("zero_window_probes", integers(rows, |row| findings.probes(&[*row], |probes| probes.window))),
        ("reordered_packets", numbers(rows, |row| counted(row, |data| data.reordered))),
        ("reordering_ratio", numbers(rows, |row| ratio(data(row).reordered, data(row).packets))),
        ("reordering_extent_mean", numbers(rows, |row| ratio(data(row).extent_sum, data(row).reordered))),
        ("reordering_extent_max", numbers(rows, |row| counted(row, |data| data.extent_max))),
        ("three_reordered_packets", numbers(rows, |row| counted(row, |data| data.three_reordered))),
        ("missing_bytes", numbers(rows, |row| counted(row, |data| data.missing))),
        ("copies", integers(rows, |row| findings.copies(&[*row]))),
        ("encapsulation", texts(rows, |row| encapsulation(flow(row)))),
        ("outer_client", texts(rows, |row| outer_address(flow(row), true))),
        ("outer_server", texts(rows, |row| outer_address(flow(row), false))),
    ];
    columns.extend(rtts.columns(findings, rows, std::slice::from_ref));
    columns
}

/// The capture points at which a direction is read.
fn points(findings: &Findings<'_>, flow: usize, direction: usize) -> String {
    point_names(findings, &findings.flow(flow).directions[direction].points)
}

/// Capture points: number of the file, and the interface in it.
fn point_names(findings: &Findings<'_>, points: &[PointId]) -> String {
    let name = |id: &PointId| {
        let point = &findings.files[id.file as usize].points[id.point as usize];
        let interface: &dyn Display = point.name.as_ref().map_or(&point.interface, |name| name);
        match point.view {
            0 => format!("{}:{interface}", id.file),
            view => format!("{}:{interface}/{view}", id.file),
        }
    };
    match points {
        // Nearly always, and for each of very many flows.
        [only] => name(only),
        several => several.iter().map(name).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_usual() {
        for octets in [[0, 9, 10, 99], [100, 109, 255, 1], [127, 0, 0, 1]] {
            let usual = std::net::Ipv4Addr::from(octets);
            let endpoint = Endpoint { address: usual.to_ipv6_mapped().to_bits(), port: 1 };
            assert_eq!(address(endpoint), usual.to_string());
        }
    }

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
