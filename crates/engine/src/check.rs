//! Checks a setup, so that the engine can rely on it.

use crate::check_controller::check_controller;
use crate::check_fabric::check_fabric;
use crate::control::MOST_FLOWS;
use crate::error::{EngineError, SetupError};
use crate::forwarding::Ends;
use crate::link_setup::{check_capacity, check_delay};
use crate::loss::mean_loss;
use crate::random::Streams;
use crate::setup::LoadBalancing;
use crate::setup::{
    CapturePoint, Change, FlowSetup, LinkSetup, LossSetup, ReadingSetup, Setup, SourceSetup, Variate,
};
use crate::variate::Sampler;
use anabranch_network::{Link, Network};
use anabranch_routing::LinkMask;
use anabranch_transport::TransportConfig;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span, all_differ};
use std::collections::BTreeSet;

/// Longest run and longest delay.
const LONGEST: Span = Span::LONGEST_INPUT;

type Checked = Result<(), SetupError>;

fn error(place: impl Into<String>, problem: impl Into<String>) -> SetupError {
    SetupError::new(place, problem)
}

impl Setup {
    /// Checks everything and gives the network that routing sees.
    ///
    /// # Errors
    /// Names the first place that does not hold.
    pub fn check(&self) -> Result<Network, EngineError> {
        if self.duration == Span::ZERO || self.duration > LONGEST {
            return Err(error("duration", "must be above zero and at most 30 days").into());
        }
        let network = self.network()?;
        self.check_links()?;
        for (index, host) in self.hosts.iter().enumerate() {
            self.check_node(&format!("hosts[{index}].node"), host.node)?;
            if let Some(variate) = &host.processing_delay {
                let place = format!("hosts[{index}].processing_delay");
                Sampler::new(variate).map_err(|problem| error(place, problem.to_string()))?;
            }
        }
        for (index, router) in self.routers.iter().enumerate() {
            self.check_node(&format!("routers[{index}].node"), router.node)?;
            let place = format!("routers[{index}].processing_delay");
            if let Some(delay) = &router.processing_delay {
                Sampler::new(delay).map_err(|problem| error(place, problem.to_string()))?;
            }
        }
        self.check_transports()?;
        self.check_flows()?;
        self.check_events()?;
        self.check_routing()?;
        if self.probes.interval == Some(Span::ZERO) {
            return Err(error("probes.interval", "must be above zero").into());
        }
        let unknown = |flow: &&FlowId| flow.index() >= self.flows.len();
        for (place, flows) in [("probes.sequences", &self.probes.sequences), ("probes.log", &self.probes.log)]
        {
            if let Some(flow) = flows.iter().find(unknown) {
                return Err(error(place, format!("no flow number {}", flow.0)).into());
            }
        }
        let config = |flow: &FlowSetup| &self.transports[flow.transport].config;
        let multipath = |flow: &FlowSetup| matches!(config(flow), TransportConfig::Mptcp(_));
        if self.probes.sequences.iter().any(|flow| multipath(&self.flows[flow.index()])) {
            return Err(error("probes.sequences", "names a multipath flow, which has no one sequence").into());
        }
        let logs =
            |flow: &FlowSetup| matches!(config(flow), TransportConfig::Tcp(_) | TransportConfig::Mptcp(_));
        if self.probes.log.iter().any(|flow| !logs(&self.flows[flow.index()])) {
            let problem = "names a flow for which the controller decides; its sender keeps no log";
            return Err(error("probes.log", problem).into());
        }
        if let Some(controller) = &self.controller
            && self.flows.iter().any(multipath)
        {
            if !controller.application.knows_subflows() {
                let problem = "knows flows and not their subflows; no flow of its network can be multipath";
                return Err(error("controller", problem).into());
            }
            if self.flows.len() > MOST_FLOWS {
                let problem = format!("has at most {MOST_FLOWS} flows where some are multipath");
                return Err(error("controller", problem).into());
            }
        }
        check_controller(self, LONGEST)?;
        check_fabric(self, &network, LONGEST)?;
        self.check_captures()?;
        Ok(network)
    }

