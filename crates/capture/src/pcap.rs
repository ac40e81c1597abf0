//! The classic capture file (draft-ietf-opsawg-pcap).

use crate::format::{End, Next, Record};
use crate::source::{LONGEST_BLOCK, Order, Source};
use std::io::{self, Read};

/// Magic number of files with microseconds, and of those with nanoseconds.
const MAGIC_US: u32 = 0xA1B2_C3D4;
const MAGIC_NS: u32 = 0xA1B2_3C4D;
const RECORD_HEADER: usize = 16;
const NS_PER_SECOND: u64 = 1_000_000_000;

/// How the records of a file are read.
pub(crate) struct Pcap {
    order: Order,
    /// Nanoseconds in a unit of the fraction of a second.
    fraction_ns: u64,
    link_type: u16,
}

impl Pcap {
    /// Bytes of the file's header.
    pub(crate) const HEADER: usize = 24;

    /// Reads a file's header; None if it begins like no pcap file, an error if it is one that is cut.
    pub(crate) fn begin(head: &[u8]) -> Option<Result<Self, String>> {
        let magic = head.get(..4)?;
        let (order, fraction_ns) =
            [Order::Little, Order::Big].into_iter().find_map(|order| match order.u32(magic, 0) {
                MAGIC_US => Some((order, 1000)),
                MAGIC_NS => Some((order, 1)),
                _ => None,
            })?;
        if head.len() < Self::HEADER {
            return Some(Err(format!("is cut inside its header: {} of 24 bytes", head.len())));
        }
        // The upper half holds the length of the frame check sequence (section 4).
        let link_type = (order.u32(head, 20) & 0xFFFF) as u16;
        Some(Ok(Self { order, fraction_ns, link_type }))
    }

    /// The next packet, if all of it is in memory.
    #[inline(always)]
    pub(crate) fn ready<'a, R: Read>(&self, source: &'a mut Source<R>) -> Option<Record<'a>> {
        let length = self.record_len(source.bytes())?;
        Some(self.record(source.take(length)))
    }

    /// Bytes of the record that these begin with; None if they do not hold all of it.
    #[inline]
    fn record_len(&self, bytes: &[u8]) -> Option<usize> {
        let header = bytes.first_chunk::<RECORD_HEADER>()?;
        let length = RECORD_HEADER + self.order.u32(header, 8) as usize;
        (length <= bytes.len() && length <= LONGEST_BLOCK).then_some(length)
    }

    /// A record of which every byte is there.
    #[inline]
    fn record<'a>(&self, bytes: &'a [u8]) -> Record<'a> {
        let (header, data) = bytes.split_at(RECORD_HEADER);
        let [seconds, fraction] = [0, 4].map(|at| u64::from(self.order.u32(header, at)));
        Record {
            // Both are 32-bit numbers: no overflow.
            time_ns: seconds * NS_PER_SECOND + fraction * self.fraction_ns,
            interface: 0,
            link_type: self.link_type,
            data,
            original_len: self.order.u32(header, 12),
        }
    }

    /// The next packet, or why there is none.
    pub(crate) fn next<'a, R: Read>(&self, source: &'a mut Source<R>) -> io::Result<Next<'a>> {
        let offset = source.offset();
        let there = source.fill(RECORD_HEADER)?;
        if there < RECORD_HEADER {
            return Ok(Next::End(if there == 0 { End::Complete } else { End::Cut(offset) }));
        }
        let captured = self.order.u32(source.bytes(), 8) as usize;
        if captured > LONGEST_BLOCK - RECORD_HEADER {
            let reason = format!("a packet of {captured} bytes");
            return Ok(Next::End(End::Damaged(offset, reason)));
        }
        let length = RECORD_HEADER + captured;
        if source.fill(length)? < length {
            return Ok(Next::End(End::Cut(offset)));
        }
        Ok(Next::Record(self.record(source.take(length))))
    }
}
