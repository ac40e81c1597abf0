//! Paths to choose among, and what a metric makes of a network: JSON in, JSON out.

use crate::run::{checked, parse, setup_error, value_error};
use anabranch_engine::network::{Network, Path};
use anabranch_engine::routing::{
    self, Fallback, LinkMask, LinkQuality, Metric, MetricKind, Scheme, Search, TcpbpMetric,
};
use anabranch_units::{LinkId, NodeId};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use std::num::NonZeroUsize;

/// A pair and its paths, each as the numbers of its links.
#[derive(Serialize)]
struct PairPaths {
    from: NodeId,
    to: NodeId,
    paths: Vec<Path>,
}

/// The pairs of a JSON list of [from, to], or all of different nodes, by source.
fn pairs(network: &Network, json: Option<&str>) -> PyResult<Vec<(NodeId, NodeId)>> {
    let Some(json) = json else {
        let to_all = |from| network.node_ids().filter(move |&to| to != from).map(move |to| (from, to));
        return Ok(network.node_ids().flat_map(to_all).collect());
    };
    let pairs: Vec<(NodeId, NodeId)> = parse("pairs", json)?;
    let nodes = network.nodes().len();
    for (number, (from, to)) in pairs.iter().enumerate() {
        let place = format!("pairs[{number}]");
        if let Some(node) = [from, to].into_iter().find(|node| node.index() >= nodes) {
            return Err(setup_error(&place, format!("no node number {}; there are {nodes}", node.0)));
        }
        if from == to {
            return Err(setup_error(&place, "both ends are the same node"));
        }
    }
    Ok(pairs)
}

/// One of several by its name.
fn by_name<T: Copy>(what: &str, name: &str, names: &[(&'static str, T)]) -> PyResult<T> {
    let found = names.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("no {what} {name:?}; there are {}", known.join(", ")))
    })
}

fn known<'n>(network: &'n Network, mask: &'n LinkMask) -> impl Fn(LinkId) -> Option<LinkQuality> + 'n {
    |link| mask.usable(network, link).then(|| LinkQuality::of(network.link(link)))
}

/// The k best loop-free paths of pairs by a metric, over the links that carry data; best first.
///
/// `search` is "exact", or for the metric "tcpbp" also "published", the modified Dijkstra of Vilela 2022.
/// `pairs_json` is a list of [from, to] in numbers of nodes; None: all pairs of different nodes. The answer
/// is JSON, a list of {"from", "to", "paths"} in the order of the pairs, each path the list of its links'
/// numbers; a pair that is not connected has no paths.
///
/// Raises SetupError if the setup or a pair does not hold, ValueError for a metric or search that is not known
/// or do not go together, or a k of 0.
#[pyfunction]
#[pyo3(signature = (setup_json, k, metric, pairs_json=None, search="exact"))]
pub fn candidate_paths(
    py: Python<'_>,
    setup_json: &str,
    k: usize,
    metric: &str,
    pairs_json: Option<&str>,
    search: &str,
) -> PyResult<String> {
    let (network, mask) = checked(setup_json)?;
    let metric = by_name("metric", metric, &Metric::NAMES)?;
    let published = by_name("search", search, &Search::NAMES)? == Search::Published;
    if published && metric != Metric::Tcpbp {
        return Err(PyValueError::new_err("only the metric tcpbp has a published search"));
    }
    let k = NonZeroUsize::new(k).ok_or_else(|| PyValueError::new_err("k is 0; it must be at least 1"))?;
    let pairs = pairs(&network, pairs_json)?;
    let found = py.detach(|| {
        // The same path, found in less time.
        let one = k == NonZeroUsize::MIN;
        let scheme = match (published, one) {
            (true, _) => Scheme::Tcpbp { k: Some(k), metric: TcpbpMetric::Tcpbp },
            (false, true) => Scheme::Shortest { metric },
            (false, false) => Scheme::KShortest { k, metric },
        };
        let plan = scheme.plan(&network, &mask, &pairs);
        let of = |(from, to)| {
            let paths = plan.route(from, to).map_or(&[][..], |route| &route.paths);
            PairPaths { from, to, paths: paths.iter().map(|path| path.links.clone()).collect() }
        };
        pairs.into_iter().map(of).collect::<Vec<_>>()
    });
    serde_json::to_string(&found).map_err(value_error)
}

