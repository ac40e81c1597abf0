"""Beyond Fukushima et al. 2016: ns-2's rules replayed, choice by optimisation, failures, transports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from anabranch import Scenario
from anabranch.report.load_map import load_map
from anabranch.routes import plan
from anabranch.setup import resolve
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.robust.network import APPLICATION_MBPS, SEGMENT_BYTES, WITHIN, nsfnet
from anabranch_publications.papers.robust.nsfnet import THROUGHPUT, THROUGHPUT_ALL, scored, worst
from anabranch_publications.papers.robust.parallel_paths import AT_MS, INTERSEGMENT_MS, TOTALS
from anabranch_publications.papers.robust.replay import Connection, Paths
from anabranch_publications.papers.robust.studies import (
    ALL,
    ALL_FEW,
    PERCENTS,
    by_transport,
    chart,
    hybrid,
    value,
)

BEST_HYBRID_MBPS = 8.51
"""HYBRID-HOP at X = 40, the paper's best with a load under 1."""
_PS_PER_MS = 1e9
_SEGMENT_BITS = 8 * SEGMENT_BYTES


def replayed(context: Context) -> FigureResult:
    """The numbers of sections 4 and 6 by ns-2's rules, without our engine."""
    findings = []
    for combination, printed in TOTALS.items():
        ours = _replay_parallel(combination, 5e3 if context.quick else 2e4)
        findings.append(_beside(f"{combination}, d = {AT_MS} ms", printed, ours))
    duration_ms = 1e3 if context.quick else 3e3
    cases: dict[str, tuple[Mapping[str, Any], float]] = {"ALL": (ALL, THROUGHPUT_ALL)}
    chosen = (
        (("hop", 40), ("delay", 0)) if context.quick else [(m, x) for m in THROUGHPUT for x in PERCENTS[:4]]
    )
    for metric, percent in chosen:
        printed = THROUGHPUT[metric][PERCENTS.index(percent)]
        cases[f"HYBRID-{metric.upper()}, X = {percent}"] = (hybrid(metric, percent), printed)
    for name, (scheme, printed) in cases.items():
        findings.append(_beside(name, printed, _replay_nsfnet(scheme, duration_ms)))
    return FigureResult(
        "replay", "ns-2's NewReno over the same paths", tuple(findings),
        note="A small simulation of its own (papers/robust/replay.py) with the window rules of ns-2's "
        "NewReno, over paths without queues, segments spaced as in section 4.2, and no code of the engine's.",
    )  # fmt: skip


def _beside(what: str, printed: float, ours: float) -> Finding:
    agrees = abs(ours - printed) <= 0.15 * printed
    return Finding(
        what, f"{printed:g} Mbps", f"{ours:.2f} Mbps", agrees, WITHIN, "question",
        remark="other paths: the delays of figure 8 and its rule for ties are lost", ratio=ours / printed,
    )  # fmt: skip


def _replay_parallel(combination: str, until_ms: float) -> float:
    """Total throughput of the five connections of section 4 in Mbps."""
    delays = [{"S": 2.0, "M": 2.0 + AT_MS / 2, "L": 2.0 + AT_MS}[letter] for letter in combination]
    paths = Paths(delays, [1 / len(delays)] * len(delays))
    total = 0.0
    for seed in range(5):
        connection = Connection(paths, paths, INTERSEGMENT_MS, INTERSEGMENT_MS, access_ms=0.4, seed=seed)
        connection.run(until_ms)
        total += connection.delivered * _SEGMENT_BITS / until_ms / 1e3
    return total


def _replay_nsfnet(scheme: Mapping[str, Any], until_ms: float) -> float:
    """Mean throughput of a connection in Mbps; one over a single path both ways has all that it asks for."""
    setup = resolve(Scenario.from_data(nsfnet(scheme, spaced=False)))
    routes = {
        (route["from"], route["to"]): Paths(
            [sum(setup.links[link].delay for link in path["links"]) / _PS_PER_MS for path in route["paths"]],
            [path["weight"] for path in route["paths"]],
        )
        for route in plan(setup, None).plan.data()["routes"]
    }
    gap_ms = _SEGMENT_BITS / APPLICATION_MBPS / 1e3
    total = 0.0
    for (a, b), there in routes.items():
        back = routes[b, a]
        if len(there.delay_ms) == len(back.delay_ms) == 1:
            total += APPLICATION_MBPS
            continue
        connection = Connection(there, back, gap_ms, gap_ms, seed=1000 * a + b)
        connection.run(until_ms)
        total += connection.delivered * _SEGMENT_BITS / until_ms / 1e3
    return total / len(routes)


