//! A plan, as Python holds it.

use crate::error::parse;
use anabranch_engine::routing;
use anabranch_units::{LinkId, NodeId};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
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
        let own = |other: &routing::Plan| Self { plan: Arc::new(other.clone()) };
        self.plan.others.iter().map(own).collect()
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

fn numbers(links: &[LinkId]) -> Vec<u32> {
    links.iter().map(|link| link.0).collect()
}
