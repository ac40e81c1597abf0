//! The event queue: one slot per event source, ordered by time, then source.
//!
//! Every source (a link, a timer, an application, ...) has at most one pending event, so ties in
//! time are broken by the source's number alone and the order is total. Sources are numbered by
//! class, see [`crate::simulation`]. A 4-ary heap keeps the four candidates of a step in one cache line.

use anabranch_units::Instant;

/// A source of events: an index, grouped by class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Source(pub u32);

const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u64,
    source: u32,
}

impl Entry {
    /// What fills up the last children: behind every event, and of no source.
    const NONE: Self = Self { at: u64::MAX, source: u32::MAX };

    /// Time and source as one number: one comparison without a branch between the two. Each has a word of
    /// its own, so that nothing has to be shifted.
    #[inline]
    const fn key(self) -> u128 {
        (self.at as u128) << 64 | self.source as u128
    }

    #[inline]
    const fn before(self, other: Self) -> bool {
        self.key() < other.key()
    }
}

/// Pending events, at most one per source.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The root, and groups of children: the last group is filled up, so that a step always has four candidates.
    heap: Vec<Entry>,
    /// Pending events: the first so many entries.
    count: usize,
    /// Place of each source in the heap, or [`ABSENT`].
    places: Vec<u32>,
}

impl Schedule {
    /// An empty schedule for sources `0..sources`.
    #[must_use]
    pub fn new(sources: usize) -> Self {
        Self { heap: vec![Entry::NONE], count: 0, places: vec![ABSENT; sources] }
    }

    /// Pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// When the source's event is due, if it has one.
    #[inline]
    #[must_use]
    pub fn due(&self, source: Source) -> Option<Instant> {
        let place = self.places[source.0 as usize];
        (place != ABSENT).then(|| Instant::from_ps(self.heap[place as usize].at))
    }

    /// The first event.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(Instant, Source)> {
        let first = self.heap[0];
        (first.source != Entry::NONE.source).then(|| (Instant::from_ps(first.at), Source(first.source)))
    }

    /// The first event, if it is due by `until`.
    ///
    /// # Panics
    /// If it was due before `now`: time never goes back.
    #[inline]
    #[must_use]
    pub fn due_by(&self, now: Instant, until: Instant) -> Option<(Instant, Source)> {
        let (at, source) = self.first().filter(|&(at, _)| at <= until)?;
        assert!(at >= now, "time goes back: at {now} an event of source {} is due at {at}", source.0);
        Some((at, source))
    }

    /// Sets the source's event to `at`, whether or not it had one.
    #[inline]
    pub fn set(&mut self, source: Source, at: Instant) {
        let entry = Entry { at: at.as_ps(), source: source.0 };
        let place = self.places[source.0 as usize];
        if place == ABSENT {
            if self.count == self.heap.len() {
                self.heap.extend([Entry::NONE; ARITY]);
            }
            self.count += 1;
            self.rise(self.count - 1, entry);
            return;
        }
        let place = place as usize;
        if entry.before(self.heap[place]) {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    /// Removes the source's event, if it has one.
    #[inline]
    pub fn clear(&mut self, source: Source) {
        let place = self.places[source.0 as usize];
        if place == ABSENT {
            return;
        }
        self.places[source.0 as usize] = ABSENT;
        let place = place as usize;
        self.count -= 1;
        let last = std::mem::replace(&mut self.heap[self.count], Entry::NONE);
        if place == self.count {
            return;
        }
        if last.before(self.heap[place]) {
            self.rise(place, last);
        } else {
            self.sink(place, last);
        }
    }

    /// Sets or removes the source's event.
    #[inline]
    pub fn put(&mut self, source: Source, at: Option<Instant>) {
        match at {
            Some(at) => self.set(source, at),
            None => self.clear(source),
        }
    }

    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if !entry.before(self.heap[parent]) {
                break;
            }
            self.settle(place, self.heap[parent]);
            place = parent;
        }
        self.settle(place, entry);
    }

    #[inline]
    fn sink(&mut self, mut place: usize, entry: Entry) {
        while let Some(&[a, b, c, d]) = self.heap.get(place * ARITY + 1..place * ARITY + 1 + ARITY) {
            let (least, candidate) = least_of([a, b, c, d]);
            if !candidate.before(entry) {
                break;
            }
            self.settle(place, candidate);
            place = place * ARITY + 1 + least;
        }
        self.settle(place, entry);
    }

    #[inline]
    fn settle(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.source as usize] = place as u32;
    }
}

/// The first of four children and its place among them: a small tournament, which compiles to selections
/// instead of branches that nobody can predict.
#[inline]
const fn least_of([a, b, c, d]: [Entry; ARITY]) -> (usize, Entry) {
    let (left, left_place) = if b.before(a) { (b, 1) } else { (a, 0) };
    let (right, right_place) = if d.before(c) { (d, 3) } else { (c, 2) };
    if right.before(left) { (right_place, right) } else { (left_place, left) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn events_are_due_by_their_time_and_not_before() {
        let mut schedule = Schedule::new(2);
        let at = Instant::from_ps;
        schedule.set(Source(1), at(20));
        assert_eq!(schedule.due_by(at(0), at(19)), None);
        assert_eq!(schedule.due_by(at(0), at(20)), Some((at(20), Source(1))));
        assert_eq!(schedule.due_by(at(20), at(20)), Some((at(20), Source(1))));
    }

    #[test]
    #[should_panic(expected = "time goes back")]
    fn an_event_in_the_past_is_a_bug() {
        let mut schedule = Schedule::new(2);
        schedule.set(Source(1), Instant::from_ps(20));
        let _ = schedule.due_by(Instant::from_ps(21), Instant::from_ps(30));
    }

    proptest! {
        /// Against a sorted map as the model.
        #[test]
        fn the_first_event_is_the_least(
            operations in prop::collection::vec((0u32..40, prop::option::of(0u64..1000)), 1..200),
        ) {
            let mut schedule = Schedule::new(40);
            let mut model = BTreeMap::new();
            for (source, at) in operations {
                schedule.put(Source(source), at.map(Instant::from_ps));
                match at {
                    Some(at) => model.insert(source, at),
                    None => model.remove(&source),
                };
                let least = model.iter().map(|(&source, &at)| (at, source)).min();
                let first = schedule.first().map(|(at, source)| (at.as_ps(), source.0));
                prop_assert_eq!(first, least);
                prop_assert_eq!(schedule.len(), model.len());
                let due = schedule.due(Source(source)).map(Instant::as_ps);
                prop_assert_eq!(due, model.get(&source).copied());
            }
        }
    }
}
