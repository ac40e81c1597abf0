//! A study: runs of a scenario over the levels of its factors, and what is measured of them.

use crate::field_path::field_path;
use crate::network::names_file;
use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::read::{EMPTY, Form, Read, Reading, Usual, entries};
use crate::scenario::{Scenario, Title};
use crate::words::{all_quoted, float, quoted};
use anabranch_units::declaration::{above, at_least};

/// Statistics beside the percentiles.
const STATISTICS: &[&str] = &["mean", "median", "min", "max", "sum", "count", "jain", "first"];
/// Letters of a name that becomes one of a file, with its ending.
const MOST_LETTERS: usize = 200;

/// A value of a field of the scenario, which says itself whether it holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Anything(pub Node);

impl Read for Anything {
    fn form() -> Form {
        Form::Free
    }

    fn read(node: &Node, _: &Place<'_>, _: &mut Problems) -> Option<Self> {
        Some(Self(node.clone()))
    }
}

/// Text that holds by a rule of its own.
macro_rules! texts {
    ($( $(#[doc = $doc:literal])+ $name:ident, $wrong:ident; )+) => { $(
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $name(pub String);

        impl Usual for $name {
            fn usual(&self) -> serde_json::Value {
                self.0.clone().into()
            }
        }

        impl Read for $name {
            fn form() -> Form {
                Form::AnyText
            }

            fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
                let text = Title::read(node, at, problems)?.0;
                if let Err(message) = $wrong(&text) {
                    problems.add(at, message);
                    return None;
                }
                Some(Self(text))
            }
        }
    )+ };
}

texts! {
    /// The path of a field of the scenario.
    FieldName, is_field;
    /// The name of a column.
    ColumnName, is_column;
    /// What becomes of the values of a column.
    Statistic, is_statistic;
}

fn is_field(text: &str) -> Result<(), String> {
    field_path(text).map(|_| ())
}

fn is_column(text: &str) -> Result<(), String> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) || !text.chars().all(is_letter) {
        let message = "is no column name; write letters, digits and _, such as \"fct_us\"";
        return Err(format!("{} {message}", quoted(text)));
    }
    if text.len() > MOST_LETTERS {
        let length = text.len();
        return Err(format!(
            "has {length} letters, and figures have it as their file name; {MOST_LETTERS} at most"
        ));
    }
    Ok(())
}

fn is_statistic(text: &str) -> Result<(), String> {
    let percentile = text.strip_prefix('p').filter(|digits| {
        let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        is_number && !digits.starts_with('0')
    });
    if STATISTICS.contains(&text) || percentile.is_some() {
        return Ok(());
    }
    let listed = all_quoted(STATISTICS.iter().copied());
    Err(format!("{} is not known; there are {listed}, and percentiles such as \"p95\"", quoted(text)))
}

/// Fields of the scenario, each with its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings(pub Vec<(String, Node)>);

impl Read for Settings {
    fn form() -> Form {
        Form::Named(Box::new(Form::Free), 1)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entries = entries("a dictionary", node, at, problems)?;
        let before = problems.count();
        if entries.is_empty() {
            problems.add(at, EMPTY);
        }
        for (key, _) in entries {
            if let Err(message) = field_path(key) {
                problems.add(&at.key(key), message);
            }
        }
        (problems.count() == before).then(|| Self(entries.to_vec()))
    }
}

/// The rows that count: values of columns.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Rows(pub Vec<(String, Node)>);

