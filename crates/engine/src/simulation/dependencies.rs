//! Flows that begin when others are complete.

use super::Simulation;
use crate::setup::Setup;
use anabranch_units::{FlowId, Instant, Span};
use std::collections::BTreeMap;

/// What waits for what; empty where nothing does.
#[derive(Default)]
pub(super) struct Dependencies {
    /// For each flow those that wait for it.
    waiting: BTreeMap<FlowId, Vec<FlowId>>,
    /// For each that waits: how many it still waits for, and how long behind the last it begins.
    missing: BTreeMap<FlowId, (usize, Span)>,
}

impl Dependencies {
    pub(super) fn new(setup: &Setup) -> Self {
        let mut all = Self::default();
        for wait in setup.waits.iter().filter(|wait| !wait.after.is_empty()) {
            all.missing.insert(wait.flow, (wait.after.len(), wait.delay));
            for &other in &wait.after {
                all.waiting.entry(other).or_default().push(wait.flow);
            }
        }
        all
    }

    /// Whether a flow waits for others.
    pub(super) fn holds(&self, flow: FlowId) -> bool {
        self.missing.contains_key(&flow)
    }

    /// A flow is complete: those that need not wait longer than so much more.
    fn complete(&mut self, flow: FlowId) -> Vec<(FlowId, Span)> {
        let mut ready = Vec::new();
        for waiting in self.waiting.remove(&flow).unwrap_or_default() {
            let Some((missing, delay)) = self.missing.get_mut(&waiting) else { continue };
            *missing -= 1;
            if *missing == 0 {
                ready.push((waiting, *delay));
                self.missing.remove(&waiting);
            }
        }
        ready
    }
}

impl Simulation {
    /// Flows that waited for this one begin, if it was the last.
    pub(super) fn begin_waiting(&mut self, id: FlowId) {
        let now = self.data.now;
        for (flow, delay) in self.dependencies.complete(id) {
            let application = &mut self.flows[flow.index()].application;
            let at = application.released_at(now.saturating_add(delay));
            if at < self.end {
                self.data.schedule.set(self.data.numbering.application(flow), at);
            }
        }
    }

    /// Flows that wait have no start yet.
    pub(super) fn hold_waiting(&mut self) {
        for (index, flow) in self.flows.iter_mut().enumerate() {
            if self.dependencies.holds(FlowId::from_index(index)) {
                flow.application.hold();
            }
        }
    }

    /// When a flow has begun or will; [`Instant::MAX`] while that is not known.
    pub(super) fn start_of(&self, id: FlowId) -> Instant {
        self.flows[id.index()].application.start
    }
}
