//! The controller of a setup as Python drives it: what switches have said goes in, orders come out.
//!
//! It is the controller that a simulation runs. Here somebody else has the switches and the clock, as the controller of
//! real switches (`python/anabranch/live/switches/controller`).

use crate::error::setup_error;
use crate::own::{self, FlowEntry, direction_named};
use crate::run::columns;
use crate::setup::Setup;
use anabranch_engine::control::applications::GivenPaths;
use anabranch_engine::control::table::{Reason, Removal};
use anabranch_engine::control::{
    Application, Header, Ingress, LinkCounters, LinkProbe, Order, PacketIn, StartedController, Statistics,
    View,
};
use anabranch_engine::network::Network;
use anabranch_units::{FlowId, Instant, LinkId, NodeId};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A packet's flow, direction, ends, SYN, FIN and MSS option (0 for none).
type PacketHeader<'a> = (u32, &'a str, u32, u32, bool, bool, u16);
/// Counters of a link that leaves a switch: link, bytes sent, packets sent, packets dropped and packets waiting.
type Counters = (u32, u64, u64, Option<u64>, Option<u64>);
/// Paths by their ends, as Python has them.
type Paths = BTreeMap<(u32, u32), Vec<Vec<u32>>>;

/// The controller of a setup. Times are picoseconds from the beginning of the run, and do not go back.
///
/// Each call answers with the orders that the application gives, in their order:
/// ("entries", switch, [FlowEntry]), ("remove", switch, flow), ("send", switch, link, window in bytes or None),
/// ("probe", link, number), ("control", switch, flow).
#[pyclass(frozen, module = "anabranch._core")]
pub struct Controller {
    network: Network,
    calls_python: bool,
    started: Mutex<StartedController>,
}

#[pymethods]
impl Controller {
    /// The controller of a setup at the start of its run; links of `down` carry nothing. With `paths`, the application
    /// subflow-round-robin gives subflows these, by (from, to), in place of those that it finds.
    ///
    /// Raises SetupError if the setup has no controller, or no such link, or there are paths for another application;
    /// OwnCodeError if an application of the user's own fails.
    #[new]
    #[pyo3(signature = (setup, down=Vec::new(), paths=None))]
    fn new(py: Python<'_>, setup: &Setup, down: Vec<u32>, paths: Option<Paths>) -> PyResult<Self> {
        let (mask, network) = (setup.mask_without(&down)?, setup.network().clone());
        let shared = setup.shared();
        let make = || {
            StartedController::new(&shared, &network, mask)
                .ok_or_else(|| setup_error("controller", "there is none"))
        };
        let mut started = own::run(py, setup.calls_python(), make)?;
        if let Some(paths) = paths {
            let links = |path: Vec<u32>| path.into_iter().map(LinkId).collect();
            let of = |((from, to), paths): ((u32, u32), Vec<Vec<u32>>)| {
                ((NodeId(from), NodeId(to)), paths.into_iter().map(links).collect())
            };
            let given: GivenPaths = paths.into_iter().map(of).collect();
            if !started.application.keep_to(given) {
                return Err(setup_error("controller.application", "finds its paths itself"));
            }
        }
        Ok(Self { network, calls_python: setup.calls_python(), started: Mutex::new(started) })
    }

