//! Collective operations: when they began and were complete, step by step; only where there are any.

use super::Simulation;
use crate::records::Table;
use crate::setup::CollectiveSetup;
use anabranch_units::{FlowId, Instant};

impl Simulation {
    /// The tables of collective operations and of their steps; none where there is none.
    pub(super) fn collective_tables(&self) -> Vec<Table> {
        let all = &self.setup.collectives;
        if all.is_empty() { Vec::new() } else { vec![self.operations(all), self.steps(all)] }
    }

    /// The flows of a step.
    fn of_step(of: &CollectiveSetup, step: u64) -> impl Iterator<Item = FlowId> + use<> {
        let first = u64::from(of.first.0) + step * of.flows;
        (first..first + of.flows).map(|flow| FlowId(flow as u32))
    }

    /// When the last of some flows was complete; not a number if one is not.
    fn last_complete(&self, flows: impl Iterator<Item = FlowId>) -> f64 {
        let ends: Option<Vec<Instant>> =
            flows.map(|id| self.flows.receiving(id.index())?.completed_at.get()).collect();
        ends.and_then(|ends| ends.into_iter().max()).map_or(f64::NAN, Instant::as_secs_f64)
    }

    /// When the first of some flows began; not a number if none has.
    fn first_start(&self, flows: impl Iterator<Item = FlowId>) -> f64 {
        let starts = flows.map(|id| self.start_of(id)).filter(|&start| start <= self.data.now);
        starts.min().map_or(f64::NAN, Instant::as_secs_f64)
    }

    fn operations(&self, all: &[CollectiveSetup]) -> Table {
        let flows = |of: &CollectiveSetup| (of.first.0..).take((of.flows * of.steps) as usize).map(FlowId);
        let start = |of: &CollectiveSetup| self.first_start(flows(of));
        let chain = |of: &CollectiveSetup, number: u64| {
            self.last_complete(flows(of).skip(number as usize).step_by(of.flows as usize))
        };
        // A chain that is not complete is slower than all that are.
        let slowest = |of: &CollectiveSetup| {
            let ends = (0..of.flows).map(|number| (number, chain(of, number)));
            ends.max_by(|(_, a), (_, b)| a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b)))
                .map_or(0, |(number, _)| number)
        };
        let mut table = Table::new("collectives");
        table.texts("name", all.iter().map(|of| &of.name));
        table.texts("operation", all.iter().map(|of| &of.operation));
        table.integers("hosts", all.iter().map(|of| of.hosts));
        table.integers("steps", all.iter().map(|of| of.steps));
        table.integers("flows", all.iter().map(|of| of.steps * of.flows));
        let unfinished = |of: &CollectiveSetup| {
            let is_complete = |id: FlowId| {
                self.flows.receiving(id.index()).is_some_and(|receiving| receiving.completed_at.is_some())
            };
            flows(of).filter(|&id| !is_complete(id)).count() as u64
        };
        table.integers("unfinished_flows", all.iter().map(unfinished));
        table.numbers("start_s", all.iter().map(start));
        table.numbers("completion_s", all.iter().map(|of| self.last_complete(flows(of)) - start(of)));
        table.integers("slowest_chain", all.iter().map(slowest));
        table
    }

    fn steps(&self, all: &[CollectiveSetup]) -> Table {
        let rows = || all.iter().flat_map(|of| (0..of.steps).map(move |step| (of, step)));
        let mut table = Table::new("collective_steps");
        table.texts("name", rows().map(|(of, _)| &of.name));
        table.integers("step", rows().map(|(_, step)| step));
        let start = |(of, step): (&CollectiveSetup, u64)| self.first_start(Self::of_step(of, step));
        table.numbers("start_s", rows().map(start));
        let end = |row: (&CollectiveSetup, u64)| self.last_complete(Self::of_step(row.0, row.1)) - start(row);
        table.numbers("completion_s", rows().map(end));
        table
    }
}
