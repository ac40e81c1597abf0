//! The state of a sender for those who look at it from outside, as Linux's `struct tcp_info` has it.

use super::Sender;
use crate::congestion::Recovery;
use crate::log::Metrics;

/// net.ipv4.tcp_reordering: what Linux assumes at first.
const LEAST_REORDERING: u64 = 3;
/// net.ipv4.tcp_max_reordering: what it believes at most.
const LARGEST_REORDERING: u64 = 300;

/// State of a sender between two events.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SenderInfo {
    /// What its log notes with each decision.
    pub metrics: Metrics,
    /// Whether it repairs losses.
    pub recovery: Recovery,
    /// A reduction behind a mark leads its window down.
    pub reduces_behind_mark: bool,
    /// Payload of a full segment in bytes.
    pub full_payload: u64,
    /// Wire sequence number of the next new byte.
    pub next_sequence: u32,
    /// Segments sent and not acknowledged cumulatively.
    pub outstanding_segments: u64,
    /// Segments above a hole: SACKed or, without SACK, reported by duplicate ACKs.
    pub sacked_segments: u64,
    /// Segments judged lost and not SACKed since.
    pub lost_segments: u64,
    /// Of these, those whose retransmission is in flight.
    pub retransmitted_segments: u64,
    /// How far segments have come late, in segments, as Linux keeps it: at least its least threshold, at most its largest.
    pub reordering_segments: u64,
    /// ACKs that told of late segments.
    pub reorderings: u64,
    /// How often the retransmission timeout has doubled since the last RTT sample.
    pub backoff: u32,
    /// SACK was agreed on.
    pub sack: bool,
    /// Timestamps were.
    pub timestamps: bool,
    /// ECN was.
    pub ecn: bool,
}

impl Sender {
    /// Its state now.
    #[must_use]
    pub fn info(&self) -> SenderInfo {
        let segments = |bytes: u64| bytes.div_ceil(self.full_payload);
        let sacked = if self.sack { self.board.sacked_segments() } else { segments(self.board.presumed()) };
        let reordering = self.detector.reordering();
        SenderInfo {
            metrics: self.metrics(),
            recovery: self.recovery.kind(),
            reduces_behind_mark: self.window_reduction.is_some(),
            full_payload: self.full_payload,
            next_sequence: self.snd_nxt as u32,
            outstanding_segments: self.board.len() as u64,
            sacked_segments: sacked,
            lost_segments: segments(self.board.lost()),
            retransmitted_segments: segments(self.board.retransmitted()),
            reordering_segments: segments(reordering.bytes).clamp(LEAST_REORDERING, LARGEST_REORDERING),
            reorderings: reordering.times,
            backoff: self.rtt.backoff(),
            sack: self.sack,
            timestamps: self.timestamps,
            ecn: self.ecn,
        }
    }
}
