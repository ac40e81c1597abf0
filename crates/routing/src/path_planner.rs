//! Plans by metrics of whole paths. As in [`crate::planner`], stubs are left out of the searches; but what
//! their edges are like counts, because it can make one way through the core better than another. So a search
//! begins with the delay, loss and capacity of the links up to the core, and ends with those down from it, and
//! only pairs whose edges are alike in these share one.

use crate::hop_by_hop::Search;
use crate::k_best::{Ends as Free, KBest};
use crate::path_metric::PathMetric;
use crate::quality::{LinkQuality, PathQuality};
use crate::stubs::{Ends, Stubs};
use crate::tcpbp::TcpbpTree;
use crate::{ExactTree, LinkMask, PathLimits, Watch};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A source that has one in so many nodes as a destination, or more, has one search for all.
const MANY_DESTINATIONS: usize = 8;

/// Links between a node and the core, and what a metric sees of them.
type Edges = (Vec<LinkId>, Vec<LinkQuality>);

/// Pairs that differ in nothing that a search sees: where they leave and enter the core, and what their edges
/// are like up and down.
type Alike = (NodeId, Vec<(u64, u64, u64)>, NodeId, Vec<(u64, u64, u64)>);

/// Finds paths for many pairs.
pub(crate) struct PathPlanner<'n> {
    network: &'n Network,
    mask: &'n LinkMask,
    metric: PathMetric,
    search: Search,
    limits: Option<PathLimits>,
    stubs: Stubs,
}

/// The paths of a pair, best first.
pub(crate) type PairPaths = BTreeMap<(NodeId, NodeId), Vec<Path>>;

impl<'n> PathPlanner<'n> {
    pub(crate) fn new(
        network: &'n Network,
        mask: &'n LinkMask,
        metric: PathMetric,
        search: Search,
        limits: Option<PathLimits>,
    ) -> Self {
        Self { network, mask, metric, search, limits, stubs: Stubs::new(network) }
    }

    /// The `k` best paths of every pair that is connected.
    pub(crate) fn paths<E>(
        &self,
        pairs: &[(NodeId, NodeId)],
        k: usize,
        watch: &mut Watch<'_, E>,
    ) -> Result<PairPaths, E> {
        let mut by_source: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
        for &(from, to) in pairs.iter().filter(|(from, to)| from != to) {
            by_source.entry(from).or_default().insert(to);
        }
        let mut routes = PairPaths::new();
        let mut one_by_one = Vec::new();
        for (from, destinations) in by_source {
            watch(routes.len())?;
            let one_search = k == 1 && self.limits.is_none();
            if one_search && destinations.len() * MANY_DESTINATIONS >= self.network.nodes().len() {
                self.paths_from(from, &destinations, &mut routes);
            } else {
                one_by_one.extend(destinations.into_iter().map(|to| (from, to)));
            }
        }
        // Pairs to one destination after another share what leads their searches.
        one_by_one.sort_by_key(|&(from, to)| (to, from));
        self.paths_between(&one_by_one, k, &mut routes, watch)?;
        Ok(routes)
    }

    /// What searches know of a link: nothing if it is down.
    fn quality(&self, link: LinkId) -> Option<LinkQuality> {
        self.mask.usable(self.network, link).then(|| LinkQuality::of(self.network.link(link)))
    }

    fn paths_from(&self, from: NodeId, destinations: &BTreeSet<NodeId>, paths: &mut PairPaths) {
        let mut add = |path: &dyn Fn(NodeId) -> Option<Path>| {
            paths.extend(destinations.iter().filter_map(|&to| Some(((from, to), vec![path(to)?]))));
        };
        match self.search {
            Search::Exact => {
                let tree = ExactTree::new(self.network, self.metric, from, |link| self.quality(link));
                add(&|to| tree.path(self.network, to));
            }
            Search::Published => {
                let of = |_: NodeId, link: LinkId, _: NodeId| {
                    self.quality(link).map(|quality| self.metric.seen(quality))
                };
                let start = (from, PathQuality::EMPTY);
                let tree = TcpbpTree::grow(self.network, self.metric, start, of, None);
                add(&|to| tree.path(self.network, to));
            }
        }
    }

    fn paths_between<E>(
        &self,
        pairs: &[(NodeId, NodeId)],
        k: usize,
        routes: &mut PairPaths,
        watch: &mut Watch<'_, E>,
    ) -> Result<(), E> {
        let in_core = |link: LinkId| {
            let ends = self.network.link(link);
            self.quality(link).filter(|_| self.stubs.in_core(ends.from) && self.stubs.in_core(ends.to))
        };
        let mut finder = KBest::within(self.network, self.metric, (self.search, self.limits), in_core);
        let mut cached: BTreeMap<Alike, Vec<Vec<LinkId>>> = BTreeMap::new();
        for &(from, to) in pairs {
            let Ends { ascent, top, descent } = self.stubs.between(from, to);
            let up = self.edges(ascent.iter().map(|&stub| self.stubs.edge(stub)?.up));
            let down = self.edges(descent.iter().map(|&stub| self.stubs.edge(stub)?.down));
            let (Some((up, up_qualities)), Some((down, tail))) = (up, down) else { continue };
            if top.0 == top.1 {
                let whole = PathQuality::of(up_qualities.into_iter().chain(tail));
                if !finder.admits(whole) {
                    continue;
                }
                routes.insert((from, to), vec![self.path([up, down].concat())]);
                continue;
            }
            let alike = (top.0, bits(&up_qualities), top.1, bits(&tail));
            let between = match cached.entry(alike) {
                Entry::Occupied(cached) => cached.into_mut(),
                Entry::Vacant(place) => {
                    let bounds = finder.bounds(top.1, &tail);
                    let start = PathQuality::of(up_qualities);
                    let mut paths = finder.between(bounds, Free { start, from: top.0, tail }).take(k);
                    let mut next = || watch(routes.len()).map(|()| paths.next()).transpose();
                    place.insert(std::iter::from_fn(&mut next).collect::<Result<_, E>>()?)
                }
            };
            if !between.is_empty() {
                let whole = |links: &Vec<LinkId>| self.path([&up[..], links, &down].concat());
                routes.insert((from, to), between.iter().map(whole).collect());
            }
        }
        Ok(())
    }

    /// Links and what the metric sees of them, if all of them are there and usable.
    fn edges(&self, links: impl Iterator<Item = Option<LinkId>>) -> Option<Edges> {
        let usable = |link: Option<LinkId>| link.and_then(|link| Some((link, self.quality(link)?)));
        let usable_links: Option<Vec<(LinkId, LinkQuality)>> = links.map(usable).collect();
        let seen = |quality| match self.limits {
            None => self.metric.seen(quality),
            Some(_) => self.metric.seen_within(quality),
        };
        Some(usable_links?.into_iter().map(|(link, quality)| (link, seen(quality))).unzip())
    }

    fn path(&self, links: Vec<LinkId>) -> Path {
        Path::new(self.network, links).expect("the links of a way join and make no loop")
    }
}

/// Qualities as what can be compared.
fn bits(qualities: &[LinkQuality]) -> Vec<(u64, u64, u64)> {
    let of = |link: &LinkQuality| (link.delay.as_ps(), link.loss.to_bits(), link.capacity.as_bps());
    qualities.iter().map(of).collect()
}
