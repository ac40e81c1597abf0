//! The ways of a flow's packets through the network, there and back.

use crate::balancer::FlowKey;
use crate::capture::interface_address;
use crate::forwarding::{Ends, Forwarding, KnownRoute, RouteIndex};
use crate::interfaces::{Hosts, InterfacePair};
use crate::ports::SERVER_PORT;
use anabranch_transport::mptcp::SubflowAddresses;
use anabranch_transport::wire::Endpoint;
use anabranch_units::NodeId;

/// One direction of a flow.
pub(super) struct Way {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) lanes: PerSubflow<Lane>,
    /// Packets handed to the network.
    pub(super) injected: u64,
}

/// One direction of a subflow.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    pub(super) route: KnownRoute,
    pub(super) key: FlowKey,
    /// Data packets handed to the network: the next one's place in the order of sending.
    pub(super) data_packets: u32,
}

/// Where a subflow goes, before it has a port.
pub(super) struct Ways {
    source: [u8; 4],
    destination: [u8; 4],
    routes: (RouteIndex, RouteIndex),
}

impl Ways {
    pub(super) fn new(
        (from, to): (NodeId, NodeId),
        of: SubflowAddresses,
        routes: (RouteIndex, RouteIndex),
    ) -> Self {
        Self {
            source: interface_address(from, of.local),
            destination: interface_address(to, of.remote),
            routes,
        }
    }

    /// The lanes there and back of a subflow from this port, which is number `number` of all.
    pub(super) fn with_port(&self, port: u16, number: u32) -> (Lane, Lane) {
        let source = Endpoint { addr: self.source, port };
        let destination = Endpoint { addr: self.destination, port: SERVER_PORT };
        let (forth, back) = self.routes;
        (
            Lane::new(source, destination, 2 * number, forth),
            Lane::new(destination, source, 2 * number + 1, back),
        )
    }
}

impl Lane {
    /// Where a subflow between these addresses goes; none if its pair has no route index.
    pub(super) fn of_subflow(
        ends: Ends,
        (hosts, addresses): (Option<&Hosts>, SubflowAddresses),
        forwarding: &mut Forwarding,
    ) -> Option<Ways> {
        let SubflowAddresses { local, remote } = addresses;
        let between =
            hosts.filter(|hosts| hosts.have_a_choice()).and_then(|hosts| hosts.between(local, remote));
        Some(Ways::new((ends.from, ends.to), addresses, routes(ends, between, forwarding)?))
    }

    pub(super) fn new(source: Endpoint, destination: Endpoint, index: u32, route: RouteIndex) -> Self {
        let key = FlowKey::new(source, destination, index);
        Self { route: route.into(), key, data_packets: 0 }
    }
}

/// Something for each subflow. The first, the only one of most flows, is at hand without another look at memory.
pub(super) struct PerSubflow<T> {
    first: T,
    /// In a box of its own, because most flows have none.
    #[expect(clippy::box_collection, reason = "two words less for each flow")]
    others: Option<Box<Vec<T>>>,
}

impl<T> PerSubflow<T> {
    /// Of a flow with one subflow.
    pub(super) const fn one(first: T) -> Self {
        Self { first, others: None }
    }

    /// Of all subflows; there is at least one.
    pub(super) fn new(all: impl IntoIterator<Item = T>) -> Option<Self> {
        let mut all = all.into_iter();
        let first = all.next()?;
        let others: Vec<T> = all.collect();
        Some(Self { first, others: (!others.is_empty()).then(|| Box::new(others)) })
    }

    #[inline]
    pub(super) fn get(&self, subflow: u8) -> &T {
        match usize::from(subflow).checked_sub(1) {
            None => &self.first,
            Some(index) => &self.others.as_ref().expect("there is such a subflow")[index],
        }
    }

    /// One subflow more.
    pub(super) fn push(&mut self, of_it: T) {
        self.others.get_or_insert_default().push(of_it);
    }

    #[inline]
    pub(super) fn get_mut(&mut self, subflow: u8) -> &mut T {
        match usize::from(subflow).checked_sub(1) {
            None => &mut self.first,
            Some(index) => &mut self.others.as_mut().expect("there is such a subflow")[index],
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(self.others.iter().flat_map(|others| others.iter()))
    }
}

/// The routes there and back, by any interfaces or between two.
pub(super) fn routes(
    ends: Ends,
    between: Option<InterfacePair>,
    forwarding: &mut Forwarding,
) -> Option<(RouteIndex, RouteIndex)> {
    match between {
        None => Some((forwarding.index(ends)?, forwarding.index(ends.reversed())?)),
        Some(between) => Some((
            forwarding.index_between(ends, between),
            forwarding.index_between(ends.reversed(), between.reversed()),
        )),
    }
}
