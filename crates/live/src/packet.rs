//! What a relay looks at in the bytes of an IPv4 packet.

use anabranch_engine::transport::{Flags, Segment};

/// Protocol numbers (RFC 790).
const TCP: u8 = 6;
const UDP: u8 = 17;

/// "More fragments" and the fragment offset (RFC 791 section 3.1).
const FRAGMENT_OFFSET: u16 = 0x1FFF;

/// Who talks to whom. Ports are 0 where the protocol has none, and in the fragments behind a first one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FiveTuple {
    pub(crate) protocol: u8,
    pub(crate) source: ([u8; 4], u16),
    pub(crate) destination: ([u8; 4], u16),
}

impl FiveTuple {
    /// The other way.
    pub(crate) const fn reversed(self) -> Self {
        Self { protocol: self.protocol, source: self.destination, destination: self.source }
    }

    /// TCP between two ends.
    pub(crate) const fn tcp(source: ([u8; 4], u16), destination: ([u8; 4], u16)) -> Self {
        Self { protocol: TCP, source, destination }
    }
}

/// The headers of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers {
    pub(crate) tuple: FiveTuple,
    /// As far as the engine looks at it: payload, flags and the ECN field.
    pub(crate) segment: Segment,
    /// Bytes of the IP packet.
    pub(crate) bytes: u32,
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The headers of an IPv4 packet that a kernel has made; `None` for anything else.
pub(crate) fn headers(packet: &[u8]) -> Option<Headers> {
    if packet.len() < 20 || packet[0] >> 4 != 4 {
        return None;
    }
    let header = usize::from(packet[0] & 0x0F) * 4;
    let total = usize::from(be16(packet, 2));
    if header < 20 || total < header || total > packet.len() {
        return None;
    }
    let address = |at: usize| [packet[at], packet[at + 1], packet[at + 2], packet[at + 3]];
    let (protocol, body) = (packet[9], &packet[header..total]);
    let first = be16(packet, 6) & FRAGMENT_OFFSET == 0;
    let has_ports = first && matches!(protocol, TCP | UDP) && body.len() >= 8;
    let ports = if has_ports { (be16(body, 0), be16(body, 2)) } else { (0, 0) };
    let mut segment = match protocol {
        TCP if has_ports && body.len() >= 20 => {
            let offset = usize::from(body[12] >> 4) * 4;
            Segment {
                seq: be32(body, 4),
                ack: be32(body, 8),
                payload: body.len().saturating_sub(offset) as u16,
                flags: Flags::from_header_bits(body[13]),
                ..Segment::default()
            }
        }
        _ => Segment { payload: body.len() as u16, ..Segment::default() },
    };
    match packet[1] & 0b11 {
        0 => {}
        0b11 => segment.flags = segment.flags.with(Flags::ECT).with(Flags::CE),
        _ => segment.flags = segment.flags.with(Flags::ECT),
    }
    let tuple = FiveTuple { protocol, source: (address(12), ports.0), destination: (address(16), ports.1) };
    Some(Headers { tuple, segment, bytes: total as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_engine::transport::wire::{Endpoint, encode};

    const A: Endpoint = Endpoint { addr: [10, 0, 0, 1], port: 50_000 };
    const B: Endpoint = Endpoint { addr: [10, 0, 0, 2], port: 5001 };

    fn encoded(segment: &Segment) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(segment, A, B, 7, 64, &mut bytes).expect("a segment");
        bytes
    }

    #[test]
    fn a_segment_is_seen_as_it_was_written() {
        let flags = Flags::ACK.with(Flags::FIN).with(Flags::TIMESTAMPS).with(Flags::ECT);
        let bytes = encoded(&Segment { seq: 9, ack: 8, payload: 1000, flags, ..Segment::default() });
        let headers_read = headers(&bytes).expect("a packet");
        assert_eq!(headers_read.tuple, FiveTuple::tcp((A.addr, A.port), (B.addr, B.port)));
        assert_eq!((headers_read.bytes, headers_read.segment.payload), (1052, 1000));
        assert_eq!((headers_read.segment.seq, headers_read.segment.ack), (9, 8));
        assert!(headers_read.segment.flags.has(Flags::FIN) && headers_read.segment.flags.has(Flags::ECT));
        assert!(!headers_read.segment.flags.has(Flags::CE));
    }

    #[test]
    fn what_is_no_packet_is_left_alone() {
        let whole = encoded(&Segment { payload: 100, ..Segment::default() });
        assert!(headers(&whole[..whole.len() - 1]).is_none());
        assert!(headers(&[0x60; 60]).is_none());
        assert!(headers(&[]).is_none());
    }

    /// The second fragment has no ports: what stands in their place is data.
    #[test]
    fn a_fragment_has_no_ports() {
        let mut bytes = encoded(&Segment { payload: 100, ..Segment::default() });
        bytes[6..8].copy_from_slice(&100u16.to_be_bytes());
        let headers_read = headers(&bytes).expect("a packet");
        assert_eq!((headers_read.tuple.source.1, headers_read.tuple.destination.1), (0, 0));
    }
}
