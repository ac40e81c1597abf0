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
from anabranch_publications.papers.findings import (
    Finding,
    Kind,
    Prediction,
    Refutation,
    number,
    predicts,
    refutes,
)
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
from anabranch_publications.papers.robust.studies import CHOSEN, Settings, chart, hybrid, section6, value

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
NOTE_14 = (
    "A source's segments leave 0.8 ms apart at least, as in section 4. With a mean gap of 0.8 ms an "
    "application has 10 Mbps in the long run only: in {seconds:g} s of Poisson arrivals, with a slow start "
    "first, a connection over one path delivers a little less. Plans and number of paths as figure settings "
    "has them: split by the exchange method, 16 paths for ALL."
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
        ours = [value(table, CHOSEN.hybrid(metric, x), "mean_mbps") for x in PERCENTS]
        everything = value(table, CHOSEN.everything, "mean_mbps")
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
            key, f"TCP throughput of a connection, {scheme} and ALL",
            tuple(throughput_claims(table, metric, CHOSEN)), {"throughput": table},
            {"throughput": drawn}, note=NOTE_14.format(seconds=2.0 if context.quick else 10.0),
        )  # fmt: skip

    return make


def throughput_claims(table: pl.DataFrame, metric: str, settings: Settings) -> list[Finding]:
    """Claims of section 6 on figure 14 or 15, held to one set of settings."""
    scheme = f"HYBRID-{metric.upper()}"
    ours = [value(table, settings.hybrid(metric, x), "mean_mbps") for x in PERCENTS]
    everything = value(table, settings.everything, "mean_mbps")
    findings = [
        # The number of paths was chosen by it.
        replace(_near("ALL", THROUGHPUT_ALL, everything), kind="fitted"),
        *(
            _near(f"{scheme}, X = {x}", printed, ours_mbps, left_open(table, metric, x, printed))
            for x, printed, ours_mbps in zip(PERCENTS, THROUGHPUT[metric], ours, strict=True)
        ),
        Finding(f"{scheme} over X", "rises", "rises" if ours == sorted(ours) else "does not",
                ours == sorted(ours)),
        Finding(f"{scheme} above ALL", "for every X", "yes" if min(ours) > everything else "no",
                min(ours) > everything),
    ]  # fmt: skip
    return findings + (
        [same_at_the_limit(table, settings)] if metric == "hop" else above_hop(table, settings)
    )


def plans_of_least_load(table: pl.DataFrame, metric: str, percent: int) -> tuple[float, float]:
    """Throughput in Mbps with the plan in the middle of the single program, and with the fewest splits."""
    middle, fewest = (
        value(table, Settings(split, "").hybrid(metric, percent), "mean_mbps")
        for split in ("the single program", "fewest splits")
    )
    return middle, fewest


def left_open(table: pl.DataFrame, metric: str, percent: int, printed: float) -> Prediction | None:
    """The hypothesis that the open choice of the plan makes the difference; None if the print excludes it."""
    plans = plans_of_least_load(table, metric, percent)
    possible = (1 - TOLERANCE) * min(plans) <= printed <= (1 + TOLERANCE) * max(plans)
    return between_plans(plans, (1.0, 1.0)) if possible else None


@predicts
def between_plans(plans: tuple[float, float], scale: tuple[float, float]) -> Prediction:
    """A throughput, or a multiple of it, by two plans of the least load other than its own.

    Args:
        plans: throughput in Mbps with the plan in the middle, and with the fewest splits.
        scale: least and largest factor from Mbps to the unit of the number.
    """
    low, high = min(plans) * min(scale), max(plans) * max(scale)
    return Prediction(
        (low + high) / 2, (high - low) / 2,
        "the program of section 3.2 has many plans with the least load, and the paper does not say which of "
        f"them NUOPT gave: the plan in their middle has {min(plans):.2f} Mbps and one with the fewest split "
        f"pairs {max(plans):.2f}, and the printed number is between them, too, within "
        f"{100 * TOLERANCE:.0f} %",
    )  # fmt: skip


def same_at_the_limit(table: pl.DataFrame, settings: Settings) -> Finding:
    """Section 6: with X = 80 HYBRID-HOP has what it has with X = 100."""
    at_80, at_100 = (value(table, settings.hybrid("hop", x), "mean_mbps") for x in (80, 100))
    return Finding(
        "HYBRID-HOP, X = 80 over X = 100", "the same throughput of 10 Mbps",
        f"{at_80 / at_100:.3f}: {at_80:.2f} and {at_100:.2f} Mbps", abs(at_80 - at_100) <= SCATTER * at_100,
        f"within {100 * SCATTER:.0f} %, what seeds change", value=at_80 / at_100,
        # X = 100 leaves nothing to split.
        prediction=between_plans(plans_of_least_load(table, "hop", 80), (1 / CEILING_MBPS, 1 / at_100)),
    )  # fmt: skip


