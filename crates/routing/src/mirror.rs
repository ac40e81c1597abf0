//! Which link leads back over the same edge, and which path back the same way.

use anabranch_network::Network;
use anabranch_units::{LinkId, NodeId};
use std::collections::BTreeMap;

/// The other direction of each link: of parallel links the n-th from a to b and the n-th from b to a are one
/// edge, in the order in which the network lists them. A link that is left over has no other direction.
#[derive(Clone, Debug)]
pub struct Mirror {
    back: Vec<Option<LinkId>>,
}

impl Mirror {
    /// Of the links of this network, whatever is up.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        let mut between: BTreeMap<(NodeId, NodeId), Vec<LinkId>> = BTreeMap::new();
        let mut ranks = Vec::with_capacity(network.links().len());
        for id in network.link_ids() {
            let link = network.link(id);
            let parallel = between.entry((link.from, link.to)).or_default();
            ranks.push(parallel.len());
            parallel.push(id);
        }
        let back = |(link, rank): (&anabranch_network::Link, usize)| {
            between.get(&(link.to, link.from)).and_then(|links| links.get(rank)).copied()
        };
        Self { back: network.links().iter().zip(ranks).map(back).collect() }
    }

    /// The link that leads back over the same edge.
    ///
    /// # Panics
    /// If the network has no such link.
    #[must_use]
    pub fn link(&self, link: LinkId) -> Option<LinkId> {
        self.back[link.index()]
    }

    /// The links of the same way back; `None` where one of them is missing.
    ///
    /// # Panics
    /// If the network has no such link.
    #[must_use]
    pub fn path(&self, links: &[LinkId]) -> Option<Vec<LinkId>> {
        links.iter().rev().map(|&link| self.link(link)).collect()
    }

    /// A link that stands for the edge: the same one for both directions.
    ///
    /// # Panics
    /// If the network has no such link.
    #[must_use]
    pub fn edge(&self, link: LinkId) -> LinkId {
        self.link(link).map_or(link, |back| back.min(link))
    }
}
