"""Toys of what the core has beside algorithms: metrics, variates, events, applications, fields, scripts."""

from __future__ import annotations

from toy import Toy

ROUTING = "crates/routing/src"
ENGINE = "crates/engine/src"
SCENARIO = "crates/scenario/src"
TRANSPORT = "crates/transport/src"
APPLICATION = """\
//! A toy: entries for each new flow, as `forwarding` makes them.

use super::ConfiguredApplication;
use super::router::Router;
use crate::control::ControllerSetup;
use crate::control::table::Removal;
use crate::control::{Application, Order, PacketIn, View};
use anabranch_units::{FlowId, Instant, NodeId};

anabranch_units::parameters! {
    /// Entries for each flow along the best path.
    #[derive(Copy, Eq)]
    pub struct ToyApplicationParameters {}
}

/// Entries for each new flow, which stay where they are.
#[derive(Debug)]
pub struct ToyApplication {
    router: Router,
}

impl ConfiguredApplication for ToyApplication {
    type Parameters = ToyApplicationParameters;

    fn configured(_: &ToyApplicationParameters, setup: &ControllerSetup, _: u32) -> Self {
        Self { router: Router::new(setup) }
    }
}

impl Application for ToyApplication {
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        if self.router.flow(packet.header.flow).is_some() {
            self.router.repeat(view, packet, out);
        } else if !self.router.admit(view, &packet.header, out) {
            return;
        }
        self.router.release(view, packet, out);
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, _out: &mut Vec<Order>) {
        self.router.on_removed(view, removal);
    }

    fn on_refused(&mut self, _view: &View<'_>, switch: NodeId, flow: FlowId, _out: &mut Vec<Order>) {
        self.router.on_refused(switch, flow);
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.router.on_timer(view, out);
    }

    fn next_timer(&self) -> Option<Instant> {
        self.router.next_timer()
    }
}
"""
SCRIPT = """\
// RFC 5681 section 3.1: the initial window (ten segments by RFC 6928) waits for no ACK.
--transport=newreno
--tolerance_usecs=1000
--all_packets
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>
  +.1 < . 1:1(0) ack 1 win 1000
   +0 accept(3, ..., ...) = 4

   +0 write(4, ..., 12000) = 12000
   +0 > P. 1:10001(10000) ack 1
  +.1 < . 1:1(0) ack 10001 win 1000
   +0 > P. 10001:12001(2000) ack 1
"""
CORE: dict[str, Toy] = {
    "a metric": Toy(
        insertions={
            f"{ROUTING}/metric.rs": [
                (
                    "        /// The weight of each link, as the operator sets it (RFC 2328, C.3).\n"
                    '        "weight" => Weight,\n',
                    '        /// Two per link.\n        "toy" => Toy,\n',
                ),
                (
                    "        /// of seconds and nepers, so that 10 ms weigh as much as a loss of 1 "
                    "%; in steps of "
                    '1e-12, to the nearest.\n        "smm" => Smm,\n',
                    '        /// Two per link.\n        "toy" => Toy,\n',
                ),
                (
                    "            Self::Smm => MetricKind::Additive(AdditiveMetric::Smm),\n",
                    "            Self::Toy => MetricKind::Additive(AdditiveMetric::Toy),\n",
                ),
                (
                    "            AdditiveMetric::Smm => Self::Smm,\n",
                    "            AdditiveMetric::Toy => Self::Toy,\n",
                ),
                ("            Self::Hops => 1,\n", "            Self::Toy => 2,\n"),
            ],
            "python/anabranch/routing/path_metrics.py": [
                (
                    "_ALL: Final = (\n",
                    '    PathMetric("toy", "hops", "twice the number of links", lambda path: 2.0 * '
                    "path.hops),\n",
                )
            ],
            "docs/routing.md": [
                (
                    "| `metric` | of a path | first | sum over links | source |\n|---|---|---|---|---|\n",
                    "| `toy` | twice the number of links | least | yes | ours |\n",
                )
            ],
        },
        tests=(("anabranch-routing", "metric"),),
        run="""
from anabranch.routing.path_metrics import PATH_METRICS
result = scenario({"routing.metric": "toy"}).run()
assert result.flows["goodput_mbps"].min() > 0.9, result.flows
path = scenario({"routing.metric": "toy"}).routes().pairs[0].paths[0]
assert PATH_METRICS["toy"].of(path) == 2 * path.hops, path
""",
    ),
    "a random variate": Toy(
        insertions={
            f"{ENGINE}/variate.rs": [
                (
                    '        "constant" => Constant {\n            /// The value.\n'
                    "            value: f64,\n        },\n",
                    '        /// Either of two values.\n        "two-point" => TwoPoint {\n'
                    "            /// One.\n"
                    "            low: f64,\n            /// The other.\n            high: f64,\n        },\n",
                ),
                ("enum Form {\n    Constant(f64),\n", "    TwoPoint { low: f64, high: f64 },\n"),
                (
                    "            Variate::Constant { value } => Form::Constant(non_negative("
                    '"constant", "value", *value)?),\n',
                    "            Variate::TwoPoint { low, high } => Form::TwoPoint {\n"
                    '                low: non_negative("two-point", "low", *low)?,\n'
                    '                high: non_negative("two-point", "high", *high)?,\n'
                    "            },\n",
                ),
                (
                    "            Form::Constant(value) => *value,\n",
                    "            Form::TwoPoint { low, high } => if stream.uniform() < 0.5 { *low } "
                    "else { *high },\n",
                ),
            ],
            f"{SCENARIO}/variate.rs": [
                (
                    '        /// Always the same.\n        distribution is "constant";\n}\n',
                    "crate::table! {\n    /// Either of two values, both equally likely.\n"
                    "    pub struct TwoPoint<Q: Unit> {\n        /// One.\n        low: Q;\n"
                    "        /// The other.\n        high: Q;\n    }\n    tagged\n"
                    '        /// Either of two values.\n        distribution is "two-point";\n}\n',
                ),
                ('    "constant" => Constant,\n', '    "two-point" => TwoPoint,\n'),
                (
                    "                Variate::Constant { value: base(*value) }\n            }\n",
                    "            Self::TwoPoint(of) => {\n"
                    "                Variate::TwoPoint { low: base(of.low), high: base(of.high) }\n"
                    "            }\n",
                ),
                (
                    "            Variate::Constant { value } => value,\n",
                    "            Variate::TwoPoint { low, high } => (low + high) / 2.0,\n",
                ),
            ],
            f"{SCENARIO}/described.rs": [
                ("use crate::variate::{", "TwoPoint, "),
                ("        Constant<Q>,\n", "        TwoPoint<Q>,\n"),
            ],
            "python/anabranch/scenario/variate.py": [
                (
                    '            case {"distribution": "constant", "value": value}:\n'
                    "                mean = value\n",
                    '            case {"distribution": "two-point", "low": low, "high": high}:\n'
                    "                mean = (low + high) / 2\n",
                )
            ],
            "docs/generate/tables.py": [('        ("Constant",', ' "TwoPoint",')],
            "docs/scenario.md": [("Variates: ", "`two-point` (`low`, `high`), ")],
            "docs/generate/examples.py": [
                (
                    '    "constant": \'{ distribution = "constant", value = "5 ms" }\',\n',
                    '    "two-point": \'{ distribution = "two-point", low = "1 ms", high = "3 ms" }\',\n',
                )
            ],
        },
        tests=(("anabranch-engine", "variate"), ("anabranch-scenario", "setup::draws")),
        run="""
start = '{ distribution = "two-point", low = "100 ms", high = "300 ms" }'
flows = scenario({"traffic[0].flows": "50", "traffic[0].start": start}).run().flows
assert set(flows["start_s"].round(3)) == {0.1, 0.3}, flows
""",
    ),
    "an event of the log": Toy(
        insertions={
            f"{TRANSPORT}/log.rs": [
                (
                    "    /// The handshake is done.\n    Established,\n",
                    "    /// A toy, right behind it.\n    Toyed,\n",
                ),
                (
                    '            Self::Established => "established",\n',
                    '            Self::Toyed => "toyed",\n',
                ),
            ],
            f"{TRANSPORT}/tcp/sender/mod.rs": [
                (
                    "        self.record(now, Decision::Established);\n",
                    "        self.record(now, Decision::Toyed);\n",
                )
            ],
            "python/anabranch/results/event_log.py": [
                (
                    '    "closed": ("connectivity:connection_closed", {"trigger": pl.lit("clean")}),\n',
                    '    "toyed": ("anabranch:toyed", {}),\n',
                )
            ],
            "docs/log.md": [
                ("| `established` | | the handshake is done |\n", "| `toyed` | | right behind it |\n")
            ],
        },
        run="""
log = scenario({"run.log": '"*"'}).run().tables["log"]
assert log.filter(log["event"] == "toyed").height == log["flow"].n_unique(), log
""",
    ),
    "an application of the SDN controller": Toy(
        files={f"{ENGINE}/control/applications/toy.rs": APPLICATION},
        insertions={
            f"{ENGINE}/control/applications/mod.rs": [
                ("mod tcpbp;\n", "mod toy;\n"),
                (
                    "pub use tcpbp::{DelaySource, TcpbpSetup};\n",
                    "use toy::ToyApplication;\npub use toy::ToyApplicationParameters;\n",
                ),
                ('    "window-clamp" => WindowClamp(WindowClamp),\n', '    "toy" => Toy(ToyApplication),\n'),
            ],
            "docs/sdn.md": [
                (
                    "| `application` | does | parameters, with their defaults |\n|---|---|---|\n",
                    "| `toy` | entries for each new flow | |\n",
                )
            ],
        },
        tests=(("anabranch-engine", "control"),),
        run="""
import anabranch
fields = {"controller.application": "toy", "run.duration": "1 s", "traffic[0].transport": "linux-cubic"}
sdn = anabranch.Scenario.load("examples/sdn_incast.toml", fields)
assert sdn.run().flows["delivered_bytes"].sum() > 0
""",
    ),
    "a field of the scenario": Toy(
        insertions={
            f"{SCENARIO}/run.rs": [
                (
                    "        sample_interval: Span = Span::from_ms(100), above(Span::ZERO);\n",
                    "        /// When the first row of the series is taken; left out: after a sample "
                    "interval.\n"
                    "        first_sample: Option<Span>;\n",
                )
            ],
            f"{SCENARIO}/setup/resolve.rs": [
                (
                    "            interval: wants_series.then_some(run.sample_interval),\n",
                    "            first: run.first_sample,\n",
                )
            ],
            f"{ENGINE}/setup.rs": [
                (
                    "    /// Sampling interval of the series; `None` for no series.\n"
                    "    pub interval: Option<Span>,\n",
                    "    /// When the first sample is taken; `None` for after an interval.\n"
                    "    #[serde(default)]\n"
                    "    pub first: Option<Span>,\n",
                )
            ],
            f"{ENGINE}/check.rs": [
                (
                    '            return Err(error("probes.interval", "must be above zero").into());\n'
                    "        }\n",
                    "        if self.probes.first == Some(Span::ZERO) {\n"
                    '            return Err(error("probes.first", "must be above zero").into());\n'
                    "        }\n",
                )
            ],
            f"{ENGINE}/simulation/mod.rs": [
                (
                    "            schedule.set(numbering.probe(), Instant::ZERO + interval);\n",
                    "            if let Some(first) = self.setup.probes.first {\n"
                    "                schedule.set(numbering.probe(), Instant::ZERO + first);\n"
                    "            }\n",
                )
            ],
            "python/anabranch/setup/model.py": [
                (
                    '    """The quantities that are sampled over time."""\n\n    interval: int | None\n',
                    "    first: int | None\n",
                )
            ],
        },
        run="""
samples = scenario({"run.first_sample": "1 s"}).run().link_series
assert samples["time_s"].min() == 1, samples
""",
    ),
    "a script of an RFC": Toy(
        files={"crates/scripts/scripts/RFC5681/toy.pkt": SCRIPT},
        tests=(("anabranch-scripts", "--test=all"),),
    ),
}
"""By what they add."""
