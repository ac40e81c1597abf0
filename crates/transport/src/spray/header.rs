//! What the packets of `spray` say, in the fields of a [`Segment`]: the entropy value in the place of the window, the SACK
//! bitmap and the bytes received in that of the SACK blocks.

use crate::mptcp::SPRAY_HEADER;
use crate::segment::{Flags, Segment, unwrap_sequence};

/// A data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Data {
    pub(super) psn: u64,
    pub(super) payload: u16,
    pub(super) entropy: u16,
    /// An answer is wanted at once.
    pub(super) requests: bool,
    pub(super) is_retransmission: bool,
}

/// An acknowledgment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Answer {
    /// Every packet below has arrived.
    pub(super) cumulative: u64,
    /// The packet that it answers, its entropy value and mark.
    pub(super) psn: u64,
    pub(super) entropy: u16,
    pub(super) is_marked: bool,
    pub(super) is_retransmission: bool,
    /// Which of the 64 packets from here on have arrived.
    pub(super) base: u64,
    pub(super) bitmap: u64,
    /// Bytes that have arrived, headers included, each packet once.
    pub(super) received: u64,
}

/// What is said of a packet that came without its payload. Of arrivals it says nothing: those are what acknowledgments tell,
/// and the window counts them there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Nack {
    /// The packet, its entropy value and mark.
    pub(super) psn: u64,
    pub(super) entropy: u16,
    pub(super) is_marked: bool,
    pub(super) is_retransmission: bool,
    /// It was cut off in front of the last link.
    pub(super) at_last_hop: bool,
}

/// An entropy value under test: a packet without data, answered by its echo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Probe {
    pub(super) entropy: u16,
    pub(super) is_answer: bool,
}

const NONE: Flags = Flags::NONE;

const fn when(holds: bool, flag: Flags) -> Flags {
    if holds { flag } else { NONE }
}

fn bare(entropy: u16, flags: Flags) -> Segment {
    let mut segment = Segment { window: entropy, flags, ..Segment::default() };
    segment.sack.mptcp_kind = SPRAY_HEADER;
    segment
}

const fn halves(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

const fn whole((high, low): (u32, u32)) -> u64 {
    (high as u64) << 32 | low as u64
}

impl Data {
    pub(super) fn segment(self) -> Segment {
        let flags = Flags::ECT
            .with(Flags::TRIMMABLE)
            .with(when(self.requests, Flags::ACK_REQUEST))
            .with(when(self.is_retransmission, Flags::RETRANSMISSION));
        Segment { seq: self.psn as u32, payload: self.payload, ..bare(self.entropy, flags) }
    }
}

impl Answer {
    pub(super) fn segment(self) -> Segment {
        let flags = Flags::ACK
            .with(when(self.is_marked, Flags::ECE))
            .with(when(self.is_retransmission, Flags::RETRANSMISSION));
        let mut segment = Segment {
            seq: self.psn as u32,
            ack: self.cumulative as u32,
            timestamp: self.base as u32,
            ..bare(self.entropy, flags)
        };
        segment.sack.blocks[0] = halves(self.bitmap);
        segment.sack.blocks[1] = halves(self.received);
        segment
    }

    /// What an acknowledgment says to a sender that waits for packet `near` first.
    pub(super) fn of(segment: &Segment, near: u64) -> Self {
        Self {
            cumulative: unwrap_sequence(segment.ack, near),
            psn: unwrap_sequence(segment.seq, near),
            entropy: segment.window,
            is_marked: segment.flags.has(Flags::ECE),
            is_retransmission: segment.flags.has(Flags::RETRANSMISSION),
            base: unwrap_sequence(segment.timestamp, near),
            bitmap: whole(segment.sack.blocks[0]),
            received: whole(segment.sack.blocks[1]),
        }
    }
}

impl Nack {
    /// For a packet that has been trimmed.
    pub(super) fn to(trimmed: &Segment) -> Segment {
        let flags = Flags::ACK
            .with(Flags::TRIMMED)
            .with(when(trimmed.flags.has(Flags::CE), Flags::ECE))
            .with(when(trimmed.flags.has(Flags::RETRANSMISSION), Flags::RETRANSMISSION))
            .with(when(trimmed.flags.has(Flags::TRIMMED_LAST_HOP), Flags::TRIMMED_LAST_HOP));
        Segment { seq: trimmed.seq, ..bare(trimmed.entropy(), flags) }
    }

    /// What a NACK says to a sender that waits for packet `near` first, if the packet is one.
    pub(super) fn of(segment: &Segment, near: u64) -> Option<Self> {
        segment.flags.has(Flags::TRIMMED).then(|| Self {
            psn: unwrap_sequence(segment.seq, near),
            entropy: segment.window,
            is_marked: segment.flags.has(Flags::ECE),
            is_retransmission: segment.flags.has(Flags::RETRANSMISSION),
            at_last_hop: segment.flags.has(Flags::TRIMMED_LAST_HOP),
        })
    }
}

impl Probe {
    pub(super) fn segment(self) -> Segment {
        bare(self.entropy, when(self.is_answer, Flags::ACK).with(Flags::PSH))
    }

    /// The probe, if the packet is one.
    pub(super) fn of(segment: &Segment) -> Option<Self> {
        let is_answer = segment.flags.has(Flags::ACK);
        segment.flags.has(Flags::PSH).then_some(Self { entropy: segment.window, is_answer })
    }
}

impl Segment {
    /// The entropy value of a packet of `spray`, which decides its path.
    #[inline]
    #[must_use]
    pub const fn entropy(&self) -> u16 {
        self.window
    }

    /// Cuts the payload of a packet of `spray` off, in front of the last link of its way or before.
    pub fn trim(&mut self, at_last_hop: bool) {
        self.payload = 0;
        self.flags = self.flags.without(Flags::TRIMMABLE).with(Flags::TRIMMED);
        self.flags = self.flags.with(when(at_last_hop, Flags::TRIMMED_LAST_HOP));
    }
}
