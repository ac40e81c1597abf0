//! What every application that forwards by flow shares: paths of flows, and the entries that follow them.

use crate::control::ControllerSetup;
use crate::control::table::{Action, Reason, Removal, Rule};
use crate::control::{Header, Ingress, MESSAGE_BYTES, Order, PacketIn, View};
use crate::packet::Direction;
use anabranch_routing::ShortestScheme;
use anabranch_routing::{Metric, Scheme};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A flow that the controller knows, with its paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownFlow {
    /// Links from sender to receiver.
    pub forward: Vec<LinkId>,
    /// Links back.
    pub backward: Vec<LinkId>,
    /// First switch on the way.
    pub access: NodeId,
    /// Its FIN has not been seen.
    pub open: bool,
    /// Its entries have been removed.
    removed: bool,
    /// When its entries were ordered last.
    ordered: Instant,
    /// When it moved to other paths last.
    moved: Option<Instant>,
    /// Node that sends data, and node that receives them.
    ends: (NodeId, NodeId),
}

/// How a router finds paths.
pub trait PathFinder {
    /// Links of the best path between two nodes, if there is one; by this metric, for a flow that has one of its own.
    fn path(&self, view: &View<'_>, ends: (NodeId, NodeId), metric: Option<Metric>) -> Option<Vec<LinkId>>;

    /// Links of a path that one flow has whatever is best, between two nodes; `None` for most flows.
    fn own_path(&self, _view: &View<'_>, _flow: FlowId, _from: NodeId, _to: NodeId) -> Option<Vec<LinkId>> {
        None
    }

    /// Whether an open flow, which came to its path at `moved` if it has moved at all, stays on it though another
    /// has been found since.
    fn keeps(
        &self,
        _view: &View<'_>,
        _metric: Option<Metric>,
        _moved: Option<Instant>,
        _current: &[LinkId],
        _found: &[LinkId],
    ) -> bool {
        false
    }
}

/// The shortest path by a metric that adds up.
#[derive(Clone, Copy, Debug)]
pub struct ByMetric(pub Metric);

impl PathFinder for ByMetric {
    fn path(
        &self,
        view: &View<'_>,
        (from, to): (NodeId, NodeId),
        metric: Option<Metric>,
    ) -> Option<Vec<LinkId>> {
        let mask = view.mask_between(from, to);
        let metric = metric.unwrap_or(self.0);
        let plan = Scheme::Shortest(ShortestScheme { metric, limits: None }).plan(
            view.network,
            &mask,
            &[(from, to)],
        );
        plan.route(from, to).map(|route| route.paths[0].links.links().to_vec())
    }
}

/// Ends of a path, and the place of the metric that it goes by where a flow has one of its own.
type PathKey = (NodeId, NodeId, Option<usize>);

/// Paths of flows and the entries that follow them.
#[derive(Debug)]
pub struct Router<F = ByMetric> {
    finder: F,
    linger: Span,
    /// SYN and FIN of a known flow go through the controller, not past it.
    detour: bool,
    flows: BTreeMap<FlowId, KnownFlow>,
    /// Metrics of flows that have one of their own.
    metrics: BTreeMap<FlowId, Metric>,
    /// Paths by pair and such a metric, until the network changes.
    paths: BTreeMap<PathKey, Option<Vec<LinkId>>>,
    /// Flows that have closed, by the time at which their entries go.
    closing: BTreeSet<(Instant, FlowId)>,
    idle_timeout: Span,
    /// Flows that a full table has refused, by switch. Their packets go by the controller, without new set-ups,
    /// until something has left that table.
    refused: BTreeSet<(NodeId, FlowId)>,
    /// When a flow's entries were ordered again at a switch.
    repeated: BTreeMap<(FlowId, NodeId), Instant>,
}

impl Router {
    /// A router that knows no flow and finds paths by the metric of the setup.
    #[must_use]
    pub fn new(setup: &ControllerSetup) -> Self {
        Self::with_finder(setup, ByMetric(setup.metric))
    }
}

impl<F: PathFinder> Router<F> {
    /// A router that knows no flow and finds paths in its own way.
    #[must_use]
    pub fn with_finder(setup: &ControllerSetup, finder: F) -> Self {
        Self {
            finder,
            linger: setup.linger,
            detour: true,
            flows: BTreeMap::new(),
            metrics: setup.flow_metrics.iter().copied().collect(),
            paths: BTreeMap::new(),
            closing: BTreeSet::new(),
            idle_timeout: setup.table.idle_timeout.unwrap_or_default(),
            refused: BTreeSet::new(),
            repeated: BTreeMap::new(),
        }
    }

