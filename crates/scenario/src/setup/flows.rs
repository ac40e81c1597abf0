//! From traffic entries to single flows, with every random variate drawn.

use super::arrivals::{Gap, NEVER, Starts};
use super::draws::{Draws, quotient};
use super::flow_list::{Listed, with_sizes};
use super::matrix::{DemandBounds, MatrixRates, Window};
use super::network::{Network, number};
use super::pairs::{Entry, NodePairs};
use super::plain::Files;
use super::reach::Reach;
use crate::problem::{Place, Problems};
use crate::read::Quantity;
use crate::traffic::{
    Application, MOST_FLOWS, Matrix, RateApplication, RateKind, ReceiverReading, Size, Traffic,
};
use crate::words::{quoted, thousands};
use anabranch_engine::setup::{
    BlockSetup, DatagramSetup, DatagramSource, FlowSetup, ReadingSetup, SourceSetup, Variate,
};
use anabranch_units::{Instant, NodeId, Rate, Span};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const PS_PER_SECOND: f64 = 1e12;
/// Pairs without a path that are told one by one.
const TOLD: usize = 10;

/// What the flows of a run need besides the traffic and the network.
pub struct Given<'g> {
    /// How long the run is.
    pub duration: Span,
    /// The transports that there are, each with its place among those of the run and its protocol.
    pub transports: &'g BTreeMap<String, (usize, String)>,
    /// For each entry of the traffic the place of its routes.
    pub routings: &'g [usize],
    /// Bounds of the traffic, if there are some.
    pub demand: Option<&'g DemandBounds>,
    /// The draws of the run.
    pub draws: Draws,
    /// The files beside the scenario.
    pub files: &'g dyn Files,
}

/// What all flows of an entry have in common.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct EntrySetup {
    /// A flow has this name, a dot, and its number.
    pub name: String,
    /// Place of the transport.
    pub transport: usize,
    /// Place of the routes.
    pub routing: usize,
    /// What applications send; of a size only that there is one.
    pub source: SourceSetup,
    /// How receiving applications read; none: at once.
    pub reads: Option<ReadingSetup>,
}

/// All connections as columns, in the order of their ids: an entry may stand for a million of them.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct FlowColumns {
    /// The entries, some of which may stand for a pair alone.
    pub entries: Vec<EntrySetup>,
    /// Place of each flow's entry.
    pub entry: Vec<u32>,
    /// Its number in the entry.
    pub number: Vec<u32>,
    /// The node that sends data.
    pub from: Vec<u32>,
    /// The node that receives data.
    pub to: Vec<u32>,
    /// What it sends, where its entry has a size.
    pub bytes: Vec<u64>,
    /// In picoseconds.
    pub start: Vec<u64>,
    /// In picoseconds; [`NEVER`] for never.
    pub stop: Vec<u64>,
}

/// The same columns, wherever they are kept; all have the same length.
#[derive(Clone, Copy, Debug)]
pub struct FlowSlices<'c> {
    /// As in [`FlowColumns`], and so are the others.
    pub entries: &'c [EntrySetup],
    /// Place of each flow's entry.
    pub entry: &'c [u32],
    /// Its number in the entry.
    pub number: &'c [u32],
    /// The node that sends data.
    pub from: &'c [u32],
    /// The node that receives data.
    pub to: &'c [u32],
    /// What it sends, where its entry has a size.
    pub bytes: &'c [u64],
    /// In picoseconds.
    pub start: &'c [u64],
    /// In picoseconds; [`NEVER`] for never.
    pub stop: &'c [u64],
}

impl FlowColumns {
    /// The columns.
    #[must_use]
    pub fn slices(&self) -> FlowSlices<'_> {
        let Self { entries, entry, number, from, to, bytes, start, stop } = self;
        FlowSlices { entries, entry, number, from, to, bytes, start, stop }
    }
}

