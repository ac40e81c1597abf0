//! A hash table of what a balancer keeps for each subflow or host.

use super::mix;
use anabranch_units::{Instant, Span};

/// A table from 64-bit hashes to small values, with the time when each was last asked for. Open
/// addressing with linear probing (Knuth, "The Art of Computer Programming" 3, section 6.4, algorithm L).
/// An entry leaves when the table is made anew, which looks for room before it grows.
///
/// Nothing reads it in the order of its places.
#[derive(Clone, Debug)]
pub(super) struct Entries<V> {
    slots: Vec<Slot<V>>,
    used: usize,
    idle_timeout: Option<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Slot<V> {
    /// [`EMPTY`] where there is none.
    key: u64,
    last: Instant,
    value: V,
}

const EMPTY: u64 = 0;
const FIRST_SIZE: usize = 16;

impl<V: Copy + Default> Entries<V> {
    /// An empty table. An entry that nobody asks for during `idle_timeout` counts as absent.
    pub(super) const fn new(idle_timeout: Option<Span>) -> Self {
        Self { slots: Vec::new(), used: 0, idle_timeout }
    }

    /// The value of a key, which is in use again.
    #[inline]
    pub(super) fn touch(&mut self, now: Instant, key: u64) -> Option<&mut V> {
        let key = stored(key);
        let timeout = self.idle_timeout;
        let place = self.place(key)?;
        let slot = &mut self.slots[place];
        if slot.key == EMPTY || is_idle(slot.last, now, timeout) {
            return None;
        }
        slot.last = now;
        Some(&mut slot.value)
    }

    /// Stores the value of a key, which is in use.
    pub(super) fn insert(&mut self, now: Instant, key: u64, value: V) {
        // Three quarters full at most: a search for what is not there then takes 8.5 probes on average (Knuth).
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            self.make_room(now);
        }
        self.put(Slot { key: stored(key), last: now, value });
    }

    /// Entries, idle ones that have not been cleared away included.
    pub(super) const fn len(&self) -> usize {
        self.used
    }

    /// Memory, free places included.
    pub(super) const fn bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot<V>>()
    }

    fn put(&mut self, slot: Slot<V>) {
        let place = self.place(slot.key).expect("a table with room has a place for every key");
        self.used += usize::from(self.slots[place].key == EMPTY);
        self.slots[place] = slot;
    }

    /// Where a key is, or the free place where it would be; `None` in a table without places.
    #[inline]
    fn place(&self, key: u64) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut place = mix(key) as usize & mask;
        while self.slots[place].key != key && self.slots[place].key != EMPTY {
            place = (place + 1) & mask;
        }
        Some(place)
    }

    /// Leaves out what is idle, and doubles the table if it is more than half full all the same.
    fn make_room(&mut self, now: Instant) {
        let timeout = self.idle_timeout;
        let old = std::mem::take(&mut self.slots);
        let keep = |slot: &&Slot<V>| slot.key != EMPTY && !is_idle(slot.last, now, timeout);
        let kept = old.iter().filter(keep).count();
        let size = if kept * 2 >= old.len() { old.len() * 2 } else { old.len() };
        let free = Slot { key: EMPTY, last: Instant::ZERO, value: V::default() };
        self.slots = vec![free; size.max(FIRST_SIZE)];
        self.used = 0;
        old.iter().filter(keep).for_each(|slot| self.put(*slot));
    }
}

/// A hash of zero is one: zero stands for a free place.
const fn stored(key: u64) -> u64 {
    if key == EMPTY { 1 } else { key }
}

fn is_idle(last: Instant, now: Instant, timeout: Option<Span>) -> bool {
    timeout.is_some_and(|timeout| now.saturating_since(last) > timeout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    proptest! {
        /// The same as an ordered map that is searched for idle entries at every step. Keys are few, so that
        /// they come again; zero is among them, and one is not, which it stands in for.
        #[test]
        fn it_is_a_map_with_a_timeout(
            steps in prop::collection::vec((prop_oneof![Just(0u64), 2..60u64], 0u64..20, any::<bool>()), 1..400),
            timeout_ms in prop::option::of(1u64..200),
        ) {
            let timeout = timeout_ms.map(Span::from_ms);
            let (mut entries, mut map) = (Entries::new(timeout), BTreeMap::<u64, (u64, u32)>::new());
            let mut now = 0;
            for (step, (key, wait, insert)) in steps.into_iter().enumerate() {
                now += wait;
                map.retain(|_, (last, _)| timeout_ms.is_none_or(|timeout| now - *last <= timeout));
                if insert {
                    entries.insert(at(now), key, step as u32);
                    map.insert(key, (now, step as u32));
                } else {
                    let expected = map.get_mut(&key).map(|(last, value)| {
                        *last = now;
                        *value
                    });
                    prop_assert_eq!(entries.touch(at(now), key).copied(), expected);
                }
                prop_assert!(entries.len() >= map.len());
            }
        }
    }

    /// With a timeout the table stays as large as what is in use at a time needs: of 100,000 keys, one each
    /// millisecond, 101 are in use, for which 256 places are enough.
    #[test]
    fn idle_entries_make_room() {
        let mut entries = Entries::new(Some(Span::from_ms(100)));
        (0..100_000).for_each(|key| entries.insert(at(key), key, 0u32));
        assert!(entries.bytes() <= 256 * size_of::<Slot<u32>>(), "{}", entries.bytes());
        assert!(entries.touch(at(99_999), 99_900).is_some() && entries.touch(at(99_999), 99_898).is_none());
    }
}
