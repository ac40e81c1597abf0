//! The window of the connection is shut: the sender asks for it now and then, on one subflow after the other, for an update that
//! is lost, or whose path is dead, does not come again (RFC 9293 section 3.8.6.1).

use super::MptcpSender;
use anabranch_units::Instant;

/// Most doublings of the time between two probes.
const MOST_DOUBLINGS: u32 = 30;

/// The persist timer of the connection.
#[derive(Debug)]
pub(super) struct Persist {
    /// When it expires; [`Instant::MAX`] while nothing waits for a window.
    pub(super) at: Instant,
    expired: u32,
}

impl Default for Persist {
    fn default() -> Self {
        Self { at: Instant::MAX, expired: 0 }
    }
}

impl MptcpSender {
    /// Starts the timer where data wait for the window and nothing is under way that would be acknowledged, and stops it
    /// otherwise. Returns whether a subflow is to ask.
    pub(super) fn asks_for_window(&mut self, now: Instant) -> bool {
        let data = &self.data;
        let waits = self.peer_key.is_some()
            && data.written > data.nxt
            && data.edge <= data.nxt
            && data.una == data.nxt
            && self.paths.usable().next().is_some();
        if !waits {
            self.persist = Persist::default();
            return false;
        }
        let expired = self.persist.at <= now;
        if !expired && self.persist.at < Instant::MAX {
            return false;
        }
        let usable: Vec<u8> = self.paths.usable().collect();
        let index = usable[self.persist.expired as usize % usable.len()];
        self.persist.expired += u32::from(expired);
        let sender = &mut self.subflows[usize::from(index)].sender;
        let doubled = 1 << self.persist.expired.min(MOST_DOUBLINGS);
        let span = sender.rto().saturating_mul(doubled).min(self.config.tcp.max_rto);
        self.persist.at = now.saturating_add(span);
        if expired {
            sender.ask_for_window();
            self.wake(index);
        }
        expired
    }
}
