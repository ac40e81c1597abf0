//! Controller applications in Python: methods that hear of events and give orders.
//!
//! An object gives its orders through an [`Orders`], which refuses what the network does not have while the user's
//! line is running. `python/anabranch/own/controller.py` has the class that users derive from.

use super::{Code, guarded};
use anabranch_engine::control::applications::{ApplicationMaker, ExternalApplication};
use anabranch_engine::control::table::{Action, Reason, Removal, Rule, Segments};
use anabranch_engine::control::{self, Application, Ingress, Order, View};
use anabranch_engine::packet::Direction;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

const ON_PACKET: &str = "on_packet";
const ON_TIMER: &str = "on_timer";
const FORWARD: &str = "forward";
const BACKWARD: &str = "backward";

pub(crate) fn direction_named(name: &str) -> PyResult<Direction> {
    match name {
        FORWARD => Ok(Direction::Forward),
        BACKWARD => Ok(Direction::Backward),
        _ => Err(PyValueError::new_err(format!(
            "direction is {name:?}; it must be {FORWARD:?} or {BACKWARD:?}"
        ))),
    }
}

const fn name_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => FORWARD,
        Direction::Backward => BACKWARD,
    }
}

/// A packet that a switch has handed to the controller, or has told it of.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct PacketIn {
    /// When the controller hears of it.
    now_s: f64,
    /// The switch.
    switch: u32,
    /// Whether the switch had it from a host, or is an end of the flow itself.
    from_host: bool,
    /// Nothing in the flow table matched it.
    missed: bool,
    /// Number of the flow: what is sent and what is acknowledged have the same.
    flow: u32,
    /// "forward" from the sender of data, "backward" to it.
    direction: &'static str,
    /// Node that sends packets of this direction.
    source: u32,
    /// Node that receives them.
    destination: u32,
    /// It opens a connection.
    syn: bool,
    /// It is the last one with data, or follows it.
    fin: bool,
}

impl PacketIn {
    fn new(now: Instant, packet: &control::PacketIn) -> Self {
        let header = &packet.header;
        Self {
            now_s: now.as_secs_f64(),
            switch: packet.switch.0,
            from_host: packet.ingress == Ingress::Host,
            missed: packet.missed,
            flow: header.flow.0,
            direction: name_of(header.direction),
            source: header.from.0,
            destination: header.to.0,
            syn: header.syn,
            fin: header.fin,
        }
    }
}

/// An entry that has gone from a flow table without an order.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct RemovedEntry {
    /// When the controller hears of it.
    now_s: f64,
    /// When it went.
    removed_s: f64,
    /// The switch.
    switch: u32,
    /// Whose it was.
    flow: u32,
    /// Which way: "forward" or "backward".
    direction: &'static str,
    /// "idle", "hard" or "evicted" (OpenFlow 1.3 section 5.5; 1.4 section 5.5).
    reason: &'static str,
}

impl RemovedEntry {
    fn new(now: Instant, removal: &Removal) -> Self {
        Self {
            now_s: now.as_secs_f64(),
            removed_s: removal.at.as_secs_f64(),
            switch: removal.switch.0,
            flow: removal.flow.0,
            direction: name_of(removal.direction),
            reason: match removal.reason {
                Reason::Idle => "idle",
                Reason::Hard => "hard",
                Reason::Evicted => "evicted",
            },
        }
    }
}

/// Counters of a link since the start, as the switch that it leaves has read them.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct LinkCounters {
    /// The link.
    link: u32,
    /// Bytes sent.
    sent_bytes: u64,
    /// Packets sent.
    sent_packets: u64,
    /// Packets that the queue did not take; None where the switch does not know it.
    dropped_packets: Option<u64>,
    /// Packets that wait; None as above.
    queue_packets: Option<u64>,
}

