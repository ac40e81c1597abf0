//! An application that reads when it likes: what it has not read stays in the receive buffer, and the window shuts.

use super::Receiver;
use crate::config::TcpConfig;
use crate::tcp::held::{Held, Room, Update};
use anabranch_units::Instant;

impl Receiver {
    /// From now on data wait until [`Receiver::read`] takes them; to be called before the first segment.
    pub fn hold(&mut self, config: &TcpConfig) {
        self.held = Some(Box::new(Held::new(config)));
    }

    /// Bytes in order that wait for the application.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.unread())
    }

    /// The application reads up to `most` bytes; returns how many there were. A window that opens by enough is told to the
    /// other end.
    pub fn read(&mut self, now: Instant, most: u64) -> u64 {
        let Some(held) = &mut self.held else { return 0 };
        let taken = held.take(most);
        if taken > 0 {
            self.stats.delivered += taken;
            self.size_window(now);
            let room = self.room();
            if let Some(held) = self.held.as_ref().filter(|_| !self.is_finished()) {
                let due = self.pending_segments >= self.config.delayed_ack_segments.max(1)
                    || self.owes_ack_for_end();
                self.tell(now, if due { Update::AtOnce } else { held.update(room) });
            }
        }
        taken
    }

    /// Sends an ACK for a window that has opened, now or within the time of a delayed one.
    pub(crate) fn tell(&mut self, now: Instant, update: Update) {
        if update != Update::No {
            self.request_ack(now, update == Update::AtOnce);
        }
    }

    fn room(&self) -> Room {
        Room { next: self.rcv_nxt, window: self.window.bytes(), buffer: self.window.limit() }
    }

    /// The window to announce, in bytes.
    #[inline]
    pub(super) fn announce(&mut self, scale: u8) -> u64 {
        let room = self.room();
        let Some(held) = &mut self.held else { return room.window };
        if held.is_half_full(room)
            && let Some(measures) = &mut self.measures
        {
            measures.quick.stop();
        }
        held.announce(room, scale)
    }

    /// Whether segments that have come are acknowledged before the application has read them.
    #[inline]
    pub(super) fn keeps_up(&self) -> bool {
        self.held.as_ref().is_none_or(|held| held.keeps_up(self.room(), self.last_ack_sent))
    }
}
