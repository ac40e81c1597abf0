//! A switch's flow table: match, action, priority, time-outs, a bound on its size.

use super::{Header, Ingress};
use crate::packet::Direction;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use std::collections::{BTreeMap, BTreeSet};

anabranch_units::leaf! {
    /// Flow tables of the switches.
    #[derive(Copy, Eq)]
    pub struct FlowTableSetup: "flow_table" {
        /// Most entries; `None` for no bound.
        pub size: Option<u64>,
        /// What a switch does with a new entry when its table is full.
        pub when_full: WhenFull,
        /// An entry that nothing has matched for so long is removed (OpenFlow 1.3 section 5.5); `None`: never.
        pub idle_timeout: Option<Span>,
        /// An entry is removed so long after it was made (OpenFlow 1.3 section 5.5); `None`: never.
        pub hard_timeout: Option<Span>,
    }
}

anabranch_units::choice! {
    /// What a switch does with a new entry when its table is full.
    pub enum WhenFull {
        /// It refuses the entry and says so (OpenFlow 1.3 section 6.4, "table full").
        "refuse" => Refuse,
        /// It removes the entry that has been idle longest (OpenFlow 1.4 section 5.5, eviction).
        "evict" => Evict,
    }
}

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
    /// When it went.
    pub at: Instant,
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
}

/// The entries of a flow and way, the highest priority first. They go idle together: the one for SYN and FIN
/// would otherwise do so in the middle of every flow.
#[derive(Clone, Debug)]
struct Group {
    entries: Vec<Entry>,
    /// When a packet last matched one of them, or one of them was made.
    used: Instant,
}

type Key = (FlowId, bool);

/// A flow table. It is given the time.
#[derive(Debug)]
pub struct FlowTable {
    switch: NodeId,
    setup: FlowTableSetup,
    groups: BTreeMap<Key, Group>,
    count: u64,
    /// When to look at an entry next: at its time-out, if nothing has matched it since.
    due: BTreeSet<(Instant, Key)>,
    /// By flow and way, its place in `due`: one each, however often its entries are made anew.
    watched: BTreeMap<Key, Instant>,
    /// By flow and way, the shift of the receiver's window, read off the SYN-ACK that passed (RFC 7323 section
    /// 2.2): the switch has seen the handshake once, and entries come and go. Kept until the controller removes
    /// the flow.
    window_scales: BTreeMap<Key, u8>,
    stats: TableStats,
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
            groups: BTreeMap::new(),
            count: 0,
            due: BTreeSet::new(),
            watched: BTreeMap::new(),
            window_scales: BTreeMap::new(),
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

    /// The action for a packet; `None` is a table miss.
    pub fn look_up(&mut self, now: Instant, header: &Header, ingress: Ingress) -> Option<Action> {
        let hard = self.setup.hard_timeout;
        let group = self.groups.get_mut(&key(header.flow, header.direction));
        let group = group.filter(|group| {
            let idle = now.saturating_since(group.used);
            self.setup.idle_timeout.is_none_or(|timeout| idle < timeout)
        });
        let alive = |entry: &Entry| hard.is_none_or(|timeout| now.saturating_since(entry.made) < timeout);
        let chosen_group = group.and_then(|group| {
            let entry = group.entries.iter().find(|e| alive(e) && e.rule.matches(header, ingress))?;
            group.used = now;
            Some(entry.rule.action)
        });
        match chosen_group {
            Some(_) => self.stats.hits += 1,
            None => self.stats.misses += 1,
        }
        chosen_group
    }

    /// Notes the window scale that a SYN-ACK has announced.
    pub fn note_window_scale(&mut self, header: &Header, scale: u8) {
        self.window_scales.insert(key(header.flow, header.direction), scale);
    }

    /// The window scale of a flow and way, if its SYN-ACK has passed here.
    #[must_use]
    pub fn window_scale(&self, header: &Header) -> Option<u8> {
        self.window_scales.get(&key(header.flow, header.direction)).copied()
    }

    /// Adds the entries of a message, or replaces those with the same match. All or none of them: with a part
    /// of its entries, a flow's FIN could pass a switch that was to tell the controller of it (a bundle, OpenFlow
    /// 1.4 section 6.9). `Err` where there is no room; entries that had to go are appended to `removed`.
    pub fn insert(
        &mut self,
        now: Instant,
        rules: &[Rule],
        removed: &mut Vec<Removal>,
    ) -> Result<(), TableFull> {
        self.make_room(now, rules, removed)?;
        for &rule in rules {
            let key = key(rule.flow, rule.direction);
            let group = self.groups.entry(key).or_insert(Group { entries: Vec::new(), used: now });
            group.used = now;
            let (entries, fresh) = (&mut group.entries, Entry { rule, made: now });
            match entries.iter_mut().find(|entry| entry.rule.same_match(&rule)) {
                Some(entry) => *entry = fresh,
                None => {
                    let place = entries.partition_point(|entry| entry.rule.priority >= rule.priority);
                    entries.insert(place, fresh);
                    self.count += 1;
                }
            }
            self.watch(now, key);
        }
        self.stats.most_entries = self.stats.most_entries.max(self.count);
        Ok(())
    }

