//! A plan, as Python holds it, and what it makes of packets on the links of its network.

use crate::error::{parse, setup_error, value_error};
use anabranch_engine::network::{PathNode, path_text, read_path};
use anabranch_engine::routing::{self, HopByHop};
use anabranch_units::{LinkId, NodeId};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Weights and lengths of paths, and the links of all of them.
type PathColumns<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Routes of the pairs of a setup: by one of the core's schemes (`Setup.plan`), or made elsewhere.
///
/// Raises SetupError if the text is no plan; whether its paths are there is found out when it is used.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Plan {
    pub(crate) plan: Arc<routing::Plan>,
}

#[pymethods]
impl Plan {
    #[new]
    fn new(plan_json: &str) -> PyResult<Self> {
        Ok(Self { plan: Arc::new(parse("plan", plan_json)?) })
    }

    /// The same plan, with these for traffic that has routes of its own; they have no others in turn.
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over a list")]
    fn with_others(&self, others: Vec<PyRef<'_, Self>>) -> Self {
        let others = others.iter().map(|other| routing::Plan::clone(&other.plan)).collect();
        Self { plan: Arc::new(routing::Plan { others, ..routing::Plan::clone(&self.plan) }) }
    }

    /// The plans for traffic that has routes of its own.
    fn others(&self) -> Vec<Self> {
        let of_plan = |other: &routing::Plan| Self { plan: Arc::new(other.clone()) };
        self.plan.others.iter().map(of_plan).collect()
    }

    /// Whether packets of any pair have a choice.
    fn splits(&self) -> bool {
        self.plan.splits()
    }

    /// One plan of this and its others, and the pairs that they lead other ways, as (from, to).
    fn merged(&self) -> (Self, Vec<(u32, u32)>) {
        let (plan, apart) = self.plan.merged();
        (Self { plan: Arc::new(plan) }, apart.into_iter().map(|(from, to)| (from.0, to.0)).collect())
    }

    /// This plan without its others, and with the routes and next hops of another one that it lacks.
    fn completed(&self, other: &Self) -> Self {
        Self { plan: Arc::new(self.plan.completed(&other.plan)) }
    }

    /// The plan on the links of its network, of which this is the node behind each.
    ///
    /// Raises SetupError if the plan is out of order, or has a link that is not there.
    fn over(&self, link_ends: PyReadonlyArray1<'_, u32>) -> PyResult<PlannedPaths> {
        let ends: Vec<NodeId> = link_ends.as_array().iter().map(|&node| NodeId(node)).collect();
        check(&self.plan, ends.len()).map_err(|problem| setup_error("plan", problem))?;
        Ok(PlannedPaths { plan: Arc::clone(&self.plan), ends })
    }

