"""The figure ``settings``: what section 6 leaves open, tried against all that it prints of throughput."""

from __future__ import annotations

import math
import statistics

import polars as pl

from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.robust.nsfnet import conclusion_claims, throughput_claims
from anabranch_publications.papers.robust.printed import PERCENTS, THROUGHPUT, THROUGHPUT_ALL
from anabranch_publications.papers.robust.studies import (
    CHOSEN,
    EVERYTHING,
    SPLITS,
    Settings,
    section6,
    value,
)

NOTE = (
    "The paper says neither which of the many plans with the least load its solver gave, nor how many paths "
    "ALL has. Every pair of a reading of each is held against all that section 6 prints of throughput. "
    "Figures 14 and 15 and the conclusion have the pair whose 13 throughputs are nearest to the printed "
    "ones, by the root of the mean square of the logarithms of their ratios. The number of paths is thus "
    "fitted, to the 1.44 Mbps of ALL above all, and that row is counted so; the exchange method is one of "
    "the two that section 3.2 describes. The single program with 20 paths meets as many claims within "
    "their tolerances, and has 7.45 Mbps for the 8.51 of HYBRID-HOP at X = 40. No pair meets all, and none "
    "gives the 4.65 Mbps of HYBRID-HOP at X = 0: what is left is in the rows that differ."
)


def settings(context: Context) -> FigureResult:
    """How far each set of settings is from the printed throughputs, and how many claims it meets."""
    table = section6(context)
    rows = [
        (settings.split, settings.everything, 100 * misfit(table, settings), sum(claims), len(claims))
        for settings in (Settings(split, everything) for split in SPLITS for everything in EVERYTHING)
        for claims in [met(table, settings)]
    ]
    counts = pl.DataFrame(
        rows, ["split", "all_paths", "misfit_percent", "claims_met", "claims"], orient="row"
    ).sort("misfit_percent", maintain_order=True)
    throughputs = pl.DataFrame(
        [
            {
                "scheme": f"HYBRID-{metric.upper()} {x}",
                "printed_mbps": printed,
                **{
                    split: value(table, Settings(split, "").hybrid(metric, x), "mean_mbps")
                    for split in SPLITS
                },
            }
            for metric, claims in THROUGHPUT.items()
            for x, printed in zip(PERCENTS, claims, strict=True)
        ]
    )
    best = counts.row(0)
    findings = (
        Finding(
            "set of settings with the nearest throughputs", f"{CHOSEN.split}, {CHOSEN.everything}",
            f"{best[0]}, {best[1]}: {best[2]:.1f} %", best[:2] == (CHOSEN.split, CHOSEN.everything),
            "that which the figures have", "question",
        ),
    )  # fmt: skip
    return FigureResult(
        "settings", "Plans and number of paths, which the paper leaves open",
        # Two seconds are mostly slow start.
        () if context.quick else findings,
        {"settings": counts, "throughput": throughputs}, {},
        {
            "Sets of settings, how far they are from the print, and claims that they meet": counts,
            "Throughput of a connection in Mbps": throughputs,
        },
        NOTE,
    )  # fmt: skip


def misfit(table: pl.DataFrame, settings: Settings) -> float:
    """Root of the mean square of the logarithms of ours over the printed throughputs of section 6."""
    pairs = [(value(table, settings.everything, "mean_mbps"), THROUGHPUT_ALL)] + [
        (value(table, settings.hybrid(metric, x), "mean_mbps"), printed)
        for metric, printed_mbps in THROUGHPUT.items()
        for x, printed in zip(PERCENTS, printed_mbps, strict=True)
    ]
    return math.sqrt(statistics.fmean(math.log(ours / printed) ** 2 for ours, printed in pairs))


def met(table: pl.DataFrame, settings: Settings) -> list[bool]:
    """Whether each printed claim agrees with a set of settings."""
    claims = [
        *throughput_claims(table, "hop", settings),
        # ALL once.
        *throughput_claims(table, "delay", settings)[1:],
        *conclusion_claims(table, settings),
    ]
    return [claim.agrees for claim in claims]
