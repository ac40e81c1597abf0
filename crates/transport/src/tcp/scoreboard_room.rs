//! How much memory the segments in flight take.

use super::Scoreboard;
use anabranch_units::rarely;
use std::collections::VecDeque;

/// Room for so many segments is kept, however few there are.
const LEAST_ROOM: usize = 4;

/// Room for the first segments: the usual initial window (RFC 6928).
const FIRST_ROOM: usize = 10;

impl Scoreboard {
    /// How many segments there is room for.
    #[cfg(test)]
    pub(crate) fn room_for_segments(&self) -> usize {
        self.segments.capacity()
    }

    /// Makes room by folding, or half as much again: what vectors make by themselves, twice as much, is more than most
    /// windows fill.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&mut self) {
        if self.fold() {
            return;
        }
        let segments = self.segments.len();
        self.segments.reserve_exact(if segments == 0 { FIRST_ROOM } else { segments.div_ceil(2) });
    }

    /// Gives all room back: nothing will be in flight any more.
    pub(crate) fn give_room_back(&mut self) {
        debug_assert!(self.segments.is_empty());
        self.segments = VecDeque::new();
    }

    /// Gives room back that a larger window has left: segments come around in all of it, and would find none of it in
    /// the cache. Where nothing is left they start from the beginning again.
    #[inline(always)]
    pub(super) fn fit_room(&mut self) {
        let room = self.segments.capacity();
        if rarely(self.segments.is_empty()) {
            self.segments.clear();
        }
        if rarely(room > LEAST_ROOM && self.segments.len() < room / 8) {
            self.segments.shrink_to((room / 4).max(LEAST_ROOM));
        }
    }
}