    /// The ends of each route and how many paths it has, as arrays: (from, to, paths).
    fn ends<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<u32>>; 3] {
        let of_routes = |of: fn(&routing::Route) -> u32| {
            self.plan.routes.iter().map(of).collect::<Vec<u32>>().into_pyarray(py)
        };
        [
            of_routes(|route| route.from.0),
            of_routes(|route| route.to.0),
            of_routes(|route| route.paths.len() as u32),
        ]
    }

    /// All paths in the order of their routes: (weight, hops), and their links one after the other.
    fn columns<'py>(&self, py: Python<'py>) -> PathColumns<'py> {
        let paths = || self.plan.routes.iter().flat_map(|route| &route.paths);
        let weights: Vec<f64> = paths().map(|path| path.weight).collect();
        let hops: Vec<u32> = paths().map(|path| path.links.hops() as u32).collect();
        let links: Vec<u32> = paths().flat_map(|path| path.links.links()).map(|link| link.0).collect();
        (weights.into_pyarray(py), hops.into_pyarray(py), links.into_pyarray(py))
    }

    /// How many destinations have tables of next hops.
    fn table_count(&self) -> usize {
        self.plan.tables.len()
    }

    /// The next hops of so many tables from one on, in their order: destination, node and number of links, and the links
    /// one after the other.
    fn hops<'py>(&self, py: Python<'py>, first: usize, count: usize) -> [Bound<'py, PyArray1<u32>>; 4] {
        let hops = || {
            let tables = self.plan.tables.iter().skip(first).take(count);
            tables.flat_map(|table| table.next.iter().map(move |(node, links)| (table.to, node, links)))
        };
        let of_hops = |of: fn(NodeId, NodeId, &[LinkId]) -> u32| {
            hops().map(|(to, node, links)| of(to, *node, links)).collect::<Vec<u32>>().into_pyarray(py)
        };
        let links: Vec<u32> = hops().flat_map(|(_, _, links)| &**links).map(|link| link.0).collect();
        [
            of_hops(|to, _, _| to.0),
            of_hops(|_, node, _| node.0),
            of_hops(|_, _, links| links.len() as u32),
            links.into_pyarray(py),
        ]
    }

    /// The paths of a pair as (links, weight); none where it goes hop by hop, None where it has no route.
    fn paths(&self, origin: u32, to: u32) -> Option<Vec<(Vec<u32>, f64)>> {
        let route = self.plan.route(NodeId(origin), NodeId(to))?;
        let plain = |path: &routing::WeightedPath| (numbers(path.links.links()), path.weight);
        Some(route.paths.iter().map(plain).collect())
    }

    /// Plain data: {"routes": [{"from", "to", "paths": [{"links", "weight"}]}], "tables": [{"to", "next":
    /// [(node, links)]}]}, with nodes and links by their numbers. Routes are in the order of (from, to); one
    /// without paths goes hop by hop along the table of its destination.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let routes = PyList::empty(py);
        for route in &self.plan.routes {
            let paths = PyList::empty(py);
            for path in &route.paths {
                let entry = PyDict::new(py);
                entry.set_item("links", numbers(path.links.links()))?;
                entry.set_item("weight", path.weight)?;
                paths.append(entry)?;
            }
            let entry = PyDict::new(py);
            entry.set_item("from", route.from.0)?;
            entry.set_item("to", route.to.0)?;
            entry.set_item("paths", paths)?;
            routes.append(entry)?;
        }
        let data = PyDict::new(py);
        data.set_item("routes", routes)?;
        data.set_item("tables", self.tables(py)?)?;
        Ok(data)
    }

    /// The tables alone, as in `data`.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let tables = PyList::empty(py);
        for table in &self.plan.tables {
            let next: Vec<(u32, Vec<u32>)> =
                table.next.iter().map(|(node, links)| (node.0, numbers(links))).collect();
            let entry = PyDict::new(py);
            entry.set_item("to", table.to.0)?;
            entry.set_item("next", next)?;
            tables.append(entry)?;
        }
        Ok(tables)
    }
}

/// Whether the plan can be walked along: its routes and next hops are in order, and its links there.
fn check(plan: &routing::Plan, links: usize) -> Result<(), String> {
    let hops = plan.tables.iter().flat_map(|table| table.next.iter().flat_map(|(_, links)| &**links));
    let paths = plan.routes.iter().flat_map(|route| &route.paths).flat_map(|path| path.links.links());
    if let Some(link) = hops.chain(paths).find(|link| link.index() >= links) {
        return Err(format!("there is no link {}: there are {links}", link.0));
    }
    let in_order = plan.routes.is_sorted_by(|a, b| (a.from, a.to) < (b.from, b.to))
        && plan.tables.iter().all(|table| table.next.is_sorted_by(|a, b| a.0 < b.0));
    if in_order { Ok(()) } else { Err("its routes or next hops are out of order".to_owned()) }
}

/// A plan on the links of its network: the paths of pairs, and the shares of their packets on nodes and links.
#[pyclass(frozen, module = "anabranch._core")]
pub struct PlannedPaths {
    plan: Arc<routing::Plan>,
    ends: Vec<NodeId>,
}

#[pymethods]
impl PlannedPaths {
    /// All pairs that have routes, in order.
    fn pairs(&self) -> Vec<(u32, u32)> {
        self.plan.routes.iter().map(|route| (route.from.0, route.to.0)).collect()
    }

