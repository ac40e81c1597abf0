//! A TUN or TAP device, and the trains of segments that it may carry.
//!
//! A host with segmentation offload hands over trains: one IP packet with the data of several segments, to be cut later.
//! Its device has a header before each packet (virtio 1.1, section 5.1.6). On the way in this header says nothing that the
//! packet does not; on the way out it tells the kernel that a long packet is a train, and that checksums need no look: the
//! kernel that made them had left them to the device, too.

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

/// A device, which is an open file.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) file: OwnedFd,
    /// Whether packets come with a header, and may be trains.
    trains: bool,
}

impl Device {
    pub(crate) const fn new(file: OwnedFd, trains: bool) -> Self {
        Self { file, trains }
    }

    /// Reads a packet or a frame; its length.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        if !self.trains {
            return read(&self.file, buffer);
        }
        let mut header = [0; HEADER];
        let length = readv(&self.file, &mut [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)])?;
        Ok(length.saturating_sub(HEADER))
    }

    /// Writes a packet or a frame.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        if !self.trains {
            return write(&self.file, bytes);
        }
        writev(&self.file, &[IoSlice::new(&header(bytes)), IoSlice::new(bytes)])
    }
}

/// What is said of a packet that goes to a host: where its checksum is, and how to cut it.
fn header(packet: &[u8]) -> [u8; HEADER] {
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
    if packet[9] == TCP && packet.len() > MTU {
        let headers = ip + (length(ip + 12) >> 4) * 4;
        put(2, headers);
        // Segments of a train are as long as the MTU lets them be.
        put(4, MTU.saturating_sub(headers));
        said[1] = TRAIN_OF_TCP;
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
        let said = header(&packet(4 * 1448));
        assert_eq!((said[0], said[1], lengths(said)), (1, 1, [52, 1448, 20, 16]));
        let said = header(&packet(1448));
        assert_eq!((said[0], said[1], lengths(said)), (1, 0, [0, 0, 20, 16]));
    }

    #[test]
    fn what_has_no_checksum_of_its_own_is_left_alone() {
        let mut ping = packet(60);
        ping[9] = 1;
        assert_eq!(header(&ping), [0; HEADER]);
        let mut fragment = packet(60);
        fragment[7] = 4;
        assert_eq!(header(&fragment), [0; HEADER]);
        assert_eq!(header(&[]), [0; HEADER]);
    }
}
