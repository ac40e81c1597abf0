use super::application::Application;
use super::multipath::Multipath;
use super::nic::{BY_TURNS, path_facts};
use super::reader::Reader;
use super::receiving::Receiving;
use super::share::Share;
use super::way::{Lane, PerSubflow, Way, Ways};
use crate::balancer::FlowKey;
use crate::error::{EngineError, SetupError};
use crate::forwarding::{Ends, Forwarding, RouteIndex};
use crate::interfaces::Hosts;
use crate::packet::Direction;
use crate::ports::draw_source_port;
use crate::random::{Stream, Streams};
use crate::reordering::Reordering;
use crate::setup::{FlowSetup, HostSetup, Setup};
use anabranch_network::Network;
use anabranch_routing::{Mirror, Plan};
use anabranch_transport::mptcp::{Interfaces, SubflowAddresses};
use anabranch_transport::spray::PathFacts;
use anabranch_transport::{Flags, ReceiverAgent, Segment, SenderAgent, SharedConfig, TransportConfig};
use anabranch_units::{Instant, MaybeInstant, NodeId, prefetch_lines};
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;

/// The end of a connection that sends, its application, and the way there.
#[repr(C)]
pub(super) struct Flow {
    /// What is noted of a multipath connection besides.
    pub(super) multipath: Option<Box<Multipath>>,
    /// When the first data segment left, and the first FIN, or DATA_FIN where the flow is multipath.
    pub(super) first_data_at: MaybeInstant,
    pub(super) fin_at: MaybeInstant,
    /// Most segments that its sender's host hands to the network as one.
    pub(super) offload: usize,
    pub(super) forward: Way,
    /// Packets that have reached the sender.
    pub(super) answered: u64,
    pub(super) sender: SenderAgent,
    pub(super) application: Application,
}

/// Its lines of the cache, counted from that of [`Flow::answered`].
const LINES: Range<isize> = {
    let before = offset_of!(Flow, answered).div_ceil(64) as isize;
    -before..(size_of::<Flow>() as isize / 64 - before + 1)
};

/// What is drawn for a flow.
struct Drawn {
    /// Source port of its first subflow.
    port: u16,
    /// First sequence numbers of its ends.
    sequence: u32,
    peer_sequence: u32,
    /// Draws of what comes after.
    stream: Stream,
}

impl Drawn {
    fn new(flow: &FlowSetup, streams: Streams) -> Self {
        let mut stream = streams.stream(&flow.name, "connection");
        let port = draw_source_port(&mut stream);
        let (sequence, peer_sequence) = (stream.next_u64() as u32, stream.next_u64() as u32);
        Self { port, sequence, peer_sequence, stream }
    }
}

/// What flows are made from.
pub(super) struct Maker<'m> {
    pub(super) setup: &'m Setup,
    pub(super) network: &'m Network,
    pub(super) plan: &'m Plan,
    pub(super) mirror: Mirror,
    pub(super) streams: Streams,
}

