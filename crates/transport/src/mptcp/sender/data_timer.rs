//! The retransmission timer of the connection (RFC 8684 section 3.3.6). A subflow may acknowledge data that the receiver
//! then drops, because they lie beyond its window (`subflow_windows`): no subflow has a reason to send them again.
//!
//! The rules are those of Linux 6.18, as captures and its trace points show them (checks/validation/linux/README.md):
//! - the timer waits as long as the slowest subflow's own timer still had to run when the scheduler was asked last;
//! - it starts with data, and again with each data ACK that tells something new;
//! - a subflow that has nothing of its own outstanding sends what is left of the oldest block of the send buffer again;
//!   where each has, the timer starts anew. It does not back off;
//! - it counts how long subflows are silent (`silence.rs`).

use super::MptcpSender;
use crate::log::Decision;
use crate::mptcp::data_sequence::DATA_START;
use crate::tcp::ticks::expiry;
use anabranch_units::{Instant, Span};

/// Bytes of a block of the send buffer: a page fragment of 32 KiB, less what describes it.
pub(in crate::mptcp) const BLOCK: u64 = 32_728;

/// The timer.
#[derive(Debug)]
pub(super) struct DataTimer {
    /// When it expires; [`Instant::MAX`] while it does not run.
    pub(super) at: Instant,
    /// How long it waits.
    wait: Span,
}

impl DataTimer {
    /// One that does not run, and waits so long before the scheduler is asked for the first time.
    pub(super) const fn new(wait: Span) -> Self {
        Self { at: Instant::MAX, wait }
    }
}

impl MptcpSender {
    /// The scheduler is asked for a subflow: how long the timer waits from now on.
    pub(super) fn tune_data_timer(&mut self, now: Instant) {
        if !self.config.subflow_windows || self.buffered() <= self.data.nxt {
            return;
        }
        let subflow = |index: u8| &self.subflows[usize::from(index)];
        // A silent one would only make it longer with each timeout.
        let heard = self.paths.usable().filter(|&index| subflow(index).silence.expiries == 0);
        let longest = heard.map(|index| subflow(index).sender.timer_left(now)).max().unwrap_or(Span::ZERO);
        self.data_timer.wait = if longest > Span::ZERO { longest } else { self.config.tcp.min_rto };
    }

    /// Data were given to subflows.
    pub(super) fn ensure_data_timer(&mut self, now: Instant) {
        if self.config.subflow_windows && self.data_timer.at == Instant::MAX {
            self.start_data_timer(now);
        }
    }

    /// A data ACK has told something new.
    pub(super) fn restart_data_timer(&mut self, now: Instant) {
        if self.data.una >= self.data.written {
            self.data_timer.at = Instant::MAX;
        } else if self.config.subflow_windows {
            self.start_data_timer(now);
        }
    }

    fn start_data_timer(&mut self, now: Instant) {
        self.data_timer.at = expiry(now, self.data_timer.wait, self.config.tcp.timer_tick);
    }

    /// The timer may have expired; does nothing if it has not.
    pub(super) fn on_data_timeout(&mut self, now: Instant) {
        if self.data_timer.at > now {
            return;
        }
        self.data_timer.at = Instant::MAX;
        if self.data.una >= self.data.nxt {
            return;
        }
        let idle = if self.counts_silence() {
            self.count_silence(now).and_then(|least| self.idle_subflow(least))
        } else {
            self.paths.usable().find(|&index| self.subflows[usize::from(index)].held() == 0)
        };
        if let Some(index) = idle {
            let una = self.data.una;
            let block_end = una + BLOCK - (una - DATA_START) % BLOCK;
            let bytes = block_end.min(self.data.nxt) - una;
            self.subflows[usize::from(index)].enqueue(una, bytes);
            self.paths.add_queued(index, bytes);
            self.stats.reinjected_bytes += bytes;
            self.record(now, index, Decision::RetransmittedData { bytes });
        }
        self.start_data_timer(now);
    }
}