/// The paths of pairs that no other path beats in delay, loss and bottleneck capacity at once, over the links
/// that carry data; least delay first, then least loss. Of paths that are equal in all three one is there.
///
/// `pairs_json` and the answer are those of `candidate_paths`.
///
/// Raises SetupError if the setup or a pair does not hold, ValueError if a pair has more than `limit` paths
/// of this kind, or so many on the way that the search gives up.
#[pyfunction]
#[pyo3(signature = (setup_json, pairs_json=None, limit=1000))]
pub fn pareto_paths(
    py: Python<'_>,
    setup_json: &str,
    pairs_json: Option<&str>,
    limit: usize,
) -> PyResult<String> {
    let (network, mask) = checked(setup_json)?;
    let pairs = pairs(&network, pairs_json)?;
    let found = py.detach(|| {
        let of = |(from, to)| {
            let paths = routing::pareto_paths(&network, (from, to), limit, known(&network, &mask))?;
            Ok(PairPaths { from, to, paths })
        };
        pairs.into_iter().map(of).collect::<Result<Vec<_>, routing::TooMany>>()
    });
    serde_json::to_string(&found.map_err(value_error)?).map_err(value_error)
}

/// What `check_hop_by_hop` answers.
#[derive(Serialize)]
struct HopByHop<'m> {
    metric: &'m str,
    search: &'m str,
    disagreements: Vec<routing::Disagreement>,
}

/// Whether packets that every node forwards by its own best path to their destination take the path that
/// their source chose, over the links that carry data.
///
/// `search` is "exact" or "published", the modified Dijkstra of Vilela 2022. The answer is JSON: {"metric",
/// "search", "disagreements"}, with {"from", "to", "wanted", "walked", "ends"} for every pair that goes
/// astray: the links that the source chose, those that a packet crosses until it arrives or comes back to a
/// node, and "arrives" or {"loops": [numbers of the nodes of the loop]}.
///
/// Raises SetupError if the setup does not hold, ValueError for a metric or search that is not known.
#[pyfunction]
#[pyo3(signature = (setup_json, metric, search="exact"))]
pub fn check_hop_by_hop(py: Python<'_>, setup_json: &str, metric: &str, search: &str) -> PyResult<String> {
    let (network, mask) = checked(setup_json)?;
    let by_metric = by_name("metric", metric, &Metric::NAMES)?;
    let by_search = by_name("search", search, &Search::NAMES)?;
    let disagreements = py.detach(|| routing::check_hop_by_hop(&network, &mask, by_metric, by_search));
    serde_json::to_string(&HopByHop { metric, search, disagreements }).map_err(value_error)
}

/// What decides in place of a metric in the network of a setup, "delay" or "hops", where the metric says
/// nothing because no link that carries data loses packets; None where it tells paths apart.
///
/// Raises SetupError if the setup does not hold, ValueError for a metric that is not known.
#[pyfunction]
pub fn metric_fallback(setup_json: &str, metric: &str) -> PyResult<Option<&'static str>> {
    let (network, mask) = checked(setup_json)?;
    let metric = by_name("metric", metric, &Metric::NAMES)?;
    Ok(metric.fallback(&network, &mask).map(|fallback| match fallback {
        Fallback::Delay => "delay",
        Fallback::Hops => "hops",
    }))
}

/// Names of the metrics, and whether each is a sum over links.
#[pyfunction]
pub fn metrics() -> Vec<(&'static str, bool)> {
    let of =
        |(name, metric): (&'static str, Metric)| (name, matches!(metric.kind(), MetricKind::Additive(_)));
    Metric::NAMES.into_iter().map(of).collect()
}
