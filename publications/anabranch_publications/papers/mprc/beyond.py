"""The future work that Chang 2024 names, and the question of when MPRC is the right choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from anabranch.report.study_figures import study_figure
from anabranch.study.model import Factor, Metric
from anabranch.study.result import MetricInfo, StudyResult
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.mprc.network import FAILING, PAYLOAD, scenario
from anabranch_publications.papers.mprc.studies import compare, median, summary, transports, variants
from anabranch_publications.papers.sql import with_metrics

METRICS = ("goodput_mbps", "spurious_percent", "retransmissions", "timeouts", "queue_max_packets")

LINUX: dict[str, tuple[float, float, float]] = {
    "linux-reno": (19.1, 19.0, 2.4),
    "linux-cubic": (19.1, 19.0, 2.4),
    "linux-bbr": (18.7, 18.7, 1.3),
}
"""Linux 6.18 over two paths of 10 Mbps, queues of 50 packets, packet by packet in turn, ACKs too: Mbps for
one-way delays of (10, 10), (10, 30) and (10, 100) ms."""

FOLLOWING = "following, k_diversity = 1.25"

RATIOS = (10, 15, 20, 30, 50, 70, 100)


def two_paths(spread: str = "packet-round-robin") -> dict[str, Any]:
    """Two hosts joined by two paths of 10 Mbps; the second one's delay is a factor."""
    return {
        "network": {
            "topology": "parallel",
            "parameters": {
                "paths": [{"capacity": "10 Mbps", "delay": delay} for delay in ("10 ms", "10 ms")]
            },
            "links": {"queue": "50 packets"},
        },
        "routing": {"scheme": "disjoint", "metric": "hops", "load_balancing": spread},
        "traffic": [
            {
                "from": "source",
                "to": "sink",
                "size": "unlimited",
                "transport": "newreno",
                "start": {"distribution": "uniform", "low": "0 ms", "high": "100 ms"},
            }
        ],
        "run": {"duration": "30 s", "flow_series": False, "link_series": False},
    }


def delay_ratio_random(context: Context) -> FigureResult:
    """The figure of :func:`delay_ratio` with packets spread at random."""
    return _by_delay(context, "delay-ratio-random", "Unequal delays: two paths, packets at random", "packet")


def delay_ratio(context: Context) -> FigureResult:
    """Goodput of every transport by the delay of the second path: where each of them breaks."""
    page = _by_delay(
        context, "delay-ratio", "Unequal delays: two paths, packet by packet in turn", "packet-round-robin"
    )
    return replace(page, findings=() if context.quick else _against_linux(context))


def _by_delay(context: Context, key: str, title: str, how: str) -> FigureResult:
    result = _delays(context, key, how)
    return FigureResult(
        key,
        title,
        (),
        {"runs": result.runs},
        {metric: study_figure(result, metric) for metric in ("goodput_mbps", "spurious_percent")},
        {
            f"Median (and range) over {result.replications} seeds": summary(
                result, ("goodput_mbps", "spurious_percent")
            )
        },
        "Two paths of 10 Mbps with queues of 50 packets, the first of 10 ms; ACKs take both paths, too.",
    )


def _delays(context: Context, name: str, how: str) -> StudyResult:
    delays = (10, 30, 100) if context.quick else RATIOS
    factor = Factor(
        field="network.parameters.paths[1].delay",
        label="delay of the second path",
        levels=[f"{delay} ms" for delay in delays],
    )
    return compare(
        context, name, "Two paths, the first of 10 ms", two_paths(how), [factor, transports(context)]
    )


LONG_S = 180
"""Of the comparison with Linux: at 100 ms a flow is in one of two states for half a minute at a time."""


def _against_linux(context: Context) -> tuple[Finding, ...]:
    base = two_paths("packet-round-robin")
    base["run"]["duration"] = f"{LONG_S} s"
    delays = Factor(
        field="network.parameters.paths[1].delay",
        label="delay of the second path",
        levels=["10 ms", "30 ms", "100 ms"],
    )
    presets = Factor(field="traffic[0].transport", label="transport", levels=list(LINUX))
    result = compare(context, "delay-ratio-long", f"Two paths, {LONG_S} s", base, [delays, presets])
    column = result.factors[0].name
    findings = []
    for transport, printed in LINUX.items():
        for delay, linux in zip((10.0, 30.0, 100.0), printed, strict=True):
            ours = median(result, "goodput_mbps", transport=transport, **{column: delay})
            # The regime is what can be compared: it carries the ratio, or it fails.
            regime = ours >= 15 if linux >= 15 else ours < 10
            findings.append(
                Finding(
                    f"{transport}, Linux 6.18 as the reference, (10, {delay:g}) ms, {LONG_S} s: are both "
                    "paths filled",
                    f"{linux} Mbps",
                    f"{ours:.2f} Mbps",
                    regime,
                    "15 Mbps or more where Linux has that, below 10 where it has less",
                    "bound",
                    ratio=ours / linux,
                )
            )
    return tuple(findings)


