//! Headers of tunnels: what comes behind them, and the number that they have.

use super::PROTOCOL_TCP;
use super::kinds::{Protocol, Tunnel};
use super::layers::{Layer, Step, Stop, Walk};

/// Ports of UDP (IANA's registry of service names and port numbers), and the one of VXLAN in Linux.
const VXLAN: [u16; 2] = [4789, 8472];
const VXLAN_GPE: u16 = 4790;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
const MPLS_OVER_UDP: u16 = 6635;
const L2TP: u16 = 1701;
const TEREDO: u16 = 3544;
const LISP: u16 = 4341;
const ESP_IN_UDP: u16 = 4500;
const OPENVPN: u16 = 1194;
const WIREGUARD: u16 = 51820;

const UDP_HEADER: usize = 8;
const NO_TUNNEL: Stop = Stop::Other(Protocol::Udp);
/// Most extension headers of GTP-U.
const MOST_EXTENSIONS: usize = 8;

/// What follows an IP header.
pub(super) enum NextHeader {
    Protocol(Protocol),
    Layer(Layer),
    /// Behind a header of so many bytes.
    Tunnel(Tunnel, usize, Layer),
    Authentication,
}

/// By the number of the protocol (IANA's registry of protocol numbers).
pub(super) fn next_of_ip(protocol: u8) -> NextHeader {
    match protocol {
        PROTOCOL_TCP => NextHeader::Protocol(Protocol::Tcp),
        1 | 58 => NextHeader::Protocol(Protocol::Icmp),
        4 | 41 => NextHeader::Tunnel(Tunnel::Ipip, 0, Layer::Ip),
        17 => NextHeader::Layer(Layer::Udp),
        47 => NextHeader::Layer(Layer::Gre),
        50 | 108 => NextHeader::Protocol(Protocol::Esp),
        51 => NextHeader::Authentication,
        97 => NextHeader::Tunnel(Tunnel::EtherIp, 2, Layer::Ethernet),
        132 => NextHeader::Protocol(Protocol::Sctp),
        137 => NextHeader::Layer(Layer::Mpls),
        143 => NextHeader::Layer(Layer::Ethernet),
        _ => NextHeader::Protocol(Protocol::OtherIp),
    }
}

/// What an authentication header of so many bytes covers, behind an IP header that was read.
pub(super) fn behind_authentication(walk: &mut Walk<'_>, protocol: u8, bytes: usize) -> Step {
    if protocol == PROTOCOL_TCP {
        if let Some(outer) = &mut walk.transport {
            outer.length = outer.length.map(|length| length.saturating_sub(bytes as u32));
            outer.at = bytes;
        }
        return Err(Stop::Tcp(walk.original_len.saturating_sub(walk.at as u32)));
    }
    match next_of_ip(protocol) {
        NextHeader::Protocol(protocol) => Err(Stop::Other(protocol)),
        NextHeader::Layer(layer) => walk.over(bytes, layer),
        NextHeader::Tunnel(tunnel, header, layer) => walk.into(tunnel, None, bytes + header, layer),
        NextHeader::Authentication => Err(Stop::Other(Protocol::OtherIp)),
    }
}

/// Labels (RFC 3032 section 2.1), and what is under the last one.
pub(super) fn mpls(walk: &mut Walk<'_>) -> Step {
    let entry = walk.u32(0)?;
    let is_last = entry & 0x100 != 0;
    let next = if is_last { under_labels(walk, 4) } else { Some((4, Layer::Mpls)) };
    let label = entry >> 12;
    match next {
        Some((bytes, layer)) => walk.into(Tunnel::Mpls, Some(label), bytes, layer),
        None => {
            walk.encapsulation.push(Tunnel::Mpls, Some(label));
            Err(Stop::Other(Protocol::TunnelPayload))
        }
    }
}

/// Labels do not say what is under them: IP by its version, a control word before Ethernet (RFC 4385 section 3), or
/// Ethernet.
fn under_labels(walk: &Walk<'_>, at: usize) -> Option<(usize, Layer)> {
    let payload = walk.data.get(walk.at + at..)?;
    if is_ip(payload, walk.original_len.saturating_sub((walk.at + at) as u32)) {
        return Some((at, Layer::Ip));
    }
    if payload.first()? >> 4 == 0 && is_ethernet(payload.get(4..)?) {
        return Some((at + 4, Layer::Ethernet));
    }
    is_ethernet(payload).then_some((at, Layer::Ethernet))
}

