//! What the application at a receiving end does, where it does not read at once.

use crate::setup::ReadingSetup;
use anabranch_transport::ReceiverAgent;
use anabranch_units::Instant;

/// An application that reads a block at each interval from the start of its flow. What it cannot fill of a block, because it
/// is not there yet, it reads as it comes, until the next block is due.
pub(super) struct Reader {
    start: Instant,
    reading: ReadingSetup,
    /// The last block that was begun, and what is left of it.
    block: u64,
    left: u64,
}

impl Reader {
    pub(super) fn new(start: Instant, reading: ReadingSetup) -> Self {
        let left = reading.blocks.map_or(u64::MAX, |blocks| blocks.bytes);
        Self { start, reading, block: 0, left }
    }

    /// Reads what it may of what is there.
    pub(super) fn read(&mut self, now: Instant, receiver: &mut ReceiverAgent) {
        if self.reading.pauses_at(now) {
            return;
        }
        if let Some(blocks) = self.reading.blocks {
            let due = now.saturating_since(self.start).as_ps() / blocks.interval.as_ps();
            if due > self.block {
                (self.block, self.left) = (due, blocks.bytes);
            }
            self.left -= receiver.read(now, self.left);
        } else {
            receiver.read(now, u64::MAX);
        }
    }

    /// When it reads what waits; none for never.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let next = match self.reading.blocks {
            Some(blocks) if self.left == 0 => {
                self.start.saturating_add(blocks.interval.saturating_mul(self.block + 1))
            }
            _ => now,
        };
        let pauses = self.reading.pauses_at(next);
        if pauses { self.reading.resume } else { Some(next) }
    }
}