/// What a switch has counted.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct SwitchStatistics {
    /// When the controller has it.
    now_s: f64,
    /// When the switch read its counters.
    read_s: f64,
    /// The switch.
    switch: u32,
    /// Links that leave it.
    links: Vec<Py<LinkCounters>>,
    /// Packets received over each link that leads to it: (link, packets).
    received_packets: Vec<(u32, u64)>,
}

impl SwitchStatistics {
    fn new(py: Python<'_>, now: Instant, statistics: &control::Statistics) -> PyResult<Self> {
        let counters = |counters: &control::LinkCounters| {
            Py::new(
                py,
                LinkCounters {
                    link: counters.link.0,
                    sent_bytes: counters.sent_bytes,
                    sent_packets: counters.sent,
                    dropped_packets: counters.dropped,
                    queue_packets: counters.queue_packets,
                },
            )
        };
        Ok(Self {
            now_s: now.as_secs_f64(),
            read_s: statistics.at.as_secs_f64(),
            switch: statistics.switch.0,
            links: statistics.sent.iter().map(counters).collect::<PyResult<_>>()?,
            received_packets: statistics.received.iter().map(|&(link, packets)| (link.0, packets)).collect(),
        })
    }
}

/// What a probe has seen of a link between two switches. Counts leave out probes.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct LinkProbe {
    /// When the controller has it.
    now_s: f64,
    /// The link.
    link: u32,
    /// The number that the order gave it.
    number: u32,
    /// When it came to the queue of the link.
    queued_s: f64,
    /// When it came to the other end.
    received_s: f64,
    /// Packets sent over the link before it, since the start.
    sent_packets: u64,
    /// Packets received over the link before it, since the start.
    received_packets: u64,
}

impl LinkProbe {
    fn new(now: Instant, probe: &control::LinkProbe) -> Self {
        Self {
            now_s: now.as_secs_f64(),
            link: probe.link.0,
            number: probe.round,
            queued_s: probe.queued_at.as_secs_f64(),
            received_s: probe.received_at.as_secs_f64(),
            sent_packets: probe.sent,
            received_packets: probe.received,
        }
    }
}

/// An entry of a flow table: what it matches, and what it does.
#[pyclass(frozen, module = "anabranch._core")]
pub struct FlowEntry(pub(crate) Rule);