    /// A switch has handed up a packet: nothing in its table matched it (`missed`), or an entry said so.
    fn on_packet<'py>(
        &self,
        py: Python<'py>,
        now: u64,
        switch: u32,
        from_host: bool,
        missed: bool,
        header: PacketHeader<'_>,
    ) -> PyResult<Bound<'py, PyList>> {
        let packet = packet_in(switch, from_host, missed, header)?;
        self.tell(py, now, |application, view, out| application.on_packet(view, &packet, out))
    }

    /// A packet has gone on by an entry that tells of it.
    fn on_notice<'py>(
        &self,
        py: Python<'py>,
        now: u64,
        switch: u32,
        from_host: bool,
        missed: bool,
        header: PacketHeader<'_>,
    ) -> PyResult<Bound<'py, PyList>> {
        let packet = packet_in(switch, from_host, missed, header)?;
        self.tell(py, now, |application, view, out| application.on_notice(view, &packet, out))
    }

    /// An entry of a flow has gone by itself at `at`, because it was "idle", its "hard" time-out was over, or it was
    /// "evicted".
    #[expect(clippy::too_many_arguments, reason = "what an OFPT_FLOW_REMOVED says")]
    fn on_removed<'py>(
        &self,
        py: Python<'py>,
        now: u64,
        switch: u32,
        at: u64,
        flow: u32,
        direction: &str,
        reason: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        let reason = match reason {
            "idle" => Reason::Idle,
            "hard" => Reason::Hard,
            "evicted" => Reason::Evicted,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "reason is {reason:?}, not idle, hard or evicted"
                )));
            }
        };
        let (switch, at) = (NodeId(switch), Instant::from_ps(at));
        let removal =
            Removal { switch, at, flow: FlowId(flow), direction: direction_named(direction)?, reason };
        self.tell(py, now, |application, view, out| application.on_removed(view, &removal, out))
    }

    /// A switch has read its counters at `at`: those of links that leave it, and the packets received over each link.
    fn on_statistics<'py>(
        &self,
        py: Python<'py>,
        now: u64,
        switch: u32,
        at: u64,
        sent: Vec<Counters>,
        received: Vec<(u32, u64)>,
    ) -> PyResult<Bound<'py, PyList>> {
        let counters = |(link, sent_bytes, sent, dropped, queue_packets): Counters| LinkCounters {
            link: LinkId(link),
            sent_bytes,
            sent,
            dropped,
            queue_packets,
        };
        let statistics = Statistics {
            switch: NodeId(switch),
            at: Instant::from_ps(at),
            sent: sent.into_iter().map(counters).collect(),
            received: received.into_iter().map(|(link, packets)| (LinkId(link), packets)).collect(),
        };
        self.tell(py, now, |application, view, out| application.on_statistics(view, &statistics, out))
    }

    /// The switches are asked for their counters now.
    fn on_request<'py>(&self, py: Python<'py>, now: u64) -> PyResult<Bound<'py, PyList>> {
        self.tell(py, now, |application, view, out| application.on_request(view, out))
    }

    /// A probe of this number over a link has come back: when it was sent and received, and how many packets were
    /// sent and received before it.
    #[expect(clippy::too_many_arguments, reason = "what a probe has seen")]
    fn on_probe<'py>(
        &self,
        py: Python<'py>,
        now: u64,
        link: u32,
        number: u32,
        queued_at: u64,
        received_at: u64,
        sent: u64,
        received: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        let (queued_at, received_at) = (Instant::from_ps(queued_at), Instant::from_ps(received_at));
        let probe = LinkProbe { link: LinkId(link), round: number, queued_at, received_at, sent, received };
        self.tell(py, now, |application, view, out| application.on_probe(view, &probe, out))
    }

    /// These links are down, and all others up.
    ///
    /// Raises SetupError if there is no such link.
    fn on_network_change<'py>(
        &self,
        py: Python<'py>,
        now: u64,
        setup: &Setup,
        down: Vec<u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.locked()?.mask = setup.mask_without(&down)?;
        self.tell(py, now, |application, view, out| application.on_network_change(view, out))
    }

    /// The time of `next_timer` has come.
    fn on_timer<'py>(&self, py: Python<'py>, now: u64) -> PyResult<Bound<'py, PyList>> {
        self.tell(py, now, |application, view, out| application.on_timer(view, out))
    }

    /// When `on_timer` is to be called; None: not at all.
    fn next_timer(&self) -> PyResult<Option<u64>> {
        Ok(self.locked()?.application.next_timer().map(Instant::as_ps))
    }

    /// What the application has to say at the end: columns by name, by table.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for table in self.locked()?.application.tables() {
            tables.set_item(table.name, columns(py, table)?)?;
        }
        Ok(tables)
    }
}

impl Controller {
    /// Calls come one at a time; one from another thread in the middle of a call would wait with the lock of Python
    /// that the call may need.
    fn locked(&self) -> PyResult<std::sync::MutexGuard<'_, StartedController>> {
        self.started
            .try_lock()
            .map_err(|_| PyRuntimeError::new_err("the controller is in the middle of a call"))
    }

    fn tell<'py>(
        &self,
        py: Python<'py>,
        now: u64,
        call: impl FnOnce(&mut dyn Application, &View<'_>, &mut Vec<Order>) + Send,
    ) -> PyResult<Bound<'py, PyList>> {
        let orders = own::run(py, self.calls_python, || {
            let mut started = self.locked()?;
            let StartedController { application, channels, mask } = &mut *started;
            let view = View { now: Instant::from_ps(now), network: &self.network, mask, channels };
            let mut orders = Vec::new();
            call(application, &view, &mut orders);
            Ok(orders)
        })?;
        let orders = orders.into_iter().map(|order| plain(py, order)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, orders)
    }
}

fn packet_in(switch: u32, from_host: bool, missed: bool, header: PacketHeader<'_>) -> PyResult<PacketIn> {
    let (flow, direction, from, to, syn, fin, mss) = header;
    let (flow, direction, from, to) = (FlowId(flow), direction_named(direction)?, NodeId(from), NodeId(to));
    let ingress = if from_host { Ingress::Host } else { Ingress::Switch };
    let header = Header { flow, direction, from, to, syn, fin, mss };
    Ok(PacketIn { switch: NodeId(switch), ingress, header, missed })
}

fn plain(py: Python<'_>, order: Order) -> PyResult<Bound<'_, PyAny>> {
    match order {
        Order::SetUp { switch, rules } => {
            let entries = rules.into_iter().map(|rule| Py::new(py, FlowEntry(rule)));
            ("entries", switch.0, entries.collect::<PyResult<Vec<_>>>()?).into_bound_py_any(py)
        }
        Order::Remove { switch, flow } => ("remove", switch.0, flow.0).into_bound_py_any(py),
        Order::Release { switch, link, window, .. } => {
            ("send", switch.0, link.0, window).into_bound_py_any(py)
        }
        Order::Probe { link, round } => ("probe", link.0, round).into_bound_py_any(py),
        Order::Control { switch, flow, .. } => ("control", switch.0, flow.0).into_bound_py_any(py),
    }
}

/// A window field that says at most `window_bytes`, rounded up to what a scale can say (RFC 7323 section 2.2).
///
/// Raises ValueError for a scale above 14, which no option can have.
#[pyfunction]
pub fn clamped_window(window: u16, window_bytes: u64, scale: u8) -> PyResult<u16> {
    if scale > 14 {
        return Err(PyValueError::new_err(format!("scale is {scale}; it must be at most 14")));
    }
    Ok(anabranch_engine::control::clamped_window(window, window_bytes, scale))
}
