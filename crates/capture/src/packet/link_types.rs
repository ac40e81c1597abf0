//! Link types (<https://www.tcpdump.org/linktypes.html>) that are rarer than those of [`super::link`]: how long their
//! headers are and what follows them, and the names of those that cannot be read.

use super::bytes::{u16_at, u32_at};
use super::layers::Layer;

const FDDI: u16 = 10;
const TOKEN_RING: u16 = 6;
const PPP: u16 = 9;
const PPP_HDLC: u16 = 50;
const PPP_ETHER: u16 = 51;
const ATM_RFC1483: u16 = 100;
const C_HDLC: u16 = 104;
pub(super) const IEEE802_11: u16 = 105;
const FRAME_RELAY: u16 = 107;
const ENC: u16 = 109;
const PFLOG: u16 = 117;
pub(super) const IEEE802_11_PRISM: u16 = 119;
const IP_OVER_FC: u16 = 122;
pub(super) const IEEE802_11_RADIOTAP: u16 = 127;
const APPLE_IP_OVER_IEEE1394: u16 = 138;
pub(super) const IEEE802_11_AVS: u16 = 163;
const PPP_PPPD: u16 = 166;
const PPI: u16 = 192;
const PPP_WITH_DIRECTION: u16 = 204;
const C_HDLC_WITH_DIRECTION: u16 = 205;
const FRAME_RELAY_WITH_DIRECTION: u16 = 206;
const MPLS: u16 = 219;
pub(super) const NFLOG: u16 = 239;
const NETANALYZER: u16 = 240;
const NETANALYZER_TRANSPARENT: u16 = 241;
const IPOIB: u16 = 242;
const ETHERNET_MPACKET: u16 = 274;

/// The length of a header and what follows it; an error if the header is cut, None if the link type is not known.
pub(super) fn next_header(link_type: u16, data: &[u8]) -> Option<Result<(usize, Layer), ()>> {
    let fixed = |bytes: usize, layer: Layer| Some(Ok((bytes, layer)));
    let measured = |bytes: Option<usize>, layer: Layer| Some(bytes.map(|bytes| (bytes, layer)).ok_or(()));
    match link_type {
        TOKEN_RING => measured(token_ring(data), Layer::Llc),
        FDDI => fixed(13, Layer::Llc),
        // With or without its HDLC header: simulators leave it out.
        PPP | PPP_HDLC => fixed(0, Layer::PppOrCisco),
        PPP_ETHER => fixed(0, Layer::Pppoe),
        ATM_RFC1483 => fixed(0, Layer::Llc),
        C_HDLC => fixed(2, Layer::EtherField),
        PPP_PPPD | PPP_WITH_DIRECTION => fixed(1, Layer::PppOrCisco),
        C_HDLC_WITH_DIRECTION => fixed(3, Layer::EtherField),
        FRAME_RELAY => Some(frame_relay(data, 0).ok_or(())),
        FRAME_RELAY_WITH_DIRECTION => Some(frame_relay(data, 1).ok_or(())),
        // An address family, an index and flags.
        ENC => fixed(12, Layer::Ip),
        // The length is of what is before its padding.
        PFLOG => measured(data.first().map(|length| usize::from(*length).next_multiple_of(4)), Layer::Ip),
        IP_OVER_FC => fixed(16, Layer::Llc),
        APPLE_IP_OVER_IEEE1394 => fixed(16, Layer::EtherField),
        PPI => Some(ppi(data).ok_or(())),
        MPLS => fixed(0, Layer::Mpls),
        NETANALYZER => fixed(4, Layer::Ethernet),
        NETANALYZER_TRANSPARENT => fixed(12, Layer::Ethernet),
        // The global route header, and an ethertype with two bytes behind it.
        IPOIB => Some(u16_at(data, 40).map(|ethertype| (44, Layer::Payload(ethertype))).ok_or(())),
        ETHERNET_MPACKET => fixed(8, Layer::Ethernet),
        _ => None,
    }
}

/// The bytes before LLC: source routing is behind the addresses, if their first bit says so.
fn token_ring(data: &[u8]) -> Option<usize> {
    let is_routed = data.get(8)? & 0x80 != 0;
    let route = if is_routed { usize::from(data.get(14)? & 0x1F) } else { 0 };
    Some(14 + route)
}

/// RFC 2427: an address whose last byte is odd, then control and the number of the protocol; or an ethertype, as Cisco
/// has it.
fn frame_relay(data: &[u8], before: usize) -> Option<(usize, Layer)> {
    let address = data.get(before..)?.iter().take(4).position(|byte| byte & 1 == 1)? + 1;
    let mut at = before + address;
    if *data.get(at)? != 0x03 {
        return Some((at, Layer::EtherField));
    }
    at += 1;
    while *data.get(at)? == 0 {
        at += 1;
    }
    match data[at] {
        // SNAP: the identifier of an organisation, and an ethertype.
        0x80 => Some((at + 4, Layer::EtherField)),
        0xCC | 0x8E => Some((at + 1, Layer::Ip)),
        _ => Some((at + 1, Layer::Payload(u16::MAX))),
    }
}

