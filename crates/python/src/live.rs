//! A live run, as Python holds it: the engine on the wall clock between devices that Python has opened.

use crate::error::{engine_error, value_error};
use crate::own;
use crate::plan::Plan;
use crate::run;
use crate::setup::Setup;
use crate::simulation::{End, end};
use anabranch_engine as engine;
use anabranch_engine::packet::Direction;
use anabranch_engine::transport::wire::Endpoint;
use anabranch_live::{Conversation, Framing, LiveError, LiveOutcome, Relay, SelfCheck, Watched};
use anabranch_units::{FlowId, LinkId, NodeId};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

/// A network between real hosts. Times are in nanoseconds of the monotonic clock where they are not those of the run.
#[pyclass(frozen, module = "anabranch._core")]
pub struct LiveNetwork {
    /// None once it is finished.
    relay: Mutex<Option<Relay>>,
    watched: Arc<Watched>,
    ends: Vec<(NodeId, NodeId)>,
}

fn live_error(error: LiveError) -> PyErr {
    match error {
        LiveError::Engine(error) => engine_error(error),
        LiveError::System { what, error } => PyOSError::new_err((error.raw_os_error(), what)),
    }
}

fn framing(text: &str) -> PyResult<Framing> {
    match text {
        "single" => Ok(Framing::Single),
        "trains" => Ok(Framing::Trains),
        "segments" => Ok(Framing::Segments),
        _ => Err(value_error(format!("framing is single, trains or segments, and not {text}"))),
    }
}

impl LiveNetwork {
    fn with<T>(&self, work: impl FnOnce(&mut Relay) -> PyResult<T>) -> PyResult<T> {
        let mut relay = self.relay.lock().map_err(|_| gone())?;
        work(relay.as_mut().ok_or_else(gone)?)
    }
}

/// Ends as Python has them.
fn both_ends(ends: Vec<(Endpoint, Endpoint)>) -> Vec<(End, End)> {
    ends.into_iter().map(|(source, destination)| (end(source), end(destination))).collect()
}

fn gone() -> PyErr {
    PyRuntimeError::new_err("the live network has ended; make another one")
}

#[pymethods]
impl LiveNetwork {
    /// Over the routes of a plan.
    ///
    /// Raises SetupError if the setup or the plan does not hold.
    #[new]
    fn new(py: Python<'_>, setup: &Setup, plan: &Plan) -> PyResult<Self> {
        let (setup, plan) = (setup.shared(), Arc::clone(&plan.plan));
        let ends = setup.flows.iter().map(|flow| (flow.from, flow.to)).collect();
        let (nodes, captures) = (setup.nodes.len(), !setup.captures.is_empty());
        let simulation = own::run_beside(py, || engine::Simulation::new(setup, plan).map_err(engine_error))?;
        let relay = Relay::new(simulation, nodes, captures);
        Ok(Self { watched: relay.watched(), relay: Mutex::new(Some(relay)), ends })
    }

    /// The addresses and ports of each subflow of a flow: (source, destination), each (address, port).
    fn endpoints(&self, flow: u32) -> PyResult<Vec<(End, End)>> {
        self.with(|relay| Ok(both_ends(relay.endpoints(FlowId(flow)))))
    }

    /// Those of the subflows that begin anew where one of these was closed.
    fn endpoints_anew(&self, flow: u32) -> PyResult<Vec<(End, End)>> {
        self.with(|relay| Ok(both_ends(relay.endpoints_anew(FlowId(flow)))))
    }

    /// The address by which packets of a flow of Multipath TCP leave the host where a link begins; `None` where the flow has
    /// no end there, or looks at no addresses.
    fn address_at(&self, flow: u32, link: u32) -> PyResult<Option<String>> {
        self.with(|relay| {
            let address = relay.address_at(FlowId(flow), LinkId(link));
            Ok(address.map(|octets| Ipv4Addr::from(octets).to_string()))
        })
    }

    /// The hosts at these ends of a flow are real.
    fn make_real(&self, flow: u32, source: bool, destination: bool) -> PyResult<()> {
        self.with(|relay| relay.make_real(FlowId(flow), source, destination).map_err(live_error))
    }

    /// A flow from a lower node to a higher one carries what belongs to no flow of the scenario.
    fn make_carrier(&self, flow: u32) -> PyResult<()> {
        let ends = self.ends[flow as usize];
        self.with(|relay| relay.make_carrier(FlowId(flow), ends).map_err(live_error))
    }

    /// The host at a node has a TUN device, an open file of this process, and addresses. `framing`, the same for all
    /// devices: `single` packets, or with a header before each (IFF_VNET_HDR) `trains` of segments that travel as one
    /// packet, or `segments`, which the network cuts and joins.
    ///
    /// Raises ValueError for what is no address or no framing, OSError if there is no such file.
    fn attach(&self, node: u32, file: i32, addresses: Vec<String>, framing: &str) -> PyResult<()> {
        let framing = self::framing(framing)?;
        let parsed = addresses.iter().map(|text| text.parse::<Ipv4Addr>().map_err(value_error));
        let addresses =
            parsed.map(|address| address.map(|address| address.octets())).collect::<PyResult<Vec<_>>>()?;
        self.with(|relay| relay.attach(NodeId(node), file, &addresses, framing).map_err(live_error))
    }

