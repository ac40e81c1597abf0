//! What polling tells the controller, and the tables of the control plane at the end of a run.

use super::ControlPlane;
use crate::control::table::FlowTable;
use crate::control::{Application, Breach, KINDS, Statistics};
use crate::records::Table;
use crate::simulation::columns::mbps;
use anabranch_network::Network;
use anabranch_units::{Instant, NodeId};

impl ControlPlane {
    pub(super) fn note_statistics(&mut self, now: Instant, statistics: &Statistics) {
        for counters in &statistics.sent {
            let (at, bytes) = &mut self.last_bytes[counters.link.index()];
            // A way that has become shorter lets a newer answer overtake an older one.
            if statistics.at < *at {
                continue;
            }
            let new_bytes = counters.sent_bytes.saturating_sub(*bytes);
            let rate = mbps(new_bytes, statistics.at.since(*at));
            (*at, *bytes) = (statistics.at, counters.sent_bytes);
            self.statistics.push((now, *counters, rate));
        }
    }

    /// Notes how many entries each switch has.
    pub(in crate::simulation) fn sample_tables(&mut self, now: Instant) {
        let tables = self.tables.iter().enumerate();
        let rows = tables.filter_map(|(node, table)| Some((NodeId::from_index(node), table.as_ref()?.len())));
        self.table_series.extend(rows.map(|(node, entries)| (now.as_secs_f64(), node, entries)));
    }

    /// Tables of the run: messages by kind, flow tables, and what polling has told.
    pub(in crate::simulation) fn tables(&self, network: &Network, lost: (u64, u64)) -> Vec<Table> {
        let mut messages = Table::new("control_messages");
        let kinds = KINDS.iter().copied().chain(["lost"]);
        messages.texts("kind", kinds);
        messages.integers("messages", self.sent.iter().map(|count| count.0).chain([lost.0]));
        messages.integers("bytes", self.sent.iter().map(|count| count.1).chain([lost.1]));
        let mut tables = Table::new("flow_tables");
        let switches: Vec<(NodeId, &FlowTable)> = network
            .node_ids()
            .filter_map(|node| self.tables[node.index()].as_ref().map(|table| (node, table)))
            .collect();
        tables.texts("switch", switches.iter().map(|(node, _)| &network.node(*node).name));
        tables.integers("entries", switches.iter().map(|(_, table)| table.len()));
        let stats = || switches.iter().map(|(_, table)| table.stats());
        tables.integers("entries_max", stats().map(|stats| stats.most_entries));
        tables.integers("hits", stats().map(|stats| stats.hits));
        tables.integers("misses", stats().map(|stats| stats.misses));
        tables.integers("refused", stats().map(|stats| stats.refused));
        tables.integers("evicted", stats().map(|stats| stats.evicted));
        tables.integers("expired_idle", stats().map(|stats| stats.expired_idle));
        tables.integers("expired_hard", stats().map(|stats| stats.expired_hard));
        let detours = || switches.iter().map(|(node, _)| self.detours[node.index()]);
        tables.integers("packets_in", detours().map(|detours| detours.count));
        tables.numbers("packet_in_mean_ms", detours().map(|detours| detours.milliseconds().0));
        tables.numbers("packet_in_max_ms", detours().map(|detours| detours.milliseconds().1));
        let mut all = vec![messages, tables];
        if !self.table_series.is_empty() {
            let rows = &self.table_series;
            let mut series = Table::new("flow_table_series");
            series.numbers("time_s", rows.iter().map(|row| row.0));
            series.texts("switch", rows.iter().map(|row| &network.node(row.1).name));
            series.integers("entries", rows.iter().map(|row| row.2));
            all.push(series);
        }
        if self.setup.statistics_interval.is_some() {
            let rows = &self.statistics;
            let mut polled = Table::new("link_statistics");
            polled.numbers("time_s", rows.iter().map(|row| row.0.as_secs_f64()));
            polled.integers("link", rows.iter().map(|row| u64::from(row.1.link.0)));
            polled.numbers("throughput_mbps", rows.iter().map(|row| row.2));
            polled.integers("packets", rows.iter().map(|row| row.1.sent));
            polled.integers("drops_queue", rows.iter().filter_map(|row| row.1.dropped));
            polled.integers("queue_packets", rows.iter().filter_map(|row| row.1.queue_packets));
            all.push(polled);
        }
        all.extend(self.application.tables());
        all
    }

    /// Assumptions of the application that the run has broken.
    pub(in crate::simulation) fn breaches(&self) -> Vec<Breach> {
        self.application.breaches()
    }
}
