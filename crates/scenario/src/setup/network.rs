//! Nodes and directed links of a run, and how they are found by name.

use super::draws::Draws;
use super::lay::{self, Buckets, Unsized};
use super::outages::Outages;
use super::plain::{DemandUnit, Files, PlainNetwork, PlainNode};
use super::weights::LinkWeights;
use super::wires;
use crate::network::{Direction, LinkSelector, Network as NetworkTable, NewNode, NodeKind, names_file};
use crate::problem::{Place, Problems};
use crate::words::{quoted, suggest, thousands};
use anabranch_engine::network::{Node, Place as NodePlace};
use anabranch_engine::setup::LinkSetup;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Names that are listed at most, where none is near the one that was read.
const FEW: usize = 12;

/// The network of a run: all settings applied, all delays drawn.
#[derive(Debug)]
pub struct Network {
    /// What messages call it.
    pub label: String,
    nodes: Vec<PlainNode>,
    ids: BTreeMap<String, u32>,
    /// Its directed links; the place in this list is the id.
    pub links: Vec<LinkSetup>,
    /// By both ends: the links in their order, none in place of one that is out of service.
    between: BTreeMap<(u32, u32), Vec<Option<usize>>>,
    /// Queues whose room depends on the flows.
    pub(super) unsized_queues: Vec<Unsized>,
    /// Of links that have any.
    pub(super) buckets: Vec<Buckets>,
    /// The topology's own traffic matrix in its own unit, by the names of nodes, if it has one.
    pub(super) demands: Option<Vec<(String, String, f64)>>,
    /// What 1 means in it, if its source says so.
    pub(super) demand_unit: Option<DemandUnit>,
    /// The node that is the SDN controller, if there is one.
    pub controller: Option<u32>,
    /// What is out of service, and what may be.
    pub outages: Outages,
    /// The controller's switches, if there is one.
    pub switches: Option<Vec<u32>>,
}

impl Network {
    /// The network of a topology, with a scenario's settings; what is wrong is noted.
    ///
    /// `by_weight` says whether routes go by the links' weights, so that each must have one.
    #[must_use]
    pub fn new(
        plain: &PlainNetwork,
        table: &NetworkTable,
        by_weight: bool,
        draws: Draws,
        files: &dyn Files,
        problems: &mut Problems,
    ) -> Self {
        if table.topology.is_none() && !table.parameters.0.is_empty() {
            let message = "belongs to a generator; without network.topology there is none";
            problems.add_at("network.parameters", message);
        }
        let has_file = table.topology.as_deref().is_some_and(names_file);
        if !has_file && table.file.is_some() {
            let message = "says how a file is read; network.topology is no file:NAME";
            problems.add_at("network.file", message);
        }
        let mut nodes = plain.nodes.clone();
        nodes.extend(new_nodes(plain, table, problems));
        let mut network = Self {
            label: plain.label.clone(),
            ids: ids(&nodes),
            nodes,
            links: Vec::new(),
            between: BTreeMap::new(),
            unsized_queues: Vec::new(),
            buckets: Vec::new(),
            demands: plain.demands.clone(),
            demand_unit: plain.demand_unit.clone(),
            controller: None,
            outages: Outages::default(),
            switches: None,
        };
        let mut weights = LinkWeights::new(table.weights.as_ref(), &network, files, problems);
        let wires = wires::wires(plain, table, &network, &mut weights, problems);
        weights.note_unused(&network.label, problems);
        let label = network.label.clone();
        let marked = lay::lay(&mut network, &wires, &label, by_weight, draws, problems);
        network.outages = Outages::new(table, &network, marked, problems);
        network.take_out();
        network
    }

    /// Takes the links out that are not in service; the others keep their names, and their numbers among parallel ones.
    fn take_out(&mut self) {
        let names: BTreeSet<&str> = self.outages.links_out.iter().map(String::as_str).collect();
        if names.is_empty() {
            return;
        }
        let is_down = |link: &LinkSetup| names.contains(&*link.name);
        let mut kept = 0;
        let ids: Vec<Option<usize>> = self
            .links
            .iter()
            .map(|link| {
                let id = (!is_down(link)).then_some(kept);
                kept += usize::from(id.is_some());
                id
            })
            .collect();
        self.links.retain(|link| !is_down(link));
        let renumbered = |link: usize| ids[link];
        self.between.values_mut().flatten().for_each(|link| *link = link.and_then(renumbered));
        self.unsized_queues.retain_mut(|queue| {
            let id = ids[queue.link];
            queue.link = id.unwrap_or(queue.link);
            id.is_some()
        });
        self.buckets.retain_mut(|buckets| {
            let id = ids[buckets.link];
            buckets.link = id.unwrap_or(buckets.link);
            id.is_some()
        });
        self.outages = std::mem::take(&mut self.outages).renumbered(&ids);
    }

