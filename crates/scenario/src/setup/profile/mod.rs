//! Measured conditions of links: a file in one of several formats becomes changes at their times.

mod conditions;
mod csv;
mod delays;
mod mahimahi;
mod starlink;

use super::network::{Network, number};
use super::plain::Files;
use crate::event::{AtEnd, NO_LENGTH, Profile, ProfileClock, ProfileFormat};
use crate::network::{FILE, Loss};
use crate::problem::{Place, Problems};
use crate::words::{quoted, short};
use anabranch_engine::setup::{Change, EventSetup};
use anabranch_units::{Instant, LinkId, Rate, Span};
use conditions::{Conditions, Measured, PS_PER_SECOND, Read};
use std::collections::BTreeMap;

const MOST_CHANGES: usize = 1_000_000;
/// Lines by which a format is recognised.
const LOOKED_AT: usize = 20;

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
        let place = format!("profile[{index}]");
        let at = Place::Told(&place);
        let links = network.links_between(&profile.link, &profile.selector, &at.key("link"), problems);
        let name = profile.source.strip_prefix(FILE).unwrap_or(&profile.source);
        let text = match files.text(name) {
            Ok(text) => text,
            Err(message) => {
                problems.add(&at.key("from"), message);
                continue;
            }
        };
        let links: Vec<_> = links.into_iter().map(|link| LinkId(link as u32)).collect();
        let file = ProfileFile { profile, name, text: &text, at: &at };
        events.extend(file.events(&links, duration.as_ps(), problems));
    }
    events
}

/// A file with the profile that names it.
struct ProfileFile<'p> {
    profile: &'p Profile,
    name: &'p str,
    text: &'p str,
    at: &'p Place<'p>,
}

impl ProfileFile<'_> {
    fn events(&self, links: &[LinkId], duration: u64, problems: &mut Problems) -> Vec<EventSetup> {
        let before = problems.count();
        let Some(format) = self.format(problems) else { return Vec::new() };
        let Read { mut rows, length } = self.read(format, problems);
        self.take_wanted(&mut rows, problems);
        let Some(last) = rows.last().filter(|_| problems.count() == before).map(|row| row.at) else {
            return Vec::new();
        };
        if let Some(first) = rows.first().filter(|row| row.at > duration) {
            let begins = short(first.at as f64 / PS_PER_SECOND);
            let message = format!(
                "begins at {begins} s, after the end of the run; clock = \"first\" lets it begin with the run"
            );
            problems.add(&self.at.key("from"), message);
            return Vec::new();
        }
        let Some(period) = self.period(format, length, last, problems) else { return Vec::new() };
        self.changes(&rows, period, duration, links, problems)
    }

    /// The format that is named, or that the file shows; bare numbers may be either of two, which is noted.
    fn format(&self, problems: &mut Problems) -> Option<ProfileFormat> {
        if let Some(format) = self.profile.format {
            return Some(format);
        }
        if self.text.trim_start().starts_with('{') {
            return Some(ProfileFormat::Starlink);
        }
        let mut lines =
            self.text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LOOKED_AT).peekable();
        let is_bare = lines.peek().is_some() && lines.all(|line| super::csv_table::number_of(line).is_some());
        if is_bare {
            let message = format!(
                "{} has a number a line and no header; say what they are: format = \"mahimahi\" for the milliseconds \
                 at which packets may leave, format = \"delays\" with an interval for one-way delays in ms",
                quoted(self.name)
            );
            problems.add(&self.at.key("format"), message);
            return None;
        }
        Some(ProfileFormat::Csv)
    }

    /// The rows of the file, in order of time; what is wrong is noted with its line.
    fn read(&self, format: ProfileFormat, problems: &mut Problems) -> Read {
        let before = problems.count();
        let starts_first = self.profile.clock == ProfileClock::First;
        let interval = self.profile.interval.map(Span::as_ps);
        let read = match format {
            ProfileFormat::Csv => csv::read(self.name, self.text, starts_first, problems),
            ProfileFormat::Mahimahi => mahimahi::read(self.name, self.text, interval, starts_first, problems),
            ProfileFormat::Delays => delays::read(self.name, self.text, interval.unwrap_or(0), problems),
            ProfileFormat::Starlink => starlink::read(self.name, self.text, self.profile.stream, problems),
        };
        if read.rows.is_empty() && problems.count() == before {
            problems.add(&self.at.key("from"), format!("{} has no row", quoted(self.name)));
        }
        read
    }

    /// Leaves what the profile takes; a value that no row has is noted.
    fn take_wanted(&self, rows: &mut [Conditions], problems: &mut Problems) {
        let Some(wanted) = &self.profile.values else { return };
        for &value in wanted {
            let kind = Measured::from(value);
            let has_one = |row: &Conditions| row.values.iter().any(|(column, _)| *column == kind);
            if !rows.is_empty() && !rows.iter().any(has_one) {
                problems.add(&self.at.key("values"), format!("{} has no {}", quoted(self.name), kind.word()));
            }
        }
        for row in rows {
            row.values.retain(|(kind, _)| wanted.iter().any(|value| Measured::from(*value) == *kind));
        }
    }

    /// After which time the profile begins anew, if it does; nothing where that is wrong, which is noted.
    fn period(
        &self,
        format: ProfileFormat,
        length: Option<u64>,
        last: u64,
        problems: &mut Problems,
    ) -> Option<Option<u64>> {
        if let Some(repeat) = self.profile.repeat.map(Span::as_ps) {
            if repeat < last {
                let lasts = short(last as f64 / PS_PER_SECOND);
                let message = format!("is shorter than the file, which lasts {lasts} s");
                problems.add(&self.at.key("repeat"), message);
                return None;
            }
            return Some(Some(repeat));
        }
        let usual = if format == ProfileFormat::Mahimahi { AtEnd::Repeat } else { AtEnd::Hold };
        if self.profile.at_end.unwrap_or(usual) == AtEnd::Hold {
            return Some(None);
        }
        if length.is_none() {
            problems.add(&self.at.key("at_end"), NO_LENGTH);
            return None;
        }
        Some(length)
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
        let times = period.map_or(1, |period| duration.div_ceil(period.max(1))) as usize;
        // Of what begins anew all rows are played; else those until the run ends.
        let played =
            if period.is_some() { rows.len() } else { rows.partition_point(|row| row.at <= duration) };
        let count = times.saturating_mul(played).saturating_mul(links.len());
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
}

fn change(kind: Measured, value: f64, links: Vec<LinkId>) -> Change {
    let rounded = value.round_ties_even() as u64;
    match kind {
        Measured::Capacity => Change::Capacity { links, capacity: Rate::from_bps(rounded) },
        Measured::Loss => Change::Loss { links, loss: Loss::with_probability(value).0 },
        Measured::Delay | Measured::Time => Change::Delay { links, delay: Span::from_ps(rounded) },
    }
}
