use anabranch_units::Span;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why captures cannot be analysed.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// Files that cannot be used, each with what is wrong with it.
    #[error("{}", files.iter().map(FileProblem::to_string).collect::<Vec<_>>().join("\n"))]
    Files {
        /// Every file that cannot be used.
        files: Vec<FileProblem>,
    },
    /// The files are captures, but nothing in them can be analysed.
    #[error("{0}")]
    Nothing(String),
    /// The series would have more rows than memory should hold.
    #[error("{rows} rows of the series, above {most}; take an interval of at least {}", in_its_unit(*interval))]
    TooManyRows {
        /// Rows that the interval gives.
        rows: u64,
        /// Most rows allowed.
        most: u64,
        /// An interval that fits, of three significant digits.
        interval: Span,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// An interval as one may write it again: in the largest unit of which it has one.
fn in_its_unit(interval: Span) -> String {
    let units = [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000)];
    let has_one = |unit: &(&str, u64)| interval.as_ps() >= unit.1;
    let (unit, ps) = units.into_iter().find(has_one).unwrap_or(("ps", 1));
    format!("{} {unit}", interval.as_ps() as f64 / ps as f64)
}

/// A file that cannot be used.
#[derive(Debug, Error)]
#[error("{}: {problem}", path.display())]
pub struct FileProblem {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, and what would be right.
    pub problem: String,
    /// Whether the file is there and can be read, and what it holds is no capture.
    pub(crate) is_of_contents: bool,
}

impl FileProblem {
    pub(crate) fn new(path: &std::path::Path, problem: impl Into<String>) -> Self {
        Self { path: path.to_path_buf(), problem: problem.into(), is_of_contents: false }
    }

    /// A file that holds no capture, beside which others can be analysed.
    pub(crate) fn of_contents(path: &std::path::Path, problem: impl Into<String>) -> Self {
        Self { is_of_contents: true, ..Self::new(path, problem) }
    }

    pub(crate) fn io(path: &std::path::Path, error: &io::Error) -> Self {
        let problem = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "may not be read; tcpdump writes its files as root".to_owned(),
            _ => format!("cannot be read: {error}"),
        };
        Self::new(path, problem)
    }
}
