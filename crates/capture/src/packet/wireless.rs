//! Frames of IEEE 802.11, with the headers that capturing drivers put before them.

use super::Dissected;
use super::kinds::{Encapsulation, Protocol};
use super::layers::{Layer, Step, Stop, Walk, read_subframe};

/// Most packets of an aggregate that are read: with Linux' longest frame, some 80 small ones.
const MOST_SUBFRAMES: usize = 128;
const TYPE_DATA: u8 = 2;
const SUBTYPE_NULL: u8 = 0x04;
const SUBTYPE_QOS: u8 = 0x08;
const TO_AND_FROM_DS: u8 = 0x03;
const PROTECTED: u8 = 0x40;
const ORDER: u8 = 0x80;
/// Of the control field of QoS: the frame is an A-MSDU; of a mesh, that mesh control follows.
const QOS_AGGREGATE: u8 = 0x80;

/// Where the subframes of an A-MSDU begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregate {
    pub(super) at: usize,
    pub(super) view: u64,
}

/// A frame (IEEE 802.11-2020 section 9.3.2.1). `is_padded`: the driver has brought the payload to a multiple of four.
pub(super) fn frame(walk: &mut Walk<'_>, is_padded: bool) -> Step {
    let (first, flags) = (walk.u8(0)?, walk.u8(1)?);
    let (kind, subtype) = (first >> 2 & 0x03, first >> 4);
    if kind != TYPE_DATA || subtype & SUBTYPE_NULL != 0 {
        return Err(Stop::Other(Protocol::WirelessControl));
    }
    let mut bytes = if flags & TO_AND_FROM_DS == TO_AND_FROM_DS { 30 } else { 24 };
    let mut is_aggregate = false;
    if subtype & SUBTYPE_QOS != 0 {
        is_aggregate = walk.u8(bytes)? & QOS_AGGREGATE != 0;
        bytes += if flags & ORDER == 0 { 2 } else { 6 };
    }
    if flags & PROTECTED != 0 {
        return Err(Stop::Other(Protocol::WirelessProtected));
    }
    if is_padded {
        bytes = bytes.next_multiple_of(4);
    }
    if is_aggregate {
        return Err(Stop::Aggregate(walk.at + bytes));
    }
    walk.over(bytes, Layer::Llc)
}

/// <https://www.radiotap.org>: a length, words that say which fields are there, and among the fields flags.
pub(super) fn radiotap(walk: &mut Walk<'_>) -> Step {
    const MORE_WORDS: u8 = 0x80;
    const HAS_TIME: u8 = 0x01;
    const HAS_FLAGS: u8 = 0x02;
    const IS_PADDED: u8 = 0x20;
    let length = usize::from(walk.u16(2)?.swap_bytes());
    let present = walk.u8(4)?;
    let mut fields = 8;
    while fields < length && walk.u8(fields - 1)? & MORE_WORDS != 0 {
        fields += 4;
    }
    if present & HAS_TIME != 0 {
        fields = fields.next_multiple_of(8) + 8;
    }
    let is_padded = present & HAS_FLAGS != 0 && fields < length && walk.u8(fields)? & IS_PADDED != 0;
    walk.at += length.max(8);
    frame(walk, is_padded)
}

/// Drivers for Prism cards: 144 bytes, unless it is the header of AVS.
pub(super) fn prism(walk: &mut Walk<'_>) -> Step {
    if walk.u32(0)? & 0xFFFF_F000 == 0x8021_1000 {
        return avs(walk);
    }
    walk.at += 144;
    frame(walk, false)
}

pub(super) fn avs(walk: &mut Walk<'_>) -> Step {
    let length = walk.u32(4)?;
    walk.at += usize::try_from(length).unwrap_or(usize::MAX).clamp(8, walk.data.len().max(8));
    frame(walk, false)
}

/// The packets of an A-MSDU (IEEE 802.11-2020 section 9.3.2.2.2): addresses, a length and LLC, each subframe brought to
/// a multiple of four bytes.
pub(crate) struct Subframes<'a> {
    data: &'a [u8],
    original_len: u32,
    aggregate: Aggregate,
    at: usize,
    left: usize,
}

impl<'a> Subframes<'a> {
    pub(crate) fn new(aggregate: Aggregate, data: &'a [u8], original_len: u32) -> Self {
        Self { data, original_len, aggregate, at: aggregate.at, left: MOST_SUBFRAMES }
    }

    /// The next packet, with what is around it, as `Dissected` has it.
    pub(crate) fn next(&mut self, around: &mut Encapsulation) -> Option<Dissected<'a>> {
        self.left = self.left.checked_sub(1)?;
        let header = self.data.get(self.at..self.at + 14)?;
        let length = usize::from(u16::from_be_bytes([header[12], header[13]]));
        let begin = self.at + 14;
        let wire = self.original_len.min((begin + length) as u32);
        self.at = (begin + length - self.aggregate.at).next_multiple_of(4) + self.aggregate.at;
        Some(read_subframe(self.data, begin, wire, self.aggregate.view, around))
    }
}