    /// The paths of a pair as (links, share), those that next hops make included; None if these are more than `most`.
    /// None of them without a route.
    fn paths(&self, origin: u32, to: u32, most: usize) -> Option<Vec<(Vec<u32>, f64)>> {
        let paths = self.plan.shared_paths(&self.ends, NodeId(origin), NodeId(to), most)?;
        Some(paths.iter().map(|(links, share)| (numbers(links), *share)).collect())
    }

    /// The share of a pair's packets on each link that has some, hop by hop behind all that lead to it.
    fn shares(&self, origin: u32, to: u32) -> Vec<(u32, f64)> {
        let shares = self.plan.shares(&self.ends, NodeId(origin), NodeId(to));
        shares.links.into_iter().map(|(link, share)| (link.0, share)).collect()
    }

    /// The nodes of a pair that goes hop by hop, each behind all that lead to it, but for the destination: (node, share
    /// of the packets that comes through, links by which they leave).
    fn hops(&self, origin: u32, to: u32) -> Vec<(u32, f64, Vec<u32>)> {
        let nodes = self.plan.shares(&self.ends, NodeId(origin), NodeId(to)).nodes.into_iter();
        let links = |node| numbers(self.plan.table(NodeId(to)).map_or(&[], |table| table.at(node)));
        nodes.filter(|(node, _)| node.0 != to).map(|(node, share)| (node.0, share, links(node))).collect()
    }

    /// The shares of all pairs on links, as arrays: (place of the route, link, share).
    fn link_shares<'py>(&self, py: Python<'py>) -> LinkShares<'py> {
        let (mut places, mut links, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for (place, route) in self.plan.routes.iter().enumerate() {
            for (link, share) in self.plan.shares(&self.ends, route.from, route.to).links {
                places.push(place as u32);
                links.push(link.0);
                shares.push(share);
            }
        }
        (places.into_pyarray(py), links.into_pyarray(py), shares.into_pyarray(py))
    }

    /// What all routes put on each link together, where each carries so much, in the order of the routes.
    ///
    /// Raises ValueError if there is not an amount for each route.
    fn link_loads<'py>(
        &self,
        py: Python<'py>,
        amounts: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let amounts = amounts.as_slice().map_err(value_error)?;
        if amounts.len() != self.plan.routes.len() {
            return Err(value_error("there is one amount for each route"));
        }
        Ok(self.plan.loads(&self.ends, amounts).into_pyarray(py))
    }

    /// The share of each route's packets that crosses a link, in the order of the routes.
    fn shares_on<'py>(&self, py: Python<'py>, link: u32) -> Bound<'py, PyArray1<f64>> {
        self.plan.shares_on(&self.ends, LinkId(link)).into_pyarray(py)
    }

    /// The greatest sum of lengths of links over the paths of a pair.
    ///
    /// Raises ValueError if there is not a length for each link.
    fn longest(&self, origin: u32, to: u32, lengths: PyReadonlyArray1<'_, u64>) -> PyResult<u64> {
        let lengths = lengths.as_array();
        if lengths.len() != self.ends.len() {
            return Err(value_error("there is one length for each link"));
        }
        let (from, to) = (NodeId(origin), NodeId(to));
        let of_path =
            |path: &routing::WeightedPath| path.links.links().iter().map(|link| lengths[link.index()]).sum();
        match self.plan.route(from, to) {
            None => Ok(0),
            Some(route) if !route.paths.is_empty() => Ok(route.paths.iter().map(of_path).max().unwrap_or(0)),
            Some(_) => Ok(self.plan.next_hops(&self.ends, to).longest(from, |link| lengths[link.index()])),
        }
    }
}

/// Places of routes, links and shares.
type LinkShares<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// The share on each link of packets from one node to another, where each node splits what comes through it in the
/// proportion of weights: {node: [(link, weight)]}.
///
/// Raises ValueError if a link is not there, of which `link_ends` has the node behind each.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over a dictionary")]
pub fn shares_by_weight(
    link_ends: PyReadonlyArray1<'_, u32>,
    next_hops: BTreeMap<u32, Vec<(u32, f64)>>,
    origin: u32,
    to: u32,
) -> PyResult<Vec<(u32, f64)>> {
    let ends: Vec<NodeId> = link_ends.as_array().iter().map(|&node| NodeId(node)).collect();
    if next_hops.values().flatten().any(|&(link, _)| link as usize >= ends.len()) {
        return Err(value_error("a next hop is no link"));
    }
    let next = |node: NodeId| {
        next_hops.get(&node.0).into_iter().flatten().map(|&(link, weight)| (LinkId(link), weight))
    };
    let shares = HopByHop { ends: &ends, next, to: NodeId(to) }.shares(NodeId(origin));
    Ok(shares.links.into_iter().map(|(link, share)| (link.0, share)).collect())
}

