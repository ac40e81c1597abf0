//! The byte form of a segment: an IPv4 packet (RFC 791) with a TCP header (RFC 9293), its options
//! laid out as Linux does, and a payload of zeros, since the simulator carries no data.

mod datagram;

use crate::mptcp::MptcpOption;
use crate::segment::MAX_OPTIONS;
use crate::{Flags, IP_HEADER, Segment, TCP_HEADER};
pub use datagram::{DATAGRAM_HEADERS, Datagram, DatagramKind, encode_datagram_headers};
use std::ops::Range;
use thiserror::Error;

const IP_LEN: usize = IP_HEADER as usize;
const TCP_LEN: usize = TCP_HEADER as usize;
/// Protocol number of TCP in the IP header.
const PROTOCOL_TCP: u8 = 6;
/// "Don't fragment" in the word of flags and fragment offset (RFC 791 section 3.1).
const DONT_FRAGMENT: u16 = 0x4000;
/// "More fragments" and the fragment offset.
const FRAGMENT: u16 = 0x3FFF;

/// ECN field of the IP header (RFC 3168 section 5).
const ECN_ECT0: u8 = 0b10;
const ECN_CE: u8 = 0b11;

/// TCP option kinds (RFC 9293 section 3.2, RFC 7323, RFC 2018).
const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// RFC 8684 section 3.
const MPTCP: u8 = 30;

/// Largest shift of the window; a larger one counts as this (RFC 7323 section 2.3).
const MAX_WINDOW_SHIFT: u8 = 14;

/// One end of a connection.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct Endpoint {
    /// IPv4 address.
    pub addr: [u8; 4],
    /// TCP or UDP port; 0 where the protocol has none.
    pub port: u16,
}

/// What [`decode`] finds in a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// The segment. A window scale above 14 reads as 14 (RFC 7323 section 2.3); options that only
    /// count on a SYN are left out elsewhere. Its subflow is 0: ports and addresses say which it is.
    pub segment: Segment,
    /// Who sent it.
    pub source: Endpoint,
    /// Whom it is for.
    pub destination: Endpoint,
    /// Identification field of the IP header.
    pub identification: u16,
    /// Time to live.
    pub ttl: u8,
    /// Where the payload lies in the bytes given.
    pub payload: Range<usize>,
}

/// A segment that has no byte form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum EncodeError {
    /// The options do not fit the header.
    #[error("{0} bytes of TCP options; a header has room for 40")]
    OptionsTooLong(u32),
    /// The packet is longer than the IP header can say.
    #[error("a packet of {0} bytes; IPv4 allows 65535")]
    PacketTooLong(u32),
    /// RFC 7323 section 2.3 allows shifts of 0 to 14.
    #[error("a window scale of {0}; RFC 7323 allows 0 to 14")]
    WindowScale(u8),
}

/// Bytes that are no intact IPv4 packet with a TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum WireError {
    /// Fewer bytes than the headers say or need.
    #[error("{have} bytes where the packet needs at least {need}")]
    Truncated {
        /// Bytes there are.
        have: usize,
        /// Bytes there should be.
        need: usize,
    },
    /// Not IP version 4.
    #[error("IP version {0}, not 4")]
    Version(u8),
    /// The IP header's own length is below 20 bytes.
    #[error("an IP header of {0} bytes; the shortest has 20")]
    IpHeaderLength(usize),
    /// The IP header checksum does not match.
    #[error("the IP header checksum does not match")]
    IpChecksum,
    /// The total length leaves no room for the headers.
    #[error("a total length of {total} bytes leaves no room for {headers} bytes of headers")]
    TotalLength {
        /// Total length field.
        total: usize,
        /// Bytes of the headers it has to hold.
        headers: usize,
    },
    /// A fragment; the simulator makes none, and TCP sets "don't fragment".
    #[error("a fragment of a packet")]
    Fragment,
    /// Another transport protocol.
    #[error("IP protocol {0}, not TCP (6)")]
    Protocol(u8),
    /// The TCP data offset is below 20 bytes or beyond the packet.
    #[error("a TCP header of {0} bytes does not fit the packet or is below 20 bytes")]
    DataOffset(usize),
    /// The TCP checksum does not match.
    #[error("the TCP checksum does not match")]
    TcpChecksum,
    /// An option's length is wrong or runs past the header.
    #[error("TCP option of kind {kind} at byte {at} of the options has a wrong length")]
    Option {
        /// Option kind.
        kind: u8,
        /// Offset among the options, in bytes.
        at: usize,
    },
}

