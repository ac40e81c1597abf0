//! Whether token buckets hold the packets that are sent.

use super::flows::Flows;
use super::lay::Buckets;
use super::network::{Network, and_more};
use crate::problem::Problems;
use crate::read::Quantity;
use crate::words::quoted;
use anabranch_engine::setup::{HostSetup, LinkSetup, TransportSetup};
use anabranch_units::Bytes;
use std::collections::BTreeMap;

/// The longest packet that is sent, and what sends it.
pub(super) struct LongestPacket {
    bytes: u64,
    sender: String,
}

/// The longest packet of all flows; none where there are no flows. With segmentation offload it is a train.
pub(super) fn longest_packet(
    flows: &Flows,
    transports: &[TransportSetup],
    hosts: &[HostSetup],
) -> Option<LongestPacket> {
    let trains: BTreeMap<u32, u64> =
        hosts.iter().map(|host| (host.node.0, host.offload.get().into())).collect();
    let connections = &flows.connections;
    let mut most: BTreeMap<u32, u64> = BTreeMap::new();
    for (entry, from) in connections.entry.iter().zip(&connections.from) {
        let segments = most.entry(*entry).or_insert(1);
        *segments = (*segments).max(trains.get(from).copied().unwrap_or(1));
    }
    let of_connections = most.into_iter().map(|(entry, segments)| {
        let entry = &connections.entries[entry as usize];
        let transport = &transports[entry.transport];
        let bytes = segments * transport.config.full_packet();
        let what =
            if segments > 1 { format!("in trains of {segments} segments") } else { "in full packets".into() };
        LongestPacket { bytes, sender: format!("{} sends by {} {what}", entry.name, transport.name) }
    });
    let of_datagrams = flows.datagrams.iter().map(|flow| LongestPacket {
        bytes: flow.packet_bytes.into(),
        sender: format!("{} sends packets", flow.name),
    });
    of_connections.chain(of_datagrams).max_by_key(|longest| longest.bytes)
}

/// Notes buckets that are smaller than the longest packet: it would never pass. Each place is told once.
pub(super) fn check_bursts(network: &Network, longest: Option<&LongestPacket>, problems: &mut Problems) {
    let Some(LongestPacket { bytes: longest, sender }) = longest else { return };
    let mut small: BTreeMap<String, Vec<(u64, &LinkSetup)>> = BTreeMap::new();
    for Buckets { link, shaper, policer } in &network.buckets {
        let link = &network.links[*link];
        let of_shaper = link.shaper.as_deref();
        let peak = of_shaper.and_then(|shaper| shaper.peak);
        for (place, field, size) in [
            (shaper, "burst", of_shaper.map(|shaper| shaper.burst)),
            (shaper, "mtu", peak.map(|peak| peak.mtu)),
            (policer, "burst", link.policer.as_deref().map(|policer| policer.burst)),
        ] {
            if let Some(size) = size.filter(|size| size < longest) {
                small.entry(format!("{place}.{field}")).or_default().push((size, link));
            }
        }
    }
    for (place, links) in small {
        let (size, link) = links[0];
        let others = and_more(links.len());
        let (size, needed) = (quoted(&Bytes(size).text()), Bytes(*longest).text());
        let message = format!(
            "{size} of the link {}{others} is below one packet: {sender} of {needed}, which would never pass; give it \
             {} at least",
            link.name,
            quoted(&needed)
        );
        problems.add_at(&place, message);
    }
}
