"""The files of toys: algorithms that do something small."""

from __future__ import annotations

CONGESTION_CONTROL = """//! A window that grows by a share of what is acknowledged.

use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, Recovery, Start};
use anabranch_units::Instant;
use anabranch_units::declaration::above;

anabranch_units::parameters! {
    /// Grows by a share of what is acknowledged, and keeps a share at a loss.
    pub struct ToyParameters {
        /// Share of the acknowledged bytes by which the window grows.
        growth: f64 = 1.0, above(0.0).at_most(1.0);
        /// Share of the window that a loss leaves.
        kept: f64 = 0.5, above(0.0).below(1.0);
    }
}

/// The window and what it was before the last loss.
#[derive(Clone, Debug)]
pub struct Toy {
    parameters: ToyParameters,
    mss: u64,
    cwnd: u64,
    before: u64,
}

impl ConfiguredController for Toy {
    type Parameters = ToyParameters;

    fn configured(parameters: &ToyParameters, start: Start) -> Self {
        let (mss, cwnd) = (u64::from(start.mss), start.initial_window);
        Self { parameters: parameters.clone(), mss, cwnd, before: cwnd }
    }
}

impl Toy {
    fn reduce(&mut self) {
        self.before = self.cwnd;
        self.cwnd = ((self.cwnd as f64 * self.parameters.kept) as u64).max(2 * self.mss);
    }
}

impl CongestionControl for Toy {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.cwnd.max(2 * self.mss)
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.cwnd_limited && ack.recovery == Recovery::Open {
            let grown = (ack.growth as f64 * self.parameters.growth) as u64;
            self.cwnd = self.cwnd.saturating_add(grown.min(self.mss));
        }
    }

    fn on_loss(&mut self, _: &LossEpisode) {
        self.reduce();
    }

    fn on_ecn(&mut self, _: &LossEpisode) {
        self.reduce();
    }

    fn on_timeout(&mut self, _: &LossEpisode, first: bool) {
        if first {
            self.reduce();
        }
        self.cwnd = self.mss;
    }

    fn on_recovered(&mut self, _: Instant, _: Recovery) {}

    fn penalise(&mut self) {
        self.cwnd = (self.cwnd / 2).max(self.mss);
        self.before = 0;
    }

    fn on_undo(&mut self, _: Instant) {
        self.cwnd = self.cwnd.max(self.before);
    }
}
"""

LOSS_DETECTION = """//! Losses by a fixed time.

use super::{AckFacts, ConfiguredDetection, DeliveredSegment, LossDetection};
use crate::log::LossCause;
use crate::tcp::scoreboard::{Judgement, Scoreboard};
use anabranch_units::declaration::above;
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// A segment is lost when it has been out for a fixed time.
    pub struct ToyParameters {
        /// That time.
        patience: Span = Span::from_ms(500), above(Span::ZERO);
    }
}

/// The fixed time.
#[derive(Debug)]
pub struct Toy {
    patience: Span,
}

impl ConfiguredDetection for Toy {
    type Parameters = ToyParameters;

    fn configured(parameters: &ToyParameters) -> Self {
        Self { patience: parameters.patience }
    }
}

impl LossDetection for Toy {
    fn on_delivered(&mut self, _: Instant, _: &DeliveredSegment, _: Span) {}

    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        let patience = self.patience;
        board.judge_oldest_first(LossCause::Rack, |sent| {
            let late = sent.sent_at.saturating_add(patience) <= facts.now;
            if late { Judgement::Lost } else { Judgement::Stop }
        });
    }
}
"""

SCHEDULER = """use super::{Choice, ConfiguredScheduler, SubflowScheduler, View};

anabranch_units::parameters! {
    /// The first subflow with room.
    pub struct ToyParameters {}
}

/// The first subflow with room.
#[derive(Debug)]
pub struct Toy {}

impl ConfiguredScheduler for Toy {
    type Parameters = ToyParameters;

    fn configured(_: &ToyParameters, _: usize) -> Self {
        Self {}
    }
}

impl SubflowScheduler for Toy {
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        let subflow = view.paths.ready().next()?;
        Some(Choice { subflow, from: view.data_nxt })
    }
}
"""

LOAD_BALANCER = """//! Every packet takes the heaviest route.

use super::{Choices, FlowKey, Spread};
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// Every packet takes the heaviest route.
    #[derive(Copy, Eq)]
    pub struct ToyParameters {}
}

#[derive(Clone, Debug)]
pub struct Toy {
    heaviest: usize,
}

impl Spread for Toy {
    type Parameters = ToyParameters;
    const SYMMETRIC: bool = false;

    fn configured(_: &ToyParameters, choices: Choices<'_>) -> Self {
        let weights = choices.weights.iter().enumerate();
        let heaviest = weights.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(index, _)| index);
        Self { heaviest }
    }

    fn choose(&mut self, _: Instant, _: FlowKey) -> usize {
        self.heaviest
    }
}
"""