    /// Whether a node is out of service.
    #[must_use]
    pub fn is_out(&self, node: u32) -> bool {
        self.outages.nodes_out.binary_search(&node).is_ok()
    }

    /// Adds a node behind all others, whose name is free; its id.
    pub(super) fn add_node(&mut self, name: &str) -> u32 {
        let id = self.nodes.len() as u32;
        // A name beats an alias.
        self.ids.insert(name.to_owned(), id);
        self.nodes.push(PlainNode { name: name.to_owned(), ..PlainNode::default() });
        id
    }

    /// The nodes as the engine has them.
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        let place = |(latitude, longitude)| NodePlace { latitude, longitude };
        self.nodes.iter().map(|node| Node { name: node.name.clone(), place: node.place.map(place) }).collect()
    }

    /// How many nodes there are.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The name of a node.
    #[must_use]
    pub fn name(&self, node: u32) -> &str {
        &self.nodes[node as usize].name
    }

    /// Whether a node is marked a host.
    #[must_use]
    pub fn is_host(&self, node: u32) -> bool {
        self.nodes[node as usize].is_host
    }

    /// Nodes that `*` stands for: the hosts, or all where the topology marks none.
    ///
    /// With a controller, a node that is no switch of it is a host, and the controller itself is none.
    #[must_use]
    pub fn hosts(&self) -> Vec<u32> {
        let is_switch = |node: u32| self.switches.as_ref().is_some_and(|switches| switches.contains(&node));
        let ends: Vec<_> = (0..self.nodes.len() as u32)
            .filter(|&node| Some(node) != self.controller && !self.is_out(node))
            .collect();
        let chosen =
            |keep: &dyn Fn(u32) -> bool| ends.iter().copied().filter(|&node| keep(node)).collect::<Vec<_>>();
        let marked = chosen(&|node| self.is_host(node) && !is_switch(node));
        if !marked.is_empty() {
            return marked;
        }
        let others = match &self.switches {
            Some(switches) if !switches.is_empty() => chosen(&|node| !is_switch(node)),
            _ => Vec::new(),
        };
        if others.is_empty() { ends } else { others }
    }

    /// The id of a node by name or alias.
    #[must_use]
    pub fn id(&self, name: &str) -> Option<u32> {
        self.ids.get(name).copied()
    }

    /// The id of a node by name or alias; an unknown one is noted, with the nearest name.
    pub fn find(&self, name: &str, at: &Place<'_>, problems: &mut Problems) -> Option<u32> {
        let id = self.id(name);
        if id.is_none() {
            let names: Vec<_> = self.nodes.iter().map(|node| node.name.as_str()).collect();
            let hint = suggest(name, names.iter().copied())
                .map_or_else(|| few("nodes", &names), |near| format!("; nearest: {}", quoted(near)));
            problems.add(at, format!("no node {} in {}{hint}", quoted(name), self.label));
        }
        id
    }

    /// The directed links that a selector means; none is noted as a problem.
    pub fn links_between(
        &self,
        ends: &[String; 2],
        selector: &LinkSelector,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Vec<usize> {
        let nodes = [0, 1].map(|end| self.find(&ends[end], &at.entry(end), problems));
        let [Some(a), Some(b)] = nodes else { return Vec::new() };
        let pairs: &[(u32, u32)] = match selector.direction {
            Direction::Both => &[(a, b), (b, a)],
            Direction::Forward => &[(a, b)],
            Direction::Backward => &[(b, a)],
        };
        let index = selector.index.map(|index| index as usize);
        let chosen: Vec<usize> = pairs
            .iter()
            .flat_map(|&(from, to)| {
                let links = self.links_from(from, to).iter().zip(1..);
                links
                    .filter(move |(_, count)| index.is_none_or(|index| index == *count))
                    .filter_map(|(link, _)| *link)
            })
            .collect();
        if chosen.is_empty() {
            problems.add(at, self.no_link(a, b, index));
        }
        chosen
    }

    fn no_link(&self, a: u32, b: u32, index: Option<usize>) -> String {
        let (from, to) = (quoted(self.name(a)), quoted(self.name(b)));
        let parallel = self.links_from(a, b).len().max(self.links_from(b, a).len());
        let label = &self.label;
        let ways = self.links_from(a, b).iter().chain(self.links_from(b, a));
        if ways.clone().next().is_some() && ways.flatten().next().is_none() {
            return format!(
                "the link between {from} and {to} is out of service; leave it out of network.out_of_service"
            );
        }
        match index {
            Some(index) if parallel > 0 => {
                format!("no link {index} between {from} and {to}; {label} has {parallel}")
            }
            None if parallel > 0 => format!("no link from {from} to {to} in that direction in {label}"),
            _ => {
                let near = self.links.iter().filter(|link| link.from.0 == a);
                let near: BTreeSet<_> = near.map(|link| self.name(link.to.0)).collect();
                let hint = if near.is_empty() {
                    format!("; {from} has no link")
                } else {
                    few(&format!("links of {from} lead to"), &near.into_iter().collect::<Vec<_>>())
                };
                format!("no link between {from} and {to} in {label}{hint}")
            }
        }
    }

    /// The directed links from one node to another, in their order; none in place of one that is out of service.
    pub(super) fn links_from(&self, from: u32, to: u32) -> &[Option<usize>] {
        self.between.get(&(from, to)).map_or(&[], Vec::as_slice)
    }

    /// The name of the next link from one node to another.
    pub(super) fn next_name(&self, from: u32, to: u32) -> String {
        let mut name = format!("{}->{}", self.name(from), self.name(to));
        let parallel = self.links_from(from, to).len();
        if parallel > 0 {
            let _ = write!(name, "#{}", parallel + 1);
        }
        name
    }

    /// Adds a directed link behind all others.
    pub(super) fn add(&mut self, link: LinkSetup) {
        self.between.entry((link.from.0, link.to.0)).or_default().push(Some(self.links.len()));
        self.links.push(link);
    }
}

