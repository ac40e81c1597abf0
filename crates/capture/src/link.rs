//! The link layer of a packet: where its IP header begins, and in which direction the capturing host
//! saw it, where the format says so.

/// LinkHeader types (<https://www.tcpdump.org/linktypes.html>).
const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const RAW_BSD: u16 = 12;
const RAW_OPENBSD: u16 = 14;
const RAW: u16 = 101;
const LOOP: u16 = 108;
const LINUX_SLL: u16 = 113;
const IPV4: u16 = 228;
const IPV6: u16 = 229;
const LINUX_SLL2: u16 = 276;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86DD;
/// Tags of virtual networks: IEEE 802.1Q, 802.1ad, and what came before it.
const TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];
/// Most tags before the network layer; more than two are not in use.
const MOST_TAGS: usize = 4;
/// Packet type of the cooked formats: sent by the capturing host.
const SLL_OUTGOING: u16 = 4;

/// A packet below its network layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LinkHeader {
    /// Where the IP header begins.
    pub ip_at: usize,
    /// Which of the interface's views it is from: "any" of Linux sees a forwarded packet twice, as it
    /// comes and as it goes, and SLL2 tells the devices apart.
    pub view: u64,
}

/// Whether packets of a link type can be read.
pub(crate) fn is_known(link_type: u16) -> bool {
    matches!(
        link_type,
        NULL | ETHERNET | RAW_BSD | RAW_OPENBSD | RAW | LOOP | LINUX_SLL | IPV4 | IPV6 | LINUX_SLL2
    )
}

/// The link layer of a packet; None if it carries no IP or ends before it.
#[inline]
pub(crate) fn link(link_type: u16, data: &[u8]) -> Option<LinkHeader> {
    let plain = |ip_at| Some(LinkHeader { ip_at, view: 0 });
    match link_type {
        ETHERNET => ethernet(data, 12, 0),
        RAW | RAW_BSD | RAW_OPENBSD | IPV4 | IPV6 => plain(0),
        // An address family in some host's byte order: its IP version tells the rest.
        NULL | LOOP => plain(4),
        LINUX_SLL => {
            let outgoing = u16_at(data, 0)? == SLL_OUTGOING;
            ethernet(data, 14, u64::from(outgoing))
        }
        LINUX_SLL2 => {
            let protocol = u16_at(data, 0)?;
            let device = data.get(4..8)?;
            let device = u32::from_be_bytes([device[0], device[1], device[2], device[3]]);
            let outgoing = u16::from(*data.get(10)?) == SLL_OUTGOING;
            let view = u64::from(device) << 1 | u64::from(outgoing);
            is_ip(protocol).then_some(LinkHeader { ip_at: 20, view })
        }
        _ => None,
    }
}

/// An ethertype at `at`, with tags before it.
#[inline]
fn ethernet(data: &[u8], mut at: usize, view: u64) -> Option<LinkHeader> {
    for _ in 0..=MOST_TAGS {
        let ethertype = u16_at(data, at)?;
        if is_ip(ethertype) {
            return Some(LinkHeader { ip_at: at + 2, view });
        }
        if !TAGS.contains(&ethertype) {
            return None;
        }
        at += 4;
    }
    None
}

#[inline]
fn is_ip(ethertype: u16) -> bool {
    ethertype == ETHERTYPE_IPV4 || ethertype == ETHERTYPE_IPV6
}

#[inline]
fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?]))
}