impl Maker<'_> {
    /// Makes the flows of a setup that has been checked, in order, and routes between interfaces known to `forwarding`.
    /// Gives how many subflows all flows of the setup have.
    pub(super) fn flows(
        &self,
        share: &Share<'_>,
        forwarding: &mut Forwarding,
        mut add: impl FnMut(Flow, Receiving),
    ) -> Result<u32, EngineError> {
        let configs = self.setup.transports.iter().map(|transport| SharedConfig::from(&transport.config));
        let configs: Vec<SharedConfig<'_>> = configs.collect();
        let mut subflows = 0;
        let offload = |host: &HostSetup| (host.node, host.offload.get());
        let offload: BTreeMap<_, _> = self.setup.hosts.iter().map(offload).collect();
        let mut facts = BTreeMap::new();
        let mut here = share.flows.iter().map(|id| id.index()).peekable();
        for (index, flow) in self.setup.flows.iter().enumerate() {
            let config = &configs[flow.transport];
            if here.next_if_eq(&index).is_none() {
                // Another part has it; but its subflows have numbers.
                subflows += match config {
                    SharedConfig::Mptcp(..) => {
                        u32::from(self.sender((index, flow), config)?.0.subflow_count())
                    }
                    _ => 1,
                };
                continue;
            }
            let (mut flow, receiving) = self.flow((index, flow), config, subflows, forwarding)?;
            if let SharedConfig::Spray(_) = config {
                let setup = &self.setup.flows[index];
                let ends = (setup.routing, setup.from, setup.to);
                let full_packet = self.setup.transports[setup.transport].config.full_packet();
                let make = || self.path_facts(setup, full_packet);
                flow.sender.know_path(*facts.entry((ends, full_packet)).or_insert_with(make));
                flow.offload = BY_TURNS;
            } else if let Some(&segments) = offload.get(&flow.forward.from) {
                flow.offload = usize::from(segments);
                flow.sender.set_offload(segments);
            }
            subflows += u32::from(flow.sender.subflow_count());
            add(flow, receiving);
        }
        Ok(subflows)
    }

    /// What a flow may know of its first path: the way by the first of the next hops, where routes are tables of these.
    fn path_facts(&self, flow: &FlowSetup, full_packet: u64) -> PathFacts {
        let plan = self.plan.at(flow.routing);
        let ends = (flow.from, flow.to);
        let path = plan.and_then(|plan| plan.route(flow.from, flow.to)).and_then(|route| route.paths.first());
        let links = match (path, plan) {
            (Some(path), _) => path.links.links().to_vec(),
            (None, Some(plan)) => plan.first_way(self.network, ends),
            (None, None) => Vec::new(),
        };
        path_facts(self.network, ends, &links, full_packet)
    }

    /// The sender of a flow, the interfaces of its ends, and what else was drawn for it.
    fn sender(
        &self,
        (index, flow): (usize, &FlowSetup),
        shared: &SharedConfig<'_>,
    ) -> Result<(SenderAgent, Option<Hosts>, Drawn), EngineError> {
        let config = &self.setup.transports[flow.transport].config;
        let mut drawn = Drawn::new(flow, self.streams);
        let hosts = self.hosts(index, flow, config)?;
        let ends = hosts.as_ref().filter(|hosts| hosts.have_a_choice());
        let interfaces = match ends {
            None => Interfaces::all_joined(1, 1),
            // Where it forwards, what the plan has is not all that there is.
            Some(hosts) if self.setup.controller.is_some() => {
                Interfaces::all_joined(hosts.from.len() as u8, hosts.to.len() as u8)
            }
            Some(hosts) => interfaces(hosts, flow, self.plan, &self.mirror),
        };
        let seed = drawn.stream.next_u64();
        let sender = SenderAgent::with_interfaces(shared, drawn.sequence, seed, interfaces);
        Ok((sender, hosts, drawn))
    }

    /// A flow of which the first subflow is number `number` of all.
    fn flow(
        &self,
        (index, flow): (usize, &FlowSetup),
        shared: &SharedConfig<'_>,
        number: u32,
        forwarding: &mut Forwarding,
    ) -> Result<(Flow, Receiving), EngineError> {
        let config = &self.setup.transports[flow.transport].config;
        let (sender, hosts, Drawn { port, peer_sequence, mut stream, .. }) =
            self.sender((index, flow), shared)?;
        let ends = hosts.as_ref().filter(|hosts| hosts.have_a_choice());
        let ports = source_ports(port, sender.subflow_count(), &mut stream);
        let mut receiver = ReceiverAgent::sharing(shared, peer_sequence);
        if flow.reads.is_some() {
            receiver.hold(config);
        }
        let (mut forward, mut backward) = (Vec::new(), Vec::new());
        let sides = Ends { routing: flow.routing, from: flow.from, to: flow.to };
        for (subflow, port) in (0..).zip(ports) {
            let addresses = sender.subflow_addresses(subflow);
            let lanes = Lane::of_subflow(sides, (hosts.as_ref(), addresses), forwarding);
            let lanes = lanes.ok_or_else(|| without_route(index))?;
            let (forth, back) = lanes.with_port(port, number + u32::from(subflow));
            forward.push(forth);
            backward.push(back);
            receiver.place_subflow(subflow, addresses.remote);
        }
        // An address that comes up later has its routes from the first plan on.
        for between in ends.into_iter().flat_map(Hosts::pairs) {
            forwarding.index_between(sides, between);
            forwarding.index_between(sides.reversed(), between.reversed());
        }
        let count = usize::from(sender.subflow_count());
        let lanes = PerSubflow::new(forward).zip(PerSubflow::new(backward));
        let lanes = lanes.ok_or_else(|| at(index, "it has no subflow"))?;
        let reordering = PerSubflow::new((0..count).map(|_| Reordering::new()));
        let reordering = reordering.ok_or_else(|| at(index, "it has no subflow"))?;
        let multipath = sender.multipath_stats().map(|_| Box::new(Multipath::new(count, hosts)));
        let (flow, receiving) = Flow::new(flow, self.streams, (sender, receiver), (lanes, reordering))?;
        Ok((Flow { multipath, ..flow }, receiving))
    }

    /// The interfaces of the ends, where the path manager looks at them.
    fn hosts(
        &self,
        index: usize,
        flow: &FlowSetup,
        config: &TransportConfig,
    ) -> Result<Option<Hosts>, SetupError> {
        if !config.looks_at_interfaces() {
            return Ok(None);
        }
        let route = self.plan.at(flow.routing).and_then(|plan| plan.route(flow.from, flow.to));
        let hosts = Hosts::new(self.network, &self.mirror, flow.from, flow.to, route);
        if !config.follows_addresses() {
            // Under a controller nobody knows beforehand what its paths will join.
            let several = self.setup.controller.is_none()
                && interfaces(&hosts, flow, self.plan, &self.mirror).have_several_joined();
            return Ok(several.then_some(hosts));
        }
        if !hosts.have_a_choice() {
            return Ok(Some(hosts));
        }
        if route.is_some_and(|route| route.paths.is_empty()) {
            return Err(at(
                index,
                "the path manager fullmesh chooses among whole paths, and the routes of this pair are tables of \
                 next hops, which know nodes and no interfaces; take a scheme with paths, such as disjoint, or \
                 ndiffports",
            ));
        }
        Ok(Some(hosts))
    }
}

