//! What a multipath connection writes into its event log, if it keeps one, beside what its subflows write.

use super::MptcpSender;
use crate::log::{BlockCause, Decision, Log, LogEntry, Metrics};
use anabranch_units::{Instant, Span};

/// The log of a connection; the subflows have their own until they are collected.
#[derive(Debug)]
pub(super) struct ConnectionLog {
    log: Log,
    /// Entries of each subflow, and of the connection.
    pub(super) share: usize,
    entries: Vec<LogEntry>,
    /// What held new data back at the last look.
    blocked: Option<BlockCause>,
}

impl MptcpSender {
    /// Notes every decision from now on. The subflows and the connection share `limit` entries equally; the last
    /// one of each says that its part is full.
    pub fn keep_log(&mut self, limit: usize) {
        let share = limit / (self.subflows.len() + 1);
        for subflow in &mut self.subflows {
            subflow.sender.keep_log(share);
        }
        self.log =
            Some(Box::new(ConnectionLog { log: Log::new(share), share, entries: Vec::new(), blocked: None }));
    }

    /// The entries since the last call, in order of time; none if it keeps no log.
    pub fn take_log(&mut self) -> Vec<LogEntry> {
        self.collect();
        self.log.as_mut().map(|log| std::mem::take(&mut log.entries)).unwrap_or_default()
    }

    /// Brings the entries of the subflows together. What they decide at one instant hangs together only by the
    /// connection, which collects before it notes anything itself.
    fn collect(&mut self) {
        let Some(log) = &mut self.log else { return };
        let from = log.entries.len();
        // The numbers last: behind the last of 255 there is none.
        for (subflow, index) in self.subflows.iter_mut().zip(0..) {
            let entries = subflow.sender.take_log().into_iter();
            log.entries.extend(entries.map(|entry| LogEntry { subflow: Some(index), ..entry }));
        }
        // Stable: those of one subflow keep their order.
        log.entries[from..].sort_by_key(|entry| entry.at);
    }

    /// Notes a decision of the connection about a subflow.
    #[inline]
    pub(super) fn record(&mut self, now: Instant, subflow: u8, decision: Decision) {
        if self.log.is_some() {
            let metrics = self.subflows[usize::from(subflow)].sender.metrics();
            self.note(LogEntry { at: now, subflow: Some(subflow), decision, metrics });
        }
    }

    /// A subflow has room, and new data must wait.
    #[inline]
    pub(super) fn record_blocked(&mut self, now: Instant, cause: BlockCause) {
        if self.log.as_ref().is_some_and(|log| log.blocked != Some(cause)) {
            self.note_of_connection(now, Decision::Blocked { cause }, Some(cause));
        }
    }

    /// New data leave.
    #[inline]
    pub(super) fn record_unblocked(&mut self, now: Instant) {
        if self.log.as_ref().is_some_and(|log| log.blocked.is_some()) {
            self.note_of_connection(now, Decision::Unblocked, None);
        }
    }

    /// Notes a decision that concerns no subflow.
    pub(super) fn record_of_connection(&mut self, now: Instant, decision: Decision) {
        if let Some(blocked) = self.log.as_ref().map(|log| log.blocked) {
            self.note_of_connection(now, decision, blocked);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_of_connection(&mut self, now: Instant, decision: Decision, blocked: Option<BlockCause>) {
        let metrics = Metrics {
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            in_flight: self.in_flight(),
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            min_rtt: Span::ZERO,
            rto: Span::ZERO,
            pacing_rate: None,
            phase: "",
        };
        self.note(LogEntry { at: now, subflow: None, decision, metrics });
        if let Some(log) = &mut self.log {
            log.blocked = blocked;
        }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, entry: LogEntry) {
        self.collect();
        if let Some(log) = &mut self.log {
            log.log.append(entry);
            log.entries.append(&mut log.log.take());
        }
    }
}
