"""Section 6 of Fukushima et al. 2016: the NSFNET, figures 12 to 15."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import polars as pl

from anabranch import Scenario
from anabranch.plans.worst_loads import WorstLoads
from anabranch.report.load_map import load_map
from anabranch_publications.papers.findings import Finding, Kind, number
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.robust.network import SCATTER, TOLERANCE, WITHIN, nsfnet
from anabranch_publications.papers.robust.printed import (
    BEST_PERCENT,
    IMPROVEMENT_PERCENT,
    LOAD_ALL,
    LOADS,
    PERCENTS,
    THROUGHPUT,
    THROUGHPUT_ALL,
)
from anabranch_publications.papers.robust.splits import over_all_paths
from anabranch_publications.papers.robust.studies import chart, hybrid, section6, value

CEILING_MBPS = 10.0
_OF_A_RATIO = math.sqrt(2) * TOLERANCE
_RATIO_WITHIN = (
    f"within {100 * _OF_A_RATIO:.0f} %: a ratio of two numbers, each of which may be off by "
    f"{100 * TOLERANCE:.0f} %"
)
_FITTED_PERCENTS = {"hop": (0, 100), "delay": (0, 20, 40)}
"""X of the loads that the graph or the delays were fitted to. The others of figure 12 follow from the graph,
and those of figure 13 from it with the usual delays."""
_FITTED = {
    "hop": "X = 0 and 100 and ALL chose the graph (see network); X = 20 to 80 follow from it, with the usual "
    "delays and with the fitted ones.",
    "delay": "On the fitted delays (see network), which have more freedom than there are loads. X = 60, 80 "
    "and 100 come out with the usual delays, too, and 9.8 ms or more for the link that moved; that the load "
    "rises and that HYBRID-DELAY is above HYBRID-HOP follows from the fit.",
}
_OPTIMA = (
    "the paper does not say which of the many routings with the least load NUOPT gave, which a connection's "
    "throughput depends on; by the exchange method, over 16 paths for ALL, the rows below have other numbers"
)
_EXCHANGE = "split by the exchange method of section 3.2, over ALL with 16 paths"
_FREE_PAIRS = (
    "where the load leaves a pair free, an interior point method splits it evenly; a plan with the fewest "
    "split pairs is the row below"
)
NOTE_14 = (
    "A source's segments leave 0.8 ms apart at least, as in section 4. With a mean gap of 0.8 ms an "
    "application has 10 Mbps in the long run only: in {seconds:g} s of Poisson arrivals, with a slow start "
    "first, a connection over one path delivers a little less."
)


@cache
def worst(name: str, percent: int = 0, *, failures: bool = False) -> WorstLoads:
    """The worst case of a scheme: ``ALL``, ``hop`` or ``delay`` with X, by the evaluator."""
    scheme = over_all_paths() if name == "ALL" else hybrid(name, percent)
    return scored(scheme, failures=failures)


def scored(scheme: Mapping[str, Any], *, failures: bool = False) -> WorstLoads:
    """The worst case of any scheme on the NSFNET."""
    return Scenario.from_data(nsfnet(scheme, spaced=False)).worst_case(failures=failures)


def loads(key: str, metric: str) -> Callable[[Context], FigureResult]:
    """Figure 12 or 13: worst-case loads over X, and that of ALL.

    Args:
        key: of the figure.
        metric: ``hop`` or ``delay``.
    """
    scheme = f"HYBRID-{metric.upper()}"

    def make(context: Context) -> FigureResult:  # noqa: ARG001 - nothing is simulated
        ours = [worst(metric, x).max_load for x in PERCENTS]
        everything = worst("ALL")
        follows: Kind = "printed" if metric == "hop" else "fitted"
        findings = [
            number("ALL", LOAD_ALL, everything.max_load, unit="", digits=3, kind="fitted"),
            *(
                number(
                    f"{scheme}, X = {x}", printed, load, unit="", digits=2,
                    kind="fitted" if x in _FITTED_PERCENTS[metric] else "printed",
                )
                for x, printed, load in zip(PERCENTS, LOADS[metric], ours, strict=True)
            ),
            Finding(f"{scheme} over X", "rises", "rises" if ours == sorted(ours) else "does not",
                    all(b >= a - 1e-6 for a, b in itertools.pairwise(ours)), kind=follows),
        ]  # fmt: skip
        if metric == "delay":
            above = all(worst("delay", x).max_load > worst("hop", x).max_load for x in PERCENTS)
            findings.append(
                Finding(
                    "HYBRID-DELAY and HYBRID-HOP",
                    "higher for every X",
                    "higher" if above else "not so",
                    above,
                    kind=follows,
                )
            )
        table = pl.DataFrame({"X_percent": PERCENTS, "published": LOADS[metric], "ours": ours})
        drawn = chart(
            "X in percent", "worst-case maximum link load", f"{scheme} and ALL",
            {
                scheme: (PERCENTS, ours),
                f"{scheme}, published": (PERCENTS, LOADS[metric]),
                "ALL": (PERCENTS, [everything.max_load] * len(PERCENTS)),
            },
        )  # fmt: skip
        chosen = everything if metric == "hop" else worst("delay", 0)
        return FigureResult(
            key, f"Worst-case maximum link load, {scheme} and ALL", tuple(findings), {"loads": table},
            {"loads": drawn, "map": load_map(chosen)}, note=_FITTED[metric],
        )  # fmt: skip

    return make


def throughput(key: str, metric: str) -> Callable[[Context], FigureResult]:
    """Figure 14 or 15: mean throughput of a connection over X, and that of ALL.

    Args:
        key: of the figure.
        metric: ``hop`` or ``delay``.
    """
    scheme = f"HYBRID-{metric.upper()}"

    def make(context: Context) -> FigureResult:
        table = section6(context)
        ours = [value(table, f"{scheme} {x}", "mean_mbps") for x in PERCENTS]
        everything = value(table, "ALL", "mean_mbps")
        few = value(table, "ALL, few paths", "mean_mbps")
        sixteen = value(table, "ALL, 16 paths", "mean_mbps")
        findings = [
            _near("ALL", THROUGHPUT_ALL, everything),
            replace(
                _near("ALL over 16 paths, as good in load", THROUGHPUT_ALL, sixteen), kind="question"
            ),
            Finding(
                "ALL from column generation, as good in load", "not in the paper", f"{few:.2f} Mbps",
                few > everything, "more than ALL", "question",
            ),
            *(
                _near(f"{scheme}, X = {x}", printed, own)
                for x, printed, own in zip(PERCENTS, THROUGHPUT[metric], ours, strict=True)
            ),
            Finding(f"{scheme} over X", "rises", "rises" if ours == sorted(ours) else "does not",
                    ours == sorted(ours)),
            Finding(f"{scheme} above ALL", "for every X", "yes" if min(ours) > everything else "no",
                    min(ours) > everything),
        ]  # fmt: skip
        findings += same_at_the_limit(table) if metric == "hop" else above_hop(table, ours)
        drawn = chart(
            "X in percent", "throughput of a connection in Mbps", f"{scheme} and ALL",
            {
                scheme: (PERCENTS, ours),
                f"{scheme}, published": (PERCENTS, THROUGHPUT[metric]),
                "ALL": (PERCENTS, [everything] * len(PERCENTS)),
                "ALL, published": (PERCENTS, [THROUGHPUT_ALL] * len(PERCENTS)),
            },
        )  # fmt: skip
        return FigureResult(
            key, f"TCP throughput of a connection, {scheme} and ALL", tuple(findings), {"throughput": table},
            {"throughput": drawn}, note=NOTE_14.format(seconds=2.0 if context.quick else 10.0),
        )  # fmt: skip

    return make


def same_at_the_limit(table: pl.DataFrame) -> list[Finding]:
    """Section 6: with X = 80 HYBRID-HOP has what it has with X = 100."""

    def finding(case: str, kind: Kind, remark: str) -> Finding:
        at_80, at_100 = (value(table, f"HYBRID-HOP {x}{case}", "mean_mbps") for x in (80, 100))
        return Finding(
            f"HYBRID-HOP{case}, X = 80 and X = 100", "the same throughput of 10 Mbps",
            f"{at_80:.2f} and {at_100:.2f} Mbps", abs(at_80 - at_100) <= SCATTER * at_100,
            f"within {100 * SCATTER:.0f} %, what seeds change", kind, remark=remark,
        )  # fmt: skip

    return [finding("", "printed", _FREE_PAIRS), finding(", fewest splits", "question", "")]


def above_hop(table: pl.DataFrame, delay: Sequence[float]) -> list[Finding]:
    """Section 6 says that HYBRID-DELAY is above HYBRID-HOP for each X; its numbers say so of three X."""
    hop = [value(table, f"HYBRID-HOP {x}", "mean_mbps") for x in PERCENTS]
    above = [x for x, d, h in zip(PERCENTS, delay, hop, strict=True) if d > (1 + SCATTER) * h]
    below = [x for x, d, h in zip(PERCENTS, delay, hop, strict=True) if h > (1 + SCATTER) * d]
    printed = list(zip(PERCENTS, THROUGHPUT["delay"], THROUGHPUT["hop"], strict=True))
    other_way = [x for x, d, h in printed if h > d]
    return [
        Finding(
            "HYBRID-DELAY above HYBRID-HOP", "for each value of X", f"for X = {_listed(above)}",
            above == list(PERCENTS), f"by more than {100 * SCATTER:.0f} %, what seeds change",
            remark=f"the paper's own numbers say the opposite for X = {_listed(other_way)} and equal "
            "ones for X = 100, where all pairs have one path and 10 Mbps limit both",
        ),
        Finding(
            "HYBRID-HOP above HYBRID-DELAY, by the printed numbers", f"for X = {_listed(other_way)}",
            f"for X = {_listed(below)}", below == other_way,
            f"by more than {100 * SCATTER:.0f} %, what seeds change",
            remark="the paper's sentence says the opposite",
        ),
    ]  # fmt: skip


def _listed(percents: Sequence[int]) -> str:
    return ", ".join(map(str, percents)) or "none"


def _near(what: str, printed: float, ours: float) -> Finding:
    agrees = abs(ours - printed) <= TOLERANCE * printed
    return Finding(what, f"{printed:.2f} Mbps", f"{ours:.2f} Mbps", agrees, WITHIN, ratio=ours / printed)


def conclusion(context: Context) -> FigureResult:
    """The statements of abstract, section 6 and conclusion on throughput over ALL, and on the best X."""
    table = section6(context)
    findings, best_mbps = [], {}
    for metric, best in BEST_PERCENT.items():
        scheme = f"HYBRID-{metric.upper()}"
        below = [x for x in PERCENTS if worst(metric, x).max_load < 1]
        ours = max(below, default=-1)
        findings.append(
            Finding(
                f"{scheme}: highest X with a load below 1", str(best), str(ours), ours == best,
                kind="fitted" if best in _FITTED_PERCENTS[metric] else "printed",
            )
        )  # fmt: skip
        findings += [
            _improvement(table, scheme, x, printed)
            for x, printed in zip(PERCENTS, IMPROVEMENT_PERCENT[metric], strict=True)
        ]
        printed = IMPROVEMENT_PERCENT[metric][PERCENTS.index(best)]
        findings.append(_improvement(table, scheme, best, printed, exchange=True))
        best_mbps[metric] = value(table, f"{scheme} {best}", "mean_mbps")
    findings += [
        _times(best_mbps["hop"] / value(table, "ALL", "mean_mbps"), "", "printed", _OPTIMA),
        _times(
            value(table, f"HYBRID-HOP {BEST_PERCENT['hop']}, exchange", "mean_mbps")
            / value(table, "ALL, 16 paths", "mean_mbps"),
            f", {_EXCHANGE}", "question", "",
        ),
        Finding(
            "with a load below 1, HYBRID-HOP and HYBRID-DELAY", "HYBRID-HOP is better",
            f"{best_mbps['hop']:.2f} and {best_mbps['delay']:.2f} Mbps",
            best_mbps["hop"] > (1 + SCATTER) * best_mbps["delay"],
            f"by more than {100 * SCATTER:.0f} %, what seeds change",
        ),
    ]  # fmt: skip
    return FigureResult("conclusion", "What follows: abstract and conclusion", tuple(findings))


def _improvement(
    table: pl.DataFrame, scheme: str, percent: int, printed: int, *, exchange: bool = False
) -> Finding:
    """Throughput over that of ALL, in percent."""
    case, everything = (", exchange", "ALL, 16 paths") if exchange else ("", "ALL")
    gained = (
        100 * value(table, f"{scheme} {percent}{case}", "mean_mbps") / value(table, everything, "mean_mbps")
    )
    return Finding(
        f"{scheme}, X = {percent}, {_EXCHANGE}" if exchange else f"{scheme}, X = {percent}, over ALL",
        f"{printed} %", f"{gained:.0f} %", abs(gained - printed) <= _OF_A_RATIO * printed, _RATIO_WITHIN,
        "question" if exchange else "printed", value=gained, remark="" if exchange else _OPTIMA,
        ratio=gained / printed,
    )  # fmt: skip


def _times(times: float, how: str, kind: Kind, remark: str) -> Finding:
    return Finding(
        f"TCP throughput over ALL, with a load below 1 (abstract, conclusion){how}", "about six times",
        f"{times:.2f} times", 5.5 <= times < 6.5, "from 5.5 to 6.5: six, rounded", kind, value=times,
        remark=remark, ratio=times / 6,
    )  # fmt: skip
