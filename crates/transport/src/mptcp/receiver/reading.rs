//! An application that reads when it likes: what is held is held for all subflows, and so is the window that is left (RFC 8684
//! sections 3.3.1 and 3.3.4).

use super::MptcpReceiver;
use crate::mptcp::data_sequence::DATA_START;
use crate::tcp::{Held, Room};
use anabranch_units::Instant;

impl MptcpReceiver {
    /// From now on data wait until [`MptcpReceiver::read`] takes them; to be called before the first segment.
    pub fn hold(&mut self) {
        self.held = Some(Box::new(Held::new(&self.config.tcp)));
    }

    /// Bytes in order that wait for the application.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.unread())
    }

    /// The application reads up to `most` bytes; returns how many there were. A window that opens by enough is told on the
    /// subflow that was heard last, whose path works.
    pub fn read(&mut self, now: Instant, most: u64) -> u64 {
        let Some(held) = &mut self.held else { return 0 };
        let taken = held.take(most);
        if taken == 0 || self.is_finished() {
            return taken;
        }
        let subflow_heard = self.last_subflow;
        self.acknowledge_ends();
        self.tune(now, subflow_heard);
        let room = self.room(subflow_heard);
        let Some(update) = self.held.as_ref().map(|held| held.update(room)) else { return taken };
        if let Some(subflow) = self.subflows[usize::from(subflow_heard)].as_mut() {
            subflow.receiver.tell(now, update);
        }
        self.wake(subflow_heard);
        taken
    }

    /// Bytes of the stream that have come in order.
    pub(super) fn in_order(&self) -> u64 {
        self.data_nxt - DATA_START - u64::from(self.is_finished())
    }

    pub(super) fn room(&self, index: u8) -> Room {
        let receive_buffer = self.config.tcp.receive_buffer.0;
        let (window, buffer) = match &self.sizing {
            None => (receive_buffer, receive_buffer),
            Some(sizing) => (self.window_of(index), sizing.limit().saturating_sub(self.waiting_bytes)),
        };
        Room { next: self.data_nxt, window, buffer }
    }
}
