//! Subflows that the scheduler of Linux takes for dead, and what is sent again then (`subflow_windows`).
//!
//! A timeout of a subflow says nothing to that scheduler. The timer of the connection does: at each expiry it counts a
//! subflow that has data outstanding and has not heard an ACK since the count began. A subflow that has been silent for
//! more expiries than `net.mptcp.stale_loss_cnt` gets no new data, if another one is alive, until it hears an ACK again, and
//! everything that the connection has outstanding is sent anew, whichever subflow holds it. Before that, backups repeat
//! the oldest data only, one block at each expiry from the second on. Captures of both ends of Linux 6.18 show each of these
//! steps (checks/validation/linux/README.md).

use anabranch_units::Instant;

/// The default of `net.mptcp.stale_loss_cnt`: so many expiries of silence are forgiven.
pub(super) const FORGIVEN: u8 = 4;
/// From so many expiries of silence on backups repeat data.
pub(super) const BACKUPS_REPEAT: u8 = 2;

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
    pub(super) fn count(&mut self) {
        if self.expiries == 0 {
            (self.since, self.expiries) = (self.heard_at, 1);
        } else if self.is_over() {
            self.expiries = 0;
        } else {
            self.expiries = self.expiries.saturating_add(1);
        }
    }
}

/// Outstanding data that are given to subflows again, as if they were new.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repetition {
    /// The next of them.
    pub(super) next: u64,
    /// The subflow on whose account.
    pub(super) of: u8,
}
