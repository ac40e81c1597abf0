//! Changes of the network at their times: events, and measured conditions of links.

use super::addresses::Addresses;
use super::csv_table::{Row, csv_rows, number_of};
use super::flows::FlowSlices;
use super::lay::is_usable;
use super::network::{Network, number};
use super::plain::Files;
use crate::event::{Event, Profile, ProfileFormat, State};
use crate::network::{Direction, FILE, LinkSelector, Loss, Queue, with_rtt};
use crate::problem::{Place, Problems};
use crate::words::{quoted, short};
use anabranch_engine::setup::{Change, EventSetup, LinkSetup, TransportSetup};
use anabranch_units::{Instant, LinkId, NodeId, Rate, Span};
use std::collections::BTreeMap;

/// The changes of an event; what is wrong is noted.
pub(super) fn event_setups(
    event: &Event,
    at: &Place<'_>,
    network: &Network,
    problems: &mut Problems,
) -> Vec<EventSetup> {
    let time = Instant::from_ps(event.at.as_ps());
    let changes = changes(event, at, network, problems);
    changes.into_iter().map(|change| EventSetup { at: time, change }).collect()
}

/// What changes with an event that is given while a run stands still, whatever its time; what is wrong is noted.
#[must_use]
pub fn changes_of(
    event: &Event,
    at: &Place<'_>,
    network: &Network,
    (flows, transports): (FlowSlices<'_>, &[TransportSetup]),
    problems: &mut Problems,
) -> Vec<Change> {
    let changes = changes(event, at, network, problems);
    Addresses::new(network, flows, transports).check(event, at, problems);
    changes
}

/// What changes with an event, whenever it is; what is wrong is noted.
fn changes(event: &Event, at: &Place<'_>, network: &Network, problems: &mut Problems) -> Vec<Change> {
    let up = event.state == Some(State::Up);
    if let Some(node) = &event.node {
        let node = network.find(node, &at.key("node"), problems);
        return node.map(|node| Change::Node { node: NodeId(node), up }).into_iter().collect();
    }
    if event.address.is_some() {
        let mut changes = Vec::new();
        for link in address_links(event, at, network, problems) {
            let link = LinkId(link as u32);
            changes.extend(event.backup.map(|backup| Change::Backup { link, backup }));
            // Last: an address that comes up comes up with its new priority.
            changes.extend(event.state.map(|_| Change::Address { link, up }));
        }
        return changes;
    }
    let Some(ends) = &event.link else { return Vec::new() };
    let ids = network.links_between(ends, &event.selector, &at.key("link"), problems);
    let links: Vec<_> = ids.iter().map(|&link| LinkId(link as u32)).collect();
    let mut changes = Vec::new();
    if let Some(capacity) = event.capacity {
        check_capacity(capacity, &at.key("capacity"), problems);
        changes.push(Change::Capacity { links: links.clone(), capacity });
    }
    changes.extend(event.delay.map(|delay| Change::Delay { links: links.clone(), delay }));
    changes.extend(
        event.loss.as_ref().map(|Loss(loss)| Change::Loss { links: links.clone(), loss: loss.clone() }),
    );
    if let Some(queue) = &event.queue {
        changes.extend(queue_changes(&ids, queue, event.capacity, &at.key("queue"), network, problems));
    }
    // Last: a link that comes up comes up with its new capacity.
    changes.extend(event.state.map(|_| Change::Links { links, up }));
    changes
}

/// The links by which packets leave the host from the address of an event.
pub(super) fn address_links(
    event: &Event,
    at: &Place<'_>,
    network: &Network,
    problems: &mut Problems,
) -> Vec<usize> {
    let Some(ends) = &event.address else { return Vec::new() };
    let selector = LinkSelector { index: event.selector.index, direction: Direction::Forward };
    network.links_between(ends, &selector, &at.key("address"), problems)
}

fn check_capacity(capacity: Rate, at: &Place<'_>, problems: &mut Problems) {
    if !is_usable(capacity) {
        problems.add(at, format!("{} bps is not between 100 bps and 1000 Tbps", capacity.as_bps()));
    }
}

/// Changes of links to a queue, each at its capacity or at a new one; room without a size is noted.
fn queue_changes(
    links: &[usize],
    queue: &Queue,
    capacity: Option<Rate>,
    at: &Place<'_>,
    network: &Network,
    problems: &mut Problems,
) -> Vec<Change> {
    if let Some((products, text)) = queue.products() {
        let message = format!("{} needs a round-trip time here; {}", quoted(text), with_rtt(products));
        problems.add(at, message);
        return Vec::new();
    }
    let change = |&link: &usize| {
        let link_then = capacity.map(|capacity| LinkSetup { capacity, ..network.links[link].clone() });
        let rate = link_then.as_ref().unwrap_or(&network.links[link]).queue_rate();
        Change::Queue { links: vec![LinkId(link as u32)], queue: queue.setup(rate, Span::ZERO) }
    };
    links.iter().map(change).collect()
}

const PS_PER_SECOND: f64 = 1e12;
const PS_PER_MS: u64 = 1_000_000_000;
const BITS_PER_OPPORTUNITY: u128 = 1500 * 8;
const INTERVAL_PS: u64 = 100 * PS_PER_MS;
const MOST_CHANGES: usize = 1_000_000;

/// What a row of a profile gives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Measured {
    Time,
    Capacity,
    Delay,
    Loss,
}

