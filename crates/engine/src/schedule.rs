//! The event queue: one slot per event source, ordered by time, then source.
//!
//! Every source (a link, a timer, an application, ...) has at most one pending event, so ties in
//! time are broken by the source's number alone and the order is total. Sources are numbered by
//! class, see [`crate::simulation`].
//!
//! Time and source of an event are one key of 64 bits, and a 4-ary heap of keys keeps the four candidates of a step in
//! half a line of the cache. The heap does not know where the event of a source is: what each source waits for stands
//! beside it, and an entry of another time is stale, and passed over. Moving an entry thus writes nothing but the entry.
//!
//! Links have a heap of their own. They set their events at each packet, while timers wait: many of them would make the
//! way of each packet's event through the heap long.

use anabranch_units::{Instant, prefetch, rarely};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A source of events: an index, grouped by class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Source(pub u32);

const ARITY: usize = 4;

/// No event, as a time and as a key: behind every event.
const NONE: u64 = u64::MAX;

/// Stale entries that are left alone, however few others there are.
const FEW: usize = 64;

/// The place of the first key in the heap. It is the last of its group, so that the children of an entry are a group.
const ROOT: usize = ARITY - 1;

/// The children of an entry of the heap; half a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Group([u64; ARITY]);

/// Keys, the first of them at the root.
#[derive(Clone, Debug)]
struct Heap {
    /// Keys from place [`ROOT`] on, by fours; the children of place p begin at 4 (p - 2). The last group is filled up
    /// with [`NONE`], so that a step always has four candidates.
    groups: Vec<Group>,
    /// Keys in them.
    count: usize,
    /// The event of the root has been taken out: the next one to be set takes its place.
    taken: bool,
}

