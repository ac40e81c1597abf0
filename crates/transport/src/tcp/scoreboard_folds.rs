//! Long runs of SACKed segments, folded into one record each.
//!
//! A window above a hole that is repaired late may be thousands of segments, of which nobody asks anything any more but where
//! they begin and end. They are looked for where room for another segment is missing, and only there.

use super::{Number, Scoreboard, Sent};
use anabranch_units::Instant;
use std::ops::Range;

/// Fewer segments in a row are left as they are: a record takes more room than one of them.
const LEAST: u32 = 4;

/// So many segments come out of a fold at a time that is acknowledged.
const AT_ONCE: u32 = 8;

/// Segments of one length in a row, SACKed, sent once, and neither the first nor the last of their scoreboard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// Number of the first.
    number: Number,
    count: u32,
    /// Position of the first.
    start: u64,
    len: u64,
    /// Folded segments below it, counted from [`Folds::gone`] on.
    below: u64,
    /// Transmission of the first.
    sent_at: Instant,
    order: u64,
}

/// All folds of a scoreboard.
#[derive(Debug, Default)]
pub(super) struct Folds {
    /// In ascending order.
    all: Vec<Fold>,
    /// Segments of folds that were acknowledged.
    gone: u64,
}

/// What a judge asks of the segment at a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    pub(crate) end: u64,
    pub(crate) sacked: bool,
    /// Its number, where it was sent once and is neither SACKed nor folded.
    pub(crate) sent_once: Option<Number>,
}

impl Fold {
    fn end(&self) -> u64 {
        self.start + u64::from(self.count) * self.len
    }

    /// The segments again. When each left is forgotten: all have the transmission of the first.
    fn segments(self) -> impl DoubleEndedIterator<Item = Sent> {
        (0..u64::from(self.count)).map(move |place| {
            let start = self.start + place * self.len;
            Sent { sacked: true, ..Sent::new(start..start + self.len, false, (self.sent_at, self.order)) }
        })
    }

    /// Whether another one goes on where this one ends.
    fn goes_on_with(&self, next: &Self) -> bool {
        self.number.wrapping_add(self.count) == next.number
            && self.end() == next.start
            && self.len == next.len
    }
}

impl Folds {
    /// Segments in all of them.
    fn count(&self) -> u64 {
        self.all.last().map_or(0, |last| last.below + u64::from(last.count) - self.gone)
    }

    /// Folded segments below a number that is not folded.
    fn below(&self, first: Number, number: Number) -> u64 {
        let offset = |number: Number| number.wrapping_sub(first);
        let place = self.all.partition_point(|fold| offset(fold.number) < offset(number));
        let last = place.checked_sub(1).map(|last| &self.all[last]);
        last.map_or(0, |last| last.below + u64::from(last.count) - self.gone)
    }

    /// Folded segments below the one at an index of those that are not.
    fn below_index(&self, first: Number, index: usize) -> u64 {
        // The segments below a fold that are not folded are those between it and the first, less those folded there.
        let unfolded = |fold: &Fold| u64::from(fold.number.wrapping_sub(first)) - (fold.below - self.gone);
        let place = self.all.partition_point(|fold| unfolded(fold) <= index as u64);
        let last = place.checked_sub(1).map(|last| &self.all[last]);
        last.map_or(0, |last| last.below + u64::from(last.count) - self.gone)
    }

    /// The end of the segment in which a position lies, if it is folded.
    fn end_at(&self, position: u64) -> Option<u64> {
        let place = self.all.partition_point(|fold| fold.end() <= position);
        let fold = self.all.get(place).filter(|fold| fold.start <= position)?;
        Some(fold.start + ((position - fold.start) / fold.len + 1) * fold.len)
    }

    /// Joins what lies side by side, and counts anew.
    fn settle(&mut self, first: Number) {
        self.all.sort_unstable_by_key(|fold| fold.number.wrapping_sub(first));
        self.all.dedup_by(|next, fold| {
            let joins = fold.goes_on_with(next);
            fold.count += if joins { next.count } else { 0 };
            joins
        });
        let mut below = 0;
        for fold in &mut self.all {
            fold.below = below;
            below += u64::from(fold.count);
        }
        self.gone = 0;
        self.all.shrink_to_fit();
    }
}

impl Scoreboard {
    /// Segments that are folded.
    #[inline]
    pub(super) fn folded(&self) -> u64 {
        self.folds.as_ref().map_or(0, |folds| folds.count())
    }

    /// Folded segments below a number, in a list that has some.
    #[cold]
    #[inline(never)]
    pub(super) fn folded_below(&self, number: Number) -> usize {
        self.folds.as_ref().map_or(0, |folds| folds.below(self.first, number)) as usize
    }

