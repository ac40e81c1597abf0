//! `random`: each packet has a value of its own, whichever comes.

use super::{ConfiguredSelector, PathSelector, Start, uniform};
use crate::congestion::Draws;
use anabranch_units::Instant;
use anabranch_units::declaration::at_least;

anabranch_units::parameters! {
    /// Each packet takes a random entropy value.
    #[derive(Copy)]
    pub struct RandomParameters {
        /// Values to choose from. Few values over many paths are not even: some paths have more of them.
        values: u16 = 8192, at_least(1);
    }
}

/// Uniform draws.
#[derive(Debug)]
pub struct Random {
    values: u16,
}

impl ConfiguredSelector for Random {
    type Parameters = RandomParameters;

    fn configured(parameters: &RandomParameters, _: Start, _: &mut Draws) -> Self {
        Self { values: parameters.values }
    }

    fn values(parameters: &RandomParameters) -> Option<u16> {
        Some(parameters.values)
    }
}

impl PathSelector for Random {
    fn next(&mut self, _: Instant, draws: &mut Draws) -> u16 {
        uniform(self.values, draws)
    }
}
