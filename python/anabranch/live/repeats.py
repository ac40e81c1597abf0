"""Further runs of a scenario, live and simulated, by which a difference is told from chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from anabranch.plans.routes import plan, settled
from anabranch.process.signals import Deferred
from anabranch.results.result import Result
from anabranch.routing import Planned
from anabranch.runs import runner
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve

LIVE_RUNS = 3
"""Live runs that a comparison has where nobody says how many."""
SIMULATED_RUNS = 5
"""Simulated runs that it has."""

MakeLive = Callable[[Scenario, Setup, Planned], Result]


@dataclass
class Repeats:
    """The tables ``flows`` of a scenario's replications, the first of which has run already."""

    live: list[pl.DataFrame]
    simulated: list[pl.DataFrame]
    not_valid: list[str] = field(default_factory=list)
    """Why further live runs do not count."""

    def add(self, scenario: Scenario, live_runs: int, make_live: MakeLive, signals: Deferred) -> None:
        """Simulates the next replications, and makes live runs of some of them, until a signal is heard.

        Replications draw losses, starts and sizes anew, both sides the same of the same number.

        Args:
            scenario: of the first one.
            live_runs: how many live runs are wanted in all.
            make_live: makes one.
            signals: what ends it.
        """
        for number, again in enumerate(_replications(scenario, max(live_runs, SIMULATED_RUNS)), 1):
            if signals.number is not None:
                return
            resolved = settled(resolve(again, Needed.ALL), again.origin)
            setup = resolved.replace(captures=[], until="duration")
            planned = plan(setup, again.origin)
            if number < SIMULATED_RUNS:
                result = runner.Simulated().measured(again, setup, planned, signals, None)
                self.simulated.append(result.flows)
            if number < live_runs:
                result = make_live(again, setup, planned)
                if result.summary["live"]["valid"]:
                    self.live.append(result.tables["flows"])
                else:
                    self.not_valid.append(result.summary["live"]["not_valid"])

    def beside(self, table: pl.DataFrame) -> pl.DataFrame:
        """The comparison with the runs of both sides, and whether their means differ by more than those do.

        ``within_spread`` is ``yes`` where the means of the goodputs are no further apart than the runs of
        one side, ``no`` where they are, and ``unknown`` where there is one live run alone, whose spread
        nobody knows, and that of the simulation does not reach.
        """
        columns = {"live_runs": len(self.live), "simulated_runs": len(self.simulated)}
        table = table.with_columns(**{name: pl.lit(count) for name, count in columns.items()})
        for prefix, runs in (("", self.live), ("simulated_", self.simulated)):
            table = table.join(_extent(runs, prefix), on="flow", how="left", maintain_order="left")
        apart = (pl.col(f"simulated_{_MEAN}") - pl.col(_MEAN)).abs()
        spreads = [pl.col(f"{prefix}{_MOST}") - pl.col(f"{prefix}{_LEAST}") for prefix in ("", "simulated_")]
        within = apart <= pl.max_horizontal(spreads)
        beyond = pl.lit("no" if len(self.live) > 1 else "unknown")
        verdict = pl.when(within).then(pl.lit("yes")).when(within.is_not_null()).then(beyond)
        return table.with_columns(within_spread=verdict).drop(_MEAN, f"simulated_{_MEAN}")


_LEAST, _MOST, _MEAN = "goodput_least_mbps", "goodput_largest_mbps", "goodput_mean_mbps"


def _replications(scenario: Scenario, count: int) -> Iterator[Scenario]:
    """The scenario with the numbers of its next replications, without the one that it has."""
    settings = scenario.run_settings
    for number in range(1, count):
        again = settings.model_copy(update={"replication": settings.replication + number})
        yield scenario.model_copy(update={"run_settings": again})


def _extent(runs: Sequence[pl.DataFrame], prefix: str) -> pl.DataFrame:
    """For each flow that all runs have, its least, largest and mean goodput."""
    goodputs = pl.concat([run.select("flow", "name", "goodput_mbps") for run in runs])
    return (
        goodputs.group_by("flow", "name")
        .agg(
            pl.len().alias("runs"),
            pl.col("goodput_mbps").min().alias(f"{prefix}{_LEAST}"),
            pl.col("goodput_mbps").max().alias(f"{prefix}{_MOST}"),
            pl.col("goodput_mbps").mean().alias(f"{prefix}{_MEAN}"),
        )
        .filter(pl.col("runs") == len(runs))
        .drop("name", "runs")
    )
