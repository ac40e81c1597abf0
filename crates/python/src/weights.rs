//! Weights of links, as Python asks for them: what arcs carry by weights, and a search for better ones.

use crate::error::value_error;
use crate::watch::Watch;
use anabranch_engine::routing::weights::{
    Case, Evaluator, SearchLimits, SearchResult, TrafficTo, WeightedArcs,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Arcs between nodes, matrices of traffic and cases, each the number of a matrix and the arcs that are down.
///
/// Raises ValueError if arrays do not fit each other, or a number is none of a node, an arc or a matrix.
#[pyclass(frozen, module = "anabranch._core")]
pub struct WeightCases {
    evaluator: Evaluator,
    arcs: usize,
}

#[pymethods]
impl WeightCases {
    /// Of the ends and capacities (Mbps) of arcs, and the traffic (Mbps) from row to column.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over arrays and lists")]
    fn new(
        tail: PyReadonlyArray1<'_, u32>,
        head: PyReadonlyArray1<'_, u32>,
        capacity_mbps: PyReadonlyArray1<'_, f64>,
        matrices: Vec<PyReadonlyArray2<'_, f64>>,
        cases: Vec<(usize, Vec<usize>)>,
    ) -> PyResult<Self> {
        let (tail, head, capacity) =
            (tail.as_array().to_vec(), head.as_array().to_vec(), capacity_mbps.as_array().to_vec());
        let arcs = tail.len();
        if arcs != head.len() || arcs != capacity.len() {
            return Err(value_error("one tail, head and capacity for each arc"));
        }
        let nodes = matrices.first().map_or(0, |matrix| matrix.as_array().nrows());
        if tail.iter().chain(&head).any(|&node| node as usize >= nodes) {
            return Err(value_error("an arc has an end that is no node of the matrices"));
        }
        let mut traffic = Vec::new();
        for matrix in &matrices {
            let matrix = matrix.as_array();
            if matrix.dim() != (nodes, nodes) {
                return Err(value_error("matrices have a row and a column for each node"));
            }
            let columns =
                (0..).zip(matrix.columns()).filter(|(_, column)| column.iter().any(|&mbps| mbps > 0.0));
            traffic.push(columns.map(|(to, column)| TrafficTo { to, from_mbps: column.to_vec() }).collect());
        }
        let mut of_cases = Vec::new();
        for (matrix, without) in cases {
            if matrix >= matrices.len() || without.iter().any(|&arc| arc >= arcs) {
                return Err(value_error("a case names a matrix or an arc that is not there"));
            }
            let mut down = vec![false; arcs];
            for arc in without {
                down[arc] = true;
            }
            of_cases.push(Case { matrix, down });
        }
        let evaluator = Evaluator::new(WeightedArcs::new(nodes, tail, head, capacity), traffic, of_cases);
        Ok(Self { evaluator, arcs })
    }

    /// The load of each arc (column) in each case (row).
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over an array")]
    fn loads<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let weights = self.read(&weights)?;
        let loads = py.detach(|| self.evaluator.loads(&weights));
        PyArray2::from_vec2(py, &loads).map_err(value_error)
    }

    /// The best weights that a local search meets, the highest load by them, and the work done: nodes and arcs touched.
    ///
    /// `present` are the weights from which changes are counted, `begin` those to start with, `group` the number of each
    /// arc's group, which change together. `progress` gets (work done, work allowed).
    #[pyo3(signature = (present, begin, group, *, greatest, most_changes, boldness, work, seed, progress=None))]
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