    /// What finds its paths. Those of open flows follow a change of it at [`Router::reroute`].
    pub fn finder_mut(&mut self) -> &mut F {
        &mut self.finder
    }

    /// SYN and FIN of known flows go on at once, and the controller is told.
    #[must_use]
    pub fn without_detour(mut self) -> Self {
        self.detour = false;
        self
    }

    /// A flow that has been admitted.
    #[must_use]
    pub fn flow(&self, flow: FlowId) -> Option<&KnownFlow> {
        self.flows.get(&flow)
    }

    /// All flows that have been admitted, by number.
    pub fn flows(&self) -> impl Iterator<Item = (FlowId, &KnownFlow)> {
        self.flows.iter().map(|(&id, flow)| (id, flow))
    }

    /// Gives a flow a path, if it has none yet, and orders its entries at every switch, the access switch
    /// first. Returns whether there is a path.
    pub fn admit(&mut self, view: &View<'_>, header: &Header, out: &mut Vec<Order>) -> bool {
        let ends = match header.direction {
            Direction::Forward => (header.from, header.to),
            Direction::Backward => (header.to, header.from),
        };
        let (Some(forward), Some(backward)) =
            (self.path(view, header.flow, ends.0, ends.1), self.path(view, header.flow, ends.1, ends.0))
        else {
            return false;
        };
        let access = first_switch(view, &forward, ends.0);
        let (open, removed, ordered, moved) = (true, false, view.now, None);
        let flow = KnownFlow { forward, backward, access, open, removed, ordered, moved, ends };
        for switch in switches(view, &flow) {
            out.push(Order::SetUp { switch, rules: self.rules(view, header.flow, &flow, switch) });
        }
        self.flows.insert(header.flow, flow);
        true
    }

    /// Sends the packet at hand on its way, from the switch that asked; that switch gets the flow's entries
    /// again if the packet missed there while the flow is open. Packets behind the end of a flow go to the
    /// last switch at once. A packet of an unknown flow is dropped.
    pub fn release(&self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        self.release_apart(view, packet, Span::ZERO, out);
    }

    /// The same, with a gap behind it before the next.
    pub fn release_apart(&self, view: &View<'_>, packet: &PacketIn, gap: Span, out: &mut Vec<Order>) {
        let Some(flow) = self.flows.get(&packet.header.flow) else { return };
        let path = match packet.header.direction {
            Direction::Forward => &flow.forward,
            Direction::Backward => &flow.backward,
        };
        let Some(&last) = path.last() else { return };
        let next = path.iter().copied().find(|&link| view.network.link(link).from == packet.switch);
        let link = if flow.removed { last } else { next.unwrap_or(last) };
        out.push(Order::Release { switch: view.network.link(link).from, link, window: None, gap });
    }

    /// Orders the entries of a known flow again at the switch where a packet of it has missed, unless a set-up is
    /// on its way there.
    pub fn repeat(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        let (id, switch) = (packet.header.flow, packet.switch);
        if !packet.missed || self.refused.contains(&(switch, id)) {
            return;
        }
        let Some(flow) = self.flows.get_mut(&id).filter(|flow| !flow.removed) else { return };
        let last = self.repeated.get(&(id, switch)).copied().unwrap_or_default().max(flow.ordered);
        // The packet left the switch before the set-up could have come.
        let way_up = view.channels.delay_up(view.network, switch, MESSAGE_BYTES);
        let both_ways = way_up.saturating_add(view.channels.delay_down(view.network, switch, MESSAGE_BYTES));
        if view.now < last.saturating_add(both_ways) {
            return;
        }
        self.repeated.insert((id, switch), view.now);
        let flow = flow.clone();
        let rules = self.rules(view, id, &flow, switch);
        if !rules.is_empty() {
            out.push(Order::SetUp { switch, rules });
        }
    }

