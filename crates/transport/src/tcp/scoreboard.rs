//! What the sender knows about every segment between snd_una and snd_nxt.
//!
//! Segments keep their boundaries when they are retransmitted. Byte counters for RFC 6675's pipe
//! are kept up to date at each change, and segments in flight hang in a list in order of their
//! last transmission, so that time-based loss detection walks only those it must judge.

#[path = "departures.rs"]
mod departures;
#[path = "scoreboard_folds.rs"]
mod folds;
#[path = "scoreboard_order.rs"]
mod order;
#[path = "scoreboard_room.rs"]
mod room;

use super::ranges::Ranges;
use crate::log::LossCause;
use anabranch_units::{Instant, rarely};
pub(crate) use departures::{Delivery, Departure, Departures, LossMark, Newest, lost_since};
use folds::Folds;
pub(crate) use order::Judgement;
use std::collections::VecDeque;
use std::ops::Range;

/// Number of a segment: counts up with each new segment, wraps.
pub(crate) type Number = u32;

const NONE: Number = Number::MAX;

/// One segment that has been sent and not yet cumulatively acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// First position.
    pub(crate) start: u64,
    /// Position behind the last; a FIN takes one.
    pub(crate) end: u64,
    /// Last transmission.
    pub(crate) sent_at: Instant,
    /// Its place among all transmissions: tells apart those of one instant.
    pub(crate) order: u64,
    /// Transmissions so far.
    pub(crate) transmissions: u16,
    /// Selectively acknowledged.
    pub(crate) sacked: bool,
    /// Judged lost, and not SACKed since.
    pub(crate) lost: bool,
    /// Lost, and its retransmission is in flight.
    pub(crate) retransmitted: bool,
    /// Ends with the FIN.
    pub(crate) fin: bool,
    /// Loss detection judged it lost since it was sent last.
    detected: bool,
    /// The one sent before it in the list of those in flight, unless it is the oldest: then anything.
    older: Number,
    newer: Number,
}

