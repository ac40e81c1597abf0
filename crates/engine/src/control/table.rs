//! A switch's flow table: match, action, priority, time-outs, a bound on its size.

use super::{Header, Ingress};
use crate::packet::Direction;
use crate::setup::{FlowTableSetup, WhenFull};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Which packets an entry matches, by flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segments {
    /// All.
    Any,
    /// Those with SYN or FIN.
    SynOrFin,
}

/// What an entry does with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send it over a link.
    Output(LinkId),
    /// Hand it to the controller.
    Controller,
    /// Send it over a link, and tell the controller.
    OutputAndTell(LinkId),
    /// Send it over a link, with an advertised window of at most so many bytes.
    OutputClamped(LinkId, u64),
}

/// An entry as the controller gives it: match, priority, action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Flow that is matched.
    pub flow: FlowId,
    /// Way that is matched.
    pub direction: Direction,
    /// Segments that are matched.
    pub segments: Segments,
    /// Where matched packets come from; `None` for anywhere.
    pub ingress: Option<Ingress>,
    /// Of several entries that match, the one with the highest priority counts.
    pub priority: u16,
    /// What is done.
    pub action: Action,
}

impl Rule {
    /// An entry that sends all packets of a flow and way over a link.
    #[must_use]
    pub const fn output(flow: FlowId, direction: Direction, link: LinkId) -> Self {
        let action = Action::Output(link);
        Self { flow, direction, segments: Segments::Any, ingress: None, priority: 1, action }
    }

    /// An entry for SYN and FIN of a flow as they come from its sender.
    #[must_use]
    pub const fn ends(flow: FlowId, action: Action) -> Self {
        Self {
            flow,
            direction: Direction::Forward,
            segments: Segments::SynOrFin,
            ingress: Some(Ingress::Host),
            priority: 2,
            action,
        }
    }

    fn matches(&self, header: &Header, ingress: Ingress) -> bool {
        let flags = match self.segments {
            Segments::Any => true,
            Segments::SynOrFin => header.syn || header.fin,
        };
        flags && self.ingress.is_none_or(|wanted| wanted == ingress)
    }

    fn same_match(&self, other: &Self) -> bool {
        let key = |rule: &Self| (rule.segments, rule.ingress, rule.priority);
        key(self) == key(other)
    }
}

/// Why an entry is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Nothing matched it for its idle time-out.
    Idle,
    /// Its hard time-out is over.
    Hard,
    /// A new entry needed its place.
    Evicted,
}

/// An entry that is gone without the controller having said so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Removal {
    /// Where.
    pub switch: NodeId,
    /// Whose it was.
    pub flow: FlowId,
    /// Which way.
    pub direction: Direction,
    /// Why.
    pub reason: Reason,
}

/// What a table has seen.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct TableStats {
    /// Packets that an entry matched.
    pub hits: u64,
    /// Packets that no entry matched.
    pub misses: u64,
    /// Most entries at once.
    pub most_entries: u64,
    /// Entries that were refused for want of room.
    pub refused: u64,
    /// Entries that went idle.
    pub expired_idle: u64,
    /// Entries whose hard time-out was over.
    pub expired_hard: u64,
    /// Entries that others took the place of.
    pub evicted: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    rule: Rule,
    made: Instant,
    used: Instant,
    /// Shift of the receiver's window, read off the SYN-ACK that passed (RFC 7323 section 2.2).
    window_scale: u8,
}

type Key = (FlowId, bool);

/// A flow table. It is given the time.
#[derive(Debug)]
pub struct FlowTable {
    switch: NodeId,
    setup: FlowTableSetup,
    /// Entries by flow and way, the highest priority first.
    entries: BTreeMap<Key, Vec<Entry>>,
    count: u64,
    /// When to look at an entry next: at its time-out, if nothing has matched it since.
    due: BTreeSet<(Instant, Key)>,
    stats: TableStats,
}

/// When a packet last matched an entry of a flow and way. Its entries go idle together: the one for SYN and
/// FIN would otherwise do so in the middle of every flow.
fn last_used(entries: &[Entry]) -> Instant {
    entries.iter().map(|entry| entry.used).max().unwrap_or(Instant::ZERO)
}

const fn key(flow: FlowId, direction: Direction) -> Key {
    (flow, matches!(direction, Direction::Backward))
}

const fn direction(key: Key) -> Direction {
    if key.1 { Direction::Backward } else { Direction::Forward }
}

impl FlowTable {
    /// An empty table.
    #[must_use]
    pub fn new(switch: NodeId, setup: FlowTableSetup) -> Self {
        Self {
            switch,
            setup,
            entries: BTreeMap::new(),
            count: 0,
            due: BTreeSet::new(),
            stats: TableStats::default(),
        }
    }

    /// What it has seen.
    #[must_use]
    pub const fn stats(&self) -> &TableStats {
        &self.stats
    }

