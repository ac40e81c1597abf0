//! Addresses of hosts that come and go during a run.

use super::changes::address_links;
use super::flows::FlowSlices;
use super::network::Network;
use crate::event::{Event, State};
use crate::problem::{Place, Problems};
use crate::words::quoted;
use anabranch_engine::setup::TransportSetup;
use anabranch_engine::transport::{PathManagerConfig, TransportConfig};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Who looks at the addresses of a host.
pub(super) struct Addresses<'a> {
    network: &'a Network,
    flows: FlowSlices<'a>,
    transports: &'a [TransportSetup],
    /// The transports of each node's connections, once they are asked for: there may be a million.
    used: OnceCell<BTreeMap<u32, BTreeSet<usize>>>,
}

/// The path manager of a transport; none for one that is not multipath.
pub(super) const fn manager(transport: &TransportSetup) -> Option<&PathManagerConfig> {
    match &transport.config {
        TransportConfig::Mptcp(config) => Some(&config.path_manager),
        _ => None,
    }
}

impl<'a> Addresses<'a> {
    pub(super) const fn new(
        network: &'a Network,
        flows: FlowSlices<'a>,
        transports: &'a [TransportSetup],
    ) -> Self {
        Self { network, flows, transports, used: OnceCell::new() }
    }

    /// The transports of a node's connections.
    fn used_at(&self, node: u32) -> Option<&BTreeSet<usize>> {
        let used = self.used.get_or_init(|| {
            let mut used: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
            for flow in 0..self.flows.len() {
                let transport = self.flows.entries[self.flows.entry[flow] as usize].transport;
                for node in [self.flows.from[flow], self.flows.to[flow]] {
                    used.entry(node).or_default().insert(transport);
                }
            }
            used
        });
        used.get(&node)
    }

    /// Notes an event about an address at which no connection looks.
    pub(super) fn check(&self, event: &Event, at: &Place<'_>, problems: &mut Problems) {
        let links = address_links(event, at, self.network, problems);
        let Some(link) = links.first().map(|&link| &self.network.links[link]) else { return };
        if self.looks(link.from.0) {
            return;
        }
        let host = quoted(self.network.name(link.from.0));
        let remedy = if self.looks(link.to.0) {
            let neighbour = quoted(self.network.name(link.to.0));
            format!("name the host first, and then its neighbour: [{neighbour}, {host}]")
        } else {
            self.remedy(link.from.0)
        };
        problems.add(&at.key("address"), format!("no connection of {host} looks at its addresses; {remedy}"));
    }

    /// Notes an event that leaves a host without an address for the rest of the run.
    pub(super) fn check_last(&self, events: &[Event], problems: &mut Problems) {
        let mut order: Vec<_> = events.iter().enumerate().collect();
        order.sort_by_key(|(_, event)| event.at);
        let mut up: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        for (number, event) in order {
            let Some(state) = event.state.filter(|_| event.address.is_some()) else { continue };
            let place = format!("event[{number}]");
            let at = Place::Told(&place);
            for link in address_links(event, &at, self.network, problems) {
                let host = self.network.links[link].from.0;
                let all = || {
                    self.network.links.iter().zip(0..).filter(|(of, _)| of.from.0 == host).map(|(_, id)| id)
                };
                let here = up.entry(host).or_insert_with(|| all().collect());
                match state {
                    State::Up => here.insert(link),
                    State::Down | State::Silent => here.remove(&link),
                };
                if here.is_empty() && !self.comes_up(host, event, events) {
                    let message = format!(
                        "takes the last address of {}, and none comes up later, so that its connections wait for ever; \
                         let one come up, by an event with state = \"up\", or end the traffic with stop",
                        quoted(self.network.name(host))
                    );
                    problems.add(&at.key("state"), message);
                }
            }
        }
    }

    fn comes_up(&self, host: u32, after: &Event, events: &[Event]) -> bool {
        let later = events.iter().filter(|event| event.state == Some(State::Up) && event.at >= after.at);
        later.into_iter().any(|event| {
            // What is wrong with the event is noted elsewhere.
            let links = address_links(event, &Place::Top, self.network, &mut Problems::default());
            links.iter().any(|&link| self.network.links[link].from.0 == host)
        })
    }

    fn used(&self, node: u32) -> impl Iterator<Item = &'a TransportSetup> + '_ {
        self.used_at(node).into_iter().flatten().map(|&transport| &self.transports[transport])
    }

    fn looks(&self, node: u32) -> bool {
        self.used(node).any(|transport| manager(transport).is_some_and(|of| of.name() == "fullmesh"))
    }

    fn remedy(&self, node: u32) -> String {
        if let Some((name, manager)) = self.used(node).find_map(|of| Some((&of.name, manager(of)?))) {
            return format!(
                "the path manager of {} is {}; write path_manager = \"fullmesh\", or take the transport \"linux-mptcp\"",
                quoted(name),
                manager.name()
            );
        }
        self.used(node).next().map_or_else(
            || "it is no end of any traffic with a connection".to_owned(),
            |of| format!("{} is not multipath; take a transport such as \"linux-mptcp\"", quoted(&of.name)),
        )
    }
}
