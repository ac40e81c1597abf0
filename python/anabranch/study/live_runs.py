"""Live runs of a study: one after the other, repeated where the machine was too busy to keep to the clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from anabranch import _core
from anabranch.errors import LiveError
from anabranch.process.signals import deferred
from anabranch.results.result import Column, Result
from anabranch.routing import Planned
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup

SELF_CHECK = "live"
"""Table of a study with the self-check of each of its live runs."""
MOST_TRIES = 3
"""Times that a live run is made, if none of them is valid, before it counts as failed."""
_NOT_KEPT = ("nodes", "routes", "next_hops")


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A live run that is valid."""

    result: Result
    tries: int
    """How often it was made."""

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables that a study keeps of a run."""
        return {name: table for name, table in self.result.tables.items() if name not in _NOT_KEPT}

    def columns(self) -> dict[str, dict[str, Column]]:
        """The measurements as columns, as metrics read them."""
        return {
            name: {each.name: _column(each) for each in table.iter_columns()}
            for name, table in self.tables().items()
        }

    def self_check(self) -> pl.DataFrame:
        """How well it kept to the clock, and where, as a row."""
        live = self.result.summary["live"]
        load_before, load_after = live["load_before"][0], live["load_after"][0]
        return pl.DataFrame(
            {
                "kernel": live["kernel"],
                "started": self.result.summary["started"],
                "tries": self.tries,
                "flows_real": live["flows_real"],
                "flows_simulated": live["flows_simulated"],
                "real_time": live["real_time"],
                "load_before": load_before,
                "load_after": load_after,
                **live["check"],
            },
            schema_overrides={"realised_loss": pl.Float64},
        )

    @property
    def engine_cpu_s(self) -> float:
        """Processor time of the network's thread."""
        return float(self.result.summary["live"]["check"]["cpu_share"]) * float(
            self.result.summary["ended_s"]
        )


def check_live(scenario: Scenario, setup: Setup) -> None:
    """Makes sure that a scenario can be run live here.

    Raises:
        ScenarioError: if the kernel must not be asked for what it wants.
        LiveError: if the machine cannot do it.
    """
    from anabranch.live import Live  # noqa: PLC0415 - only live studies need it

    Live().prepared(scenario, setup)


def run_live(scenario: Scenario, setup: Setup, planned: Planned) -> LiveRun:
    """Makes a live run, again where it is not valid.

    Raises:
        LiveError: if the system ends it, or no run is valid.
    """
    from anabranch.live import Live  # noqa: PLC0415 - only live studies need it

    why = ""
    for tries in range(1, MOST_TRIES + 1):
        live_run = Live()
        prepared = live_run.prepared(scenario, setup)
        with deferred(_core.inside_own_code) as signals:
            result = live_run.measured(scenario, prepared, planned, signals, None)
        live = result.summary["live"]
        if live["valid"]:
            return LiveRun(result, tries)
        why = live["not_valid"]
    raise LiveError(f"none of {MOST_TRIES} live runs is valid; of the last one {why}")


def _column(series: pl.Series) -> Column:
    """Values as the core gives them: numbers as an array, null as NaN, and texts as a list."""
    if series.dtype == pl.String:
        return series.fill_null("").to_list()
    return series.to_numpy()


def simulated_hosts(columns: dict[str, Any]) -> dict[str, Any]:
    """The flows of a simulated run in a live study, with the column that live runs have."""
    return {**columns, "hosts": ["simulated"] * len(columns["flow"])}
