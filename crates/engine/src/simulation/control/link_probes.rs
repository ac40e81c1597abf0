//! Probes over single links, which switches stamp: how long a link takes, and which packets were before the probe.

use super::ControlPlane;
use crate::control::{LinkProbe, Message};
use crate::packet::PacketId;
use crate::simulation::MAX_HOPS;
use crate::simulation::data_plane::DataPlane;
use anabranch_units::{Instant, LinkId};

impl ControlPlane {
    /// A switch sends the packet that told it to on over the link, as a probe.
    pub(super) fn send_probe(&mut self, data: &mut DataPlane, link: LinkId, round: u32, id: PacketId) {
        let packet = data.pool.get_mut(id);
        packet.destination = data.network.link(link).to;
        packet.hops_left = MAX_HOPS;
        let bytes = packet.bytes;
        self.put(id, Message::Probe(link, round, data.now), bytes);
        data.taps.probes.follow(id);
        data.send(link, id);
    }

    /// A probe has come to the other end of its link. A lost one tells nobody anything.
    pub(super) fn receive_probe(
        &mut self,
        data: &mut DataPlane,
        link: LinkId,
        round: u32,
        queued_at: Instant,
        id: PacketId,
    ) {
        data.pool.remove(id);
        let Some(seen) = data.taps.probes.arrived(id, link) else { return };
        let delivered = data.links[link.index()].stats().delivered;
        let probe = LinkProbe {
            link,
            round,
            queued_at,
            received_at: data.now,
            sent: seen.sent,
            received: delivered - seen.received_probes,
        };
        let switch = data.network.link(link).to;
        self.send_up(data, switch, Message::ProbeIn(probe));
    }
}
