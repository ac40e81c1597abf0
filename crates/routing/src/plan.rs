use crate::PlanError;
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How far the weights of a route may be from adding up to one.
const WEIGHT_TOLERANCE: f64 = 1e-9;

/// What a routing scheme answers: for each pair of nodes that traffic wants, weighted paths or
/// hop-by-hop forwarding. Plain data; it does not know who made it, nor who will use it.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Routes by pair, in the order of (from, to). A pair that cannot be connected is absent.
    pub routes: Vec<Route>,
    /// Forwarding tables, for destinations that are forwarded hop by hop.
    pub tables: Vec<NextHopsTo>,
    /// Plans for traffic that has routes of its own, which have no others in turn. Traffic names them by their
    /// places: 0 is this plan, n is `others[n - 1]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Plan>,
}

/// The routes of one pair.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Source.
    pub from: NodeId,
    /// Destination.
    pub to: NodeId,
    /// Paths with weights that add up to one; empty: hop by hop along the table of `to`.
    pub paths: Vec<WeightedPath>,
}

/// A path and the share of packets that takes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedPath {
    /// The path.
    pub links: Path,
    /// Share, above 0 and at most 1.
    pub weight: f64,
}

/// Next hops towards one destination, all equally good.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextHopsTo {
    /// Destination.
    pub to: NodeId,
    /// The links that a node may use, for nodes that know a way, in the order of the nodes. A
    /// scheme leaves out, besides nodes without a way, those where no packet can come to be. Lists
    /// may be shared: a node has the same ones towards many destinations.
    pub next: Vec<(NodeId, Arc<[LinkId]>)>,
}

impl Plan {
    /// This plan and the others, by their places.
    pub fn all(&self) -> impl Iterator<Item = &Plan> {
        std::iter::once(self).chain(&self.others)
    }

    /// As many plans without any routes.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self { others: vec![Self::default(); self.others.len()], ..Self::default() }
    }

    /// The plan at a place; `None` where there is none.
    #[must_use]
    pub fn at(&self, place: usize) -> Option<&Plan> {
        place.checked_sub(1).map_or(Some(self), |other| self.others.get(other))
    }

    /// The route of a pair. The plan must be in order, as a checked one is.
    #[must_use]
    pub fn route(&self, from: NodeId, to: NodeId) -> Option<&Route> {
        let index = self.routes.binary_search_by_key(&(from, to), |route| (route.from, route.to)).ok()?;
        Some(&self.routes[index])
    }

    /// The table of a destination.
    #[must_use]
    pub fn table(&self, to: NodeId) -> Option<&NextHopsTo> {
        self.tables.iter().find(|table| table.to == to)
    }

    /// The links from one node to another where each node takes the first of its next hops; none where no table leads there.
    #[must_use]
    pub fn first_way(&self, network: &Network, (from, to): (NodeId, NodeId)) -> Vec<LinkId> {
        let Some(table) = self.table(to) else { return Vec::new() };
        let mut links = Vec::new();
        let mut at = from;
        while at != to && links.len() < network.links().len() {
            let next = table.next.binary_search_by_key(&at, |(node, _)| *node).ok();
            let Some(&link) = next.and_then(|index| table.next[index].1.first()) else { return Vec::new() };
            links.push(link);
            at = network.link(link).to;
        }
        links
    }

    /// Checks that a plan that came from outside fits the network. A plan that passes names only
    /// nodes and links that are there. Its tables may still lead in a circle.
    ///
    /// # Errors
    /// On the first of: a table out of order, a second one for its destination, or with a next hop
    /// that does not leave its node; a route out of order; a path that does not hold or belongs
    /// to another pair; a weight outside (0, 1], or weights that miss a sum of 1 by more than 1e-9;
    /// a route without paths whose table is missing or has no next hop at the source; and the same of the
    /// others, or if one of them has others.
    pub fn check(&self, network: &Network) -> Result<(), PlanError> {
        let mut tables = BTreeMap::new();
        for (index, table) in self.tables.iter().enumerate() {
            check_node(network, table.to, || format!("table {index}"))?;
            table.check(network)?;
            if tables.insert(table.to, table).is_some() {
                return Err(PlanError::TwoTables { to: network.node(table.to).name.clone() });
            }
        }
        let mut before = None;
        for (index, route) in self.routes.iter().enumerate() {
            check_node(network, route.from, || format!("route {index}"))?;
            check_node(network, route.to, || format!("route {index}"))?;
            let pair = || pair(network, route.from, route.to);
            if route.from == route.to {
                return Err(PlanError::SameEnds { pair: pair() });
            }
            if before >= Some((route.from, route.to)) {
                return Err(PlanError::OutOfOrder { pair: pair() });
            }
            before = Some((route.from, route.to));
            if route.paths.is_empty() {
                let table = tables.get(&route.to).ok_or_else(|| PlanError::NoTable { pair: pair() })?;
                if table.at(route.from).is_empty() {
                    return Err(PlanError::NoNextHop { pair: pair() });
                }
            } else {
                route.check_paths(network, pair)?;
            }
        }
        if self.others.iter().any(|other| !other.others.is_empty()) {
            return Err(PlanError::Nested);
        }
        self.others.iter().try_for_each(|other| other.check(network))
    }
}

