//! The headers of a packet, as much of them as was kept. Nothing is copied.

mod bytes;
mod kinds;
mod layers;
mod link;
mod link_types;
mod network;
mod tunnels;
mod wireless;

use bytes::u16_at;
pub(crate) use kinds::{Encapsulation, Network, Protocol, Tags};
pub(crate) use layers::read;
pub(crate) use link_types::link_type_name;
use network::{Transport, ipv4, ipv6};
pub(crate) use wireless::{Aggregate, Subframes};

const PROTOCOL_TCP: u8 = 6;

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
    /// As the header has it, not scaled; the greatest where it was cut off.
    pub window: u16,
    /// Bytes of payload on the wire, kept or not.
    pub payload: u32,
    /// Options, as many of them as were kept.
    pub options: &'a [u8],
    /// Whether options were cut off.
    pub options_cut: bool,
    /// Which of the interface's views it is from: "any" of Linux sees a forwarded packet twice, as it comes and as it
    /// goes.
    pub view: u64,
    /// Of IPv4.
    pub identification: Option<u16>,
    /// The hop limit (time to live).
    pub hops: u8,
    /// Tags of virtual networks right around it, unless it is encapsulated: then they are with the rest.
    pub tags: Tags,
    /// Whether there are headers of tunnels around it.
    pub is_encapsulated: bool,
}

/// What a packet is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dissected<'a> {
    Tcp(Segment<'a>),
    /// No TCP that can be read.
    Other(Protocol),
    /// Of a link type that is not known.
    UnknownLink,
    /// A later fragment of an IP packet, whose TCP header went before.
    Fragment,
    /// It ends, or contradicts itself, before what is needed of the TCP header.
    Cut,
    /// Several packets in a frame: see [`Subframes`].
    Aggregate(Aggregate),
}

/// The segment of a packet as nearly all are: IP behind a usual link layer, and TCP behind it. None has [`read`] look.
#[inline(always)]
pub(crate) fn plain_segment(link_type: u16, data: &[u8], original_len: u32) -> Option<Segment<'_>> {
    let link = link::link(link_type, data)?;
    let ip = data.get(link.ip_at..)?;
    let transport = network_of(ip)?;
    if transport.protocol != PROTOCOL_TCP || transport.is_later_fragment {
        return None;
    }
    let ip_len = original_len.saturating_sub(link.ip_at as u32);
    tcp(ip, &transport, ip_len, link.view).map(|segment| Segment { tags: link.tags, ..segment })
}

/// The IP header at the beginning; None if there is none, or if it is cut.
#[inline(always)]
fn network_of(ip: &[u8]) -> Option<Transport> {
    match ip.first()? >> 4 {
        4 => ipv4(ip),
        6 => ipv6(ip),
        _ => None,
    }
}

/// Ports, numbers and flags must be there; options are taken as far as they were kept. `ip_len`: bytes on the wire from
/// the IP header on. None if it is cut, or contradicts itself.
#[inline(always)]
fn tcp<'a>(ip: &'a [u8], transport: &Transport, ip_len: u32, view: u64) -> Option<Segment<'a>> {
    // A host that leaves segmentation to its card may note a length of 0.
    let length = transport.length.unwrap_or(ip_len.saturating_sub(transport.at as u32));
    let bytes = ip.get(transport.at..)?;
    let fixed = bytes.first_chunk::<14>()?;
    let header_len = usize::from(fixed[12] >> 4) * 4;
    if header_len < 20 || length < header_len as u32 {
        return None;
    }
    let u32_at = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let port_at = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let options = bytes.get(20..header_len.min(bytes.len()).max(20)).unwrap_or(&[]);
    Some(Segment {
        source: Endpoint { address: transport.source, port: port_at(0) },
        destination: Endpoint { address: transport.destination, port: port_at(2) },
        seq: u32_at(4),
        ack: u32_at(8),
        flags: fixed[13],
        window: u16_at(bytes, 14).unwrap_or(u16::MAX),
        payload: length - header_len as u32,
        options,
        options_cut: bytes.len() < header_len,
        view,
        identification: transport.identification,
        hops: transport.hops,
        tags: Tags::default(),
        is_encapsulated: false,
    })
}
