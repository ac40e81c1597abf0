"""Section 4.3 of Vilela 2022 on real switches: measured links, and the routes 1 => 10."""

from __future__ import annotations

import math
import statistics
from functools import cache
from itertools import pairwise
from typing import Any, Final

import networkx as nx
import numpy as np
import polars as pl
from numpy.typing import NDArray

from anabranch.results.result import Result
from anabranch_publications.papers.findings import Finding, Prediction, Tolerance, number, predicts
from anabranch_publications.papers.live_runs import LiveRuns, check_live
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.tcpbp.live.testbed import SCALED, controller, network_table
from anabranch_publications.papers.tcpbp.network import LINKS
from anabranch_publications.papers.tcpbp.tables import LINKS_VARY, PUBLISHED_INVERSE, PUBLISHED_ROUTE

Floats = NDArray[np.float64]

DELAY_MS: Final = 0.1
LOSS_PERCENT: Final = 0.05
"""How far estimates may be off."""
DRAWS: Final = 400
SAMPLE_INTERVAL: Final = "10 ms"
"""In which a link of the background has two packets."""


BACKGROUND: Final = {
    "name": "background",
    "from": "*",
    "pairs": "neighbours",
    # Three segments at once: one wake-up of all programs for three packets. A message that passes between two
    # readings at the very end is counted wrong: 3 of 7,000 packets are 0.043 %.
    "application": {"kind": "constant-rate", "message": "4344 B", "rate": "1 Mbps"},
    "inter_arrival": {"distribution": "exponential", "mean": "20 ms"},
    "transport": "linux-cubic",
}
"""What is counted: some 120 packets a second on each link, of which a third are acknowledgments. Twice as
many are more than two cores carry: Open vSwitch and hosts then come milliseconds late."""


