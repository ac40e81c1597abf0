//! Congestion controls in Python: what the engine tells a control, as calls of an object's methods.
//!
//! After each call the object's `cwnd_bytes`, `ssthresh_bytes` and `pacing_bps` are read, and what is no window ends the
//! run. `python/anabranch/own/congestion.py` has the class that users derive from.

use super::views::{self, Ack, EcnFeedback, LossEpisode, LostSegment, Report};
use super::{Code, guarded};
use anabranch_engine::transport::congestion::{self as facts, CongestionControl, Recovery, Start};
use anabranch_engine::transport::congestion::{External, ExternalControl, ExternalMaker};
use anabranch_units::{Instant, Rate, Span};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;
use pyo3::types::{PyString, PyTuple};
use pyo3::{PyClass, PyClassInitializer, intern};

impl ExternalMaker for Code {
    /// The function gets (mss_bytes, initial_window_bytes, seed).
    fn control(&self, choice: &External, start: Start) -> Box<dyn ExternalControl> {
        let mss = u64::from(start.mss);
        let made = guarded(&self.0, "start", 0.0, |py| {
            let object = self.0.bind(py).call1((mss, start.initial_window, start.seed))?;
            Control::of(&self.0, &object, (mss, choice.counts_marks))
        });
        match made {
            Some(control) => Box::new(control),
            None => Box::new(Unmade(State::initial(start))),
        }
    }
}

/// What a control has set.
#[derive(Clone, Copy, Debug)]
struct State {
    cwnd: u64,
    ssthresh: u64,
    pacing: Option<Rate>,
}

impl State {
    /// What it starts with.
    const fn initial(start: Start) -> Self {
        Self { cwnd: start.initial_window, ssthresh: u64::MAX, pacing: None }
    }

    /// What an object says; a window of less than a segment counts as one.
    fn of(object: &Bound<'_, PyAny>, mss: u64) -> PyResult<Self> {
        let py = object.py();
        let pacing = object.getattr(intern!(py, "pacing_bps"))?;
        Ok(Self {
            cwnd: number(object, intern!(py, "cwnd_bytes"))?.max(mss),
            ssthresh: number(object, intern!(py, "ssthresh_bytes"))?,
            pacing: if pacing.is_none() { None } else { Some(rate(&pacing)?) },
        })
    }
}