/// Whether this begins like an IP packet of at most so many bytes.
fn is_ip(payload: &[u8], wire: u32) -> bool {
    let word = |at: usize| Some(u32::from(u16::from_be_bytes([*payload.get(at)?, *payload.get(at + 1)?])));
    match payload.first() {
        Some(0x45..=0x4F) => word(2).is_none_or(|total| total <= wire),
        Some(0x60..=0x6F) => word(4).is_none_or(|length| length + 40 <= wire || length == 0),
        _ => false,
    }
}

/// Whether this may be an Ethernet frame, by its ethertype or length.
fn is_ethernet(payload: &[u8]) -> bool {
    let Some([high, low]) = payload.get(12..14) else { return false };
    matches!(
        u16::from_be_bytes([*high, *low]),
        0..=1500
            | 0x0800
            | 0x0806
            | 0x86DD
            | 0x8100
            | 0x88A8
            | 0x8847
            | 0x8848
            | 0x8863
            | 0x8864
            | 0x88E5
            | 0x88CC
    )
}

/// RFC 2784 and RFC 2890, and version 1 of RFC 2637 (PPTP).
pub(super) fn gre(walk: &mut Walk<'_>) -> Step {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080;
    let (flags, protocol) = (walk.u16(0)?, walk.u16(2)?);
    let mut bytes = 4;
    if flags & (CHECKSUM | ROUTING) != 0 {
        bytes += 4;
    }
    let mut key = None;
    if flags & KEY != 0 {
        let value = walk.u32(bytes)?;
        // The call of PPTP is behind the length of the payload.
        key = Some(if flags & 7 == 1 { value & 0xFFFF } else { value });
        bytes += 4;
    }
    for flag in [SEQUENCE, ACKNOWLEDGMENT] {
        let is_there = flags & flag != 0 && (flag == SEQUENCE || flags & 7 == 1);
        bytes += if is_there { 4 } else { 0 };
    }
    if flags & ROUTING != 0 {
        walk.encapsulation.push(Tunnel::Gre, key);
        return Err(Stop::Other(Protocol::TunnelPayload));
    }
    match protocol {
        0 => {
            walk.encapsulation.push(Tunnel::Gre, key);
            Err(Stop::Other(Protocol::Control))
        }
        // ERSPAN: without a header of its own, of version 2 with one of 8 bytes; of version 3 with 12 and perhaps 8 more.
        0x88BE if flags & SEQUENCE == 0 => walk.into(Tunnel::Erspan, key, bytes, Layer::Ethernet),
        0x88BE => erspan(walk, bytes, 8),
        0x22EB => {
            let has_platform = walk.u8(bytes + 11)? & 1 == 1;
            erspan(walk, bytes, if has_platform { 20 } else { 12 })
        }
        // WCCP: of version 2 with a redirect header.
        0x883E => {
            let redirect = if walk.u8(bytes)? >> 4 == 4 { 0 } else { 4 };
            walk.into(Tunnel::Gre, key, bytes + redirect, Layer::Ip)
        }
        ethertype if is_carried(ethertype) => walk.into(Tunnel::Gre, key, bytes, Layer::Payload(ethertype)),
        _ => {
            walk.encapsulation.push(Tunnel::Gre, key);
            Err(Stop::Other(Protocol::TunnelPayload))
        }
    }
}

fn erspan(walk: &mut Walk<'_>, gre: usize, header: usize) -> Step {
    let session = walk.u16(gre + 2)? & 0x03FF;
    walk.into(Tunnel::Erspan, Some(u32::from(session)), gre + header, Layer::Ethernet)
}

/// Whether payload of this ethertype is read.
fn is_carried(ethertype: u16) -> bool {
    matches!(
        ethertype,
        0x0800
            | 0x0806
            | 0x86DD
            | 0x6558
            | 0x8847
            | 0x8848
            | 0x880B
            | 0x8100
            | 0x88A8
            | 0x8864
            | 0x8909
            | 0x894F
    )
}