impl Sent {
    /// Of the first transmission of these positions, at this time and place among all transmissions.
    #[inline(always)]
    fn new(positions: Range<u64>, fin: bool, (sent_at, order): (Instant, u64)) -> Self {
        Self {
            start: positions.start,
            end: positions.end,
            sent_at,
            order,
            transmissions: 1,
            sacked: false,
            lost: false,
            retransmitted: false,
            fin,
            detected: false,
            older: NONE,
            newer: NONE,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether it counts as in flight: not SACKed, and not lost unless sent again.
    fn in_flight(&self) -> bool {
        !self.sacked && (!self.lost || self.retransmitted)
    }
}

/// The segments in flight and their counters.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    /// All but those that are folded.
    segments: VecDeque<Sent>,
    /// Number of `segments[0]`.
    first: Number,
    /// Usual length of a segment, to guess an index from a position.
    usual_len: u64,
    transmissions: u64,
    sacked_ranges: Ranges,
    /// Bytes between snd_una and snd_nxt.
    outstanding: u64,
    sacked: u64,
    sacked_segments: u64,
    lost: u64,
    retransmitted: u64,
    /// Everything ever judged lost.
    lost_total: u64,
    /// Highest first position of anything ever judged lost.
    highest_lost: u64,
    /// Without SACK: bytes that duplicate ACKs say have left the network (RFC 6582).
    presumed: u64,
    /// No segment below this position waits for retransmission.
    retransmit_from: u64,
    oldest: Number,
    newest: Number,
    /// What is kept of each transmission, if somebody asks for it.
    departures: Option<Box<Departures>>,
    folds: Option<Box<Folds>>,
}

impl Scoreboard {
    pub(crate) fn new(usual_len: u64) -> Self {
        Self {
            segments: VecDeque::new(),
            first: 0,
            usual_len: usual_len.max(1),
            transmissions: 0,
            sacked_ranges: Ranges::default(),
            outstanding: 0,
            sacked: 0,
            sacked_segments: 0,
            lost: 0,
            retransmitted: 0,
            lost_total: 0,
            highest_lost: 0,
            presumed: 0,
            retransmit_from: 0,
            oldest: NONE,
            newest: NONE,
            departures: None,
            folds: None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments between snd_una and snd_nxt.
    pub(crate) fn len(&self) -> usize {
        self.segments.len() + self.folded() as usize
    }

    pub(crate) fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub(crate) fn back(&self) -> Option<&Sent> {
        self.segments.back()
    }

    pub(crate) fn last_number(&self) -> Option<Number> {
        let last = self.segments.len().checked_sub(1)?;
        Some(self.number(last))
    }

    /// The number of the segment at an index of those that are not folded.
    #[inline]
    fn number(&self, index: usize) -> Number {
        let folded = if rarely(self.folds.is_some()) { self.folded_below_index(index) } else { 0 };
        self.first.wrapping_add((index + folded) as Number)
    }

    /// The index of a segment that is not folded.
    #[inline]
    fn index(&self, number: Number) -> usize {
        let folded = if rarely(self.folds.is_some()) { self.folded_below(number) } else { 0 };
        number.wrapping_sub(self.first) as usize - folded
    }

    pub(crate) fn get(&self, number: Number) -> &Sent {
        &self.segments[self.index(number)]
    }

    fn get_mut(&mut self, number: Number) -> &mut Sent {
        let index = self.index(number);
        &mut self.segments[index]
    }

    /// Bytes in flight: RFC 6675 section 4, SetPipe. Without SACK duplicate ACKs say how much has arrived of what is not
    /// lost, and nothing of what was sent again: one ACK for each retransmission that was not needed would otherwise call
    /// for another.
    #[inline]
    pub(crate) fn pipe(&self) -> u64 {
        (self.outstanding - self.sacked - self.lost).saturating_sub(self.presumed) + self.retransmitted
    }

    /// Without SACK: another `bytes` have left the network, though it is not known which.
    pub(crate) fn presume_delivered(&mut self, bytes: u64) {
        self.presumed += bytes;
    }

    /// Without SACK: `bytes` of those presumed delivered are now acknowledged.
    pub(crate) fn settle_presumed(&mut self, bytes: u64) {
        self.presumed = self.presumed.saturating_sub(bytes);
    }

    /// Without SACK: bytes that have left the network by duplicate ACKs.
    pub(crate) fn presumed(&self) -> u64 {
        self.presumed
    }

    /// Everything ever judged lost, in bytes; grows only.
    pub(crate) fn lost_total(&self) -> u64 {
        self.lost_total
    }

    /// First position of the highest segment ever judged lost; 0 before the first.
    pub(crate) fn highest_lost(&self) -> u64 {
        self.highest_lost
    }

    /// Bytes between snd_una and snd_nxt that are SACKed.
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Segments between snd_una and snd_nxt that are SACKed.
    pub(crate) fn sacked_segments(&self) -> u64 {
        self.sacked_segments
    }

    /// Bytes judged lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Bytes whose retransmission is in flight.
    pub(crate) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Records a new segment's first transmission; returns its place among all transmissions.
    #[inline(always)]
    pub(crate) fn push(&mut self, start: u64, end: u64, fin: bool, now: Instant, delivery: Delivery) -> u64 {
        debug_assert!(self.segments.back().is_none_or(|last| last.end == start) && start < end);
        let number = self.number(self.segments.len());
        self.transmissions += 1;
        if self.departures.is_some() {
            let in_flight_then = (self.pipe() + (end - start)) as u32;
            self.note_departure(
                None,
                Departure { delivery, in_flight_then, lost_then: self.lost_total as u32 },
            );
        }
        self.outstanding += end - start;
        let older = self.append(number);
        if rarely(self.segments.len() == self.segments.capacity()) {
            self.make_room();
        }
        let sent = Sent::new(start..end, fin, (now, self.transmissions));
        self.segments.push_back(Sent { older, ..sent });
        self.transmissions
    }

    /// Records a retransmission of a segment that is not SACKed.
    pub(crate) fn retransmit(&mut self, number: Number, now: Instant, delivery: Delivery) {
        if self.get(number).in_flight() {
            self.unlink(number);
        }
        self.transmissions += 1;
        let order = self.transmissions;
        let sent = self.get_mut(number);
        debug_assert!(!sent.sacked);
        sent.sent_at = now;
        sent.order = order;
        sent.transmissions = sent.transmissions.saturating_add(1);
        sent.detected = false;
        if sent.lost && !sent.retransmitted {
            sent.retransmitted = true;
            let len = sent.len();
            self.retransmitted += len;
        }
        if self.departures.is_some() {
            let in_flight_then = self.pipe() as u32;
            let departure = Departure { delivery, in_flight_then, lost_then: self.lost_total as u32 };
            self.note_departure(Some(number), departure);
        }
        self.link_newest(number);
    }

    /// Judges a segment in flight lost; if it was a retransmission, that one is.
    pub(crate) fn mark_lost(&mut self, number: Number, cause: LossCause) {
        let sent = self.get_mut(number);
        if !sent.in_flight() {
            return;
        }
        let (start, len) = (sent.start, sent.len());
        if sent.lost {
            sent.retransmitted = false;
            self.retransmitted -= len;
        } else {
            sent.lost = true;
            self.lost += len;
        }
        self.get_mut(number).detected |= cause != LossCause::Timeout;
        self.lost_total += len;
        self.highest_lost = self.highest_lost.max(start);
        self.unlink(number);
        self.retransmit_from = self.retransmit_from.min(start);
        if let Some(Departures { all, marks: Some(marks), .. }) = self.departures.as_deref_mut() {
            let Departure { delivery, in_flight_then, lost_then } =
                all[number.wrapping_sub(self.first) as usize];
            marks.push(LossMark {
                start,
                bytes: len,
                cause,
                in_flight_then: u64::from(in_flight_then),
                lost_since: lost_since(lost_then, self.lost_total),
                app_limited: delivery.app_limited,
            });
        }
    }

    /// Judges everything that is not SACKed lost, retransmissions too (RFC 6298 section 5.4 and
    /// RFC 6675 section 5.1: after a timeout the window is sent again).
    pub(crate) fn mark_all_lost(&mut self) {
        for index in 0..self.segments.len() {
            self.mark_lost(self.number(index), LossCause::Timeout);
        }
    }

    /// Takes back the judgement of every lost segment: it counts as in flight once more, and once only
    /// if it has been sent again. Those that loss detection judged may be judged again if it `judges_again`.
    pub(crate) fn unmark_lost(&mut self, judges_again: bool) {
        let mut revived = Vec::new();
        for (index, sent) in self.segments.iter_mut().enumerate() {
            if !sent.lost {
                continue;
            }
            sent.lost = false;
            // One that was sent again hangs in the list of those in flight already.
            if !std::mem::take(&mut sent.retransmitted) && (judges_again || !sent.detected) {
                revived.push(index);
            }
        }
        self.lost = 0;
        self.retransmitted = 0;
        // They are older than anything in flight: put them at the old end, oldest last.
        for &index in revived.iter().rev() {
            self.link_oldest(self.number(index));
        }
    }

    /// Whether a lost segment has not been sent again.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        self.lost != self.retransmitted
    }

    /// The lowest lost segment that has not been sent again.
    pub(crate) fn next_lost(&mut self) -> Option<Number> {
        let mut index = self.index_of(self.retransmit_from).unwrap_or(0);
        while let Some(sent) = self.segments.get(index) {
            if sent.lost && !sent.retransmitted {
                self.retransmit_from = sent.start;
                return Some(self.number(index));
            }
            index += 1;
        }
        None
    }

    /// The segments within a range of positions that have been sent more than once.
    pub(crate) fn sent_again(&self, left: u64, right: u64) -> impl Iterator<Item = &Sent> {
        let from = self.segments.partition_point(|sent| sent.start < left);
        let within = self.segments.iter().skip(from).take_while(move |sent| sent.end <= right);
        within.filter(|sent| sent.transmissions > 1)
    }

    /// The lowest segment from a position on that is neither SACKed nor lost, with SACKed data above it.
    pub(crate) fn hole_from(&self, position: u64) -> Option<Number> {
        let &(_, above) = self.sacked_ranges.as_slice().last()?;
        let from = self.segments.partition_point(|sent| sent.start < position);
        let index = (from..self.segments.len()).find(|&index| {
            let sent = &self.segments[index];
            !sent.sacked && !sent.lost
        })?;
        (self.segments[index].end <= above).then(|| self.number(index))
    }

    /// The highest segment that is not SACKed.
    pub(crate) fn last_unsacked(&self) -> Option<Number> {
        let index = self.segments.iter().rposition(|sent| !sent.sacked)?;
        Some(self.number(index))
    }

    /// Drops segments below `ack`; `visit` sees each before it goes.
    // One call of it, in place: each segment comes by.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u64, mut visit: impl FnMut(&Sent)) {
        while let Some(front) = self.segments.front() {
            if front.end > ack {
                break;
            }
            visit(front);
            if self.departures.is_some() {
                self.forget_departure();
            }
            self.forget_front();
            if rarely(self.folds.is_some()) {
                self.unfold_front(ack);
            }
        }
        self.fit_room();
        self.trim_front(ack);
        self.retransmit_from = self.retransmit_from.max(ack);
        if !self.sacked_ranges.is_empty() {
            self.sacked_ranges.remove_below(ack);
        }
    }

