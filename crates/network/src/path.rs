use crate::{Network, NetworkError};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use serde::{Deserialize, Serialize};

/// A loop-free walk over directed links; at least one link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Path {
    links: Vec<LinkId>,
}

impl Path {
    /// The path over these links, in this order.
    ///
    /// # Errors
    /// If there is no link, one that the network lacks, two that do not join, or a loop.
    pub fn new(network: &Network, links: Vec<LinkId>) -> Result<Self, NetworkError> {
        let path = Self { links };
        path.check(network)?;
        Ok(path)
    }

    /// The path over links that an algorithm chose, which are known to join and to make no loop: only debug
    /// builds look.
    ///
    /// # Panics
    /// In debug builds, if [`Path::new`] refuses them.
    #[must_use]
    pub fn chosen(network: &Network, links: Vec<LinkId>) -> Self {
        let path = Self { links };
        debug_assert_eq!(path.check(network), Ok(()), "algorithms choose links that join and make no loop");
        path
    }

    /// Checks a path that came from outside, as [`Path::new`] does.
    ///
    /// # Errors
    /// As [`Path::new`].
    pub fn check(&self, network: &Network) -> Result<(), NetworkError> {
        let count = network.links().len();
        if let Some(&link) = self.links.iter().find(|link| link.index() >= count) {
            return Err(NetworkError::NoSuchLink { link, links: count });
        }
        let first = self.links.first().ok_or(NetworkError::EmptyPath)?;
        let name = |node: NodeId| network.node(node).name.clone();
        let mut at = network.link(*first).from;
        let mut visited = Vec::with_capacity(self.links.len() + 1);
        visited.push(at);
        for &id in &self.links {
            let link = network.link(id);
            if link.from != at {
                return Err(NetworkError::BrokenPath { at: name(at), next: name(link.from) });
            }
            at = link.to;
            if visited.contains(&at) {
                return Err(NetworkError::Loop(name(at)));
            }
            visited.push(at);
        }
        Ok(())
    }

    /// The links, from source to destination.
    #[must_use]
    pub fn links(&self) -> &[LinkId] {
        &self.links
    }

    /// Number of links.
    #[must_use]
    pub fn hops(&self) -> usize {
        self.links.len()
    }

    /// First node.
    #[must_use]
    pub fn source(&self, network: &Network) -> NodeId {
        network.link(self.links[0]).from
    }

    /// Last node.
    #[must_use]
    pub fn destination(&self, network: &Network) -> NodeId {
        network.link(self.links[self.links.len() - 1]).to
    }

    /// All nodes, source first.
    #[must_use]
    pub fn nodes(&self, network: &Network) -> Vec<NodeId> {
        let rest = self.links.iter().map(|&link| network.link(link).to);
        std::iter::once(self.source(network)).chain(rest).collect()
    }

    /// Sum of propagation delays.
    #[must_use]
    pub fn delay(&self, network: &Network) -> Span {
        self.links.iter().fold(Span::ZERO, |sum, &link| sum + network.link(link).delay)
    }

    /// Smallest capacity.
    #[must_use]
    pub fn capacity(&self, network: &Network) -> Rate {
        self.links.iter().map(|&link| network.link(link).capacity).min().unwrap_or(Rate::ZERO)
    }

    /// Probability that a packet is lost on the way: 1 - prod(1 - p).
    #[must_use]
    pub fn loss(&self, network: &Network) -> f64 {
        1.0 - self.links.iter().map(|&link| 1.0 - network.link(link).loss).product::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Node};

    fn line() -> Network {
        let nodes = ["a", "b", "c"].map(|name| Node { name: name.into(), place: None }).to_vec();
        let link = |from, to| Link {
            from: NodeId(from),
            to: NodeId(to),
            capacity: Rate::from_bps(u64::from(from + 1) * 1_000),
            delay: Span::from_ms(2),
            loss: 0.1,
            weight: 1,
        };
        Network::new(nodes, vec![link(0, 1), link(1, 2), link(1, 0)]).unwrap()
    }

    #[test]
    fn a_path_adds_up_its_links() {
        let network = line();
        let path = Path::new(&network, vec![LinkId(0), LinkId(1)]).unwrap();
        assert_eq!(path.delay(&network), Span::from_ms(4));
        assert_eq!(path.capacity(&network), Rate::from_bps(1_000));
        assert!((path.loss(&network) - 0.19).abs() < 1e-12);
        assert_eq!(path.nodes(&network), [NodeId(0), NodeId(1), NodeId(2)]);
    }

    #[test]
    fn broken_paths_are_refused() {
        let network = line();
        let error =
            |links: &[u32]| Path::new(&network, links.iter().map(|&l| LinkId(l)).collect()).unwrap_err();
        assert_eq!(error(&[]), NetworkError::EmptyPath);
        assert_eq!(error(&[9]), NetworkError::NoSuchLink { link: LinkId(9), links: 3 });
        assert_eq!(error(&[1, 0]).to_string(), "a path breaks at \"c\": its next link starts at \"a\"");
        assert_eq!(error(&[0, 2]), NetworkError::Loop("a".into()));
    }
}