/// Tunnels over UDP, by the port that they are sent to; VXLAN at another port, by its header and the frame in it.
pub(super) fn udp(walk: &mut Walk<'_>) -> Step {
    let (Ok(source), Ok(destination)) = (walk.u16(0), walk.u16(2)) else { return Err(NO_TUNNEL) };
    let Some(payload) = walk.data.get(walk.at + UDP_HEADER..) else { return Err(NO_TUNNEL) };
    walk.at += UDP_HEADER;
    match destination {
        _ if VXLAN.contains(&destination) => vxlan(walk, payload),
        VXLAN_GPE => vxlan_gpe(walk, payload),
        GENEVE => geneve(walk, payload),
        GTP_U => gtp_u(walk, payload),
        MPLS_OVER_UDP => walk.into(Tunnel::MplsOverUdp, None, 0, Layer::Mpls),
        LISP if payload.len() > 8 => {
            let instance = walk.u32(4)? >> 8;
            walk.into(Tunnel::Lisp, Some(instance), 8, Layer::Ip)
        }
        _ if source == L2TP || destination == L2TP => l2tp(walk),
        _ if source == TEREDO || destination == TEREDO => teredo(walk, payload),
        _ if source == ESP_IN_UDP || destination == ESP_IN_UDP => {
            // A marker of four zeros is key exchange, one byte a keep-alive (RFC 3948 section 2).
            let is_esp = payload.len() > 4 && payload[..4] != [0; 4];
            Err(Stop::Other(if is_esp { Protocol::Esp } else { Protocol::Udp }))
        }
        _ if source == OPENVPN || destination == OPENVPN => Err(Stop::Other(Protocol::OpenVpn)),
        _ if source == WIREGUARD || destination == WIREGUARD => Err(Stop::Other(Protocol::WireGuard)),
        _ if is_vxlan(payload) => vxlan(walk, payload),
        _ => Err(NO_TUNNEL),
    }
}

/// RFC 7348 section 5: the flag of a valid identifier is set.
fn vxlan(walk: &mut Walk<'_>, payload: &[u8]) -> Step {
    if payload.first().is_none_or(|flags| flags & 0x08 == 0) {
        return Err(NO_TUNNEL);
    }
    let network = walk.u32(4)? >> 8;
    walk.into(Tunnel::Vxlan, Some(network), 8, Layer::Ethernet)
}

/// Whether a datagram is VXLAN: every reserved bit is 0, and an Ethernet frame with IP or ARP follows.
fn is_vxlan(payload: &[u8]) -> bool {
    let [0x08, 0, 0, 0, _, _, _, 0, frame @ ..] = payload else { return false };
    match frame.get(12..15) {
        Some([0x08, 0x00, first]) => (0x45..=0x4F).contains(first),
        Some([0x86, 0xDD, first]) => first >> 4 == 6,
        Some([0x08, 0x06, ..]) => true,
        _ => false,
    }
}

/// draft-ietf-nvo3-vxlan-gpe: the header of VXLAN with the number of what follows.
fn vxlan_gpe(walk: &mut Walk<'_>, payload: &[u8]) -> Step {
    let [flags, _, _, next, ..] = payload else { return Err(NO_TUNNEL) };
    let network = walk.u32(4)? >> 8;
    let layer = match next {
        1 | 2 => Layer::Ip,
        3 => Layer::Ethernet,
        4 => Layer::Nsh,
        5 => Layer::Mpls,
        0 if flags & 0x04 == 0 => Layer::Ethernet,
        _ => {
            walk.encapsulation.push(Tunnel::Vxlan, Some(network));
            return Err(Stop::Other(Protocol::TunnelPayload));
        }
    };
    walk.into(Tunnel::Vxlan, Some(network), 8, layer)
}

