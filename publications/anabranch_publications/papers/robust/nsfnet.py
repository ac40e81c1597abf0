"""Section 6 of Fukushima et al. 2016: the NSFNET, figures 12 to 15."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import polars as pl

from anabranch import Scenario
from anabranch.report.load_map import load_map
from anabranch.worst_loads import WorstLoads
from anabranch_publications.papers.findings import Finding, number
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.robust.network import WITHIN, nsfnet
from anabranch_publications.papers.robust.printed import (
    BEST_PERCENT,
    IMPROVEMENT_PERCENT,
    LOAD_ALL,
    LOADS,
    PERCENTS,
    THROUGHPUT,
    THROUGHPUT_ALL,
)
from anabranch_publications.papers.robust.studies import ALL, chart, hybrid, section6, value

CEILING_MBPS = 10.0
_WITHIN = 0.15
_FITTED = {
    "hop": "X = 0 and 100 and ALL chose the graph (see network); X = 20 to 80 follow from it, with the usual "
    "delays and with the fitted ones.",
    "delay": "On the fitted delays (see network), which have more freedom than there are loads; that "
    "HYBRID-DELAY is above HYBRID-HOP follows from the printed numbers.",
}
_OPTIMA = (
    "the paper does not say which of the many routings with the least load NUOPT gave for ALL, which a "
    "connection's throughput depends on"
)
NOTE_14 = (
    "A source's segments leave 0.8 ms apart at least, as in section 4. With a mean gap of 0.8 ms an "
    "application has 10 Mbps in the long run only: in {seconds:g} s of Poisson arrivals, with a slow start "
    "first, a connection over one path delivers a little less."
)


@cache
def worst(name: str, percent: int = 0, *, failures: bool = False) -> WorstLoads:
    """The worst case of a scheme: ``ALL``, ``hop`` or ``delay`` with X, by the evaluator."""
    scheme = ALL if name == "ALL" else hybrid(name, percent)
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
        findings = [
            number("ALL", LOAD_ALL, everything.max_load, unit="", digits=3),
            *(
                number(f"{scheme}, X = {x}", printed, load, unit="", digits=2)
                for x, printed, load in zip(PERCENTS, LOADS[metric], ours, strict=True)
            ),
            Finding(f"{scheme} over X", "rises", "rises" if ours == sorted(ours) else "does not",
                    all(b >= a - 1e-6 for a, b in itertools.pairwise(ours))),
        ]  # fmt: skip
        if metric == "delay":
            above = all(worst("delay", x).max_load > worst("hop", x).max_load for x in PERCENTS)
            findings.append(
                Finding(
                    "HYBRID-DELAY and HYBRID-HOP",
                    "higher for every X",
                    "higher" if above else "not so",
                    above,
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
        findings = [
            _near("ALL", THROUGHPUT_ALL, everything),
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
        if metric == "delay":
            hop = [value(table, f"HYBRID-HOP {x}", "mean_mbps") for x in PERCENTS]
            above = sum(d >= h - 0.05 for d, h in zip(ours, hop, strict=True))
            findings.append(
                Finding(
                    "HYBRID-DELAY above HYBRID-HOP",
                    "for every X",
                    f"for {above} of {len(hop)}",
                    above == len(hop),
                )
            )
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


def _near(what: str, printed: float, ours: float) -> Finding:
    agrees = abs(ours - printed) <= _WITHIN * printed
    return Finding(what, f"{printed:.2f} Mbps", f"{ours:.2f} Mbps", agrees, WITHIN, ratio=ours / printed)


def conclusion(context: Context) -> FigureResult:
    """What abstract, section 6 and conclusion say of the best X with a load below 1."""
    table = section6(context)
    everything = value(table, "ALL", "mean_mbps")
    findings, throughput_of = [], {}
    for metric, best in BEST_PERCENT.items():
        scheme = f"HYBRID-{metric.upper()}"
        below = [x for x in PERCENTS if worst(metric, x).max_load < 1]
        ours = max(below, default=-1)
        findings.append(
            Finding(f"{scheme}: highest X with a load below 1", str(best), str(ours), ours == best)
        )
        throughput_of[metric] = value(table, f"{scheme} {best}", "mean_mbps")
        printed = IMPROVEMENT_PERCENT[metric][PERCENTS.index(best)]
        gained = 100 * throughput_of[metric] / everything
        findings.append(
            Finding(
                f"{scheme}, X = {best}, over ALL", f"{printed} %", f"{gained:.0f} %",
                abs(gained - printed) <= _WITHIN * printed, WITHIN, value=gained, remark=_OPTIMA,
                ratio=gained / printed,
            )
        )  # fmt: skip
    times = throughput_of["hop"] / everything
    findings += [
        Finding(
            "TCP throughput over ALL, with a load below 1 (abstract, conclusion)", "about six times",
            f"{times:.2f} times", 5.5 <= times < 6.5, "from 5.5 to 6.5: six, rounded", value=times,
            remark=_OPTIMA, ratio=times / 6,
        ),
        Finding(
            "with a load below 1, HYBRID-HOP and HYBRID-DELAY", "HYBRID-HOP is better",
            f"{throughput_of['hop']:.2f} and {throughput_of['delay']:.2f} Mbps",
            throughput_of["hop"] > throughput_of["delay"],
        ),
    ]  # fmt: skip
    return FigureResult("conclusion", "What follows: abstract and conclusion", tuple(findings))
