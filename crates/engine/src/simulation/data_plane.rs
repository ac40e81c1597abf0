//! The data plane: packets on links, and the events that bring them forward.

use super::datagrams::DatagramFlow;
use super::flows::Flows;
use super::numbering::Numbering;
use super::passage::Passage;
use super::taps::{TapAt, Taps};
use super::way::Lane;
use crate::balancer::FlowKey;
use crate::forwarding::Forwarding;
use crate::link::{NextEvent, SimulatedLink};
use crate::packet::{Packet, PacketId, PacketPool, Steering};
use crate::queues::DropCause;
use crate::schedule::{Schedule, Source};
use anabranch_network::Network;
use anabranch_units::{Instant, LinkId, NodeId, prefetch, rarely};

/// Everything a packet meets between the hosts, and the time.
pub(super) struct DataPlane {
    pub(super) now: Instant,
    pub(super) network: Network,
    pub(super) schedule: Schedule,
    pub(super) numbering: Numbering,
    pub(super) pool: PacketPool,
    pub(super) links: Vec<SimulatedLink>,
    pub(super) forwarding: Forwarding,
    pub(super) taps: Taps,
    /// Flows without a connection, whose ids go on from those of the others.
    pub(super) datagrams: Vec<DatagramFlow>,
    /// What passes between this part of a run and the others; none where it has one part.
    pub(super) passage: Option<Box<Passage>>,
    /// Packets that have crossed a link, summed over links.
    pub(super) packet_hops: u64,
    /// Whether the links are more than a cache holds: only then does it pay to begin to fetch what packets will ask for.
    pub(super) looks_ahead: bool,
}

/// The key by which packets are spread.
// Apart: most packets are on paths, and need none.
#[inline(never)]
fn key_of(of: (&Flows, &[DatagramFlow], Option<&Passage>), packet: &Packet, entropy: Option<u16>) -> FlowKey {
    match of.0.get(packet.flow.index()) {
        Some(flow) => match entropy {
            Some(entropy) => flow.key(packet.direction, 0).with_entropy(entropy),
            None => flow.key(packet.direction, packet.subflow),
        },
        None => key_elsewhere(of, packet),
    }
}

/// The key of a packet of a flow that is not here with the end that sends: of one that receives alone, of datagrams, or of what
/// passes by.
#[inline(never)]
pub(super) fn key_elsewhere(
    (flows, datagrams, passage): (&Flows, &[DatagramFlow], Option<&Passage>),
    packet: &Packet,
) -> FlowKey {
    if let Some(key) = flows.key_by_receiver(packet) {
        return key;
    }
    match datagrams.get(packet.flow.index() - flows.len()) {
        Some(datagrams) => datagrams.lane(packet.direction).key,
        None => passage.expect("a packet has its flow here, or passes by").key(packet.flow),
    }
}

impl DataPlane {
    /// The packet that arrives over a link now, if one does, and where. The event of the link has been taken out, and is
    /// set anew.
    #[inline]
    pub(super) fn poll(&mut self, id: LinkId) -> Option<(PacketId, NodeId)> {
        let link = &mut self.links[id.index()];
        if rarely(link.is_behind(self.now)) {
            link.advance(self.now, &mut self.pool, &mut self.taps.at(id));
        }
        let to = link.to();
        let Some(packet) = link.poll(self.now, &self.pool) else {
            self.set_again(id);
            return None;
        };
        if let Some(next) = link.next_event(&self.pool) {
            if rarely(self.looks_ahead) {
                link.prefetch_second(&self.pool);
            }
            self.schedule.set(self.numbering.link(id), next);
        }
        self.packet_hops += 1;
        Some((packet, to))
    }

    /// Sets the event of a link that nothing has left.
    #[cold]
    #[inline(never)]
    fn set_again(&mut self, id: LinkId) {
        if let Some(next) = self.links[id.index()].next_event(&self.pool) {
            self.schedule.set(self.numbering.link(id), next);
        }
    }

