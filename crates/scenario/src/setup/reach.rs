//! Which nodes can reach which.

use std::collections::{BTreeMap, BTreeSet};

/// The ways over the links of a run.
#[derive(Debug)]
pub struct Reach {
    next: Vec<Vec<u32>>,
    /// The only nodes that forward; any other one sends what it has over its first link to one of them.
    switches: Option<BTreeSet<u32>>,
    /// Where each link has one back, and every node forwards: the part of each node, by its first node.
    parts: Option<Vec<u32>>,
    reached: BTreeMap<u32, Vec<bool>>,
}

impl Reach {
    /// Over links by their ends, between so many nodes; with `switches`, these alone forward.
    #[must_use]
    pub fn new(nodes: usize, links: impl IntoIterator<Item = (u32, u32)>, switches: Option<&[u32]>) -> Self {
        let mut next = vec![Vec::new(); nodes];
        let mut pairs = BTreeSet::new();
        for (from, to) in links {
            // In the order of the links: a host's first one counts.
            if pairs.insert((from, to)) {
                next[from as usize].push(to);
            }
        }
        let switches = switches.map(|switches| switches.iter().copied().collect());
        let mut reach = Self { next, switches, parts: None, reached: BTreeMap::new() };
        if reach.switches.is_none() && pairs.iter().all(|&(from, to)| pairs.contains(&(to, from))) {
            reach.parts = Some(reach.connected_parts());
        }
        reach
    }

    /// Whether some path leads from one node to another.
    pub fn connects(&mut self, from: u32, to: u32) -> bool {
        if let Some(parts) = &self.parts {
            return parts[from as usize] == parts[to as usize];
        }
        if !self.reached.contains_key(&from) {
            let reached = self.search(from);
            self.reached.insert(from, reached);
        }
        self.reached[&from][to as usize]
    }

    fn connected_parts(&self) -> Vec<u32> {
        let mut parts = vec![u32::MAX; self.next.len()];
        for node in 0..parts.len() {
            if parts[node] != u32::MAX {
                continue;
            }
            let part = node as u32;
            let mut waiting = vec![part];
            parts[node] = part;
            while let Some(at) = waiting.pop() {
                for &to in &self.next[at as usize] {
                    if parts[to as usize] == u32::MAX {
                        parts[to as usize] = part;
                        waiting.push(to);
                    }
                }
            }
        }
        parts
    }

    fn search(&self, from: u32) -> Vec<bool> {
        let mut reached = vec![false; self.next.len()];
        reached[from as usize] = true;
        let mut waiting = vec![from];
        while let Some(at) = waiting.pop() {
            for to in self.following(at, from) {
                if !std::mem::replace(&mut reached[to as usize], true) {
                    waiting.push(to);
                }
            }
        }
        reached
    }

    /// Where a packet from a node can go from another one.
    fn following(&self, node: u32, from: u32) -> Vec<u32> {
        let next = &self.next[node as usize];
        match &self.switches {
            None => next.clone(),
            Some(switches) if switches.contains(&node) => next.clone(),
            Some(switches) if node == from => {
                next.iter().copied().filter(|to| switches.contains(to)).take(1).collect()
            }
            Some(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_network_do_not_reach_each_other() {
        let mut reach = Reach::new(4, [(0, 1), (1, 0), (2, 3), (3, 2)], None);
        assert!(reach.connects(0, 1) && reach.connects(1, 1) && !reach.connects(0, 2));
    }

    #[test]
    fn one_way_leads_one_way() {
        let mut reach = Reach::new(3, [(0, 1), (1, 2)], None);
        assert!(reach.connects(0, 2) && !reach.connects(2, 0));
    }

    /// A host with two switches sends over its first link, and forwards nothing.
    #[test]
    fn hosts_send_over_their_first_link_to_a_switch() {
        let links = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 0), (4, 0), (3, 1), (1, 0)];
        let mut reach = Reach::new(5, links, Some(&[1, 2]));
        assert!(reach.connects(0, 3) && !reach.connects(0, 4));
        assert!(!reach.connects(0, 2), "node 2 is behind the second link");
        assert!(reach.connects(3, 1), "its first link to a switch leads there");
    }
}