/// A length and the link type of what follows, both in the order of Intel's processors.
fn ppi(data: &[u8]) -> Option<(usize, Layer)> {
    let length = usize::from(u16_at(data, 2)?.swap_bytes());
    let inner = u16::try_from(u32_at(data, 4)?.swap_bytes()).ok()?;
    Some((length.max(8), Layer::Link(inner)))
}

/// Names without `LINKTYPE_`, of those that cannot be read.
const NAMES: [(u16, &str); 86] = [
    (3, "AX25"),
    (7, "ARCNET_BSD"),
    (8, "SLIP"),
    (99, "SYMANTEC_FIREWALL"),
    (106, "ATM_CLIP"),
    (114, "LTALK"),
    (118, "CISCO_IOS"),
    (123, "SUNATM"),
    (129, "ARCNET_LINUX"),
    (130, "JUNIPER_MLPPP"),
    (131, "JUNIPER_MLFR"),
    (132, "JUNIPER_ES"),
    (133, "JUNIPER_GGSN"),
    (134, "JUNIPER_MFR"),
    (135, "JUNIPER_ATM2"),
    (136, "JUNIPER_SERVICES"),
    (137, "JUNIPER_ATM1"),
    (139, "MTP2_WITH_PHDR"),
    (140, "MTP2"),
    (141, "MTP3"),
    (142, "SCCP"),
    (143, "DOCSIS"),
    (144, "LINUX_IRDA"),
    (147, "USER0"),
    (148, "USER1"),
    (149, "USER2"),
    (150, "USER3"),
    (151, "USER4"),
    (152, "USER5"),
    (153, "USER6"),
    (154, "USER7"),
    (155, "USER8"),
    (156, "USER9"),
    (157, "USER10"),
    (158, "USER11"),
    (159, "USER12"),
    (160, "USER13"),
    (161, "USER14"),
    (162, "USER15"),
    (165, "BACNET_MS_TP"),
    (169, "GPRS_LLC"),
    (170, "GPF_T"),
    (177, "LINUX_LAPD"),
    (178, "JUNIPER_ETHER"),
    (179, "JUNIPER_PPP"),
    (180, "JUNIPER_FRELAY"),
    (181, "JUNIPER_CHDLC"),
    (182, "MFR"),
    (183, "JUNIPER_VP"),
    (186, "USB_FREEBSD"),
    (187, "BLUETOOTH_HCI_H4"),
    (189, "USB_LINUX"),
    (195, "IEEE802_15_4_WITHFCS"),
    (196, "SITA"),
    (197, "ERF"),
    (201, "BLUETOOTH_HCI_H4_WITH_PHDR"),
    (202, "AX25_KISS"),
    (203, "LAPD"),
    (207, "LAPB_WITH_DIR"),
    (209, "IPMB_LINUX"),
    (210, "FLEXRAY"),
    (212, "LIN"),
    (215, "IEEE802_15_4_NONASK_PHY"),
    (220, "USB_LINUX_MMAPPED"),
    (224, "FC_2"),
    (225, "FC_2_WITH_FRAME_DELIMS"),
    (226, "IPNET"),
    (227, "CAN_SOCKETCAN"),
    (230, "IEEE802_15_4_NOFCS"),
    (231, "DBUS"),
    (243, "MPEG_2_TS"),
    (244, "NG40"),
    (245, "NFC_LLCP"),
    (247, "INFINIBAND"),
    (248, "SCTP"),
    (249, "USBPCAP"),
    (251, "BLUETOOTH_LE_LL"),
    (252, "WIRESHARK_UPPER_PDU"),
    (253, "NETLINK"),
    (256, "BLUETOOTH_LE_LL_WITH_PHDR"),
    (258, "PKTAP"),
    (259, "EPON"),
    (265, "ISO_14443"),
    (271, "VSOCK"),
    (278, "OPENVIZSLA"),
    (283, "IEEE802_15_4_TAP"),
];

/// A link type with its name, where it has one.
pub(crate) fn link_type_name(link_type: u16) -> String {
    match NAMES.iter().find(|(number, _)| *number == link_type) {
        Some((_, name)) => format!("{link_type} ({name})"),
        None => link_type.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_unread_types_in_order() {
        assert!(NAMES.is_sorted_by_key(|(number, _)| *number));
        assert!(NAMES.iter().all(|(number, _)| next_header(*number, &[]).is_none()));
        assert_eq!(link_type_name(147), "147 (USER0)");
        assert_eq!(link_type_name(9999), "9999");
    }
}
