//! Schedulers: which subflow takes the next segment, and with what. Dispatch is an enum.
//!
//! # Registry
//! One line per scheduler; [`Scheduler`] has a variant, and [`SchedulerConfig`] a name, for each.
//! - `lowest-rtt`: [`LowestRtt`], Linux's default.
//! - `round-robin`: [`RoundRobin`], one segment each in turn.
//! - `redundant`: [`Redundant`], everything on every subflow.
//! - `blest`: [`Blest`], lowest RTT unless that would block the receive window (Ferlin 2016).

mod blest;
mod lowest_rtt;
mod redundant;
mod round_robin;
#[cfg(test)]
mod tests;

use super::paths::Paths;
use crate::config::SchedulerConfig;
use anabranch_units::Instant;
use blest::Blest;
use lowest_rtt::LowestRtt;
use redundant::Redundant;
use round_robin::RoundRobin;

/// What a scheduler sees. Positions are in the data of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) now: Instant,
    pub(super) paths: &'a Paths,
    /// First position that is not acknowledged.
    pub(super) data_una: u64,
    /// First position that no subflow has been given.
    pub(super) data_nxt: u64,
    /// Position behind the last that may be sent: what is written, and what the receive window admits.
    pub(super) limit: u64,
    /// Bytes of the receive window, from `data_una` on.
    pub(super) window: u64,
}

/// What a scheduler decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    /// The subflow that takes the next segment; it is ready.
    pub(super) subflow: u8,
    /// Position from which on it takes data: `data_nxt`, or less where data are repeated.
    pub(super) from: u64,
}

/// A scheduler.
pub(super) trait Schedule {
    /// Which subflow takes the next segment of data below `limit`; none to wait.
    fn pick(&mut self, view: &View<'_>) -> Option<Choice>;

    /// A ready subflow for data that another one was given already.
    fn pick_for_repetition(&self, view: &View<'_>) -> Option<u8> {
        fastest(view.paths, view.paths.ready())
    }

    /// Whether data that were sent may be picked for other subflows too, so that none need be reinjected.
    fn repeats(&self) -> bool {
        false
    }

    /// A subflow took data up to `end`.
    fn on_sent(&mut self, _subflow: u8, _end: u64) {}

    /// The receive window is full though a subflow has room.
    fn on_blocked(&mut self, _now: Instant) {}
}

/// The schedulers.
#[derive(Debug)]
pub(super) enum Scheduler {
    LowestRtt(LowestRtt),
    RoundRobin(RoundRobin),
    Redundant(Redundant),
    Blest(Blest),
}

impl Scheduler {
    pub(super) fn new(config: SchedulerConfig, subflows: usize) -> Self {
        match config {
            SchedulerConfig::LowestRtt => Self::LowestRtt(LowestRtt {}),
            SchedulerConfig::RoundRobin => Self::RoundRobin(RoundRobin::default()),
            SchedulerConfig::Redundant => Self::Redundant(Redundant::new(subflows)),
            SchedulerConfig::Blest => Self::Blest(Blest::default()),
        }
    }
}

/// Passes a call on to whichever scheduler it is.
macro_rules! dispatch {
    ($self:ident, $scheduler:ident => $call:expr) => {
        match $self {
            Scheduler::LowestRtt($scheduler) => $call,
            Scheduler::RoundRobin($scheduler) => $call,
            Scheduler::Redundant($scheduler) => $call,
            Scheduler::Blest($scheduler) => $call,
        }
    };
}

impl Schedule for Scheduler {
    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        dispatch!(self, s => s.pick(view))
    }

    fn pick_for_repetition(&self, view: &View<'_>) -> Option<u8> {
        dispatch!(self, s => s.pick_for_repetition(view))
    }

    #[inline]
    fn repeats(&self) -> bool {
        dispatch!(self, s => s.repeats())
    }

    #[inline]
    fn on_sent(&mut self, subflow: u8, end: u64) {
        dispatch!(self, s => s.on_sent(subflow, end));
    }

    fn on_blocked(&mut self, now: Instant) {
        dispatch!(self, s => s.on_blocked(now));
    }
}

/// The one with the smallest smoothed RTT, the first of several; one without a sample counts as zero, as in Linux.
#[inline]
fn fastest(paths: &Paths, among: impl Iterator<Item = u8>) -> Option<u8> {
    among.min_by_key(|&subflow| paths.get(subflow).srtt)
}
