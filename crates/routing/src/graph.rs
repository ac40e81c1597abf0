use crate::{Length, LinkMask};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId};

/// A usable link as seen from one of its ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    pub(crate) length: Length,
    /// The other end.
    pub(crate) node: NodeId,
    pub(crate) link: LinkId,
}

/// What a routing algorithm sees: the usable links of a network, each with a cost.
///
/// The links at a node are in the order of (node at the other end, link id). The algorithms take
/// the first of equals, and so break ties by node number and then by link id.
#[derive(Clone, Debug)]
pub struct CostGraph<'n> {
    network: &'n Network,
    out: Adjacency,
    into: Adjacency,
}

impl<'n> CostGraph<'n> {
    /// The links of `network` that `mask` leaves usable, with the cost that `cost` gives each.
    /// Any additive metric will do; [`crate::Metric`] holds the common ones.
    #[must_use]
    pub fn new(network: &'n Network, mask: &LinkMask, cost: impl Fn(LinkId) -> u64) -> Self {
        Self::within(network, mask, cost, |_| true)
    }

    /// The same, but only links between nodes that `keep` says to keep. The others stay as nodes
    /// without links.
    pub(crate) fn within(
        network: &'n Network,
        mask: &LinkMask,
        cost: impl Fn(LinkId) -> u64,
        keep: impl Fn(NodeId) -> bool,
    ) -> Self {
        let arc = |link, node| Arc { length: Length::of_link(cost(link)), node, link };
        let seen = |link: LinkId| {
            let ends = network.link(link);
            mask.usable(network, link) && keep(ends.from) && keep(ends.to)
        };
        let usable =
            |links: &[LinkId]| -> Vec<LinkId> { links.iter().copied().filter(|&link| seen(link)).collect() };
        let out = Adjacency::new(network, |node| {
            usable(network.links_out(node)).into_iter().map(|link| arc(link, network.link(link).to)).collect()
        });
        let into = Adjacency::new(network, |node| {
            usable(network.links_into(node))
                .into_iter()
                .map(|link| arc(link, network.link(link).from))
                .collect()
        });
        Self { network, out, into }
    }

    /// The network behind it.
    #[must_use]
    pub const fn network(&self) -> &'n Network {
        self.network
    }

    /// Usable links that leave a node; the other end is where they lead.
    #[inline]
    pub(crate) fn out(&self, node: NodeId) -> &[Arc] {
        self.out.at(node)
    }

    /// Usable links that enter a node; the other end is where they come from.
    #[inline]
    pub(crate) fn into(&self, node: NodeId) -> &[Arc] {
        self.into.at(node)
    }

    pub(crate) fn node_count(&self) -> usize {
        self.network.nodes().len()
    }

    pub(crate) fn link_count(&self) -> usize {
        self.network.links().len()
    }

    /// The path over links that an algorithm chose.
    pub(crate) fn path(&self, links: Vec<LinkId>) -> Path {
        Path::chosen(self.network, links)
    }
}

/// Arcs of all nodes in one piece, for the inner loops.
#[derive(Clone, Debug)]
struct Adjacency {
    /// Where a node's arcs start; one more entry than there are nodes.
    start: Vec<usize>,
    arcs: Vec<Arc>,
}

impl Adjacency {
    fn new(network: &Network, of: impl Fn(NodeId) -> Vec<Arc>) -> Self {
        let (mut start, mut arcs) = (vec![0], Vec::new());
        for node in network.node_ids() {
            let mut here = of(node);
            here.sort_by_key(|arc| (arc.node, arc.link));
            arcs.append(&mut here);
            start.push(arcs.len());
        }
        Self { start, arcs }
    }

    #[inline]
    fn at(&self, node: NodeId) -> &[Arc] {
        &self.arcs[self.start[node.index()]..self.start[node.index() + 1]]
    }
}
