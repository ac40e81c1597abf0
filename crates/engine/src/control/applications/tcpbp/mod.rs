//! Forwarding along the path of most predicted TCP throughput over links that the controller measures (Vilela
//! 2022, sections 3.5 and 4.1).
//!
//! Loss is measured passively at every request for statistics ([`loss`]). Four things are known otherwise:
//!
//! - The delay of a link is its propagation delay as configured, in steps of the granularity. The thesis takes
//!   it from packets' timestamps, which would add transmission and queues; here no packet carries one.
//! - Links between switches are measured. A host answers no requests, so that its links count as free of loss.
//! - A link over which too few packets have come since the start counts as free of loss, too. A route over such
//!   links looks good, is tried by the next flow, and is then known. (The thesis sends traffic over every link
//!   for 120 s first.) A link that falls idle keeps its last estimate.
//! - Until some link has an estimate, paths are short in the metric of the setup.

mod loss;

use super::forwarding::Forwarding;
use super::router::{ByMetric, PathFinder, Router};
use crate::control::channel::links_delay;
use crate::control::table::Removal;
use crate::control::{Application, Order, PacketIn, Statistics, View};
use crate::records::Table;
use crate::setup::{ControllerSetup, TcpbpSetup};
use anabranch_network::Network;
use anabranch_routing::{Granularity, LinkQuality, PathQuality, tcpbp_path};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use loss::{LossMeter, Received, Sampling, Sent};
use std::collections::{BTreeMap, BTreeSet};

/// Paths by what the controller takes links to be.
#[derive(Debug)]
struct BestPath {
    granularity: Granularity,
    threshold: f64,
    initial: ByMetric,
    /// Losses by link, where there are estimates; empty before the first.
    loss: BTreeMap<LinkId, f64>,
}

impl BestPath {
    fn quality(&self, view: &View<'_>, link: LinkId) -> LinkQuality {
        let delay = self.granularity.delay(view.network.link(link).delay);
        LinkQuality::new(delay, self.loss.get(&link).copied().unwrap_or(0.0))
    }

    /// That of a path, if all its links are up.
    fn path_quality(&self, view: &View<'_>, path: &[LinkId]) -> Option<PathQuality> {
        let up = path.iter().all(|&link| view.mask.usable(view.network, link));
        up.then(|| PathQuality::of(path.iter().map(|&link| self.quality(view, link))))
    }
}

impl PathFinder for BestPath {
    fn path(&self, view: &View<'_>, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        if self.loss.is_empty() {
            let mut mask = view.mask.clone();
            for link in view.network.link_ids().filter(|&link| !carries(view, link, from, to)) {
                mask.set_link(link, false);
            }
            return self.initial.path(&View { mask: &mask, ..*view }, from, to);
        }
        let known = |link| carries(view, link, from, to).then(|| self.quality(view, link));
        tcpbp_path(view.network, from, to, known).map(|path| path.links().to_vec())
    }

    /// Greedy, but for the threshold (section 4.1.4, "Re-Convergence Criteria").
    fn keeps(&self, view: &View<'_>, current: &[LinkId], found: &[LinkId]) -> bool {
        let qualities = self.path_quality(view, current).zip(self.path_quality(view, found));
        !self.loss.is_empty()
            && qualities.is_some_and(|(current, found)| !found.beats(current, self.threshold))
    }
}

/// Whether a link may lie on a path between two nodes: it is up, and hosts are only at the ends, where they
/// send over one link.
fn carries(view: &View<'_>, link: LinkId, from: NodeId, to: NodeId) -> bool {
    let ends = view.network.link(link);
    let leaves =
        view.is_switch(ends.from) || (ends.from == from && view.channels.gateway(from) == Some(link));
    view.mask.usable(view.network, link) && leaves && (view.is_switch(ends.to) || ends.to == to)
}

/// Names of the nodes along a path.
fn spell(network: &Network, path: &[LinkId]) -> String {
    let name = |node: NodeId| network.node(node).name.as_str();
    let first = path.first().map(|&link| name(network.link(link).from));
    let nodes: Vec<&str> = first.into_iter().chain(path.iter().map(|&l| name(network.link(l).to))).collect();
    nodes.join(" > ")
}

/// Measures links, and routes by what it finds.
#[derive(Debug)]
pub struct Tcpbp {
    forwarding: Forwarding<BestPath>,
    sampling: Sampling,
    meters: BTreeMap<LinkId, LossMeter>,
    /// Switches that have answered the last request.
    answered: BTreeSet<NodeId>,
    /// What was estimated when: link, loss, delay.
    estimates: Vec<(Instant, LinkId, f64, Span)>,
    /// Which flow moved when, and to which paths.
    moves: Vec<(Instant, FlowId, String, String)>,
}

