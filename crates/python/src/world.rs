//! What a scenario needs besides its text, as Python has it: a topology, files, and code of the user's own.

use crate::error::value_error;
use anabranch_engine::setup::LinkSetup;
use anabranch_scenario::algorithm::OwnAlgorithm;
use anabranch_scenario::node::{Node, Value};
use anabranch_scenario::setup::{
    CumulativeSize, DemandUnit, Files, Numbering, OwnCode, OwnKind, PlainFlows, PlainLink, PlainMatrix,
    PlainNetwork, PlainNode, PlainTraffic,
};
use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::RefCell;

/// A topology of Python's.
#[derive(FromPyObject)]
pub(crate) struct Topology<'py> {
    name: String,
    nodes: Vec<TopologyNode>,
    links: Vec<TopologyLink>,
    demands: Option<Bound<'py, PyAny>>,
    demand_unit: Option<Unit>,
}

/// What 1 means in a matrix.
#[derive(FromPyObject)]
struct Unit {
    name: String,
    bps: f64,
}

impl From<Unit> for DemandUnit {
    fn from(unit: Unit) -> Self {
        Self { name: unit.name, bps: unit.bps }
    }
}

/// What a reader of Python's has found in a file of traffic.
#[derive(FromPyObject)]
struct TrafficFile<'py> {
    format: String,
    nodes: Vec<String>,
    numbering: String,
    unit: Option<Unit>,
    matrices: Vec<Matrix<'py>>,
    flows: Flows<'py>,
    sizes: Vec<(f64, f64)>,
}

#[derive(FromPyObject)]
struct Matrix<'py> {
    label: String,
    start_s: Option<f64>,
    origin: PyReadonlyArray1<'py, u32>,
    to: PyReadonlyArray1<'py, u32>,
    value: PyReadonlyArray1<'py, f64>,
}

#[derive(FromPyObject)]
struct Flows<'py> {
    origin: PyReadonlyArray1<'py, u32>,
    to: PyReadonlyArray1<'py, u32>,
    bytes: PyReadonlyArray1<'py, u64>,
    start_ps: PyReadonlyArray1<'py, u64>,
}

impl TrafficFile<'_> {
    fn into_plain(self) -> PyResult<PlainTraffic> {
        let numbering = match self.numbering.as_str() {
            "nodes" => Numbering::Nodes,
            "hosts" => Numbering::Hosts,
            _ => Numbering::Names,
        };
        let matrix = |matrix: Matrix<'_>| {
            Ok(PlainMatrix {
                label: matrix.label,
                start_s: matrix.start_s,
                from: matrix.origin.to_vec()?,
                to: matrix.to.to_vec()?,
                value: matrix.value.to_vec()?,
            })
        };
        let size = |(bytes, probability): (f64, f64)| CumulativeSize { bytes, probability };
        Ok(PlainTraffic {
            format: self.format,
            nodes: self.nodes,
            numbering,
            unit: self.unit.map(DemandUnit::from),
            matrices: self.matrices.into_iter().map(matrix).collect::<PyResult<_>>()?,
            flows: PlainFlows {
                from: self.flows.origin.to_vec()?,
                to: self.flows.to.to_vec()?,
                bytes: self.flows.bytes.to_vec()?,
                start_ps: self.flows.start_ps.to_vec()?,
            },
            sizes: self.sizes.into_iter().map(size).collect(),
        })
    }
}

#[derive(FromPyObject)]
struct TopologyNode {
    name: String,
    aliases: Vec<String>,
    kind: String,
    place: Option<TopologyPlace>,
}

#[derive(FromPyObject)]
struct TopologyPlace {
    latitude: f64,
    longitude: f64,
}

#[derive(FromPyObject)]
struct TopologyLink {
    a: String,
    b: String,
    directed: bool,
    capacity_bps: Option<u64>,
    delay_ps: Option<u64>,
    loss: Option<f64>,
    weight: Option<f64>,
    length_km: Option<f64>,
    risk_groups: Vec<String>,
}