/// The interfaces of the ends of a flow as the routes of a plan join them.
pub(super) fn interfaces(hosts: &Hosts, flow: &FlowSetup, plan: &Plan, mirror: &Mirror) -> Interfaces {
    let routes = plan.at(flow.routing);
    let route = |from, to| routes.and_then(|plan| plan.route(from, to));
    hosts.interfaces(route(flow.from, flow.to), route(flow.to, flow.from), mirror)
}

fn at(index: usize, problem: &str) -> SetupError {
    SetupError::new(format!("flows[{index}]"), problem)
}

pub(super) fn without_route(index: usize) -> SetupError {
    at(index, "its pair has no route index")
}

/// Source ports of `count` subflows: the first one as drawn, the others drawn after it, each another one.
fn source_ports(first: u16, count: u8, stream: &mut Stream) -> Vec<u16> {
    let mut ports = vec![first];
    while ports.len() < usize::from(count) {
        let port = draw_source_port(stream);
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports
}

impl Flow {
    fn new(
        setup: &FlowSetup,
        streams: Streams,
        (sender, agent): (SenderAgent, ReceiverAgent),
        ((forward, backward), reordering): ((PerSubflow<Lane>, PerSubflow<Lane>), PerSubflow<Reordering>),
    ) -> Result<(Self, Receiving), EngineError> {
        let lane = |from, to, lanes| Way { from, to, lanes, injected: 0 };
        let reader = setup.reads.as_deref().map(|&reading| Box::new(Reader::new(setup.start, reading)));
        let receiving = Receiving {
            agent,
            received: 0,
            completed_at: MaybeInstant::NONE,
            reader,
            reordering,
            backward: lane(setup.to, setup.from, backward),
        };
        let flow = Self {
            multipath: None,
            first_data_at: MaybeInstant::NONE,
            fin_at: MaybeInstant::NONE,
            offload: 1,
            forward: lane(setup.from, setup.to, forward),
            answered: 0,
            sender,
            application: Application::new(setup, streams)?,
        };
        Ok((flow, receiving))
    }

    /// A flow between the first addresses of its hosts, over these routes there and back; its only subflow has this number.
    pub(super) fn plain(
        setup: &FlowSetup,
        config: &SharedConfig<'_>,
        streams: Streams,
        (routes, number): ((RouteIndex, RouteIndex), u32),
    ) -> Result<(Self, Receiving), EngineError> {
        let Drawn { port, sequence, peer_sequence, mut stream } = Drawn::new(setup, streams);
        let (interfaces, seed) = (Interfaces::all_joined(1, 1), stream.next_u64());
        let sender = SenderAgent::with_interfaces(config, sequence, seed, interfaces);
        let ways = Ways::new((setup.from, setup.to), SubflowAddresses::default(), routes);
        let (forth, back) = ways.with_port(port, number);
        let ends = (sender, ReceiverAgent::sharing(config, peer_sequence));
        let lanes = (PerSubflow::one(forth), PerSubflow::one(back));
        Self::new(setup, streams, ends, (lanes, PerSubflow::one(Reordering::new())))
    }

    /// Whether it is done and neither end waits for anything.
    pub(super) fn is_at_rest(&self, receiving: &Receiving) -> bool {
        receiving.completed_at.is_some()
            && self.next_application_event().is_none()
            && self.sender.next_timeout().is_none()
            && receiving.agent.next_timeout().is_none()
    }

    /// The key by which packets of a subflow are spread in this direction.
    #[inline]
    pub(super) fn key(&self, direction: Direction, subflow: u8) -> FlowKey {
        let key = &self.forward.lanes.get(subflow).key;
        match direction {
            Direction::Forward => *key,
            Direction::Backward => key.reversed(),
        }
    }

    /// Where packets of this direction come from and go to.
    pub(super) fn between(&self, direction: Direction) -> (NodeId, NodeId) {
        match direction {
            Direction::Forward => (self.forward.from, self.forward.to),
            Direction::Backward => (self.forward.to, self.forward.from),
        }
    }

    /// Begins to fetch it.
    pub(super) fn prefetch(&self) {
        prefetch_lines(&self.answered, LINES);
    }

    /// Notes when data begin and end: the sender sends a packet, from its first segment to its last.
    #[inline]
    pub(super) fn note_sent(&mut self, now: Instant, first: &Segment, last: &Segment) {
        if first.payload > 0 && !self.first_data_at.is_some() {
            self.first_data_at = now.into();
        }
        let closes = if self.multipath.is_some() { last.is_data_fin() } else { last.flags.has(Flags::FIN) };
        if closes && !self.fin_at.is_some() {
            self.fin_at = now.into();
        }
    }

    pub(super) fn next_application_event(&self) -> Option<Instant> {
        self.application.next_event()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_of_a_flow_lies_in_few_lines_of_the_cache() {
        assert!(size_of::<Flow>() <= 18 * 64, "{}", size_of::<Flow>());
        assert!(size_of::<Receiving>() <= 7 * 64, "{}", size_of::<Receiving>());
    }
}
