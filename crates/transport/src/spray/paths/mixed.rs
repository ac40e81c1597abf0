//! `mixed`: values that came back unmarked first, all of them, and `bitmap` where there is none; the default of uet-htsim.

use super::bitmap::Bitmap;
use super::{ConfiguredSelector, Feedback, PathSelector, Start, power_of_two};
use crate::congestion::Draws;
use anabranch_units::Instant;
use anabranch_units::declaration::{OutOfRange, at_least};
use std::collections::VecDeque;

anabranch_units::parameters! {
    /// Entropy values that came back unmarked, in order, and `bitmap` where there is none.
    #[derive(Copy)]
    pub struct MixedParameters {
        /// Values of a lap of `bitmap`; a power of two.
        values: u16 = 64, at_least(1).at_most(32_768);
    }
}

/// Both.
#[derive(Debug)]
pub struct Mixed {
    bitmap: Bitmap,
    unmarked: VecDeque<u16>,
}

impl ConfiguredSelector for Mixed {
    type Parameters = MixedParameters;
    const BY_BITS: bool = true;

    fn configured(parameters: &MixedParameters, _: Start, _: &mut Draws) -> Self {
        Self { bitmap: Bitmap::over(parameters.values), unmarked: VecDeque::new() }
    }

    fn check_together(parameters: &MixedParameters) -> Result<(), OutOfRange> {
        power_of_two(parameters.values)
    }

    fn values(parameters: &MixedParameters) -> Option<u16> {
        Some(parameters.values)
    }
}

impl PathSelector for Mixed {
    fn next(&mut self, now: Instant, draws: &mut Draws) -> u16 {
        self.unmarked.pop_front().unwrap_or_else(|| self.bitmap.next(now, draws))
    }

    fn on_feedback(&mut self, now: Instant, value: u16, feedback: Feedback) {
        // All ways lead over the last link: cut off there, a packet came unmarked as far as its value decides.
        if matches!(feedback, Feedback::Clean | Feedback::TrimmedAtLastHop) {
            self.unmarked.push_back(value);
        }
        self.bitmap.on_feedback(now, value, feedback);
    }
}