def measuring(seed: int, duration_s: int, *, evenly: bool = False) -> dict[str, Any]:
    """Neighbours send to each other, and a flow 1 => 10 begins when all of that but five seconds is over.

    Args:
        seed: of the run.
        duration_s: of the run, of which estimates are means.
        evenly: whether losses are evenly spaced. A link then loses what was set, to one packet, and what an
            estimate is off is the estimator's.
    """
    application = {
        "algorithm": "tcpbp",
        # A round has 240. Each sample weighs the same: a loss in one of 50 packets would count for four.
        "sample_packets": 200,
        "estimator": {"algorithm": "sma", "window": duration_s // 2},
    }
    flow = {"name": "flow", "from": "1", "to": "10", "start": f"{duration_s - 5} s"}
    rate = {"kind": "constant-rate", "message": "1448 B", "rate": "300 kbps"}
    return {
        "network": network_table(evenly=evenly),
        "controller": controller(application, statistics_interval="2 s"),
        "traffic": [BACKGROUND, {**flow, "application": rate, "transport": "linux-cubic"}],
        # What a link has lost is to be known when the controller has begun and ended to count.
        "run": {
            "duration": f"{duration_s} s",
            "seed": seed,
            "flow_series": False,
            "link_series": True,
            "sample_interval": SAMPLE_INTERVAL,
        },
    }


def forwarding(metric: str) -> dict[str, Any]:
    """A flow 1 => 10 under a controller that goes by hops or by delay."""
    return {
        "network": network_table(),
        "controller": controller("forwarding", metric=metric),
        "traffic": [{"from": "1", "to": "10", "size": "100 kB", "transport": "linux-cubic", "start": "1 s"}],
        "run": {"duration": "4 s", "flow_series": False, "link_series": False},
    }


def _true(a: str, b: str) -> tuple[float, float]:
    """Delay in ms and loss of a link."""
    return LINKS[min((a, b), (b, a), key=lambda ends: int(ends[0]))]


def estimates(result: Result) -> pl.DataFrame:
    """The last estimate of each link beside what was set, and what the link lost of the packets counted."""
    last = result.tables["link_estimates"].group_by("link").agg(pl.all().sort_by("time_s").last())
    lost = last.select("link", "counted_from_s", "counted_to_s")
    for end in ("from", "to"):
        at = f"counted_{end}_s"
        drops = result.tables["link_series"].select(
            "link", pl.col("time_s").alias(at), pl.col("drops").alias(end)
        )
        lost = lost.sort(at).join_asof(
            drops.sort(at), on=at, by="link", strategy="backward", check_sortedness=False
        )
    # Counting begins before the first sample, when nothing is lost yet.
    dropped = pl.col("to") - pl.col("from").fill_null(0)
    last = last.join(lost.select("link", dropped.alias("dropped")), on="link")
    rows = []
    links = result.links.select("link", "from", "to")
    for row in links.join(last, on="link").sort("link").iter_rows(named=True):
        delay_ms, loss = _true(row["from"], row["to"])
        rows.append(
            {
                "link": f"{row['from']}-{row['to']}",
                "set_ms": delay_ms,
                "estimate_ms": row["delay_ms"],
                "set_percent": 100 * loss,
                "estimate_percent": None if row["loss"] is None else 100 * row["loss"],
                "counted_percent": 100 * row["lost"] / row["packets"] if row["packets"] else None,
                "realised_percent": 100 * row["dropped"] / row["packets"] if row["packets"] else None,
                "packets": row["packets"],
            }
        )
    return pl.DataFrame(rows)


Packets = tuple[tuple[str, int], ...]
"""How many packets an estimate of each link, such as ``1-3``, has counted."""


@cache
def drawn_losses(packets: Packets) -> Floats:
    """Losses that as many packets show, by draw and link, if each is lost as was set."""
    generator = np.random.default_rng(1)
    shares = [
        generator.binomial(count, _true(*link.split("-"))[1], DRAWS) / max(count, 1)
        for link, count in packets
    ]
    return np.array(shares, dtype=np.float64).T


def _set_losses(packets: Packets) -> Floats:
    return np.array([_true(*link.split("-"))[1] for link, _ in packets])


@predicts
def largest_draw(packets: Packets) -> Prediction:
    """How far the worst of all links is off, in percent, if packets are lost at random."""
    worst = 100 * np.abs(drawn_losses(packets) - _set_losses(packets)).max(axis=1)
    return Prediction(
        float(worst.mean()),
        3 * float(worst.std()),
        f"losses are draws: {statistics.fmean(count for _, count in packets):.0f} packets of a link show a "
        "loss of 2 % to that; the width is three standard deviations over the draws",
    )


@predicts
def drawn_inverse(packets: Packets, routing: str) -> Prediction:
    """1 / (RTT sqrt(p)) of the route of a routing, from losses that as many packets show."""
    path = PUBLISHED_ROUTE[routing]
    place = {link: number for number, (link, _) in enumerate(packets)}
    ways = [f"{a}-{b}" for ends in pairwise(path) for a, b in (ends, ends[::-1])]
    rtt_s = sum(_true(*hop.split("-"))[0] for hop in ways) / 1e3
    kept = np.prod(1 - drawn_losses(packets)[:, [place[hop] for hop in ways]], axis=1)
    values = 1 / (rtt_s * np.sqrt(1 - kept))
    return Prediction(
        float(np.median(values)),
        3 * float(values.std()),
        "delays as set, and losses as so many packets show them; three standard deviations over the draws",
    )


@cache
def _ways() -> list[tuple[str, ...]]:
    """All loop-free ways from 1 to 10."""
    graph = nx.Graph(list(LINKS))
    return [tuple(nodes) for nodes in nx.all_simple_paths(graph, "1", "10")]


def share_of_published(packets: Packets) -> float:
    """How often draws make 1-3-4-10 the path of least d sqrt(p)."""
    place = {link: number for number, (link, _) in enumerate(packets)}
    ways = _ways()
    on = np.zeros((len(ways), len(packets)))
    for row, nodes in enumerate(ways):
        for a, b in pairwise(nodes):
            on[row, place[f"{a}-{b}"]] = 1
    delays = on @ np.array([_true(*link.split("-"))[0] for link, _ in packets])
    losses = 1 - np.exp(np.log1p(-np.minimum(drawn_losses(packets), 0.5)) @ on.T)
    best = np.argmin(delays * np.sqrt(losses), axis=1)
    wanted = ways.index(PUBLISHED_ROUTE["TCPBP"])
    return float(np.mean(best == wanted))


def _inverse(table: pl.DataFrame, path: tuple[str, ...]) -> float:
    """1 / (RTT sqrt(p)) of a path there and back, p of the round trip, by estimates."""
    by_link = {row["link"]: row for row in table.iter_rows(named=True)}
    ways = [by_link[f"{a}-{b}"] for ends in pairwise(path) for a, b in (ends, ends[::-1])]
    rtt_s = sum(hop["estimate_ms"] for hop in ways) / 1e3
    return 1 / float(
        rtt_s * math.sqrt(1 - math.prod(1 - (hop["estimate_percent"] or 0) / 100 for hop in ways))
    )


def _route(result: Result) -> str:
    """The path of the data of the flow 1 => 10."""
    flow = result.flows.filter((pl.col("from") == "1") & (pl.col("to") == "10")).select("flow")
    (path,) = flow.join(result.tables["flow_routes"], on="flow")["data_path"].to_list()
    return str(path).replace(" > ", "-")


def links_and_routes(context: Context) -> FigureResult:
    """Section 4.3: delay and loss of each link by the controller, and the routes 1 => 10 by three metrics."""
    check_live()
    runs, duration_s = LiveRuns(), 22 if context.quick else 62
    seeds = (1,) if context.quick else (1, 2, 3)
    measured = [runs.run(measuring(seed, duration_s)) for seed in seeds]
    spaced = [runs.run(measuring(seed, duration_s, evenly=True)) for seed in seeds]
    tables = [estimates(result) for result in measured]
    packets = [tuple(table.select("link", "packets").iter_rows()) for table in tables]
    even_tables = [estimates(result) for result in spaced]
    findings = [*_estimates_findings(tables, packets), _even_finding(even_tables)]
    for name, published in PUBLISHED_INVERSE.items():
        findings.append(
            number(
                f"{name} ({'-'.join(PUBLISHED_ROUTE[name])}): measured 1 / (RTT sqrt(p)), median of "
                f"{len(seeds)} runs",
                published,
                statistics.median(_inverse(table, PUBLISHED_ROUTE[name]) for table in tables),
                unit="",
                digits=2,
                tolerance=Tolerance(0.05 * published, LINKS_VARY),
                prediction=drawn_inverse(packets[0], name),
            )
        )
    routes = {
        "hop count": [_route(runs.run(forwarding("hops-then-delay")))],
        "delay": [_route(runs.run(forwarding("delay")))],
        "TCPBP": [_route(result) for result in measured],
        "TCPBP, losses evenly spaced": [_route(result) for result in spaced],
    }
    for name, taken in routes.items():
        wanted = "-".join(PUBLISHED_ROUTE[name.partition(",")[0]])
        remark = ""
        if name == "TCPBP":
            remark = (
                f"draws of as many packets choose {wanted} in {share_of_published(packets[0]):.0%} of cases"
            )
        findings.append(
            Finding(
                f"{name}: route 1 => 10 that the controller takes",
                wanted,
                ", ".join(taken),
                set(taken) == {wanted},
                "in every run",
                remark=remark,
            )
        )
    return FigureResult(
        "links",
        "Measured links, and routes 1 => 10",
        tuple(findings),
        {
            f"estimates-{name}{seed}": table
            for name, seed_tables in (("", tables), ("evenly-", even_tables))
            for seed, table in zip(seeds, seed_tables, strict=True)
        },
        shown={"Estimates of the first run": tables[0].with_columns(pl.col(pl.Float64).round(3))},
        note=f"{SCALED} Estimates are means over the whole run of {duration_s} s, rounds of 2 s, with about "
        "120 packets a second on each link. The thesis has 3 samples of 10 s. Links lose packets at random; "
        "in as many runs more their losses are evenly spaced, so that what an estimate is off is not chance. "
        f"{runs.note()}",
    )


def _worst(tables: list[pl.DataFrame], a: str, b: str) -> float:
    """The largest difference of two columns over all links, median over runs."""
    return statistics.median(float((table[a] - table[b]).abs().max() or 0.0) for table in tables)  # type: ignore[arg-type]


def _runs(tables: list[pl.DataFrame]) -> str:
    return f"median of {len(tables)} runs" if len(tables) > 1 else "one run"


def _even_finding(tables: list[pl.DataFrame]) -> Finding:
    worst = _worst(tables, "estimate_percent", "set_percent")
    return Finding(
        f"loss estimated against what was set, losses evenly spaced, worst of 42 links, {_runs(tables)}",
        f"{LOSS_PERCENT} %",
        f"{worst:.3f} %",
        worst <= LOSS_PERCENT,
        f"within {LOSS_PERCENT} %",
        "bound",
        worst,
    )


def _estimates_findings(tables: list[pl.DataFrame], packets: list[Packets]) -> list[Finding]:
    delay_ms = _worst(tables, "estimate_ms", "set_ms")
    # 5-8 has 0.01 ms, which steps of 0.1 ms cannot show.
    near = statistics.median(
        int(((table["estimate_ms"] - table["set_ms"]).abs() <= DELAY_MS + 1e-9).sum()) for table in tables
    )
    counted = _worst(tables, "counted_percent", "realised_percent")
    drawn = _worst(tables, "estimate_percent", "set_percent")
    runs = _runs(tables)
    return [
        Finding(
            f"links of 42 whose delay is estimated within {DELAY_MS} ms, {runs}",
            "steps of 0.1 ms",
            f"{near:g}, and the worst is off by {delay_ms:.2f} ms",
            near == 2 * len(LINKS),
            "all of them",
            "bound",
        ),
        Finding(
            f"loss counted against what the link lost of these packets, worst of 42 links, {runs}",
            f"{LOSS_PERCENT} %",
            f"{counted:.3f} %",
            counted <= LOSS_PERCENT,
            f"within {LOSS_PERCENT} %",
            "bound",
            counted,
        ),
        Finding(
            f"loss estimated against what was set, worst of 42 links, {runs}",
            f"{LOSS_PERCENT} %",
            f"{drawn:.2f} %",
            drawn <= LOSS_PERCENT,
            f"within {LOSS_PERCENT} %",
            "bound",
            drawn,
            largest_draw(packets[0]),
        ),
    ]