impl FlowSlices<'_> {
    /// How many flows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entry.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entry.is_empty()
    }

    /// The flows as the engine has them, in the order of their ids.
    ///
    /// # Errors
    /// The first flow whose entry is not there, by its id.
    pub fn setups(&self) -> Result<Vec<FlowSetup>, usize> {
        (0..self.len()).map(|flow| self.setup(flow).ok_or(flow)).collect()
    }

    fn setup(&self, flow: usize) -> Option<FlowSetup> {
        let entry = self.entries.get(self.entry[flow] as usize)?;
        let mut source = entry.source.clone();
        if let SourceSetup::Sized { bytes } = &mut source {
            *bytes = self.bytes[flow];
        }
        Some(FlowSetup {
            name: format!("{}.{}", entry.name, self.number[flow]),
            from: NodeId(self.from[flow]),
            to: NodeId(self.to[flow]),
            transport: entry.transport,
            routing: entry.routing,
            source,
            start: Instant::from_ps(self.start[flow]),
            stop: (self.stop[flow] != NEVER).then(|| Instant::from_ps(self.stop[flow])),
            reads: entry.reads.map(Box::new),
        })
    }
}

/// The flows of a scenario, in the order of its entries.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Flows {
    /// Connections.
    pub connections: FlowColumns,
    /// Flows of datagrams.
    pub datagrams: Vec<DatagramSetup>,
    /// By entry: the flows that are not made, since they would begin when the run is over.
    pub never_begun: BTreeMap<String, u64>,
    /// For each entry its connections, by their ids.
    pub of_entries: Vec<Range<u32>>,
}

impl Flows {
    /// The flows of these entries; what is wrong is noted.
    #[must_use]
    pub fn new(traffic: &[Traffic], network: &Network, given: &Given<'_>, problems: &mut Problems) -> Self {
        let links = network.links.iter().map(|link| (link.from.0, link.to.0));
        let reach = Reach::new(network.node_count(), links, network.switches.as_deref());
        let mut maker = Maker { given, problems, reach, flows: Self::default() };
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        let places: Vec<_> = (0..traffic.len()).map(|place| format!("traffic[{place}]")).collect();
        for (place, (table, place_text)) in traffic.iter().zip(&places).enumerate() {
            let name = table.name.as_deref().unwrap_or(place_text);
            let at = Place::Told(place_text);
            if let Some(other) = named.get(name) {
                let message = format!("{} is the name of traffic[{other}] as well", quoted(name));
                maker.problems.add(&at.key("name"), message);
                maker.flows.of_entries.push(0..0);
                continue;
            }
            named.insert(name, place);
            let table = with_sizes(table, &at, given.files, maker.problems);
            let entry = Entry { table: &table, name, at: &at, network, draws: given.draws };
            let first = maker.flows.connections.number.len() as u32;
            maker.add(&entry, given.routings.get(place).copied().unwrap_or(0));
            maker.flows.of_entries.push(first..maker.flows.connections.number.len() as u32);
        }
        maker.flows
    }
}

/// What the pairs of a matrix send.
struct Offered {
    /// Rate of each pair, in bits per second.
    bps: Vec<f64>,
    /// The most flows of each pair.
    counts: Vec<u64>,
    /// Where transfers arrive: the time between those of each pair.
    gaps: Option<Vec<Gap>>,
}

/// The flows of an entry, or those of one matrix of a series.
pub(super) struct Part {
    /// Who sends to whom.
    pub pairs: NodePairs,
    /// With a matrix, what they send.
    offered: Option<Offered>,
    /// Where a file lists single flows, what each sends, and when; a flow is a pair then.
    pub listed: Option<Listed>,
    /// While it holds.
    pub window: Window,
}

impl Part {
    /// That of a list of flows.
    pub(super) const fn of_list(pairs: NodePairs, listed: Listed) -> Self {
        Self { pairs, offered: None, listed: Some(listed), window: Window::WHOLE }
    }
}

/// All pairs of an entry, once each where it has several parts.
fn all_pairs(parts: &[Part]) -> NodePairs {
    match parts {
        [part] if part.listed.is_none() => part.pairs.clone(),
        _ => {
            let pairs: BTreeSet<_> = parts.iter().flat_map(|part| part.pairs.iter().copied()).collect();
            pairs.into_iter().collect()
        }
    }
}

/// The flows of a part.
struct Made {
    /// How many there are with those that are left out.
    count: u32,
    number: Vec<u32>,
    /// Place of each flow's pair among all of the entry.
    pair: Vec<u32>,
    ends: NodePairs,
    start: Vec<u64>,
    stop: Vec<u64>,
}

pub(super) struct Maker<'m> {
    pub given: &'m Given<'m>,
    pub problems: &'m mut Problems,
    reach: Reach,
    flows: Flows,
}

