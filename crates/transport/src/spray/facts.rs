//! What a window is told: of its path before it begins, and by each ACK.

use anabranch_units::{Instant, Rate, Span};

/// What a sender knows of its path before it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathFacts {
    /// What the lines of both hosts carry, all planes together.
    pub rate: Rate,
    /// Round-trip time of a full packet and its answer without queues.
    pub base_rtt: Span,
    /// Lines of the host, each into a plane.
    pub planes: u16,
}

/// What an ACK told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    pub(super) now: Instant,
    /// Bytes that arrived since the ACK before, headers included.
    pub(super) bytes: u64,
    pub(super) is_marked: bool,
    /// Queueing delay of the packet that it answers, if it is known which transmission that was.
    pub(super) delay: Option<Span>,
    /// Smallest round-trip time so far.
    pub(super) base_rtt: Span,
    /// Bytes in flight now.
    pub(super) in_flight: u64,
}
