//! All findings, and what follows from it for a flow or a connection.

use crate::group::{Connection, Tie};
use crate::measure::{Measured, Probes, Times, handshake_rtt_ns};
use crate::round_trips::RttHistogram;
use crate::select::{Flow, Selection};
use crate::sequence::DataCounts;
use crate::series::{DataLevel, Span, data_level};
use crate::steady::Steady;
use crate::survey::{FileSurvey, NEVER};

/// All that the passes over the files have given.
pub(crate) struct Findings<'a> {
    pub files: &'a [FileSurvey],
    pub selection: &'a Selection,
    pub connections: &'a [Connection],
    pub ties: &'a [Tie],
    pub data_direction: &'a [usize],
    pub measured: &'a [[Measured; 2]],
    pub steady: &'a Steady,
    pub times: &'a Times,
    pub warnings: Vec<String>,
}

impl Findings<'_> {
    pub(super) fn flow(&self, flow: usize) -> &Flow {
        &self.selection.flows[flow]
    }

    /// What was measured in the direction of a flow's data.
    pub(super) fn data(&self, flow: usize) -> &Measured {
        &self.measured[flow][self.data_direction[flow]]
    }

    /// What was measured in the direction of its acknowledgments.
    pub(super) fn acks(&self, flow: usize) -> &Measured {
        &self.measured[flow][1 - self.data_direction[flow]]
    }

    /// Round-trip times of the data with this role, [`crate::measure::DATA`] of the connection or against them.
    pub(super) fn rtts(&self, flow: usize, role: usize) -> Option<&RttHistogram> {
        self.measured[flow][1 - (self.data_direction[flow] ^ role)].rtts.as_deref()
    }

    /// Whether acknowledgments of a flow were captured at all.
    pub(super) fn has_acks(&self, flow: usize) -> bool {
        self.flow(flow).directions[1 - self.data_direction[flow]].packets > 0
    }

    pub(super) fn since(&self, ns: u64) -> f64 {
        if ns == NEVER { f64::NAN } else { ns.saturating_sub(self.times.origin_ns) as f64 / 1e9 }
    }

    pub(super) fn window_s(&self) -> f64 {
        (self.times.end_ns - self.times.start_ns) as f64 / 1e9
    }

    /// Throughput of bytes acknowledged in the window.
    pub(super) fn window_mbps(&self, bytes: u64) -> f64 {
        let window_s = self.window_s();
        if window_s > 0.0 { bytes as f64 * 8.0 / 1e6 / window_s } else { f64::NAN }
    }

    pub(super) fn subflow_window_mbps(&self, flow: usize) -> f64 {
        if self.has_acks(flow) { self.window_mbps(self.acks(flow).window_acked) } else { f64::NAN }
    }

    /// Sum over the subflows that have a value; NaN if none has.
    pub(super) fn connection_window_mbps(&self, connection: &Connection) -> f64 {
        let shares = connection.flows.iter().map(|&flow| self.subflow_window_mbps(flow));
        shares.filter(|share| !share.is_nan()).reduce(|a, b| a + b).unwrap_or(f64::NAN)
    }

    /// What flows had acknowledged together over their own time: after the first ACK of data, until the last. Where this
    /// took no longer than a round trip, as where all ACKs are of a single flight, time begins a round trip before the
    /// first ACK, and all bytes count. A round trip is the time that the ACK was waited for or, away from the sender, what
    /// the handshake took. None if nothing was acknowledged, or all at one time, and neither is known.
    pub(super) fn own(&self, flows: &[usize]) -> Option<Span> {
        let with = || flows.iter().filter(|&&flow| self.acks(flow).ack_times.first_ns != 0);
        let &first_flow = with().min_by_key(|&&flow| self.acks(flow).ack_times.first_ns)?;
        let first = self.acks(first_flow).ack_times;
        let until_ns = with().map(|&flow| self.acks(flow).ack_times.last_ns).max()?;
        let acked: u64 = with().map(|&flow| self.acks(flow).acked).sum();
        let data_ns = flows.iter().filter_map(|&flow| Some(self.data(flow).data_times?.first_ns)).min();
        let waited_ns = data_ns.map_or(0, |data_ns| first.first_ns.saturating_sub(data_ns));
        let round_trip_ns = waited_ns.max(handshake_rtt_ns(self.flow(first_flow)).unwrap_or(0));
        let (from_ns, bytes) = if until_ns.saturating_sub(first.first_ns) > round_trip_ns {
            (first.first_ns, acked.saturating_sub(first.first_bytes))
        } else {
            (first.first_ns.saturating_sub(round_trip_ns), acked)
        };
        (until_ns > from_ns).then_some(Span { from_ns, until_ns, bytes })
    }

    /// The rate of new data of flows whose ACKs were not captured: after the first segment, until the last. None where any
    /// were, or there are no two segments.
    pub(super) fn sent(&self, flows: &[usize]) -> Option<Span> {
        if flows.iter().any(|&flow| self.has_acks(flow)) {
            return None;
        }
        let times = || flows.iter().filter_map(|&flow| self.data(flow).data_times);
        let first = times().min_by_key(|times| times.first_ns)?;
        let until_ns = times().map(|times| times.last_ns).max()?;
        let new: u64 = flows
            .iter()
            .map(|&flow| self.data(flow).data())
            .map(|data| data.payload - data.retransmitted_bytes)
            .sum();
        let bytes = new.saturating_sub(u64::from(first.first_bytes));
        (until_ns > first.first_ns).then_some(Span { from_ns: first.first_ns, until_ns, bytes })
    }

    /// Whether a flow's data are known by their ACKs alone.
    pub(super) fn is_known_by_acks(&self, flow: usize) -> bool {
        let data = &self.flow(flow).directions[self.data_direction[flow]];
        data.packets == 0 && data.fin_end.is_none() && self.acks(flow).acked > 0
    }

    /// Whether any packet in the direction of a flow's data was captured.
    pub(super) fn has_data_direction(&self, flow: usize) -> bool {
        self.flow(flow).directions[self.data_direction[flow]].packets > 0
    }

    /// A count over the data of flows, as far as they were captured; NaN if none were.
    pub(super) fn counted(&self, flows: &[usize], of: impl Fn(DataCounts) -> u64) -> f64 {
        let seen = flows.iter().filter(|&&flow| self.has_data_direction(flow));
        seen.map(|&flow| of(self.data(flow).data()) as f64).reduce(|a, b| a + b).unwrap_or(f64::NAN)
    }

    /// Probes of these flows, of both ends.
    pub(super) fn probes(&self, flows: &[usize], of: impl Fn(Probes) -> u32) -> u64 {
        flows
            .iter()
            .flat_map(|&flow| &self.measured[flow])
            .map(|measured| u64::from(of(measured.probes)))
            .sum()
    }

    pub(super) fn copies(&self, flows: &[usize]) -> u64 {
        flows.iter().flat_map(|&flow| &self.flow(flow).directions).map(|direction| direction.copies).sum()
    }

    pub(super) fn data_level(&self, connection: &Connection) -> Option<DataLevel> {
        let members: Vec<_> = connection
            .flows
            .iter()
            .map(|&flow| (self.flow(flow), 1 - self.data_direction[flow], self.acks(flow)))
            .collect();
        data_level(&members, self.times)
    }
}
