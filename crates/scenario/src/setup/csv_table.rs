//! Tables of a user's in CSV files: header, number of cells and numbers checked, with file and line.

use crate::problem::Problem;
use crate::words::quoted;

/// A row with its cells by column, stripped and without the apostrophe that keeps spreadsheets from running them.
#[derive(Debug)]
pub(super) struct Row {
    /// File and line, for messages.
    pub place: String,
    cells: Vec<(String, String)>,
}

impl Row {
    /// The cell of a column; empty where there is no such column.
    pub(super) fn cell(&self, column: &str) -> &str {
        self.cells.iter().find(|(name, _)| name == column).map_or("", |(_, cell)| cell)
    }

    /// Cells in the order of their columns.
    pub(super) fn cells(&self) -> &[(String, String)] {
        &self.cells
    }
}

/// A row, or what is wrong with it, or with the table.
pub(super) type Read = Result<Row, Problem>;

/// The rows of a table with these columns, in any order, and perhaps with optional ones.
pub(super) fn table_rows(name: &str, text: &str, columns: &[&str], optional: &[&str]) -> Vec<Read> {
    let wrong = |header: &[String]| {
        let is_known = |column: &str| columns.contains(&column) || optional.contains(&column);
        let mut sorted = header.to_vec();
        sorted.sort();
        sorted.dedup();
        let fits = sorted.len() == header.len()
            && header.iter().all(|column| is_known(column))
            && columns.iter().all(|column| header.iter().any(|cell| cell == column));
        let besides = if optional.is_empty() {
            String::new()
        } else {
            format!(", and may have {}", optional.join(", "))
        };
        (!fits).then(|| format!("is no header with the columns {}{besides}", columns.join(",")))
    };
    csv_rows(name, text, &wrong)
}

/// The rows of a table below its header; empty lines are skipped. `wrong` says what is wrong with a header.
pub(super) fn csv_rows(name: &str, text: &str, wrong: &dyn Fn(&[String]) -> Option<String>) -> Vec<Read> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut records = reader.records();
    let header: Vec<String> = match records.next() {
        Some(Ok(record)) => record.iter().map(|cell| cell.trim().to_owned()).collect(),
        Some(Err(error)) => {
            return vec![Err(Problem::at(name, format!("is no CSV: {error}")))];
        }
        None => Vec::new(),
    };
    if let Some(reason) = wrong(&header) {
        let message = format!("{} {reason}", quoted(&header.join(",")));
        return vec![Err(Problem::at(&format!("{name}, line 1"), message))];
    }
    let mut rows = Vec::new();
    for record in records {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                rows.push(Err(Problem::at(name, format!("is no CSV: {error}"))));
                break;
            }
        };
        let place = format!("{name}, line {}", record.position().map_or(0, csv::Position::line));
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        if record.len() != header.len() {
            let message = format!("has {} cells in place of {}", record.len(), header.len());
            rows.push(Err(Problem::at(&place, message)));
            continue;
        }
        let cells = record.iter().map(|cell| unescaped(cell.trim()).to_owned());
        rows.push(Ok(Row { place, cells: header.iter().cloned().zip(cells).collect() }));
    }
    rows
}

/// The text of a cell without the apostrophe that stands before what a spreadsheet would take for a formula.
fn unescaped(cell: &str) -> &str {
    let formula = cell.trim_start_matches('\'');
    let is_escaped = formula.len() < cell.len() && formula.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_escaped { &cell[1..] } else { cell }
}

/// The finite number that a text is, if it is one.
pub(super) fn number_of(text: &str) -> Option<f64> {
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c))
        && text.contains(|c: char| c.is_ascii_digit())
        && !text.starts_with(['e', 'E']);
    text.parse().ok().filter(|value: &f64| is_plain && value.is_finite())
}
