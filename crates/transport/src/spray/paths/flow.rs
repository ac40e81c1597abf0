//! `flow`: one value for all packets of a flow, drawn at its start.

use super::{ConfiguredSelector, PathSelector, Start};
use crate::congestion::Draws;
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// One entropy value for a flow: it keeps to a path, as with ECMP.
    #[derive(Copy)]
    pub struct OneValueParameters {}
}

/// The value.
#[derive(Debug)]
pub struct OneValue(u16);

impl ConfiguredSelector for OneValue {
    type Parameters = OneValueParameters;

    fn configured(_: &OneValueParameters, _: Start, draws: &mut Draws) -> Self {
        Self((draws.next() >> 48) as u16)
    }
}

impl PathSelector for OneValue {
    fn next(&mut self, _: Instant, _: &mut Draws) -> u16 {
        self.0
    }
}