    /// Sends a packet on from a node, along its path or to the next hop; without one it is dropped.
    #[inline]
    pub(super) fn forward(&mut self, flows: &Flows, node: NodeId, id: PacketId) {
        let (datagrams, passage) = (&self.datagrams, &self.passage);
        let (packet, entropies) = self.pool.get_with_entropies(id);
        let key = |packet: &Packet| {
            let entropy = (packet.steering == Steering::SprayHops).then(|| entropies[id as usize]);
            key_of((flows, datagrams, passage.as_deref()), packet, entropy)
        };
        let link = if rarely(packet.hops_left == 0) {
            None
        } else {
            let link = self.forwarding.next_link(self.now, node, packet, key);
            // Last: the store would be in the way of loads from the same word.
            packet.hops_left -= 1;
            link
        };
        let bytes = packet.bytes;
        match link {
            Some(link) => {
                if self.offer(link, (id, bytes)) && rarely(self.looks_ahead) {
                    self.look_ahead(flows, link);
                }
            }
            None => self.drop_unreachable(id),
        }
    }

    /// Sends a packet on along the path that has been laid for it.
    pub(super) fn follow_path(&mut self, id: PacketId) {
        let link = self.forwarding.follow(self.pool.get_mut(id));
        self.send(link, id);
    }

    /// Sends a packet over a link, if it may take another hop.
    pub(super) fn send(&mut self, link: LinkId, id: PacketId) {
        let packet = self.pool.get_mut(id);
        if packet.hops_left == 0 {
            self.drop_unreachable(id);
            return;
        }
        packet.hops_left -= 1;
        let bytes = packet.bytes;
        self.offer(link, (id, bytes));
    }

    /// Begins to fetch what the next arrival on a link will ask for.
    #[inline(never)]
    pub(super) fn look_ahead(&self, flows: &Flows, id: LinkId) {
        let link = &self.links[id.index()];
        let Some(next) = link.look_ahead(&self.pool) else { return };
        let packet = self.pool.get(next);
        if packet.destination != link.to() {
            if let Some(link) = self.forwarding.look_ahead(packet) {
                self.prefetch_link(link);
            }
        } else {
            prefetch(self.pool.segment(next));
            if flows.prefetch(packet.flow.index(), packet.direction) {
                self.schedule.prefetch(self.numbering.timer(packet.flow, packet.direction));
            }
        }
    }

    #[inline]
    fn prefetch_link(&self, id: LinkId) {
        prefetch(&self.links[id.index()]);
        self.schedule.prefetch(self.numbering.link(id));
    }

    /// Begins to fetch the link by which a packet will leave that a host is going to send on this lane.
    #[inline]
    pub(super) fn look_ahead_from(&self, lane: &Lane) {
        if let Some(link) = self.forwarding.first_link(&lane.route) {
            self.prefetch_link(link);
        }
    }

    #[inline]
    fn offer(&mut self, link: LinkId, packet: (PacketId, u32)) -> bool {
        let next = &mut self.links[link.index()];
        let source = self.numbering.link(link);
        match next.offer(self.now, packet, &mut self.pool, &mut self.taps.at(link)) {
            NextEvent::Same => return false,
            NextEvent::At(at) => self.schedule.set(source, at),
            NextEvent::Changed => self.schedule.put(source, next.next_event(&self.pool)),
        }
        true
    }

    /// A packet has no way to go on.
    #[cold]
    pub(super) fn drop_unreachable(&mut self, id: PacketId) {
        self.taps.note_drop(id, &self.pool, DropCause::Unreachable);
        self.pool.remove(id);
    }

    /// Changes a link, or brings it forward, and sets its event anew.
    pub(super) fn change_link(
        &mut self,
        id: LinkId,
        change: impl FnOnce(&mut SimulatedLink, Instant, &mut PacketPool, &mut TapAt<'_>),
    ) {
        let link = &mut self.links[id.index()];
        change(link, self.now, &mut self.pool, &mut self.taps.at(id));
        self.schedule.put(self.numbering.link(id), link.next_event(&self.pool));
    }

    /// Sets a timer's event unless an earlier one is pending, which will set it anew.
    #[inline]
    pub(super) fn set_timer(&mut self, source: Source, next: Option<Instant>) {
        if let Some(next) = next
            && self.schedule.due(source).is_none_or(|due| next < due)
        {
            self.schedule.set(source, next.max(self.now));
        }
    }
}
