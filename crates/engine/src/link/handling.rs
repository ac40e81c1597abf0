//! What the queue of a link may do with a packet.

use super::{Aside, LinkObserver};
use crate::packet::{Direction, PacketId, PacketPool};
use crate::queues::{DropCause, Packets};
use anabranch_transport::Flags;

/// The packets of a link as its queue sees them.
pub(super) struct Handling<'l, O> {
    pub(super) pool: &'l mut PacketPool,
    pub(super) observer: &'l mut O,
    pub(super) aside: &'l mut Option<Box<Aside>>,
}

impl<O: LinkObserver> Packets for Handling<'_, O> {
    fn drop(&mut self, id: PacketId, cause: DropCause) {
        self.aside.get_or_insert_default().drops.add(cause, 1);
        self.observer.dropped(id, self.pool, cause);
        self.pool.remove(id);
    }

    fn mark(&mut self, id: PacketId) -> bool {
        let capable = self.pool.mark(id);
        if capable {
            self.aside.get_or_insert_default().marks += 1;
        }
        capable
    }

    fn is_ecn_capable(&self, id: PacketId) -> bool {
        self.pool.segment(id).flags.has(Flags::ECT)
    }

    fn flow(&self, id: PacketId) -> u64 {
        let packet = self.pool.get(id);
        let backward = packet.direction == Direction::Backward;
        (u64::from(packet.flow.0) << 16) | (u64::from(packet.subflow) << 1) | u64::from(backward)
    }
}
