//! Paths to choose among: searches over the network of a setup.

use crate::error::{setup_error, value_error};
use crate::watch::Watch;
use anabranch_engine::network::{Network, Path};
use anabranch_engine::routing::{
    self, Disagreement, LinkMask, LinkQuality, Metric, MetricKind, PathLimits, Scheme, Search, TcpbpMetric,
    Walk,
};
use anabranch_engine::routing::{KShortestScheme, ShortestScheme, TcpbpScheme};
use anabranch_units::declaration::Parameters;
use anabranch_units::{LinkId, NodeId, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Pairs and their paths, for Python: a list of (from, to, paths), with a path as the numbers of its links.
///
/// All of it may be millions of objects. Tuples of numbers are none that the collector of cycles goes on looking at,
/// and a number is one object, however many paths have the link.
pub(crate) fn answer<'py, 'p, Paths>(
    py: Python<'py>,
    network: &Network,
    pairs: impl ExactSizeIterator<Item = (NodeId, NodeId, Paths)>,
) -> PyResult<Bound<'py, PyList>>
where
    Paths: ExactSizeIterator<Item = &'p Path>,
{
    let last = network.nodes().len().max(network.links().len());
    let numbers: Vec<_> = (0..last).map(|number| number.into_pyobject(py)).collect::<Result<_, _>>()?;
    let path = |path: &Path| PyTuple::new(py, path.links().iter().map(|link| &numbers[link.0 as usize]));
    let answers = PyList::empty(py);
    for (from, to, paths) in pairs {
        let paths = paths.map(path).collect::<PyResult<Vec<_>>>()?;
        let (from, to) = (&numbers[from.0 as usize], &numbers[to.0 as usize]);
        answers.append((from, to, PyTuple::new(py, paths)?))?;
    }
    Ok(answers)
}

/// A pair that goes astray: the links that the source chose, those that a packet crosses, and the nodes of the
/// loop, if it ends in one.
pub(crate) type Astray = (u32, u32, Vec<u32>, Vec<u32>, Option<Vec<u32>>);

/// These pairs, or all of different nodes, by source.
pub(crate) fn pairs_of(network: &Network, given: Option<Vec<(u32, u32)>>) -> PyResult<Vec<(NodeId, NodeId)>> {
    let Some(given) = given else {
        let to_all = |from| network.node_ids().filter(move |&to| to != from).map(move |to| (from, to));
        return Ok(network.node_ids().flat_map(to_all).collect());
    };
    let nodes = network.nodes().len();
    let pair = |(number, (from, to)): (usize, (u32, u32))| {
        let place = format!("pairs[{number}]");
        if let Some(node) = [from, to].into_iter().find(|&node| node as usize >= nodes) {
            return Err(setup_error(&place, format!("no node number {node}; there are {nodes}")));
        }
        if from == to {
            return Err(setup_error(&place, "both ends are the same node"));
        }
        Ok((NodeId(from), NodeId(to)))
    };
    given.into_iter().enumerate().map(pair).collect()
}

/// One of several by its name.
pub(crate) fn by_name<T: Copy>(what: &str, name: &str, names: &[(&'static str, T)]) -> PyResult<T> {
    let entry = names.iter().find(|(entry_name, _)| *entry_name == name);
    entry.map(|(_, value)| *value).ok_or_else(|| {
        let all_names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("no {what} {name:?}; there are {}", all_names.join(", ")))
    })
}

/// The scheme that finds the k best paths of a pair by a metric, within limits on delay (ps) and loss.
pub(crate) fn scheme_of(
    k: usize,
    metric: &str,
    search: &str,
    (max_delay, max_loss): (Option<u64>, Option<f64>),
) -> PyResult<Scheme> {
    let limits = PathLimits { max_delay: max_delay.map(Span::from_ps), max_loss };
    limits.check().map_err(value_error)?;
    let limits = (limits != PathLimits::default()).then_some(limits);
    let metric = by_name("metric", metric, &Metric::NAMES)?;
    let published = by_name("search", search, &Search::NAMES)? == Search::Published;
    if published && metric != Metric::Tcpbp {
        return Err(PyValueError::new_err("only the metric tcpbp has a published search"));
    }
    if published && limits.is_some() {
        return Err(PyValueError::new_err("the published search knows no limits of a path"));
    }
    let k = u32::try_from(k).unwrap_or(u32::MAX);
    if k == 0 {
        return Err(PyValueError::new_err("k is 0; it must be at least 1"));
    }
    // The same path, found in less time.
    let one = k == 1;
    Ok(match (published, one) {
        (true, _) => Scheme::Tcpbp(TcpbpScheme { k, metric: TcpbpMetric::Tcpbp }),
        (false, true) => Scheme::Shortest(ShortestScheme { metric, limits }),
        (false, false) => Scheme::KShortest(KShortestScheme { k, metric, limits }),
    })
}

/// The Pareto-optimal paths of each pair.
pub(crate) fn pareto(
    network: &Network,
    mask: &LinkMask,
    limit: usize,
    pairs: &[(NodeId, NodeId)],
    mut watch: Watch,
) -> PyResult<Vec<Vec<Path>>> {
    let quality_of = |link: LinkId| mask.usable(network, link).then(|| LinkQuality::of(network.link(link)));
    let mut points = Vec::with_capacity(pairs.len());
    for &pair in pairs {
        watch.look((points.len(), pairs.len()))?;
        points.push(routing::pareto_paths(network, pair, limit, quality_of).map_err(value_error)?);
    }
    Ok(points)
}

/// The pairs whose packets go astray hop by hop.
pub(crate) fn astray(
    network: &Network,
    mask: &LinkMask,
    by: (Metric, Search),
    mut watch: Watch,
) -> PyResult<Vec<Astray>> {
    let pairs = network.nodes().len().pow(2);
    let disagreements =
        routing::check_hop_by_hop_watched(network, mask, by, &mut |done| watch.look((done, pairs)))?;
    let of = |Disagreement { from, to, wanted, walked, ends }: Disagreement| {
        let loops = match ends {
            Walk::Arrives => None,
            Walk::Loops(nodes) => Some(nodes.into_iter().map(|node| node.0).collect()),
        };
        (from.0, to.0, numbers(wanted.links()), numbers(&walked), loops)
    };
    Ok(disagreements.into_iter().map(of).collect())
}

fn numbers(links: &[LinkId]) -> Vec<u32> {
    links.iter().map(|link| link.0).collect()
}

/// Names of the metrics, and whether each is a sum over links.
#[pyfunction]
pub fn metrics() -> Vec<(&'static str, bool)> {
    let of =
        |(name, metric): (&'static str, Metric)| (name, matches!(metric.kind(), MetricKind::Additive(_)));
    Metric::NAMES.into_iter().map(of).collect()
}