impl Tcpbp {
    pub(super) fn new(setup: &ControllerSetup, tcpbp: TcpbpSetup) -> Self {
        let finder = BestPath {
            granularity: Granularity { loss: tcpbp.loss_granularity, delay: tcpbp.delay_granularity },
            threshold: tcpbp.threshold,
            initial: ByMetric(setup.metric),
            loss: BTreeMap::new(),
        };
        let sampling = Sampling {
            window: tcpbp.window as usize,
            packets: tcpbp.sample_packets,
            apart: setup.statistics_interval.unwrap_or(Span::MAX) / 2,
        };
        Self {
            forwarding: Forwarding { router: Router::with_finder(setup, finder) },
            sampling,
            meters: BTreeMap::new(),
            answered: BTreeSet::new(),
            estimates: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// Takes in what a switch has counted at its ends of links between switches.
    fn measure(&mut self, view: &View<'_>, statistics: &Statistics) {
        let network = view.network;
        let between_switches = |link: LinkId| {
            let ends = network.link(link);
            view.is_switch(ends.from) && view.is_switch(ends.to)
        };
        let sampling = self.sampling;
        let transit = |link| move |bytes| links_delay(network, &[link], bytes);
        for port in statistics.sent.iter().filter(|port| between_switches(port.link)) {
            let meter = self.meters.entry(port.link).or_insert_with(|| LossMeter::new(sampling));
            let reading = Sent { at: statistics.at, packets: port.sent, bytes: port.sent_bytes };
            meter.on_sent(reading, transit(port.link));
        }
        for &(link, packets) in statistics.received.iter().filter(|port| between_switches(port.0)) {
            let meter = self.meters.entry(link).or_insert_with(|| LossMeter::new(sampling));
            meter.on_received(Received { at: statistics.at, packets }, transit(link));
        }
    }

    /// Routes by what has been measured from here on.
    fn converge(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.answered.clear();
        let finder = self.forwarding.router.finder_mut();
        for (&link, meter) in &self.meters {
            if let Some(loss) = meter.estimate() {
                finder.loss.insert(link, finder.granularity.loss(loss));
                let quality = finder.quality(view, link);
                self.estimates.push((view.now, link, quality.loss(), quality.delay()));
            }
        }
        self.reroute(view, out);
    }

    fn reroute(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        for id in self.forwarding.router.reroute(view, out) {
            if let Some(flow) = self.forwarding.router.flow(id) {
                let path = |links: &[LinkId]| spell(view.network, links);
                self.moves.push((view.now, id, path(&flow.forward), path(&flow.backward)));
            }
        }
    }
}

impl Application for Tcpbp {
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        self.forwarding.on_packet(view, packet, out);
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, out: &mut Vec<Order>) {
        self.forwarding.on_removed(view, removal, out);
    }

    fn on_refused(&mut self, view: &View<'_>, switch: NodeId, flow: FlowId, out: &mut Vec<Order>) {
        self.forwarding.on_refused(view, switch, flow, out);
    }

    /// Routes change when all switches have answered, so that one route is not held against another by older
    /// numbers; if a reply was lost, when the next round begins.
    fn on_statistics(&mut self, view: &View<'_>, statistics: &Statistics, out: &mut Vec<Order>) {
        if self.answered.contains(&statistics.switch) {
            self.converge(view, out);
        }
        self.measure(view, statistics);
        self.answered.insert(statistics.switch);
        if self.answered.len() == view.channels.switches().len() {
            self.converge(view, out);
        }
    }

    fn on_network_change(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.reroute(view, out);
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.forwarding.on_timer(view, out);
    }

    fn next_timer(&self) -> Option<Instant> {
        self.forwarding.next_timer()
    }

    fn tables(&self) -> Vec<Table> {
        let rows = &self.estimates;
        let mut estimates = Table::new("link_estimates");
        estimates.numbers("time_s", rows.iter().map(|row| row.0.as_secs_f64()));
        estimates.integers("link", rows.iter().map(|row| u64::from(row.1.0)));
        estimates.numbers("loss", rows.iter().map(|row| row.2));
        estimates.numbers("delay_ms", rows.iter().map(|row| row.3.as_secs_f64() * 1e3));
        let rows = &self.moves;
        let mut moves = Table::new("route_changes");
        moves.numbers("time_s", rows.iter().map(|row| row.0.as_secs_f64()));
        moves.integers("flow", rows.iter().map(|row| u64::from(row.1.0)));
        moves.texts("data_path", rows.iter().map(|row| row.2.clone()));
        moves.texts("ack_path", rows.iter().map(|row| row.3.clone()));
        vec![estimates, moves]
    }
}