    #[inline(always)]
    fn forget_front(&mut self) {
        let Some(gone) = self.segments.pop_front() else { return };
        let number = self.first;
        self.first = number.wrapping_add(1);
        let len = gone.len();
        self.outstanding -= len;
        if gone.in_flight() {
            self.close_list(number, (gone.older, gone.newer));
        }
        // Most segments have never been either.
        if gone.sacked || gone.lost {
            self.sacked -= if gone.sacked { len } else { 0 };
            self.sacked_segments -= u64::from(gone.sacked);
            self.lost -= if gone.lost { len } else { 0 };
            self.retransmitted -= if gone.retransmitted { len } else { 0 };
        }
    }

    /// An acknowledgment in the middle of a segment leaves its rest outstanding.
    fn trim_front(&mut self, ack: u64) {
        let Some(front) = self.segments.front_mut().filter(|front| front.start < ack) else { return };
        let cut = ack - front.start;
        front.start = ack;
        self.outstanding -= cut;
        self.sacked -= if front.sacked { cut } else { 0 };
        self.lost -= if front.lost { cut } else { 0 };
        self.retransmitted -= if front.retransmitted { cut } else { 0 };
    }

    /// Marks the segments inside `left..right` as SACKed; `visit` sees each that was not before.
    pub(crate) fn selectively_acknowledge(&mut self, left: u64, right: u64, mut visit: impl FnMut(&Sent)) {
        let (Some(front), Some(back)) = (self.segments.front(), self.segments.back()) else { return };
        let (left, right) = (left.max(front.start), right.min(back.end));
        if left >= right || self.sacked_ranges.containing(left).is_some_and(|(_, end)| right <= end) {
            return;
        }
        let mut gaps: [(u64, u64); 8] = [(0, 0); 8];
        let mut count = 0;
        self.sacked_ranges.for_each_gap(left, right, |l, r| {
            if count < gaps.len() {
                gaps[count] = (l, r);
                count += 1;
            } else {
                // More gaps than an ACK usually fills: the last one stretches over the rest.
                gaps[count - 1].1 = r;
            }
        });
        self.sacked_ranges.insert(left, right);
        for &(gap_left, gap_right) in &gaps[..count] {
            self.sack_gap(gap_left, gap_right, &mut visit);
        }
    }

