//! What a row of a measurement says of a link.

use crate::event::MeasuredValue;

pub(super) const PS_PER_SECOND: f64 = 1e12;
pub(super) const PS_PER_MS: u64 = 1_000_000_000;

/// What a row gives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Measured {
    Time,
    /// In bits per second.
    Capacity,
    /// In picoseconds.
    Delay,
    /// A probability.
    Loss,
}

impl Measured {
    /// Its name for people.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Capacity => "capacity",
            Self::Delay => "delay",
            Self::Loss => "loss",
        }
    }
}

impl From<MeasuredValue> for Measured {
    fn from(value: MeasuredValue) -> Self {
        match value {
            MeasuredValue::Capacity => Self::Capacity,
            MeasuredValue::Delay => Self::Delay,
            MeasuredValue::Loss => Self::Loss,
        }
    }
}

/// Values from a time on.
#[derive(Debug)]
pub(super) struct Conditions {
    /// In picoseconds from the beginning of the file.
    pub at: u64,
    pub values: Vec<(Measured, f64)>,
}

/// A file that was read.
#[derive(Default, Debug)]
pub(super) struct Read {
    /// In order of time.
    pub rows: Vec<Conditions>,
    /// How long the file lasts, in picoseconds, where it says so.
    pub length: Option<u64>,
}
