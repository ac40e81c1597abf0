//! `oblivious`: all values in turn, each lap in another order.

use super::{ConfiguredSelector, PathSelector, Start, power_of_two};
use crate::congestion::Draws;
use anabranch_units::Instant;
use anabranch_units::declaration::{OutOfRange, at_least};

anabranch_units::parameters! {
    /// Entropy values in turn, in another order each lap, whatever becomes of packets.
    #[derive(Copy)]
    pub struct ObliviousParameters {
        /// Values of a lap; a power of two.
        values: u16 = 64, at_least(1).at_most(32_768);
    }
}

/// A counter, whose bits a mask turns over; the mask is drawn anew each lap.
#[derive(Debug)]
pub struct Oblivious {
    values: u16,
    count: u16,
    mask: u16,
}

impl Oblivious {
    pub(super) fn over(values: u16) -> Self {
        Self { values, count: 0, mask: 0 }
    }
}

impl ConfiguredSelector for Oblivious {
    type Parameters = ObliviousParameters;
    const BY_BITS: bool = true;

    fn configured(parameters: &ObliviousParameters, _: Start, _: &mut Draws) -> Self {
        Self::over(parameters.values)
    }

    fn check_together(parameters: &ObliviousParameters) -> Result<(), OutOfRange> {
        power_of_two(parameters.values)
    }

    fn values(parameters: &ObliviousParameters) -> Option<u16> {
        Some(parameters.values)
    }
}

impl PathSelector for Oblivious {
    fn next(&mut self, _: Instant, draws: &mut Draws) -> u16 {
        if self.count == 0 {
            self.mask = (draws.next() >> 48) as u16 & (self.values - 1);
        }
        let value = self.count ^ self.mask;
        self.count = (self.count + 1) % self.values;
        value
    }
}
