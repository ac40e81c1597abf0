//! Whether forwarding hop by hop agrees with the best paths: every node knows its own best path to a
//! destination, and forwards to the first node on it.
//!
//! With an additive metric it always does: every rest of a best path is the best path from where it begins. For
//! that the metric must be isotonic; where it is not, packets can end up on another path than the source chose
//! (J. L. Sobrinho, "Algebra and algorithms for QoS path computation and hop-by-hop routing in the Internet",
//! IEEE/ACM Transactions on Networking 10, 2002).
//!
//! A loop needs more than that: the rest of a path is always better than the path, if only by its hops, and the
//! next node's best path is no worse than that rest, so on the way what is left gets better and better. This
//! holds where every node has the best path by a monotone metric. A search that misses best paths, such as the
//! published one, can loop; a network of four nodes in which it does is among the tests.

use crate::exact::ExactTree;
use crate::graph::CostGraph;
use crate::metric::{Metric, MetricKind};
use crate::path_metric::PathMetric;
use crate::quality::LinkQuality;
use crate::tcpbp::TcpbpTree;
use crate::watch::unwatched;
use crate::{LinkMask, TreeFrom, Watch};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId};
use serde::Serialize;

anabranch_units::choice! {
    /// How best paths by a metric of whole paths are searched. With additive metrics both are Dijkstra's algorithm.
    pub enum Search {
        /// So that none is missed.
        "exact" => Exact,
        /// By the modified Dijkstra as published (Vilela 2022, algorithm 1), which can miss the best.
        "published" => Published,
    }
}

/// A pair whose packets, forwarded hop by hop, do not take the path that the source chose.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Disagreement {
    /// Source.
    pub from: NodeId,
    /// Destination.
    pub to: NodeId,
    /// The path that the source chose.
    pub wanted: Path,
    /// The links that a packet crosses, until it arrives or a node sees it again.
    pub walked: Vec<LinkId>,
    /// How that ends.
    pub ends: Walk,
}

/// How a walk from node to node ends. It always can go on: the node after one that knows a path knows one, too.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Walk {
    /// At the destination.
    Arrives,
    /// In a loop over these nodes, the first of them first; it has no end.
    Loops(Vec<NodeId>),
}

/// All pairs of different nodes whose packets go astray when every node forwards by its own best path, over the
/// usable links, in the order of (destination, source).
#[must_use]
pub fn check_hop_by_hop(
    network: &Network,
    mask: &LinkMask,
    metric: Metric,
    search: Search,
) -> Vec<Disagreement> {
    unwatched(|watch| check_hop_by_hop_watched(network, mask, (metric, search), watch))
}

/// The same, and `watch` hears of how many pairs the paths are known.
///
/// # Errors
/// That of `watch`, which ends the work.
pub fn check_hop_by_hop_watched<E>(
    network: &Network,
    mask: &LinkMask,
    (metric, search): (Metric, Search),
    watch: &mut Watch<'_, E>,
) -> Result<Vec<Disagreement>, E> {
    let by_source = best_paths(network, mask, (metric, search), watch)?;
    let chosen = |from: NodeId, to: NodeId| by_source[from.index()][to.index()].as_ref();
    let mut disagreements = Vec::new();
    let count = network.nodes().len();
    for to in network.node_ids() {
        watch(count * count)?;
        for from in network.node_ids() {
            let Some(wanted) = chosen(from, to) else { continue };
            let next = |node: NodeId| chosen(node, to).and_then(|path| path.links().first().copied());
            let (walked, ends) = walk(network, from, to, next);
            if walked != wanted.links() {
                disagreements.push(Disagreement { from, to, wanted: wanted.clone(), walked, ends });
            }
        }
    }
    Ok(disagreements)
}

/// The path of every source to every destination.
fn best_paths<E>(
    network: &Network,
    mask: &LinkMask,
    (metric, search): (Metric, Search),
    watch: &mut Watch<'_, E>,
) -> Result<Vec<Vec<Option<Path>>>, E> {
    let from_all = |from: NodeId| -> Box<dyn Fn(NodeId) -> Option<Path> + '_> {
        let quality_of = |link| mask.usable(network, link).then(|| LinkQuality::of(network.link(link)));
        match (metric.kind(), search) {
            (MetricKind::Additive(metric), _) => {
                let graph = CostGraph::new(network, mask, |link| metric.cost(network, link));
                let tree = TreeFrom::new(&graph, from);
                Box::new(move |to| tree.path(&graph, to))
            }
            (MetricKind::Path(metric), Search::Exact) => {
                let tree = ExactTree::new(network, metric, from, quality_of);
                Box::new(move |to| tree.path(network, to))
            }
            (MetricKind::Path(metric), Search::Published) => {
                let tree = published(network, metric, from, quality_of);
                Box::new(move |to| tree.path(network, to))
            }
        }
    };
    let mut paths = |from: NodeId| {
        watch(from.index() * network.nodes().len())?;
        Ok(network.node_ids().map(from_all(from)).collect())
    };
    network.node_ids().map(&mut paths).collect()
}

/// The modified Dijkstra by any metric of paths.
fn published(
    network: &Network,
    metric: PathMetric,
    from: NodeId,
    quality: impl Fn(LinkId) -> Option<LinkQuality>,
) -> TcpbpTree {
    let seen = |_: NodeId, link: LinkId, _: NodeId| quality(link).map(|quality| metric.seen(quality));
    TcpbpTree::grow(network, metric, (from, crate::PathQuality::EMPTY), seen, None)
}

/// The links that a packet crosses, and how that ends.
fn walk(
    network: &Network,
    from: NodeId,
    to: NodeId,
    next: impl Fn(NodeId) -> Option<LinkId>,
) -> (Vec<LinkId>, Walk) {
    let (mut nodes, mut links) = (vec![from], Vec::new());
    let mut here = from;
    while here != to {
        let link = next(here).expect("the node after one that knows a path knows one, too");
        links.push(link);
        here = network.link(link).to;
        if let Some(first) = nodes.iter().position(|&node| node == here) {
            return (links, Walk::Loops(nodes.split_off(first)));
        }
        nodes.push(here);
    }
    (links, Walk::Arrives)
}