    fn check_captures(&self) -> Checked {
        for (index, capture) in self.captures.iter().enumerate() {
            let place = format!("captures[{index}].at");
            match capture.at {
                CapturePoint::Link { link } => self.check_link_id(&place, link)?,
                CapturePoint::Host { host: node } => self.check_node(&place, node)?,
            }
        }
        Ok(())
    }

    /// The network as routing sees it at the start.
    ///
    /// # Errors
    /// If a node or link does not hold.
    pub fn network(&self) -> Result<Network, EngineError> {
        let link = |link: &LinkSetup| Link {
            from: link.from,
            to: link.to,
            capacity: link.capacity,
            delay: link.delay,
            loss: routing_loss(&link.loss),
            weight: link.weight.unwrap_or(1),
        };
        Ok(Network::of_shared(self.nodes.clone(), self.links.iter().map(link).collect())?)
    }

    /// The ends of all that sends, once for each way that its packets go.
    pub(crate) fn ends(&self) -> impl Iterator<Item = Ends> + Clone {
        let ends = |routing, from, to| Ends { routing, from, to };
        let flows = self.flows.iter().map(move |flow| (ends(flow.routing, flow.from, flow.to), true));
        let datagrams = self.datagrams.iter();
        let datagrams =
            datagrams.map(move |flow| (ends(flow.routing, flow.from, flow.to), flow.source.is_answered()));
        let there_and_back = |(ends, is_answered): (Ends, bool)| {
            std::iter::once(ends).chain(is_answered.then_some(ends.reversed()))
        };
        flows.chain(datagrams).flat_map(there_and_back)
    }

    /// The pairs that need routes by `routing.scheme`: the ends of each flow and ping, both ways, and of UDP one way;
    /// in order, each once.
    #[must_use]
    pub fn pairs(&self) -> Vec<(NodeId, NodeId)> {
        self.pairs_of(0)
    }

