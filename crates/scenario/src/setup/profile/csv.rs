//! A header with `time_s` and measured values, and a row for each time from which on they hold.

use super::conditions::{Conditions, Measured, PS_PER_SECOND, Read};
use crate::problem::{Place, Problems};
use crate::setup::changes::check_capacity;
use crate::setup::csv_table::{Row, csv_rows, number_of};
use crate::words::{quoted, short};
use anabranch_units::Rate;

/// What a column has, and how many of our unit one of it is: picoseconds, bits per second, a probability.
const COLUMNS: [(&str, Measured, f64); 9] = [
    ("time_s", Measured::Time, PS_PER_SECOND),
    ("capacity_bps", Measured::Capacity, 1.0),
    ("capacity_kbps", Measured::Capacity, 1e3),
    ("capacity_mbps", Measured::Capacity, 1e6),
    ("capacity_gbps", Measured::Capacity, 1e9),
    ("delay_us", Measured::Delay, 1e6),
    ("delay_ms", Measured::Delay, 1e9),
    ("delay_s", Measured::Delay, 1e12),
    ("loss", Measured::Loss, 1.0),
];
const MOST_PS: f64 = (1u64 << 62) as f64;

fn column(name: &str) -> Option<(Measured, f64)> {
    COLUMNS.iter().find(|(heading, _, _)| *heading == name).map(|(_, kind, unit)| (*kind, *unit))
}

/// The rows up to the first one with a mistake.
pub(super) fn read(name: &str, text: &str, starts_first: bool, problems: &mut Problems) -> Read {
    let before = problems.count();
    let mut rows: Vec<Conditions> = Vec::new();
    let mut first_s = if starts_first { None } else { Some(0.0) };
    for row in csv_rows(name, text, &wrong_header) {
        let Some(row) = problems.note(row) else { continue };
        let mut conditions = Conditions { at: 0, values: Vec::new() };
        for (name, cell) in row.cells() {
            let Some((kind, unit)) = column(name) else { continue };
            if kind == Measured::Time {
                conditions.at = time(cell, &mut first_s, &row, problems);
            } else {
                conditions.values.push((kind, measured(name, (kind, unit), cell, &row, problems)));
            }
            if problems.count() > before {
                return Read { rows, length: None };
            }
        }
        if rows.last().is_some_and(|last| conditions.at <= last.at) {
            let seconds = short(conditions.at as f64 / PS_PER_SECOND);
            problems.add_at(&row.place, format!("{seconds} s is not after the row before"));
            break;
        }
        rows.push(conditions);
    }
    Read { rows, length: None }
}

/// The time of a row in picoseconds, from the first one where times count from there; what cannot be is noted.
fn time(cell: &str, first_s: &mut Option<f64>, row: &Row, problems: &mut Problems) -> u64 {
    let at = Place::Told(&row.place);
    if cell.is_empty() {
        problems.add(&at, "time_s is empty; each row has its time");
        return 0;
    }
    let stated_s = number_of(cell);
    let from_s = *first_s.get_or_insert(stated_s.unwrap_or(0.0));
    let ps = stated_s.map_or(-1.0, |seconds| (seconds - from_s) * PS_PER_SECOND);
    if ps >= MOST_PS {
        let message = format!(
            "{} s is more than 53 days after the beginning; where times are those of the day, clock = \"first\" counts \
             them from the first row",
            quoted(cell)
        );
        problems.add(&at, message);
    } else if !(0.0..MOST_PS).contains(&ps) {
        problems.add(&at, format!("{} is no time_s", quoted(cell)));
    }
    ps.round_ties_even() as u64
}

/// The value of a cell in our units; a gap, or what cannot be, is noted.
fn measured(
    name: &str,
    (kind, unit): (Measured, f64),
    cell: &str,
    row: &Row,
    problems: &mut Problems,
) -> f64 {
    let at = Place::Told(&row.place);
    if cell.is_empty() {
        problems.add(&at, format!("{name} is empty; a profile has no gaps: repeat the value that holds"));
        return 0.0;
    }
    let value = number_of(cell).map_or(-1.0, |stated| stated * unit);
    let most = match kind {
        Measured::Loss => 1.0,
        Measured::Capacity => f64::MAX,
        Measured::Time | Measured::Delay => MOST_PS,
    };
    if !(0.0..=most).contains(&value) {
        problems.add(&at, format!("{} is no {name}", quoted(cell)));
    } else if kind == Measured::Capacity {
        check_capacity(Rate::from_bps(value.round_ties_even() as u64), &at, problems);
    }
    value
}

fn wrong_header(header: &[String]) -> Option<String> {
    let mut kinds: Vec<_> = header.iter().filter_map(|name| column(name)).map(|(kind, _)| kind).collect();
    let has_time = kinds.contains(&Measured::Time);
    kinds.sort_by_key(|kind| *kind as u8);
    kinds.dedup();
    let fits = has_time && kinds.len() >= 2 && kinds.len() == header.len();
    (!fits).then(|| "is not a header with time_s and capacity_mbps, delay_ms or loss, each once".to_owned())
}
