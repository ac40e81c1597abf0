//! Forwarding along the path of most predicted TCP throughput over links that the controller measures (Vilela
//! 2022, sections 3.5 and 4.1).
//!
//! With every request for statistics a probe goes over each link between two switches, both ways. It brings the
//! link's loss and delay ([`meter`]); estimators smooth them; routes follow ([`paths`]). What is known otherwise:
//!
//! - Links between switches are measured. A host answers no probes, so that its links count as free of loss and as
//!   slow as configured.
//! - A link over which too few packets have come since the start counts as free of loss, too. A route over such
//!   links looks good, is tried by the next flow, and is then known; flows that are there to be measured keep to
//!   the link between their ends and make all links known beforehand. A link that falls idle keeps its last
//!   estimate of loss. Before its first probe has come back its delay is the configured one.
//! - Where delays are not to be measured, all are those configured; probes then serve to measure loss alone.
//! - Until some link has an estimate of its loss, paths are short in the metric of the setup.
//!
//! A flow between neighbours that took the best path instead of the link between them would leave that link without
//! traffic, and its estimate as it was. The thesis sends its first traffic over every link and does not say how it
//! is kept there once there are estimates.

mod meter;
mod paths;

use super::ConfiguredApplication;
use super::forwarding::ForwardingApplication;
use super::router::Router;
use crate::control::ControllerSetup;
use crate::control::table::Removal;
use crate::control::{Application, LinkProbe, Order, PacketIn, Statistics, View};
use crate::records::Table;
use anabranch_routing::{EstimatorSetup, Search};
use anabranch_units::declaration::{at_least, at_most};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use meter::{LinkMeter, Sampling};
use paths::BestPath;
use std::collections::{BTreeMap, BTreeSet};

anabranch_units::parameters! {
    /// Entries along the path of most predicted TCP throughput over links that are measured, to which open flows
    /// move (Vilela 2022). The metric of the controller gives the initial paths.
    pub struct TcpbpSetup {
        /// What makes estimates of samples, of losses and of measured delays.
        estimator: EstimatorSetup = EstimatorSetup::Sma(Default::default());
        /// Where the delays of links come from.
        delay: DelaySource = DelaySource::Measured;
        /// Packets sent over a link that make a sample of its loss; with fewer it goes on to the next request.
        sample_packets: u64 = 1000, at_least(1).at_most(1 << 32);
        /// Step of estimates of loss; 0 for none.
        loss_granularity: f64 = 1e-4, at_least(0.0).at_most(1.0);
        /// Step of the delays of links; zero for none.
        delay_granularity: Span = Span::from_us(100), at_most(Span::LONGEST_INPUT);
        /// How the best path is looked for.
        search: Search = Search::Published;
        /// Share by which another path must be better before a flow moves to it.
        threshold: f64 = 0.0, at_least(0.0).below(1.0);
        /// How long at least a flow that has moved stays, unless its path breaks.
        hold_time: Span = Span::ZERO, at_most(Span::LONGEST_INPUT);
        /// Flows that are there to be measured: each keeps to the link between its ends, if there is one.
        measuring: Vec<FlowId> = Vec::new();
    }
}

anabranch_units::choice! {
    /// Where TCPBP takes the delays of links from.
    pub enum DelaySource {
        /// Time stamps of probes: propagation, transmission and queue.
        "measured" => Measured,
        /// Propagation as the network's settings say.
        "configured" => Configured,
    }
}

/// A row of the table `link_estimates`.
#[derive(Debug)]
struct Estimated {
    at: Instant,
    link: LinkId,
    loss: Option<f64>,
    delay: Span,
    packets: u64,
    lost: u64,
}

/// A row of the table `flow_routes`.
#[derive(Debug)]
struct FlowRoutes {
    since: Instant,
    changes: u64,
    data_path: String,
    ack_path: String,
}

/// Measures links, and routes by what it finds.
#[derive(Debug)]
pub struct Tcpbp {
    forwarding: ForwardingApplication<BestPath>,
    sampling: Sampling,
    delay: DelaySource,
    /// Time that probes have to come back before routes are chosen without the missing ones.
    patience: Span,
    meters: BTreeMap<LinkId, LinkMeter>,
    round: u32,
    /// Probes of this round that have not come back.
    under_way: BTreeSet<LinkId>,
    /// When routes are chosen though probes are missing.
    due: Option<Instant>,
    estimates: Vec<Estimated>,
    /// The paths of every flow that has had some.
    routes: BTreeMap<FlowId, FlowRoutes>,
    /// Which flow moved when, and to which paths.
    moves: Vec<(Instant, FlowId, String, String)>,
}

impl ConfiguredApplication for Tcpbp {
    type Parameters = TcpbpSetup;
    const MEASURES_LINKS: bool = true;

    fn configured(tcpbp: &TcpbpSetup, setup: &ControllerSetup, _: u32) -> Self {
        let finder = BestPath::new(setup, tcpbp);
        Self {
            forwarding: ForwardingApplication { router: Router::with_finder(setup, finder) },
            sampling: Sampling { estimator: tcpbp.estimator, packets: tcpbp.sample_packets },
            delay: tcpbp.delay,
            patience: setup.statistics_interval.unwrap_or(Span::MAX) / 2,
            meters: BTreeMap::new(),
            round: 0,
            under_way: BTreeSet::new(),
            due: None,
            estimates: Vec::new(),
            routes: BTreeMap::new(),
            moves: Vec::new(),
        }
    }
}

impl Tcpbp {
    fn meter(&mut self, link: LinkId) -> &mut LinkMeter {
        let sampling = self.sampling;
        self.meters.entry(link).or_insert_with(|| LinkMeter::new(sampling))
    }

