//! What the queue of a link may do with a packet.

use super::{Aside, LinkObserver};
use crate::packet::{Direction, PacketId, PacketPool};
use crate::queues::{DropCause, Packets};
use anabranch_transport::Flags;
use anabranch_transport::spray::HEADERS;
use anabranch_units::{Instant, NodeId};

/// The packets of a link as its queue sees them.
pub(super) struct Handling<'l, O> {
    pub(super) now: Instant,
    pub(super) pool: &'l mut PacketPool,
    pub(super) observer: &'l mut O,
    pub(super) aside: &'l mut Option<Box<Aside>>,
    /// Where the link leads.
    pub(super) to: NodeId,
}

impl<O: LinkObserver> Packets for Handling<'_, O> {
    #[inline]
    fn pool(&mut self) -> &mut PacketPool {
        self.pool
    }

    fn drop(&mut self, id: PacketId, cause: DropCause) {
        let wait = self.now.since(self.pool.arrival(id));
        self.aside.get_or_insert_default().waited_ps += u128::from(wait.as_ps());
        lose(id, cause, self.pool, self.observer, self.aside);
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

    fn is_control(&self, id: PacketId) -> bool {
        let packet = self.pool.get(id);
        packet.steering.is_spray() && packet.bytes <= HEADERS
    }

    fn trim(&mut self, id: PacketId) -> bool {
        let at_last_hop = self.is_last_hop(id);
        let trims = self.pool.trim(id, at_last_hop);
        if trims {
            self.aside.get_or_insert_default().trims += 1;
            self.observer.trimmed(id, self.pool);
        }
        trims
    }

    fn is_last_hop(&self, id: PacketId) -> bool {
        self.pool.get(id).destination == self.to
    }

    fn flow(&self, id: PacketId) -> u64 {
        let packet = self.pool.get(id);
        let backward = packet.direction == Direction::Backward;
        let flow = self.observer.flow_number(packet.flow);
        (u64::from(flow.0) << 16) | (u64::from(packet.subflow) << 1) | u64::from(backward)
    }
}

/// Drops a packet that is in no queue.
pub(super) fn lose(
    id: PacketId,
    cause: DropCause,
    pool: &mut PacketPool,
    observer: &mut impl LinkObserver,
    aside: &mut Option<Box<Aside>>,
) {
    aside.get_or_insert_default().drops.add(cause, 1);
    observer.dropped(id, pool, cause);
    pool.remove(id);
}
