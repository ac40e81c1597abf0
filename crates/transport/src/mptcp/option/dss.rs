//! The data sequence signal (RFC 8684 section 3.3).

use super::{be32, be64};
use crate::segment::SackBlocks;

/// Flags of the option.
const DATA_FIN: u8 = 0x10;
const LONG_SEQUENCE: u8 = 0x08;
const HAS_MAPPING: u8 = 0x04;
const LONG_ACK: u8 = 0x02;
const HAS_ACK: u8 = 0x01;

/// Kind, length, subtype and flags.
const FIXED: u32 = 4;
/// Number of the mapping on the subflow and its length.
const BESIDE_SEQUENCE: u32 = 6;

/// A data sequence number or data ACK as it stands on the wire. Both lengths are allowed (RFC 8684 section 3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataNumber {
    /// The lower 32 bits, in 4 octets: they do while less than 2^31 bytes are under way.
    Low(u32),
    /// All 64 bits, in 8 octets.
    Whole(u64),
}

impl DataNumber {
    /// The lower 32 bits.
    #[must_use]
    pub const fn low(self) -> u32 {
        match self {
            Self::Low(low) => low,
            Self::Whole(number) => number as u32,
        }
    }

    const fn is_whole(self) -> bool {
        matches!(self, Self::Whole(_))
    }

    const fn high(self) -> u32 {
        match self {
            Self::Low(_) => 0,
            Self::Whole(number) => (number >> 32) as u32,
        }
    }

    const fn from_halves(low: u32, high: u32, whole: bool) -> Self {
        if whole { Self::Whole((high as u64) << 32 | low as u64) } else { Self::Low(low) }
    }

    fn encode(self, buffer: &mut Vec<u8>) {
        match self {
            Self::Low(low) => buffer.extend_from_slice(&low.to_be_bytes()),
            Self::Whole(number) => buffer.extend_from_slice(&number.to_be_bytes()),
        }
    }
}

/// Data sequence signal (RFC 8684 section 3.3).
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Dss {
    /// Data ACK.
    pub data_ack: Option<DataNumber>,
    /// Data sequence mapping of the payload.
    pub mapping: Option<DssMapping>,
    /// The mapping ends with the DATA_FIN, which takes one octet of it.
    pub data_fin: bool,
}

/// Where the payload of a segment lies in the data of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DssMapping {
    /// Data sequence number of the first octet.
    pub data_seq: DataNumber,
    /// Sequence number of the first octet on the subflow, the SYN's being 0; 0 for a DATA_FIN without payload.
    pub subflow_seq: u32,
    /// Octets mapped, the DATA_FIN included.
    pub length: u16,
}

/// Bytes of the option with these flags, padding included; a checksum is not counted.
#[inline]
pub(super) const fn padded_len(flags: u8) -> u32 {
    let ack = if flags & HAS_ACK == 0 { 0 } else { octets(flags & LONG_ACK) };
    let mapping = if flags & HAS_MAPPING == 0 { 0 } else { octets(flags & LONG_SEQUENCE) + BESIDE_SEQUENCE };
    (FIXED + ack + mapping).next_multiple_of(4)
}

const fn octets(long: u8) -> u32 {
    if long == 0 { 4 } else { 8 }
}

/// SACK blocks whose room the packed option leaves.
#[inline]
pub(super) const fn blocks_beside(flags: u8) -> u8 {
    match (flags & HAS_ACK != 0, flags & HAS_MAPPING != 0) {
        (false, false) => 4,
        (true, false) => 3,
        (true, true) if flags & (LONG_ACK | LONG_SEQUENCE) != 0 => 1,
        (_, true) => 2,
    }
}

impl Dss {
    /// Its flags on the wire but for that of the DATA_FIN: they say which fields there are.
    #[inline]
    pub(super) const fn fields(&self) -> u8 {
        let ack = match self.data_ack {
            None => 0,
            Some(ack) => HAS_ACK | if ack.is_whole() { LONG_ACK } else { 0 },
        };
        let mapping = match self.mapping {
            None => 0,
            Some(mapping) => HAS_MAPPING | if mapping.data_seq.is_whole() { LONG_SEQUENCE } else { 0 },
        };
        ack | mapping
    }