impl Usual for Rows {
    fn usual(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

impl Read for Rows {
    fn form() -> Form {
        Form::Named(Box::new(Form::Free), 0)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entries = entries("a dictionary", node, at, problems)?;
        let before = problems.count();
        for (column, wanted) in entries {
            let is_single =
                |value: &Node| matches!(value.value, Value::Text(_) | Value::Integer(_) | Value::Huge(_));
            let holds = match &wanted.value {
                Value::List(values) => !values.is_empty() && values.iter().all(is_single),
                _ => is_single(wanted),
            };
            if !holds {
                let message = format!("{} is no text or whole number, and no list of them", wanted.shown());
                problems.add(&at.key(column), message);
            }
        }
        (problems.count() == before).then(|| Self(entries.to_vec()))
    }
}

/// The scenario of a study: the name of a file, or a table, which is read when the study begins.
#[derive(Clone, PartialEq, Debug)]
pub struct Source(pub Node);

impl Read for Source {
    fn form() -> Form {
        Form::OneOf(vec![Form::AnyText, Scenario::form()])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if node.text().is_none() && node.table().is_none() {
            let message = "is neither a file name, such as \"dumbbell.toml\", nor a scenario";
            problems.add(at, format!("{} {message}", node.shown()));
            return None;
        }
        Some(Self(node.clone()))
    }
}

crate::choices! {
    /// What is kept of each run.
    pub enum Keep {
        /// Its metrics.
        "metrics" => Metrics,
        /// Its tables as well.
        "tables" => Tables,
    }
}

crate::choices! {
    /// The form of a figure.
    pub enum FigureForm {
        /// Portable network graphics.
        "png" => Png,
        /// Portable document format.
        "pdf" => Pdf,
        /// Scalable vector graphics.
        "svg" => Svg,
    }
}

/// Forms of figures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figures(pub Vec<FigureForm>);

impl Usual for Figures {
    fn usual(&self) -> serde_json::Value {
        self.0.iter().map(Usual::usual).collect()
    }
}

impl Read for Figures {
    fn form() -> Form {
        Vec::<FigureForm>::form()
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Read::read(node, at, problems).map(Self)
    }
}

crate::table! {
    /// Equally spaced levels, both ends included.
    pub struct Range {
        /// The first level: a number or a quantity.
        first as "from": Anything;
        /// The last level, if whole steps lead there; nothing beyond it.
        last as "to": Anything;
        /// From each level to the next.
        step: Anything;
    }
}

crate::table! {
    /// One level of a factor that sets several fields together.
    pub struct Level {
        /// Its name in tables and figures.
        label: String;
        /// Fields of the scenario, each with its value.
        settings as "set": Settings;
    }
}

crate::table! {
    /// What differs from cell to cell: a field with its levels, or levels that set several fields.
    pub struct Factor {
        /// A field of the scenario, such as `network.links.queue` or `traffic[0].flows`.
        field: Option<FieldName>;
        /// Its name in tables and figures; the field, where it is left out.
        label: Option<String>;
        /// Values of the field.
        levels: Option<Vec<Anything>>;
        /// In place of `levels`: equally spaced ones.
        range: Option<Range>;
        /// In place of `levels`: the traffic matrices of a file, a folder or a pattern, `"file:tms/*.xml"`, each with its
        /// time as its name. The field is the table that has the matrix: `routing.demand.matrix` or
        /// `traffic[0].matrix`.
        matrices: Option<String>;
        /// In place of `field`: levels with names that set several fields together.
        level: Option<Vec<Level>>;
    }
    together has_levels;
}

fn has_levels(read: &Factor, table: &mut Reading<'_, '_>) -> Option<()> {
    let empty = "is empty; a factor has at least one level";
    if let Some(levels) = &read.level {
        let given = [
            ("field", read.field.is_some()),
            ("levels", read.levels.is_some()),
            ("range", read.range.is_some()),
            ("matrices", read.matrices.is_some()),
        ];
        if let Some((key, _)) = given.iter().find(|(_, is_given)| *is_given) {
            let message = "the levels in [[factor.level]] say themselves what they set; leave it out";
            return table.refuse(key, message);
        }
        if read.label.is_none() {
            return table.refuse("label", "is missing; a factor that sets several fields needs a name");
        }
        return if levels.is_empty() { table.refuse("level", empty) } else { Some(()) };
    }
    if read.field.is_none() {
        let message = "is missing; it names what the levels set, such as network.links.queue";
        return table.refuse("field", message);
    }
    if let Some(file) = &read.matrices {
        let field = read.field.as_ref().map_or("", |field| field.0.as_str());
        if read.levels.is_some() || read.range.is_some() {
            return table.refuse("levels", "the levels are the matrices; leave it out");
        }
        if !names_file(file) {
            return table.refuse("matrices", format!("{} is not like \"file:tms/*.xml\"", quoted(file)));
        }
        if !field.ends_with(".matrix") && field != "routing.demand.pair" {
            let message =
                "must be a table of a matrix: routing.demand.matrix, traffic[0].matrix and the like";
            return table.refuse("field", message);
        }
        return Some(());
    }
    match (&read.levels, &read.range) {
        (Some(_), Some(_)) => table.refuse("levels", "give either levels or range, not both"),
        (None, None) => table.refuse("levels", "give either levels or range"),
        (Some(levels), None) if levels.is_empty() => table.refuse("levels", empty),
        _ => Some(()),
    }
}

crate::table! {
    /// A number for each run, taken from one column of its tables.
    pub struct Metric {
        /// Name of its column; the unit comes last, as in `fct_us`.
        name: ColumnName;
        /// Its name in tables and figures; `name`, where it is left out.
        label: Option<String>;
        /// A table of the result, or `"summary"`.
        table: String = "flows".into();
        /// Column of the table, or key of the summary.
        column: String;
        /// `mean`, `median`, `min`, `max`, `sum`, `count`, `jain` (Jain's index), `first`, or a
        /// percentile, `p1` to `p99`. What is null does not count.
        statistic: Statistic = Statistic("mean".into());
        /// The statistic is multiplied by it: 1e6 makes microseconds of seconds.
        scale: f64 = 1.0;
        /// Only the rows whose columns equal these values, or one of them where it is a list.
        r#where as "where": Rows = Rows::default();
    }
    together |read, table| {
        if read.scale == 0.0 {
            let message = format!(
                "{} leaves nothing of the statistic; give a finite number that is not 0", float(read.scale)
            );
            return table.refuse("scale", message);
        }
        if !read.r#where.0.is_empty() && read.table == "summary" {
            return table.refuse("where", "the summary has no rows to choose from; leave it out");
        }
        Some(())
    };
}

crate::table! {
    /// What a study leaves for people, beside its tables.
    pub struct Output {
        /// A workbook with a sheet for each metric, table and chart: `study.xlsx`; left out: where XlsxWriter is
        /// installed, as `anabranch[spreadsheet]` does.
        spreadsheet: Option<bool>;
        /// Forms of the figure of each metric, in `figures/`; empty for none.
        figures: Figures = Figures(vec![FigureForm::Png]);
    }
}

impl Usual for Output {
    fn usual(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

impl Default for Output {
    fn default() -> Self {
        Self { spreadsheet: None, figures: Figures(vec![FigureForm::Png]) }
    }
}

crate::table! {
    /// Runs of one scenario over all combinations of the levels of its factors, each several times.
    pub struct Study {
        /// One line for people.
        title: Title = Title::default();
        /// The scenario: a file, relative to the study's own, or a whole scenario in a table.
        scenario: Source;
        /// Runs of each combination; replication r has `run.replication = r`, and so its own random streams.
        replications: u64 = 1, at_least(1);
        /// Probability with which a confidence interval holds the mean.
        confidence: f64 = 0.95, above(0.0).below(1.0);
        /// What is kept of each run: its metrics, or its tables as well.
        keep: Keep = Keep::Metrics;
        /// What differs, the slowest first; without any, there are only replications.
        factors as "factor": Vec<Factor> = Vec::new();
        /// What is measured; left out: goodput, completion times, fairness, retransmissions, queues and losses.
        metrics as "metric": Vec<Metric> = Vec::new();
        /// What is written for people when all runs are done.
        output: Output = Output::default();
    }
}