def spread(context: Context) -> FigureResult:
    """By flow, by flowlet and packet by packet over the two disjoint paths of Abilene."""
    spreads = variants(
        "spread",
        {
            "flow": {"routing.load_balancing": "flow"},
            "flowlet of 20 ms": {"routing.load_balancing": {"algorithm": "flowlet", "gap": "20 ms"}},
            "packet": {"routing.load_balancing": "packet"},
            "packet in turn": {"routing.load_balancing": "packet-round-robin"},
        },
    )
    result = compare(
        context,
        "spread",
        "Abilene, disjoint paths",
        scenario("Abilene", "disjoint"),
        [spreads, transports(context)],
    )
    return _page("spread", "Flow, flowlet and packet spread", result)


def failure(context: Context) -> FigureResult:
    """A link of the first path fails at 10 s and is back at 20 s; so does a node in its middle."""
    down = [
        {"at": "10 s", "link": list(FAILING), "state": "down"},
        {"at": "20 s", "link": list(FAILING), "state": "up"},
    ]
    node = [
        {"at": "10 s", "node": "Kansas City", "state": "down"},
        {"at": "20 s", "node": "Kansas City", "state": "up"},
    ]
    base = scenario("Abilene", "disjoint")
    base["event"] = down
    what = variants("what fails", {"link": {"event": down}, "node": {"event": node}})
    result = compare(
        context,
        "failure",
        "Abilene, disjoint paths, a failure from 10 to 20 s",
        base,
        [what, transports(context)],
    )
    return _page("failure", "Link and node failure during a transfer", result)


def background(context: Context) -> FigureResult:
    """Short CUBIC transfers arrive at random on both paths, at 10 and 30 % of a link."""
    base = scenario("Abilene", "disjoint")
    for number, (sender, receiver) in enumerate((("Denver", "Indianapolis"), ("Los Angeles", "Houston"))):
        base["traffic"].append(
            {
                "name": f"background{number}",
                "from": sender,
                "to": receiver,
                "flows": "unlimited",
                "size": {"distribution": "log-normal", "mean": "100 kB", "standard_deviation": "200 kB"},
                "inter_arrival": {"distribution": "exponential", "mean": "800 ms"},
                "transport": "cubic",
            }
        )
    gaps = {"10 %": "800 ms", "30 %": "267 ms"}
    load = variants(
        "background",
        {
            name: {
                f"traffic[{n}].inter_arrival": {"distribution": "exponential", "mean": gap} for n in (1, 2)
            }
            for name, gap in gaps.items()
        },
    )
    of_background = "name = 'traffic[0].0'"
    title = "Abilene, disjoint paths, background traffic"
    result = with_metrics(
        compare(context, "background", title, base, [load, transports(context)]),
        {
            MetricInfo("transfer_mbps", "goodput of the transfer (Mbps)"): (
                f"select run, any_value(goodput_mbps) from flows where {of_background} group by run"  # noqa: S608 - no input
            ),
            MetricInfo("transfer_spurious_percent", "its spurious retransmissions (% of segments)"): (
                "select run, any_value(100.0 * spurious_retransmissions / segments_sent) from flows "  # noqa: S608 - no input
                f"where {of_background} group by run"
            ),
            MetricInfo(
                "background_completion_s", "mean completion time of the background, of flows done (s)"
            ): ("select run, avg(completion_s) from flows where name like 'background%' group by run"),
        },
    )
    shown = ("transfer_mbps", "background_completion_s", "transfer_spurious_percent", "queue_max_packets")
    return _page("background", "Background traffic", result, shown)


