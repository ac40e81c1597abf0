//! A TUN or TAP device, and the trains of segments that it may carry.
//!
//! A host with segmentation offload hands over trains: one IP packet with the data of several segments, to be cut later.
//! Its device has a header before each packet (virtio 1.1, section 5.1.6). On the way in this header says how long the
//! segments of a train are; on the way out it tells the kernel that a packet is a train, and that checksums need no look:
//! the kernel that made them had left them to the device, too.

use crate::train::Joiner;
use anabranch_engine::transport::wire;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, IoSlice, IoSliceMut, read, readv, write, writev};

/// Bytes of the header: flags, kind, and four lengths of two bytes.
const HEADER: usize = 10;
/// VIRTIO_NET_HDR_F_NEEDS_CSUM: the checksum is not complete.
const NEEDS_CHECKSUM: u8 = 1;
/// VIRTIO_NET_HDR_GSO_TCPV4.
const TRAIN_OF_TCP: u8 = 1;
/// Longest packet that is one segment.
const MTU: usize = 1500;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// How hosts hand packets to the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// One by one, whole and with right checksums.
    Single,
    /// With a header before each (`IFF_VNET_HDR`), as trains of segments that travel as one packet.
    Trains,
    /// With a header before each, as trains of segments, which are cut as they enter the network and joined as they
    /// leave it.
    Segments,
}

/// A device, which is an open file.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) file: OwnedFd,
    framing: Framing,
    /// What waits for more of its flow.
    pub(crate) joiner: Joiner,
}

impl Device {
    pub(crate) fn new(file: OwnedFd, framing: Framing) -> Self {
        Self { file, framing, joiner: Joiner::default() }
    }

    /// Whether segments are joined before they are written.
    pub(crate) fn joins(&self) -> bool {
        self.framing == Framing::Segments
    }

    /// Reads a packet or a frame; its length, and the data bytes of each segment if it is to be cut. `complete` says
    /// whether checksums are to be right that the host has left to the device.
    pub(crate) fn read(&self, buffer: &mut [u8], complete: bool) -> Result<(usize, Option<u16>), Errno> {
        if self.framing == Framing::Single {
            return read(&self.file, buffer).map(|length| (length, None));
        }
        let mut header = [0; HEADER];
        let length = readv(&self.file, &mut [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)])?;
        let length = length.saturating_sub(HEADER);
        let field = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        if !self.joins() {
            return Ok((length, None));
        }
        if header[1] == TRAIN_OF_TCP {
            return Ok((length, Some(field(4))));
        }
        if complete && header[0] & NEEDS_CHECKSUM != 0 {
            wire::set_checksum(&mut buffer[..length], usize::from(field(8)));
        }
        Ok((length, None))
    }

    /// Writes a packet or a frame.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        match self.framing {
            Framing::Single => write(&self.file, bytes),
            Framing::Trains => self.write_with(header(bytes, None), bytes),
            Framing::Segments => self.write_with(header(bytes, Some(u16::MAX)), bytes),
        }
    }

    /// Writes a train whose segments have so many bytes of data.
    pub(crate) fn write_train(&self, bytes: &[u8], payload: u16) -> Result<usize, Errno> {
        self.write_with(header(bytes, Some(payload)), bytes)
    }

    fn write_with(&self, header: [u8; HEADER], bytes: &[u8]) -> Result<usize, Errno> {
        writev(&self.file, &[IoSlice::new(&header), IoSlice::new(bytes)])
    }
}

/// What is said of a packet that goes to a host: where its checksum is, and how to cut it. `payload` is the data of each
/// segment; left out, segments are as long as the MTU lets them be.
fn header(packet: &[u8], payload: Option<u16>) -> [u8; HEADER] {
    let mut said = [0; HEADER];
    let length = |at: usize| usize::from(packet.get(at).copied().unwrap_or(0));
    let ip = (length(0) & 0x0F) * 4;
    let is_fragment = packet.len() < ip + 20 || length(6) & 0x3F != 0 || length(7) != 0;
    let checksum_at = match packet.get(9) {
        Some(&TCP) if !is_fragment => 16_u16,
        Some(&UDP) if !is_fragment => 6,
        _ => return said,
    };
    said[0] = NEEDS_CHECKSUM;
    let mut put = |at: usize, value: usize| said[at..at + 2].copy_from_slice(&(value as u16).to_ne_bytes());
    put(6, ip);
    put(8, usize::from(checksum_at));
    if packet[9] == TCP {
        let headers = ip + (length(ip + 12) >> 4) * 4;
        let payload = payload.map_or(MTU.saturating_sub(headers), usize::from);
        if packet.len() > headers + payload {
            put(2, headers);
            put(4, payload);
            said[1] = TRAIN_OF_TCP;
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_engine::transport::wire::{Endpoint, encode};
    use anabranch_engine::transport::{Flags, Segment};

    fn packet(payload: u16) -> Vec<u8> {
        let [a, b] = [1, 2].map(|host| Endpoint { addr: [10, 0, 0, host], port: 5001 });
        let flags = Flags::ACK.with(Flags::TIMESTAMPS);
        let mut bytes = Vec::new();
        encode(&Segment { payload, flags, ..Segment::default() }, a, b, 7, 64, &mut bytes)
            .expect("a segment");
        bytes
    }

    fn lengths(said: [u8; HEADER]) -> [u16; 4] {
        [2, 4, 6, 8].map(|at| u16::from_ne_bytes([said[at], said[at + 1]]))
    }

    /// 20 bytes of IP, 32 of TCP with timestamps: 1448 are left for data.
    #[test]
    fn a_long_packet_is_a_train_of_whole_segments() {
        let said = header(&packet(4 * 1448), None);
        assert_eq!((said[0], said[1], lengths(said)), (1, 1, [52, 1448, 20, 16]));
        let said = header(&packet(1448), None);
        assert_eq!((said[0], said[1], lengths(said)), (1, 0, [0, 0, 20, 16]));
        let said = header(&packet(3 * 500), Some(500));
        assert_eq!((said[0], said[1], lengths(said)), (1, 1, [52, 500, 20, 16]));
        let said = header(&packet(500), Some(500));
        assert_eq!((said[0], said[1], lengths(said)), (1, 0, [0, 0, 20, 16]));
    }

    #[test]
    fn what_has_no_checksum_of_its_own_is_left_alone() {
        let mut ping = packet(60);
        ping[9] = 1;
        assert_eq!(header(&ping, None), [0; HEADER]);
        let mut fragment = packet(60);
        fragment[7] = 4;
        assert_eq!(header(&fragment, None), [0; HEADER]);
        assert_eq!(header(&[], None), [0; HEADER]);
    }
}
