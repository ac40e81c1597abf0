//! All links with their settings: the more special place wins.

use super::network::Network;
use super::plain::{PlainLink, PlainNetwork};
use super::weights::LinkWeights;
use crate::network::{Delay, DelayClass, Direction, LinkOverride, LinkSettings, Network as NetworkTable};
use crate::problem::{Place, Problems};
use crate::variate::{Drawn, Uniform};
use crate::words::quoted;
use anabranch_units::{Rate, Span};

/// The table whose settings hold for all links.
pub(super) const LINKS: &str = "network.links";

/// What is set of one direction of a link.
#[derive(Clone, Default, Debug)]
pub(super) struct Settings {
    /// By the scenario, or by a topology whose values are sound.
    pub said: LinkSettings,
    /// Of the topology, which may be any number.
    pub plain_loss: Option<f64>,
    /// Of the topology, which may be any number.
    pub plain_weight: Option<f64>,
    /// By field of [`PLACED`], what set it: 0 for the wire's place, [`ACCESS`], or an entry of `network.link` from
    /// [`FIRST_ENTRY`] on.
    set_by: [u32; PLACED.len()],
}

/// What set a field, in [`Settings`]: `network.access`, and the first entry of `network.link`.
const ACCESS: u32 = 1;
const FIRST_ENTRY: u32 = 2;
/// A field, and whether settings have it.
type Placed = (&'static str, fn(&LinkSettings) -> bool);
/// Fields whose place messages name.
const PLACED: [Placed; 5] = [
    ("capacity", |settings| settings.capacity.is_some()),
    ("queue", |settings| settings.queue.is_some()),
    ("shaper", |settings| settings.shaper.is_some()),
    ("policer", |settings| settings.policer.is_some()),
    ("reorder", |settings| settings.reorder.is_some()),
];

/// A link of the topology, or one that the scenario adds.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    /// Ends and length.
    pub link: PlainLink,
    /// From `a` to `b`, and back.
    pub ways: [Settings; 2],
    /// Where its settings stand, for messages.
    pub place: &'static str,
}

impl Settings {
    pub(super) fn of(said: LinkSettings) -> Self {
        Self { said, ..Self::default() }
    }

    /// Notes what set these fields.
    fn note(&mut self, by: u32, settings: &LinkSettings) {
        for (set_by, (_, is_set)) in self.set_by.iter_mut().zip(PLACED) {
            if is_set(settings) {
                *set_by = by;
            }
        }
    }

    /// Where a field of [`PLACED`] stands, for messages.
    pub(super) fn place(&self, wire: &Wire, field: &str) -> String {
        let number = PLACED.iter().position(|(name, _)| *name == field);
        match number.map_or(0, |number| self.set_by[number]) {
            0 => format!("{}.{field}", wire.place),
            ACCESS => format!("network.access.{field}"),
            entry => format!("network.link[{}].{field}", entry - FIRST_ENTRY),
        }
    }

    /// Settings of an entry of `network.link`.
    fn lay_over_entry(&mut self, number: usize, special: &LinkSettings) {
        self.note(FIRST_ENTRY + number as u32, special);
        self.lay_over(special);
    }

    /// Settings of a more special place.
    fn lay_over(&mut self, special: &LinkSettings) {
        self.said = special.over(&self.said);
        if special.loss.is_some() {
            self.plain_loss = None;
        }
        if special.weight.is_some() {
            self.plain_weight = None;
        }
    }

    /// What a topology says of a link, above or below what the scenario says of all links.
    fn of_topology(link: &PlainLink, common: LinkSettings, is_above: bool) -> Self {
        let of_link = LinkSettings {
            capacity: link.capacity_bps.map(Rate::from_bps),
            delay: link.delay_ps.map(|ps| Delay::Drawn(Drawn::Fixed(Span::from_ps(ps)))),
            ..LinkSettings::default()
        };
        let mut said = if is_above { of_link.over(&common) } else { common.over(&of_link) };
        let plain_loss = link.loss.filter(|_| is_above || common.loss.is_none());
        let plain_weight = link.weight.filter(|_| is_above || common.weight.is_none());
        if plain_loss.is_some() {
            said.loss = None;
        }
        if plain_weight.is_some() {
            said.weight = None;
        }
        Self { said, plain_loss, plain_weight, ..Self::default() }
    }

    fn with_weight(mut self, weight: Option<u32>) -> Self {
        self.lay_over(&LinkSettings { weight, ..LinkSettings::default() });
        self
    }
}

/// Every link with its settings.
///
/// The more special place wins: `network.link`, then weights from a file, then the parameters of a generator, then
/// `network.access` and `network.delay_class`, then `network.links`, then what a topology from elsewhere says.
pub(super) fn wires(
    plain: &PlainNetwork,
    table: &NetworkTable,
    network: &Network,
    weights: &mut LinkWeights,
    problems: &mut Problems,
) -> Vec<Wire> {
    let has_hosts = (0..network.node_count()).any(|node| network.is_host(node as u32));
    if table.access != LinkSettings::default() && !has_hosts {
        let message =
            format!("{} marks no hosts, so that no link is at one; use network.links", network.label);
        problems.add_at("network.access", message);
    }
    let mut wires = Vec::new();
    for link in &plain.links {
        let ends = ends(network, link);
        let mut settings = Settings::of_topology(link, common(table, network, ends), plain.is_generated);
        if at_host(network, ends) {
            settings.note(ACCESS, &table.access);
        }
        if table.delay_class.is_some()
            && plain.is_generated
            && link.delay_ps.is_some()
            && !at_host(network, ends)
        {
            let message = format!(
                "the parameters of {} give the links between its nodes a delay; leave out one of the two",
                network.label
            );
            problems.add_at("network.delay_class", message);
        }
        wires.push(wire(link.clone(), settings, ends, weights));
    }
    for (number, entry) in table.link.iter().enumerate() {
        apply(&mut wires, table, network, weights, (number, entry), problems);
    }
    wires
}

