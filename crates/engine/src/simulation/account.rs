//! What tables say of a flow, under way or gone.

use super::flow::Flow;
use super::receiving::Receiving;
use crate::reordering::{Reordering, Totals};
use anabranch_transport::Failure;
use anabranch_transport::tcp::SenderStats;
use anabranch_units::{Instant, MaybeInstant, Span};

/// What has come of a flow so far.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Account {
    /// When its application opened it, or will.
    pub(super) start: Instant,
    pub(super) opened: bool,
    /// Whether it can complete.
    pub(super) ends: bool,
    pub(super) failure: Option<Failure>,
    pub(super) established_at: MaybeInstant,
    pub(super) first_data_at: MaybeInstant,
    pub(super) fin_at: MaybeInstant,
    pub(super) completed_at: MaybeInstant,
    pub(super) delivered: u64,
    pub(super) duplicate_segments: u64,
    pub(super) marked_segments: u64,
    pub(super) sent: SenderStats,
    pub(super) smallest_rtt: Span,
    pub(super) mean_rtt: Span,
    pub(super) largest_rtt: Span,
    pub(super) reordering: Totals,
}

impl Account {
    /// Of a flow that is under way, and its end that receives.
    pub(super) fn of(flow: &Flow, receiving: &Receiving) -> Self {
        let (application, sender) = (&flow.application, &flow.sender);
        let (receiver, rtt) = (receiving.agent.stats(), sender.rtt());
        Self {
            start: application.start,
            opened: application.opened(),
            ends: application.ends(),
            failure: sender.failure(),
            established_at: sender.established_at().into(),
            first_data_at: flow.first_data_at,
            fin_at: flow.fin_at,
            completed_at: receiving.completed_at,
            delivered: receiver.delivered,
            duplicate_segments: receiver.duplicate_segments,
            marked_segments: receiver.marked_segments,
            sent: sender.stats(),
            smallest_rtt: rtt.min,
            mean_rtt: rtt.mean,
            largest_rtt: rtt.max,
            reordering: Reordering::sum(receiving.reordering.iter()),
        }
    }

    /// Of one that has not begun.
    pub(super) fn of_none(start: Instant, ends: bool) -> Self {
        Self {
            start,
            opened: false,
            ends,
            failure: None,
            established_at: MaybeInstant::NONE,
            first_data_at: MaybeInstant::NONE,
            fin_at: MaybeInstant::NONE,
            completed_at: MaybeInstant::NONE,
            delivered: 0,
            duplicate_segments: 0,
            marked_segments: 0,
            sent: SenderStats::default(),
            smallest_rtt: Span::ZERO,
            mean_rtt: Span::ZERO,
            largest_rtt: Span::ZERO,
            reordering: Totals::default(),
        }
    }

    /// From the opening (the SYN) to the arrival of the last byte, or to now.
    pub(super) fn active(&self, now: Instant) -> Span {
        active(now, self.start, self.completed_at)
    }
}

/// From the opening of a flow to its completion, or to now.
pub(super) fn active(now: Instant, start: Instant, completed_at: MaybeInstant) -> Span {
    completed_at.get().unwrap_or(now).saturating_since(start)
}