/// What a column has, and how many of our unit one of it is: picoseconds, bits per second, a probability.
const COLUMNS: [(&str, Measured, f64); 9] = [
    ("time_s", Measured::Time, 1e12),
    ("capacity_bps", Measured::Capacity, 1.0),
    ("capacity_kbps", Measured::Capacity, 1e3),
    ("capacity_mbps", Measured::Capacity, 1e6),
    ("capacity_gbps", Measured::Capacity, 1e9),
    ("delay_us", Measured::Delay, 1e6),
    ("delay_ms", Measured::Delay, 1e9),
    ("delay_s", Measured::Delay, 1e12),
    ("loss", Measured::Loss, 1.0),
];

fn column(name: &str) -> Option<(Measured, f64)> {
    COLUMNS.iter().find(|(known, _, _)| *known == name).map(|(_, kind, unit)| (*kind, *unit))
}

/// Values from a time on.
struct Conditions {
    /// In picoseconds from the beginning of the file.
    at: u64,
    values: Vec<(Measured, f64)>,
    /// File and line, for messages.
    place: String,
}

/// The changes that the profiles of a scenario make; what is wrong with them is noted.
pub(super) fn profile_events(
    profiles: &[Profile],
    duration: Span,
    network: &Network,
    files: &dyn Files,
    problems: &mut Problems,
) -> Vec<EventSetup> {
    let mut events = Vec::new();
    for (index, profile) in profiles.iter().enumerate() {
        let told = format!("profile[{index}]");
        let at = Place::Told(&told);
        let links = network.links_between(&profile.link, &profile.selector, &at.key("link"), problems);
        let name = profile.source.strip_prefix(FILE).unwrap_or(&profile.source);
        let text = match files.text(name) {
            Ok(text) => text,
            Err(message) => {
                problems.add(&at.key("from"), message);
                continue;
            }
        };
        let before = problems.count();
        let reader = ProfileReader { profile, name, at: &at };
        let rows = reader.rows(&text, problems);
        let Some(last) = rows.last().filter(|_| problems.count() == before) else { continue };
        let usual = (profile.format == ProfileFormat::Mahimahi).then_some(last.at);
        let period = profile.repeat.map(Span::as_ps).or(usual);
        let links: Vec<_> = links.into_iter().map(|link| LinkId(link as u32)).collect();
        events.extend(reader.changes(&rows, period, duration.as_ps(), &links, problems));
    }
    events
}

struct ProfileReader<'p> {
    profile: &'p Profile,
    name: &'p str,
    at: &'p Place<'p>,
}

