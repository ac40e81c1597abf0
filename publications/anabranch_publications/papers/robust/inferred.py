"""The figure ``network``: what the search of ``inference.py`` finds, and what else fits."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from anabranch_publications.papers.findings import Finding, number
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.robust import inference
from anabranch_publications.papers.robust.inference import MOVED, Link, Trial
from anabranch_publications.papers.robust.network import LINKS
from anabranch_publications.papers.robust.printed import EXAMPLE_MS, LOADS, PERCENTS

_ADDED_MS = (7.0, 9.8, 12.0, 14.0)
"""Delays of the link that moved that are looked at, with all others as usual."""
_FACTORS = (0.5, 0.8, 0.95, 1.05, 1.25, 2.0)
_SEEDS = (1, 2)
_MOST_STEPS = 100
"""Sets of delays that a search tries at most; a time limit would give another answer on another machine."""


def network(context: Context) -> FigureResult:
    """The network that figure 8 showed, inferred from the loads that are printed."""
    delays = {(a, b): ms for a, b, ms in LINKS}
    trials = _trials(context)
    fits = [trial for trial in trials if trial.fits]
    met = {trial: [inference.follows(trial, ms) for ms in _ADDED_MS] for trial in fits}
    ours = next(trial for trial in fits if (trial.removed, trial.added) == MOVED and trial.lowest_first)
    follow = [
        trial for trial in fits if any(hop == len(PERCENTS) and example for hop, _, example in met[trial])
    ]
    findings = [
        Finding(
            "graphs with HYBRID-HOP at X = 0 and 100, and ALL, as printed", "0.68, 1.08 and 0.455",
            f"{len(fits)} of {len(trials)}", ours in fits, "5-11 in place of 4-11 is one of them", "question",
        ),
        Finding(
            "of these, with all of figure 12 and the example for some delay of the link", "not printed",
            ", ".join(_name(trial) for trial in follow) or "none", ours in follow, "ours is one of them",
            "question",
        ),
        Finding(
            "ours: loads of figure 12 as printed before any fit, link 5-11 of 7, 9.8, 12 and 14 ms", "6 of 6",
            ", ".join(str(hop) for hop, _, _ in met[ours]),
            all(hop == len(PERCENTS) for hop, _, _ in met[ours]),
            "6 for each", "question",
        ),
    ]  # fmt: skip
    loads = inference.Loads(delays)
    for (a, b), printed in EXAMPLE_MS.items():
        delay_ms = loads.example_ms()[b - 2]
        findings.append(
            number(
                f"longer candidate of pair {a}-{b} (figure 9)",
                printed,
                delay_ms,
                unit="ms",
                digits=1,
                kind="fitted",
            )
        )
    shown = {
        "Graphs that fit, and how many loads of figures 12 and 13 follow with the usual delays": _fits(met),
        "Delays in ms, and how far each may change alone with all twelve loads as printed": _delays(
            context, delays
        ),
    }
    tables = {"graphs": _table(trials), "delays": shown[list(shown)[1]]}
    if not context.quick:
        searches = _searches()
        findings.append(_fit(searches))
        tables["searches"] = shown["Searches for delays from the usual ones"] = searches
    return FigureResult(
        "network", "The network of figure 8, inferred", tuple(findings), tables, {}, shown,
        "Figure 8 did not survive in the text, and this network is inferred from printed results: an "
        "inference, and no proof. Fitted: which end of which of 21 links moves, and the rule for ties, to "
        "three numbers (HYBRID-HOP at X = 0 and 100, ALL); 15 delays to six numbers (figure 13). Given: six "
        "delays, by the five of the example. Follows without a fit: HYBRID-HOP at X = 20, 40, 60 and 80.",
    )  # fmt: skip


def _trials(context: Context) -> list[Trial]:
    """Every graph with both rules for ties; in quick mode those that move the same link as ours."""
    return [
        inference.tried(removed, added, lowest_first=lowest)
        for removed, added in inference.variants()
        for lowest in (True, False)
        if not context.quick or removed in (None, MOVED[0])
    ]


def _name(trial: Trial) -> str:
    if trial.removed is None or trial.added is None:
        return "nobel-us"
    ties = "" if trial.lowest_first else ", ties by the highest"
    return f"{_link(trial.added)} in place of {_link(trial.removed)}{ties}"


def _link(link: Link) -> str:
    return "{}-{}".format(*link)


def _table(trials: Sequence[Trial]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "graph": [_name(trial) for trial in trials],
            "hop_load_100": [trial.single for trial in trials],
            "hop_load_0": [trial.spread for trial in trials],
            "all_load": [trial.everything for trial in trials],
        },
        schema_overrides={"hop_load_0": pl.Float64, "all_load": pl.Float64},
    )


def _fits(met: dict[Trial, list[tuple[int, int, bool]]]) -> pl.DataFrame:
    rows = []
    for trial, fits in met.items():
        best = max(fits, key=lambda each: (each[2], each[0] + each[1]))
        rows.append(
            {
                "graph": _name(trial),
                "hop_load_0": trial.spread,
                "figure_12_of_6": best[0],
                "figure_13_of_6": best[1],
                "example": "as printed" if best[2] else "not",
            }
        )
    return pl.DataFrame(rows)


def _delays(context: Context, delays: dict[Link, float]) -> pl.DataFrame:
    """Each delay, the usual one, and how far it may change where it is free; two of them in quick mode."""
    free = inference.free_links()
    looked = free[:2] if context.quick else free
    rows = []
    for link, ms in sorted(delays.items()):
        low, high = inference.freedom(delays, link, _FACTORS) if link in looked else (None, None)
        rows.append(
            {
                "link": _link(link),
                "delay_ms": ms,
                "usual_ms": inference.USUAL_MS.get(link),
                "given_by": "figure 13" if link in free else "the example",
                "least_ms": low,
                "most_ms": high,
            }
        )
    return pl.DataFrame(rows, schema_overrides={"least_ms": pl.Float64, "most_ms": pl.Float64})


def _searches() -> pl.DataFrame:
    rows = []
    for seed in _SEEDS:
        fit = inference.fitted(seed, _MOST_STEPS)
        loads = inference.Loads(fit.delays_ms)
        shares = [f"{loads.of('delay', x):.3f}" for x in PERCENTS]
        rows.append({"seed": seed, "steps": fit.steps, "misfit": fit.misfit, "figure_13": ", ".join(shares)})
    return pl.DataFrame(rows)


def _fit(searches: pl.DataFrame) -> Finding:
    least = float(searches["misfit"].to_numpy().min())
    printed = ", ".join(f"{load:.2f}" for load in LOADS["delay"])
    return Finding(
        "random steps from the usual delays: what all twelve loads miss together, beyond rounding",
        f"0 ({printed})", f"{least:.3f}", least == 0.0, "0: some search ends with all loads as printed",
        "question",
        remark=f"a search tries {_MOST_STEPS} sets of delays at most; ours came from a longer one",
    )  # fmt: skip