def coexistence(context: Context) -> FigureResult:
    """MPRC beside another transport on one bottleneck of 20 Mbps with 20 ms and 100 packets."""
    base: dict[str, Any] = {
        "network": {
            "topology": "dumbbell",
            "parameters": {
                "hosts": 2,
                "bottleneck_capacity": "20 Mbps",
                "bottleneck_delay": "20 ms",
                "access_capacity": "1 Gbps",
                "access_delay": "100 us",
            },
            "links": {"queue": "100 packets"},
        },
        "traffic": [
            {
                "name": name,
                "from": f"left{n}",
                "to": f"right{n}",
                "size": "unlimited",
                "transport": transport,
                "start": {"distribution": "uniform", "low": "0 ms", "high": "100 ms"},
            }
            for n, (name, transport) in enumerate((("mprc", "mprc"), ("other", "cubic")), start=1)
        ],
        "run": {"duration": "60 s", "flow_series": False, "link_series": False},
    }
    others = ["mprc", "newreno", "cubic", "bbr", "linux-cubic"]
    factor = Factor(field="traffic[1].transport", label="other transport", levels=others)
    share = [
        Metric(
            name=f"{name}_mbps",
            label=f"goodput of {label} (Mbps)",
            column="goodput_mbps",
            where={"name": f"{name}.0"},
        )
        for name, label in (("mprc", "MPRC"), ("other", "the other"))
    ]
    jain = Metric(name="jain_index", label="Jain index", table="summary", column="jain_index")
    result = compare(context, "coexistence", "MPRC beside another transport", base, [factor], [*share, jain])
    return _page(
        "coexistence",
        "Coexistence on one bottleneck",
        result,
        ("mprc_mbps", "other_mbps", "jain_index", "queue_max_packets", "spurious_percent"),
    )


def unequal_capacities(context: Context) -> FigureResult:
    """Two paths of 15 and 5 Mbps with 10 and 20 ms, in proportion to what they carry and in equal shares."""
    base = two_paths("packet")
    base["network"]["parameters"]["paths"] = [
        {"capacity": "15 Mbps", "delay": "10 ms"},
        {"capacity": "5 Mbps", "delay": "20 ms"},
    ]
    shares = variants(
        "shares",
        {
            "by capacity (max-flow)": {"routing.scheme": "max-flow"},
            "equal (disjoint)": {"routing.scheme": "disjoint"},
        },
    )
    result = compare(context, "capacities", "Two paths of 15 and 5 Mbps", base, [shares, transports(context)])
    usable = 20 * PAYLOAD
    ours = median(result, "goodput_mbps", shares="by capacity (max-flow)", transport="mprc")
    finding = Finding(
        "MPRC with shares by capacity",
        "not in the thesis; 20 Mbps to be had",
        f"{ours:.2f} Mbps",
        ours >= 0.85 * usable,
        "0.85 of what the headers leave, or more",
        "bound",
    )
    page = _page("capacities", "Unequal capacities", result)
    return replace(page, findings=(finding,))


def k_and_diversity(context: Context) -> FigureResult:
    """Chapter 4: "K varies with RTT diversity". A packet of eleven takes a path ten times as long."""
    base = two_paths("packet")
    base["network"]["parameters"]["paths"] = [
        {"capacity": "100 Mbps", "delay": "10 ms"},
        {"capacity": "10 Mbps", "delay": "100 ms"},
    ]
    base["routing"]["scheme"] = "max-flow"
    base["traffic"][0]["transport"] = "mprc"
    detection = {"algorithm": "fastrto"}
    choices = variants(
        "K",
        {
            "fixed, 4": {"transport": {"mprc": {"loss_detection": detection}}},
            FOLLOWING: {"transport": {"mprc": {"loss_detection": {**detection, "k_diversity": 1.25}}}},
        },
    )
    result = compare(context, "diversity", "A fast path of 100 Mbps, a slow one of 10 Mbps", base, [choices])
    fixed, following = (median(result, "goodput_mbps", k=name) for name in ("fixed, 4", FOLLOWING))
    finding = Finding(
        "goodput with a K that follows RTT diversity, over that with K = 4",
        "flexibility in accommodating the RTT diversity; how K varies is not printed",
        f"{following / fixed:.2f} ({following:.1f} and {fixed:.1f} of 110 Mbps)",
        following > fixed,
        "more than 1",
        "question",
    )
    page = _page("diversity", "A K that follows RTT diversity", result)
    return replace(page, findings=(finding,))


def _page(key: str, title: str, result: StudyResult, metrics: tuple[str, ...] = METRICS) -> FigureResult:
    """A study with nothing published beside it."""
    tables: dict[str, pl.DataFrame] = {"runs": result.runs}
    return FigureResult(
        key,
        title,
        (),
        tables,
        {metric: study_figure(result, metric) for metric in metrics[:2]},
        {f"Median (and range) over {result.replications} seeds": summary(result, metrics)},
        "Future work of the thesis: there is nothing published to compare with.",
    )
