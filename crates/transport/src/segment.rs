//! A TCP segment as its header fields say it: wire sequence numbers, scaled window, options.

use crate::mptcp::MptcpOption;
use anabranch_units::rarely;
use std::fmt;

/// Bytes of an IPv4 header without options (RFC 791).
pub const IP_HEADER: u32 = 20;
/// Bytes of a TCP header without options (RFC 9293 section 3.1).
pub const TCP_HEADER: u32 = 20;

/// Most bytes of TCP options: the data offset counts to 15 words (RFC 9293 section 3.1).
pub(crate) const MAX_OPTIONS: u32 = 40;

/// TCP header flags (RFC 9293 section 3.1, RFC 3168 section 6.1) plus the IP header's ECN marks,
/// which travel with the segment.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgment field counts.
    pub const ACK: Self = Self(0x10);
    /// ECN-Echo.
    pub const ECE: Self = Self(0x40);
    /// Congestion Window Reduced.
    pub const CWR: Self = Self(0x80);
    /// IP header: the transport can do ECN (ECT(0)).
    pub const ECT: Self = Self(0x100);
    /// IP header: congestion experienced.
    pub const CE: Self = Self(0x200);
    /// The segment carries a timestamps option (RFC 7323 section 3).
    pub const TIMESTAMPS: Self = Self(0x400);
    /// A SYN permits selective acknowledgment (RFC 2018 section 2).
    pub const SACK_PERMITTED: Self = Self(0x800);
    /// Of `spray`: an answer is wanted at once.
    pub const ACK_REQUEST: Self = Self(0x20);
    /// Of `spray`: a switch that has no room may cut the payload off.
    pub const TRIMMABLE: Self = Self(0x1000);
    /// Of `spray`: the payload was cut off, or the answer to such a packet.
    pub const TRIMMED: Self = Self(0x2000);
    /// Of `spray`: it was cut off in front of the last link of its way.
    pub const TRIMMED_LAST_HOP: Self = Self(0x4000);
    /// Of `spray`: a packet that was sent before, or the answer to one.
    pub const RETRANSMISSION: Self = Self(0x8000);

    /// Whether every flag of `other` is set.
    #[inline]
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of flags.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags of `self` that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The eight flag bits of the TCP header.
    #[must_use]
    pub(crate) const fn header_bits(self) -> u8 {
        self.0 as u8
    }

    /// Flags from the eight flag bits of a TCP header.
    #[must_use]
    pub const fn from_header_bits(bits: u8) -> Self {
        Self(bits as u16)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::SYN, "SYN"),
            (Self::FIN, "FIN"),
            (Self::RST, "RST"),
            (Self::PSH, "PSH"),
            (Self::ACK, "ACK"),
            (Self::ECE, "ECE"),
            (Self::CWR, "CWR"),
            (Self::ECT, "ECT"),
            (Self::CE, "CE"),
            (Self::TIMESTAMPS, "TS"),
            (Self::SACK_PERMITTED, "SACK-OK"),
            (Self::ACK_REQUEST, "REQUEST"),
            (Self::TRIMMABLE, "TRIMMABLE"),
            (Self::TRIMMED, "TRIMMED"),
            (Self::TRIMMED_LAST_HOP, "LAST-HOP"),
            (Self::RETRANSMISSION, "RETRANSMISSION"),
        ];
        let set: Vec<&str> =
            names.into_iter().filter(|(flag, _)| self.has(*flag)).map(|(_, name)| name).collect();
        f.write_str(&set.join("|"))
    }
}

/// Up to four SACK blocks (RFC 2018 section 3), in wire sequence numbers, newest first; a DSACK
/// block (RFC 2883) comes before the others.
///
/// What the blocks leave of their room holds the segment's MPTCP option ([`Segment::mptcp`]): both together
/// have 40 bytes of the header, so a segment need not have room for both in full.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct SackBlocks {
    count: u8,
    /// Which MPTCP option there is; 0 for none.
    pub(crate) mptcp_kind: u8,
    /// Its address identifier and flags.
    pub(crate) mptcp_detail: u8,
    pub(crate) blocks: [(u32, u32); 4],
}

