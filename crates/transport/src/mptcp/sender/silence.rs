//! Subflows that the scheduler of Linux takes for dead, and what is sent again then (`subflow_windows`).
//!
//! A timeout of a subflow says nothing to that scheduler. The timer of the connection does: at each expiry it counts a
//! subflow that has data outstanding and has not heard an ACK since the count began. A subflow that has been silent for
//! more expiries than `net.mptcp.stale_loss_cnt` gets no new data, if another one is alive, until it hears an ACK again, and
//! everything that the connection has outstanding is sent anew, whichever subflow holds it. Before that, backups repeat
//! the oldest data only, one block at each expiry from the second on. Captures of both ends of Linux 6.18 show each of these
//! steps (checks/validation/linux/README.md).

use super::subflow::{Subflow, SubflowState};
use super::{MptcpSender, transmit::Repetition};
use crate::mptcp::scheduler::SubflowScheduler;
use anabranch_units::Instant;

/// The default of `net.mptcp.stale_loss_cnt`: so many expiries of silence are forgiven.
const FORGIVEN: u8 = 4;
/// From so many expiries of silence on backups repeat data.
const BACKUPS_REPEAT: u8 = 2;

/// How long a subflow has been silent, in expiries of the connection's timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// When it heard an ACK last.
    heard_at: Instant,
    /// The same when the count began.
    since: Instant,
    /// Expiries since then; 0 while nothing is counted.
    pub(super) expiries: u8,
}

impl Default for Silence {
    fn default() -> Self {
        Self { heard_at: Instant::ZERO, since: Instant::ZERO, expiries: 0 }
    }
}

impl Silence {
    /// An ACK has come.
    pub(super) fn hear(&mut self, now: Instant) {
        self.heard_at = now;
    }

    /// Whether an ACK has come since the count began.
    pub(super) fn is_over(&self) -> bool {
        self.heard_at > self.since
    }

    /// The timer has expired while data are outstanding.
    fn count(&mut self) {
        if self.expiries == 0 {
            (self.since, self.expiries) = (self.heard_at, 1);
        } else if self.is_over() {
            self.expiries = 0;
        } else {
            self.expiries = self.expiries.saturating_add(1);
        }
    }
}

impl Subflow {
    /// Whether the handshake is over and nothing has closed it.
    fn may_carry(&self) -> bool {
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
