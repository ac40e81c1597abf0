//! The parts of a network that hang on it by one edge, such as the hosts at a switch. No
//! loop-free path leads through such a part and out again, so the paths of all pairs behind the
//! same two edges differ only at their ends, and searches need not look at stubs at all.

use anabranch_network::Network;
use anabranch_units::{LinkId, NodeId};
use std::collections::VecDeque;

/// A network taken apart into stubs and a core.
///
/// A stub is a node that, once the stubs behind it are taken away, has at most one link out and
/// one link in, both to and from the same node, its parent. So stubs form trees, each with its
/// root in the core. Of a network that is a tree one node is left as the core.
///
/// Masks do not matter: what is a stub when everything is up is one whatever fails.
#[derive(Clone, Debug)]
pub(crate) struct Stubs {
    parent: Vec<Option<Edge>>,
    /// Number of steps to the core.
    depth: Vec<u32>,
}

/// What ties a stub to its parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    pub(crate) parent: NodeId,
    /// The link to the parent, if there is one.
    pub(crate) up: Option<LinkId>,
    /// The link from the parent, if there is one.
    pub(crate) down: Option<LinkId>,
}

/// The stubs that every way from one node to another goes through, and where it is free to choose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ends {
    /// Stubs on the way up, the source first.
    pub(crate) ascent: Vec<NodeId>,
    /// Where the ascent ends and the descent begins: two nodes of the core, or one node, stub or
    /// core, if the way need not cross the core.
    pub(crate) top: (NodeId, NodeId),
    /// Stubs on the way down, the destination last.
    pub(crate) descent: Vec<NodeId>,
}

impl Stubs {
    /// The stubs of a network.
    pub(crate) fn new(network: &Network) -> Self {
        let count = network.nodes().len();
        let mut stubs = Self { parent: vec![None; count], depth: vec![0; count] };
        let mut to_visit: VecDeque<NodeId> = network.node_ids().collect();
        let mut taken = Vec::new();
        let mut left: Vec<usize> = network
            .node_ids()
            .map(|node| network.links_out(node).len() + network.links_into(node).len())
            .collect();
        while let Some(node) = to_visit.pop_front() {
            // Not as many links as an edge has: not worth a look at each of them.
            if stubs.parent[node.index()].is_some() || !(1..=2).contains(&left[node.index()]) {
                continue;
            }
            let Some(edge) = stubs.only_edge(network, node) else { continue };
            left[edge.parent.index()] -= left[node.index()];
            stubs.parent[node.index()] = Some(edge);
            taken.push(node);
            to_visit.push_back(edge.parent);
        }
        // A parent is taken after all that hangs on it.
        for &node in taken.iter().rev() {
            let above = stubs.parent[node.index()].map_or(0, |edge| stubs.depth[edge.parent.index()]);
            stubs.depth[node.index()] = above + 1;
        }
        stubs
    }

    /// The links between a node and what is not yet taken away, if they make it a stub.
    fn only_edge(&self, network: &Network, node: NodeId) -> Option<Edge> {
        let in_core = |node: NodeId| self.parent[node.index()].is_none();
        let mut up = network.links_out(node).iter().filter(|&&link| in_core(network.link(link).to));
        let mut down = network.links_into(node).iter().filter(|&&link| in_core(network.link(link).from));
        let edge = match (up.next(), down.next()) {
            (Some(&up), None) => Edge { parent: network.link(up).to, up: Some(up), down: None },
            (None, Some(&down)) => Edge { parent: network.link(down).from, up: None, down: Some(down) },
            (Some(&up), Some(&down)) if network.link(up).to == network.link(down).from => {
                Edge { parent: network.link(up).to, up: Some(up), down: Some(down) }
            }
            _ => return None,
        };
        (up.next().is_none() && down.next().is_none()).then_some(edge)
    }

    /// What ties a node to its parent; `None` in the core.
    pub(crate) fn edge(&self, node: NodeId) -> Option<Edge> {
        self.parent[node.index()]
    }

    /// Whether loop-free paths may lead through the node, other than to and from its stubs.
    pub(crate) fn in_core(&self, node: NodeId) -> bool {
        self.parent[node.index()].is_none()
    }

    /// The node of the core that a node hangs on or is.
    pub(crate) fn root(&self, mut node: NodeId) -> NodeId {
        while let Some(edge) = self.edge(node) {
            node = edge.parent;
        }
        node
    }

