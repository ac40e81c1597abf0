//! From links with settings to directed links with numbers.

use super::draws::Draws;
use super::network::{Network, and_more};
use super::wires::{LINKS, Settings, Wire};
use crate::network::{Delay, Loss, Queue, Reorder};
use crate::problem::Problems;
use crate::read::Quantity;
use crate::words::{float, quoted, short, thousands};
use anabranch_engine::setup::{LinkKinds, LinkSetup, ReorderSetup};
use anabranch_units::{NodeId, Rate, Span};
use std::collections::BTreeMap;

/// Below, one packet outlasts every run.
pub(super) const SMALLEST_CAPACITY_BPS: u64 = 100;
/// Above, the sending of a packet takes less than the clock can tell.
const LARGEST_CAPACITY_BPS: u64 = 1_000_000_000_000_000;
/// Light in fibre, in m/s.
const USUAL_SPEED: u64 = 200_000_000;

/// The queue of a link whose room is in bandwidth-delay products of the round-trip time there.
#[derive(Debug)]
pub(super) struct Unsized {
    /// Id of the link.
    pub link: usize,
    /// The queue as the scenario has it.
    pub queue: Queue,
    /// Where the scenario has it.
    pub place: String,
}

/// The token buckets of a link.
#[derive(Debug)]
pub(super) struct Buckets {
    /// Id of the link.
    pub link: usize,
    /// Where the scenario has each, if the link has it.
    pub shaper: String,
    pub policer: String,
}

/// Settings that some links lack, each once, in the order in which they were missed.
#[derive(Default)]
struct Missing(Vec<(&'static str, &'static str, Vec<String>)>);

impl Missing {
    fn note(&mut self, place: &'static str, field: &'static str, ends: String) {
        match self.0.iter_mut().find(|(at, of, _)| *at == place && *of == field) {
            Some((_, _, links)) if links.contains(&ends) => {}
            Some((_, _, links)) => links.push(ends),
            None => self.0.push((place, field, vec![ends])),
        }
    }

    fn tell(self, owner: &str, problems: &mut Problems) {
        for (place, field, links) in self.0 {
            let reason = match field {
                "capacity" => "has no capacity of its own; write one, for example \"10 Mbps\"",
                "delay" => "has neither delay nor length; write a delay, for example \"5 ms\"",
                _ => {
                    "has no weight, and routing.metric is \"weight\"; write one, for example weight = 10, or give \
                     network.weights"
                }
            };
            let others = and_more(links.len());
            let message = format!("is missing: link {}{others} of {owner} {reason}", links[0]);
            problems.add_at(&format!("{place}.{field}"), message);
        }
    }
}

/// Adds the directed links of wires to a network; what they lack is noted as missing in `owner`. The links of each group that
/// shares a risk by what the topology says.
pub(super) fn lay(
    network: &mut Network,
    wires: &[Wire],
    owner: &str,
    by_weight: bool,
    draws: Draws,
    problems: &mut Problems,
) -> BTreeMap<String, Vec<usize>> {
    let mut marked: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut layer = Layer {
        network,
        by_weight,
        draws,
        problems,
        missing: Missing::default(),
        kinds: LinkKinds::default(),
    };
    for wire in wires {
        let id = |name: &str| layer.network.id(name).expect("ends of links are nodes");
        let (a, b) = (id(&wire.link.a), id(&wire.link.b));
        // One edge, one length: the same distribution draws the same delay in both directions.
        let stream = layer.network.next_name(a, b);
        let first = layer.network.links.len();
        layer.add((a, b), wire, &wire.ways[0], &stream);
        if !wire.link.is_directed {
            layer.add((b, a), wire, &wire.ways[1], &stream);
        }
        for group in &wire.link.risk_groups {
            marked.entry(group.clone()).or_default().extend(first..layer.network.links.len());
        }
    }
    layer.missing.tell(owner, layer.problems);
    marked
}

/// Whether the engine can work with a capacity.
pub(super) fn is_usable(capacity: Rate) -> bool {
    (SMALLEST_CAPACITY_BPS..=LARGEST_CAPACITY_BPS).contains(&capacity.as_bps())
}

struct Layer<'l> {
    network: &'l mut Network,
    by_weight: bool,
    draws: Draws,
    problems: &'l mut Problems,
    missing: Missing,
    kinds: LinkKinds,
}