/// Appends the packet that carries `segment` to `buffer`: [`Segment::packet_len`] bytes with right
/// checksums, "don't fragment" set and a payload of zeros.
///
/// # Errors
/// If `segment` has more than 40 bytes of options, a packet above 65535 bytes or a window scale above
/// 14; nothing is appended then.
pub fn encode(
    segment: &Segment,
    source: Endpoint,
    destination: Endpoint,
    identification: u16,
    ttl: u8,
    buffer: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    encode_headers(segment, source, destination, identification, ttl, buffer)?;
    buffer.resize(buffer.len() + usize::from(segment.payload), 0);
    Ok(())
}

/// As [`encode`], but leaves the payload out; lengths and checksums count it all the same.
///
/// # Errors
/// As [`encode`].
pub fn encode_headers(
    segment: &Segment,
    source: Endpoint,
    destination: Endpoint,
    identification: u16,
    ttl: u8,
    buffer: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let options_len = segment.options_len();
    if options_len > MAX_OPTIONS {
        return Err(EncodeError::OptionsTooLong(options_len));
    }
    let total =
        u16::try_from(segment.packet_len()).map_err(|_| EncodeError::PacketTooLong(segment.packet_len()))?;
    if segment.window_scale_plus_one > MAX_WINDOW_SHIFT + 1 {
        return Err(EncodeError::WindowScale(segment.window_scale_plus_one - 1));
    }

    let ecn = match (segment.flags.has(Flags::CE), segment.flags.has(Flags::ECT)) {
        (true, _) => ECN_CE,
        (false, true) => ECN_ECT0,
        (false, false) => 0,
    };
    ip_header(total, (ecn, PROTOCOL_TCP), (source.addr, destination.addr), (identification, ttl), buffer);

    let tcp = buffer.len();
    let data_offset_words = ((TCP_HEADER + options_len) / 4) as u8;
    buffer.extend_from_slice(&source.port.to_be_bytes());
    buffer.extend_from_slice(&destination.port.to_be_bytes());
    buffer.extend_from_slice(&segment.seq.to_be_bytes());
    buffer.extend_from_slice(&segment.ack.to_be_bytes());
    buffer.extend_from_slice(&[data_offset_words << 4, segment.flags.header_bits()]);
    buffer.extend_from_slice(&segment.window.to_be_bytes());
    // Checksum, filled in below, and urgent pointer.
    buffer.extend_from_slice(&[0; 4]);
    encode_options(segment, buffer);
    debug_assert_eq!(buffer.len() - tcp, TCP_LEN + options_len as usize);

    // The payload is zeros: it adds nothing to the sum, only its length does.
    let tcp_len = total - IP_LEN as u16;
    let pseudo_header = pseudo_header(PROTOCOL_TCP, source.addr, destination.addr, tcp_len);
    let checksum = fold(pseudo_header + sum(&buffer[tcp..]));
    buffer[tcp + 16..tcp + 18].copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}