/// The share on each link of packets that take these paths, as (links, weight).
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over a list")]
pub fn shares_along(paths: Vec<(Vec<u32>, f64)>) -> Vec<(u32, f64)> {
    let paths: Vec<(Vec<LinkId>, f64)> =
        paths.iter().map(|(links, weight)| (links.iter().copied().map(LinkId).collect(), *weight)).collect();
    let shares = routing::shares_along(paths.iter().map(|(links, weight)| (links.as_slice(), *weight)));
    shares.into_iter().map(|(link, share)| (link.0, share)).collect()
}

/// The text of paths over the links of a network.
///
/// Raises ValueError if a link has an end that is not there.
#[pyclass(frozen, module = "anabranch._core")]
pub struct PathNames {
    nodes: Vec<String>,
    links: Vec<(u32, u32)>,
    /// Which of parallel links each is, from 1 on.
    numbers: Vec<usize>,
}

#[pymethods]
impl PathNames {
    /// Of the names of nodes, and of (from, to) for each link.
    #[new]
    fn new(nodes: Vec<String>, links: Vec<(u32, u32)>) -> PyResult<Self> {
        if links.iter().any(|&(from, to)| from.max(to) as usize >= nodes.len()) {
            return Err(value_error("a link has an end that is no node"));
        }
        let mut parallel = BTreeMap::new();
        let numbers = links.iter().map(|ends| {
            let number = parallel.entry(*ends).or_insert(0);
            *number += 1;
            *number
        });
        Ok(Self { numbers: numbers.collect(), nodes, links })
    }

    /// The text of a path of links; empty without a link.
    ///
    /// Raises ValueError if a link is not there.
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over a list")]
    fn text(&self, path: Vec<usize>) -> PyResult<String> {
        if path.iter().any(|&link| link >= self.links.len()) {
            return Err(value_error("the path has a link that is not there"));
        }
        let node =
            |node: u32, link| PathNode { name: Cow::Borrowed(self.nodes[node as usize].as_str()), link };
        let first = path.first().map(|&link| node(self.links[link].0, 1));
        let others = path.iter().map(|&link| node(self.links[link].1, self.numbers[link]));
        Ok(path_text(first.into_iter().chain(others)))
    }

    /// The name of a node as it stands in the text of a path.
    ///
    /// Raises ValueError if the node is not there.
    fn node(&self, node: usize) -> PyResult<String> {
        let name = self.nodes.get(node).ok_or_else(|| value_error("there is no such node"))?;
        Ok(path_text([PathNode { name: Cow::Borrowed(name.as_str()), link: 1 }]))
    }

    /// Which of parallel links each link is, from 1 on.
    #[getter]
    fn numbers(&self) -> Vec<usize> {
        self.numbers.clone()
    }
}

/// The text of a path over nodes of these names, without numbers of parallel links.
#[pyfunction(name = "path_text")]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over a list")]
pub fn text_of_path(names: Vec<String>) -> String {
    path_text(names.iter().map(|name| PathNode { name: Cow::Borrowed(name.as_str()), link: 1 }))
}

/// The nodes of the text of a path: (name, number of the parallel link that leads there).
///
/// Raises ValueError if the text is no path.
#[pyfunction(name = "read_path")]
pub fn nodes_of_path(text: &str) -> PyResult<Vec<(String, usize)>> {
    let nodes = read_path(text).map_err(value_error)?;
    Ok(nodes.into_iter().map(|node| (node.name.into_owned(), node.link)).collect())
}

fn numbers(links: &[LinkId]) -> Vec<u32> {
    links.iter().map(|link| link.0).collect()
}
