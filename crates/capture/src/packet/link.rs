//! The link layer of nearly all packets: where the IP header begins, and in which direction the capturing host saw it,
//! where the format says so. What is rarer is for [`super::layers`].

use super::bytes::u16_at;
use super::kinds::Tags;

/// Link types (<https://www.tcpdump.org/linktypes.html>).
pub(super) const NULL: u16 = 0;
pub(super) const ETHERNET: u16 = 1;
pub(super) const RAW_BSD: u16 = 12;
pub(super) const RAW_OPENBSD: u16 = 14;
pub(super) const RAW: u16 = 101;
pub(super) const LOOP: u16 = 108;
pub(super) const LINUX_SLL: u16 = 113;
pub(super) const IPV4: u16 = 228;
pub(super) const IPV6: u16 = 229;
pub(super) const LINUX_SLL2: u16 = 276;

pub(super) const ETHERTYPE_IPV4: u16 = 0x0800;
pub(super) const ETHERTYPE_IPV6: u16 = 0x86DD;
/// Tags of virtual networks: IEEE 802.1Q, 802.1ad, and what came before it.
pub(super) const TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];
/// Most tags before the network layer; more than two are not in use.
const MOST_TAGS: usize = 4;
/// Packet type of the cooked formats: sent by the capturing host.
const SLL_OUTGOING: u16 = 4;

/// A packet below its network layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LinkHeader {
    /// Where the IP header begins.
    pub ip_at: usize,
    pub view: u64,
    pub tags: Tags,
}

/// The link layer of a packet; None if it carries no IP, is of another link type or ends before its network layer.
#[inline(always)]
pub(super) fn link(link_type: u16, data: &[u8]) -> Option<LinkHeader> {
    match (link_type, data.get(12..14)) {
        (ETHERNET, Some([0x08, 0x00] | [0x86, 0xDD])) => {
            Some(LinkHeader { ip_at: 14, view: 0, tags: Tags::default() })
        }
        _ => tagged_or_other(link_type, data),
    }
}

#[inline(never)]
fn tagged_or_other(link_type: u16, data: &[u8]) -> Option<LinkHeader> {
    let plain = |ip_at| Some(LinkHeader { ip_at, view: 0, tags: Tags::default() });
    match link_type {
        ETHERNET => ethernet(data, 12, 0),
        RAW | RAW_BSD | RAW_OPENBSD | IPV4 | IPV6 => plain(0),
        // An address family in some host's byte order: its IP version tells the rest.
        NULL | LOOP => plain(4),
        LINUX_SLL => ethernet(data, 14, sll_view(data)?),
        LINUX_SLL2 => {
            let view = sll2_view(data)?;
            is_ip(u16_at(data, 0)?).then_some(LinkHeader { ip_at: 20, view, tags: Tags::default() })
        }
        _ => None,
    }
}

/// Which of the interface's views a packet in Linux' cooked format is from: "any" sees a forwarded packet twice, as it
/// comes and as it goes.
#[inline]
pub(super) fn sll_view(data: &[u8]) -> Option<u64> {
    Some(u64::from(u16_at(data, 0)? == SLL_OUTGOING))
}

/// The same in the second cooked format, which tells the devices apart as well.
#[inline]
pub(super) fn sll2_view(data: &[u8]) -> Option<u64> {
    let device = data.get(4..8)?;
    let device = u32::from_be_bytes([device[0], device[1], device[2], device[3]]);
    let is_outgoing = u16::from(*data.get(10)?) == SLL_OUTGOING;
    Some(u64::from(device) << 1 | u64::from(is_outgoing))
}

/// An ethertype at `at`, with tags before it.
#[inline]
fn ethernet(data: &[u8], mut at: usize, view: u64) -> Option<LinkHeader> {
    let mut tags = Tags::default();
    for _ in 0..=MOST_TAGS {
        let ethertype = u16_at(data, at)?;
        if is_ip(ethertype) {
            return Some(LinkHeader { ip_at: at + 2, view, tags });
        }
        if !TAGS.contains(&ethertype) {
            return None;
        }
        tags.push(u16_at(data, at + 2)?);
        at += 4;
    }
    None
}

#[inline]
fn is_ip(ethertype: u16) -> bool {
    ethertype == ETHERTYPE_IPV4 || ethertype == ETHERTYPE_IPV6
}
