//! Round-trip times at other places that saw a flow: they are the whole way and back at the sender of the data, which
//! need not be where most of its packets were captured.

use crate::measure::{Interval, Measured, Results, Times};
use crate::round_trips::RttHistogram;
use crate::select::Flow;

/// Of a thousand samples, how many are below what stands for the way to the receiver and back: little of it is queueing,
/// and no single sample decides.
const NEAR_THE_LEAST: u64 = 100;

/// Takes the round-trip times of the other places with this number, for data whose own are shorter or not there.
/// `times`: of where the flows are read, and of the other places.
pub(crate) fn take_longer(
    flows: &[Flow],
    number: usize,
    results: Results,
    measured: &mut [[Measured; 2]],
    (times, times_there): (&Times, &Times),
) {
    for (flow, direction, there) in results {
        let Some(place) = flows[flow].elsewhere.get(number) else { continue };
        let here = &mut measured[flow][direction];
        if there.rtts.is_none() || way_ns(&there) <= way_ns(here) {
            continue;
        }
        for interval in &mut here.intervals {
            (interval.samples, interval.rtt_ns) = (0, 0);
        }
        let first = times.bin(flows[flow].directions[direction].first_ns);
        let first_there = times_there.bin(place.directions[direction].first_ns);
        for interval in there.intervals.iter().filter(|interval| interval.samples > 0) {
            let middle_ns = times_there.middle_ns(first_there + interval.bin as usize);
            let bin = times.bin(middle_ns.saturating_add_signed(place.later_ns));
            // Intervals before the first packet of the place where the flow is read have no rows.
            if let Some(bin) = bin.checked_sub(first) {
                let closed = Interval { bin: bin as u32, bytes: 0, ..*interval };
                Interval::insert(&mut here.intervals, closed);
            }
        }
        here.rtts = there.rtts;
        here.rtts_elsewhere = Some(number as u8);
    }
}

/// The way from a place to the receiver and back; None before any.
fn way_ns(measured: &Measured) -> Option<u64> {
    let rtts: &RttHistogram = measured.rtts.as_deref()?;
    rtts.quantiles([NEAR_THE_LEAST]).map(|[way_ns]| way_ns)
}