/// Names, where they are few enough to help.
fn few(what: &str, names: &[&str]) -> String {
    if names.is_empty() || names.len() > FEW {
        return String::new();
    }
    let shown: Vec<_> =
        names.iter().map(|name| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))).collect();
    format!("; {what}: {}", shown.join(", "))
}

/// Ids by name; a name beats an alias, and the first alias a later one.
fn ids(nodes: &[PlainNode]) -> BTreeMap<String, u32> {
    let mut ids: BTreeMap<_, _> = nodes.iter().zip(0..).map(|(node, id)| (node.name.clone(), id)).collect();
    for (node, id) in nodes.iter().zip(0..) {
        for alias in &node.aliases {
            ids.entry(alias.clone()).or_insert(id);
        }
    }
    ids
}

/// The nodes that the scenario adds to the topology.
fn new_nodes(plain: &PlainNetwork, table: &NetworkTable, problems: &mut Problems) -> Vec<PlainNode> {
    let mut taken: Vec<&str> = plain.nodes.iter().map(|node| node.name.as_str()).collect();
    let mut added = Vec::new();
    for (number, NewNode { name, latitude, longitude, kind }) in table.node.iter().enumerate() {
        if taken.contains(&name.as_str()) {
            let message = format!("{} has a node {} already", plain.label, quoted(name));
            problems.add_at(&format!("network.node[{number}].name"), message);
            continue;
        }
        taken.push(name);
        added.push(PlainNode {
            name: name.clone(),
            aliases: Vec::new(),
            is_host: *kind == Some(NodeKind::Host),
            place: latitude.zip(*longitude),
        });
    }
    if plain.nodes.is_empty() && table.node.is_empty() {
        let message = "has no nodes; name a topology, or list them in [[network.node]]";
        problems.add_at("network", message);
    }
    added
}

/// How many others are meant besides one that is named.
pub(super) fn and_more(count: usize) -> String {
    if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() }
}

/// A whole number with commas, for messages.
pub(super) fn number(value: usize) -> String {
    thousands(value as u64)
}
