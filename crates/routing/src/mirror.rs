//! Which link leads back over the same edge, and which path back the same way.

use anabranch_network::Network;
use anabranch_units::LinkId;

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
        // All that the order looks at lies in the list that is sorted: links of large networks are far apart in memory.
        let mut links: Vec<(u64, bool, LinkId)> = Vec::with_capacity(network.links().len());
        links.extend(network.link_ids().map(|id| {
            let link = network.link(id);
            let (low, high) = (link.from.min(link.to), link.from.max(link.to));
            (u64::from(low.0) << 32 | u64::from(high.0), link.from > link.to, id)
        }));
        links.sort_unstable();
        let mut back = vec![None; links.len()];
        for between in links.chunk_by(|a, b| a.0 == b.0) {
            let (there, others) =
                between.split_at(between.partition_point(|&(_, leads_back, _)| !leads_back));
            for (&(_, _, one), &(_, _, other)) in there.iter().zip(others) {
                (back[one.index()], back[other.index()]) = (Some(other), Some(one));
            }
        }
        Self { back }
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
