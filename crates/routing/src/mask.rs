use anabranch_network::Network;
use anabranch_units::{LinkId, NodeId};

/// Which links and nodes are up. A link is usable if it and both its ends are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkMask {
    links: Vec<bool>,
    nodes: Vec<bool>,
}

impl LinkMask {
    /// Everything is up.
    #[must_use]
    pub fn all_up(network: &Network) -> Self {
        Self { links: vec![true; network.links().len()], nodes: vec![true; network.nodes().len()] }
    }

    /// Says that a link is up or, if not `up`, down.
    pub fn set_link(&mut self, link: LinkId, up: bool) {
        self.links[link.index()] = up;
    }

    /// Says that a node is up or, if not `up`, down, and with it all links at it.
    pub fn set_node(&mut self, node: NodeId, up: bool) {
        self.nodes[node.index()] = up;
    }

    /// Whether a packet can cross the link.
    #[must_use]
    pub fn usable(&self, network: &Network, link: LinkId) -> bool {
        let ends = network.link(link);
        self.links[link.index()] && self.nodes[ends.from.index()] && self.nodes[ends.to.index()]
    }
}