impl Maker<'_> {
    fn add(&mut self, entry: &Entry<'_>, routing: usize) {
        let table = entry.table;
        if table.has_datagrams() && entry.network.controller.is_some() {
            let message =
                "an SDN controller knows connections only; ping and udp need [routing] in its place";
            self.problems.add(&entry.at.key("application"), message);
        }
        let transport = self.given.transports.get(&table.transport).filter(|_| !table.has_datagrams());
        let parts = self.parts(entry);
        self.check_reach(entry, &all_pairs(&parts));
        match transport {
            Some((_, protocol)) => self.check_reading(entry, protocol),
            None if !table.has_datagrams() => return,
            None => {}
        }
        let mut first = 0;
        for part in &parts {
            let Some(made) = self.made(entry, part, first) else { return };
            first += made.count;
            match transport {
                _ if made.number.is_empty() => {}
                Some((place, _)) => self.connect(entry, &made, part, *place, routing),
                None => self.send_datagrams(entry, &made, part, routing),
            }
        }
    }

    fn check_reading(&mut self, entry: &Entry<'_>, protocol: &str) {
        if entry.table.reads.is_some() && !["tcp", "mptcp"].contains(&protocol) {
            let message = format!(
                "{} has a fixed window, which no receiver shuts; take a transport of TCP or MPTCP",
                quoted(&entry.table.transport)
            );
            self.problems.add(&entry.at.key("reads"), message);
        }
    }

    /// The pairs of an entry, and with a matrix what each of them sends, while each matrix holds.
    fn parts(&mut self, entry: &Entry<'_>) -> Vec<Part> {
        if let Some(collective) = &entry.table.collective {
            return self.collective(entry, collective).into_iter().collect();
        }
        if entry.table.flow_list.is_some() {
            return self.listed(entry).into_iter().collect();
        }
        let Some(matrix) = &entry.table.matrix else {
            let pairs = entry.pairs(self.problems);
            return vec![Part { pairs, offered: None, listed: None, window: Window::WHOLE }];
        };
        let series = entry.rates(matrix, self.given.demand, self.given.files, self.problems);
        series.into_iter().map(|rates| Self::offered(entry, matrix, rates)).collect()
    }

    /// What a matrix makes the pairs of an entry send.
    fn offered(entry: &Entry<'_>, matrix: &Matrix, rates: MatrixRates) -> Part {
        let MatrixRates { pairs, bps, window } = rates;
        let offered = if let Some(Size::Drawn(size)) = &entry.table.size {
            let bits = size.mean() * 8.0;
            let gap = |(&(from, to), bps): (&(u32, u32), &f64)| {
                // Not by the number of its first flow: a pair without any arrival would share the next one's draws.
                let part = if window.place == 0 { String::new() } else { format!(".{}", window.place) };
                let (from, to) = (entry.network.name(from), entry.network.name(to));
                let stream = format!("{}{part}.{from}->{to}", entry.name);
                (stream, Variate::Exponential { mean: bits * PS_PER_SECOND / bps })
            };
            let gaps = pairs.iter().zip(&bps).map(gap).collect();
            Offered { counts: vec![MOST_FLOWS + 1; bps.len()], gaps: Some(gaps), bps }
        } else {
            let mut counts = entry.counts(bps.len());
            if let Some(each) = matrix.rate_per_flow.map(|rate| rate.as_bps() as f64) {
                // Less a trifle, so that rounding makes no flow of nothing.
                counts = bps.iter().map(|bps| (bps / each * (1.0 - 1e-12)).ceil() as u64).collect();
            }
            counts.iter_mut().for_each(|count| *count = (*count).max(1));
            Offered { bps, counts, gaps: None }
        };
        Part { pairs, offered: Some(offered), listed: None, window }
    }

    /// The flows of a part of an entry, numbered from `first` on; none if they are too many, which is noted.
    fn made(&mut self, entry: &Entry<'_>, part: &Part, first: u32) -> Option<Made> {
        let (pairs, window) = (&part.pairs, part.window);
        let offered = part.offered.as_ref();
        let counts = offered.map_or_else(|| entry.counts(pairs.len()), |offered| offered.counts.clone());
        let gaps = offered.and_then(|offered| offered.gaps.as_deref());
        let before = (self.flows.connections.number.len() + self.flows.datagrams.len()) as u64;
        let duration = self.given.duration.as_ps();
        let Starts { pair, start, never_begun } = if let Some(listed) = &part.listed {
            listed.starts(duration)
        } else if window.begin > 0 && window.begin >= duration {
            // A matrix of after the end of the run.
            Starts { never_begun: if gaps.is_some() { 0 } else { counts.iter().sum() }, ..Starts::default() }
        } else if entry.table.inter_arrival.is_none() && gaps.is_none() {
            if before + counts.iter().sum::<u64>() > MOST_FLOWS {
                return self.too_many(entry);
            }
            entry.together(&counts, first, window)
        } else {
            entry.one_by_one(&counts, gaps, duration, window)
        };
        if never_begun > 0 || entry.table.inter_arrival.is_some() {
            *self.flows.never_begun.entry(entry.name.to_owned()).or_default() += never_begun;
        }
        let numbers: Vec<u32> = (first..).take(start.len()).collect();
        let mut stop = match &entry.table.stop {
            None => vec![NEVER; start.len()],
            Some(stop) => entry.draws.each(stop, entry.name, "stop", &numbers),
        };
        if gaps.is_none() {
            // A transfer that has begun sends all of it.
            stop.iter_mut().for_each(|stop| *stop = (*stop).min(window.end));
        }
        // A flow that is left out keeps its number, so that the others keep their draws.
        let kept: Vec<usize> = (0..start.len()).filter(|&flow| start[flow] < stop[flow]).collect();
        if start.len() as u64 > MOST_FLOWS || before + kept.len() as u64 > MOST_FLOWS {
            return self.too_many(entry);
        }
        Some(Made {
            count: start.len() as u32,
            number: kept.iter().map(|&flow| numbers[flow]).collect(),
            pair: kept.iter().map(|&flow| pair[flow]).collect(),
            ends: kept.iter().map(|&flow| pairs[pair[flow] as usize]).collect(),
            start: kept.iter().map(|&flow| start[flow]).collect(),
            stop: kept.iter().map(|&flow| stop[flow]).collect(),
        })
    }

    fn too_many<T>(&mut self, entry: &Entry<'_>) -> Option<T> {
        let most = thousands(MOST_FLOWS);
        self.problems.add(entry.at, format!("makes more than {most} flows, the most that a run can have"));
        None
    }

    fn check_reach(&mut self, entry: &Entry<'_>, pairs: &NodePairs) {
        let is_one_way = matches!(entry.table.application, Some(Application::Udp(_)));
        let answers = if entry.table.has_datagrams() { "answers" } else { "acknowledgments" };
        let network = entry.network;
        let over = if network.switches.is_some() { " over the controller's switches" } else { "" };
        let without =
            if network.outages.links_out.is_empty() { "" } else { " without what is out of service" };
        let mut cut_off = 0;
        for &(from, to) in pairs {
            for (from, to, what) in [(from, to, "data"), (to, from, answers)] {
                if (what == answers && is_one_way) || self.reach.connects(from, to) {
                    continue;
                }
                cut_off += 1;
                if cut_off <= TOLD {
                    let (from, to) = (quoted(network.name(from)), quoted(network.name(to)));
                    let label = &network.label;
                    self.problems.add(
                        entry.at,
                        format!("no path from {from} to {to} in {label}{over}{without} for its {what}"),
                    );
                }
            }
        }
        if cut_off > TOLD {
            let message = format!("and so for {} other pairs and directions", number(cut_off - TOLD));
            self.problems.add(entry.at, message);
        }
    }

    fn connect(&mut self, entry: &Entry<'_>, made: &Made, part: &Part, transport: usize, routing: usize) {
        let offered = part.offered.as_ref();
        let columns = &mut self.flows.connections;
        let reads = entry.table.reads.as_ref().map(reading);
        let first = columns.entries.len() as u32;
        let sources = match (offered, &entry.table.application) {
            (Some(offered), Some(Application::Rate(application))) => {
                offered.each().map(|bps| messages_at(application, Some(bps))).collect()
            }
            _ => vec![source(entry.table)],
        };
        let is_by_pair = sources.len() > 1;
        columns.entries.extend(sources.into_iter().map(|source| EntrySetup {
            name: entry.name.to_owned(),
            transport,
            routing,
            source,
            reads,
        }));
        columns.entry.extend(made.pair.iter().map(|&pair| first + if is_by_pair { pair } else { 0 }));
        columns.number.extend(&made.number);
        columns.from.extend(made.ends.iter().map(|(from, _)| from));
        columns.to.extend(made.ends.iter().map(|(_, to)| to));
        let sizes = entry.table.sizes().filter(|_| entry.table.application.is_none());
        match (&part.listed, sizes) {
            (Some(listed), _) => {
                columns.bytes.extend(made.pair.iter().map(|&flow| listed.bytes[flow as usize]));
            }
            (None, None) => columns.bytes.extend(made.number.iter().map(|_| 0)),
            (None, Some(size)) => {
                let sizes = entry.draws.each(size, entry.name, "size", &made.number);
                columns.bytes.extend(sizes.into_iter().map(|size| size.max(1)));
            }
        }
        columns.start.extend(&made.start);
        columns.stop.extend(&made.stop);
    }

    fn send_datagrams(&mut self, entry: &Entry<'_>, made: &Made, part: &Part, routing: usize) {
        let offered = part.offered.as_ref();
        let (packet, sources): (_, Vec<_>) = match (&entry.table.application, offered) {
            (Some(Application::Ping(ping)), _) => {
                (ping.packet, vec![DatagramSource::Ping { interval: ping.interval }])
            }
            (Some(Application::Udp(udp)), Some(offered)) => {
                let rate = |bps: f64| Rate::from_bps((bps.round_ties_even() as u64).max(1));
                (udp.packet, offered.each().map(|bps| DatagramSource::Udp { rate: rate(bps) }).collect())
            }
            (Some(Application::Udp(udp)), None) => {
                (udp.packet, udp.rate.map(|rate| DatagramSource::Udp { rate }).into_iter().collect())
            }
            _ => return,
        };
        for (flow, &(from, to)) in made.ends.iter().enumerate() {
            let pair = if offered.is_some() { made.pair[flow] as usize } else { 0 };
            self.flows.datagrams.push(DatagramSetup {
                name: format!("{}.{}", entry.name, made.number[flow]),
                from: NodeId(from),
                to: NodeId(to),
                source: sources[pair.min(sources.len() - 1)],
                routing,
                packet_bytes: packet.0 as u32,
                start: Instant::from_ps(made.start[flow]),
                stop: (made.stop[flow] != NEVER).then(|| Instant::from_ps(made.stop[flow])),
            });
        }
    }
}

