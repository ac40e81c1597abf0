//! `bitmap`: all values in turn, past those with a penalty (UEC Specification 1.0.3, section 3.6.16).

use super::oblivious::Oblivious;
use super::{ConfiguredSelector, Feedback, PathSelector, Start, power_of_two};
use crate::congestion::Draws;
use anabranch_units::Instant;
use anabranch_units::declaration::{OutOfRange, at_least};

/// Penalty of a mark, of a trim before the last link and of a loss, and the most that counts.
const MARKED: u8 = 1;
const TRIMMED: u8 = 4;
const LOST: u8 = 15;
const LARGEST: u8 = 15;

anabranch_units::parameters! {
    /// Entropy values in turn, past those with a penalty for marks, trims and losses.
    #[derive(Copy)]
    pub struct BitmapParameters {
        /// Values of a lap; a power of two.
        values: u16 = 64, at_least(1).at_most(32_768);
    }
}

/// The turn, and a penalty for each value.
#[derive(Debug)]
pub struct Bitmap {
    turn: Oblivious,
    penalties: Vec<u8>,
}

impl Bitmap {
    pub(super) fn over(values: u16) -> Self {
        Self { turn: Oblivious::over(values), penalties: vec![0; usize::from(values)] }
    }
}

impl ConfiguredSelector for Bitmap {
    type Parameters = BitmapParameters;
    const BY_BITS: bool = true;

    fn configured(parameters: &BitmapParameters, _: Start, _: &mut Draws) -> Self {
        Self::over(parameters.values)
    }

    fn check_together(parameters: &BitmapParameters) -> Result<(), OutOfRange> {
        power_of_two(parameters.values)
    }

    fn values(parameters: &BitmapParameters) -> Option<u16> {
        Some(parameters.values)
    }
}

impl PathSelector for Bitmap {
    fn next(&mut self, now: Instant, draws: &mut Draws) -> u16 {
        let mut value = self.turn.next(now, draws);
        // The first that is passed over has a penalty of one less, and after a lap the next one will do.
        for step in 0..self.penalties.len() {
            let penalty = &mut self.penalties[usize::from(value)];
            if *penalty == 0 {
                break;
            }
            *penalty -= u8::from(step == 0);
            value = self.turn.next(now, draws);
        }
        value
    }

    fn on_feedback(&mut self, _: Instant, value: u16, feedback: Feedback) {
        let more = match feedback {
            Feedback::Marked => MARKED,
            Feedback::Trimmed => TRIMMED,
            Feedback::Lost => LOST,
            Feedback::Clean | Feedback::TrimmedAtLastHop | Feedback::Probed => return,
        };
        let values = self.penalties.len();
        let penalty = &mut self.penalties[usize::from(value) % values];
        *penalty = (*penalty + more).min(LARGEST);
    }
}
