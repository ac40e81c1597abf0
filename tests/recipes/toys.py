"""Toys: the least that each recipe asks for; those of the core are here."""

from __future__ import annotations

from core_toys import CORE
from library_toys import LIBRARY
from result_toys import RESULTS
from toy import Toy
from toy_files import (
    CONGESTION_CONTROL,
    ESTIMATOR,
    LOAD_BALANCER,
    LOSS_DETECTION,
    PLANNED_SCHEME,
    PLANNER,
    QUEUE_DISCIPLINE,
    SCHEDULER,
    SCHEME,
)

TRANSPORT = "crates/transport/src"
ROUTING = "crates/routing/src"
ENGINE = "crates/engine/src"
SCENARIO = "crates/scenario/src"
COLUMNS = "python/anabranch/media/columns"
TOYS: dict[str, Toy] = {
    "a congestion control with two parameters": Toy(
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
        files={f"{ENGINE}/balancer/toy.rs": LOAD_BALANCER},
        insertions={
            f"{ENGINE}/balancer/mod.rs": [
                ("mod shares;\n", "mod toy;\n"),
                ("pub use packet::PacketParameters;\n", "pub use toy::ToyParameters;\n"),
                (
                    '    "subflow-round-robin" => SubflowRoundRobin(Box<SubflowRoundRobin>),\n',
                    '    "toy" => Toy(toy::Toy),\n',
                ),
            ],
            "docs/routing.md": [
                (
                    "| `load_balancing` | what keeps to one path | state | source |\n|---|---|---|---|\n",
                    "| `toy` | all | none | ours |\n",
                )
            ],
            "docs/semper_balancers.md": [
                (
                    "| `load_balancing` | a subflow's path | weights | a path fails or returns | state |\n"
                    "|---|---|---|---|---|\n",
                    "| `toy` | the heaviest | yes | all move | none |\n",
                ),
            ],
        },
        tests=(("anabranch-engine", "balancer"),),
    ),
    "a routing scheme": Toy(
        files={f"{ROUTING}/scheme/toy.rs": SCHEME},
        insertions={
            f"{ROUTING}/scheme/mod.rs": [
                ("mod tcpbp;\n", "mod toy;\n"),
                ("pub use shortest::ShortestScheme;\n", "pub use toy::ToyScheme;\n"),
                ('    "semper" => Semper(SemperScheme),\n', '    "toy" => Toy(ToyScheme),\n'),
            ],
            "docs/routing.md": [
                (
                    "| `scheme` | routes | source | parameters |\n|---|---|---|---|\n",
                    "| `toy` | one | ours | `metric` |\n",
                )
            ],
        },
    ),
    "a routing scheme over a solver, with two parameters": Toy(
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
            ],
            "docs/routing.md": [
                (
                    "| `shortest` | one shortest path | Dijkstra 1959 | `metric`: any |\n",
                    "| `toy-planned` | one | ours | `k`, `first`, `metric` |\n",
                )
            ],
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
        files={f"{ROUTING}/estimate/toy.rs": ESTIMATOR},
        insertions={
            f"{ROUTING}/estimate/mod.rs": [
                ("mod sma;\n", "mod toy;\n"),
                ("pub use sma::{MovingAverage, MovingAverageParameters};\n", "use toy::Toy;\n"),
                ('    "hte" => Hte(HypothesisTest),\n', '    "toy" => Toy(Toy),\n'),
            ],
            "docs/sdn.md": [
                ("- **Estimators** smooth the samples of both. ", "`toy` is the last of them. "),
            ],
        },
        tests=(("anabranch-routing", "estimate"),),
    ),
    "a queue discipline with a cause of its own": Toy(
        files={f"{ENGINE}/queues/toy.rs": QUEUE_DISCIPLINE},
        insertions={
            f"{ENGINE}/queues/mod.rs": [
                ("pub mod threshold;\n", "pub mod toy;\n"),
                ('    Red: "red", "RED";\n', '    /// The toy chose it.\n    Toy: "toy", "toy";\n'),
                ('    "red" => Red(red::Red),\n', '    "toy" => Toy(toy::Toy),\n'),
            ],
            "docs/links.md": [
                (
                    "| `algorithm` | discipline | parameters | source |\n|---|---|---|---|\n",
                    "| `toy` | drops at the head | `at_once` | ours |\n",
                )
            ],
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
        insertions={
            f"{SCENARIO}/network/links.rs": [
                (
                    "        jitter: Option<Jitter>;\n",
                    "        /// Bytes that the link adds to each packet.\n"
                    "        overhead: Option<Bytes>;\n",
                ),
                ("use anabranch_units::{", "Bytes, "),
            ],
            f"{SCENARIO}/setup/lay.rs": [
                (
                    "            weight: self.weight(settings, wire),\n",
                    "            overhead: said.overhead.unwrap_or_default(),\n",
                ),
            ],
            "python/anabranch/setup/model.py": [
                (
                    '    """Cost where routes go by ``weight``."""\n',
                    "    overhead: int = 0\n",
                ),
            ],
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
            "docs/links.md": [
                (
                    "| field | propagation delay |\n|---|---|\n",
                    '| `overhead = "20 B"` | none: bytes that are added to each packet |\n',
                )
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
                    '            ("ecn_marks", |stats| stats.marks),\n',
                    '            ("unhindered", |stats| stats.unhindered),\n',
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
from anabranch.media.columns import column
from anabranch.media.columns.tables import RUN
links = scenario({}).run().links
assert 0 < links["unhindered"].sum() <= links["packets"].sum(), links
assert column("unhindered").label == "unhindered" and "unhindered" in RUN["links"]
""",
    ),
    "a traffic pattern": Toy(
        insertions={
            f"{SCENARIO}/traffic/mod.rs": [
                (
                    '        "in-order" => InOrder,\n',
                    '        /// The first to the last and so on.\n        "crossed" => Crossed,\n',
                ),
                ("        Pairs::All | Pairs::InOrder", " | Pairs::Crossed"),
                ("the first to the first and\n        /// so on; ", "`crossed`: the first to the last; "),
            ],
            f"{SCENARIO}/setup/pairs.rs": [
                ("            Pairs::All | Pairs::InOrder", " | Pairs::Crossed"),
                (
                    "            senders.iter().copied().zip(receivers.iter().copied()).collect()\n        }",
                    " else if self.table.pairs == Pairs::Crossed {\n"
                    "            senders.iter().copied().zip(receivers.iter().rev().copied()).collect()\n"
                    "        }",
                ),
            ],
            "docs/scenario.md": [('left out: each to each; or "permutation", "neighbours", ', '"crossed", ')],
        },
        run="""
flows = scenario({"traffic[0].pairs": "crossed"}).run().flows
assert flows["to"].to_list() == ["right2", "right1"], flows
""",
    ),
    **LIBRARY,
    **CORE,
    **RESULTS,
}
"""The recipes that are followed, by what they add."""
