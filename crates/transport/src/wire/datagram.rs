//! The byte form of packets without a connection: echo requests and replies (RFC 792), and UDP (RFC 768).

use super::{EncodeError, Endpoint, IP_LEN, fold, ip_header, pseudo_header, sum};
use crate::IP_HEADER;

/// Bytes of an IP header and of an echo's or UDP's, which have 8 both.
pub const DATAGRAM_HEADERS: u32 = IP_HEADER + 8;

/// Protocol numbers in the IP header.
const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_UDP: u8 = 17;

/// Type of an echo reply and of an echo request (RFC 792).
const ECHO_REPLY: u8 = 0;
const ECHO_REQUEST: u8 = 8;

/// What a packet without a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatagramKind {
    /// Asks for an answer.
    EchoRequest,
    /// The answer, as long as what it answers.
    EchoReply,
    /// UDP.
    Udp,
}

/// A packet without a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// What it is.
    pub kind: DatagramKind,
    /// Which ping it is of; not on the wire of UDP, whose ports say it.
    pub identifier: u16,
    /// Its place in the order of sending, of which an echo carries 16 bits and UDP none.
    pub sequence: u32,
    /// Bytes of the IP packet.
    pub bytes: u32,
}

/// Appends the IP header and the 8 bytes of the protocol's own. Lengths and checksums count the payload, which is zeros.
///
/// # Errors
/// If the packet is longer than 65535 bytes; nothing is appended then.
///
/// # Panics
/// If it is shorter than its headers.
pub fn encode_datagram_headers(
    datagram: &Datagram,
    source: Endpoint,
    destination: Endpoint,
    identification: u16,
    ttl: u8,
    buffer: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let Datagram { kind, identifier, sequence, bytes } = *datagram;
    assert!(bytes >= DATAGRAM_HEADERS, "a packet holds its headers");
    let total = u16::try_from(bytes).map_err(|_| EncodeError::PacketTooLong(bytes))?;
    let protocol = if kind == DatagramKind::Udp { PROTOCOL_UDP } else { PROTOCOL_ICMP };
    let ends = (source.addr, destination.addr);
    ip_header(total, (0, protocol), ends, (identification, ttl), buffer);
    let start = buffer.len();
    let length = total - IP_LEN as u16;
    let echo = |kind: u8| {
        let [high, low] = identifier.to_be_bytes();
        let [.., sequence_high, sequence_low] = sequence.to_be_bytes();
        [kind, 0, 0, 0, high, low, sequence_high, sequence_low]
    };
    let (header, checksum_at, pseudo) = match kind {
        DatagramKind::EchoRequest => (echo(ECHO_REQUEST), 2, 0),
        DatagramKind::EchoReply => (echo(ECHO_REPLY), 2, 0),
        DatagramKind::Udp => {
            let mut header = [0; 8];
            header[..2].copy_from_slice(&source.port.to_be_bytes());
            header[2..4].copy_from_slice(&destination.port.to_be_bytes());
            header[4..6].copy_from_slice(&length.to_be_bytes());
            (header, 6, pseudo_header(PROTOCOL_UDP, source.addr, destination.addr, length))
        }
    };
    buffer.extend_from_slice(&header);
    // RFC 768: a checksum of zero is sent as all ones.
    let checksum = match fold(pseudo + sum(&buffer[start..])) {
        0 if kind == DatagramKind::Udp => u16::MAX,
        sum => sum,
    };
    buffer[start + checksum_at..start + checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(kind: DatagramKind) -> Vec<u8> {
        let datagram = Datagram { kind, identifier: 0x1234, sequence: 0x0001_0002, bytes: 84 };
        let (one, other) =
            (Endpoint { addr: [10, 0, 0, 1], port: 0xC000 }, Endpoint { addr: [10, 0, 0, 2], port: 0x1389 });
        let mut buffer = Vec::new();
        encode_datagram_headers(&datagram, one, other, 7, 64, &mut buffer).expect("short enough");
        buffer
    }

    /// The fields of RFC 792 and RFC 768, and checksums that add up to all ones (RFC 1071).
    #[test]
    fn headers_are_those_of_the_protocols() {
        let request = encoded(DatagramKind::EchoRequest);
        assert_eq!(request.len(), 28);
        assert_eq!((request[9], &request[2..4]), (1, &[0, 84][..]));
        assert_eq!((request[20], request[21], &request[24..]), (8, 0, &[0x12, 0x34, 0, 2][..]));
        // 8 << 8 + 0x1234 + 2 = 0x1a36, of which the complement is 0xe5c9.
        assert_eq!(request[22..24], [0xE5, 0xC9]);
        assert_eq!(encoded(DatagramKind::EchoReply)[20..24], [0, 0, 0xED, 0xC9]);
        let udp = encoded(DatagramKind::Udp);
        assert_eq!((udp[9], &udp[20..26]), (17, &[0xC0, 0, 0x13, 0x89, 0, 64][..]));
        assert_eq!(fold(sum(&udp[..20])), 0);
        let pseudo = sum(&[10, 0, 0, 1, 10, 0, 0, 2]) + 17 + 64;
        assert_eq!(fold(pseudo + sum(&udp[20..])), 0);
    }

    #[test]
    fn what_ip_cannot_say_is_refused() {
        let datagram = Datagram { kind: DatagramKind::Udp, identifier: 0, sequence: 0, bytes: 65_536 };
        let end = Endpoint::default();
        let refused = encode_datagram_headers(&datagram, end, end, 0, 64, &mut Vec::new());
        assert_eq!(refused, Err(EncodeError::PacketTooLong(65_536)));
    }
}
