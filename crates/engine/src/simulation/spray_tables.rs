//! What flows of `spray` do beyond others; only where there are any.

use super::Simulation;
use crate::records::Table;
use anabranch_transport::spray::SpraySenderStats;

impl Simulation {
    /// The table of flows of `spray`; none where there is none.
    pub(super) fn spray_tables(&self) -> Option<Table> {
        let flows = self.flows.iter().zip(0..);
        let rows: Vec<_> = flows
            .filter_map(|(flow, index)| Some((index, flow.application.start, *flow.sender.spray_stats()?)))
            .collect();
        if rows.is_empty() {
            return None;
        }
        let mut table = Table::new("spray_flows");
        table.integers("flow", rows.iter().map(|row| row.0));
        table.texts("name", rows.iter().map(|row| &self.setup.flows[row.0 as usize].name));
        let acknowledged = rows.iter().map(|(_, start, stats)| {
            stats.acknowledged_at.map_or(f64::NAN, |at| at.saturating_since(*start).as_secs_f64())
        });
        table.numbers("acknowledged_s", acknowledged);
        let trims = rows.iter().map(|row| self.data.taps.drops.at(row.0 as usize).trims);
        table.integers("trims", trims);
        let mut count = |name, value: fn(&SpraySenderStats) -> u64| {
            table.integers(name, rows.iter().map(|row| value(&row.2)));
        };
        count("trims_last_hop", |stats| stats.nacks_last_hop);
        count("losses", |stats| stats.losses);
        count("probes", |stats| stats.probes);
        Some(table)
    }
}