/// RFC 8926 section 3.4: options in units of four bytes, and an ethertype.
fn geneve(walk: &mut Walk<'_>, payload: &[u8]) -> Step {
    let [first, ..] = payload else { return Err(NO_TUNNEL) };
    if first >> 6 != 0 {
        return Err(NO_TUNNEL);
    }
    let (ethertype, network) = (walk.u16(2)?, walk.u32(4)? >> 8);
    let bytes = 8 + usize::from(first & 0x3F) * 4;
    if !is_carried(ethertype) {
        walk.encapsulation.push(Tunnel::Geneve, Some(network));
        return Err(Stop::Other(Protocol::TunnelPayload));
    }
    walk.into(Tunnel::Geneve, Some(network), bytes, Layer::Payload(ethertype))
}

/// 3GPP TS 29.281 section 5: version 1, a message with a packet, and extension headers.
fn gtp_u(walk: &mut Walk<'_>, payload: &[u8]) -> Step {
    const PACKET: u8 = 255;
    let [flags, message, ..] = payload else { return Err(NO_TUNNEL) };
    if flags & 0xF0 != 0x30 {
        return Err(NO_TUNNEL);
    }
    let tunnel = walk.u32(4)?;
    if *message != PACKET {
        walk.encapsulation.push(Tunnel::GtpU, Some(tunnel));
        return Err(Stop::Other(Protocol::Control));
    }
    let mut bytes = if flags & 0x07 == 0 { 8 } else { 12 };
    if flags & 0x04 != 0 {
        let mut next = walk.u8(11)?;
        for _ in 0..MOST_EXTENSIONS {
            if next == 0 {
                break;
            }
            let length = usize::from(walk.u8(bytes)?.max(1)) * 4;
            next = walk.u8(bytes + length - 1)?;
            bytes += length;
        }
    }
    // Sessions of 5G may carry Ethernet frames.
    let layer = if matches!(walk.u8(bytes)? >> 4, 4 | 6) { Layer::Ip } else { Layer::Ethernet };
    walk.into(Tunnel::GtpU, Some(tunnel), bytes, layer)
}

/// RFC 2661 section 3.1: data messages of version 2 carry PPP.
fn l2tp(walk: &mut Walk<'_>) -> Step {
    let Ok(flags) = walk.u16(0) else { return Err(NO_TUNNEL) };
    if flags & 0x000F != 2 {
        return Err(NO_TUNNEL);
    }
    let mut bytes = if flags & 0x4000 == 0 { 2 } else { 4 };
    let session = u32::from(walk.u16(bytes + 2)?);
    bytes += 4;
    if flags & 0x8000 != 0 {
        walk.encapsulation.push(Tunnel::L2tp, Some(session));
        return Err(Stop::Other(Protocol::Control));
    }
    bytes += if flags & 0x0800 == 0 { 0 } else { 4 };
    if flags & 0x0200 != 0 {
        bytes += 2 + usize::from(walk.u16(bytes)?);
    }
    walk.into(Tunnel::L2tp, Some(session), bytes, Layer::Ppp)
}

/// RFC 4380 section 5.1.1: IPv6, behind indications of authentication and origin.
fn teredo(walk: &mut Walk<'_>, payload: &[u8]) -> Step {
    let mut bytes = 0;
    if let [0, 1, client, value, ..] = payload {
        bytes += 13 + usize::from(*client) + usize::from(*value);
    }
    if let Some([0, 0, ..]) = payload.get(bytes..) {
        bytes += 8;
    }
    match payload.get(bytes) {
        Some(first) if first >> 4 == 6 => walk.into(Tunnel::Teredo, None, bytes, Layer::Ip),
        _ => Err(NO_TUNNEL),
    }
}

/// RFC 8300 section 2: a length in units of four bytes, and the number of what follows.
pub(super) fn nsh(walk: &mut Walk<'_>) -> Step {
    let (first, next) = (walk.u16(0)?, walk.u8(3)?);
    let (path, bytes) = (walk.u32(4)? >> 8, usize::from(first & 0x3F) * 4);
    let layer = match next {
        1 | 2 => Layer::Ip,
        3 => Layer::Ethernet,
        5 => Layer::Mpls,
        _ => {
            walk.encapsulation.push(Tunnel::Nsh, Some(path));
            return Err(Stop::Other(Protocol::TunnelPayload));
        }
    };
    walk.into(Tunnel::Nsh, Some(path), bytes.max(8), layer)
}
