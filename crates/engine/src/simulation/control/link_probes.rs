//! Probes over single links, which switches stamp: how long a link takes, and which packets were before the probe.

use crate::control::{LinkProbe, Message};
use crate::packet::PacketId;
use crate::simulation::{MAX_HOPS, Simulation};
use anabranch_units::{Instant, LinkId};

impl Simulation {
    /// A switch sends the packet that told it to on over the link, as a probe.
    pub(super) fn send_probe(&mut self, link: LinkId, round: u32, id: PacketId) {
        let now = self.now;
        let Some(control) = &mut self.control else { return };
        let packet = self.pool.get_mut(id);
        packet.destination = self.network.link(link).to;
        packet.hops_left = MAX_HOPS;
        let bytes = packet.bytes;
        control.put(id, Message::Probe(link, round, now), bytes);
        self.taps.probes.follow(id);
        self.offer(link, id);
    }

    /// A probe has come to the other end of its link. A lost one tells nobody anything.
    pub(super) fn receive_probe(&mut self, link: LinkId, round: u32, queued_at: Instant, id: PacketId) {
        self.pool.remove(id);
        let Some(seen) = self.taps.probes.arrived(id, link) else { return };
        let delivered = self.links[link.index()].stats().delivered;
        let probe = LinkProbe {
            link,
            round,
            queued_at,
            received_at: self.now,
            sent: seen.sent,
            received: delivered - seen.received_probes,
        };
        self.send_up(self.network.link(link).to, Message::ProbeIn(probe));
    }
}
