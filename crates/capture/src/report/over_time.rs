//! Series over intervals: of subflows, of connections, and of all together.

use super::{Findings, connection_of};
use crate::measure::{Disordered, Interval};
use crate::series::DataLevel;
use anabranch_units::jain_index;
use anabranch_units::records::{Column, Table};

/// Sums of a connection over its subflows, interval by interval.
struct ConnectionSeries {
    first_bin: usize,
    acked: Vec<u64>,
}

pub(super) fn series(findings: &Findings<'_>, levels: &[Option<DataLevel>]) -> [Table; 3] {
    let of = connection_of(findings);
    let bin = |ns: u64| findings.times.bin(ns);
    let mut sums: Vec<ConnectionSeries> = Vec::new();
    for connection in findings.connections {
        let flows = || connection.flows.iter().map(|&flow| findings.flow(flow));
        let first_bin = flows().map(|flow| bin(flow.first_ns())).min().unwrap_or(0);
        let last_bin = flows().map(|flow| bin(flow.last_ns())).max().unwrap_or(0);
        sums.push(ConnectionSeries { first_bin, acked: vec![0; last_bin - first_bin + 1] });
    }
    let rows =
        findings.selection.flows.iter().map(|flow| bin(flow.last_ns()) - bin(flow.first_ns()) + 1).sum();
    let (mut times, mut throughputs) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let (mut numbers, mut owners) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let (mut retransmissions, mut reordered) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let (mut rtts, mut reverse_rtts) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for (index, flow) in findings.selection.flows.iter().enumerate() {
        let (data, acks) = (findings.data(index), findings.acks(index));
        let begin = |direction: usize| bin(flow.directions[direction].first_ns);
        let (data_begin, acks_begin) =
            (begin(findings.data_direction[index]), begin(1 - findings.data_direction[index]));
        let sum = &mut sums[of[index]];
        let mut intervals = [&acks.intervals, &data.intervals].map(|intervals| intervals.iter().peekable());
        for at in bin(flow.first_ns())..=bin(flow.last_ns()) {
            let count = |counts: &[u32]| {
                u64::from(at.checked_sub(data_begin).and_then(|at| counts.get(at)).copied().unwrap_or(0))
            };
            let [acks_of, reverse_of] = [(0, acks_begin), (1, data_begin)]
                .map(|(role, begin)| intervals[role].next_if(|interval| begin + interval.bin as usize == at));
            let acked = acks_of.map_or(0, |interval| interval.bytes);
            sum.acked[at - sum.first_bin] += acked;
            times.push(interval_end(findings, at));
            numbers.push(index as u64);
            owners.push(of[index] as u64);
            throughputs.push(if findings.has_acks(index) {
                interval_mbps(findings, at, acked)
            } else {
                f64::NAN
            });
            rtts.push(mean_ms(acks_of));
            reverse_rtts.push(mean_ms(reverse_of));
            let disorder = data.disorder.as_deref();
            let counted = |counts: fn(&Disordered) -> &[u32]| match disorder {
                _ if !findings.has_data_direction(index) => f64::NAN,
                None => 0.0,
                Some(disorder) => count(counts(disorder)) as f64,
            };
            retransmissions.push(counted(|disorder| &disorder.retransmissions));
            reordered.push(counted(|disorder| &disorder.reordered));
        }
    }
    let columns = vec![
        ("time_s", Column::Numbers(times)),
        ("subflow", Column::Integers(numbers)),
        ("connection", Column::Integers(owners)),
        ("throughput_mbps", Column::Numbers(throughputs)),
        ("rtt_ms", Column::Numbers(rtts)),
        ("reverse_rtt_ms", Column::Numbers(reverse_rtts)),
        ("retransmissions", Column::Numbers(retransmissions)),
        ("reordered_packets", Column::Numbers(reordered)),
    ];
    let subflow_series = Table { name: "subflow_series", columns };
    [subflow_series, connection_series(findings, &sums, levels), capture_series(findings, &sums)]
}

/// Mean round-trip time of an interval; NaN without any.
fn mean_ms(interval: Option<&Interval>) -> f64 {
    let with = interval.filter(|interval| interval.samples > 0);
    with.map_or(f64::NAN, |interval| interval.rtt_ns as f64 / 1e6 / f64::from(interval.samples))
}

/// The end of an interval; the last one ends with the last packet.
fn interval_end(findings: &Findings<'_>, bin: usize) -> f64 {
    let end = (bin as u64 + 1).saturating_mul(findings.times.interval_ns);
    end.min(findings.steady.last_ns - findings.times.origin_ns) as f64 / 1e9
}

/// Throughput in an interval; NaN in one without length, at the very last packet.
fn interval_mbps(findings: &Findings<'_>, bin: usize, bytes: u64) -> f64 {
    let start_s = (bin as u64).saturating_mul(findings.times.interval_ns) as f64 / 1e9;
    let length_s = interval_end(findings, bin) - start_s;
    if length_s > 0.0 { bytes as f64 * 8.0 / 1e6 / length_s } else { f64::NAN }
}

fn connection_series(
    findings: &Findings<'_>,
    sums: &[ConnectionSeries],
    levels: &[Option<DataLevel>],
) -> Table {
    let (mut times, mut numbers) = (Vec::new(), Vec::new());
    let (mut throughputs, mut data_throughputs) = (Vec::new(), Vec::new());
    for (number, sum) in sums.iter().enumerate() {
        let connection = &findings.connections[number];
        let has_acks = connection.flows.iter().any(|&flow| findings.has_acks(flow));
        let data_begin = connection
            .flows
            .iter()
            .filter(|&&flow| findings.acks(flow).data_acks.as_ref().is_some_and(|data| data.first.is_some()));
        let data_begin = data_begin
            .map(|&flow| {
                findings.times.bin(findings.flow(flow).directions[1 - findings.data_direction[flow]].first_ns)
            })
            .min();
        for (index, &bytes) in sum.acked.iter().enumerate() {
            let at = sum.first_bin + index;
            times.push(interval_end(findings, at));
            numbers.push(number as u64);
            throughputs.push(if has_acks { interval_mbps(findings, at, bytes) } else { f64::NAN });
            let data = levels[number].as_ref().zip(data_begin).map(|(level, begin)| {
                at.checked_sub(begin).and_then(|at| level.series.get(at)).copied().unwrap_or(0)
            });
            data_throughputs.push(data.map_or(f64::NAN, |bytes| interval_mbps(findings, at, bytes)));
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
fn capture_series(findings: &Findings<'_>, sums: &[ConnectionSeries]) -> Table {
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
        times.push(interval_end(findings, bin));
        throughputs.push(interval_mbps(findings, bin, interval.iter().map(|share| share.1).sum()));
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
