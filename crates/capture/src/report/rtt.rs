//! Round-trip times of data segments in the tables.

use super::{Findings, integers, numbers, point_names, sender_name};
use crate::measure::{ACKS, DATA, handshake_rtt_ns};
use crate::round_trips::RttHistogram;
use crate::select::PointId;
use anabranch_units::records::{Column, Table};
use std::cmp::Reverse;

/// Most subflows with a distribution: some hundred rows each.
const MOST_DISTRIBUTIONS: usize = 1000;

/// By the role of the data's direction.
const COLUMNS: [[&str; 8]; 2] = [
    [
        "rtt_samples",
        "rtt_min_ms",
        "rtt_mean_ms",
        "rtt_p50_ms",
        "rtt_p90_ms",
        "rtt_p95_ms",
        "rtt_p99_ms",
        "rtt_max_ms",
    ],
    [
        "reverse_rtt_samples",
        "reverse_rtt_min_ms",
        "reverse_rtt_mean_ms",
        "reverse_rtt_p50_ms",
        "reverse_rtt_p90_ms",
        "reverse_rtt_p95_ms",
        "reverse_rtt_p99_ms",
        "reverse_rtt_max_ms",
    ],
];

/// Number of samples; smallest, mean, percentiles and largest in ms, NaN without samples.
#[derive(Clone, Copy)]
struct Statistics {
    samples: u64,
    ms: [f64; 7],
}

impl Statistics {
    const NONE: Self = Self { samples: 0, ms: [f64::NAN; 7] };

    fn of(rtts: &RttHistogram) -> Self {
        let statistics = rtts.smallest().zip(rtts.mean()).zip(rtts.quantiles([500, 900, 950, 990, 1000]));
        let Some(((smallest, mean), quantiles)) = statistics else { return Self::NONE };
        let [p50, p90, p95, p99, largest] = quantiles.map(|ns| ns as f64 / 1e6);
        let ms = [smallest as f64 / 1e6, mean / 1e6, p50, p90, p95, p99, largest];
        Self { samples: rtts.count(), ms }
    }
}

/// Of each subflow, and by the role of the data.
pub(super) struct RttStatistics(Vec<[Statistics; 2]>);

impl RttStatistics {
    pub(super) fn of(findings: &Findings<'_>) -> Self {
        let of =
            |flow: usize, role: usize| findings.rtts(flow, role).map_or(Statistics::NONE, Statistics::of);
        Self((0..findings.measured.len()).map(|flow| [of(flow, DATA), of(flow, ACKS)]).collect())
    }

    /// Of the data with this role, of these flows together; of the connection's data without flows that were captured
    /// away from their sender, if there are others: what they have is of a part of the way.
    fn together(&self, findings: &Findings<'_>, flows: &[usize], role: usize) -> Statistics {
        if let [flow] = flows {
            return self.0[*flow][role];
        }
        let is_whole =
            |flow: usize| findings.rtts(flow, role).is_some() && !is_far_from_the_sender(findings, flow);
        let leaves_out = role == DATA && flows.iter().any(|&flow| is_whole(flow));
        let members = flows.iter().filter(|&&flow| !leaves_out || is_whole(flow));
        let mut all = RttHistogram::default();
        members.filter_map(|&flow| findings.rtts(flow, role)).for_each(|rtts| all.merge(rtts));
        Statistics::of(&all)
    }

    /// Columns of connections or subflows, in both directions; `flows`: those of a row.
    pub(super) fn columns<T>(
        &self,
        findings: &Findings<'_>,
        rows: &[T],
        flows: impl Fn(&T) -> &[usize],
    ) -> impl Iterator<Item = (&'static str, Column)> {
        [DATA, ACKS].into_iter().flat_map(move |role| {
            let of: Vec<_> = rows.iter().map(|row| self.together(findings, flows(row), role)).collect();
            let [samples, names @ ..] = COLUMNS[role];
            let times = names.into_iter().enumerate().map(|(at, name)| (name, numbers(&of, |of| of.ms[at])));
            let columns: Vec<_> =
                std::iter::once((samples, integers(&of, |of| of.samples))).chain(times).collect();
            columns
        })
    }
}

