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
use super::silence::{BACKUPS_REPEAT, FORGIVEN, Repetition};
use super::subflow::{Subflow, SubflowState};
use crate::log::Decision;
use crate::mptcp::data_sequence::DATA_START;
use crate::mptcp::scheduler::SubflowScheduler;
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
        let answering = self.paths.usable().filter(|&index| subflow(index).silence.expiries == 0);
        let longest =
            answering.map(|index| subflow(index).sender.timer_left(now)).max().unwrap_or(Span::ZERO);
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

impl Subflow {
    /// Whether the handshake is over and nothing has closed it.
    pub(super) fn may_carry(&self) -> bool {
        matches!(self.state(), SubflowState::Established | SubflowState::Suspect)
    }

    /// Whether it may be given data that another one holds up.
    fn is_alive(&self) -> bool {
        self.may_carry() && !self.suspect && self.silence.expiries < FORGIVEN - 1
    }
}

impl MptcpSender {
    /// Whether silence decides which subflow is dead, and not a timeout of its own.
    pub(super) fn counts_silence(&self) -> bool {
        self.config.subflow_windows && self.scheduler.queues()
    }

    /// The timer of the connection has expired: counts the silence of the subflows that have data outstanding. Returns the
    /// least of them, or `None` if one of them is taken for dead from now on.
    pub(super) fn count_silence(&mut self, now: Instant) -> Option<u8> {
        let mut least = u8::MAX;
        for index in 0..self.subflow_count() {
            let subflow = &mut self.subflows[usize::from(index)];
            if !subflow.may_carry() || subflow.held() == 0 {
                continue;
            }
            subflow.silence.count();
            let expiries = subflow.silence.expiries;
            least = least.min(expiries);
            if expiries > FORGIVEN && !subflow.suspect && self.has_alternative(index) {
                self.subflows[usize::from(index)].suspect = true;
                self.settle(now, index);
                self.on_suspicion(now, index);
                return None;
            }
        }
        Some(least)
    }

    fn has_alternative(&self, index: u8) -> bool {
        let mut others = (0..self.subflow_count()).filter(|&other| other != index);
        others.any(|other| self.subflows[usize::from(other)].is_alive())
    }

    /// A subflow that has nothing outstanding, to repeat the oldest data: a regular one, or a backup where each that has
    /// data has been silent for long.
    pub(super) fn idle_subflow(&self, least_silence: u8) -> Option<u8> {
        let idle = |backup| {
            (0..self.subflow_count()).find(|&index| {
                let subflow = &self.subflows[usize::from(index)];
                subflow.may_carry() && subflow.held() == 0 && self.is_backup(index) == backup
            })
        };
        idle(false).or_else(|| if least_silence >= BACKUPS_REPEAT { idle(true) } else { None })
    }

    /// Everything that is outstanding is given to subflows again, because this one is dead or gone.
    pub(super) fn repeat_everything(&mut self, of: u8) {
        if self.data.una < self.data.nxt {
            self.repetition = Some(Repetition { next: self.data.una, of });
        }
    }
}
