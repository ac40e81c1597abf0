//! IP headers: where the transport layer of a packet is.

/// Extension headers of IPv6 (RFC 8200 section 4) that may stand before the transport layer.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;
/// Most extension headers before the transport layer; RFC 8200 section 4.1 has each at most once, one of them twice.
const MOST_EXTENSIONS: usize = 16;

/// Where a packet's transport layer is.
pub(super) struct Transport {
    pub source: u128,
    pub destination: u128,
    pub protocol: u8,
    /// From the beginning of the IP header.
    pub at: usize,
    /// Bytes of the transport layer on the wire; None where the header does not say.
    pub length: Option<u32>,
    pub is_later_fragment: bool,
    /// The identification field of IPv4 (RFC 791 section 3.1), which IPv6 does not have.
    pub identification: Option<u16>,
    /// The hop limit, as IPv6 calls it.
    pub hops: u8,
}

/// None if the header is cut or contradicts itself.
#[inline(always)]
pub(super) fn ipv4(ip: &[u8]) -> Option<Transport> {
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
        is_later_fragment: fragment & 0x1FFF != 0,
        identification: Some(u16::from_be_bytes([header[4], header[5]])),
        hops: header[8],
    })
}

/// None if the headers are cut or contradict themselves.
#[inline(never)]
pub(super) fn ipv6(ip: &[u8]) -> Option<Transport> {
    let header = ip.first_chunk::<40>()?;
    let payload = u32::from(u16::from_be_bytes([header[4], header[5]]));
    let address =
        |at: usize| u128::from_be_bytes(header[at..at + 16].try_into().expect("the header has 40 bytes"));
    let mut protocol = header[6];
    let mut at = 40;
    let mut is_later_fragment = false;
    for _ in 0..=MOST_EXTENSIONS {
        let words = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | MOBILITY | FRAGMENT | AUTHENTICATION => {
                let extension = ip.get(at..at + 4)?;
                let next = extension[0];
                let words = match protocol {
                    FRAGMENT => {
                        is_later_fragment |= u16::from_be_bytes([extension[2], extension[3]]) & 0xFFF8 != 0;
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
        if is_later_fragment {
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
        is_later_fragment,
        identification: None,
        hops: header[7],
    })
}
