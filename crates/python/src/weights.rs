//! Weights of links, as Python asks for them: what arcs carry by weights, and a search for better ones.

use crate::error::value_error;
use crate::watch::Watch;
use anabranch_engine::routing::weights::{
    Evaluator, Hose, SearchLimits, SearchResult, TrafficTo, WeightedArcs,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Arcs between nodes, their traffic, and cases, each the arcs that are down.
///
/// Raises ValueError if arrays do not fit each other, or a number is none of a node or an arc.
#[pyclass(frozen, module = "anabranch._core")]
pub struct WeightCases {
    evaluator: Evaluator,
    arcs: usize,
}

#[pymethods]
impl WeightCases {
    /// Of the ends and capacities (Mbps) of arcs, and the traffic (Mbps) from row to column: all of it at once, or any that it
    /// and the most that enters and leaves at each node allow, where these are given as `hose`.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over arrays and lists")]
    fn new(
        tail: PyReadonlyArray1<'_, u32>,
        head: PyReadonlyArray1<'_, u32>,
        capacity_mbps: PyReadonlyArray1<'_, f64>,
        traffic_mbps: PyReadonlyArray2<'_, f64>,
        hose: Option<(PyReadonlyArray1<'_, f64>, PyReadonlyArray1<'_, f64>)>,
        cases: Vec<Vec<usize>>,
    ) -> PyResult<Self> {
        let (tail, head, capacity) =
            (tail.as_array().to_vec(), head.as_array().to_vec(), capacity_mbps.as_array().to_vec());
        let arcs = tail.len();
        if arcs != head.len() || arcs != capacity.len() {
            return Err(value_error("one tail, head and capacity for each arc"));
        }
        let matrix = traffic_mbps.as_array();
        let nodes = matrix.nrows();
        if matrix.ncols() != nodes {
            return Err(value_error("traffic has a row and a column for each node"));
        }
        if tail.iter().chain(&head).any(|&node| node as usize >= nodes) {
            return Err(value_error("an arc has an end that is no node of the traffic"));
        }
        let hose = hose.map(|(ingress, egress)| Hose {
            ingress_mbps: ingress.as_array().to_vec(),
            egress_mbps: egress.as_array().to_vec(),
        });
        if hose.as_ref().is_some_and(|hose| {
            [&hose.ingress_mbps, &hose.egress_mbps].iter().any(|limit| limit.len() != nodes)
        }) {
            return Err(value_error("a hose has the most of each node"));
        }
        let columns = (0..).zip(matrix.columns()).filter(|(_, column)| column.iter().any(|&mbps| mbps > 0.0));
        let traffic = columns.map(|(to, column)| TrafficTo { to, from_mbps: column.to_vec() }).collect();
        let mut down = vec![vec![false; arcs]; cases.len()];
        for (down, without) in down.iter_mut().zip(&cases) {
            for &arc in without {
                *down.get_mut(arc).ok_or_else(|| value_error("a case names an arc that is not there"))? =
                    true;
            }
        }
        let evaluator = Evaluator::new(WeightedArcs::new(nodes, tail, head, capacity), traffic, hose, down);
        Ok(Self { evaluator, arcs })
    }

    /// The load of each arc (column) in each case (row), and the work done: nodes, arcs and pairs touched.
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over an array")]
    fn loads<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, u64)> {
        let weights = self.read(&weights)?;
        let mut watch = Watch::new(None);
        let look = &mut |_: u64| watch.look(());
        let (loads, work) = py.detach(|| self.evaluator.loads::<PyErr>(&weights, look))?;
        Ok((PyArray2::from_vec2(py, &loads).map_err(value_error)?, work))
    }

    /// The best weights that a local search meets, the highest load by them, and the work done: nodes, arcs and pairs touched.
    ///
    /// `present` are the weights from which changes are counted, `begin` those to start with, `group` the number of each
    /// arc's group, which change together. `progress` gets (work done, work allowed).
    #[pyo3(signature = (present, begin, group, *, greatest, most_changes, boldness, evenness, work, seed, progress=None))]
    #[expect(
        clippy::needless_pass_by_value,
        clippy::too_many_arguments,
        reason = "keywords of a Python method"
    )]
    fn search<'py>(
        &self,
        py: Python<'py>,
        present: PyReadonlyArray1<'py, u32>,
        begin: PyReadonlyArray1<'py, u32>,
        group: PyReadonlyArray1<'py, u32>,
        greatest: u32,
        most_changes: usize,
        boldness: f64,
        evenness: f64,
        work: u64,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, f64, u64)> {
        let limits = SearchLimits {
            present: self.read(&present)?,
            begin: self.read(&begin)?,
            group: self.groups(&group)?,
            greatest,
            most_changes,
            boldness,
            evenness,
            work,
            seed,
        };
        let mut watch = Watch::new(progress);
        let look = &mut |done: u64| watch.look((done, work));
        let SearchResult { weights, load, work, .. } =
            py.detach(|| self.evaluator.search::<PyErr>(&limits, look))?;
        Ok((weights.into_pyarray(py), load, work))
    }

    /// The groups whose weights must differ from the present ones, each next one the change that lowers the load the most, and
    /// the work done.
    ///
    /// Groups that can stay as they are are left out, as far as `work` goes; the highest load is that by `weights` or lower.
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over arrays")]
    fn fewest_changes<'py>(
        &self,
        py: Python<'py>,
        present: PyReadonlyArray1<'py, u32>,
        weights: PyReadonlyArray1<'py, u32>,
        group: PyReadonlyArray1<'py, u32>,
        work: u64,
    ) -> PyResult<(Vec<usize>, u64)> {
        let weights = self.read(&weights)?;
        let limits = SearchLimits { work, ..self.without_limits(self.read(&present)?, self.groups(&group)?) };
        let mut watch = Watch::new(None);
        let look = &mut |_: u64| watch.look(());
        py.detach(|| self.evaluator.fewest_changes::<PyErr>(&limits, &weights, look))
    }

    /// The highest load after each of some changes on top of those before it, from `present` on: lists of (arc, weight).
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over arrays")]
    fn along<'py>(
        &self,
        py: Python<'py>,
        present: PyReadonlyArray1<'py, u32>,
        changes: Vec<Vec<(usize, u32)>>,
    ) -> PyResult<Vec<f64>> {
        if changes.iter().flatten().any(|&(arc, weight)| arc >= self.arcs || weight == 0) {
            return Err(value_error("a change has an arc, and a weight above 0"));
        }
        let limits = self.without_limits(self.read(&present)?, (0..).take(self.arcs).collect());
        let mut watch = Watch::new(None);
        let look = &mut |_: u64| watch.look(());
        py.detach(|| self.evaluator.along::<PyErr>(&limits, &changes, look))
    }
}

impl WeightCases {
    /// A weight for each arc.
    fn read(&self, weights: &PyReadonlyArray1<'_, u32>) -> PyResult<Vec<u32>> {
        let weights = weights.as_array().to_vec();
        if weights.len() != self.arcs || weights.contains(&0) {
            return Err(value_error("one weight above 0 for each arc"));
        }
        Ok(weights)
    }

    /// Any weights, and no work.
    fn without_limits(&self, present: Vec<u32>, group: Vec<u32>) -> SearchLimits {
        SearchLimits {
            begin: present.clone(),
            present,
            group,
            greatest: u32::MAX,
            most_changes: self.arcs,
            boldness: 0.0,
            evenness: 0.0,
            work: 0,
            seed: 0,
        }
    }

    /// A group for each arc.
    fn groups(&self, group: &PyReadonlyArray1<'_, u32>) -> PyResult<Vec<u32>> {
        let group = group.as_array().to_vec();
        if group.len() != self.arcs || group.iter().any(|&group| group as usize >= self.arcs) {
            return Err(value_error("one group for each arc, numbered from 0"));
        }
        Ok(group)
    }
}
