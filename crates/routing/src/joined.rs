//! Several plans as one.

use crate::{NextHopsTo, Plan, Route};
use anabranch_units::{LinkId, NodeId};
use std::collections::BTreeMap;

/// Routes by pair, and next hops by destination and node.
#[derive(Default)]
struct Joined<'p> {
    routes: BTreeMap<(NodeId, NodeId), &'p Route>,
    next: BTreeMap<(NodeId, NodeId), &'p [LinkId]>,
}

impl<'p> Joined<'p> {
    fn plan(self) -> Plan {
        let mut tables: Vec<NextHopsTo> = Vec::new();
        for ((to, node), links) in self.next {
            if tables.last().is_none_or(|table| table.to != to) {
                tables.push(NextHopsTo { to, next: Vec::new() });
            }
            tables.last_mut().expect("it is there").next.push((node, links.into()));
        }
        Plan { routes: self.routes.into_values().cloned().collect(), tables, others: Vec::new() }
    }
}

fn routes(plan: &Plan) -> impl Iterator<Item = ((NodeId, NodeId), &Route)> {
    plan.routes.iter().map(|route| ((route.from, route.to), route))
}

/// The next hops of a plan, by destination and node.
fn next_hops(plan: &Plan) -> impl Iterator<Item = ((NodeId, NodeId), &[LinkId])> {
    plan.tables.iter().flat_map(|table| table.next.iter().map(|(node, links)| ((table.to, *node), &**links)))
}

impl Plan {
    /// One plan of this and the others, and the pairs that they lead other ways: of these the first plan's routes stand
    /// there. Of what goes hop by hop, the pairs are those of a node and the destination.
    #[must_use]
    pub fn merged(&self) -> (Plan, Vec<(NodeId, NodeId)>) {
        let mut joined = Joined::default();
        let mut apart = Vec::new();
        for plan in self.all() {
            for (pair, route) in routes(plan) {
                if *joined.routes.entry(pair).or_insert(route) != route {
                    apart.push(pair);
                }
            }
            for ((to, node), links) in next_hops(plan) {
                if *joined.next.entry((to, node)).or_insert(links) != links {
                    apart.push((node, to));
                }
            }
        }
        (joined.plan(), apart)
    }

    /// This plan without its others, and with the routes and next hops of another one that it lacks.
    #[must_use]
    pub fn completed(&self, other: &Plan) -> Plan {
        let mut joined = Joined::default();
        for plan in [other, self] {
            joined.routes.extend(routes(plan));
            joined.next.extend(next_hops(plan));
        }
        joined.plan()
    }
}