impl Offered {
    /// The rate of each flow of a pair, in bits per second.
    fn each(&self) -> impl Iterator<Item = f64> + '_ {
        self.bps.iter().zip(&self.counts).map(|(bps, &count)| bps / count as f64)
    }
}

fn source(table: &Traffic) -> SourceSetup {
    match (&table.application, &table.size) {
        (Some(Application::Rate(application)), _) => messages_at(application, None),
        (Some(Application::Messages(of)), _) => SourceSetup::messages(of.message.variate(), of.gap.variate()),
        _ if table.flow_list.is_some() || table.collective.is_some() => SourceSetup::Sized { bytes: 0 },
        (_, None | Some(Size::Unlimited)) => SourceSetup::Unlimited {},
        (_, Some(Size::Drawn(_) | Size::File(_))) => SourceSetup::Sized { bytes: 0 },
    }
}

/// Messages at the application's own rate, or at one in bits per second.
fn messages_at(application: &RateApplication, bps: Option<f64>) -> SourceSetup {
    let mean = application.gap.map_or_else(
        || {
            let usual_bps = application.rate.map_or(0.0, |rate| rate.as_bps() as f64);
            let bps = bps.filter(|&bps| bps != 0.0).unwrap_or(usual_bps);
            application.message.mean() * 8.0 * PS_PER_SECOND / bps
        },
        |gap| gap.base() as f64,
    );
    let gap = match application.kind {
        RateKind::Poisson => Variate::Exponential { mean },
        RateKind::Constant => Variate::Constant { value: mean },
    };
    SourceSetup::messages(application.message.variate(), gap)
}

fn reading(reads: &ReceiverReading) -> ReadingSetup {
    let blocks = reads.rate.map(|rate| {
        let bits = 8 * u128::from(reads.block.0) * 1_000_000_000_000;
        let interval = quotient(bits, rate.as_bps().into());
        BlockSetup {
            bytes: reads.block.0,
            interval: Span::from_ps((interval.round_ties_even() as u64).max(1)),
        }
    });
    let at = |span: Span| Instant::from_ps(span.as_ps());
    ReadingSetup { blocks, pause: reads.pause.map(at), resume: reads.resume.map(at) }
}
