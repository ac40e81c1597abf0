//! Who sends to whom: the pairs of nodes of an entry.

use super::draws::Draws;
use super::network::Network;
use crate::problem::{Place, Problems};
use crate::traffic::{Ends, Pairs, Traffic};
use crate::words::quoted;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of nodes: who sends, and who receives.
pub(super) type NodePairs = Vec<(u32, u32)>;

/// An entry of traffic with its name and place, over a network.
#[derive(Clone, Copy)]
pub(super) struct Entry<'e> {
    /// The entry.
    pub table: &'e Traffic,
    /// Its name, on which its draws hang.
    pub name: &'e str,
    /// Where it stands.
    pub at: &'e Place<'e>,
    /// The network.
    pub network: &'e Network,
    /// The draws of the run.
    pub draws: Draws,
}

impl Entry<'_> {
    /// The pairs of nodes, the other direction last; what is wrong with them is noted.
    pub(super) fn pairs(&self, problems: &mut Problems) -> NodePairs {
        let mut pairs = self.pairs_there(problems);
        if !self.table.both_directions {
            return pairs;
        }
        let there: BTreeSet<_> = pairs.iter().copied().collect();
        if let Some(&(from, to)) = pairs.iter().find(|&&(from, to)| from != to && there.contains(&(to, from)))
        {
            let names = [to, from].map(|node| quoted(self.network.name(node))).join(" and ");
            let message = format!("{names} send to each other without it; leave it out");
            problems.add(&self.at.key("both_directions"), message);
        }
        let back: Vec<_> = pairs.iter().map(|&(from, to)| (to, from)).collect();
        pairs.extend(back);
        pairs
    }

    /// The nodes of `from` in their order; what is wrong with them is noted.
    pub(super) fn senders(&self, problems: &mut Problems) -> Vec<u32> {
        let source = self.table.source.as_ref();
        source.map_or_else(Vec::new, |ends| self.ends(ends, &self.at.key("from"), problems))
    }

    fn pairs_there(&self, problems: &mut Problems) -> NodePairs {
        let of = |ends: Option<&Ends>, key: &str, problems: &mut Problems| match ends {
            Some(ends) => self.ends(ends, &self.at.key(key), problems),
            None => Vec::new(),
        };
        let senders = of(self.table.source.as_ref(), "from", problems);
        match self.table.pairs {
            Pairs::Permutation => return self.permutation(&senders, problems),
            Pairs::Neighbours => return self.neighbours(&senders, problems),
            Pairs::All | Pairs::InOrder => {}
        }
        let receivers = of(self.table.destination.as_ref(), "to", problems);
        let mut pairs: NodePairs = if self.table.pairs == Pairs::InOrder {
            senders.iter().copied().zip(receivers.iter().copied()).collect()
        } else {
            let all = senders.iter().flat_map(|&from| receivers.iter().map(move |&to| (from, to)));
            let are_several = senders.len() > 1 || receivers.len() > 1;
            all.filter(|&(from, to)| !are_several || from != to).collect()
        };
        for &(node, _) in pairs.iter().filter(|(from, to)| from == to) {
            let message = format!("is the node that sends as well, {}", quoted(self.network.name(node)));
            problems.add(&self.at.key("to"), message);
        }
        if let Some(controller) = self.network.controller {
            for (ends, key) in [(&senders, "from"), (&receivers, "to")] {
                if ends.contains(&controller) {
                    problems.add(&self.at.key(key), "is the controller, which is no end of a flow");
                }
            }
            pairs.retain(|&(from, to)| from != controller && to != controller);
        }
        pairs
    }

    fn ends(&self, ends: &Ends, at: &Place<'_>, problems: &mut Problems) -> Vec<u32> {
        match ends {
            Ends::One(name) if name == "*" => self.network.hosts(),
            Ends::One(name) => self.network.find(name, at, problems).into_iter().collect(),
            Ends::Several(names) => {
                let named = names.iter().enumerate();
                named
                    .filter_map(|(place, name)| self.network.find(name, &at.entry(place), problems))
                    .collect()
            }
        }
    }

    /// Pairs of these nodes with a link from the first to the second, once each.
    fn neighbours(&self, senders: &[u32], problems: &mut Problems) -> NodePairs {
        let ends: BTreeSet<_> = senders.iter().copied().collect();
        if ends.len() < senders.len() {
            problems.add(&self.at.key("from"), "names a node twice");
        }
        let mut followers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for link in &self.network.links {
            let (from, to) = (link.from.0, link.to.0);
            if ends.contains(&from) && ends.contains(&to) && seen.insert((from, to)) {
                followers.entry(from).or_default().push(to);
            }
        }
        let mut named = BTreeSet::new();
        let first = senders.iter().copied().filter(|&node| named.insert(node));
        let pairs: NodePairs = first
            .flat_map(|from| followers.get(&from).into_iter().flatten().map(move |&to| (from, to)))
            .collect();
        if pairs.is_empty() {
            let hint = if self.network.switches.is_some() { "; list the switches" } else { "" };
            let message = format!("no two of these nodes have a link between them{hint}");
            problems.add(&self.at.key("from"), message);
        }
        pairs
    }

    /// Each sends to the next in a random cyclic order, so that nobody sends to itself.
    fn permutation(&self, senders: &[u32], problems: &mut Problems) -> NodePairs {
        let at = self.at.key("from");
        if senders.iter().collect::<BTreeSet<_>>().len() < senders.len() {
            problems.add(&at, "names a node twice; in a permutation each sends once");
        }
        if senders.len() < 2 {
            problems.add(&at, "a permutation needs at least two nodes");
            return Vec::new();
        }
        let ranks: Vec<_> = self.draws.uniforms(self.name, "permutation").take(senders.len()).collect();
        let mut order: Vec<_> = (0..senders.len()).collect();
        order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
        let following = order.iter().copied().cycle().skip(1);
        let followers: BTreeMap<_, _> =
            order.iter().zip(following).map(|(&from, to)| (senders[from], senders[to])).collect();
        senders.iter().map(|&from| (from, followers[&from])).collect()
    }
}
