//! Schedulers of Multipath TCP in Python: a method that picks one of the ready subflows.

use super::{Code, guarded};
use anabranch_engine::transport::mptcp::{self, ExternalScheduler, ReadySubflow, SchedulerMaker};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Data that wait for a subflow.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct WaitingData {
    /// When.
    now_s: f64,
    /// Bytes that no subflow has been given and that may be sent.
    unsent_bytes: u64,
    /// Bytes that some subflow has been given and that are not acknowledged.
    unacknowledged_bytes: u64,
    /// Bytes of the receive window.
    window_bytes: u64,
}

impl From<&mptcp::WaitingData> for WaitingData {
    fn from(data: &mptcp::WaitingData) -> Self {
        Self {
            now_s: data.now.as_secs_f64(),
            unsent_bytes: data.unsent,
            unacknowledged_bytes: data.unacknowledged,
            window_bytes: data.window,
        }
    }
}

/// A subflow that can take a segment.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct Subflow {
    /// Its number, from 0 on.
    number: u8,
    /// Smoothed RTT; 0 before the first sample.
    srtt_s: f64,
    /// Window.
    cwnd_bytes: u64,
    /// Bytes in flight.
    in_flight_bytes: u64,
    /// Payload of a full segment.
    mss_bytes: u64,
}

impl From<&ReadySubflow> for Subflow {
    fn from(ready: &ReadySubflow) -> Self {
        Self {
            number: ready.number,
            srtt_s: ready.srtt.as_secs_f64(),
            cwnd_bytes: ready.cwnd,
            in_flight_bytes: ready.in_flight,
            mss_bytes: ready.payload,
        }
    }
}

impl SchedulerMaker for Code {
    fn scheduler(&self) -> Box<dyn ExternalScheduler> {
        let made = guarded(&self.0, "start", 0.0, |py| {
            let object = self.0.bind(py).call0()?;
            Ok(Scheduler { code: self.0.clone_ref(py), pick: object.getattr("pick")?.unbind() })
        });
        made.map_or_else(|| Box::new(Unmade) as Box<dyn ExternalScheduler>, |made| Box::new(made))
    }
}

/// A connection's scheduler.
#[derive(Debug)]
struct Scheduler {
    /// What made it.
    code: Py<PyAny>,
    pick: Py<PyAny>,
}

impl ExternalScheduler for Scheduler {
    fn pick(&mut self, data: &mptcp::WaitingData, ready: &[ReadySubflow]) -> Option<u8> {
        let picked = guarded(&self.code, "pick", data.now.as_secs_f64(), |py| {
            let subflows = PyList::new(
                py,
                ready
                    .iter()
                    .map(Subflow::from)
                    .map(|seen| Py::new(py, seen))
                    .collect::<PyResult<Vec<_>>>()?,
            )?;
            let picked = self.pick.bind(py).call1((WaitingData::from(data), &subflows))?;
            if picked.is_none() {
                return Ok(None);
            }
            match picked.cast::<Subflow>() {
                Ok(subflow) if subflows.contains(subflow)? => Ok(Some(subflow.get().number)),
                _ => Err(PyValueError::new_err(format!(
                    "has picked {}; it must be one of the ready subflows, or None",
                    picked.repr()?
                ))),
            }
        });
        picked.flatten()
    }
}

/// The scheduler of a connection whose own could not be made. The run ends with the reason.
#[derive(Debug)]
struct Unmade;

impl ExternalScheduler for Unmade {
    fn pick(&mut self, _data: &mptcp::WaitingData, _ready: &[ReadySubflow]) -> Option<u8> {
        None
    }
}
