//! Round-trip times of data segments in the tables.

use super::{Found, integers, numbers};
use crate::group::Connection;
use crate::histogram::Histogram;
use crate::measure::handshake_rtt_ns;
use anabranch_units::records::{Column, Table};
use std::borrow::Cow;
use std::cmp::Reverse;

/// Most subflows with a distribution: some hundred rows each.
const MOST_DISTRIBUTIONS: usize = 1000;

/// All samples of a connection.
pub(super) fn of_connection<'a>(found: &'a Found<'_>, connection: &Connection) -> Cow<'a, Histogram> {
    let mut all = connection.flows.iter().map(|&flow| &found.acks(flow).rtts);
    let first = all.next().map_or_else(Cow::default, Cow::Borrowed);
    all.fold(first, |mut sum, more| {
        sum.to_mut().merge(more);
        sum
    })
}

/// Number of samples, extremes, mean and percentiles.
pub(super) fn columns(rtts: &[Cow<'_, Histogram>]) -> Vec<(&'static str, Column)> {
    let ms = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64 / 1e6);
    let percentiles: Vec<_> = rtts.iter().map(|rtt| rtt.percentiles([50, 90, 95, 99])).collect();
    let percentile = |at: usize| numbers(&percentiles, |found| ms(found.map(|found| found[at])));
    vec![
        ("rtt_samples", integers(rtts, |rtt| rtt.count())),
        ("rtt_min_ms", numbers(rtts, |rtt| ms(rtt.smallest()))),
        ("rtt_mean_ms", numbers(rtts, |rtt| rtt.mean().map_or(f64::NAN, |ns| ns / 1e6))),
        ("rtt_p50_ms", percentile(0)),
        ("rtt_p90_ms", percentile(1)),
        ("rtt_p95_ms", percentile(2)),
        ("rtt_p99_ms", percentile(3)),
        ("rtt_max_ms", numbers(rtts, |rtt| ms(rtt.largest()))),
    ]
}

/// How many samples of each subflow are at most so long, in steps; of those with most samples, where there are very
/// many.
pub(super) fn distribution(found: &mut Found<'_>, connection_of: &[usize]) -> Table {
    let samples = |flow: &usize| found.acks(*flow).rtts.count();
    let mut flows: Vec<usize> = (0..connection_of.len()).filter(|flow| samples(flow) > 0).collect();
    let with = flows.len();
    flows.sort_by_key(|flow| (Reverse(samples(flow)), *flow));
    flows.truncate(MOST_DISTRIBUTIONS);
    flows.sort_unstable();
    let (mut subflows, mut connections) = (Vec::new(), Vec::new());
    let (mut rtts, mut counts) = (Vec::new(), Vec::new());
    for &flow in &flows {
        for (_, largest_ns, count) in found.acks(flow).rtts.steps() {
            subflows.push(flow as u64);
            connections.push(connection_of[flow] as u64);
            rtts.push(largest_ns as f64 / 1e6);
            counts.push(u64::from(count));
        }
    }
    if with > flows.len() {
        let left_out = with - flows.len();
        found.warnings.push(format!(
            "distributions of round-trip times are of the {MOST_DISTRIBUTIONS} subflows with most samples; left out: \
             {left_out}"
        ));
    }
    let columns = vec![
        ("subflow", Column::Integers(subflows)),
        ("connection", Column::Integers(connections)),
        ("rtt_ms", Column::Numbers(rtts)),
        ("samples", Column::Integers(counts)),
    ];
    Table { name: "rtt_distribution", columns }
}

/// Whether the median round-trip time of the data is no half of the handshake's, which is of the whole way: then
/// most of the way is before the capture point.
pub(super) fn is_far_from_the_sender(found: &Found<'_>, flow: usize) -> bool {
    let whole = handshake_rtt_ns(found.flow(flow));
    let median = found.acks(flow).rtts.percentiles([50]);
    whole.zip(median).is_some_and(|(whole, [median])| median < whole / 2)
}
