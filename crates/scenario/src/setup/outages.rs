//! Links and nodes that are down together, by their ids.

use super::network::Network;
use crate::network::{Network as NetworkTable, Outage};
use crate::problem::{Place, Problems};
use crate::words::{quoted, suggest};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Links and nodes that are down together.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Debug)]
pub struct OutageSetup {
    /// What the scenario calls it.
    pub name: String,
    /// Directed links, in order; both directions of each are there, and none that is out of service anyway.
    pub links: Vec<usize>,
    /// Nodes, in order.
    pub nodes: Vec<u32>,
    /// Of a maintenance, its beginning and end in minutes after midnight.
    pub window: Option<(u32, u32)>,
}

/// What is out of service, and what may be.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Debug)]
pub struct Outages {
    /// Names of the directed links that are out of service; the network is without them.
    pub links_out: Vec<String>,
    /// Nodes that are out of service; the network has no link at them.
    pub nodes_out: Vec<u32>,
    /// Groups that share a risk: those of the scenario, and then those of the topology by name.
    pub risk_groups: Vec<OutageSetup>,
    /// Windows of maintenance.
    pub maintenance: Vec<OutageSetup>,
}

impl Outages {
    /// Those of a scenario over a network that has all its links yet; what is wrong is noted. `marked` are the links
    /// that the topology counts to a group, by the name of the group.
    pub(super) fn new(
        table: &NetworkTable,
        network: &Network,
        marked: BTreeMap<String, Vec<usize>>,
        problems: &mut Problems,
    ) -> Self {
        let out = table.out_of_service.as_ref();
        let out = out.map(|outage| elements(outage, "network.out_of_service", network, problems));
        let out = out.unwrap_or_default();
        let mut risk_groups = Vec::new();
        let mut names = BTreeSet::new();
        for (number, group) in table.risk_group.iter().enumerate() {
            let at = format!("network.risk_group[{number}]");
            note_second(&mut names, &group.name, &at, problems);
            let outage = elements(&group.outage, &at, network, problems);
            risk_groups.push(OutageSetup { name: group.name.clone(), ..outage });
        }
        for (name, links) in marked {
            if let Some(group) = risk_groups.iter_mut().find(|group| group.name == name) {
                group.links.extend(links);
                group.links.sort_unstable();
                group.links.dedup();
            } else {
                risk_groups.push(OutageSetup { name, links, ..OutageSetup::default() });
            }
        }
        let mut names = BTreeSet::new();
        let windows = table.maintenance.iter().enumerate().map(|(number, window)| {
            let at = format!("network.maintenance[{number}]");
            note_second(&mut names, &window.name, &at, problems);
            let outage = elements(&window.outage, &at, network, problems);
            OutageSetup {
                name: window.name.clone(),
                window: Some((window.begin.0, window.until.0)),
                ..outage
            }
        });
        let maintenance = windows.collect();
        let links_out =
            links_down(&out, network).into_iter().map(|link| network.links[link].name.to_string());
        Self { links_out: links_out.collect(), nodes_out: out.nodes, risk_groups, maintenance }
    }

    /// The same over a network without the links that are out: each link has another id, or none.
    pub(super) fn renumbered(mut self, ids: &[Option<usize>]) -> Self {
        for outage in self.risk_groups.iter_mut().chain(&mut self.maintenance) {
            outage.links = outage.links.iter().filter_map(|&link| ids[link]).collect();
        }
        self
    }
}

fn note_second<'n>(names: &mut BTreeSet<&'n str>, name: &'n str, at: &str, problems: &mut Problems) {
    if !names.insert(name) {
        problems.add_at(&format!("{at}.name"), format!("{} is the name of another one, too", quoted(name)));
    }
}

/// All links that are down with an outage: those that it names, and those at its nodes.
fn links_down(outage: &OutageSetup, network: &Network) -> BTreeSet<usize> {
    let at_nodes = network.links.iter().enumerate().filter(|(_, link)| {
        [link.from.0, link.to.0].iter().any(|node| outage.nodes.binary_search(node).is_ok())
    });
    at_nodes.map(|(link, _)| link).chain(outage.links.iter().copied()).collect()
}

/// The links and nodes of an outage by id.
fn elements(outage: &Outage, at: &str, network: &Network, problems: &mut Problems) -> OutageSetup {
    let mut links = BTreeSet::new();
    for (place, name) in outage.links.iter().enumerate() {
        links.extend(both_directions(name, &Place::Told(&format!("{at}.links[{place}]")), network, problems));
    }
    let place_of = |place: usize| format!("{at}.nodes[{place}]");
    let nodes = outage.nodes.iter().enumerate();
    let nodes: BTreeSet<u32> = nodes
        .filter_map(|(place, name)| network.find(name, &Place::Told(&place_of(place)), problems))
        .collect();
    let (links, nodes) = (links.into_iter().collect(), nodes.into_iter().collect());
    OutageSetup { links, nodes, ..OutageSetup::default() }
}

/// The link of a name, and the one of the same number that leads back.
fn both_directions(name: &str, at: &Place<'_>, network: &Network, problems: &mut Problems) -> Vec<usize> {
    let (pair, number) = match name.rsplit_once('#') {
        Some((pair, number)) if number.parse::<usize>().is_ok_and(|number| number > 0) => {
            (pair, number.parse().unwrap_or(1))
        }
        _ => (name, 1),
    };
    // A hyphen may be of a name, too, and so may a number at its end.
    let [whole, numbered] = [(name, 1), (pair, number)].map(|(pair, number)| (ends(pair, network), number));
    let (ends, number) = if whole.0.is_some() { whole } else { numbered };
    let ids: Vec<usize> = ends.map_or_else(Vec::new, |(from, to)| {
        let ways = [(from, to), (to, from)].into_iter();
        ways.filter_map(|(from, to)| network.links_from(from, to).get(number - 1).copied().flatten())
            .collect()
    });
    if ids.is_empty() {
        let near = suggest(name, network.links.iter().map(|link| &*link.name));
        let hint = near.map_or_else(
            || "; a link goes by its ends: \"Oslo->Bergen\"".to_owned(),
            |near| format!("; nearest: {}", quoted(near)),
        );
        problems.add(at, format!("no link {} in {}{hint}", quoted(name), network.label));
    }
    ids
}

/// The ids of the nodes that a name of a link joins: `a->b` or `a-b`.
fn ends(pair: &str, network: &Network) -> Option<(u32, u32)> {
    pair.match_indices('-').find_map(|(place, _)| {
        let (from, to) = (&pair[..place], &pair[place + 1..]);
        let to = to.strip_prefix('>').unwrap_or(to);
        Some((network.id(from.trim())?, network.id(to.trim())?))
    })
}