def above_hop(table: pl.DataFrame, settings: Settings) -> list[Finding]:
    """Section 6 says that HYBRID-DELAY is above HYBRID-HOP for each X; its numbers say so of three X."""
    delay, hop = (
        [value(table, settings.hybrid(metric, x), "mean_mbps") for x in PERCENTS]
        for metric in ("delay", "hop")
    )
    above = [x for x, d, h in zip(PERCENTS, delay, hop, strict=True) if d > (1 + SCATTER) * h]
    below = [x for x, d, h in zip(PERCENTS, delay, hop, strict=True) if h > (1 + SCATTER) * d]
    other_way = _other_way()
    return [
        Finding(
            "HYBRID-DELAY above HYBRID-HOP", "for each value of X", f"for X = {_listed(above)}",
            above == list(PERCENTS), f"by more than {100 * SCATTER:.0f} %, what seeds change",
            refutation=own_numbers(),
        ),
        Finding(
            "HYBRID-HOP above HYBRID-DELAY, by the printed numbers", f"for X = {_listed(other_way)}",
            f"for X = {_listed(below)}", below == other_way,
            f"by more than {100 * SCATTER:.0f} %, what seeds change",
            # What its numbers say is a claim of the rows of figures 14 and 15; its words say the opposite.
            "question",
            remark="the paper's sentence says the opposite",
        ),
    ]  # fmt: skip


@refutes
def own_numbers() -> Refutation:
    """The sentence that HYBRID-DELAY is above HYBRID-HOP for each X, by figures 14 and 15 as printed."""
    pairs = zip(PERCENTS, THROUGHPUT["delay"], THROUGHPUT["hop"], strict=True)
    shown = ", ".join(
        f"{delay:.2f} and {hop:.2f} Mbps for X = {x}" for x, delay, hop in pairs if delay <= hop
    )
    return Refutation(bool(shown), f"by the same section, HYBRID-DELAY and HYBRID-HOP have {shown}")


def _other_way() -> list[int]:
    """X for which the printed numbers have HYBRID-HOP above HYBRID-DELAY."""
    pairs = zip(PERCENTS, THROUGHPUT["delay"], THROUGHPUT["hop"], strict=True)
    return [x for x, delay, hop in pairs if hop > delay]


def _listed(percents: Sequence[int]) -> str:
    return ", ".join(map(str, percents)) or "none"


def _near(what: str, printed: float, ours: float, prediction: Prediction | None = None) -> Finding:
    agrees = abs(ours - printed) <= TOLERANCE * printed
    return Finding(
        what, f"{printed:.2f} Mbps", f"{ours:.2f} Mbps", agrees, WITHIN, value=ours, prediction=prediction,
        ratio=ours / printed,
    )  # fmt: skip


def conclusion(context: Context) -> FigureResult:
    """The statements of abstract, section 6 and conclusion on throughput over ALL, and on the best X."""
    findings: list[Finding] = []
    for metric, best in BEST_PERCENT.items():
        below = [x for x in PERCENTS if worst(metric, x).max_load < 1]
        ours = max(below, default=-1)
        findings.append(
            Finding(
                f"HYBRID-{metric.upper()}: highest X with a load below 1", str(best), str(ours), ours == best,
                kind="fitted" if best in _FITTED_PERCENTS[metric] else "printed",
            )
        )  # fmt: skip
    findings += conclusion_claims(section6(context), CHOSEN)
    return FigureResult("conclusion", "What follows: abstract and conclusion", tuple(findings))


def conclusion_claims(table: pl.DataFrame, settings: Settings) -> list[Finding]:
    """Claims on throughput over ALL and on the best schemes, held to one set of settings."""
    findings = [
        _improvement(table, metric, x, printed, settings)
        for metric, percents in IMPROVEMENT_PERCENT.items()
        for x, printed in zip(PERCENTS, percents, strict=True)
    ]
    best = {
        metric: value(table, settings.hybrid(metric, x), "mean_mbps") for metric, x in BEST_PERCENT.items()
    }
    times = best["hop"] / value(table, settings.everything, "mean_mbps")
    return [
        *findings,
        Finding(
            "TCP throughput over ALL, with a load below 1 (abstract, conclusion)", "about six times",
            f"{times:.2f} times", 5.5 <= times < 6.5, "from 5.5 to 6.5: six, rounded", value=times,
            ratio=times / 6,
        ),
        Finding(
            "with a load below 1, HYBRID-HOP and HYBRID-DELAY", "HYBRID-HOP is better",
            f"{best['hop']:.2f} and {best['delay']:.2f} Mbps", best["hop"] > (1 + SCATTER) * best["delay"],
            f"by more than {100 * SCATTER:.0f} %, what seeds change",
        ),
    ]  # fmt: skip


def _improvement(table: pl.DataFrame, metric: str, percent: int, printed: int, settings: Settings) -> Finding:
    """Throughput over that of ALL, in percent."""
    ours_mbps = value(table, settings.hybrid(metric, percent), "mean_mbps")
    gained = 100 * ours_mbps / value(table, settings.everything, "mean_mbps")
    plans = plans_of_least_load(table, metric, percent)
    # The printed throughput of ALL, which ours may be off by the tolerance.
    scale = tuple(100 / (THROUGHPUT_ALL * (1 + side * TOLERANCE)) for side in (1, -1))
    possible = min(plans) * min(scale) <= printed <= max(plans) * max(scale)
    return Finding(
        f"HYBRID-{metric.upper()}, X = {percent}, over ALL", f"{printed} %", f"{gained:.0f} %",
        abs(gained - printed) <= _OF_A_RATIO * printed, _RATIO_WITHIN, value=gained,
        prediction=between_plans(plans, (scale[0], scale[1])) if possible else None, ratio=gained / printed,
    )  # fmt: skip
