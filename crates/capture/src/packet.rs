//! The IP and TCP headers of a packet, as much of them as was kept. Nothing is copied.

use crate::link::link;

const PROTOCOL_TCP: u8 = 6;
/// Extension headers of IPv6 (RFC 8200 section 4) that may stand before TCP.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;
/// Most extension headers before TCP; RFC 8200 section 4.1 has each at most once, one of them twice.
const MOST_EXTENSIONS: usize = 16;

/// TCP flags (RFC 9293 section 3.1).
pub(crate) const FIN: u8 = 0x01;
pub(crate) const SYN: u8 = 0x02;
pub(crate) const RST: u8 = 0x04;
pub(crate) const ACK: u8 = 0x10;

/// One end of a connection. IPv4 addresses are in their mapped form (RFC 4291 section 2.5.5.2).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Endpoint {
    pub address: u128,
    pub port: u16,
}

/// A TCP segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    pub source: Endpoint,
    pub destination: Endpoint,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    /// Bytes of payload on the wire, kept or not.
    pub payload: u32,
    /// Options, as many of them as were kept.
    pub options: &'a [u8],
    /// Whether options were cut off.
    pub options_cut: bool,
    /// The capture point's view of the interface; see [`crate::link::LinkHeader`].
    pub view: u64,
}

/// What a packet is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dissected<'a> {
    Tcp(Segment<'a>),
    /// No IP, or no TCP in it.
    Other,
    /// A later fragment of an IP packet, whose TCP header went before.
    Fragment,
    /// It ends, or contradicts itself, before what is needed of the TCP header.
    Cut,
}

/// Where a packet's transport layer is.
struct Transport {
    source: u128,
    destination: u128,
    protocol: u8,
    at: usize,
    /// Bytes of the transport layer on the wire; None where the header does not say.
    length: Option<u32>,
    later_fragment: bool,
}

/// Reads a packet of a link type; `original_len` is its length on the wire.
#[inline]
pub(crate) fn parse(link_type: u16, data: &[u8], original_len: u32) -> Dissected<'_> {
    let Some(link) = link(link_type, data) else { return Dissected::Other };
    let Some(ip) = data.get(link.ip_at..) else { return Dissected::Cut };
    let network = match ip.first().map(|byte| byte >> 4) {
        Some(4) => ipv4(ip),
        Some(6) => ipv6(ip),
        Some(_) => return Dissected::Other,
        None => return Dissected::Cut,
    };
    let Some(transport) = network else { return Dissected::Cut };
    if transport.protocol != PROTOCOL_TCP {
        return Dissected::Other;
    }
    if transport.later_fragment {
        return Dissected::Fragment;
    }
    // A host that leaves segmentation to its card may note a length of 0.
    let on_the_wire = original_len.saturating_sub((link.ip_at + transport.at) as u32);
    let length = transport.length.unwrap_or(on_the_wire);
    tcp(ip, &transport, length, link.view)
}

/// None if the header is cut or contradicts itself.
#[inline]
fn ipv4(ip: &[u8]) -> Option<Transport> {
    let header = ip.first_chunk::<20>()?;
    let header_len = usize::from(header[0] & 0x0F) * 4;
    let total = u32::from(u16::from_be_bytes([header[2], header[3]]));
    let fragment = u16::from_be_bytes([header[6], header[7]]);
    if header_len < 20 || (total != 0 && total < header_len as u32) {
        return None;
    }
    let mapped = |at: usize| {
        let address = u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        0xFFFF_0000_0000 | u128::from(address)
    };
    Some(Transport {
        source: mapped(12),
        destination: mapped(16),
        protocol: header[9],
        at: header_len,
        length: (total != 0).then(|| total - header_len as u32),
        // The offset counts in units of 8 bytes (RFC 791 section 3.1).
        later_fragment: fragment & 0x1FFF != 0,
    })
}

#[inline]
fn ipv6(ip: &[u8]) -> Option<Transport> {
    let header = ip.first_chunk::<40>()?;
    let payload = u32::from(u16::from_be_bytes([header[4], header[5]]));
    let address =
        |at: usize| u128::from_be_bytes(header[at..at + 16].try_into().expect("the header has 40 bytes"));
    let mut protocol = header[6];
    let mut at = 40;
    let mut later_fragment = false;
    for _ in 0..=MOST_EXTENSIONS {
        let words = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | MOBILITY | FRAGMENT | AUTHENTICATION => {
                let extension = ip.get(at..at + 4)?;
                let next = extension[0];
                let words = match protocol {
                    FRAGMENT => {
                        later_fragment |= u16::from_be_bytes([extension[2], extension[3]]) & 0xFFF8 != 0;
                        2
                    }
                    // RFC 4302 section 2.2: in units of 4 bytes, minus 2.
                    AUTHENTICATION => usize::from(extension[1]) + 2,
                    _ => (usize::from(extension[1]) + 1) * 2,
                };
                protocol = next;
                words
            }
            _ => break,
        };
        at += words * 4;
        if later_fragment {
            break;
        }
    }
    let extensions = (at - 40) as u32;
    if payload != 0 && payload < extensions {
        return None;
    }
    Some(Transport {
        source: address(8),
        destination: address(24),
        protocol,
        at,
        length: (payload != 0).then(|| payload - extensions),
        later_fragment,
    })
}

/// Ports, numbers and flags must be there; options are taken as far as they were kept.
#[inline]
fn tcp<'a>(ip: &'a [u8], transport: &Transport, length: u32, view: u64) -> Dissected<'a> {
    let Some(bytes) = ip.get(transport.at..) else { return Dissected::Cut };
    let Some(fixed) = bytes.first_chunk::<14>() else { return Dissected::Cut };
    let header_len = usize::from(fixed[12] >> 4) * 4;
    if header_len < 20 || length < header_len as u32 {
        return Dissected::Cut;
    }
    let u32_at = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let port_at = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let options = bytes.get(20..header_len.min(bytes.len()).max(20)).unwrap_or(&[]);
    Dissected::Tcp(Segment {
        source: Endpoint { address: transport.source, port: port_at(0) },
        destination: Endpoint { address: transport.destination, port: port_at(2) },
        seq: u32_at(4),
        ack: u32_at(8),
        flags: fixed[13],
        payload: length - header_len as u32,
        options,
        options_cut: bytes.len() < header_len,
        view,
    })
}