def optimal(context: Context) -> FigureResult:
    """Which pairs keep to one path, and which path, by optimisation: load against throughput."""
    limit, duration = ("4 s", 2.0) if context.quick else ("12 s", 10.0)
    rows = []
    for level in (0.99,) if context.quick else (0.99, 0.7, 0.65, 0.6, 0.55):
        scheme = {"scheme": {"algorithm": "robust-optimal", "k": 4, "level": level, "time_limit": limit}}
        result = Scenario.from_data(nsfnet(scheme, duration_s=duration)).run()
        facts: Any = result.summary["routing"]
        rows.append(
            {
                "level": level,
                "worst_case_load": facts["worst_case_load"],
                "mean_mbps": float(result.flows["goodput_mbps"].to_numpy().mean()),
                "predicted_mbps": facts["predicted_throughput_mbps"],
                "pairs_on_one_path": facts["pairs_on_one_path"],
                "gap": facts["gap"],
            }
        )
    table = pl.DataFrame(rows)
    single = {
        "scheme": {
            "algorithm": "robust-single", "k": 4, "time_limit": "4 s" if context.quick else "40 s",
        },
    }  # fmt: skip
    facts = dict(Scenario.from_data(nsfnet(single, spaced=False)).routes().facts)
    best = table.filter(pl.col("worst_case_load") < 1)["mean_mbps"].to_list()[0]
    load, bound = float(facts["worst_case_load"]), float(facts["lower_bound"])
    findings = (
        Finding("robust-optimal with a load under 1, HYBRID-HOP's best beside it", f"{BEST_HYBRID_MBPS} Mbps",
                f"{best:.2f} Mbps", best > BEST_HYBRID_MBPS, "more than that", "question"),
        Finding("least load with every pair on one path of four", "1.08 (HYBRID-HOP, X = 100)",
                f"{load:.4f}, at least {bound:.4f}", bound <= load < 1.08, "less than that", "question"),
    )  # fmt: skip
    drawn = chart(
        "worst-case maximum link load", "throughput of a connection in Mbps", "By optimisation and by rule",
        {
            "robust-optimal, K = 4": (table["worst_case_load"].to_list(), table["mean_mbps"].to_list()),
            "its prediction": (table["worst_case_load"].to_list(), table["predicted_mbps"].to_list()),
            "HYBRID-HOP, K = 2, published": ((0.68, 0.82, 0.98), THROUGHPUT["hop"][:3]),
        },
    )  # fmt: skip
    scheme = {"scheme": {"algorithm": "robust-optimal", "k": 4, "level": 0.99, "time_limit": limit}}
    return FigureResult(
        "optimal", "Which pairs keep to one path: by optimisation", findings, {"levels": table},
        {"trade-off": drawn, "map": load_map(scored(scheme))}, {"Levels of the load": table},
    )  # fmt: skip


def failures(context: Context) -> FigureResult:
    """The worst case when any single link fails, both directions at once."""
    survivable = {"failures": "single-link", "time_limit": "5 s" if context.quick else "30 s"}
    schemes: dict[str, Mapping[str, Any]] = {
        "shortest": {"scheme": "shortest"},
        "ECMP": {"scheme": "ecmp"},
        "ALL": ALL,
        "HYBRID-HOP 0": hybrid("hop", 0),
        "HYBRID-HOP 40": hybrid("hop", 40),
        "K = 4 for failures": {"scheme": {"algorithm": "robust", "k": 4, **survivable}},
    }
    rows = []
    for name, scheme in schemes.items():
        found = scored(scheme, failures=True)
        failure = found.worst_failure
        assert failure is not None  # noqa: S101 - the network has links that can fail
        rows.append(
            {
                "scheme": name,
                "load": found.max_load,
                "load_with_a_failure": max(failure.load, found.max_load),
                "worst_failure": failure.links[0],
                "most_pairs_cut_off": max(len(case.stranded) for case in found.failures or ()),
            }
        )
    table = pl.DataFrame(rows)
    return FigureResult(
        "failures", "Worst case under any single link failure", (), {"failures": table}, {},
        {"Load with all links up, and with any one down": table},
        "Not in the paper. Robust plans share out what failed in proportion; the other schemes plan anew.",
    )  # fmt: skip


def transports(context: Context) -> FigureResult:
    """Path selection that avoids reordering beside transports that survive it."""
    chosen = {"ALL": ALL, "HYBRID-HOP 0": hybrid("hop", 0), "HYBRID-HOP 40": hybrid("hop", 40)}
    names = (
        ("newreno", "mprc", "linux-reno")
        if context.quick
        else ("newreno", "mprc", "linux-reno", "rr-tcp", "tcp-pr")
    )
    if not context.quick:
        chosen["ALL, few paths"] = dict(ALL_FEW)
    table = by_transport(context, chosen, names)
    rows = [
        {"scheme": scheme, **{name: value(table, f"{scheme}, {name}", "mean_mbps") for name in names}}
        for scheme in chosen
    ]
    shown = pl.DataFrame(rows)
    selected = value(table, "HYBRID-HOP 40, newreno", "mean_mbps")
    survives = {name: value(table, f"ALL, {name}", "mean_mbps") for name in names[1:]}
    best = max(survives, key=survives.__getitem__)
    findings = (
        Finding(
            "least load (ALL, 0.455) with a transport that stands reordering",
            f"NewReno over HYBRID-HOP, X = 40, load {worst('hop', 40).max_load:.2f}: {selected:.2f} Mbps",
            f"{best}: {survives[best]:.2f} Mbps",
            survives[best] > selected,
            "more than that",
            "question",
        ),
    )
    return FigureResult(
        "transports", "Transports that survive reordering, and path selection that avoids it", findings,
        {"transports": table}, {}, {"Throughput of a connection in Mbps": shown},
        "Not in the paper: with a transport that takes no overtaking for loss, the least load costs little.",
    )  # fmt: skip