/// How many samples of each subflow and direction are at most so long, in steps; of the subflows with most samples,
/// where there are very many.
pub(super) fn distribution(findings: &mut Findings<'_>, connection_of: &[usize]) -> Table {
    let samples = |flow: usize| -> u64 {
        [DATA, ACKS].iter().filter_map(|&role| Some(findings.rtts(flow, role)?.count())).sum()
    };
    let counted = (0..connection_of.len()).map(|flow| (Reverse(samples(flow)), flow));
    let mut flows: Vec<_> = counted.filter(|(samples, _)| samples.0 > 0).collect();
    let left_out = flows.len().saturating_sub(MOST_DISTRIBUTIONS);
    if left_out > 0 {
        flows.select_nth_unstable(MOST_DISTRIBUTIONS);
        flows.truncate(MOST_DISTRIBUTIONS);
    }
    flows.sort_unstable_by_key(|entry| entry.1);
    let (mut subflows, mut connections, mut senders) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rtts, mut counts) = (Vec::new(), Vec::new());
    for (flow, role) in flows.iter().flat_map(|&(_, flow)| [(flow, DATA), (flow, ACKS)]) {
        for (largest_ns, count) in findings.rtts(flow, role).iter().flat_map(|rtts| rtts.steps()) {
            subflows.push(flow as u64);
            connections.push(connection_of[flow] as u64);
            senders.push(sender_name(findings, flow, role));
            rtts.push(largest_ns as f64 / 1e6);
            counts.push(count);
        }
    }
    if left_out > 0 {
        findings.warnings.push(format!(
            "distributions of round-trip times are of the {MOST_DISTRIBUTIONS} subflows with most samples; left out: \
             {left_out}"
        ));
    }
    let columns = vec![
        ("subflow", Column::Integers(subflows)),
        ("connection", Column::Integers(connections)),
        ("data_from", Column::Texts(senders.into_iter().collect())),
        ("rtt_ms", Column::Numbers(rtts)),
        ("samples", Column::Integers(counts)),
    ];
    Table { name: "rtt_distribution", columns }
}

/// Whether the median round-trip time of the data is no half of the handshake's, which is of the whole way: then
/// most of the way is before the capture point.
pub(super) fn is_far_from_the_sender(findings: &Findings<'_>, flow: usize) -> bool {
    let whole = handshake_rtt_ns(findings.flow(flow));
    let rtts = findings.rtts(flow, DATA);
    let median = rtts.and_then(|rtts| rtts.quantiles([500]));
    whole.zip(median).is_some_and(|(whole, [median])| median < whole / 2)
}

/// Whether a flow has data, and their ACKs, and no place saw both.
pub(super) fn is_without_a_place(findings: &Findings<'_>, flow: usize) -> bool {
    let [data, acks] = [findings.data_direction[flow], 1 - findings.data_direction[flow]]
        .map(|direction| &findings.flow(flow).directions[direction]);
    data.payload > 0 && acks.packets > 0 && places(findings, flow).is_empty()
}

/// Points that saw both directions where round-trip times were measured.
fn places(findings: &Findings<'_>, flow: usize) -> Vec<PointId> {
    let read = findings.flow(flow);
    let directions = match findings.acks(flow).rtts_elsewhere {
        Some(number) => &read.elsewhere[usize::from(number)].directions,
        None => &read.directions,
    };
    let [one, other] = [&directions[0].points, &directions[1].points];
    one.iter().filter(|point| other.contains(point)).copied().collect()
}

/// The names of the points where round-trip times of the data were measured.
pub(super) fn points(findings: &Findings<'_>, flow: usize) -> String {
    if findings.rtts(flow, DATA).is_none() {
        String::new()
    } else {
        point_names(findings, &places(findings, flow))
    }
}
