//! The routes of a run for people: the paths of a pair, and the share of its packets on each link.

use anabranch_engine::network::Network;
use anabranch_engine::routing::Plan;
use anabranch_units::{LinkId, NodeId};
use serde::Serialize;
use std::collections::BTreeMap;

/// Paths of a pair that are told one by one.
const MOST_LISTED: usize = 50;

/// The routes of a pair at the start of a run, those of all its traffic taken together.
#[derive(Serialize, PartialEq, Debug)]
pub struct PairRoutes {
    /// How many paths it has; none hop by hop.
    pub count: usize,
    /// The first of them: share of the packets, links, and text.
    pub paths: Vec<(f64, Vec<u32>, String)>,
    /// Each link that packets cross, and the share of those that do. Where entries of traffic have routes of their own, it
    /// is the mean over them.
    pub shares: Vec<(u32, f64)>,
}

/// A plan on its network.
pub struct Routes {
    network: Network,
    plan: Plan,
    ends: Vec<NodeId>,
}

impl Routes {
    /// The routes of a plan, which fits the network.
    #[must_use]
    pub fn new(network: Network, plan: Plan) -> Self {
        let ends = network.links().iter().map(|link| link.to).collect();
        Self { network, plan, ends }
    }

    /// Whether some traffic has routes of its own.
    #[must_use]
    pub const fn has_others(&self) -> bool {
        !self.plan.others.is_empty()
    }

    /// The routes of a pair; none where it has none.
    #[must_use]
    pub fn of_pair(&self, from: NodeId, to: NodeId) -> Option<PairRoutes> {
        let plans = std::iter::once(&self.plan).chain(&self.plan.others);
        let routed: Vec<_> = plans.filter_map(|plan| Some((plan, plan.route(from, to)?))).collect();
        if routed.is_empty() {
            return None;
        }
        let mut places: BTreeMap<LinkId, usize> = BTreeMap::new();
        let mut shares: Vec<(u32, f64)> = Vec::new();
        for (plan, _) in &routed {
            for (link, share) in plan.shares(&self.ends, from, to).links {
                let at = *places.entry(link).or_insert(shares.len());
                if at == shares.len() {
                    shares.push((link.0, 0.0));
                }
                shares[at].1 += share;
            }
        }
        shares.iter_mut().for_each(|(_, share)| *share /= routed.len() as f64);
        let paths: Vec<_> = routed.iter().flat_map(|(_, route)| &route.paths).collect();
        let total: f64 = paths.iter().map(|path| path.weight).sum();
        let listed = paths.iter().take(MOST_LISTED).map(|path| {
            let links = path.links.links();
            (path.weight / total, links.iter().map(|link| link.0).collect(), self.network.path_text(links))
        });
        Some(PairRoutes { count: paths.len(), paths: listed.collect(), shares })
    }
}
