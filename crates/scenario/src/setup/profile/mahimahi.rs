//! A trace of Mahimahi's `mm-link` (Netravali et al., ATC 2015): each line is the millisecond at which a packet of 1500
//! bytes may leave.

use super::conditions::{Conditions, Measured, PS_PER_MS, Read};
use crate::problem::Problems;
use crate::words::quoted;

const BITS_PER_OPPORTUNITY: u128 = 1500 * 8;
const INTERVAL_PS: u64 = 100 * PS_PER_MS;

/// The capacity of each interval: its packets over its length. One without any is part of the next.
/// Empty lines at the end do not count.
pub(super) fn read(
    name: &str,
    text: &str,
    interval: Option<u64>,
    starts_first: bool,
    problems: &mut Problems,
) -> Read {
    let mut times: Vec<u64> = Vec::new();
    for (line, entry) in (1..).zip(text.trim_end().lines()) {
        let (word, place) = (entry.trim(), format!("{name}, line {line}"));
        let digits = !word.is_empty() && word.len() <= 12 && word.chars().all(|c| c.is_ascii_digit());
        let Some(time) = word.parse().ok().filter(|_| digits) else {
            problems.add_at(&place, format!("{} is no whole number of milliseconds", quoted(word)));
            return Read::default();
        };
        if let Some(last) = times.last().filter(|last| time < **last) {
            problems.add_at(&place, format!("{word} ms comes after {last} ms"));
            return Read::default();
        }
        times.push(time);
    }
    if starts_first {
        let first = times.first().copied().unwrap_or(0);
        times.iter_mut().for_each(|time| *time -= first);
    }
    let Some(&last) = times.last().filter(|last| **last > 0) else {
        problems.add_at(name, format!("{} lasts 0 ms; it has no capacity", quoted(name)));
        return Read::default();
    };
    let end = last * PS_PER_MS;
    let step = interval.unwrap_or(INTERVAL_PS);
    let (mut rows, mut begin, mut counted, mut up_to) = (Vec::new(), 0, 0, 0);
    while up_to < end {
        up_to = (up_to + step).min(end);
        let reached = |time: &&u64| up_to == end || **time * PS_PER_MS < up_to;
        let upper = counted + times[counted..].iter().take_while(reached).count();
        if upper > counted {
            let bits = (upper - counted) as u128 * BITS_PER_OPPORTUNITY * 1_000_000_000_000;
            let bps = crate::setup::quotient(bits, (up_to - begin).into());
            rows.push(Conditions { at: begin, values: vec![(Measured::Capacity, bps)] });
            (begin, counted) = (up_to, upper);
        }
    }
    Read { rows, length: Some(end) }
}