    /// A full table has refused a flow.
    pub fn on_refused(&mut self, switch: NodeId, id: FlowId) {
        if self.flows.get(&id).is_some_and(|flow| !flow.removed) {
            self.refused.insert((switch, id));
        }
    }

    fn forget_repeated(&mut self, id: FlowId) {
        let mut behind = self.repeated.split_off(&(id, NodeId(0)));
        let mut others = behind.split_off(&(FlowId(id.0.saturating_add(1)), NodeId(0)));
        self.repeated.append(&mut others);
    }

    fn on_room(&mut self, switch: NodeId) {
        let mut behind = self.refused.split_off(&(switch, FlowId(0)));
        let mut others = behind.split_off(&(NodeId(switch.0.saturating_add(1)), FlowId(0)));
        self.refused.append(&mut others);
    }

    /// Entries have gone without an order. If that is because an open flow has gone idle, it is forgotten: it is
    /// over or pauses, and its next packet is that of a new flow. Returns whether that is so.
    ///
    /// A report about entries that have been ordered anew since, or about a path that the flow has left, says
    /// nothing about the flow.
    pub fn on_removed(&mut self, view: &View<'_>, removal: &Removal) -> bool {
        self.on_room(removal.switch);
        let Some(flow) = self.flows.get(&removal.flow).filter(|flow| flow.open) else { return false };
        let path = match removal.direction {
            Direction::Forward => &flow.forward,
            Direction::Backward => &flow.backward,
        };
        let on_path = path.iter().any(|&link| view.network.link(link).from == removal.switch);
        let repeated = self.repeated.get(&(removal.flow, removal.switch)).copied().unwrap_or_default();
        let current = removal.at >= flow.ordered.max(repeated).saturating_add(self.idle_timeout);
        let idle = removal.reason == Reason::Idle && on_path && current;
        if idle {
            self.flows.remove(&removal.flow);
            self.forget_repeated(removal.flow);
        }
        idle
    }

    /// A flow has sent its FIN: its entries go, at once or after the linger time.
    pub fn close(&mut self, view: &View<'_>, id: FlowId, out: &mut Vec<Order>) {
        let Some(flow) = self.flows.get_mut(&id).filter(|flow| flow.open) else { return };
        flow.open = false;
        if self.linger == Span::ZERO {
            self.remove(view, id, out);
        } else {
            self.closing.insert((view.now.saturating_add(self.linger), id));
        }
    }

    fn remove(&mut self, view: &View<'_>, id: FlowId, out: &mut Vec<Order>) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        flow.removed = true;
        let flow = flow.clone();
        self.forget_repeated(id);
        for switch in switches(view, &flow) {
            out.push(Order::Remove { switch, flow: id });
            self.on_room(switch);
        }
    }

    /// Removes the entries of flows whose linger time is over.
    pub fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        while let Some(&(at, id)) = self.closing.first() {
            if at > view.now {
                break;
            }
            self.closing.pop_first();
            if self.flows.get(&id).is_some_and(|flow| !flow.open) {
                self.remove(view, id, out);
            }
        }
    }

    /// When [`Router::on_timer`] is to be called.
    #[must_use]
    pub fn next_timer(&self) -> Option<Instant> {
        self.closing.first().map(|entry| entry.0)
    }

    /// Finds the paths of all flows with entries anew, and moves the entries of those that change. A flow without
    /// a path keeps its old one, which may come back. Returns the flows that moved.
    pub fn reroute(&mut self, view: &View<'_>, out: &mut Vec<Order>) -> Vec<FlowId> {
        self.paths.clear();
        let there: Vec<FlowId> = self.flows().filter(|(_, flow)| !flow.removed).map(|(id, _)| id).collect();
        there.into_iter().filter(|&id| self.reroute_flow(view, id, out)).collect()
    }

