"""Runs and their results, with their figures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from anabranch.report.run_folder import page_writer
from anabranch.results import result as tables
from anabranch.runs import runner, stepping
from anabranch.scenario.scenario import Scenario

if TYPE_CHECKING:
    from anabranch.report.plots.run_plots import RunPlots


class Result(tables.Result):
    """Tables and summary of a run, with their figures."""

    def _repr_html_(self) -> str:
        """The table of the flows and, where the run has series, goodput and latencies over time."""
        from anabranch.media.notebook import pieces_html  # noqa: PLC0415 - only notebooks ask
        from anabranch.report.views.run import run_pieces  # noqa: PLC0415 - as above

        names = (name for name in ("goodput", "latency") if name in self.plot.names())
        figures = [getattr(self.plot, name)().drawing() for name in names]
        pieces = run_pieces(str(self.summary.get("title", "")), self)
        return pieces_html(pieces, figures, self.summary.get("warnings", ()))

    @property
    def plot(self) -> RunPlots:
        """Figures of the run: ``plot.goodput()``, ``plot.network(by="queue")``, ..."""
        from anabranch.report.plots.run_plots import RunPlots  # noqa: PLC0415 - slow to import

        return RunPlots(self)

    def save(
        self,
        folder: Path | str,
        *,
        scenario: tables.KeptScenario | None = None,
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
            page: whether to write ``report.html`` as well, if ``add`` is left out.

        Returns:
            The folder.

        Raises:
            ResultError: if the folder has other files, is being written to, or cannot be written.
        """
        if add is None:
            write = page_writer(page=page)
            add = None if write is None else partial(write, self)
        return super().save(folder, scenario=scenario, captures=captures, add=add, replace=replace)


class Simulation(stepping.Simulation):
    """A run that goes on when it is told to."""

    def finish(
        self,
        out: Path | str | None = None,
        *,
        write: runner.FolderWriter | None = None,
        replace: bool = False,
        page: bool = True,
    ) -> Result:
        """Ends the run where it is; with ``out``, the result is saved in that folder, with ``page`` its page.

        ``write`` takes the place of what writes the page.

        Raises:
            ResultError: if the folder has other files, without ``replace``, or cannot be written.
        """
        outcome = super().finish(out, write=write or page_writer(page=page), replace=replace)
        return Result(outcome.tables, outcome.summary)


def run(
    scenario: Scenario | Path | str,
    *,
    out: Path | str | None = None,
    page: bool = True,
    replace: bool = False,
    progress: Callable[[float, int], None] | None = None,
    plan_progress: Callable[[int, int], None] | None = None,
    live: bool = False,
    cores: int | Literal["all"] = 1,
    trust: bool = False,
) -> Result:
    """Simulates a scenario, or that of a file; ``runs/runner.py`` has the arguments and errors.

    With ``trust``, code in Python that the scenario names runs whoever has written it (docs/security.md).

    With ``live``, it runs between real hosts of this machine; :func:`anabranch.live.run` has the errors.

    In a notebook, a run that is not told whom to tell of its progress shows it.

    Returns:
        What was measured. After Ctrl-C that is what was measured until then, and
        ``summary["interrupted"]`` is true.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    if trust:
        scenario = scenario.trusted()
    kind = None
    if live and cores != 1:
        from anabranch.errors import Problem, ScenarioError  # noqa: PLC0415 - for a mistake

        raise ScenarioError([Problem("cores", "the network of a live run works on one; leave it out")])
    if live:
        from anabranch.live import Live  # noqa: PLC0415 - few runs are live

        kind = Live()
    write = page_writer(page=page)
    run_it = partial(runner.run, scenario, out=out, write=write, replace=replace, cores=cores, kind=kind)
    if progress is None and plan_progress is None and "ipykernel" in sys.modules:
        from anabranch.process.progress import run_progress  # noqa: PLC0415 - only notebooks show it

        with run_progress(scenario.title, scenario.run_settings.duration.seconds) as bars:
            outcome = run_it(progress=bars.run, plan_progress=bars.plan)
    else:
        outcome = run_it(progress=progress, plan_progress=plan_progress)
    return Result(outcome.tables, outcome.summary)
