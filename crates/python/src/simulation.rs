//! A run in steps, as Python holds it.

use crate::error::{engine_error, parse};
use crate::own;
use crate::run;
use crate::watch::Watch;
use anabranch_engine as engine;
use anabranch_engine::setup::Change;
use anabranch_engine::transport::wire::Endpoint;
use anabranch_units::{FlowId, Instant, Rate};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::net::Ipv4Addr;
use std::ops::ControlFlow;
use std::sync::Mutex;

/// What [`Simulation::held`] answers.
type HeldFlow = (&'static str, u64, u64, u64, u64, u64, u64, u64, u64);

/// An address and a port.
pub(crate) type End = (String, u16);

pub(crate) fn end(endpoint: Endpoint) -> End {
    (Ipv4Addr::from(endpoint.addr).to_string(), endpoint.port)
}

/// A run that goes on when it is told to (`Setup.start`). Times are in picoseconds since its start.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Simulation {
    /// None once it is finished.
    running: Mutex<Option<engine::Simulation>>,
    /// It calls code of the user's.
    calls_python: bool,
}

impl Simulation {
    pub(crate) fn new(simulation: engine::Simulation, calls_python: bool) -> Self {
        Self { running: Mutex::new(Some(simulation)), calls_python }
    }

    /// Works on it without the interpreter lock: whoever waits for it must not keep others from finishing.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut engine::Simulation) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut running = self.running.lock().map_err(|_| broken())?;
            let simulation = running.as_mut().ok_or_else(finished)?;
            if !self.calls_python {
                return work(simulation);
            }
            Python::attach(|py| own::run(py, true, || work(simulation)))
        })
    }
}

fn broken() -> PyErr {
    PyRuntimeError::new_err("the simulation has stopped in an error of the engine; start another one")
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("the simulation is finished; start another one")
}

#[pymethods]
impl Simulation {
    /// The simulated time.
    fn now(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |simulation| Ok(simulation.now().as_ps()))
    }

    /// When the run will be over.
    fn end(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |simulation| Ok(simulation.end().as_ps()))
    }

    /// When something will happen next; None if nothing will before the end.
    fn next_event(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.with(py, |simulation| Ok(simulation.next_event().map(Instant::as_ps)))
    }

    /// The addresses and ports of each subflow of a flow: (source, destination), each (address, port). Flows of datagrams
    /// are behind the others; a ping has the ports 0.
    ///
    /// Raises SetupError if there is no such flow.
    fn endpoints(&self, py: Python<'_>, flow: u32) -> PyResult<Vec<(End, End)>> {
        self.with(py, |simulation| {
            let ends = simulation.endpoints(FlowId(flow)).into_iter();
            Ok(ends.map(|(source, destination)| (end(source), end(destination))).collect())
        })
    }

    /// Works off all events up to and including `until`, or the end.
    ///
    /// `progress(simulated_s, packet_hops)` is called now and then, if given. Ctrl-C ends the step with
    /// KeyboardInterrupt between two events; the next step goes on from there.
    ///
    /// Raises ValueError if `until` is past, OwnCodeError if code of the user's fails.
    #[pyo3(signature = (until, progress=None))]
    fn advance(&self, py: Python<'_>, until: u64, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut watch = Watch::new(progress);
        self.with(py, |simulation| {
            let mut failure = None;
            let reached = simulation.advance(Instant::from_ps(until), |at| {
                failure = watch.look((at.now.as_secs_f64(), at.packet_hops)).err();
                let ends = failure.is_some() || own::has_failed();
                if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let _ = reached.map_err(engine_error)?;
            failure.map_or(Ok(()), Err)
        })
    }

    /// Makes a change of the network now; JSON as in the events of a setup.
    ///
    /// Raises SetupError if it does not hold.
    fn change(&self, py: Python<'_>, change_json: &str) -> PyResult<()> {
        let change: Change = parse("change", change_json)?;
        self.with(py, |simulation| simulation.change(&change).map_err(engine_error))
    }

    /// A flow with the congestion control `held`: phase, payload of a segment, bytes delivered, lost, of the window and in
    /// flight; smoothed, latest and smallest round-trip time in picoseconds, zero before the first sample.
    ///
    /// Raises SetupError if it has another one.
    fn held(&self, py: Python<'_>, flow: u32) -> PyResult<HeldFlow> {
        let state = self.with(py, |simulation| simulation.held_flow(FlowId(flow)).map_err(engine_error))?;
        let times = (state.rtt.smoothed.as_ps(), state.rtt.latest.as_ps(), state.rtt.min.as_ps());
        Ok((
            state.phase.name(),
            state.mss,
            state.delivered_bytes,
            state.lost_bytes,
            state.cwnd_bytes,
            state.in_flight_bytes,
            times.0,
            times.1,
            times.2,
        ))
    }

    /// Sets the window of such a flow now, and its pacing rate; 0 leaves that to the window.
    ///
    /// Raises SetupError if it has another congestion control, or is not open.
    fn hold(&self, py: Python<'_>, flow: u32, cwnd_bytes: u64, pacing_bps: u64) -> PyResult<()> {
        let rate = (pacing_bps > 0).then(|| Rate::from_bps(pacing_bps));
        self.with(py, |simulation| simulation.hold(FlowId(flow), cwnd_bytes, rate).map_err(engine_error))
    }

    /// The columns of all flows as they are now.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        run::columns(py, self.with(py, |simulation| Ok(simulation.flow_states()))?)
    }

    /// The columns of all flows of datagrams so far.
    fn datagram_flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        run::columns(py, self.with(py, |simulation| Ok(simulation.datagram_states()))?)
    }

    /// The columns of all links as they are now.
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        run::columns(py, self.with(py, |simulation| Ok(simulation.link_states()))?)
    }

    /// Ends the run where it is; the answer is that of `Setup.simulate`.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let outcome = py.detach(|| {
            let simulation = self.running.lock().map_err(|_| broken())?.take().ok_or_else(finished)?;
            simulation.finish().map_err(engine_error)
        })?;
        run::result(py, outcome)
    }
}
