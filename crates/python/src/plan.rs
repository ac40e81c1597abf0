//! A plan, as Python holds it.

use crate::error::parse;
use anabranch_engine::routing;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;

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

    /// Plain data: {"routes": [{"from", "to", "paths": [{"links", "weight"}]}], "tables": [{"to", "next":
    /// [(node, links)]}]}, with nodes and links by their numbers. Routes are in the order of (from, to); one
    /// without paths goes hop by hop along the table of its destination.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let numbers =
            |links: &[anabranch_units::LinkId]| -> Vec<u32> { links.iter().map(|link| link.0).collect() };
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
        let tables = PyList::empty(py);
        for table in &self.plan.tables {
            let next: Vec<(u32, Vec<u32>)> =
                table.next.iter().map(|(node, links)| (node.0, numbers(links))).collect();
            let entry = PyDict::new(py);
            entry.set_item("to", table.to.0)?;
            entry.set_item("next", next)?;
            tables.append(entry)?;
        }
        let data = PyDict::new(py);
        data.set_item("routes", routes)?;
        data.set_item("tables", tables)?;
        Ok(data)
    }
}