    /// Entries in it.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Whether it has no entry.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The action for a packet, and the window scale that its entry has seen; `None` is a table miss.
    pub fn look_up(&mut self, now: Instant, header: &Header, ingress: Ingress) -> Option<(Action, u8)> {
        let hard = self.setup.hard_timeout;
        let entries = self.entries.get_mut(&key(header.flow, header.direction));
        let entries = entries.filter(|entries| {
            let idle = now.saturating_since(last_used(entries));
            self.setup.idle_timeout.is_none_or(|timeout| idle < timeout)
        });
        let alive = |entry: &Entry| hard.is_none_or(|timeout| now.saturating_since(entry.made) < timeout);
        let found = entries
            .and_then(|entries| entries.iter_mut().find(|e| alive(e) && e.rule.matches(header, ingress)));
        let Some(entry) = found else {
            self.stats.misses += 1;
            return None;
        };
        entry.used = now;
        self.stats.hits += 1;
        Some((entry.rule.action, entry.window_scale))
    }

    /// Notes the window scale that a SYN-ACK has announced.
    pub fn note_window_scale(&mut self, header: &Header, scale: u8) {
        for entry in self.entries.get_mut(&key(header.flow, header.direction)).into_iter().flatten() {
            entry.window_scale = scale;
        }
    }

    /// Adds an entry, or replaces the one with the same match. `Err` where there is no room; entries that
    /// had to go are appended to `removed`.
    pub fn insert(&mut self, now: Instant, rule: Rule, removed: &mut Vec<Removal>) -> Result<(), TableFull> {
        let key = key(rule.flow, rule.direction);
        if let Some(entry) = self
            .entries
            .get_mut(&key)
            .and_then(|entries| entries.iter_mut().find(|entry| entry.rule.same_match(&rule)))
        {
            let window_scale = entry.window_scale;
            *entry = Entry { rule, made: now, used: now, window_scale };
            self.watch(now, key);
            return Ok(());
        }
        if self.setup.size.is_some_and(|size| self.count >= size) {
            match self.setup.when_full {
                WhenFull::Evict if self.count > 0 => self.evict(removed),
                _ => {
                    self.stats.refused += 1;
                    return Err(TableFull);
                }
            }
        }
        let entries = self.entries.entry(key).or_default();
        let place = entries.partition_point(|entry| entry.rule.priority >= rule.priority);
        let window_scale = entries.first().map_or(0, |entry| entry.window_scale);
        entries.insert(place, Entry { rule, made: now, used: now, window_scale });
        self.count += 1;
        self.stats.most_entries = self.stats.most_entries.max(self.count);
        self.watch(now, key);
        Ok(())
    }

    /// Removes all entries of a flow.
    pub fn remove(&mut self, flow: FlowId) {
        for backward in [false, true] {
            if let Some(entries) = self.entries.remove(&(flow, backward)) {
                self.count -= entries.len() as u64;
            }
        }
    }

    /// When [`FlowTable::expire`] wants to be called.
    #[must_use]
    pub fn next_expiry(&self) -> Option<Instant> {
        self.due.first().map(|entry| entry.0)
    }

    /// Removes entries whose time is over; they are appended to `removed`.
    pub fn expire(&mut self, now: Instant, removed: &mut Vec<Removal>) {
        while let Some(&(at, key)) = self.due.first() {
            if at > now {
                break;
            }
            self.due.pop_first();
            let Some(entries) = self.entries.get_mut(&key) else { continue };
            let (switch, setup, stats) = (self.switch, &self.setup, &mut self.stats);
            let (before, used) = (entries.len(), last_used(entries));
            entries.retain(|entry| {
                let over = |since: Instant, timeout: Option<Span>| {
                    timeout.is_some_and(|timeout| now.saturating_since(since) >= timeout)
                };
                let reason = if over(entry.made, setup.hard_timeout) {
                    stats.expired_hard += 1;
                    Reason::Hard
                } else if over(used, setup.idle_timeout) {
                    stats.expired_idle += 1;
                    Reason::Idle
                } else {
                    return true;
                };
                removed.push(Removal { switch, flow: key.0, direction: direction(key), reason });
                false
            });
            self.count -= (before - entries.len()) as u64;
            if entries.is_empty() {
                self.entries.remove(&key);
            } else {
                self.watch(now, key);
            }
        }
    }

    /// Looks at a flow's entries again when the first of them may be over.
    fn watch(&mut self, now: Instant, key: Key) {
        let (idle, hard) = (self.setup.idle_timeout, self.setup.hard_timeout);
        let Some(entries) = self.entries.get(&key) else { return };
        let after = |since: Instant, timeout: Option<Span>| timeout.map(|t| since.saturating_add(t));
        let over = entries.iter().filter_map(|entry| after(entry.made, hard));
        let next = over.chain(after(last_used(entries), idle)).min();
        if let Some(next) = next {
            self.due.insert((next.max(now), key));
        }
    }

    /// Removes the entry that has been idle longest; of several, that of the lowest flow number.
    fn evict(&mut self, removed: &mut Vec<Removal>) {
        let all = self.entries.iter().flat_map(|(&key, list)| list.iter().enumerate().map(move |e| (key, e)));
        let oldest = all.min_by_key(|(key, (place, entry))| (entry.used, *key, *place));
        let Some((key, (place, _))) = oldest else { return };
        let Some(entries) = self.entries.get_mut(&key) else { return };
        entries.remove(place);
        if entries.is_empty() {
            self.entries.remove(&key);
        }
        self.count -= 1;
        self.stats.evicted += 1;
        let (switch, reason) = (self.switch, Reason::Evicted);
        removed.push(Removal { switch, flow: key.0, direction: direction(key), reason });
    }
}

/// A table has no room for another entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableFull;
