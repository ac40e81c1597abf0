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
    run: str = ""
    """A program that runs the toy in Python. It has ``scenario``, a function of the fields that it sets."""


CONGESTION_CONTROL = """//! A window that grows by a share of what is acknowledged.

use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, Recovery, Start};
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
from anabranch.setup.model import Setup, Tagged


def plan(setup: Setup, parameters: Tagged) -> Planned:
    """One path for each pair."""
    place = 0 if parameters["first"] else -1
    paths = setup.core().candidate_paths(parameters["k"], parameters["metric"], pairs_of(setup))
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

TRANSPORT = "crates/transport/src"
ROUTING = "crates/routing/src"
ENGINE = "crates/engine/src"
SCENARIO = "python/anabranch/scenario"
COLUMNS = "python/anabranch/columns"
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
                ('    "tcp-ncr" => TcpNcr(Box<TcpNcr>),\n', '    "toy" => Toy(Toy),\n'),
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
                    '    "subflow-round-robin" => SubflowRoundRobin(Box<SubflowRoundRobin>),\n',
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
    "a routing scheme over a solver, with two parameters": Toy(
        most_files=3,
        files={
            f"{ROUTING}/scheme/planned/toy.rs": PLANNED_SCHEME,
            "python/anabranch/routing/toy.py": PLANNER,
        },
        insertions={
            f"{ROUTING}/scheme/planned/mod.rs": [
                ("mod tcpbp_exact;\n", "mod toy;\n"),
                ("pub use given::GivenScheme;\n", "pub use toy::ToyPlannedScheme;\n"),
                (
                    '    "robust-single" => RobustSingle(RobustSingleScheme),\n',
                    '    "toy-planned" => ToyPlanned(ToyPlannedScheme),\n',
                ),
            ]
        },
        tests=(("anabranch-routing", "scheme::planned"),),
        run="""
result = scenario({"routing.scheme": '{ algorithm = "toy-planned", k = 3 }'}).run()
assert result.flows["goodput_mbps"].min() > 0.9, result.flows
refused = {"k = 65": "65 must be at most 64", "first = true": "scheme.k: is of no use to the first path"}
for parameters, said in refused.items():
    try:
        scenario({"routing.scheme": f'{{ algorithm = "toy-planned", {parameters} }}'})
    except anabranch.errors.ScenarioError as error:
        assert said in str(error), error
    else:
        raise AssertionError(f"{parameters}: a bound that nobody checks")
""",
    ),
    "an estimator": Toy(
        most_files=3,
        files={f"{ROUTING}/estimate/toy.rs": ESTIMATOR},
        insertions={
            f"{ROUTING}/estimate/mod.rs": [
                ("mod sma;\n", "mod toy;\n"),
                ("pub use sma::{MovingAverage, MovingAverageParameters};\n", "use toy::Toy;\n"),
                ('    "hte" => Hte(HypothesisTest),\n', '    "toy" => Toy(Toy),\n'),
            ]
        },
        tests=(("anabranch-routing", "estimate"),),
    ),
    "a queue discipline with a cause of its own": Toy(
        most_files=3,
        files={f"{ENGINE}/queues/toy.rs": QUEUE_DISCIPLINE},
        insertions={
            f"{ENGINE}/queues/mod.rs": [
                ("pub mod threshold;\n", "pub mod toy;\n"),
                ('    Red: "red", "RED";\n', '    /// The toy chose it.\n    Toy: "toy", "toy";\n'),
                ('    "red" => Red(red::Red),\n', '    "toy" => Toy(toy::Toy),\n'),
            ]
        },
        tests=(("anabranch-engine", "queues"),),
        run="""
