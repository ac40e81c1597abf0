//! Balancers that a node has for all destinations behind the same next hops, as the group of next hops of a switch.

use super::Forwarding;
use anabranch_units::{LinkId, NodeId};

impl Forwarding {
    /// The balancer of a node over these links, whatever the destination.
    pub(super) fn shared_balancer(
        &mut self,
        (node, node_name): (NodeId, &str),
        links: &[LinkId],
        choices: (&[f64], &[u64]),
    ) -> u32 {
        let next = self.shared.len() as u32;
        let index = *self.sharing.entry((node, links.to_vec())).or_insert(next);
        if index == next {
            let each = || links.iter().map(|&link| vec![link]).collect();
            let numbers: Vec<String> = links.iter().map(|link| link.0.to_string()).collect();
            let name = format!("{node_name}=>links {}", numbers.join(" "));
            let balancer = self.balancer((node, node_name), &name, "next hop", choices, each);
            self.shared.push(balancer);
        }
        index
    }
}