    /// Where ways from one node to another are free to choose: `Ends::top`.
    pub(crate) fn top(&self, from: NodeId, to: NodeId) -> (NodeId, NodeId) {
        let mut top = (from, to);
        while top.0 != top.1 {
            let higher = self.depth[top.0.index()] < self.depth[top.1.index()];
            let stub = if higher { &mut top.1 } else { &mut top.0 };
            let Some(edge) = self.edge(*stub) else { break };
            *stub = edge.parent;
        }
        top
    }

    /// The stubs from a node up to one that it hangs on, which is not among them.
    pub(crate) fn climb(&self, from: NodeId, top: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let above = |node: &NodeId| self.edge(*node).map(|edge| edge.parent);
        std::iter::successors(Some(from), above).take_while(move |&node| node != top)
    }

    /// How many stubs `climb` gives.
    pub(crate) fn steps(&self, from: NodeId, top: NodeId) -> usize {
        (self.depth[from.index()] - self.depth[top.index()]) as usize
    }

    /// The parts that are the same for all ways from one node to another.
    pub(crate) fn between(&self, from: NodeId, to: NodeId) -> Ends {
        let top = self.top(from, to);
        let mut descent: Vec<NodeId> = self.climb(to, top.1).collect();
        descent.reverse();
        Ends { ascent: self.climb(from, top.0).collect(), top, descent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_network::{Link, Node};
    use anabranch_units::{Rate, Span};

    fn network(nodes: u32, links: &[(u32, u32)]) -> Network {
        let link = |&(from, to): &(u32, u32)| Link {
            from: NodeId(from),
            to: NodeId(to),
            capacity: Rate::from_bps(1_000),
            delay: Span::from_ms(1),
            loss: 0.0,
            weight: 1,
        };
        let nodes = (0..nodes).map(|number| Node { name: number.to_string(), place: None }).collect();
        Network::new(nodes, links.iter().map(link).collect()).expect("a valid network")
    }

    fn core(network: &Network) -> Vec<u32> {
        let stubs = Stubs::new(network);
        network.node_ids().filter(|&node| stubs.in_core(node)).map(|node| node.0).collect()
    }

    /// A triangle 0-1-2; 3 hangs on 0, 4 on 3, 5 on 3 too.
    fn triangle_with_a_tree() -> Network {
        let edges = [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (3, 5)];
        network(6, &edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect::<Vec<_>>())
    }

    #[test]
    fn trees_are_taken_off_down_to_their_root() {
        assert_eq!(core(&triangle_with_a_tree()), [0, 1, 2]);
    }

    #[test]
    fn of_a_tree_one_node_is_left_and_a_lonely_node_stays() {
        let star = network(5, &[(0, 1), (1, 0), (0, 2), (2, 0), (3, 0)]);
        assert_eq!(core(&star), [0, 4]);
    }

    /// Of the nodes that hang on 0 by two links, only those by one out and one in are stubs.
    #[test]
    fn only_single_edges_make_stubs() {
        let one_way_through = network(3, &[(0, 1), (1, 2), (2, 0)]);
        assert_eq!(core(&one_way_through), [0, 1, 2]);
        let parallel = network(2, &[(0, 1), (0, 1), (1, 0)]);
        assert_eq!(core(&parallel), [0, 1]);
    }

    #[test]
    fn ends_part_where_the_way_becomes_free() {
        let stubs = Stubs::new(&triangle_with_a_tree());
        let ends = |from, to| {
            let Ends { ascent, top, descent } = stubs.between(NodeId(from), NodeId(to));
            let numbers = |nodes: Vec<NodeId>| nodes.into_iter().map(|node| node.0).collect::<Vec<_>>();
            (numbers(ascent), (top.0.0, top.1.0), numbers(descent))
        };
        assert_eq!(ends(4, 2), (vec![4, 3], (0, 2), vec![]));
        assert_eq!(ends(1, 5), (vec![], (1, 0), vec![3, 5]));
        assert_eq!(ends(4, 5), (vec![4], (3, 3), vec![5]));
        assert_eq!(ends(3, 4), (vec![], (3, 3), vec![4]));
        assert_eq!(ends(5, 0), (vec![5, 3], (0, 0), vec![]));
    }
}