impl Route {
    fn check_paths(&self, network: &Network, pair: impl Fn() -> String) -> Result<(), PlanError> {
        for (index, WeightedPath { links, weight }) in self.paths.iter().enumerate() {
            let (path, weight) = (index, *weight);
            if let Err(source) = links.check(network) {
                return Err(PlanError::BadPath { pair: pair(), path, source });
            }
            let ends = (links.source(network), links.destination(network));
            if ends != (self.from, self.to) {
                let leads = self::pair(network, ends.0, ends.1);
                return Err(PlanError::OtherPair { pair: pair(), path, leads });
            }
            if !(weight > 0.0 && weight <= 1.0) {
                return Err(PlanError::BadWeight { pair: pair(), path, weight });
            }
        }
        let sum: f64 = self.paths.iter().map(|path| path.weight).sum();
        if (sum - 1.0).abs() > WEIGHT_TOLERANCE {
            return Err(PlanError::BadSum { pair: pair(), sum });
        }
        Ok(())
    }
}

impl NextHopsTo {
    /// The links that a node may use; none where there is no way, and at the destination. The
    /// table must be in order, as a checked one is.
    #[must_use]
    pub fn at(&self, node: NodeId) -> &[LinkId] {
        match self.next.binary_search_by_key(&node, |&(node, _)| node) {
            Ok(index) => &self.next[index].1,
            Err(_) => &[],
        }
    }

    /// Checks the entries of a table whose destination exists.
    fn check(&self, network: &Network) -> Result<(), PlanError> {
        let name = |node| network.node(node).name.clone();
        let mut before = None;
        for &(node, ref next) in &self.next {
            check_node(network, node, || format!("table to {:?}", name(self.to)))?;
            if before >= Some(node) {
                return Err(PlanError::TableOutOfOrder { to: name(self.to), at: name(node) });
            }
            before = Some(node);
            if node == self.to && !next.is_empty() {
                return Err(PlanError::NextHopAtDestination { to: name(node) });
            }
            let elsewhere =
                |link: &&LinkId| network.links().get(link.index()).is_none_or(|link| link.from != node);
            if let Some(&link) = next.iter().find(elsewhere) {
                return Err(PlanError::BadNextHop { to: name(self.to), at: name(node), link });
            }
        }
        Ok(())
    }
}

fn check_node(network: &Network, node: NodeId, place: impl Fn() -> String) -> Result<(), PlanError> {
    let nodes = network.nodes().len();
    if node.index() >= nodes {
        return Err(PlanError::NoSuchNode { place: place(), node, nodes });
    }
    Ok(())
}

fn pair(network: &Network, from: NodeId, to: NodeId) -> String {
    format!("{:?} -> {:?}", network.node(from).name, network.node(to).name)
}
