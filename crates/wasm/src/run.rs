//! A run in steps.

use crate::routes::Routes;
use anabranch_engine::control::Breach;
use anabranch_engine::records::Table;
use anabranch_engine::setup::Setup;
use anabranch_engine::{EngineError, Outcome, Progress, Simulation};
use anabranch_scenario::read::Quantity;
use anabranch_scenario::words::{quoted, thousands};
use anabranch_units::{Instant, NodeId, Span};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Why a step or table cannot be had.
#[derive(Debug)]
pub enum RunError {
    /// The run is finished.
    Finished,
    /// A time is none.
    Time(String),
    /// A number of packet-hops is none.
    PacketHops,
    /// The engine refuses it.
    Engine(EngineError),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Finished => f.write_str("the simulation is finished; start another one"),
            Self::Time(message) => f.write_str(message),
            Self::PacketHops => f.write_str("give a number of packet-hops of at least 1, such as 1e6"),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

/// How far a run has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RunProgress {
    /// Simulated time, packet-hops and events.
    pub progress: Progress,
    /// When the run will be over.
    pub end: Instant,
    /// Whether nothing is left to do.
    pub is_done: bool,
}

impl RunProgress {
    /// The simulated part of the duration, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.end == Instant::ZERO { 1.0 } else { self.progress.now.as_secs_f64() / self.end.as_secs_f64() }
    }
}

/// How far a step goes at most.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// To the end of the run.
    ToEnd,
    /// As long as this.
    For(Span),
    /// To this time.
    Until(Instant),
    /// About as many packet-hops as this: to the first report behind them.
    PacketHops(u64),
}

impl Step {
    /// A step of simulated time, such as `10 ms`; without one to the end.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn of_span(text: Option<&str>) -> Result<Self, RunError> {
        text.map_or(Ok(Self::ToEnd), |text| Ok(Self::For(span(text)?)))
    }

    /// A step to a time, such as `1 s`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn until(text: &str) -> Result<Self, RunError> {
        Ok(Self::Until(Instant::ZERO + span(text)?))
    }

    /// A step of so many packet-hops.
    ///
    /// # Errors
    /// If it is below 1, or no number.
    pub fn of_packet_hops(count: f64) -> Result<Self, RunError> {
        // Above 2^64 the conversion gives the largest.
        if count >= 1.0 { Ok(Self::PacketHops(count as u64)) } else { Err(RunError::PacketHops) }
    }
}

fn span(text: &str) -> Result<Span, RunError> {
    Span::FORM.of_text(text).map(Span::from_ps).map_err(RunError::Time)
}

/// What was measured, and what must be known to read it.
#[derive(Debug)]
pub struct Finished {
    /// What was measured.
    pub outcome: Outcome,
    /// Sentences.
    pub warnings: Vec<String>,
    /// By entry of the traffic: flows that are not made, since they would begin when the run is over.
    pub never_begun: BTreeMap<String, u64>,
}

/// A run that goes on when it is told to. Whatever its steps, it computes what one step does, to the last bit.
pub struct Run {
    setup: Arc<Setup>,
    /// None once it is finished.
    simulation: Option<Simulation>,
    never_begun: BTreeMap<String, u64>,
    routes: Routes,
}

impl Run {
    /// A run at its begin.
    #[must_use]
    pub const fn new(
        setup: Arc<Setup>,
        simulation: Simulation,
        never_begun: BTreeMap<String, u64>,
        routes: Routes,
    ) -> Self {
        Self { setup, simulation: Some(simulation), never_begun, routes }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.setup.nodes.len()
    }

    /// Its routes as they are at the start; they are there behind its end, too.
    #[must_use]
    pub const fn routes(&self) -> &Routes {
        &self.routes
    }

    fn simulation(&mut self) -> Result<&mut Simulation, RunError> {
        self.simulation.as_mut().ok_or(RunError::Finished)
    }

    /// How far it has come.
    ///
    /// # Errors
    /// If it is finished.
    pub fn progress(&self) -> Result<RunProgress, RunError> {
        let simulation = self.simulation.as_ref().ok_or(RunError::Finished)?;
        let (progress, end) = (simulation.progress(), simulation.end());
        let is_done = progress.now >= end && simulation.next_event().is_none();
        Ok(RunProgress { progress, end, is_done })
    }

    /// Goes on, at most to the end; `watch` hears of the progress now and then, and ends the step where it breaks, behind
    /// its first event at the earliest.
    ///
    /// # Errors
    /// If it is finished, or the step leads back.
    pub fn advance(
        &mut self,
        step: Step,
        mut watch: impl FnMut(RunProgress) -> ControlFlow<()>,
    ) -> Result<RunProgress, RunError> {
        let simulation = self.simulation()?;
        let end = simulation.end();
        let (until, most) = match step {
            Step::ToEnd => (end, u64::MAX),
            Step::For(span) => (simulation.now().saturating_add(span).min(end), u64::MAX),
            Step::Until(until) => (until, u64::MAX),
            Step::PacketHops(count) => (end, simulation.progress().packet_hops.saturating_add(count)),
        };
        let begun = simulation.progress().events;
        let report = |progress: Progress| {
            let seen = watch(RunProgress { progress, end, is_done: false });
            // New routes begin anew in the next step: one that stops at its first event would never be through.
            let may_stop = progress.events > begun;
            let stops = seen.is_break() || progress.packet_hops >= most;
            if may_stop && stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // Where it is stopped is seen by the progress.
        let _ = simulation.advance(until, report).map_err(RunError::Engine)?;
        self.progress()
    }

    /// The flows as they are now.
    ///
    /// # Errors
    /// If it is finished.
    pub fn flows(&mut self) -> Result<Table, RunError> {
        self.simulation().map(|simulation| simulation.flow_states())
    }

    /// The pings and flows of UDP so far.
    ///
    /// # Errors
    /// If it is finished.
    pub fn datagram_flows(&mut self) -> Result<Table, RunError> {
        self.simulation().map(|simulation| simulation.datagram_states())
    }

    /// The links as they are now.
    ///
    /// # Errors
    /// If it is finished.
    pub fn links(&mut self) -> Result<Table, RunError> {
        self.simulation().map(Simulation::link_states)
    }

    /// Ends it where it is.
    ///
    /// # Errors
    /// If it is finished already, or the books of the engine do not balance.
    pub fn finish(&mut self) -> Result<Finished, RunError> {
        let simulation = self.simulation.take().ok_or(RunError::Finished)?;
        let outcome = simulation.finish().map_err(RunError::Engine)?;
        let warnings = outcome.breaches.iter().map(|breach| told(breach, &self.setup)).collect();
        Ok(Finished { outcome, warnings, never_begun: std::mem::take(&mut self.never_begun) })
    }
}

/// Which assumption of the published schedule of paced senders did not hold.
fn told(breach: &Breach, setup: &Setup) -> String {
    let name = |node: NodeId| quoted(&setup.nodes[node.index()].name);
    let (at, broken) = match breach {
        Breach::SharedLink { at, link, switches } => {
            let link = quoted(&setup.links[link.index()].name);
            (at, format!("flows of {} and {} share the link {link}", name(switches.0), name(switches.1)))
        }
        Breach::TooManyFlows { at, switch, flows: (count, segments) } => {
            let (count, segments) = (thousands(*count), thousands(*segments));
            (at, format!("{} has {count} flows for {segments} segments", name(*switch)))
        }
    };
    format!(
        "controller.application.schedule: \"published\" holds for the senders of one access switch, as many as an \
         interval has segments; at {} s {broken}, so that queues grow from then on; take \"stretched\"",
        at.as_secs_f64()
    )
}