#[pymethods]
impl FlowEntry {
    /// An entry.
    ///
    /// Args:
    ///     flow: the flow that it matches.
    ///     direction: "forward" or "backward".
    ///     link: the link that packets leave over; None: they are handed to the controller.
    ///     syn_or_fin: whether it matches only packets with SYN or FIN.
    ///     from_host: True: only packets that come from a host; False: only those from a switch; None: both.
    ///     priority: of the entries that match, the highest counts.
    ///     tell: whether the controller is told of each packet that goes on.
    ///     window_bytes: packets go on with an advertised window of at most so much.
    #[new]
    #[pyo3(signature = (flow, direction, link=None, *, syn_or_fin=false, from_host=None, priority=1, tell=false,
                        window_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        flow: u32,
        direction: &str,
        link: Option<u32>,
        syn_or_fin: bool,
        from_host: Option<bool>,
        priority: u16,
        tell: bool,
        window_bytes: Option<u64>,
    ) -> PyResult<Self> {
        let action = match (link.map(LinkId), tell, window_bytes) {
            (Some(link), false, None) => Action::Output(link),
            (Some(link), true, None) => Action::OutputAndTell(link),
            (Some(link), false, Some(bytes)) => Action::OutputClamped(link, bytes),
            (None, false, None) => Action::Controller,
            (None, ..) => {
                return Err(PyValueError::new_err(
                    "tell and window_bytes are for packets that go on; give a link",
                ));
            }
            (Some(_), true, Some(_)) => {
                return Err(PyValueError::new_err("an entry has tell or window_bytes, not both"));
            }
        };
        Ok(Self(Rule {
            flow: FlowId(flow),
            direction: direction_named(direction)?,
            segments: if syn_or_fin { Segments::SynOrFin } else { Segments::Any },
            ingress: from_host.map(|host| if host { Ingress::Host } else { Ingress::Switch }),
            priority,
            action,
        }))
    }

    #[getter]
    const fn flow(&self) -> u32 {
        self.0.flow.0
    }

    #[getter]
    const fn direction(&self) -> &'static str {
        name_of(self.0.direction)
    }

    #[getter]
    fn link(&self) -> Option<u32> {
        self.out().map(|link| link.0)
    }

    #[getter]
    fn syn_or_fin(&self) -> bool {
        self.0.segments == Segments::SynOrFin
    }

    #[getter(from_host)]
    fn comes_from_host(&self) -> Option<bool> {
        self.0.ingress.map(|ingress| ingress == Ingress::Host)
    }

    #[getter]
    const fn priority(&self) -> u16 {
        self.0.priority
    }

    #[getter]
    const fn tell(&self) -> bool {
        matches!(self.0.action, Action::OutputAndTell(_))
    }

    #[getter]
    const fn window_bytes(&self) -> Option<u64> {
        match self.0.action {
            Action::OutputClamped(_, bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl FlowEntry {
    const fn out(&self) -> Option<LinkId> {
        match self.0.action {
            Action::Output(link) | Action::OutputAndTell(link) | Action::OutputClamped(link, _) => Some(link),
            Action::Controller => None,
        }
    }
}

/// What an application has ordered in the call that is running, in its order.
#[pyclass(module = "anabranch._core")]
pub struct Orders {
    /// By link: where it begins, and where it ends.
    links: Vec<(NodeId, NodeId)>,
    is_switch: Vec<bool>,
    /// Whether the call is about a packet that waits at the controller.
    has_packet: bool,
    given: Vec<Order>,
}

impl Orders {
    fn new(view: &View<'_>) -> Self {
        let links = view.network.links().iter().map(|link| (link.from, link.to)).collect();
        let is_switch = view.network.node_ids().map(|node| view.is_switch(node)).collect();
        Self { links, is_switch, has_packet: false, given: Vec::new() }
    }

    fn switch(&self, node: u32) -> PyResult<NodeId> {
        match self.is_switch.get(node as usize) {
            Some(true) => Ok(NodeId(node)),
            _ => Err(PyValueError::new_err(format!("node {node} is no switch of the controller"))),
        }
    }

    /// The ends of a link that leaves a switch.
    fn ends(&self, link: LinkId) -> PyResult<(NodeId, NodeId)> {
        let ends = self.links.get(link.0 as usize).ok_or_else(|| {
            PyValueError::new_err(format!("there is no link {}; there are {}", link.0, self.links.len()))
        })?;
        self.switch(ends.0.0).map_err(|_| {
            PyValueError::new_err(format!("link {} leaves no switch of the controller", link.0))
        })?;
        Ok(*ends)
    }
}

#[pymethods]
impl Orders {
    /// New entries for a switch.
    fn add_entries(&mut self, switch: u32, entries: Vec<PyRef<'_, FlowEntry>>) -> PyResult<()> {
        let switch = self.switch(switch)?;
        for link in entries.iter().filter_map(|entry| entry.out()) {
            if self.ends(link)?.0 != switch {
                let problem = format!("link {} does not leave switch {}", link.0, switch.0);
                return Err(PyValueError::new_err(problem));
            }
        }
        let rules = entries.iter().map(|entry| entry.0).collect();
        self.given.push(Order::SetUp { switch, rules });
        Ok(())
    }

    /// The entries of a flow go from a switch.
    fn remove_entries(&mut self, switch: u32, flow: u32) -> PyResult<()> {
        let switch = self.switch(switch)?;
        self.given.push(Order::Remove { switch, flow: FlowId(flow) });
        Ok(())
    }

    /// The packet at hand goes back to a switch, which sends it over this link.
    #[pyo3(signature = (link, window_bytes=None))]
    fn send(&mut self, link: u32, window_bytes: Option<u64>) -> PyResult<()> {
        let link = LinkId(link);
        let (switch, _) = self.ends(link)?;
        if !std::mem::take(&mut self.has_packet) {
            let problem = "there is no packet to send: it goes over one link, and only on_packet has one";
            return Err(PyValueError::new_err(problem));
        }
        self.given.push(Order::Release { switch, link, window: window_bytes, gap: Span::ZERO });
        Ok(())
    }

    /// A probe goes over a link between two switches.
    fn probe(&mut self, link: u32, number: u32) -> PyResult<()> {
        let link = LinkId(link);
        let (_, to) = self.ends(link)?;
        self.switch(to.0)
            .map_err(|_| PyValueError::new_err(format!("link {} does not lead to a switch", link.0)))?;
        self.given.push(Order::Probe { link, round: number });
        Ok(())
    }
}

/// The network as an application sees it: its links, by number.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct ControlledLinks {
    /// Bits per second.
    capacity_bps: Vec<f64>,
    /// Propagation delays.
    delay_s: Vec<f64>,
    /// Shares of packets that links lose at random.
    loss: Vec<f64>,
    /// Whether a link may carry data, as far as the controller knows.
    usable: Vec<bool>,
}

impl ControlledLinks {
    fn new(view: &View<'_>) -> Self {
        let links = view.network.links();
        Self {
            capacity_bps: links.iter().map(|link| link.capacity.as_bps() as f64).collect(),
            delay_s: links.iter().map(|link| link.delay.as_secs_f64()).collect(),
            loss: links.iter().map(|link| link.loss).collect(),
            usable: view.network.link_ids().map(|link| view.mask.usable(view.network, link)).collect(),
        }
    }
}

impl ApplicationMaker for Code {
    /// The function gets (names of nodes, ends of links, links, switches, orders, seed).
    fn application(&self, view: &View<'_>, seed: u64) -> Box<dyn ExternalApplication> {
        let made = guarded(&self.0, "start", 0.0, |py| {
            let nodes: Vec<&str> = view.network.nodes().iter().map(|node| node.name.as_str()).collect();
            let ends: Vec<_> = view.network.links().iter().map(|link| (link.from.0, link.to.0)).collect();
            let switches: Vec<u32> = view.channels.switches().iter().map(|switch| switch.0).collect();
            let orders = Py::new(py, Orders::new(view))?;
            let arguments = (nodes, ends, ControlledLinks::new(view), switches, orders.clone_ref(py), seed);
            let object = self.0.bind(py).call1(arguments)?;
            let timer = timer_of(&object, Instant::ZERO, ON_TIMER)?;
            orders.borrow_mut(py).given.clear();
            Ok(Controller { code: self.0.clone_ref(py), object: object.unbind(), orders, timer })
        });
        made.map_or_else(|| Box::new(Unmade) as Box<dyn ExternalApplication>, |made| Box::new(made))
    }
}

/// When the object wants to be called: not before `now`, and after it where it has just been called for that.
fn timer_of(object: &Bound<'_, PyAny>, now: Instant, hook: &str) -> PyResult<Option<Instant>> {
    let value = object.getattr(intern!(object.py(), "timer_s"))?;
    if value.is_none() {
        return Ok(None);
    }
    // Of a time that has been told in seconds, the picoseconds may be lost.
    let at = value.extract::<f64>().ok().filter(|at_s| *at_s >= 0.0);
    let at = at.map(|at_s| Instant::ZERO.saturating_add(Span::from_secs_f64(at_s)));
    let slack = Span::from_ps(1000);
    match at {
        Some(at) if at > now.saturating_add(slack) => Ok(Some(at)),
        Some(at) if at.saturating_add(slack) >= now && hook != ON_TIMER => Ok(Some(now)),
        _ => Err(PyValueError::new_err(format!(
            "has set timer_s to {}; it must be None, or a time {} {:.9} s",
            value.repr()?,
            if hook == ON_TIMER { "after" } else { "not before" },
            now.as_secs_f64()
        ))),
    }
}

/// The application of a run.
#[derive(Debug)]
struct Controller {
    /// What made it.
    code: Py<PyAny>,
    object: Py<PyAny>,
    orders: Py<Orders>,
    timer: Option<Instant>,
}

impl Controller {
    /// Calls a method of the object, and takes its orders. What a failed call has ordered is not done.
    fn tell<A>(
        &mut self,
        hook: &'static str,
        now: Instant,
        out: &mut Vec<Order>,
        arguments: impl FnOnce(Python<'_>) -> PyResult<A>,
    ) where
        A: for<'py> PyCallArgs<'py>,
    {
        let timer = guarded(&self.code, hook, now.as_secs_f64(), |py| {
            let object = self.object.bind(py);
            self.orders.borrow_mut(py).has_packet = hook == ON_PACKET;
            object.call_method1(hook, arguments(py)?)?;
            let timer = timer_of(object, now, hook)?;
            out.append(&mut self.orders.borrow_mut(py).given);
            Ok(timer)
        });
        self.timer = timer.unwrap_or(None);
    }
}

impl Application for Controller {
    fn on_packet(&mut self, view: &View<'_>, packet: &control::PacketIn, out: &mut Vec<Order>) {
        self.tell(ON_PACKET, view.now, out, |_| Ok((PacketIn::new(view.now, packet),)));
    }

    fn on_notice(&mut self, view: &View<'_>, packet: &control::PacketIn, out: &mut Vec<Order>) {
        self.tell("on_notice", view.now, out, |_| Ok((PacketIn::new(view.now, packet),)));
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, out: &mut Vec<Order>) {
        self.tell("on_removed", view.now, out, |_| Ok((RemovedEntry::new(view.now, removal),)));
    }

    fn on_refused(&mut self, view: &View<'_>, switch: NodeId, flow: FlowId, out: &mut Vec<Order>) {
        self.tell("on_refused", view.now, out, |_| Ok((view.now.as_secs_f64(), switch.0, flow.0)));
    }

    fn on_statistics(&mut self, view: &View<'_>, statistics: &control::Statistics, out: &mut Vec<Order>) {
        self.tell("on_statistics", view.now, out, |py| {
            Ok((SwitchStatistics::new(py, view.now, statistics)?,))
        });
    }

    fn on_probe(&mut self, view: &View<'_>, probe: &control::LinkProbe, out: &mut Vec<Order>) {
        self.tell("on_probe", view.now, out, |_| Ok((LinkProbe::new(view.now, probe),)));
    }

    fn on_network_change(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        let links = ControlledLinks::new(view);
        let answer = guarded(&self.code, "on_network_change", view.now.as_secs_f64(), |py| {
            self.object.call_method1(py, intern!(py, "_follow"), (links,)).map(drop)
        });
        if answer.is_some() {
            self.tell("on_network_change", view.now, out, |_| Ok((view.now.as_secs_f64(),)));
        }
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        let unset = guarded(&self.code, "on_timer", view.now.as_secs_f64(), |py| {
            self.object.setattr(py, intern!(py, "timer_s"), py.None())
        });
        if unset.is_some() {
            self.tell(ON_TIMER, view.now, out, |_| Ok((view.now.as_secs_f64(),)));
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        self.timer
    }
}

impl ExternalApplication for Controller {}

/// The application of a run whose own could not be made. The run ends with the reason.
#[derive(Debug)]
struct Unmade;

impl Application for Unmade {
    fn on_packet(&mut self, _view: &View<'_>, _packet: &control::PacketIn, _out: &mut Vec<Order>) {}
}

impl ExternalApplication for Unmade {}