    fn sack_gap(&mut self, left: u64, right: u64, visit: &mut impl FnMut(&Sent)) {
        let Some(mut index) = self.index_of(left) else { return };
        // A block that starts inside a segment does not cover it.
        if self.segments[index].start < left {
            index += 1;
        }
        while let Some(sent) = self.segments.get(index).filter(|sent| sent.end <= right) {
            if !sent.sacked {
                visit(sent);
                if self.departures.is_some() {
                    self.note_delivered(index);
                }
                self.sack(self.number(index));
            }
            index += 1;
        }
    }

    fn sack(&mut self, number: Number) {
        if self.get(number).in_flight() {
            self.unlink(number);
        }
        let sent = self.get_mut(number);
        let (len, lost, retransmitted) = (sent.len(), sent.lost, sent.retransmitted);
        sent.sacked = true;
        sent.lost = false;
        sent.retransmitted = false;
        self.sacked += len;
        self.sacked_segments += 1;
        self.lost -= if lost { len } else { 0 };
        self.retransmitted -= if retransmitted { len } else { 0 };
    }

    /// The segment that contains `position`, unless it is folded.
    pub(crate) fn number_at(&self, position: u64) -> Option<Number> {
        let index = self.index_of(position).filter(|&index| self.segments[index].start <= position)?;
        Some(self.number(index))
    }

    /// The index of the segment that contains `position`; where that is folded, of the next one that is not.
    fn index_of(&self, position: u64) -> Option<usize> {
        let front = self.segments.front()?;
        if position < front.start || position >= self.segments.back()?.end {
            return None;
        }
        let guess = ((position - front.start) / self.usual_len) as usize;
        if let Some(sent) = self.segments.get(guess)
            && sent.start <= position
            && position < sent.end
        {
            return Some(guess);
        }
        Some(self.segments.partition_point(|sent| sent.end <= position))
    }
}

#[cfg(test)]
#[path = "scoreboard_tests.rs"]
mod tests;