    /// The same below the segment at an index of those that are not folded.
    #[cold]
    #[inline(never)]
    pub(super) fn folded_below_index(&self, index: usize) -> usize {
        self.folds.as_ref().map_or(0, |folds| folds.below_index(self.first, index)) as usize
    }

    /// What a judge asks of the segment at a position; none where no segment is.
    pub(crate) fn look_at(&self, position: u64) -> Option<Seen> {
        if let Some(end) = self.folds.as_ref().and_then(|folds| folds.end_at(position)) {
            return Some(Seen { end, sacked: true, sent_once: None });
        }
        let index = self.index_of(position)?;
        let sent = &self.segments[index];
        let sent_once = (!sent.sacked && sent.transmissions == 1).then(|| self.number(index));
        Some(Seen { end: sent.end, sacked: sent.sacked, sent_once })
    }

    /// SACKed segments from a position on.
    pub(crate) fn sacked_from(&self, position: u64) -> u64 {
        if self.look_at(position).is_none() {
            return 0;
        }
        let above = self.segments.iter().rev().take_while(|sent| sent.end > position);
        let folds = self.folds.iter().flat_map(|folds| &folds.all);
        let folded = folds.map(|fold| {
            let before = position.saturating_sub(fold.start) / fold.len;
            u64::from(fold.count).saturating_sub(before)
        });
        above.filter(|sent| sent.sacked).count() as u64 + folded.sum::<u64>()
    }

    /// Folds what can be folded, if that is much. Whether it has made room.
    pub(super) fn fold(&mut self) -> bool {
        let segments = self.segments.len() as u64;
        // What is kept of each transmission lies beside the segments, one by one.
        if self.departures.is_some() || (self.sacked_segments - self.folded()) * 4 < segments {
            return false;
        }
        let runs = self.foldable();
        if runs.is_empty() {
            return false;
        }
        let (mut index, mut next) = (0, runs.iter().peekable());
        self.segments.retain(|_| {
            let place = index;
            index += 1;
            let _ = next.next_if(|(run, _)| run.end <= place);
            next.peek().is_none_or(|(run, _)| !run.contains(&place))
        });
        let folds = self.folds.get_or_insert_default();
        folds.all.extend(runs.iter().map(|(_, fold)| fold));
        folds.settle(self.first);
        let left = self.segments.len();
        if left * 2 <= self.segments.capacity() {
            self.segments.shrink_to(left + left / 2);
        }
        left as u64 * 4 <= segments * 3
    }

    /// Runs of segments that can be folded, by their indices.
    fn foldable(&self) -> Vec<(Range<usize>, Fold)> {
        let mut runs: Vec<(Range<usize>, Fold)> = Vec::new();
        for index in 1..self.segments.len().saturating_sub(1) {
            let sent = &self.segments[index];
            if !sent.sacked || sent.transmissions != 1 || sent.fin {
                continue;
            }
            let (number, sent_at, order) = (self.number(index), sent.sent_at, sent.order);
            let fold =
                Fold { number, count: 1, start: sent.start, len: sent.len(), below: 0, sent_at, order };
            match runs.last_mut() {
                Some((run, last)) if last.goes_on_with(&fold) => {
                    run.end += 1;
                    last.count += 1;
                }
                _ => runs.push((index..index + 1, fold)),
            }
        }
        runs.retain(|(_, fold)| fold.count >= LEAST);
        runs
    }

    /// Takes segments out of a fold in front: a few at a time where it ends by `ack`, for they go at once. Of one that ends
    /// above all are as if they had never been folded.
    #[cold]
    #[inline(never)]
    pub(super) fn unfold_front(&mut self, ack: u64) {
        let Some(folds) = self.folds.as_mut() else { return };
        let Some(fold) = folds.all.first_mut().filter(|fold| fold.number == self.first) else { return };
        let count = if fold.end() <= ack { fold.count.min(AT_ONCE) } else { fold.count };
        let taken = Fold { count, ..*fold };
        fold.number = fold.number.wrapping_add(count);
        (fold.start, fold.count) = (taken.end(), fold.count - count);
        fold.below += u64::from(count);
        folds.gone += u64::from(count);
        if fold.count == 0 {
            folds.all.remove(0);
            if folds.all.is_empty() {
                self.folds = None;
            }
        }
        taken.segments().rev().for_each(|sent| self.segments.push_front(sent));
    }

    /// Bytes and segments that are folded, for tests.
    #[cfg(test)]
    pub(super) fn folded_bytes(&self) -> u64 {
        let folds = self.folds.iter().flat_map(|folds| &folds.all);
        folds.map(|fold| fold.end() - fold.start).sum()
    }
}