impl ProfileReader<'_> {
    /// The rows of the file, in order of time; what is wrong is noted with its line.
    fn rows(&self, text: &str, problems: &mut Problems) -> Vec<Conditions> {
        let before = problems.count();
        let mut rows = match self.profile.format {
            ProfileFormat::Csv => self.of_csv(text, problems),
            ProfileFormat::Mahimahi => return self.of_mahimahi(text, problems),
        };
        let late = rows.windows(2).position(|pair| pair[1].at <= pair[0].at);
        if let Some(late) = late {
            let row = &rows[late + 1];
            let message = format!("{} s is not after the row before", short(row.at as f64 / PS_PER_SECOND));
            problems.add_at(&row.place, message);
            rows.truncate(late + 1);
        }
        if rows.is_empty() && problems.count() == before {
            problems.add(&self.at.key("from"), format!("{} has no row", quoted(self.name)));
        }
        rows
    }

    /// An event for each value that changes, over and over where the profile begins anew.
    fn changes(
        &self,
        rows: &[Conditions],
        period: Option<u64>,
        duration: u64,
        links: &[LinkId],
        problems: &mut Problems,
    ) -> Vec<EventSetup> {
        let last = rows.last().map_or(0, |row| row.at);
        if period.is_some_and(|period| period < last) {
            let lasts = short(last as f64 / PS_PER_SECOND);
            problems.add(&self.at.key("repeat"), format!("is shorter than the file, which lasts {lasts} s"));
            return Vec::new();
        }
        let times = period.map_or(1, |period| duration.div_ceil(period.max(1))) as usize;
        let count = times.saturating_mul(rows.len()).saturating_mul(links.len());
        if count > MOST_CHANGES {
            let message =
                format!("makes {} changes; at most {} are made", number(count), number(MOST_CHANGES));
            problems.add(self.at, message);
            return Vec::new();
        }
        let mut now: BTreeMap<Measured, f64> = BTreeMap::new();
        let mut events = Vec::new();
        for time in 0..times as u64 {
            for row in rows {
                let at = time * period.unwrap_or(0) + row.at;
                if at > duration {
                    return events;
                }
                for &(kind, value) in &row.values {
                    if now.insert(kind, value).is_none_or(|before| before.to_bits() != value.to_bits()) {
                        let change = change(kind, value, links.to_vec());
                        events.push(EventSetup { at: Instant::from_ps(at), change });
                    }
                }
            }
        }
        events
    }

    /// The rows up to the first one with a mistake.
    fn of_csv(&self, text: &str, problems: &mut Problems) -> Vec<Conditions> {
        let before = problems.count();
        let mut rows = Vec::new();
        for row in csv_rows(self.name, text, &wrong_header) {
            let Some(row) = problems.note(row) else { continue };
            let mut conditions = Conditions { at: 0, values: Vec::new(), place: row.place.clone() };
            for (name, cell) in row.cells() {
                if problems.count() > before {
                    return rows;
                }
                let Some((kind, unit)) = column(name) else { continue };
                let value = measured(name, (kind, unit), cell, &row, problems);
                match kind {
                    Measured::Time => conditions.at = value.round_ties_even() as u64,
                    _ => conditions.values.push((kind, value)),
                }
            }
            if problems.count() > before {
                return rows;
            }
            rows.push(conditions);
        }
        rows
    }

    /// The capacity of each interval: its packets over its length. One without any is part of the next.
    fn of_mahimahi(&self, text: &str, problems: &mut Problems) -> Vec<Conditions> {
        let mut times: Vec<u64> = Vec::new();
        for (line, entry) in (1..).zip(text.lines()) {
            let (word, place) = (entry.trim(), format!("{}, line {line}", self.name));
            let digits = !word.is_empty() && word.len() <= 12 && word.chars().all(|c| c.is_ascii_digit());
            let Some(time) = word.parse().ok().filter(|_| digits) else {
                problems.add_at(&place, format!("{} is no whole number of milliseconds", quoted(word)));
                return Vec::new();
            };
            if let Some(last) = times.last().filter(|last| time < **last) {
                problems.add_at(&place, format!("{word} ms comes after {last} ms"));
                return Vec::new();
            }
            times.push(time);
        }
        let Some(&last) = times.last().filter(|last| **last > 0) else {
            let message = format!("{} lasts 0 ms; it has no capacity", quoted(self.name));
            problems.add(&self.at.key("from"), message);
            return Vec::new();
        };
        let end = last * PS_PER_MS;
        let step = self.profile.interval.map_or(INTERVAL_PS, Span::as_ps);
        let row = |at: u64, values| Conditions { at, values, place: self.name.to_owned() };
        let (mut rows, mut begin, mut counted, mut up_to) = (Vec::new(), 0, 0, 0);
        while up_to < end {
            up_to = (up_to + step).min(end);
            let reached = |time: &&u64| up_to == end || **time * PS_PER_MS < up_to;
            let upper = counted + times[counted..].iter().take_while(reached).count();
            if upper > counted {
                let bits = (upper - counted) as u128 * BITS_PER_OPPORTUNITY * 1_000_000_000_000;
                let bps = super::quotient(bits, (up_to - begin).into());
                rows.push(row(begin, vec![(Measured::Capacity, bps)]));
                (begin, counted) = (up_to, upper);
            }
        }
        // Where the trace begins anew.
        rows.push(row(end, Vec::new()));
        rows
    }
}

/// The value of a cell in our units; a gap, or what cannot be, is noted.
fn measured(
    name: &str,
    (kind, unit): (Measured, f64),
    cell: &str,
    row: &Row,
    problems: &mut Problems,
) -> f64 {
    let at = Place::Told(&row.place);
    if cell.is_empty() {
        problems.add(&at, format!("{name} is empty; a profile has no gaps: repeat the value that holds"));
        return 0.0;
    }
    let value = number_of(cell).map_or(-1.0, |stated| stated * unit);
    let most = match kind {
        Measured::Loss => 1.0,
        Measured::Capacity => f64::MAX,
        Measured::Time | Measured::Delay => (1u64 << 62) as f64,
    };
    if !(0.0..=most).contains(&value) {
        problems.add(&at, format!("{} is no {name}", quoted(cell)));
    } else if kind == Measured::Capacity {
        check_capacity(Rate::from_bps(value.round_ties_even() as u64), &at, problems);
    }
    value
}

fn change(kind: Measured, value: f64, links: Vec<LinkId>) -> Change {
    let rounded = value.round_ties_even() as u64;
    match kind {
        Measured::Capacity => Change::Capacity { links, capacity: Rate::from_bps(rounded) },
        Measured::Loss => Change::Loss { links, loss: Loss::with_probability(value).0 },
        Measured::Delay | Measured::Time => Change::Delay { links, delay: Span::from_ps(rounded) },
    }
}

fn wrong_header(header: &[String]) -> Option<String> {
    let mut kinds: Vec<_> = header.iter().filter_map(|name| column(name)).map(|(kind, _)| kind).collect();
    let has_time = kinds.contains(&Measured::Time);
    kinds.sort_by_key(|kind| *kind as u8);
    kinds.dedup();
    let fits = has_time && kinds.len() >= 2 && kinds.len() == header.len();
    (!fits).then(|| "is not a header with time_s and capacity_mbps, delay_ms or loss, each once".to_owned())
}