    /// In the same way, the pairs that need routes by the scheme at a place of `routing.schemes()`.
    #[must_use]
    pub fn pairs_of(&self, place: usize) -> Vec<(NodeId, NodeId)> {
        let entry_ends = self.ends().filter(|ends| ends.routing == place);
        let mut pairs: Vec<(NodeId, NodeId)> = entry_ends.map(|ends| (ends.from, ends.to)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Links that may carry data while everything is up: all but those at the controller, which does not forward.
    #[must_use]
    pub fn data_mask(&self, network: &Network) -> LinkMask {
        let mut mask = LinkMask::all_up(network);
        if let Some(controller) = &self.controller {
            mask.set_node(controller.node, false);
        }
        mask
    }

    /// The random streams of the run.
    #[must_use]
    pub fn streams(&self) -> Streams {
        Streams::new(self.seed, self.replication)
    }

    fn check_links(&self) -> Checked {
        let some_may_be_equal = !all_differ(self.links.iter().map(|link| &*link.name));
        let mut names = BTreeSet::new();
        for (index, link) in self.links.iter().enumerate() {
            if some_may_be_equal && !names.insert(&link.name) {
                return Err(error(format!("links[{index}].name"), format!("{:?} is taken", link.name)));
            }
            link.check().map_err(|problem| SetupError::below(&format!("links[{index}]"), problem))?;
        }
        Ok(())
    }

    fn check_transports(&self) -> Checked {
        for (index, transport) in self.transports.iter().enumerate() {
            check_transport(&format!("transports[{index}].config"), &transport.config)?;
        }
        Ok(())
    }

    fn check_flows(&self) -> Checked {
        if self.flows.len() + self.datagrams.len() >= 1 << 28 {
            return Err(error("flows", "at most 2^28, those of datagrams included"));
        }
        let of_flows = self.flows.iter().map(|flow| &*flow.name);
        let all = of_flows.chain(self.datagrams.iter().map(|flow| &*flow.name));
        let some_may_be_equal = !all_differ(all);
        let mut names = BTreeSet::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let place = |what: &str| format!("flows[{index}].{what}");
            if some_may_be_equal && !names.insert(&flow.name) {
                return Err(error(place("name"), format!("{:?} is taken", flow.name)));
            }
            for (what, node) in [("from", flow.from), ("to", flow.to)] {
                if node.index() >= self.nodes.len() {
                    self.check_node(&place(what), node)?;
                }
            }
            if flow.from == flow.to {
                return Err(error(place("to"), "is where the flow starts"));
            }
            if flow.transport >= self.transports.len() {
                return Err(error(place("transport"), "no such transport"));
            }
            check_times(&place, flow)?;
            check_source(&place, &flow.source)?;
            self.check_reading(&place, flow)?;
        }
        self.check_datagrams(names)
    }

    fn check_reading(&self, place: &impl Fn(&str) -> String, flow: &FlowSetup) -> Checked {
        let Some(ReadingSetup { blocks, pause, resume }) = flow.reads.as_deref().copied() else {
            return Ok(());
        };
        if blocks.is_some_and(|blocks| blocks.bytes == 0 || blocks.interval == Span::ZERO) {
            return Err(error(place("reads.blocks"), "must have bytes and an interval above zero"));
        }
        if resume.is_some_and(|resume| pause.is_none_or(|pause| resume <= pause)) {
            return Err(error(place("reads.resume"), "must be after pause"));
        }
        let config = &self.transports[flow.transport].config;
        if !matches!(config, TransportConfig::Tcp(_) | TransportConfig::Mptcp(_)) {
            return Err(error(place("reads"), "needs a transport whose receiver has a window, TCP or MPTCP"));
        }
        Ok(())
    }

    fn check_datagrams<'s>(&'s self, mut names: BTreeSet<&'s String>) -> Checked {
        let end = Instant::ZERO + self.duration;
        for (index, flow) in self.datagrams.iter().enumerate() {
            let place = format!("datagrams[{index}]");
            if !names.insert(&flow.name) {
                return Err(error(format!("{place}.name"), format!("{:?} is taken", flow.name)));
            }
            self.check_node(&format!("{place}.from"), flow.from)?;
            self.check_node(&format!("{place}.to"), flow.to)?;
            flow.check(end).map_err(|problem| SetupError::below(&place, problem))?;
        }
        if self.controller.is_some() && !self.datagrams.is_empty() {
            return Err(error("controller", "installs entries for connections; it knows no datagrams"));
        }
        Ok(())
    }

    fn check_events(&self) -> Checked {
        let mut last = Instant::ZERO;
        for (index, event) in self.events.iter().enumerate() {
            let place = |what: &str| format!("events[{index}].{what}");
            if event.at < last {
                return Err(error(place("at"), "events must be in order of time"));
            }
            last = event.at;
            self.check_change(&format!("events[{index}]"), &event.change)?;
        }
        Ok(())
    }

    fn check_routing(&self) -> Checked {
        for (place, scheme) in self.routing.schemes().enumerate() {
            let name = || {
                if place == 0 {
                    "routing.scheme".to_owned()
                } else {
                    format!("routing.others[{}]", place - 1)
                }
            };
            if let Some(scheme) = scheme {
                let checked = scheme.check().and_then(|()| scheme.check_planned_here());
                checked.map_err(|problem| SetupError::below(&name(), problem))?;
            }
        }
        if let Some(ends) = self.ends().find(|ends| ends.routing > self.routing.others.len()) {
            return Err(error(
                "routing.others",
                format!("a flow takes routes number {}, which are not there", ends.routing),
            ));
        }
        if let LoadBalancing::External(external) = &self.routing.load_balancing
            && !external.maker.is_there()
        {
            return Err(error("routing.load_balancing", "its code is missing"));
        }
        self.routing
            .load_balancing
            .check()
            .map_err(|problem| SetupError::below("routing.load_balancing", problem))
    }

