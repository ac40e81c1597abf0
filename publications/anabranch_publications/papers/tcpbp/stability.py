"""Routes by measured links: the thesis's own procedure, and route changes against throughput lost."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import networkx as nx
import numpy as np
import polars as pl
from numpy.typing import NDArray

from anabranch.report.study_figures import study_figure
from anabranch.report.subflow_paths import nodes_of
from anabranch.study.model import Factor, Level, Metric, Output, Study
from anabranch.study.result import MetricInfo, StudyResult
from anabranch_publications.papers.findings import Finding, Prediction, Tolerance, number, predicts
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.sql import query
from anabranch_publications.papers.tcpbp.network import LINKS, PAIRS, TRANSPORT, network
from anabranch_publications.papers.tcpbp.tables import LINKS_VARY, PUBLISHED_INVERSE, PUBLISHED_ROUTE

Pair = tuple[str, str]
Floats = NDArray[np.float64]

VARIATION: Final = 0.05
"""Delays and losses vary by so much (section 4.3)."""
INTERVAL_S: Final = 10
"""Of measurements (section 4.3), and here of changes, too."""
WARM_UP_S: Final = 60
"""Left out: the first estimates, and the first routes by them."""

SAMPLES: Final = 3
"""Of an estimate (section 4.3)."""

GREEDY: Final = "greedy, SMA of 3"
STRATEGIES: Final[dict[str, dict[str, Any]]] = {
    GREEDY: {},
    "threshold 0.05": {"threshold": 0.05},
    "threshold 0.1": {"threshold": 0.1},
    "threshold 0.2": {"threshold": 0.2},
    "hold 60 s": {"hold_time": "60 s"},
    "hold 300 s": {"hold_time": "300 s"},
    "SMA of 1": {"estimator": {"algorithm": "sma", "window": 1}},
    "SMA of 6": {"estimator": {"algorithm": "sma", "window": 6}},
    "SMA of 12": {"estimator": {"algorithm": "sma", "window": 12}},
    "EWMA of 0.5": {"estimator": {"algorithm": "ewma", "weight": 0.5}},
    "EWMA of 0.1": {"estimator": {"algorithm": "ewma", "weight": 0.1}},
    "HTE of 3": {"estimator": {"algorithm": "hte", "window": 3}},
    "HTE of 12": {"estimator": {"algorithm": "hte", "window": 12}},
    "SMA of 12, threshold 0.1": {"estimator": {"algorithm": "sma", "window": 12}, "threshold": 0.1},
}
"""Parameters of the application, which is the thesis's where nothing is said."""
_QUICK: Final = (GREEDY, "threshold 0.1", "hold 60 s", "SMA of 12", "EWMA of 0.1", "HTE of 3")

_CONTROLLER: Final[dict[str, Any]] = {
    "application": {"algorithm": "tcpbp"},
    "links": {"capacity": "1 Gbps", "delay": "1 ms"},
}

MOVES = Metric(
    name="moves",
    label="moves of all flows",
    table="flow_routes",
    column="route_changes",
    statistic="sum",
)


def _background(rate: str, transport: str) -> dict[str, Any]:
    """Traffic between all neighbours at a constant rate, which stays on their link."""
    return {
        "name": "background",
        "from": "*",
        "pairs": "neighbours",
        "application": {"kind": "constant-rate", "message": "1460 B", "rate": rate},
        "transport": transport,
    }


@dataclass(frozen=True, slots=True)
class Weather:
    """Delays and losses of all links over time: new ones every interval."""

    delays_s: Floats
    """By interval and link, in the order of :data:`LINKS`."""
    losses: Floats

    def events(self) -> list[dict[str, Any]]:
        """The scenario's events."""
        return [
            {
                "at": f"{interval * INTERVAL_S} s",
                "link": list(ends),
                "delay": f"{round(self.delays_s[interval, link] * 1e9)} ns",
                "loss": float(self.losses[interval, link]),
            }
            for interval in range(len(self.delays_s))
            for link, ends in enumerate(LINKS)
        ]


def weather(intervals: int, seed: int = 1) -> Weather:
    """Each delay and loss uniform within 5 % of the printed value, drawn anew every interval."""
    draw = np.random.default_rng(seed)
    nominal = np.array(list(LINKS.values()))
    delays, losses = draw.uniform(1 - VARIATION, 1 + VARIATION, (2, intervals, len(LINKS)))
    return Weather(delays * nominal[:, 0] / 1e3, losses * nominal[:, 1])


