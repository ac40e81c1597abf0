"""Toys: the least that each recipe asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Insertions = Mapping[str, list[tuple[str, str]]]


@dataclass(frozen=True)
class Toy:
    """Something small that follows a recipe."""

    most_files: int
    """Files that the recipe may take, the toy's own included; generated ones do not count."""
    files: Mapping[str, str] = field(default_factory=dict)
    """New files, by path."""
    insertions: Insertions = field(default_factory=dict)
    """For each file lines, each behind which text that is there."""
    tests: tuple[tuple[str, str], ...] = ()
    """Tests that then hold the toy, too: a package and a filter."""


CONGESTION_CONTROL = """//! A window that grows by a share of what is acknowledged.

use super::{Ack, Configured, CongestionControl, LossEpisode, Recovery, Start};
use anabranch_units::Instant;
use anabranch_units::declaration::above;

anabranch_units::parameters! {
    /// Grows by a share of what is acknowledged, and keeps a share at a loss.
    pub struct ToyParameters {
        /// Share of the acknowledged bytes by which the window grows.
        growth: f64 = 0.5, above(0.0).at_most(1.0);
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

impl Configured for Toy {
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
            let grown = (ack.acked as f64 * self.parameters.growth) as u64;
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

    fn on_undo(&mut self, _: Instant) {
        self.cwnd = self.cwnd.max(self.before);
    }
}
"""

LOSS_DETECTION = """//! Losses by a fixed time.

use super::{AckFacts, Configured, DeliveredSegment, LossDetection};
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

impl Configured for Toy {
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

SCHEDULER = """use super::{Choice, Configured, Schedule, View};

anabranch_units::parameters! {
    /// The first subflow with room.
    pub struct ToyParameters {}
}

/// The first subflow with room.
#[derive(Debug)]
pub struct Toy {}

impl Configured for Toy {
    type Parameters = ToyParameters;

    fn configured(_: &ToyParameters, _: usize) -> Self {
        Self {}
    }
}

impl Schedule for Toy {
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

TRANSPORT = "crates/transport/src"
ROUTING = "crates/routing/src"
ENGINE = "crates/engine/src"
TOYS: dict[str, Toy] = {
    "a congestion control with two parameters": Toy(
        most_files=3,
        files={f"{TRANSPORT}/congestion/toy.rs": CONGESTION_CONTROL},
        insertions={
            f"{TRANSPORT}/congestion/mod.rs": [
                ("mod olia;\n", "mod toy;\n"),
                ("pub use olia::Olia;\n", "pub use toy::{Toy, ToyParameters};\n"),
                ('    "balia" => Balia(Balia),\n', '    "toy" => Toy(Toy),\n'),
            ]
        },
        tests=(("anabranch-transport", "congestion"),),
    ),
    "a loss detection with a parameter": Toy(
        most_files=3,
        files={f"{TRANSPORT}/tcp/detection/toy.rs": LOSS_DETECTION},
        insertions={
            f"{TRANSPORT}/tcp/detection/mod.rs": [
                ("mod tcp_pr;\n", "mod toy;\n"),
                ("use tcp_pr::TcpPr;\n", "use toy::Toy;\n"),
                ('    "tcp-ncr" => TcpNcr(TcpNcr),\n', '    "toy" => Toy(Toy),\n'),
            ]
        },
    ),
    "a scheduler": Toy(
        most_files=3,
        files={f"{TRANSPORT}/mptcp/scheduler/toy.rs": SCHEDULER},
        insertions={
            f"{TRANSPORT}/mptcp/scheduler/mod.rs": [
                ("mod round_robin;\n", "mod toy;\n"),
                ("use round_robin::RoundRobin;\n", "use toy::Toy;\n"),
                ('    "blest" => Blest(Blest),\n', '    "toy" => Toy(Toy),\n'),
            ]
        },
        tests=(("anabranch-transport", "mptcp::tests::a_clean_transfer"),),
    ),
    "a load balancer": Toy(
        most_files=3,
        files={f"{ENGINE}/balancer/toy.rs": LOAD_BALANCER},
        insertions={
            f"{ENGINE}/balancer/mod.rs": [
                ("mod shares;\n", "mod toy;\n"),
                ("pub use packet::PacketParameters;\n", "pub use toy::ToyParameters;\n"),
                (
                    '    "subflow-round-robin" => SubflowRoundRobin(SubflowRoundRobin),\n',
                    '    "toy" => Toy(toy::Toy),\n',
                ),
            ]
        },
        tests=(("anabranch-engine", "balancer"),),
    ),
    "a routing scheme": Toy(
        most_files=3,
        files={f"{ROUTING}/scheme/toy.rs": SCHEME},
        insertions={
            f"{ROUTING}/scheme/mod.rs": [
                ("mod tcpbp;\n", "mod toy;\n"),
                ("pub use shortest::ShortestScheme;\n", "pub use toy::ToyScheme;\n"),
                ('    "semper" => Semper(SemperScheme),\n', '    "toy" => Toy(ToyScheme),\n'),
            ]
        },
    ),
    "an estimator": Toy(
        most_files=3,
        files={f"{ROUTING}/estimate/toy.rs": ESTIMATOR},
        insertions={
            f"{ROUTING}/estimate/mod.rs": [
                ("mod sma;\n", "mod toy;\n"),
                (
                    "pub use sma::{MovingAverage, MovingAverageParameters};\n",
                    "pub use toy::{Toy, ToyParameters};\n",
                ),
                ('    "hte" => Hte(HypothesisTest),\n', '    "toy" => Toy(Toy),\n'),
            ]
        },
        tests=(("anabranch-routing", "estimate"),),
    ),
}
"""The recipes that are followed, by what they add."""
