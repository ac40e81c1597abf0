//! What of a setup a simulation has: all of it, or what belongs to the nodes of one part of a divided run.

use crate::forwarding::Ends;
use crate::setup::{CapturePoint, DatagramSetup, Setup};
use anabranch_units::{FlowId, NodeId};

/// Flows and datagrams of a simulation, by their numbers in the setup, in order: so that events that are due at one instant
/// come in the order of a run that has all of them.
pub(super) struct Share<'c> {
    pub(super) flows: Vec<FlowId>,
    pub(super) datagrams: Vec<u32>,
    /// The part of each node, how many parts there are, and which one this is; none where it has all nodes.
    pub(super) part: Option<(&'c [u32], u32, u32)>,
    /// Nobody looks at flows before the end of the run.
    pub(super) is_unwatched: bool,
    /// It is run once more: what it captures has been written.
    pub(super) is_repeated: bool,
}

impl<'c> Share<'c> {
    /// All of a setup.
    pub(super) fn all(setup: &Setup) -> Self {
        Self {
            flows: (0..setup.flows.len()).map(FlowId::from_index).collect(),
            datagrams: (0..setup.datagrams.len() as u32).collect(),
            part: None,
            is_unwatched: false,
            is_repeated: false,
        }
    }

    /// What has an end in a part. `parts` gives the part of each node.
    pub(super) fn of_part(setup: &Setup, parts: &'c [u32], count: u32, part: u32) -> Self {
        let is_here = |from: NodeId, to: NodeId| parts[from.index()] == part || parts[to.index()] == part;
        let flows = setup.flows.iter().enumerate().filter(|(_, flow)| is_here(flow.from, flow.to));
        let datagrams = (0..).zip(&setup.datagrams).filter(|(_, flow)| is_here(flow.from, flow.to));
        Self {
            flows: flows.map(|(index, _)| FlowId::from_index(index)).collect(),
            datagrams: datagrams.map(|(number, _)| number).collect(),
            part: Some((parts, count, part)),
            is_unwatched: false,
            is_repeated: false,
        }
    }

    /// The numbers in the setup of the flows here, and of the datagrams, which come behind all flows there.
    pub(super) fn numbers(&self, setup: &Setup) -> impl Iterator<Item = FlowId> {
        let connections = setup.flows.len() as u32;
        let datagrams = self.datagrams.iter().map(move |number| FlowId(connections + number));
        self.flows.iter().copied().chain(datagrams)
    }

    /// Whether a node is here.
    pub(super) fn has(&self, node: NodeId) -> bool {
        self.part.is_none_or(|(parts, _, part)| parts[node.index()] == part)
    }

    /// Whether packets that pass this point are written here.
    pub(super) fn captures(&self, setup: &Setup, at: CapturePoint) -> bool {
        let node = match at {
            CapturePoint::Link { link } => setup.links[link.index()].from,
            CapturePoint::Host { host } => host,
        };
        self.has(node) && !self.is_repeated
    }

    /// The place of a flow of the setup among those that are here.
    pub(super) fn place(&self, flow: FlowId) -> Option<FlowId> {
        self.flows.binary_search(&flow).ok().map(FlowId::from_index)
    }

    /// The ends of all that is here, there and back.
    pub(super) fn ends<'s>(&'s self, setup: &'s Setup) -> impl Iterator<Item = Ends> + 's {
        let flows = self.flows.iter().map(|flow| &setup.flows[flow.index()]);
        let flows = flows.map(|flow| Ends { routing: flow.routing, from: flow.from, to: flow.to });
        let datagrams = self.datagrams.iter().map(|&number| &setup.datagrams[number as usize]);
        let of_datagrams = |flow: &DatagramSetup| {
            let ends = Ends { routing: flow.routing, from: flow.from, to: flow.to };
            std::iter::once(ends).chain(flow.source.is_answered().then_some(ends.reversed()))
        };
        flows.flat_map(|ends| [ends, ends.reversed()]).chain(datagrams.flat_map(of_datagrams))
    }
}
