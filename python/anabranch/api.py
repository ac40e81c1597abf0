"""The public names of the package, together: what ``anabranch.NAME`` is.

A module of its own, so that ``import anabranch`` takes no time: ``__init__`` imports it when the first of its
names is asked for. Scenarios and results get here what is done with them: the tables themselves know neither
what runs them nor what draws them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch import result as tables
from anabranch import runner, stepping
from anabranch.errors import AnabranchError, Problem, ResultError, ScenarioError, StudyError
from anabranch.routes import Routes
from anabranch.routes import routes as routes_of
from anabranch.scenario import (
    Capture,
    Event,
    LinkOverride,
    LinkSettings,
    Network,
    NewNode,
    Routing,
    Run,
    Traffic,
    Transport,
)
from anabranch.scenario import scenario as file
from anabranch.study import Factor, Level, Metric, Range, Study, StudyResult

if TYPE_CHECKING:
    from anabranch.forwarding import ForwardingCheck
    from anabranch.report.plots.run_plots import RunPlots
    from anabranch.worst_loads import WorstLoads


class Result(tables.Result):
    """Tables and summary of a run, with their figures."""

    def _repr_html_(self) -> str:
        from anabranch import notebook  # noqa: PLC0415 - only notebooks ask

        return notebook.result_html(self)

    @property
    def plot(self) -> RunPlots:
        """Figures of the run: ``plot.goodput()``, ``plot.network(by="queue")``, ..."""
        from anabranch.report.plots.run_plots import RunPlots  # noqa: PLC0415 - slow to import

        return RunPlots(self)

    def save(
        self,
        folder: Path | str,
        *,
        scenario: file.Scenario | None = None,
        captures: Path | None = None,
        add: Callable[[Path], object] | None = None,
        replace: bool = False,
        page: bool = True,
    ) -> Path:
        """Writes the result folder, all of it or nothing: it appears under its name when it is complete.

        Args:
            folder: where; an earlier result there is replaced.
            scenario: kept in the folder as ``scenario.toml``, every default written out, with its topology
                file if it has one.
            captures: folder of capture files, to be copied in.
            add: writes what else belongs into the folder; called with the folder that will take its place.
            replace: go on though the folder has other files, which stay in it.
            page: whether to write ``report.html`` and figures as well, if ``add`` is left out.

        Returns:
            The folder.

        Raises:
            ResultError: if the folder has other files, is being written to, or cannot be written.
        """
        if add is None and page:
            add = runner.page_writer(self)
        return super().save(folder, scenario=scenario, captures=captures, add=add, replace=replace)


class Scenario(file.Scenario):
    """Everything one run needs: network, routing or controller, traffic, transports, events, measurements."""

    def _repr_html_(self) -> str:
        from anabranch import notebook  # noqa: PLC0415 - only notebooks ask

        return notebook.scenario_html(self)

    def routes(self) -> Routes:
        """The routes of all its pairs; nothing is simulated.

        Raises:
            ScenarioError: if the scenario cannot be run.
        """
        return routes_of(self)

    def check_forwarding(self) -> ForwardingCheck:
        """Whether routers that each forward by the metric agree on its paths; nothing is simulated.

        Raises:
            ScenarioError: if the scenario cannot be run, or its routes are not those of a metric.
        """
        from anabranch.forwarding import check_forwarding  # noqa: PLC0415 - few ask

        return check_forwarding(self)

    def worst_case(self, *, failures: bool = False) -> WorstLoads:
        """The highest load of every link within ``routing.demand``, with a matrix that causes it.

        Args:
            failures: look at every failure of a single edge (both directions of a link) as well.

        Raises:
            ScenarioError: if the scenario cannot be run, or has no bounds.
        """
        from anabranch.worst_loads import worst_loads  # noqa: PLC0415 - imports solvers

        return worst_loads(self, failures=failures)

    def start(self) -> Simulation:
        """A run in steps: it stands at time zero, and goes on when it is told to.

        Raises:
            ScenarioError: if the scenario cannot be run.
        """
        return Simulation(self)

    def run(self, out: Path | str | None = None, *, page: bool = True, replace: bool = False) -> Result:
        """Runs it; with ``out``, the result is saved in that folder, with ``page`` its page and figures too.

        Raises:
            ScenarioError: if the scenario cannot be run.
            ResultError: if the folder has other files, without ``replace``, or cannot be written.
        """
        return run(self, out=out, page=page, replace=replace)


class Simulation(stepping.Simulation):
    """A run that goes on when it is told to."""

    def finish(self, out: Path | str | None = None, *, page: bool = True, replace: bool = False) -> Result:
        """Ends the run where it is; with ``out``, the result is saved in that folder.

        Raises:
            ResultError: if the folder has other files, without ``replace``, or cannot be written.
        """
        found = super().finish(out, page=page, replace=replace)
        return Result(found.tables, found.summary)


def run(
    scenario: file.Scenario | Path | str,
    *,
    out: Path | str | None = None,
    page: bool = True,
    replace: bool = False,
    progress: Callable[[float, int], None] | None = None,
    plan_progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Simulates a scenario, or that of a file; :func:`anabranch.runner.run` has the arguments and errors.

    In a notebook, a run that is not told whom to tell of its progress shows it.

    Returns:
        What was measured. After Ctrl-C that is what was measured until then, and
        ``summary["interrupted"]`` is true.
    """
    if not isinstance(scenario, file.Scenario):
        scenario = Scenario.load(scenario)
    if progress is None and plan_progress is None and "ipykernel" in sys.modules:
        from anabranch.progress import run_progress  # noqa: PLC0415 - only notebooks show it

        with run_progress(scenario.title, scenario.run_settings.duration.seconds) as told:
            found = runner.run(
                scenario, out=out, page=page, replace=replace, progress=told.run, plan_progress=told.plan
            )
    else:
        found = runner.run(
            scenario, out=out, page=page, replace=replace, progress=progress, plan_progress=plan_progress
        )
    return Result(found.tables, found.summary)


def _routes_html(routes: Routes) -> str:
    from anabranch import notebook  # noqa: PLC0415 - only notebooks ask

    return notebook.routes_html(routes)


def _study_html(result: StudyResult) -> str:
    from anabranch import notebook  # noqa: PLC0415 - only notebooks ask

    return notebook.study_html(result)


# Below they know nothing of what draws them.
setattr(Routes, "_repr_html_", _routes_html)  # noqa: B010 - a type checker need not know
setattr(StudyResult, "_repr_html_", _study_html)  # noqa: B010


__all__ = [
    "AnabranchError",
    "Capture",
    "Event",
    "Factor",
    "Level",
    "LinkOverride",
    "LinkSettings",
    "Metric",
    "Network",
    "NewNode",
    "Problem",
    "Range",
    "Result",
    "ResultError",
    "Routes",
    "Routing",
    "Run",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "Study",
    "StudyError",
    "StudyResult",
    "Traffic",
    "Transport",
    "run",
]
