"""A network and its plan for those who decide: loads, failures, and what changes between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anabranch.plans.measures import Measures, PriceList, measures
from anabranch.plans.worst_loads import WorstLoads, worst_loads
from anabranch.scenario.scenario import Scenario


@dataclass(frozen=True)
class Brief:
    """The content of a page for those who decide."""

    present: WorstLoads
    """With failures."""
    growth_a_year: float | None
    """By which ratio all traffic grows each year; None where nobody says."""
    planned: WorstLoads | None = None
    """The same by the planned network; None without a plan."""
    measures: Measures | None = None
    warnings: tuple[str, ...] = ()

    @property
    def states(self) -> list[tuple[str, WorstLoads]]:
        """The network today, and as it is planned."""
        planned = [] if self.planned is None else [("planned", self.planned)]
        return [("today", self.present), *planned]


def brief_of(
    present: Scenario,
    planned: Scenario | None,
    *,
    growth_a_year: float | None,
    failures: str,
    prices: PriceList | None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Brief:
    """The loads of a network and of its plan, and what is between them.

    Args:
        present: the network now.
        planned: the same with other costs, capacities or links; None without a plan.
        growth_a_year: ratio by which all traffic grows each year.
        failures: kinds of failures, as of :func:`~anabranch.plans.failures.failures_of`.
        prices: of links; None where nobody says.
        jobs: threads for failures; one for each core if None.
        progress: told of the failures that are done, and of all.

    Raises:
        ScenarioError: if one of them cannot be read, or has no traffic.
    """
    now = worst_loads(present, failures=failures, jobs=jobs, progress=progress)
    if planned is None:
        return Brief(now, growth_a_year, warnings=now.warnings)
    then = worst_loads(planned, failures=failures, jobs=jobs, progress=progress)
    warnings = [*now.warnings, *(f"--plan: {one}" for one in then.warnings if one not in now.warnings)]
    if planned.routing.demand != present.routing.demand:
        warnings.append(
            "--plan: its routing.demand is another one, so that not the plan alone makes the change"
        )
    return Brief(now, growth_a_year, then, measures(present, planned, prices), tuple(warnings))
