use crate::NetworkError;
use anabranch_units::{LinkId, NodeId, Rate, Shared, Span, all_differ};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

anabranch_units::leaf! {
    /// A position on the globe, in degrees.
    #[derive(Copy)]
    pub struct Place: "place" {
        /// Degrees north.
        pub latitude: f64,
        /// Degrees east.
        pub longitude: f64,
    }
}

/// A node: a host, a switch or both.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Unique name; random streams hang on it.
    pub name: String,
    /// Where it stands, if known.
    #[serde(default)]
    pub place: Option<Place>,
}

/// A directed link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// Rate of serialisation.
    pub capacity: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Long-run probability that a packet is lost on it, 0 up to but not including 1.
    #[serde(default)]
    pub loss: f64,
    /// Cost that the operator gives it for an interior gateway protocol, at least 1 (RFC 2328, C.3).
    #[serde(default = "one")]
    pub weight: u32,
}

const fn one() -> u32 {
    1
}

/// A directed multigraph. Links keep the order they were given in; parallel links are kept.
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    nodes: Shared<Vec<Node>>,
    links: Vec<Link>,
    out: Adjacency,
    into: Adjacency,
}

/// The links at each node, one node behind the other: a list for each would be an allocation for each host.
#[derive(Clone, PartialEq, Debug)]
struct Adjacency {
    /// Where the links of each node begin, and of all where they end.
    begins: Vec<u32>,
    links: Vec<LinkId>,
}

impl Adjacency {
    /// Of these ends of links, in the order of their ids, among so many nodes.
    fn new(nodes: usize, ends: impl Iterator<Item = NodeId> + Clone) -> Self {
        let mut begins = vec![0; nodes + 1];
        ends.clone().for_each(|node| begins[node.index() + 1] += 1);
        let mut reached = 0;
        for begin in &mut begins {
            reached += *begin;
            *begin = reached;
        }
        let mut next = begins.clone();
        let mut links = vec![LinkId(0); reached as usize];
        for (index, node) in ends.enumerate() {
            let place = &mut next[node.index()];
            links[*place as usize] = LinkId::from_index(index);
            *place += 1;
        }
        Self { begins, links }
    }

    fn of(&self, node: NodeId) -> &[LinkId] {
        &self.links[self.begins[node.index()] as usize..self.begins[node.index() + 1] as usize]
    }
}

impl Network {
    /// A network of these nodes and directed links.
    ///
    /// # Errors
    /// On a duplicate name, a link to a node that is not there or to its own start, a capacity or a
    /// weight of zero, or a loss outside 0..1.
    pub fn new(nodes: Vec<Node>, links: Vec<Link>) -> Result<Self, NetworkError> {
        Self::of_shared(nodes.into(), links)
    }

    /// The same of nodes that somebody else has, too.
    ///
    /// # Errors
    /// As [`Network::new`].
    pub fn of_shared(nodes: Shared<Vec<Node>>, links: Vec<Link>) -> Result<Self, NetworkError> {
        if !all_differ(nodes.iter().map(|node| node.name.as_str())) {
            let mut names = BTreeSet::new();
            if let Some(twice) = nodes.iter().find(|node| !names.insert(node.name.as_str())) {
                return Err(NetworkError::DuplicateName(twice.name.clone()));
            }
        }
        links.iter().enumerate().try_for_each(|(index, link)| check_link(&nodes, index, link))?;
        let out = Adjacency::new(nodes.len(), links.iter().map(|link| link.from));
        let into = Adjacency::new(nodes.len(), links.iter().map(|link| link.to));
        Ok(Self { nodes, links, out, into })
    }

    /// All nodes; a [`NodeId`] is an index into them.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All links; a [`LinkId`] is an index into them.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// One node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// One link.
    #[must_use]
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }

    /// One link, to change its attributes (never its ends: the adjacency would lie).
    pub fn link_attributes(&mut self, id: LinkId) -> (&mut Rate, &mut Span, &mut f64) {
        let link = &mut self.links[id.index()];
        (&mut link.capacity, &mut link.delay, &mut link.loss)
    }

    /// Ids of all nodes, in order.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::from_index)
    }

    /// Ids of all links, in order.
    pub fn link_ids(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.links.len()).map(LinkId::from_index)
    }

    /// Links that leave a node, in the order they were given.
    #[must_use]
    pub fn links_out(&self, node: NodeId) -> &[LinkId] {
        self.out.of(node)
    }

    /// Links that enter a node, in the order they were given.
    #[must_use]
    pub fn links_into(&self, node: NodeId) -> &[LinkId] {
        self.into.of(node)
    }
}

fn check_link(nodes: &[Node], index: usize, link: &Link) -> Result<(), NetworkError> {
    for node in [link.from, link.to] {
        if node.index() >= nodes.len() {
            return Err(NetworkError::NoSuchNode { link: index, node, nodes: nodes.len() });
        }
    }
    let (from, to) = (&nodes[link.from.index()].name, &nodes[link.to.index()].name);
    if link.from == link.to {
        return Err(NetworkError::SelfLoop { link: index, node: from.clone() });
    }
    if link.capacity == Rate::ZERO {
        return Err(NetworkError::NoCapacity { link: index, from: from.clone(), to: to.clone() });
    }
    if link.weight == 0 {
        return Err(NetworkError::NoWeight { link: index, from: from.clone(), to: to.clone() });
    }
    if !(0.0..1.0).contains(&link.loss) {
        return Err(NetworkError::BadLoss {
            link: index,
            from: from.clone(),
            to: to.clone(),
            loss: link.loss,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> Node {
        Node { name: name.into(), place: None }
    }

    fn link(from: u32, to: u32) -> Link {
        let (capacity, delay) = (Rate::from_bps(1_000_000), Span::from_ms(1));
        Link { from: NodeId(from), to: NodeId(to), capacity, delay, loss: 0.0, weight: 1 }
    }

    #[test]
    fn parallel_links_are_kept_apart() {
        let network =
            Network::new(vec![node("a"), node("b")], vec![link(0, 1), link(0, 1), link(1, 0)]).unwrap();
        assert_eq!(network.links_out(NodeId(0)), [LinkId(0), LinkId(1)]);
        assert_eq!(network.links_into(NodeId(0)), [LinkId(2)]);
    }

    #[test]
    fn bad_networks_say_what_is_wrong() {
        let nodes = || vec![node("a"), node("b")];
        let message = |nodes, link| Network::new(nodes, vec![link]).unwrap_err().to_string();
        assert_eq!(message(nodes(), link(0, 7)), "link 0: no node number 7; the network has 2 nodes");
        assert_eq!(message(nodes(), link(1, 1)), "link 0: both ends are node \"b\"");
        let dead = Link { capacity: Rate::ZERO, ..link(0, 1) };
        assert_eq!(message(nodes(), dead), "link 0 (a -> b): capacity must be above zero");
        let free = Link { weight: 0, ..link(0, 1) };
        assert_eq!(message(nodes(), free), "link 0 (a -> b): weight must be at least 1");
        let lossy = Link { loss: f64::NAN, ..link(0, 1) };
        assert_eq!(message(nodes(), lossy), "link 0 (a -> b): loss is NaN; it must lie in 0..1");
        assert_eq!(message(vec![node("a"), node("a")], link(0, 1)), "two nodes are called \"a\"");
    }
}