    fn make_room(
        &mut self,
        now: Instant,
        rules: &[Rule],
        removed: &mut Vec<Removal>,
    ) -> Result<(), TableFull> {
        let Some(size) = self.setup.size else { return Ok(()) };
        let fresh = rules.iter().enumerate().filter(|&(place, rule)| {
            let group = self.groups.get(&key(rule.flow, rule.direction));
            let there = group.into_iter().flat_map(|group| &group.entries).map(|entry| &entry.rule);
            let mut old = there.chain(&rules[..place]);
            !old.any(|old| old.flow == rule.flow && old.direction == rule.direction && old.same_match(rule))
        });
        let fresh = fresh.count() as u64;
        let mine: BTreeSet<Key> = rules.iter().map(|rule| key(rule.flow, rule.direction)).collect();
        let kept = mine.iter().filter_map(|key| self.groups.get(key));
        let kept: u64 = kept.map(|group| group.entries.len() as u64).sum();
        let least = match self.setup.when_full {
            WhenFull::Refuse => self.count,
            WhenFull::Evict => kept,
        };
        if least + fresh > size {
            self.stats.refused += fresh;
            return Err(TableFull);
        }
        while self.count + fresh > size {
            self.evict(now, &mine, removed);
        }
        Ok(())
    }

    /// Removes all entries of a flow.
    pub fn remove(&mut self, flow: FlowId) {
        for backward in [false, true] {
            self.window_scales.remove(&(flow, backward));
            self.unwatch((flow, backward));
            if let Some(group) = self.groups.remove(&(flow, backward)) {
                self.count -= group.entries.len() as u64;
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
            self.watched.remove(&key);
            let Some(Group { entries, used }) = self.groups.get_mut(&key) else { continue };
            let (switch, setup, stats) = (self.switch, &self.setup, &mut self.stats);
            let (before, used) = (entries.len(), *used);
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
                removed.push(Removal { switch, at: now, flow: key.0, direction: direction(key), reason });
                false
            });
            self.count -= (before - entries.len()) as u64;
            if entries.is_empty() {
                self.groups.remove(&key);
            } else {
                self.watch(now, key);
            }
        }
    }

    /// Looks at a flow's entries again when the first of them may be over.
    fn watch(&mut self, now: Instant, key: Key) {
        let (idle, hard) = (self.setup.idle_timeout, self.setup.hard_timeout);
        let Some(group) = self.groups.get(&key) else { return };
        let after = |since: Instant, timeout: Option<Span>| timeout.map(|t| since.saturating_add(t));
        let over = group.entries.iter().filter_map(|entry| after(entry.made, hard));
        let next = over.chain(after(group.used, idle)).min();
        let Some(next) = next.map(|next| next.max(now)) else { return };
        match self.watched.get(&key) {
            Some(&at) if at <= next => return,
            Some(&at) => self.due.remove(&(at, key)),
            None => false,
        };
        self.watched.insert(key, next);
        self.due.insert((next, key));
    }

    fn unwatch(&mut self, key: Key) {
        if let Some(at) = self.watched.remove(&key) {
            self.due.remove(&(at, key));
        }
    }

    /// Removes an entry of the flow and way that has been idle longest, other than those of `mine`; of several,
    /// the lowest number. Its entry of the lowest priority goes first: without the one for SYN and FIN, which
    /// matches next to nothing, the flow's end would pass unnoticed; without the other the next packet misses.
    fn evict(&mut self, now: Instant, mine: &BTreeSet<Key>, removed: &mut Vec<Removal>) {
        let others = self.groups.iter_mut().filter(|(key, _)| !mine.contains(key));
        let oldest = others.min_by_key(|(key, group)| (group.used, **key));
        let Some((&key, group)) = oldest else { return };
        group.entries.pop();
        if group.entries.is_empty() {
            self.groups.remove(&key);
            self.unwatch(key);
        }
        self.count -= 1;
        self.stats.evicted += 1;
        let (switch, reason) = (self.switch, Reason::Evicted);
        removed.push(Removal { switch, at: now, flow: key.0, direction: direction(key), reason });
    }
}

/// A table has no room for another entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableFull;