class Truth:
    """d sqrt(p) of every loop-free path of the 45 pairs at every interval, by trying them all."""

    def __init__(self, given: Weather) -> None:
        graph = nx.Graph(list(LINKS))
        column = {frozenset(ends): number for number, ends in enumerate(LINKS)}
        self._value: list[dict[tuple[str, ...], float]] = []
        self._best: list[dict[Pair, float]] = []
        self._given = given
        by_pair = [[tuple(path) for path in nx.all_simple_paths(graph, a, b)] for a, b in PAIRS]
        paths = [path for paths_of_pair in by_pair for path in paths_of_pair]
        self._starts = np.cumsum([0, *(len(paths_of_pair) for paths_of_pair in by_pair)])
        self._crossed = np.zeros((len(paths), len(LINKS)))
        for row, path in enumerate(paths):
            self._crossed[row, [column[frozenset(ends)] for ends in pairwise(path)]] = 1
        for delays, losses in zip(given.delays_s, given.losses, strict=True):
            f = self._f(delays, losses)
            best: dict[Pair, float] = defaultdict(lambda: math.inf)
            for path, value in zip(paths, f, strict=True):
                best[path[0], path[-1]] = min(best[path[0], path[-1]], float(value))
            self._value.append(dict(zip(paths, f.tolist(), strict=True)))
            self._best.append(dict(best))

    def _f(self, delays_s: Floats, losses: Floats) -> Floats:
        """Of every path, with these delays and losses of the links."""
        crossed = self._crossed
        return np.asarray((crossed @ delays_s) * np.sqrt(-np.expm1(crossed @ np.log1p(-losses))))

    def changes(self, packets: float, seed: int) -> int:
        """How often the best path of a pair changes after the warm-up, there and back, by noisy estimates.

        A sample of a link counts so many packets, each lost with its probability. An estimate is the mean of
        three samples, of delays in steps of 0.1 ms and losses in steps of 0.01 % (section 3.4.1).
        """
        draw = np.random.default_rng(seed)
        moves = 0
        for _ in ("there", "back"):
            lost = draw.binomial(round(packets), self._given.losses) / packets
            before: NDArray[np.intp] | None = None
            for interval in range(WARM_UP_S // INTERVAL_S - 1, len(lost)):
                window = slice(interval - SAMPLES + 1, interval + 1)
                delays = np.round(self._given.delays_s[window].mean(axis=0) / 1e-4) * 1e-4
                f = self._f(delays, np.round(lost[window].mean(axis=0), 4))
                best = np.array([start + f[start:end].argmin() for start, end in pairwise(self._starts)])
                if before is not None:
                    moves += int((best != before).sum())
                before = best
        return moves

    def lost(self, interval: int, path: tuple[str, ...]) -> float:
        """Share of the best path's throughput, as the square-root law has it, that a path falls short of."""
        return 1 - self._best[interval][path[0], path[-1]] / self._value[interval][path]


@predicts
def noisy_estimates(given: Weather, packets: float) -> Prediction:
    """Changes of a flow per hour, if every route is the best by estimates that are as noisy as counts are.

    Args:
        given: delays and losses of the links.
        packets: that a link carries in a sample.
    """
    truth = Truth(given)
    hours = (len(given.losses) * INTERVAL_S - WARM_UP_S) / 3600 * len(PAIRS)
    rates = [truth.changes(packets, seed) / hours for seed in range(10)]
    return Prediction(
        statistics.fmean(rates),
        3 * statistics.stdev(rates),
        f"estimates of a loss from some {packets:.0f} packets a sample are noisier than the links change, "
        "and every change of the best path by them changes routes; three standard deviations over ten draws",
    )


def route_stability(context: Context) -> FigureResult:
    """Route changes per hour and throughput lost, for thresholds, hold times, estimators and windows."""
    duration_s = 180 if context.quick else 600
    given = weather(duration_s // INTERVAL_S)
    names = _QUICK if context.quick else tuple(STRATEGIES)
    result = context.study("stability", lambda: _stability_study(given, duration_s, names))
    lost = _lost(result, Truth(given), duration_s)
    hours = (duration_s - WARM_UP_S) / 3600 * len(PAIRS)
    changes = {
        int(run): int(moves)
        for run, moves in query(
            result,
            "select c.run, count(*) as moves from route_changes c "  # noqa: S608 - no input
            "join flows f on c.run = f.run and c.flow = f.flow "
            f"where f.name like 'flow%' and c.time_s > {WARM_UP_S} group by c.run",
        ).iter_rows()
    }
    packets = query(
        result,
        "select avg(rate) as rate from "  # noqa: S608 - no input
        f"(select max(packets) / max(time_s) * {INTERVAL_S} as rate from link_estimates group by run, link)",
    )["rate"].item()
    table = pl.DataFrame(
        [
            {
                "strategy": str(name),
                "changes_per_hour": changes.get(run, 0) / hours,
                "throughput_lost_percent": 100 * lost[run],
            }
            for run, name in result.runs.select("run", pl.col("strategy").cast(pl.String)).iter_rows()
        ]
    )
    return FigureResult(
        "stability",
        "Route stability under changing links and noisy estimates",
        _stability_findings(table, noisy_estimates(given, float(packets))),
        {"stability": table},
        {"changes": study_figure(_with_changes(result, changes, hours), "changes_per_hour")},
        {
            "Route changes of a flow per hour, and throughput lost to the best path": table.with_columns(
                pl.col(pl.Float64).round(2)
            )
        },
        note=_stability_note(table),
    )


def _stability_study(given: Weather, duration_s: int, names: tuple[str, ...]) -> Study:
    scenario: dict[str, Any] = {
        "network": network(),
        "controller": {**_CONTROLLER, "application": {"algorithm": "tcpbp", "search": "exact"}},
        "transport": dict(TRANSPORT),
        "traffic": [
            _background("3 Mbps", "tcpbp-cubic"),
            {
                "name": "flow",
                "from": [origin for origin, _ in PAIRS],
                "to": [to for _, to in PAIRS],
                "pairs": "in-order",
                "application": {"kind": "constant-rate", "message": "1460 B", "rate": "100 kbps"},
                "transport": "tcpbp-cubic",
            },
        ],
        "event": given.events(),
        "run": {"duration": f"{duration_s} s", "flow_series": False, "link_series": False},
    }
    application = scenario["controller"]["application"]
    levels = [
        Level(label=name, settings={"controller.application": {**application, **STRATEGIES[name]}})
        for name in names
    ]
    return Study(
        title="Vilela 2022: route stability",
        scenario=scenario,
        factors=[Factor(label="strategy", level=levels)],
        metrics=[MOVES],
        keep="tables",
        output=Output(figures=[]),
    )


def _with_changes(result: StudyResult, changes: dict[int, int], hours: float) -> StudyResult:
    """The same result with a metric that figures can show."""
    runs = result.runs["run"].to_list()
    per_hour = pl.DataFrame({"run": runs, "changes": [changes.get(run, 0) / hours for run in runs]})
    return result.with_metrics({MetricInfo("changes_per_hour", "route changes of a flow per hour"): per_hour})


def _lost(result: StudyResult, truth: Truth, duration_s: int) -> dict[int, float]:
    """Throughput lost by run, mean over flows and intervals after the warm-up.

    In the middle of each interval, when the routes that follow a measurement are in force.
    """
    owned = "join flows f on r.run = f.run and r.flow = f.flow where f.name like 'flow%'"
    moves: dict[tuple[int, int], list[tuple[float, str]]] = defaultdict(list)
    for run, flow, time_s, path in query(
        result,
        f"select r.run, r.flow, r.time_s, r.data_path from route_changes r {owned} order by all",  # noqa: S608 - no input
    ).iter_rows():
        moves[run, flow].append((time_s, path))
    # A flow that has never moved is on its last path; the first path of the others is over by then.
    last = query(result, f"select r.run, r.flow, r.data_path from flow_routes r {owned} order by all")  # noqa: S608 - no input
    lost: dict[int, list[float]] = defaultdict(list)
    for run, flow, path in last.iter_rows():
        for interval in range(WARM_UP_S // INTERVAL_S, duration_s // INTERVAL_S):
            before = [to for at, to in moves[run, flow] if at <= (interval + 0.5) * INTERVAL_S]
            after = [to for at, to in moves[run, flow] if at > (interval + 0.5) * INTERVAL_S]
            if before or not after:
                nodes = nodes_of(before[-1] if before else path)
                lost[run].append(truth.lost(interval, nodes))
    return {run: math.fsum(values) / len(values) for run, values in lost.items()}


def _of(table: pl.DataFrame, strategy: str, column: str) -> float:
    return float(table.filter(pl.col("strategy") == strategy)[column].item())


def _stability_findings(table: pl.DataFrame, noise: Prediction) -> tuple[Finding, ...]:
    greedy, steady = (_of(table, name, "changes_per_hour") for name in (GREEDY, "threshold 0.1"))
    return (
        number(
            "greedy re-convergence with noisy estimates, changes of a flow per hour",
            0,
            greedy,
            unit="per hour",
            digits=1,
            prediction=noise,
        ),
        Finding(
            "a threshold avoids unnecessary re-convergences",
            "may be desirable (iv)",
            f"{steady:.1f} changes per hour with a threshold of 0.1",
            steady < 0.5 * greedy,
            "less than half of those without",
            "question",
        ),
    )


def _stability_note(table: pl.DataFrame) -> str:
    parts = [
        f"{name}: {_of(table, name, 'changes_per_hour'):.1f} changes, "
        f"{_of(table, name, 'throughput_lost_percent'):.2f} % lost"
        for name in (GREEDY, "threshold 0.1", "hold 60 s", "SMA of 12", "EWMA of 0.1", "HTE of 3")
    ]
    best = table.sort("throughput_lost_percent")["strategy"][0]
    return (
        "Each delay and loss is drawn anew every 10 s within 5 % of its printed value. Neighbours send 3 "
        "Mbps to each "
        "other, some 2600 packets for each sample, so that estimates of a loss of 1 % are off by 20 %: the "
        "noise of "
        "measuring is more than the change measured. Lost is what the flow's path lacks of the best path's "
        "1 / f at "
        f"that time, over {len(PAIRS)} flows after the first minute. {'; '.join(parts)}. Least is lost "
        f"with {best}."
    )


def measured_links(context: Context) -> FigureResult:
    """50 Mbps between all neighbours until 120 s, then ten flows 1 => 10: routes and 1/(RTT sqrt(p))."""
    until_s = 40 if context.quick else 120

    result = context.study("measured", lambda: _measured_study(until_s, 1 if context.quick else 3))
    estimates = query(
        result,
        "select e.run, l.name, e.loss, e.delay_ms from link_estimates e "  # noqa: S608 - no input
        f"join links l on e.run = l.run and e.link = l.link where e.time_s between {until_s - 5} and "
        f"{until_s + 5} "
        "order by all",
    )
    chosen = query(
        result,
        "select r.run, r.data_path, r.ack_path, count(*) as flows from flow_routes r join flows f "
        "on r.run = f.run and r.flow = f.flow where f.name like 'flow%' group by all order by all",
    )
    rows = [
        {
            "run": run,
            **{
                name: _inverse(estimates.filter(pl.col("run") == run), path)
                for name, path in PUBLISHED_ROUTE.items()
            },
        }
        for run in result.runs["run"].to_list()
    ]
    table = pl.DataFrame(rows)
    means = {name: float(table[name].to_numpy().mean()) for name in PUBLISHED_ROUTE}
    findings = [
        number(
            f"{name} ({'-'.join(PUBLISHED_ROUTE[name])}): measured 1 / (RTT sqrt(p))",
            published,
            means[name],
            unit="",
            digits=2,
            tolerance=Tolerance(0.05 * published, LINKS_VARY),
        )
        for name, published in PUBLISHED_INVERSE.items()
    ]
    wanted = "-".join(PUBLISHED_ROUTE["TCPBP"])
    taken = sorted({str(path).replace(" > ", "-") for path in chosen["data_path"].to_list()})
    findings.append(
        Finding("route of 1 => 10 by measured links", wanted, ", ".join(taken), taken == [wanted])
    )
    back = sorted({str(path).replace(" > ", "-") for path in chosen["ack_path"].to_list()})
    return FigureResult(
        "measured",
        "The thesis's procedure: measured links, and the route 1 => 10",
        tuple(findings),
        {"measured": table, "routes": chosen, "estimates": estimates},
        shown={
            "1 / (RTT sqrt(p)) by the estimates when the flows begin": table.with_columns(
                pl.col(pl.Float64).round(2)
            )
        },
        note=(
            "Samples of 10 s, means of three, delays in steps of 0.1 ms and losses of 0.01 %. "
            "Acknowledgments took "
            f"{' or '.join(back)}: the two best paths differ by less than 1 % in f, less than the noise of "
            "the "
            "estimates, so that either can come first."
        ),
    )


def _measured_study(until_s: int, replications: int) -> Study:
    """Background until a time, and then the flows, whose first routes are those by the estimates."""
    flows = {"name": "flow", "from": "1", "to": "10", "flows": 10, "transport": "tcpbp-cubic"}
    return Study(
        title="Vilela 2022: measured links",
        scenario={
            "network": network(),
            "controller": _CONTROLLER,
            "transport": dict(TRANSPORT),
            # BBR, because CUBIC would not reach 50 Mbps where 2 % are lost.
            "traffic": [
                {**_background("50 Mbps", "linux-bbr"), "stop": f"{until_s} s"},
                {**flows, "start": f"{until_s + 1} s"},
            ],
            "run": {"duration": f"{until_s + 5} s", "flow_series": False, "link_series": False},
        },
        metrics=[MOVES],
        replications=replications,
        keep="tables",
        output=Output(figures=[]),
    )


def _inverse(estimates: pl.DataFrame, path: tuple[str, ...]) -> float:
    """1 / (RTT sqrt(p)) of a path there and back, p of the round trip, from estimates of its links."""
    by_name = {
        name: (loss, delay) for name, loss, delay in estimates.select("name", "loss", "delay_ms").iter_rows()
    }
    links = [f"{a}->{b}" for ends in pairwise(path) for a, b in (ends, ends[::-1])]
    rtt_s = sum(by_name[link][1] for link in links) / 1e3
    return float(1 / (rtt_s * math.sqrt(1 - math.prod(1 - by_name[link][0] for link in links))))
