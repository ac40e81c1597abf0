//! InterfacePair of hosts: the edges by which a host is joined to the network.

use crate::capture::MOST_INTERFACES;
use anabranch_network::Network;
use anabranch_routing::{Mirror, Route, WeightedPath};
use anabranch_transport::mptcp::{Interfaces, SubflowAddresses};
use anabranch_units::{LinkId, NodeId};

/// The interfaces between which packets must travel. An interface is the edge behind it, for which one of its
/// links stands ([`Mirror::edge`]), so that both directions name it alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct InterfacePair {
    /// By which packets leave their source.
    pub first: LinkId,
    /// By which they arrive.
    pub last: LinkId,
}

impl InterfacePair {
    /// Those of packets the other way.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { first: self.last, last: self.first }
    }

    /// The paths of a route that lead between them, with weights that add up to one again.
    #[must_use]
    pub fn of(self, route: &Route, mirror: &Mirror) -> Route {
        let leads = |path: &&WeightedPath| ends(path, mirror) == Some(self);
        let mut paths: Vec<WeightedPath> = route.paths.iter().filter(leads).cloned().collect();
        let total: f64 = paths.iter().map(|path| path.weight).sum();
        paths.iter_mut().for_each(|path| path.weight /= total);
        Route { from: route.from, to: route.to, paths }
    }
}

fn ends(path: &WeightedPath, mirror: &Mirror) -> Option<InterfacePair> {
    let links = path.links.links();
    Some(InterfacePair { first: mirror.edge(*links.first()?), last: mirror.edge(*links.last()?) })
}

/// The interfaces of two hosts, as one that opens connections and one that listens see them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosts {
    /// Edges of the host that opens.
    pub from: Vec<LinkId>,
    /// Edges of the host that listens.
    pub to: Vec<LinkId>,
}

impl Hosts {
    /// Every edge at either host, in the order of their links; but those of the first path between them come
    /// first, so that the first subflow of a connection has a way wherever there is one. Edges beyond
    /// [`MOST_INTERFACES`] stay unused.
    #[must_use]
    pub fn new(network: &Network, mirror: &Mirror, from: NodeId, to: NodeId, route: Option<&Route>) -> Self {
        let first = route.and_then(|route| route.paths.first()).and_then(|path| ends(path, mirror));
        let all = |links: &[LinkId], first: Option<LinkId>| {
            let mut edges: Vec<LinkId> = first.into_iter().collect();
            for edge in links.iter().map(|&link| mirror.edge(link)) {
                if !edges.contains(&edge) {
                    edges.push(edge);
                }
            }
            edges.truncate(usize::from(MOST_INTERFACES));
            edges
        };
        Self {
            from: all(network.links_out(from), first.map(|ends| ends.first)),
            to: all(network.links_into(to), first.map(|ends| ends.last)),
        }
    }

    /// Whether there is more than one interface at either.
    #[must_use]
    pub fn have_a_choice(&self) -> bool {
        self.from.len() > 1 || self.to.len() > 1
    }

