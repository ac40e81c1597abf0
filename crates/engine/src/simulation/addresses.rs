//! Addresses of hosts that come and go: the ends of connections are told, and their new subflows get their way.

use super::Simulation;
use super::data_plane::DataPlane;
use super::flow::interfaces;
use super::way::Lane;
use crate::capture::interface_address;
use crate::forwarding::Ends;
use crate::ports::draw_source_port;
use crate::reordering::Reordering;
use crate::setup::{FlowSetup, Setup};
use anabranch_routing::{Mirror, Plan};
use anabranch_transport::mptcp::AddressChange;
use anabranch_units::{FlowId, LinkId};

/// The setup of a flow by its place, of which a part of a run has those of its own.
fn setup_of<'s>((setup, data): (&'s Setup, &DataPlane), index: usize) -> &'s FlowSetup {
    &setup.flows[data.passage.as_ref().map_or(index, |passage| passage.id(FlowId::from_index(index)).index())]
}

impl Simulation {
    /// The address of the host where `link` begins, by which its packets leave over that link, comes or goes, or its
    /// subflows become backups. Every connection of the host that looks at addresses hears of it.
    pub(super) fn change_address(&mut self, link: LinkId, up: Option<bool>, backup: Option<bool>) {
        let host = self.data.network.link(link).from;
        let edge = Mirror::new(&self.data.network).edge(link);
        let now = self.data.now;
        for index in 0..self.flows.len() {
            let Some((flow, receiving)) = self.flows.ends_mut(index) else { continue };
            let (from, to) = (flow.forward.from, flow.forward.to);
            let Some(hosts) = flow.multipath.as_ref().and_then(|multipath| multipath.hosts.as_ref()) else {
                continue;
            };
            let place =
                |edges: &[LinkId]| edges.iter().position(|&other| other == edge).map(|place| place as u8);
            let (here, there) = (place(&hosts.from), place(&hosts.to));
            let change = |interface: u8| match (up, backup) {
                (_, Some(backup)) => AddressChange::Backup(backup),
                (Some(true), _) => AddressChange::Up { address: interface_address(host, interface) },
                _ => AddressChange::Down,
            };
            let id = FlowId::from_index(index);
            if let Some(interface) = here.filter(|_| from == host) {
                flow.sender.on_address(now, interface, change(interface));
                self.place_subflows(id);
                self.flush_sender(id);
            } else if let Some(interface) = there.filter(|_| to == host) {
                receiving.agent.on_address(now, interface, change(interface));
                if !flow.application.opened() {
                    flow.sender.know_remote(interface, change(interface));
                }
                self.flush_receiver(id);
            }
        }
    }

    /// The address of the host where `link` begins, by which packets of a flow of Multipath TCP leave over that link.
    /// `None` where the flow has no end there, or looks at no addresses.
    #[must_use]
    pub fn address_at(&self, flow: FlowId, link: LinkId) -> Option<[u8; 4]> {
        let host = self.data.network.link(link).from;
        let edge = Mirror::new(&self.data.network).edge(link);
        let flow = self.flows.get(flow.index())?;
        let hosts = flow.multipath.as_ref()?.hosts.as_ref()?;
        let edges = if flow.forward.from == host {
            &hosts.from
        } else if flow.forward.to == host {
            &hosts.to
        } else {
            return None;
        };
        let interface = edges.iter().position(|&other| other == edge)?;
        Some(interface_address(host, interface as u8))
    }

    /// Tells connections that look at interfaces which of them the paths of a new plan join.
    pub(super) fn join_interfaces(&mut self, plan: &Plan) {
        if self.setup.controller.is_some() {
            return;
        }
        let mirror = Mirror::new(&self.data.network);
        for index in 0..self.flows.len() {
            let Some(flow) = self.flows.get_mut(index) else { continue };
            let hosts = flow.multipath.as_ref().and_then(|multipath| multipath.hosts.as_ref());
            let Some(hosts) = hosts.filter(|hosts| hosts.have_a_choice()) else { continue };
            let setup = setup_of((&self.setup, &self.data), index);
            let interfaces = interfaces(hosts, setup, plan, &mirror);
            if flow.sender.on_interfaces(interfaces) {
                let id = FlowId::from_index(index);
                self.place_subflows(id);
                self.flush_sender(id);
            }
        }
    }

    /// Gives each subflow that has none its way through the network, and the first one another if it opens from another
    /// address than it would have.
    pub(super) fn place_subflows(&mut self, id: FlowId) {
        let Some((flow, receiving)) = self.flows.ends_mut(id.index()) else { return };
        let Some(multipath) = &mut flow.multipath else { return };
        for subflow in 0..flow.sender.subflow_count() {
            let setup = setup_of((&self.setup, &self.data), id.index());
            let routing = setup.routing;
            let addresses = flow.sender.subflow_addresses(subflow);
            let (from, to) = (flow.forward.from, flow.forward.to);
            let is_new = usize::from(subflow) >= multipath.count();
            let (here, there) =
                (interface_address(from, addresses.local), interface_address(to, addresses.remote));
            let stays = |lane: &Lane| (lane.key.source.addr, lane.key.destination.addr) == (here, there);
            if !is_new && stays(flow.forward.lanes.get(subflow)) {
                continue;
            }
            let ways = Lane::of_subflow(
                Ends { routing, from, to },
                (multipath.hosts.as_ref(), addresses),
                &mut self.data.forwarding,
            );
            let ways = ways.expect("both ways of every pair have an index since the flow was made");
            let lanes = if is_new {
                let mut stream =
                    self.setup.streams().stream(&setup.name, &format!("port of subflow {subflow}"));
                let taken = |port: u16| flow.forward.lanes.iter().any(|lane| lane.key.source.port == port);
                let mut port = draw_source_port(&mut stream);
                while taken(port) {
                    port = draw_source_port(&mut stream);
                }
                let lanes = ways.with_port(port, self.numbered);
                self.numbered += self.numbered_by;
                flow.forward.lanes.push(lanes.0);
                receiving.backward.lanes.push(lanes.1);
                receiving.reordering.push(Reordering::new());
                multipath.add_subflow();
                lanes
            } else {
                let lane = flow.forward.lanes.get(subflow);
                let lanes = ways.with_port(lane.key.source.port, lane.key.index / 2);
                *flow.forward.lanes.get_mut(subflow) = lanes.0;
                *receiving.backward.lanes.get_mut(subflow) = lanes.1;
                lanes
            };
            receiving.agent.place_subflow(subflow, addresses.remote);
            self.data.taps.place_subflow(id.index(), subflow, (lanes.0.key.source, lanes.0.key.destination));
        }
    }
}