    /// A device, an open file of this process, is a port: of a switch, which speaks Ethernet, or of a host among
    /// switches, which speaks IP, and is framed as with `attach`. Its number.
    ///
    /// Raises ValueError for what is no framing, OSError if there is no such file.
    fn attach_port(&self, file: i32, ethernet: bool, framing: &str) -> PyResult<usize> {
        let framing = self::framing(framing)?;
        self.with(|relay| relay.attach_port(file, ethernet, framing).map_err(live_error))
    }

    /// What comes in at a port goes over a link to another one, as packets of a flow between the link's ends; `back`
    /// says that the flow goes the other way.
    ///
    /// Raises SetupError if there is no such flow, OSError if there is no such port.
    fn lay(&self, from_port: usize, to_port: usize, flow: u32, back: bool, link: u32) -> PyResult<()> {
        let direction = if back { Direction::Backward } else { Direction::Forward };
        let ports = (from_port, to_port);
        self.with(|relay| relay.lay(ports, FlowId(flow), direction, LinkId(link)).map_err(live_error))
    }

    /// What comes in at one of two ports goes out at the other, at once.
    ///
    /// Raises OSError if there is no such port.
    fn join(&self, a: usize, b: usize) -> PyResult<()> {
        self.with(|relay| relay.join(a, b).map_err(live_error))
    }

    /// Runs in the calling thread, from `begin_ns` of the monotonic clock to the end of the run or until `stop`.
    ///
    /// Raises OSError if a system call fails, OwnCodeError if an algorithm of the user's own does.
    fn run(&self, py: Python<'_>, begin_ns: u64) -> PyResult<()> {
        let go_on = || !own::has_failed();
        own::run_beside(py, || self.with(|relay| relay.run(begin_ns, go_on).map_err(live_error)))
    }

    /// Ends the run; from another thread.
    fn stop(&self) {
        self.watched.stop();
    }

    /// Seconds of the run, and packet hops so far; from another thread.
    fn progress(&self) -> (f64, u64) {
        let (now, hops) = self.watched.progress();
        (now.as_secs_f64(), hops)
    }

    /// Ends the run where it is: the answer of `Setup.simulate`, with `check` and `conversations`.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let relay = self.relay.lock().map_err(|_| gone())?.take().ok_or_else(gone)?;
        let LiveOutcome { outcome, check, conversations } =
            py.detach(|| relay.finish()).map_err(live_error)?;
        let result = run::result(py, outcome)?;
        result.set_item("check", checked(py, &check)?)?;
        let all = conversations.iter().map(|of| conversation(py, of)).collect::<PyResult<Vec<_>>>()?;
        result.set_item("conversations", PyList::new(py, all)?)?;
        Ok(result)
    }
}

fn checked<'py>(py: Python<'py>, check: &SelfCheck) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let us = |ns: u64| ns as f64 / 1e3;
    dict.set_item("lateness_p50_us", check.lateness_ns.map(|late| us(late.p50)))?;
    dict.set_item("lateness_p99_us", check.lateness_ns.map(|late| us(late.p99)))?;
    dict.set_item("lateness_p99_9_us", check.lateness_ns.map(|late| us(late.p99_9)))?;
    dict.set_item("lateness_max_us", check.lateness_ns.map(|late| us(late.max)))?;
    dict.set_item("packets_delivered", check.delivered)?;
    dict.set_item("packets_read", check.read)?;
    dict.set_item("packets_refused", check.refused)?;
    dict.set_item("packets_astray", check.astray)?;
    dict.set_item("cpu_share", check.cpu_share)?;
    dict.set_item("cpu_share_max", check.cpu_share_max)?;
    Ok(dict)
}

fn conversation<'py>(py: Python<'py>, of: &Conversation) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("protocol", of.protocol)?;
    dict.set_item("source", end(of.source))?;
    dict.set_item("destination", end(of.destination))?;
    dict.set_item("carrier", of.carrier.0)?;
    dict.set_item("from", of.nodes.0.0)?;
    dict.set_item("to", of.nodes.1.0)?;
    dict.set_item("begin_s", of.seen.0.as_secs_f64())?;
    dict.set_item("end_s", of.seen.1.as_secs_f64())?;
    for (prefix, volume) in [("", of.forth), ("back_", of.back)] {
        dict.set_item(format!("{prefix}packets_sent"), volume.sent_packets)?;
        dict.set_item(format!("{prefix}bytes_sent"), volume.sent_bytes)?;
        dict.set_item(format!("{prefix}packets_received"), volume.received_packets)?;
        dict.set_item(format!("{prefix}bytes_received"), volume.received_bytes)?;
    }
    Ok(dict)
}