impl Layer<'_> {
    fn add(&mut self, (from, to): (u32, u32), wire: &Wire, settings: &Settings, stream: &str) {
        let said = &settings.said;
        let capacity = self.capacity(settings, wire);
        let queue = said.queue.as_ref();
        if let Some(queue) = queue.filter(|queue| queue.products().is_some()) {
            let place = settings.place(wire, "queue");
            let link = self.network.links.len();
            self.network.unsized_queues.push(Unsized { link, queue: queue.clone(), place });
        }
        let delay = self.delay(settings, wire, stream);
        let loss = self.loss(settings, wire);
        let mut link = LinkSetup {
            from: NodeId(from),
            to: NodeId(to),
            name: self.network.next_name(from, to).into(),
            capacity,
            delay,
            jitter: said.jitter.as_ref().map(|jitter| Box::new(jitter.0.variate())),
            loss: loss.0.into(),
            queue: Queue::default().setup(capacity, Span::ZERO).into(),
            weight: self.weight(settings, wire),
            shaper: said.shaper.as_ref().map(|shaper| Box::new(shaper.setup())),
            policer: said.policer.as_ref().map(|policer| Box::new(policer.setup())),
            reorder: self.reorder(settings, wire, delay),
            duplicate: said.duplicate.as_ref().map(|chance| Box::new(chance.setup())),
            corrupt: said.corrupt.as_ref().map(|chance| Box::new(chance.setup())),
        };
        link.queue = queue.unwrap_or(&Queue::default()).setup(link.queue_rate(), Span::ZERO).into();
        if link.shaper.is_some() || link.policer.is_some() {
            let [shaper, policer] = ["shaper", "policer"].map(|field| settings.place(wire, field));
            self.network.buckets.push(Buckets { link: self.network.links.len(), shaper, policer });
        }
        self.kinds.share(&mut link);
        self.network.add(link);
    }

    /// What overtakes; a delay that nothing can be spared is noted.
    fn reorder(&mut self, settings: &Settings, wire: &Wire, delay: Span) -> Option<Box<ReorderSetup>> {
        let Reorder { probability, correlation, gap, delay: spared } = *settings.said.reorder.as_ref()?;
        let ends = format!("{} - {}", wire.link.a, wire.link.b);
        let reorder = ReorderSetup { probability, correlation, gap, spared };
        if delay == Span::ZERO {
            let message = format!(
                "the link {ends} has no delay that a packet could be spared, so that none overtakes another; give it a \
                 delay, for example \"10 ms\""
            );
            self.problems.add_at(&settings.place(wire, "reorder"), message);
        } else if let Some(spared) = spared.filter(|&spared| spared > delay) {
            let (spared, delay) = (quoted(&spared.text()), quoted(&delay.text()));
            let message = format!(
                "{spared} is more than the delay of the link {ends}, {delay}, which is all that a packet can be spared"
            );
            self.problems.add_at(&format!("{}.delay", settings.place(wire, "reorder")), message);
        }
        Some(Box::new(reorder))
    }

    fn capacity(&mut self, settings: &Settings, wire: &Wire) -> Rate {
        let ends = || format!("{} - {}", wire.link.a, wire.link.b);
        let Some(capacity) = settings.said.capacity else {
            self.missing.note(wire.place, "capacity", ends());
            return Rate::from_bps(1);
        };
        if is_usable(capacity) {
            return capacity;
        }
        let bps = capacity.as_bps();
        let message = format!("{bps} bps on the link {} is not between 100 bps and 1000 Tbps", ends());
        self.problems.add_at(&settings.place(wire, "capacity"), message);
        Rate::from_bps(1)
    }

    fn delay(&mut self, settings: &Settings, wire: &Wire, stream: &str) -> Span {
        let (speed, plus) = match &settings.said.delay {
            Some(Delay::Drawn(drawn)) => return Span::from_ps(self.draws.one(drawn, stream, "delay")),
            Some(Delay::Distance(of)) => (of.speed.0, of.plus),
            None => (USUAL_SPEED, Span::ZERO),
        };
        let Some(km) = wire.link.length_km else {
            self.missing.note(wire.place, "delay", format!("{} - {}", wire.link.a, wire.link.b));
            return Span::ZERO;
        };
        // km and m/s: one km at one m/s takes 1e15 ps.
        Span::from_ps((km * 1e15 / speed as f64).round_ties_even() as u64).saturating_add(plus)
    }

    fn loss(&mut self, settings: &Settings, wire: &Wire) -> Loss {
        if let Some(loss) = &settings.said.loss {
            return loss.clone();
        }
        let share = settings.plain_loss.unwrap_or(0.0);
        if (0.0..1.0).contains(&share) {
            return Loss::with_probability(share);
        }
        let (a, b) = (&wire.link.a, &wire.link.b);
        let message = format!("{} on the link {a} - {b} is not at least 0 and below 1", float(share));
        self.problems.add_at("network.links.loss", message);
        Loss::with_probability(0.0)
    }

    /// The weight of a link; one that is missing, or cannot be, is noted where routes go by weights.
    fn weight(&mut self, settings: &Settings, wire: &Wire) -> Option<u32> {
        if settings.said.weight.is_some() {
            return settings.said.weight;
        }
        let whole = settings.plain_weight.filter(|weight| weight.fract() == 0.0);
        if let Some(weight) = whole.filter(|weight| (1.0..=f64::from(u32::MAX)).contains(weight)) {
            return Some(weight as u32);
        }
        if !self.by_weight || wire.place != LINKS {
            return None;
        }
        let ends = format!("{} - {}", wire.link.a, wire.link.b);
        match settings.plain_weight {
            None => self.missing.note(wire.place, "weight", ends),
            Some(weight) => {
                let message = format!(
                    "the weight of the link {ends} is {}; a weight is a whole number from 1 to {}",
                    short(weight),
                    thousands(u32::MAX)
                );
                self.problems.add_at("network.topology", message);
            }
        }
        None
    }
}
