//! The nodes of a file of traffic, found in the network.

use super::network::{Network, number};
use super::plain::{Numbering, PlainTraffic};
use crate::problem::{Place, Problem, Problems};
use crate::words::quoted;

/// Nodes that are not there are told one by one until there are so many.
const TOLD: usize = 5;

/// How the nodes of a file are found.
#[derive(Clone, Copy)]
pub(super) struct NodesOfFile<'n> {
    /// The network.
    pub network: &'n Network,
    /// The node of a name at a place, of those that may be meant; what is wrong is noted.
    pub node: &'n dyn Fn(&str, &Place<'_>, &mut Problems) -> Option<u32>,
}

impl NodesOfFile<'_> {
    /// The id of each of the file's nodes; what is wrong is noted, and there are none then.
    pub(super) fn found(
        &self,
        file: &str,
        traffic: &PlainTraffic,
        problems: &mut Problems,
    ) -> Option<Vec<u32>> {
        let numbered: Vec<u32> = match traffic.numbering {
            Numbering::Names => Vec::new(),
            Numbering::Nodes => (0..self.network.node_count() as u32).collect(),
            Numbering::Hosts => self.network.hosts(),
        };
        let at = Place::Told(file);
        let (mut places, mut wrong) = (Vec::new(), Vec::new());
        for name in &traffic.nodes {
            let mut mistakes = Problems::default();
            let meant = match traffic.numbering {
                Numbering::Names => Some(name.as_str()),
                Numbering::Nodes => self.numbered(name, &numbered, "nodes", &at, &mut mistakes),
                Numbering::Hosts => self.numbered(name, &numbered, "hosts", &at, &mut mistakes),
            };
            places.extend(meant.and_then(|name| (self.node)(name, &at, &mut mistakes)));
            wrong.extend(mistakes.into_told());
        }
        let others = wrong.len().saturating_sub(TOLD);
        for Problem { place, message } in wrong.into_iter().take(TOLD) {
            problems.add_at(&place, message);
        }
        if others > 0 {
            let message = format!("and so for {} other nodes of {}", number(others), quoted(file));
            problems.add(&at, message);
        }
        (places.len() == traffic.nodes.len()).then_some(places)
    }

    /// The name of the node whose number among these is written; where there is none, that is noted.
    fn numbered(
        &self,
        written: &str,
        nodes: &[u32],
        what: &str,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<&str> {
        let node = written.parse::<usize>().ok().and_then(|place| nodes.get(place));
        if node.is_none() {
            let (written, label) = (quoted(written), &self.network.label);
            let range = match nodes.len() {
                0 => "which has none".to_owned(),
                count => format!("from 0 to {}", count - 1),
            };
            problems.add(at, format!("{written} is a number among the {what} of {label}, {range}"));
        }
        node.map(|node| self.network.name(*node))
    }
}