SCHEME = """use super::{Wanted, in_equal_shares};
use crate::{AdditiveMetric, Plan, Watch};

anabranch_units::parameters! {
    /// One shortest path by a sum over links.
    #[derive(Copy, Eq)]
    pub struct ToyScheme {
        /// What a short path is short in.
        metric: AdditiveMetric = AdditiveMetric::Hops;
    }
}

impl ToyScheme {
    pub(super) fn plan<E>(self, wanted: Wanted<'_>, watch: &mut Watch<'_, E>) -> Result<Plan, E> {
        let planner = wanted.planner(self.metric);
        let graph = planner.core();
        planner.paths(
            wanted.pairs,
            |_| u64::MAX,
            watch,
            |tree, from, _, _| Ok(in_equal_shares(tree.path(graph, from).into_iter().collect())),
        )
    }
}
"""

PLANNED_SCHEME = """use super::{Planned, Planner};
use crate::Metric;
use crate::scheme::MOST_PATHS;
use anabranch_units::declaration::{OutOfRange, at_least};

anabranch_units::parameters! {
    /// The last of the k shortest paths.
    #[derive(Copy, Eq)]
    pub struct ToyPlannedScheme {
        /// Number of paths, of which the last is taken.
        k: u32 = 2, at_least(1).at_most(MOST_PATHS);
        /// Take the first instead.
        first: bool = false;
        /// What a short path is short in.
        metric: Metric = Metric::Hops;
    }
}

impl Planned for ToyPlannedScheme {
    const PLANNER: Planner = Planner::of("toy");

    fn check_together(&self) -> Result<(), OutOfRange> {
        if self.first && self.k > 1 {
            return Err(OutOfRange::new("k", "is of no use to the first path; leave it at 1, or first out"));
        }
        Ok(())
    }
}
"""

PLANNER = '''"""The last of the k shortest paths of each pair."""

from __future__ import annotations

from anabranch.routing.planned import Planned, WeightedPath, pairs_of, plan_of
from anabranch.setup.model import PlannerSetup, Setup


def plan(setup: Setup, planner: PlannerSetup) -> Planned:
    """One path for each pair."""
    scheme = planner.scheme.core()
    place = 0 if scheme["first"] else -1
    paths = setup.core().candidate_paths(scheme["k"], scheme["metric"], pairs_of(setup))
    return Planned(plan_of({(origin, to): [WeightedPath(some[place], 1.0)] for origin, to, some in paths}))
'''

ESTIMATOR = """//! The last sample.

use super::{Estimate, Sample};

anabranch_units::parameters! {
    /// The last sample.
    #[derive(Copy)]
    pub struct ToyParameters {}
}

/// The last sample.
#[derive(Clone, PartialEq, Debug)]
pub struct Toy {
    last: Option<f64>,
}

impl Estimate for Toy {
    type Parameters = ToyParameters;

    fn configured(_: &ToyParameters) -> Self {
        Self { last: None }
    }

    fn add(&mut self, sample: Sample) {
        self.last = Some(sample.value());
    }

    fn estimate(&self) -> Option<f64> {
        self.last
    }
}
"""

QUEUE_DISCIPLINE = """//! The oldest packets go when there is no room.

use super::{Buffer, DropCause, Packets, QueueContext, QueueDiscipline, Waiting};
use anabranch_units::Instant;
use anabranch_units::declaration::at_least;

anabranch_units::parameters! {
    /// First in, first out; without room the oldest go.
    #[derive(Copy)]
    pub struct ToyParameters {
        /// Packets that go at once.
        at_once: u32 = 1, at_least(1);
    }
}

/// Drops at the head.
#[derive(Debug)]
pub struct Toy {
    at_once: u32,
}

impl QueueDiscipline for Toy {
    type Parameters = ToyParameters;

    fn new(parameters: &ToyParameters, _: &QueueContext<'_>) -> Self {
        Self { at_once: parameters.at_once }
    }

    fn enqueue(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets) {
        let going = if buffer.has_room(arrival.bytes) { 0 } else { self.at_once };
        for _ in 0..going {
            let Some(oldest) = buffer.pop(packets.pool()) else { break };
            packets.drop(oldest.packet, DropCause::Toy);
        }
        buffer.push_or_drop(arrival, packets);
    }

    fn dequeue(&mut self, buffer: &mut Buffer, _: Instant, packets: &mut impl Packets) -> Option<Waiting> {
        buffer.pop(packets.pool())
    }
}
"""