/// Bytes: a whole number, or another one, whose fraction falls away; infinity is the largest.
fn number(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<u64> {
    let value = object.getattr(name)?;
    if let Ok(bytes) = value.extract::<u64>() {
        return Ok(bytes);
    }
    match value.extract::<f64>() {
        // A float to an integer ends at the largest.
        Ok(bytes) if bytes >= 0.0 => Ok(bytes as u64),
        _ => Err(no_number(name.to_str()?, &value, "a number of bytes, from 0 on")),
    }
}

fn rate(value: &Bound<'_, PyAny>) -> PyResult<Rate> {
    let whole = |bps: f64| (bps >= 1.0 && bps.is_finite()).then_some(Rate::from_bps(bps as u64));
    let rate = value.extract::<f64>().ok().and_then(whole);
    rate.ok_or_else(|| no_number("pacing_bps", value, "None, or bits per second from 1 on"))
}

fn no_number(name: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let shown = value.repr().map_or_else(|_| value.get_type().to_string(), |text| text.to_string());
    PyValueError::new_err(format!("has set {name} to {shown}; it must be {wanted}"))
}

/// A connection's control.
#[derive(Debug)]
struct Control {
    /// What made it.
    code: Py<PyAny>,
    object: Py<PyAny>,
    state: State,
    mss: u64,
    governs_recovery: bool,
    counts_marks: bool,
    /// When it was last told something.
    now: Instant,
    acks: Acks,
}

/// How it hears of ACKs.
#[derive(Debug)]
enum Acks {
    /// Of each.
    Each(Method<Ack>),
    /// Of those of an interval together, or of a round-trip time.
    Reports { on_report: Method<Report>, interval: Option<Span>, since: Instant, under_way: Option<Report> },
}

/// A method that is called often, with a view of what is new: the view and the tuple around it are made once.
#[derive(Debug)]
struct Method<V> {
    method: Py<PyAny>,
    view: Option<(Py<V>, Py<PyTuple>)>,
}

impl<V: PyClass<Frozen = False> + Into<PyClassInitializer<V>>> Method<V> {
    fn new(method: Bound<'_, PyAny>) -> Self {
        Self { method: method.unbind(), view: None }
    }

    fn call(&mut self, py: Python<'_>, value: V) -> PyResult<()> {
        let arguments = match &self.view {
            Some((view, arguments)) => {
                *view.borrow_mut(py) = value;
                arguments
            }
            None => {
                let view = Py::new(py, value)?;
                let arguments = PyTuple::new(py, [&view])?.unbind();
                &self.view.insert((view, arguments)).1
            }
        };
        self.method.bind(py).call1(arguments.bind(py)).map(drop)
    }
}

impl Control {
    fn of(code: &Py<PyAny>, object: &Bound<'_, PyAny>, (mss, counts_marks): (u64, bool)) -> PyResult<Self> {
        let py = object.py();
        let on_ack = object.getattr(intern!(py, "on_ack"))?;
        let acks = if on_ack.is_none() {
            let interval_s: Option<f64> = object.getattr(intern!(py, "report_interval_s"))?.extract()?;
            let interval = interval_s.map(Span::from_secs_f64);
            let on_report = Method::new(object.getattr(intern!(py, "on_report"))?);
            Acks::Reports { on_report, interval, since: Instant::ZERO, under_way: None }
        } else {
            Acks::Each(Method::new(on_ack))
        };
        Ok(Self {
            code: code.clone_ref(py),
            state: State::of(object, mss)?,
            governs_recovery: object.getattr(intern!(py, "governs_recovery"))?.extract()?,
            object: object.clone().unbind(),
            mss,
            counts_marks,
            now: Instant::ZERO,
            acks,
        })
    }

    /// Calls a method of the object, and reads what it has set.
    fn tell<A>(&mut self, hook: &'static str, now: Instant, arguments: A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        self.now = now;
        let state = guarded(&self.code, hook, now.as_secs_f64(), |py| {
            let object = self.object.bind(py);
            object.call_method1(hook, arguments)?;
            State::of(object, self.mss)
        });
        self.state = state.unwrap_or(self.state);
    }
}

impl CongestionControl for Control {
    fn cwnd(&self) -> u64 {
        self.state.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.state.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.state.pacing
    }

    fn governs_recovery(&self) -> bool {
        self.governs_recovery
    }

    fn on_established(&mut self, now: Instant, rtt: Option<Span>) {
        self.tell("on_established", now, (now.as_secs_f64(), rtt.map(Span::as_secs_f64)));
    }

    fn on_restart_after_idle(&mut self, now: Instant, idle: Span, rto: Span) {
        let arguments = (now.as_secs_f64(), idle.as_secs_f64(), rto.as_secs_f64());
        self.tell("on_restart_after_idle", now, arguments);
    }

    fn on_ack(&mut self, ack: &facts::Ack) {
        self.now = ack.now;
        let at_s = ack.now.as_secs_f64();
        let state = match &mut self.acks {
            Acks::Each(on_ack) => guarded(&self.code, "on_ack", at_s, |py| {
                on_ack.call(py, Ack(*ack))?;
                State::of(self.object.bind(py), self.mss)
            }),
            Acks::Reports { on_report, interval, since, under_way } => {
                let mut report = under_way.take().unwrap_or_else(|| Report::new(*since));
                report.add(ack);
                if ack.now.since(*since) < interval.unwrap_or(ack.srtt) {
                    *under_way = Some(report);
                    return;
                }
                *since = ack.now;
                guarded(&self.code, "on_report", at_s, |py| {
                    on_report.call(py, report)?;
                    State::of(self.object.bind(py), self.mss)
                })
            }
        };
        self.state = state.unwrap_or(self.state);
    }

    fn forget_growth(&mut self, cwnd: u64) {
        self.tell("forget_growth", self.now, (cwnd,));
    }

    fn on_segment_lost(&mut self, lost: &facts::LostSegment) {
        self.tell("on_segment_lost", lost.now, (LostSegment::from(lost),));
    }

    fn on_loss(&mut self, episode: &facts::LossEpisode) {
        self.tell("on_loss", episode.now, (LossEpisode::from(episode),));
    }

    fn on_ecn_feedback(&mut self, feedback: &facts::EcnFeedback) {
        if self.counts_marks {
            self.tell("on_ecn_feedback", self.now, (EcnFeedback::from(feedback),));
        }
    }

    fn on_ecn(&mut self, episode: &facts::LossEpisode) {
        self.tell("on_ecn", episode.now, (LossEpisode::from(episode),));
    }

    fn on_timeout(&mut self, episode: &facts::LossEpisode, first: bool) {
        self.tell("on_timeout", episode.now, (LossEpisode::from(episode), first));
    }

    fn on_recovered(&mut self, now: Instant, from: Recovery) {
        self.tell("on_recovered", now, (now.as_secs_f64(), views::name_of(from)));
    }

    fn penalise(&mut self) {
        self.tell("penalise", self.now, ());
    }

    fn on_undo(&mut self, now: Instant) {
        self.tell("on_undo", now, (now.as_secs_f64(),));
    }
}

impl ExternalControl for Control {}

/// The control of a connection whose own could not be made. The run ends with the reason.
#[derive(Debug)]
struct Unmade(State);

impl CongestionControl for Unmade {
    fn cwnd(&self) -> u64 {
        self.0.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.0.ssthresh
    }

    fn on_ack(&mut self, _ack: &facts::Ack) {}

    fn on_loss(&mut self, _episode: &facts::LossEpisode) {}

    fn on_ecn(&mut self, _episode: &facts::LossEpisode) {}

    fn on_timeout(&mut self, _episode: &facts::LossEpisode, _first: bool) {}

    fn on_recovered(&mut self, _now: Instant, _from: Recovery) {}

    fn on_undo(&mut self, _now: Instant) {}
}

impl ExternalControl for Unmade {}
