//! A one-way delay in milliseconds a line, at equal intervals, as LeoCC's LeoReplayer reads them.

use super::conditions::{Conditions, Measured, PS_PER_MS, Read};
use crate::problem::Problems;
use crate::setup::csv_table::number_of;
use crate::words::quoted;

/// An hour: no link has more.
const MOST_MS: f64 = 3_600_000.0;

/// A row for each line; empty lines at the end do not count.
pub(super) fn read(name: &str, text: &str, interval: u64, problems: &mut Problems) -> Read {
    let mut rows = Vec::new();
    for (line, entry) in (0..).zip(text.trim_end().lines()) {
        let word = entry.trim();
        let Some(ms) = number_of(word).filter(|ms| (0.0..=MOST_MS).contains(ms)) else {
            let place = format!("{name}, line {}", line + 1);
            problems.add_at(&place, format!("{} is no delay in milliseconds", quoted(word)));
            return Read::default();
        };
        let Some(at) = interval.checked_mul(line).filter(|at| *at < 1 << 62) else {
            problems.add_at(name, "lasts more than 53 days");
            return Read::default();
        };
        rows.push(Conditions { at, values: vec![(Measured::Delay, ms * PS_PER_MS as f64)] });
    }
    let length = Some(interval.saturating_mul(rows.len() as u64));
    Read { rows, length }
}