    /// All pairs of interfaces, as many as a connection can have subflows.
    pub fn pairs(&self) -> impl Iterator<Item = InterfacePair> + '_ {
        let all = self
            .from
            .iter()
            .flat_map(|&first| self.to.iter().map(move |&last| InterfacePair { first, last }));
        all.take(usize::from(u8::MAX))
    }

    /// What a path manager is told: which of the interfaces are joined by paths of the routes there and back.
    #[must_use]
    pub fn interfaces(&self, there: Option<&Route>, back: Option<&Route>, mirror: &Mirror) -> Interfaces {
        let returns = |pair: InterfacePair| {
            back.is_some_and(|back| back.paths.iter().any(|path| ends(path, mirror) == Some(pair.reversed())))
        };
        let place = |edges: &[LinkId], edge: LinkId| edges.iter().position(|&other| other == edge);
        let there = there.iter().flat_map(|route| &route.paths);
        let pairs = there.filter_map(|path| ends(path, mirror)).filter(|&pair| returns(pair));
        let joined = pairs.filter_map(|pair| {
            let (local, remote) = (place(&self.from, pair.first)?, place(&self.to, pair.last)?);
            Some(SubflowAddresses { local: local as u8, remote: remote as u8 })
        });
        Interfaces::joined_by(self.from.len() as u8, self.to.len() as u8, joined.collect())
    }

    /// The edges of the n-th interface here and the m-th there, if there are that many.
    #[must_use]
    pub fn between(&self, local: u8, remote: u8) -> Option<InterfacePair> {
        let first = *self.from.get(usize::from(local))?;
        Some(InterfacePair { first, last: *self.to.get(usize::from(remote))? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_network::{Link, Node, Path};
    use anabranch_units::{Rate, Span};

    /// a has an edge to each of m, n and o; z to m and n. Link 2i leads as written, 2i + 1 back.
    fn network() -> Network {
        let link = |from, to| Link {
            from: NodeId(from),
            to: NodeId(to),
            capacity: Rate::from_bps(1_000_000),
            delay: Span::from_ms(1),
            loss: 0.0,
            weight: 1,
        };
        let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (1, 2)];
        let links = edges.iter().flat_map(|&(a, b)| [link(a, b), link(b, a)]).collect();
        let nodes = ["a", "m", "n", "o", "z"].map(|name| Node { name: name.into(), place: None });
        Network::new(nodes.to_vec(), links).expect("a network")
    }

    fn route(network: &Network, paths: &[(&[u32], f64)]) -> Route {
        let weighted = |&(links, weight): &(&[u32], f64)| {
            let links: Vec<LinkId> = links.iter().copied().map(LinkId).collect();
            WeightedPath { links: Path::new(network, links).expect("a path"), weight }
        };
        Route { from: NodeId(0), to: NodeId(4), paths: paths.iter().map(weighted).collect() }
    }

    /// The first path goes by n, so its edges are interface 0 at both ends, whatever their links' numbers.
    #[test]
    fn the_first_path_has_the_first_interfaces() {
        let network = network();
        let mirror = Mirror::new(&network);
        let route = route(&network, &[(&[2, 8], 0.5), (&[0, 6], 0.5)]);
        let hosts = Hosts::new(&network, &mirror, NodeId(0), NodeId(4), Some(&route));
        assert_eq!(hosts.from, [2, 0, 4].map(LinkId));
        assert_eq!(hosts.to, [8, 6].map(LinkId));
        let back = Hosts::new(&network, &mirror, NodeId(4), NodeId(0), None);
        assert_eq!((back.from, back.to), ([6, 8].map(LinkId).to_vec(), [0, 2, 4].map(LinkId).to_vec()));
        assert_eq!(hosts.between(3, 0), None);
    }

    /// Of three paths two leave by m, and one of these arrives by n: weights are theirs over their sum.
    #[test]
    fn a_route_between_interfaces_has_the_paths_that_join_them() {
        let network = network();
        let mirror = Mirror::new(&network);
        let route = route(&network, &[(&[0, 6], 0.5), (&[0, 10, 8], 0.25), (&[2, 8], 0.25)]);
        let hosts = Hosts::new(&network, &mirror, NodeId(0), NodeId(4), Some(&route));
        let of = |local, remote| hosts.between(local, remote).expect("interfaces").of(&route, &mirror);
        let links = |route: &Route| -> Vec<Vec<u32>> {
            route.paths.iter().map(|p| p.links.links().iter().map(|link| link.0).collect()).collect()
        };
        assert_eq!(links(&of(0, 0)), [vec![0, 6]]);
        assert_eq!(links(&of(0, 1)), [vec![0, 10, 8]]);
        assert_eq!(links(&of(1, 1)), [vec![2, 8]]);
        assert!(of(0, 0).paths.iter().chain(&of(0, 1).paths).all(|path| path.weight == 1.0));
        assert!(links(&of(1, 0)).is_empty() && links(&of(2, 0)).is_empty());
    }

    /// Of the same three paths the third has no way back by its interfaces, so that no handshake would be answered there.
    #[test]
    fn interfaces_are_joined_by_paths_there_and_back() {
        let network = network();
        let mirror = Mirror::new(&network);
        let there = route(&network, &[(&[0, 6], 0.5), (&[0, 10, 8], 0.25), (&[2, 8], 0.25)]);
        let hosts = Hosts::new(&network, &mirror, NodeId(0), NodeId(4), Some(&there));
        let of = |paths: &[(&[u32], f64)]| Route { from: NodeId(4), to: NodeId(0), ..route(&network, paths) };
        let back = of(&[(&[7, 1], 0.5), (&[9, 11, 1], 0.5)]);
        let pair = |local, remote| SubflowAddresses { local, remote };
        assert_eq!(
            hosts.interfaces(Some(&there), Some(&back), &mirror),
            Interfaces::joined_by(3, 2, vec![pair(0, 0), pair(0, 1)])
        );
        assert_eq!(hosts.interfaces(Some(&there), None, &mirror), Interfaces::joined_by(3, 2, Vec::new()));
    }
}