    /// Checks a change of the network.
    ///
    /// # Errors
    /// Names the first place that does not hold, below `place`.
    pub fn check_change(&self, place: &str, change: &Change) -> Result<(), SetupError> {
        let (links, checked) = match change {
            Change::Node { node, .. } => return self.check_node(&format!("{place}.node"), *node),
            Change::Address { link, .. } | Change::Backup { link, .. } => {
                return self.check_address(&format!("{place}.link"), *link);
            }
            Change::Links { links, .. } | Change::Silent { links } => (links, Ok(())),
            Change::Capacity { links, capacity } => (links, check_capacity(*capacity)),
            Change::Delay { links, delay } => (links, check_delay(*delay)),
            Change::Loss { links, loss } => (links, loss.check().map_err(|problem| problem.within("loss"))),
            Change::Queue { links, queue } => (links, queue.check()),
        };
        checked.map_err(|problem| SetupError::below(place, problem))?;
        links.iter().try_for_each(|&link| self.check_link_id(&format!("{place}.links"), link))
    }

    /// Some connection of the host must look at its addresses.
    fn check_address(&self, place: &str, link: LinkId) -> Checked {
        self.check_link_id(place, link)?;
        let host = self.links[link.index()].from;
        let concerned = |flow: &FlowSetup| {
            [flow.from, flow.to].contains(&host) && self.transports[flow.transport].config.follows_addresses()
        };
        if self.flows.iter().any(concerned) {
            return Ok(());
        }
        let name = &self.nodes[host.index()].name;
        Err(error(place, format!("no connection of {name:?} looks at its addresses, as fullmesh does")))
    }

    fn check_node(&self, place: &str, node: NodeId) -> Checked {
        let count = self.nodes.len();
        let problem = || error(place, format!("no node number {}; there are {count}", node.0));
        if node.index() < count { Ok(()) } else { Err(problem()) }
    }

    fn check_link_id(&self, place: &str, link: LinkId) -> Checked {
        let count = self.links.len();
        let problem = || error(place, format!("no link number {}; there are {count}", link.0));
        if link.index() < count { Ok(()) } else { Err(problem()) }
    }
}

/// Mean loss as routing takes it, which wants it below 1.
fn routing_loss(loss: &LossSetup) -> f64 {
    let mean = mean_loss(loss);
    // A link that loses everything is still a link; routing sees it as nearly so.
    if mean >= 1.0 { 1.0 - f64::EPSILON } else { mean }
}

fn check_variate(place: &str, variate: &Variate) -> Checked {
    Sampler::new(variate).map(|_| ()).map_err(|problem| error(place, problem.to_string()))
}

fn check_times(place: &impl Fn(&str) -> String, flow: &FlowSetup) -> Checked {
    if flow.start > Instant::ZERO + LONGEST {
        return Err(error(place("start"), "must be at most 30 days"));
    }
    if flow.stop.is_some_and(|stop| stop < flow.start) {
        return Err(error(place("stop"), "is before the start"));
    }
    Ok(())
}

fn check_source(place: &impl Fn(&str) -> String, source: &SourceSetup) -> Checked {
    match source {
        SourceSetup::Unlimited {} => Ok(()),
        SourceSetup::Sized { bytes: 0 } => Err(error(place("source.bytes"), "must be above zero")),
        SourceSetup::Sized { bytes } if *bytes > 1 << 60 => {
            Err(error(place("source.bytes"), "must be at most 2^60"))
        }
        SourceSetup::Sized { .. } => Ok(()),
        SourceSetup::Messages { size, gap } => {
            check_variate(&place("source.size"), size)?;
            check_variate(&place("source.gap"), gap)
        }
    }
}

fn check_transport(place: &str, transport: &TransportConfig) -> Checked {
    let checked = transport.check().and_then(|()| transport.check_together());
    checked.map_err(|problem| SetupError::below(place, problem))?;
    if transport.external_control().is_some_and(|external| !external.maker.is_there()) {
        return Err(error(format!("{place}.congestion_control"), "its code is missing"));
    }
    if transport.external_scheduler().is_some_and(|external| !external.maker.is_there()) {
        return Err(error(format!("{place}.scheduler"), "its code is missing"));
    }
    if transport.external_selector().is_some_and(|external| !external.maker.is_there()) {
        return Err(error(format!("{place}.path_selector"), "its code is missing"));
    }
    Ok(())
}