    fn reroute_flow(&mut self, view: &View<'_>, id: FlowId, out: &mut Vec<Order>) -> bool {
        let Some(old) = self.flows.get(&id).cloned() else { return false };
        let ends = old.ends;
        let (Some(forward), Some(backward)) =
            (self.path(view, id, ends.0, ends.1), self.path(view, id, ends.1, ends.0))
        else {
            return false;
        };
        let metric = self.metrics.get(&id).copied();
        let stay = |(from, to), current: &[LinkId], path_now: Vec<LinkId>| {
            let is_own = self.finder.own_path(view, id, from, to).is_some();
            let keeps = !is_own && self.finder.keeps(view, metric, old.moved, current, &path_now);
            if keeps { current.to_vec() } else { path_now }
        };
        let forward = stay(ends, &old.forward, forward);
        let backward = stay((ends.1, ends.0), &old.backward, backward);
        if forward == old.forward && backward == old.backward {
            return false;
        }
        let access = first_switch(view, &forward, ends.0);
        let (ordered, moved) = (view.now, Some(view.now));
        let flow = KnownFlow { forward, backward, access, ordered, moved, ..old.clone() };
        let kept = switches(view, &flow);
        for &switch in &kept {
            out.push(Order::SetUp { switch, rules: self.rules(view, id, &flow, switch) });
        }
        for switch in switches(view, &old).into_iter().filter(|switch| !kept.contains(switch)) {
            out.push(Order::Remove { switch, flow: id });
            self.on_room(switch);
        }
        self.flows.insert(id, flow);
        true
    }

    /// Entries of a flow at a switch.
    fn rules(&self, view: &View<'_>, id: FlowId, flow: &KnownFlow, switch: NodeId) -> Vec<Rule> {
        let leaving = |path: &[LinkId]| path.iter().copied().find(|&l| view.network.link(l).from == switch);
        let forward = leaving(&flow.forward);
        let backward = leaving(&flow.backward).map(|link| Rule::output(id, Direction::Backward, link));
        let mut rules: Vec<Rule> =
            forward.map(|link| Rule::output(id, Direction::Forward, link)).into_iter().collect();
        rules.extend(backward);
        if let Some(link) = forward.filter(|_| switch == flow.access) {
            let action = if self.detour { Action::Controller } else { Action::OutputAndTell(link) };
            rules.push(Rule::ends(id, action));
        }
        rules
    }

    fn path(&mut self, view: &View<'_>, id: FlowId, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let finder = &self.finder;
        if let Some(path_of_flow) = finder.own_path(view, id, from, to) {
            return Some(path_of_flow);
        }
        let metric = self.metrics.get(&id).copied();
        let place =
            metric.and_then(|metric| Metric::NAMES.iter().position(|&(_, of_name)| of_name == metric));
        self.paths.entry((from, to, place)).or_insert_with(|| finder.path(view, (from, to), metric)).clone()
    }
}

/// Whether a packet comes from the flow's sender itself and opens or ends the flow there.
#[must_use]
pub fn from_sender(packet: &PacketIn) -> bool {
    packet.header.direction == Direction::Forward && packet.ingress == Ingress::Host
}

fn first_switch(view: &View<'_>, forward: &[LinkId], from: NodeId) -> NodeId {
    if view.is_switch(from) { from } else { view.network.link(forward[0]).to }
}

/// Switches that need entries of a flow, in the order of its way there and then its way back.
fn switches(view: &View<'_>, flow: &KnownFlow) -> Vec<NodeId> {
    let links = flow.forward.iter().chain(&flow.backward);
    let nodes = links.map(|&link| view.network.link(link).from).filter(|&node| view.is_switch(node));
    let mut seen = Vec::new();
    for node in nodes {
        if !seen.contains(&node) {
            seen.push(node);
        }
    }
    seen
}
