//! What can go wrong: a setup that does not hold, a file that cannot be written.

use crate::capture::CaptureWriteError;
use anabranch_network::NetworkError;
use anabranch_routing::PlanError;
use anabranch_units::Instant;
use anabranch_units::declaration::OutOfRange;
use thiserror::Error;

/// A value of a setup that does not hold.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{place}: {problem}")]
pub struct SetupError {
    /// Where, such as `flows[3].to`.
    pub place: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl SetupError {
    /// An error at a place.
    #[must_use]
    pub fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }

    /// A parameter of the algorithm at a place is out of range.
    #[must_use]
    pub fn below(place: &str, problem: OutOfRange) -> Self {
        Self::new(format!("{place}.{}", problem.parameter), problem.problem)
    }
}

/// Why a run could not be made or finished.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The setup does not hold.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The network does not hold.
    #[error("network: {0}")]
    Network(#[from] NetworkError),
    /// The plan does not hold.
    #[error("plan: {0}")]
    Plan(#[from] PlanError),
    /// The run is beyond the time that it was to go on to.
    #[error("the run is at {now} and cannot go back to {until}")]
    Past {
        /// The simulated time.
        now: Instant,
        /// Where it was to go.
        until: Instant,
    },
    /// A capture file cannot be written.
    #[error(transparent)]
    Capture(#[from] CaptureWriteError),
    /// Packets were lost from the books, or made up: a bug in the engine.
    #[error("the books do not balance, which is a bug: {0}")]
    Conservation(String),
}