/// Appends an IPv4 header with its checksum (RFC 791 section 3.1).
fn ip_header(
    total: u16,
    (ecn, protocol): (u8, u8),
    (source, destination): ([u8; 4], [u8; 4]),
    (identification, ttl): (u16, u8),
    buffer: &mut Vec<u8>,
) {
    let start = buffer.len();
    buffer.extend_from_slice(&[0x45, ecn]);
    buffer.extend_from_slice(&total.to_be_bytes());
    buffer.extend_from_slice(&identification.to_be_bytes());
    buffer.extend_from_slice(&DONT_FRAGMENT.to_be_bytes());
    buffer.extend_from_slice(&[ttl, protocol, 0, 0]);
    buffer.extend_from_slice(&source);
    buffer.extend_from_slice(&destination);
    let checksum = fold(sum(&buffer[start..]));
    buffer[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
}

/// Options in Linux's order and padding: MSS, SACK-permitted in place of the padding of timestamps,
/// timestamps, window scale, SACK blocks, each group aligned to four bytes by NOPs in front; then MPTCP's,
/// with its NOPs behind.
fn encode_options(segment: &Segment, buffer: &mut Vec<u8>) {
    let syn = segment.flags.has(Flags::SYN);
    if syn && segment.mss > 0 {
        buffer.extend_from_slice(&[MSS, 4]);
        buffer.extend_from_slice(&segment.mss.to_be_bytes());
    }
    let permitted = syn && segment.flags.has(Flags::SACK_PERMITTED);
    if segment.flags.has(Flags::TIMESTAMPS) {
        buffer.extend_from_slice(if permitted { &[SACK_PERMITTED, 2] } else { &[NOP, NOP] });
        buffer.extend_from_slice(&[TIMESTAMPS, 10]);
        buffer.extend_from_slice(&segment.timestamp.to_be_bytes());
        buffer.extend_from_slice(&segment.timestamp_echo.to_be_bytes());
    } else if permitted {
        buffer.extend_from_slice(&[NOP, NOP, SACK_PERMITTED, 2]);
    }
    if syn && segment.window_scale_plus_one > 0 {
        buffer.extend_from_slice(&[NOP, WINDOW_SCALE, 3, segment.window_scale_plus_one - 1]);
    }
    if !segment.sack.is_empty() {
        let blocks = segment.sack.as_slice();
        buffer.extend_from_slice(&[NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
        for (left, right) in blocks {
            buffer.extend_from_slice(&left.to_be_bytes());
            buffer.extend_from_slice(&right.to_be_bytes());
        }
    }
    if let Some(option) = segment.mptcp() {
        option.encode(buffer);
    }
}

/// Reads the IPv4 packet at the start of `bytes`; what follows its total length is ignored, as are
/// IP options, reserved bits, and TCP options that are unknown or out of place.
///
/// # Errors
/// If the bytes are cut short, are not IPv4 with TCP, or fail a checksum or a length check.
pub fn decode(bytes: &[u8]) -> Result<Decoded, WireError> {
    let need = |need: usize| {
        if bytes.len() < need { Err(WireError::Truncated { have: bytes.len(), need }) } else { Ok(()) }
    };
    need(IP_LEN)?;
    if bytes[0] >> 4 != 4 {
        return Err(WireError::Version(bytes[0] >> 4));
    }
    let ip_len = usize::from(bytes[0] & 0x0F) * 4;
    if ip_len < IP_LEN {
        return Err(WireError::IpHeaderLength(ip_len));
    }
    need(ip_len)?;
    if fold(sum(&bytes[..ip_len])) != 0 {
        return Err(WireError::IpChecksum);
    }
    if be16(bytes, 6) & FRAGMENT != 0 {
        return Err(WireError::Fragment);
    }
    if bytes[9] != PROTOCOL_TCP {
        return Err(WireError::Protocol(bytes[9]));
    }
    let total = usize::from(be16(bytes, 2));
    if total < ip_len + TCP_LEN {
        return Err(WireError::TotalLength { total, headers: ip_len + TCP_LEN });
    }
    need(total)?;

    let source_addr = [bytes[12], bytes[13], bytes[14], bytes[15]];
    let destination_addr = [bytes[16], bytes[17], bytes[18], bytes[19]];
    let tcp = &bytes[ip_len..total];
    let pseudo_header = pseudo_header(PROTOCOL_TCP, source_addr, destination_addr, tcp.len() as u16);
    if fold(pseudo_header + sum(tcp)) != 0 {
        return Err(WireError::TcpChecksum);
    }
    let data_offset = usize::from(tcp[12] >> 4) * 4;
    if data_offset < TCP_LEN || data_offset > tcp.len() {
        return Err(WireError::DataOffset(data_offset));
    }

    let mut flags = Flags::from_header_bits(tcp[13]);
    match bytes[1] & 0b11 {
        0 => {}
        ECN_CE => flags = flags.with(Flags::ECT).with(Flags::CE),
        // ECT(0) and ECT(1) mean the same (RFC 3168 section 5).
        _ => flags = flags.with(Flags::ECT),
    }
    let mut segment = Segment {
        seq: be32(tcp, 4),
        ack: be32(tcp, 8),
        window: be16(tcp, 14),
        payload: (tcp.len() - data_offset) as u16,
        flags,
        ..Segment::default()
    };
    decode_options(&tcp[TCP_LEN..data_offset], &mut segment)?;
    Ok(Decoded {
        segment,
        source: Endpoint { addr: source_addr, port: be16(tcp, 0) },
        destination: Endpoint { addr: destination_addr, port: be16(tcp, 2) },
        identification: be16(bytes, 4),
        ttl: bytes[8],
        payload: ip_len + data_offset..total,
    })
}

fn decode_options(options: &[u8], segment: &mut Segment) -> Result<(), WireError> {
    let syn = segment.flags.has(Flags::SYN);
    let mut at = 0;
    while at < options.len() {
        let kind = options[at];
        if kind == END {
            break;
        }
        if kind == NOP {
            at += 1;
            continue;
        }
        let malformed = WireError::Option { kind, at };
        let length = usize::from(*options.get(at + 1).ok_or(malformed)?);
        let option = options.get(at..at + length).filter(|_| length >= 2).ok_or(malformed)?;
        match (kind, length) {
            // MSS, window scale and SACK-permitted only count on a SYN.
            (MSS, 4) if syn => segment.mss = be16(option, 2),
            (WINDOW_SCALE, 3) if syn => {
                segment.window_scale_plus_one = option[2].min(MAX_WINDOW_SHIFT) + 1;
            }
            (SACK_PERMITTED, 2) if syn => segment.flags = segment.flags.with(Flags::SACK_PERMITTED),
            (MSS, 4) | (WINDOW_SCALE, 3) | (SACK_PERMITTED, 2) => {}
            (TIMESTAMPS, 10) => {
                segment.flags = segment.flags.with(Flags::TIMESTAMPS);
                segment.timestamp = be32(option, 2);
                segment.timestamp_echo = be32(option, 6);
            }
            (SACK, 10 | 18 | 26 | 34) => {
                segment.sack.clear();
                for block in option[2..].chunks_exact(8) {
                    segment.sack.push(be32(block, 0), be32(block, 4), 4);
                }
            }
            (MPTCP, _) => match MptcpOption::decode(option, segment.flags) {
                Ok(Some(option)) => segment.set_mptcp(option),
                Ok(None) => {}
                Err(()) => return Err(malformed),
            },
            (MSS | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMPS, _) => return Err(malformed),
            _ => {}
        }
        at += length;
    }
    Ok(())
}

/// Marks an IPv4 packet with congestion experienced (RFC 3168 section 5), and brings the header checksum up to date
/// (RFC 1624 section 3, equation 3).
///
/// # Panics
/// If the bytes are no IPv4 header.
pub fn mark(packet: &mut [u8]) {
    let before = be16(packet, 0);
    packet[1] |= ECN_CE;
    let sum = u32::from(!be16(packet, 10)) + u32::from(!before) + u32::from(be16(packet, 0));
    packet[10..12].copy_from_slice(&fold(sum).to_be_bytes());
}

/// Sets the header checksum of an IPv4 packet (RFC 791 section 3.1).
///
/// # Panics
/// If the bytes are no IPv4 header.
pub fn set_ip_checksum(packet: &mut [u8]) {
    let header = usize::from(packet[0] & 0x0F) * 4;
    packet[10..12].fill(0);
    let checksum = fold(sum(&packet[..header]));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Sets the checksum of TCP or UDP in an IPv4 packet that is no fragment (RFC 9293 section 3.1, RFC 768). It stands `at`
/// bytes behind the IP header.
///
/// # Panics
/// If the packet is too short for it.
pub fn set_checksum(packet: &mut [u8], at: usize) {
    let start = usize::from(packet[0] & 0x0F) * 4;
    let at = start + at;
    let address = |at: usize| [packet[at], packet[at + 1], packet[at + 2], packet[at + 3]];
    let pseudo_header = pseudo_header(packet[9], address(12), address(16), (packet.len() - start) as u16);
    packet[at..at + 2].fill(0);
    let checksum = match fold(pseudo_header + sum(&packet[start..])) {
        // None at all, in a datagram.
        0 => u16::MAX,
        checksum => checksum,
    };
    packet[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Sum of the big-endian 16-bit words, an odd last byte padded with zero (RFC 1071 section 1).
/// A packet has at most 32768 words, so 32 bits hold the sum and a pseudo header's.
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks_exact(2);
    let odd = words.remainder().first().map_or(0, |byte| u32::from(*byte) << 8);
    words.map(|word| u32::from(be16(word, 0))).sum::<u32>() + odd
}

/// One's complement of the one's complement sum.
fn fold(sum: u32) -> u16 {
    let once = (sum & 0xFFFF) + (sum >> 16);
    !((once & 0xFFFF) + (once >> 16)) as u16
}

/// Sum of the pseudo header: addresses, protocol and its length (RFC 9293 section 3.1, RFC 768).
fn pseudo_header(protocol: u8, source: [u8; 4], destination: [u8; 4], length: u16) -> u32 {
    sum(&source) + sum(&destination) + u32::from(protocol) + u32::from(length)
}