    /// Routes by what has been measured from here on. In one step, when a round is over, so that one route is not
    /// held against another by older numbers.
    fn converge(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.due = None;
        let finder = self.forwarding.router.finder_mut();
        for (&link, meter) in &self.meters {
            finder.set_loss(link, meter.loss());
            if let Some(seconds) = meter.delay_s().filter(|_| self.delay == DelaySource::Measured) {
                finder.set_delay(link, seconds);
            }
            let (packets, lost) = meter.counted();
            let (loss, delay) = (finder.known_loss(link), finder.quality(view, link).delay());
            self.estimates.push(Estimated { at: view.now, link, loss, delay, packets, lost });
        }
        self.reroute(view, out);
    }

    fn reroute(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        for id in self.forwarding.router.reroute(view, out) {
            self.note(view, id);
            if let Some(routes) = self.routes.get_mut(&id) {
                routes.changes += 1;
                self.moves.push((view.now, id, routes.data_path.clone(), routes.ack_path.clone()));
            }
        }
    }

    /// Writes down the paths that a flow has now.
    fn note(&mut self, view: &View<'_>, id: FlowId) {
        let Some(flow) = self.forwarding.router.flow(id) else { return };
        let (data_path, ack_path) =
            (view.network.path_text(&flow.forward), view.network.path_text(&flow.backward));
        let old = self.routes.get(&id);
        let (since, changes) = old.map_or((view.now, 0), |routes| (routes.since, routes.changes));
        self.routes.insert(id, FlowRoutes { since, changes, data_path, ack_path });
    }
}

impl Application for Tcpbp {
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        let id = packet.header.flow;
        let has_opened = self.forwarding.router.flow(id).is_some();
        self.forwarding.on_packet(view, packet, out);
        if !has_opened {
            self.note(view, id);
        }
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, out: &mut Vec<Order>) {
        self.forwarding.on_removed(view, removal, out);
    }

    fn on_refused(&mut self, view: &View<'_>, switch: NodeId, flow: FlowId, out: &mut Vec<Order>) {
        self.forwarding.on_refused(view, switch, flow, out);
    }

    fn on_request(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.round = self.round.wrapping_add(1);
        self.under_way = view.network.link_ids().filter(|&link| is_measured(view, link)).collect();
        let round = self.round;
        out.extend(self.under_way.iter().map(|&link| Order::Probe { link, round }));
        self.due = Some(view.now.saturating_add(self.patience));
    }

    fn on_probe(&mut self, view: &View<'_>, probe: &LinkProbe, out: &mut Vec<Order>) {
        self.meter(probe.link).on_probe(probe);
        if probe.round == self.round && self.under_way.remove(&probe.link) && self.under_way.is_empty() {
            self.converge(view, out);
        }
    }

    fn on_statistics(&mut self, view: &View<'_>, statistics: &Statistics, _out: &mut Vec<Order>) {
        for port in statistics.sent.iter().filter(|port| is_measured(view, port.link)) {
            self.meter(port.link).on_sent(view.now, port.sent);
        }
        for &(link, packets) in statistics.received.iter().filter(|port| is_measured(view, port.0)) {
            let propagation = view.network.link(link).delay;
            self.meter(link).on_received(view.now, packets, propagation);
        }
    }

    fn on_network_change(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        for (&link, meter) in &mut self.meters {
            if !is_measured(view, link) {
                meter.on_down(view.now);
            }
        }
        self.reroute(view, out);
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.forwarding.on_timer(view, out);
        if self.due.is_some_and(|due| due <= view.now) {
            self.converge(view, out);
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        [self.forwarding.next_timer(), self.due].into_iter().flatten().min()
    }

    fn tables(&self) -> Vec<Table> {
        let rows = &self.estimates;
        let mut estimates = Table::new("link_estimates");
        estimates.numbers("time_s", rows.iter().map(|row| row.at.as_secs_f64()));
        estimates.integers("link", rows.iter().map(|row| u64::from(row.link.0)));
        estimates.numbers("loss", rows.iter().map(|row| row.loss.unwrap_or(f64::NAN)));
        estimates.numbers("delay_ms", rows.iter().map(|row| row.delay.as_secs_f64() * 1e3));
        estimates.integers("packets", rows.iter().map(|row| row.packets));
        estimates.integers("lost", rows.iter().map(|row| row.lost));
        let rows = &self.moves;
        let mut moves = Table::new("route_changes");
        moves.numbers("time_s", rows.iter().map(|row| row.0.as_secs_f64()));
        moves.integers("flow", rows.iter().map(|row| u64::from(row.1.0)));
        moves.texts("data_path", rows.iter().map(|row| &row.2));
        moves.texts("ack_path", rows.iter().map(|row| &row.3));
        let mut flows = Table::new("flow_routes");
        flows.integers("flow", self.routes.keys().map(|flow| u64::from(flow.0)));
        let rows = || self.routes.values();
        flows.numbers("since_s", rows().map(|row| row.since.as_secs_f64()));
        flows.integers("route_changes", rows().map(|row| row.changes));
        flows.texts("data_path", rows().map(|row| &row.data_path));
        flows.texts("ack_path", rows().map(|row| &row.ack_path));
        vec![estimates, moves, flows]
    }
}

/// Whether a link is up and lies between two switches.
fn is_measured(view: &View<'_>, link: LinkId) -> bool {
    let ends = view.network.link(link);
    view.mask.usable(view.network, link) && view.is_switch(ends.from) && view.is_switch(ends.to)
}