    /// Puts it into the room behind the SACK blocks. The upper half of a number takes a place that a signal without the
    /// other number leaves, and one of block 1 beside it.
    #[inline]
    pub(super) fn pack(&self, room: &mut SackBlocks) {
        room.mptcp_detail = u8::from(self.data_fin);
        if let Some(mapping) = self.mapping {
            room.blocks[2] = (mapping.data_seq.low(), mapping.subflow_seq);
            room.blocks[3].1 = u32::from(mapping.length);
        }
        if let Some(ack) = self.data_ack {
            room.blocks[3].0 = ack.low();
        }
        match (self.data_ack, self.mapping) {
            (Some(ack @ DataNumber::Whole(_)), None) => room.blocks[3].1 = ack.high(),
            (None, Some(DssMapping { data_seq: seq @ DataNumber::Whole(_), .. })) => {
                room.blocks[3].0 = seq.high();
            }
            (Some(ack), Some(mapping)) if ack.is_whole() || mapping.data_seq.is_whole() => {
                room.blocks[1] = (ack.high(), mapping.data_seq.high());
            }
            _ => {}
        }
    }

    /// Reads what [`Dss::pack`] wrote for a signal with these [`Dss::fields`].
    #[inline]
    pub(super) fn unpack(fields: u8, room: &SackBlocks) -> Self {
        let [_, b, c, d] = room.blocks;
        let (has_ack, has_mapping) = (fields & HAS_ACK != 0, fields & HAS_MAPPING != 0);
        let (ack_high, seq_high) = if has_ack && has_mapping { b } else { (d.1, d.0) };
        Self {
            data_ack: has_ack.then(|| DataNumber::from_halves(d.0, ack_high, fields & LONG_ACK != 0)),
            mapping: has_mapping.then(|| DssMapping {
                data_seq: DataNumber::from_halves(c.0, seq_high, fields & LONG_SEQUENCE != 0),
                subflow_seq: c.1,
                length: d.1 as u16,
            }),
            data_fin: room.mptcp_detail != 0,
        }
    }

    /// Appends its flags and fields.
    pub(super) fn encode(&self, buffer: &mut Vec<u8>) {
        buffer.push(self.fields() | if self.data_fin { DATA_FIN } else { 0 });
        if let Some(ack) = self.data_ack {
            ack.encode(buffer);
        }
        if let Some(mapping) = self.mapping {
            mapping.data_seq.encode(buffer);
            buffer.extend_from_slice(&mapping.subflow_seq.to_be_bytes());
            buffer.extend_from_slice(&mapping.length.to_be_bytes());
        }
    }

    /// Reads the fields that the flags promise, from the bytes behind them.
    pub(super) fn decode(flags: u8, rest: &[u8]) -> Result<Self, ()> {
        let mut rest = rest;
        let mut number = |long: bool| {
            let (bytes, behind) = rest.split_at_checked(if long { 8 } else { 4 }).ok_or(())?;
            rest = behind;
            Ok(if long { DataNumber::Whole(be64(bytes)) } else { DataNumber::Low(be32(bytes)) })
        };
        let data_ack = (flags & HAS_ACK != 0).then(|| number(flags & LONG_ACK != 0)).transpose()?;
        let mut mapping = None;
        if flags & HAS_MAPPING != 0 {
            let data_seq = number(flags & LONG_SEQUENCE != 0)?;
            let subflow_seq = number(false)?.low();
            // A checksum may stand behind the length.
            let ([high, low] | [high, low, _, _]) = *rest else { return Err(()) };
            mapping = Some(DssMapping { data_seq, subflow_seq, length: u16::from_be_bytes([high, low]) });
        } else if !rest.is_empty() {
            return Err(());
        }
        Ok(Self { data_ack, mapping, data_fin: flags & DATA_FIN != 0 })
    }
}