queue = '{ algorithm = "toy", at_once = 2, limit = "5 packets" }'
slow = {"network.parameters.bottleneck_capacity": "1 Mbps", "network.links.queue": queue}
links = scenario(slow).run().links
assert links["drops_toy"].sum() > 0 == links["drops_queue"].sum(), links
""",
    ),
    "a property of a link": Toy(
        most_files=4,
        insertions={
            f"{SCENARIO}/network.py": [
                ("from anabranch.scenario.quantity import (\n", "    ByteCount,\n"),
                (
                    '    """Random, and added to the delay of each packet; packets stay in order."""\n',
                    "    overhead: ByteCount | None = None\n"
                    '    """Bytes that the link adds to each packet."""\n',
                ),
            ],
            "python/anabranch/setup/model.py": [("    queue: QueueSetup\n", "    overhead: int = 0\n")],
            f"{ENGINE}/link_setup.rs": [
                (
                    "    pub queue: Shared<QueueSetup>,\n",
                    "    /// Bytes that it adds to each packet.\n"
                    "    #[serde(default)]\n"
                    "    pub overhead: Bytes,\n",
                ),
                ("            jitter: None,\n", "            overhead: Bytes(0),\n"),
                (
                    "        check_delay(self.delay)?;\n",
                    '        check("overhead", &self.overhead, &at_most(Bytes(9_000)))?;\n',
                ),
                ("use anabranch_units::{", "Bytes, "),
            ],
            f"{ENGINE}/link.rs": [
                ("    serializer: Serializer,\n    delay: Span,\n", "    overhead: u32,\n"),
                ("            delay: setup.delay,\n", "            overhead: setup.overhead.0 as u32,\n"),
                ("let serialisation = self.serializer.next(bytes", " + self.overhead"),
                (
                    "self.serializer.time_of(self.sent_bytes()",
                    " + u64::from(self.overhead) * self.stats().sent",
                ),
            ],
        },
        run="""
plain = scenario({}).run().links["utilization"].max()
slow = scenario({"network.links.overhead": "1500 B"}).run().links["utilization"].max()
assert 0 < plain < 0.4 and slow > 1.9 * plain, (plain, slow)
try:
    scenario({"network.links.overhead": "1 MB"}).run()
except anabranch.errors.ScenarioError as error:
    assert "it must be at most 9000 B" in str(error), error
else:
    raise AssertionError("a bound that nobody checks")
""",
    ),
    "a result column": Toy(
        most_files=4,
        insertions={
            f"{ENGINE}/link.rs": [
                (
                    "    /// Their bytes.\n    pub sent_bytes: u64,\n",
                    "    /// Packets that found the link idle.\n    pub unhindered: u64,\n",
                ),
                ("    waited_ps: u64,\n", "    unhindered: u64,\n"),
                ("            waited_ps: 0,\n", "            unhindered: 0,\n"),
                ("            delivered,\n", "            unhindered: self.unhindered,\n"),
                (
                    "            let was_idle = self.flying.is_empty();\n",
                    "            self.unhindered += 1;\n",
                ),
            ],
            f"{ENGINE}/simulation/measure.rs": [
                (
                    '        count("ecn_marks", |stats| stats.marks);\n',
                    '        count("unhindered", |stats| stats.unhindered);\n',
                ),
            ],
            f"{COLUMNS}/declared.py": [
                (
                    '    Column("undone_recoveries", format=_COUNT),\n',
                    '    Column("unhindered", format=_COUNT, better="more"),\n',
                ),
            ],
            f"{COLUMNS}/tables.py": [
                (
                    '        "queue_mean_packets": "their mean over time",\n',
                    '        "unhindered": "packets that found it idle",\n',
                ),
            ],
        },
        run="""
from anabranch.columns import column
from anabranch.columns.tables import RUN
links = scenario({}).run().links
assert 0 < links["unhindered"].sum() <= links["packets"].sum(), links
assert column("unhindered").label == "unhindered" and "unhindered" in RUN["links"]
""",
    ),
    "a traffic pattern": Toy(
        most_files=2,
        insertions={
            f"{SCENARIO}/traffic.py": [
                ('"in-order", "permutation", "neighbours"', ', "crossed"'),
                ("the first to the first and\n    so on; ", "``crossed``: the first to the last; "),
            ],
            "python/anabranch/setup/traffic.py": [
                (
                    "            origin, to = _apart(list(zip(senders, receivers, strict=False)))\n",
                    '        elif entry.pairs == "crossed":\n'
                    "            origin, to = _apart(list(zip(senders, receivers[::-1], strict=False)))\n",
                ),
            ],
        },
        run="""
flows = scenario({"traffic[0].pairs": "crossed"}).run().flows
assert flows["to"].to_list() == ["right2", "right1"], flows
""",
    ),
}
"""The recipes that are followed, by what they add."""