fn wire(link: PlainLink, settings: Settings, ends: (u32, u32), weights: &mut LinkWeights) -> Wire {
    let forth = settings.clone().with_weight(weights.next(ends.0, ends.1));
    let back = if link.is_directed { settings } else { settings.with_weight(weights.next(ends.1, ends.0)) };
    Wire { link, ways: [forth, back], place: LINKS }
}

/// The ids of a link's ends, which the topology or the scenario has checked.
fn ends(network: &Network, link: &PlainLink) -> (u32, u32) {
    let id = |name: &str| network.id(name).expect("ends of links are nodes");
    (id(&link.a), id(&link.b))
}

fn at_host(network: &Network, ends: (u32, u32)) -> bool {
    network.is_host(ends.0) || network.is_host(ends.1)
}

/// What a link has by its kind: that of all links, and that of links at hosts or between others.
fn common(table: &NetworkTable, network: &Network, ends: (u32, u32)) -> LinkSettings {
    if at_host(network, ends) {
        return table.access.over(&table.links);
    }
    let mut common = table.links.clone();
    let between = |low: u64, high: u64| {
        Drawn::Uniform(Uniform {
            low: Some(Span::from_us(low)),
            high: Some(Span::from_us(high)),
            mean: None,
            standard_deviation: None,
        })
    };
    match table.delay_class {
        None => {}
        Some(DelayClass::Lan) => common.delay = Some(Delay::Drawn(between(1, 10))),
        Some(DelayClass::Wan) => common.delay = Some(Delay::Drawn(between(1_000, 10_000))),
    }
    common
}

/// An entry of `network.link`: one more link, or other settings of those that it means.
fn apply(
    wires: &mut Vec<Wire>,
    table: &NetworkTable,
    network: &Network,
    weights: &mut LinkWeights,
    (number, entry): (usize, &LinkOverride),
    problems: &mut Problems,
) {
    let between = format!("network.link[{number}].between");
    let place = Place::Told(&between);
    let nodes: Vec<_> =
        (0..2).map(|end| network.find(&entry.between[end], &place.entry(end), problems)).collect();
    let [Some(a), Some(b)] = nodes[..] else { return };
    if a == b {
        problems.add(&place, format!("both names mean the node {}", quoted(network.name(a))));
        return;
    }
    if !entry.new {
        override_settings(wires, network, (a, b), (number, entry), &place, problems);
        return;
    }
    let is_directed = entry.selector.direction != Direction::Both;
    let (first, second) = if entry.selector.direction == Direction::Backward { (b, a) } else { (a, b) };
    let link = PlainLink {
        a: network.name(first).to_owned(),
        b: network.name(second).to_owned(),
        is_directed,
        ..PlainLink::default()
    };
    let mut settings = Settings::of(common(table, network, (first, second)));
    if at_host(network, (first, second)) {
        settings.note(ACCESS, &table.access);
    }
    let mut wire = wire(link, settings, (first, second), weights);
    wire.ways.iter_mut().for_each(|direction| direction.lay_over_entry(number, &entry.settings));
    wires.push(wire);
}

/// Changes the settings of the links that an entry means.
fn override_settings(
    wires: &mut [Wire],
    network: &Network,
    (a, b): (u32, u32),
    (number, entry): (usize, &LinkOverride),
    place: &Place<'_>,
    problems: &mut Problems,
) {
    let index = entry.selector.index.map(|index| index as usize);
    let (mut forward, mut backward, mut changed) = (0, 0, 0);
    let (forward_meant, backward_meant) = match entry.selector.direction {
        Direction::Both => (true, true),
        Direction::Forward => (true, false),
        Direction::Backward => (false, true),
    };
    for wire in wires {
        let ends = ends(network, &wire.link);
        let ways = if wire.link.is_directed { 1 } else { 2 };
        for (side, settings) in [ends, (ends.1, ends.0)].into_iter().zip(&mut wire.ways).take(ways) {
            let (count, is_meant) = if side == (a, b) {
                (&mut forward, forward_meant)
            } else if side == (b, a) {
                (&mut backward, backward_meant)
            } else {
                continue;
            };
            *count += 1;
            if is_meant && index.is_none_or(|index| index == *count) {
                settings.lay_over_entry(number, &entry.settings);
                changed += 1;
            }
        }
    }
    if changed > 0 {
        return;
    }
    let names = format!("{} and {}", quoted(network.name(a)), quoted(network.name(b)));
    let label = &network.label;
    let message = match (forward.max(backward), index) {
        (0, _) => format!("no link between {names} in {label}; to add one, write new = true"),
        (there, Some(index)) => format!("no link {index} between {names}; {label} has {there}"),
        (_, None) => format!("no link between {names} in that direction in {label}"),
    };
    problems.add(place, message);
}
