//! A selector that is no part of this crate: the caller brings it along, as Python does.

use super::Feedback;
use crate::brought::Brought;
use anabranch_units::Instant;
use std::fmt::Debug;

/// A selector of the caller's own. All calls come from the thread that runs the simulation.
pub trait ExternalSelector: Debug + Send {
    /// The value of the next packet.
    fn next(&mut self, now: Instant) -> u16;

    /// What became of a packet with this value.
    fn on_feedback(&mut self, now: Instant, value: u16, feedback: Feedback);
}

/// Makes the selector of each flow.
pub trait SelectorMaker: Debug + Send + Sync {
    /// The selector of a flow whose host has so many planes; `seed` differs between flows.
    fn selector(&self, planes: u16, seed: u64) -> Box<dyn ExternalSelector>;
}

anabranch_units::leaf! {
    /// The choice of such a selector.
    pub struct ExternalSelecting: "path_selector" by "algorithm" = "python" {
        /// Its number among what the caller brings along.
        pub code: usize,
        ;
        /// What makes it.
        pub maker: Brought<dyn SelectorMaker>,
    }
}
