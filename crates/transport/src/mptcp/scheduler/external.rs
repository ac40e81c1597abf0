//! A scheduler that is no part of this crate: the caller brings it along, as Python does.

use super::{Choice, SubflowScheduler, View};
use crate::brought::Brought;
use anabranch_units::{Instant, Span};
use std::fmt::Debug;

/// Data that wait for a subflow.
#[derive(Clone, Copy, Debug)]
pub struct WaitingData {
    /// When.
    pub now: Instant,
    /// Bytes that no subflow has been given and that may be sent.
    pub unsent: u64,
    /// Bytes that some subflow has been given and that are not acknowledged.
    pub unacknowledged: u64,
    /// Bytes of the receive window.
    pub window: u64,
}

/// A subflow that can take a segment.
#[derive(Clone, Copy, Debug)]
pub struct ReadySubflow {
    /// Its number.
    pub number: u8,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Span,
    /// Window in bytes.
    pub cwnd: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Payload bytes of a full segment.
    pub payload: u64,
}

/// A scheduler of the caller's own. All calls come from the thread that runs the simulation.
pub trait ExternalScheduler: Debug + Send {
    /// Which of the subflows takes the next segment, by its number; none to wait. There is at least one.
    fn pick(&mut self, data: &WaitingData, ready: &[ReadySubflow]) -> Option<u8>;
}

/// Makes the scheduler of each connection.
pub trait SchedulerMaker: Debug + Send + Sync {
    /// The scheduler at the start of a connection.
    fn scheduler(&self) -> Box<dyn ExternalScheduler>;
}

anabranch_units::leaf! {
    /// The choice of such a scheduler.
    pub struct ExternalScheduling: "scheduler" by "algorithm" = "python" {
        /// Its number among what the caller brings along.
        pub code: usize,
        ;
        /// What makes it.
        pub maker: Brought<dyn SchedulerMaker>,
    }
}

/// Such a scheduler at work.
#[derive(Debug)]
pub(in crate::mptcp) struct External {
    scheduler: Box<dyn ExternalScheduler>,
    ready: Vec<ReadySubflow>,
}

impl External {
    pub(super) fn new(choice: &ExternalScheduling) -> Self {
        Self { scheduler: choice.maker.get().scheduler(), ready: Vec::new() }
    }
}

impl SubflowScheduler for External {
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        let seen = |number: u8| {
            let path = view.paths.get(number);
            ReadySubflow {
                number,
                srtt: path.srtt,
                cwnd: path.cwnd,
                in_flight: path.in_flight,
                payload: path.payload,
            }
        };
        self.ready.clear();
        self.ready.extend(view.paths.ready().map(seen));
        let first = self.ready.first()?.number;
        let data = WaitingData {
            now: view.now,
            unsent: view.limit.saturating_sub(view.data_nxt),
            unacknowledged: view.data_nxt.saturating_sub(view.data_una),
            window: view.window,
        };
        let picked = self.scheduler.pick(&data, &self.ready)?;
        // A number of no ready subflow counts as the first.
        let is_ready = self.ready.iter().any(|subflow| subflow.number == picked);
        Some(Choice { subflow: if is_ready { picked } else { first }, from: view.data_nxt })
    }
}