impl SackBlocks {
    /// Appends the block `left..right` unless `limit` (at most 4, fewer beside an MPTCP option) are there
    /// already.
    pub fn push(&mut self, left: u32, right: u32, limit: u8) {
        if self.count < limit.min(MptcpOption::blocks_beside(self.mptcp_kind)) {
            self.blocks[usize::from(self.count)] = (left, right);
            self.count += 1;
        }
    }

    /// The blocks, each as its first sequence number and the one after its last.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Drops the blocks behind the first `count`.
    pub(crate) fn truncate(&mut self, count: u8) {
        while self.count > count {
            self.count -= 1;
            self.blocks[usize::from(self.count)] = (0, 0);
        }
    }

    /// Drops every block and keeps the MPTCP option.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }
}

/// A TCP segment. Sequence numbers are 32 bits and wrap, as on the wire.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Sequence number of the first byte (or of SYN or FIN).
    pub seq: u32,
    /// Acknowledgment number, meaningful with [`Flags::ACK`].
    pub ack: u32,
    /// TSval (RFC 7323), in microseconds; meaningful with [`Flags::TIMESTAMPS`].
    pub timestamp: u32,
    /// TSecr (RFC 7323).
    pub timestamp_echo: u32,
    /// Window field, already shifted by the window scale (never shifted on a SYN).
    pub window: u16,
    /// Bytes of payload.
    pub payload: u16,
    /// Flags of the TCP and IP headers.
    pub flags: Flags,
    /// MSS option; 0 for none. Only on a SYN (RFC 9293 section 3.7.1).
    pub mss: u16,
    /// Window scale option plus one; 0 for none. Only on a SYN (RFC 7323 section 2).
    pub window_scale_plus_one: u8,
    /// Which subflow of a multipath connection carries it; 0 for the first, and for any other transport. Not
    /// on the wire: addresses and ports say it there.
    pub subflow: u8,
    /// SACK blocks.
    pub sack: SackBlocks,
}

impl Segment {
    /// Bytes of TCP options, padded to a multiple of four, laid out as Linux does: timestamps in 12
    /// bytes, SACK blocks behind two bytes of padding, at most 40 in all.
    #[inline]
    #[must_use]
    pub fn options_len(&self) -> u32 {
        let timestamps = if self.flags.has(Flags::TIMESTAMPS) { 12 } else { 0 };
        let blocks = self.sack.as_slice().len() as u32;
        let sack = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        let mptcp = MptcpOption::padded_len(self.sack.mptcp_kind);
        timestamps
            + sack
            + mptcp
            + if rarely(self.flags.has(Flags::SYN)) { self.syn_options_len() } else { 0 }
    }

    /// Bytes of the options that only a SYN has.
    #[inline(never)]
    fn syn_options_len(&self) -> u32 {
        let mss = if self.mss > 0 { 4 } else { 0 };
        let window_scale = if self.window_scale_plus_one > 0 { 4 } else { 0 };
        // SACK-permitted takes the two padding bytes of the timestamps option where there is one.
        let permitted = self.flags.has(Flags::SACK_PERMITTED) && !self.flags.has(Flags::TIMESTAMPS);
        mss + window_scale + if permitted { 4 } else { 0 }
    }

    /// Bytes of the IPv4 packet that carries this segment.
    #[inline]
    #[must_use]
    pub fn packet_len(&self) -> u32 {
        IP_HEADER + TCP_HEADER + self.options_len() + u32::from(self.payload)
    }

    /// The MPTCP option (RFC 8684), if there is one.
    #[inline]
    #[must_use]
    pub fn mptcp(&self) -> Option<MptcpOption> {
        MptcpOption::unpack(&self.sack)
    }