/// Pending events, at most one per source.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Events of the sources below `links`, and of all others.
    of_links: Heap,
    of_others: Heap,
    links: u32,
    /// A key before all in the heaps, and its source's event, or [`NONE`]: what is due next never goes into a heap.
    front: u64,
    /// When the event of each source is due, in picoseconds, or [`NONE`].
    due: Vec<u64>,
    /// Entries, here and in `far`, that are no source's event, or one a second time.
    stale: usize,
    /// The time of key 0 in picoseconds; never later than now.
    base: u64,
    /// Bits of a key that have the source, and all of them set; those above have the time since `base`.
    source_bits: u32,
    source_mask: u64,
    /// What keys have no room for: picoseconds since `base`, and more.
    horizon: u64,
    /// Events beyond the times that a key has room for.
    far: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Schedule {
    /// An empty schedule for sources `0..sources`, of which those below `links` set their events again and again.
    #[must_use]
    pub fn new(sources: usize, links: u32) -> Self {
        let source_bits = usize::BITS - sources.leading_zeros();
        Self {
            of_links: Heap::new(),
            of_others: Heap::new(),
            links,
            front: NONE,
            due: vec![NONE; sources],
            stale: 0,
            base: 0,
            source_bits,
            source_mask: !(NONE << source_bits),
            horizon: NONE >> source_bits,
            far: BinaryHeap::new(),
        }
    }

    /// Begins to fetch what is kept of a source.
    #[inline]
    pub fn prefetch(&self, source: Source) {
        prefetch(&self.due[source.0 as usize]);
    }

    /// Pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        let heaps = self.of_links.len() + self.of_others.len();
        heaps + usize::from(self.front != NONE) + self.far.len() - self.stale
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When the source's event is due, if it has one.
    #[inline]
    #[must_use]
    pub fn due(&self, source: Source) -> Option<Instant> {
        let due = self.due[source.0 as usize];
        (due != NONE).then(|| Instant::from_ps(due))
    }

    /// The first event.
    #[must_use]
    pub fn first(&self) -> Option<(Instant, Source)> {
        let near = [self.front, self.root()].into_iter().find(|&key| self.is_live(key));
        let near = near.or_else(|| self.live_keys().min());
        let first = near.map(|key| (self.time(key), self.source(key)));
        let far = || self.far.iter().map(|&Reverse(event)| event).filter(|&event| self.is_due(event)).min();
        first.or_else(far).map(|(at, source)| (Instant::from_ps(at), Source(source)))
    }

    /// Takes out the first event, if it is due by `until`.
    ///
    /// # Panics
    /// If it was due before `now`: time never goes back.
    #[inline]
    #[must_use]
    pub fn take(&mut self, now: Instant, until: Instant) -> Option<(Instant, Source)> {
        let is_front = self.front != NONE;
        if !is_front {
            self.find_root(until)?;
        }
        let key = if is_front { self.front } else { self.root() };
        let (at, source) = (Instant::from_ps(self.time(key)), self.source(key));
        if at > until {
            return None;
        }
        assert!(at >= now, "time goes back: at {now} an event of source {source} is due at {at}");
        self.due[source as usize] = NONE;
        if is_front {
            self.front = NONE;
        } else if source < self.links {
            self.of_links.taken = true;
        } else {
            self.of_others.taken = true;
        }
        Some((at, Source(source)))
    }

    /// Makes the first root of the heaps an event where nothing is in front of it; `None` if none is due by `until`.
    #[inline]
    fn find_root(&mut self, until: Instant) -> Option<()> {
        if self.of_links.taken {
            self.of_links.remove_root();
        }
        if rarely(self.of_others.taken) {
            self.of_others.remove_root();
        }
        // Where nothing is stale, each key is an event.
        while rarely(self.root() == NONE || (self.stale != 0 && !self.is_live(self.root()))) {
            self.pass_over(until)?;
        }
        Some(())
    }

    /// Sets the source's event to `at`, whether or not it had one.
    ///
    /// # Panics
    /// If `at` lies before the events that have been taken out.
    #[inline]
    pub fn set(&mut self, source: Source, at: Instant) {
        let at = at.as_ps();
        let due = &mut self.due[source.0 as usize];
        if *due == at {
            return;
        }
        let before = std::mem::replace(due, at);
        if rarely(before != NONE) {
            self.pass(source, before);
        }
        let since = at.wrapping_sub(self.base);
        // What lies before the base is, so taken, farther than anything.
        if rarely(since >= self.horizon) {
            self.set_far(source, at);
            return;
        }
        let key = since << self.source_bits | u64::from(source.0);
        let heap = if source.0 < self.links { &mut self.of_links } else { &mut self.of_others };
        if heap.taken {
            heap.taken = false;
            heap.sink(key);
        } else if key < self.front && key < self.root() {
            let second = std::mem::replace(&mut self.front, key);
            if second != NONE {
                self.push(second);
            }
        } else {
            self.push(key);
        }
    }

    /// Removes the source's event, if it has one.
    #[inline]
    pub fn clear(&mut self, source: Source) {
        let due = std::mem::replace(&mut self.due[source.0 as usize], NONE);
        self.pass(source, due);
    }

    /// The entry that a source had, if it was due, is its event no more: it goes if it is in front, and is stale otherwise.
    #[inline]
    fn pass(&mut self, source: Source, due: u64) {
        // No source has the number of `NONE`.
        if rarely(self.source(self.front) == source.0) {
            self.front = NONE;
        } else {
            self.stale += usize::from(due != NONE);
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

    /// The first key of the heaps, or what the last event taken out has left there.
    #[inline]
    fn root(&self) -> u64 {
        self.of_links.root().min(self.of_others.root())
    }

    #[inline]
    const fn time(&self, key: u64) -> u64 {
        self.base + (key >> self.source_bits)
    }

    #[inline]
    const fn source(&self, key: u64) -> u32 {
        (key & self.source_mask) as u32
    }

    /// Whether it is the event of its source.
    #[inline]
    fn is_due(&self, (at, source): (u64, u32)) -> bool {
        self.due[source as usize] == at
    }

    /// The same of a key. No source has the number of [`NONE`].
    #[inline]
    fn is_live(&self, key: u64) -> bool {
        self.due.get(self.source(key) as usize).is_some_and(|&due| due == self.time(key))
    }

    /// All keys that are events.
    fn live_keys(&self) -> impl Iterator<Item = u64> + '_ {
        let groups = self.of_links.groups.iter().chain(&self.of_others.groups);
        groups.flat_map(|group| group.0).chain([self.front]).filter(|&key| self.is_live(key))
    }

    /// Removes an entry that is none, or moves the base, where all others are far: to the first of them, if it is due
    /// by `until`, so that this is its time. `None` if nothing is.
    #[inline(never)]
    fn pass_over(&mut self, until: Instant) -> Option<()> {
        let root = self.root();
        if root != NONE {
            self.stale -= 1;
            let is_link = root == self.of_links.root();
            if is_link { &mut self.of_links } else { &mut self.of_others }.remove_root();
            return Some(());
        }
        while let Some(&Reverse(event)) = self.far.peek() {
            if self.is_due(event) {
                if event.0 > until.as_ps() {
                    return None;
                }
                self.base = event.0;
                self.bring_near();
                return Some(());
            }
            self.stale -= 1;
            self.far.pop();
        }
        None
    }

    /// Moves what keys have room for from `far` into the heap.
    fn bring_near(&mut self) {
        let end = self.base.saturating_add(self.horizon);
        while let Some(&Reverse((at, source))) = self.far.peek().filter(|event| event.0.0 < end) {
            self.far.pop();
            self.push((at - self.base) << self.source_bits | u64::from(source));
        }
    }

    /// An event that no key has room for. What is set to the end of time never happens, and is no event.
    #[cold]
    fn set_far(&mut self, source: Source, at: u64) {
        assert!(at >= self.base, "time goes back: an event of source {} is set to {at} ps", source.0);
        if at == NONE {
            return;
        }
        let event = Reverse((at, source.0));
        // An entry that was stale may be the event again.
        if !(self.remove_stale() && self.far.iter().any(|&other| other == event)) {
            self.far.push(event);
        }
    }

    /// Where entries that are no events are more than others, all of them are removed: a source that sets its event anew
    /// each time would fill the memory with them. Whether they were.
    fn remove_stale(&mut self) -> bool {
        if self.stale <= self.len() + FEW {
            return false;
        }
        let mut keys: Vec<u64> = self.live_keys().collect();
        keys.sort_unstable();
        keys.dedup();
        let mut far = std::mem::take(&mut self.far).into_vec();
        far.retain(|&Reverse(event)| self.is_due(event));
        far.sort_unstable();
        far.dedup();
        self.far = far.into();
        // Sorted keys are a heap.
        (self.of_links, self.of_others) = (Heap::new(), Heap::new());
        (self.front, self.stale) = (NONE, 0);
        keys.into_iter().for_each(|key| self.push(key));
        true
    }

    /// Puts a key into its heap.
    #[inline]
    fn push(&mut self, key: u64) {
        let heap = if self.source(key) < self.links { &mut self.of_links } else { &mut self.of_others };
        if rarely(heap.is_full()) {
            self.push_into_new_group(key);
        } else {
            heap.push(key);
        }
    }

    /// The memory grows. Only now does it matter how much of it is for nothing.
    #[cold]
    fn push_into_new_group(&mut self, key: u64) {
        // It may be one of them itself, and an entry that was stale may be the event again.
        if self.remove_stale() && (!self.is_live(key) || self.live_keys().any(|other| other == key)) {
            return;
        }
        let heap = if self.source(key) < self.links { &mut self.of_links } else { &mut self.of_others };
        if heap.is_full() {
            heap.groups.push(Group([NONE; ARITY]));
        }
        heap.push(key);
    }
}

impl Heap {
    fn new() -> Self {
        Self { groups: vec![Group([NONE; ARITY])], count: 0, taken: false }
    }

    /// Entries that have not been taken out.
    const fn len(&self) -> usize {
        self.count - self.taken as usize
    }

    /// The first key, or what the last event taken out has left there.
    #[inline]
    fn root(&self) -> u64 {
        self.groups[ROOT / ARITY].0[ROOT % ARITY]
    }

    /// Whether another key needs another group.
    #[inline]
    const fn is_full(&self) -> bool {
        (ROOT + self.count) / ARITY == self.groups.len()
    }

    /// Puts a key behind all others, and lets it rise. The heap is not full.
    #[inline]
    fn push(&mut self, key: u64) {
        let mut place = ROOT + self.count;
        self.count += 1;
        let heap = self.groups.as_mut_slice();
        while place > ROOT {
            let above = place / ARITY + 2;
            let parent = heap[above / ARITY].0[above % ARITY];
            if parent <= key {
                break;
            }
            heap[place / ARITY].0[place % ARITY] = parent;
            place = above;
        }
        heap[place / ARITY].0[place % ARITY] = key;
    }

    /// Takes the last key for the root's place.
    #[inline]
    fn remove_root(&mut self) {
        self.taken = false;
        self.count -= 1;
        let last = ROOT + self.count;
        let key = std::mem::replace(&mut self.groups[last / ARITY].0[last % ARITY], NONE);
        if last > ROOT {
            self.sink(key);
        }
    }

    /// Puts a key in the root's place, and lets it sink.
    #[inline]
    fn sink(&mut self, key: u64) {
        let heap = self.groups.as_mut_slice();
        // Group and place in it of the hole, and the group of its children.
        let (mut group, mut place, mut below) = (ROOT / ARITY, ROOT % ARITY, ROOT - 2);
        while let Some(&Group(children)) = heap.get(below) {
            let (least, candidate) = least_of(children);
            if candidate >= key {
                break;
            }
            heap[group].0[place % ARITY] = candidate;
            (group, place) = (below, least);
            below = below * ARITY + least - 2;
        }
        heap[group].0[place % ARITY] = key;
    }
}

/// The first of four children and its place among them: a small tournament, which compiles to selections
/// instead of branches that nobody can predict.
#[inline]
const fn least_of([a, b, c, d]: [u64; ARITY]) -> (usize, u64) {
    let (left, left_place) = if b < a { (b, 1) } else { (a, 0) };
    let (right, right_place) = if d < c { (d, 3) } else { (c, 2) };
    if right < left { (right_place, right) } else { (left_place, left) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn events_are_due_by_their_time_and_not_before() {
        let mut schedule = Schedule::new(2, 1);
        let at = Instant::from_ps;
        schedule.set(Source(1), at(20));
        assert_eq!(schedule.take(at(0), at(19)), None);
        assert_eq!(schedule.take(at(0), at(20)), Some((at(20), Source(1))));
        assert_eq!(schedule.take(at(20), at(20)), None);
    }

    #[test]
    #[should_panic(expected = "time goes back")]
    fn an_event_in_the_past_is_a_bug() {
        let mut schedule = Schedule::new(2, 1);
        schedule.set(Source(1), Instant::from_ps(20));
        let _ = schedule.take(Instant::from_ps(21), Instant::from_ps(30));
    }

    #[test]
    fn what_is_set_to_the_end_of_time_is_no_event() {
        let mut schedule = Schedule::new(2, 1);
        schedule.set(Source(0), Instant::MAX);
        schedule.set(Source(1), Instant::from_ps(20));
        schedule.set(Source(1), Instant::MAX);
        assert_eq!((schedule.first(), schedule.len()), (None, 0));
        assert_eq!(schedule.take(Instant::ZERO, Instant::MAX), None);
    }

    /// A timer that is set anew each time, and its entries before that.
    #[test]
    fn stale_entries_do_not_fill_the_memory() {
        let mut schedule = Schedule::new(4, 2);
        let last = 100_000;
        for round in 1..=last {
            schedule.set(Source(round as u32 % 3), Instant::from_ps(u64::MAX - round));
            schedule.set(Source(3), Instant::from_ps(1_000_000 - round));
        }
        let entries = schedule.of_links.count + schedule.of_others.count + schedule.far.len();
        assert!(entries < 200, "{entries} entries for {} events", schedule.len());
        assert_eq!(
            schedule.take(Instant::ZERO, Instant::MAX),
            Some((Instant::from_ps(1_000_000 - last), Source(3)))
        );
        let rest: Vec<u64> = std::iter::from_fn(|| schedule.take(Instant::ZERO, Instant::MAX))
            .map(|(at, _)| u64::MAX - at.as_ps())
            .collect();
        assert_eq!(rest, [last, last - 1, last - 2]);
    }

    #[derive(Clone, Debug)]
    enum Step {
        /// Sets a source's event so long after now.
        Set(u32, u64),
        Clear(u32),
        /// Takes what is due within so long.
        Take(u64),
    }

    /// Soon, at once, and beyond what a key has room for.
    fn spans() -> impl Strategy<Value = u64> {
        prop_oneof![8 => 0u64..20, 2 => 0u64..1 << 40, 1 => (1u64 << 57)..(1 << 60)]
    }

    fn steps() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0u32..40, spans()).prop_map(|(source, span)| Step::Set(source, span)),
            1 => (0u32..40).prop_map(Step::Clear),
            3 => spans().prop_map(Step::Take),
        ]
    }

    proptest! {
        /// Against a sorted map as the model.
        #[test]
        fn the_first_event_is_the_least(steps in prop::collection::vec(steps(), 1..400)) {
            let mut schedule = Schedule::new(40, 25);
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            let mut now = 0;
            let event = |(at, source)| (Instant::from_ps(at), Source(source));
            for step in steps {
                match step {
                    // Eight steps of 2^60 reach the end of time.
                    Step::Set(_, span) | Step::Take(span) if now + span >= 1 << 63 => {}
                    Step::Set(source, span) => {
                        schedule.set(Source(source), Instant::from_ps(now + span));
                        model.insert(source, now + span);
                    }
                    Step::Clear(source) => {
                        schedule.clear(Source(source));
                        model.remove(&source);
                    }
                    Step::Take(span) => {
                        let until = now + span;
                        let least = model.iter().map(|(&source, &at)| (at, source)).min();
                        let least = least.filter(|&(at, _)| at <= until);
                        let taken = schedule.take(Instant::from_ps(now), Instant::from_ps(until));
                        prop_assert_eq!(taken, least.map(event));
                        now = least.map_or(until, |(at, _)| at);
                        least.map(|(_, source)| model.remove(&source));
                    }
                }
                let least = model.iter().map(|(&source, &at)| (at, source)).min();
                prop_assert_eq!(schedule.first(), least.map(event));
                prop_assert_eq!(schedule.len(), model.len());
                for source in 0..40 {
                    let due = schedule.due(Source(source)).map(Instant::as_ps);
                    prop_assert_eq!(due, model.get(&source).copied());
                }
            }
        }
    }
}