impl Topology<'_> {
    /// The network as the core takes it; `is_generated` where its parameters stand in the scenario.
    pub(crate) fn into_plain(self, is_generated: bool) -> PyResult<PlainNetwork> {
        let demands = self.demands.map(|demands| {
            let entries = demands.call_method0("items")?.try_iter()?;
            let entry = |entry: PyResult<Bound<'_, PyAny>>| {
                let ((from, to), value) = entry?.extract::<((String, String), f64)>()?;
                Ok((from, to, value))
            };
            entries.map(entry).collect::<PyResult<Vec<_>>>()
        });
        let node = |node: TopologyNode| PlainNode {
            name: node.name,
            aliases: node.aliases,
            is_host: node.kind == "host",
            place: node.place.map(|place| (place.latitude, place.longitude)),
        };
        let link = |link: TopologyLink| PlainLink {
            a: link.a,
            b: link.b,
            is_directed: link.directed,
            capacity_bps: link.capacity_bps,
            delay_ps: link.delay_ps,
            loss: link.loss,
            weight: link.weight,
            length_km: link.length_km,
            risk_groups: link.risk_groups,
        };
        Ok(PlainNetwork {
            label: self.name,
            is_generated,
            nodes: self.nodes.into_iter().map(node).collect(),
            links: self.links.into_iter().map(link).collect(),
            demands: demands.transpose()?,
            demand_unit: self.demand_unit.map(DemandUnit::from),
        })
    }
}

pyo3::create_exception!(
    _core,
    ProblemError,
    pyo3::exceptions::PyException,
    "What is wrong with a file or a class that a scenario names; `args` are (message,)."
);

/// The network of a topology as JSON, as the core takes it where no Python runs.
///
/// `is_generated` says that parameters of the scenario have made it.
#[pyfunction]
pub(crate) fn plain_network(topology: Topology<'_>, is_generated: bool) -> PyResult<String> {
    serde_json::to_string(&topology.into_plain(is_generated)?).map_err(value_error)
}

/// The first error of a function of Python's that is no [`ProblemError`], and so no mistake of the scenario.
#[derive(Default)]
pub(crate) struct Failure(RefCell<Option<PyErr>>);

impl Failure {
    /// What an answer says is wrong with the scenario; any other error is kept, and ends the call.
    fn message(&self, py: Python<'_>, error: PyErr) -> String {
        let message = error.value(py).to_string();
        if !error.is_instance_of::<ProblemError>(py) {
            self.0.borrow_mut().get_or_insert(error);
        }
        message
    }

    /// # Errors
    /// The error that was kept.
    pub(crate) fn raise(self) -> PyResult<()> {
        self.0.into_inner().map_or(Ok(()), Err)
    }
}

/// Files by an object of Python's: `text(name)` gives the text of one by its name, `traffic(name)` the traffic that it
/// lists, or None for a CSV of rates. Both may raise [`ProblemError`].
pub(crate) struct AskedFiles<'a, 'py>(pub Bound<'py, PyAny>, pub &'a Failure);

impl Files for AskedFiles<'_, '_> {
    fn text(&self, name: &str) -> Result<String, String> {
        let answer = self.0.call_method1("text", (name,)).and_then(|text| text.extract::<String>());
        answer.map_err(|error| self.1.message(self.0.py(), error))
    }

    fn traffic(&self, name: &str) -> Result<Option<PlainTraffic>, String> {
        let answer = self.0.call_method1("traffic", (name,)).and_then(|traffic| {
            let traffic = traffic.extract::<Option<TrafficFile<'_>>>()?;
            traffic.map(TrafficFile::into_plain).transpose()
        });
        answer.map_err(|error| self.1.message(self.0.py(), error))
    }
}

/// Algorithms of the user's own by a function that gives one as JSON, or raises [`ProblemError`].
pub(crate) struct AskedCode<'a, 'py>(pub Bound<'py, PyAny>, pub &'a Failure);

impl OwnCode for AskedCode<'_, '_> {
    fn algorithm(
        &mut self,
        kind: OwnKind,
        chosen: &OwnAlgorithm,
        links: &[LinkSetup],
    ) -> Result<serde_json::Value, String> {
        let py = self.0.py();
        let ask = || {
            let parameters = PyDict::new(py);
            for (name, value) in &chosen.parameters {
                parameters.set_item(name, single(py, value)?)?;
            }
            let delays_ps: Vec<_> = links.iter().map(|link| link.delay.as_ps()).collect();
            let capacities_bps: Vec<_> = links.iter().map(|link| link.capacity.as_bps()).collect();
            let given = (name_of(kind), &chosen.python, parameters, delays_ps, capacities_bps);
            self.0.call1(given)?.extract::<String>()
        };
        let text = ask().map_err(|error| self.1.message(py, error))?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }
}

const fn name_of(kind: OwnKind) -> &'static str {
    match kind {
        OwnKind::CongestionControl => "congestion_control",
        OwnKind::Scheduler => "scheduler",
        OwnKind::LoadBalancer => "load_balancing",
        OwnKind::ControllerApplication => "application",
        OwnKind::RoutingScheme => "scheme",
        OwnKind::PathSelector => "path_selector",
    }
}

/// The value of a parameter of a class of the user's own.
fn single<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
    Ok(match &node.value {
        Value::Switch(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        _ => node.text().unwrap_or_default().into_pyobject(py)?.into_any(),
    })
}