    /// Whether the data of its multipath connection end with it (DATA_FIN, RFC 8684 section 3.3.3).
    #[must_use]
    pub fn is_data_fin(&self) -> bool {
        matches!(self.mptcp(), Some(MptcpOption::Dss(dss)) if dss.data_fin)
    }

    /// Whether a host may leave it to the network to cut this segment and the next one from a longer one, as
    /// segmentation offload does: data of one subflow without a gap, each as long as this one but for the last.
    #[must_use]
    pub fn goes_on_with(&self, next: &Self) -> bool {
        let ends = self.flags.has(Flags::FIN) || self.flags.has(Flags::SYN) || self.is_data_fin();
        // One IP header for all: a mark on it must hold for each.
        let alike = self.subflow == next.subflow
            && self.flags.has(Flags::ECT) == next.flags.has(Flags::ECT)
            && (1..=self.payload).contains(&next.payload);
        !ends && alike && next.seq == self.seq.wrapping_add(u32::from(self.payload))
    }

    /// Adds the MPTCP option, or puts it in the place of another. SACK blocks for which the header has no more
    /// room go, the last first, as in Linux, whose tcp_established_options() gives SACK what MPTCP leaves.
    #[inline]
    pub fn set_mptcp(&mut self, option: MptcpOption) {
        option.pack(&mut self.sack);
        while !self.sack.is_empty() && self.options_len() > MAX_OPTIONS {
            let fewer = self.sack.as_slice().len() as u8 - 1;
            self.sack.truncate(fewer);
        }
    }

    /// Sequence space it takes: payload, plus one for SYN and one for FIN.
    #[inline]
    #[must_use]
    pub fn sequence_len(&self) -> u32 {
        u32::from(self.payload)
            + u32::from(self.flags.has(Flags::SYN))
            + u32::from(self.flags.has(Flags::FIN))
    }
}

/// The RST that answers a segment for which there is no connection (RFC 9293 section 3.10.7.1); none for an RST.
#[must_use]
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    if segment.flags.has(Flags::RST) {
        return None;
    }
    Some(if segment.flags.has(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        let ack = segment.seq.wrapping_add(segment.sequence_len());
        Segment { ack, flags: Flags::RST.with(Flags::ACK), ..Segment::default() }
    })
}

/// Turns a wire sequence number into the 64-bit position nearest to `near`
/// (comparison modulo 2^32, RFC 9293 section 3.4).
#[inline]
#[must_use]
pub const fn unwrap_sequence(wire: u32, near: u64) -> u64 {
    let offset = wire.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(offset as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_wrap_around_the_nearest_position() {
        assert_eq!(unwrap_sequence(5, 0xFFFF_FFF0), 0x1_0000_0005);
        assert_eq!(unwrap_sequence(0xFFFF_FFF0, 0x1_0000_0005), 0xFFFF_FFF0);
        assert_eq!(unwrap_sequence(1000, 900), 1000);
    }

    /// It is copied at every hop: the options of MPTCP must not make it longer.
    #[test]
    fn a_segment_is_one_cache_line() {
        assert_eq!(size_of::<Segment>(), 64);
    }

    #[test]
    fn option_lengths_are_those_of_linux() {
        let data = Segment { flags: Flags::ACK.with(Flags::TIMESTAMPS), payload: 1448, ..Segment::default() };
        assert_eq!(data.packet_len(), 1500);
        let mut ack = Segment { payload: 0, ..data };
        (0..5).for_each(|i| ack.sack.push(i, i + 1, 3));
        assert_eq!(ack.options_len(), 12 + 28);
        let syn = Segment {
            flags: Flags::SYN.with(Flags::TIMESTAMPS).with(Flags::SACK_PERMITTED),
            mss: 1460,
            window_scale_plus_one: 8,
            ..Segment::default()
        };
        assert_eq!(syn.options_len(), 20);
    }
}
