"""From a scenario to its picture: a run, its routes, its loads or its network, in whatever process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from anabranch.report.html.run_data import run_document
from anabranch.report.run_folder import page_writer
from anabranch.results.result import Result
from anabranch.runs.runner import run
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve
from anabranch.studio.pictures import load_picture, network_picture, routes_picture
from anabranch.studio.work import Data, Teller

MODES = ("run", "routes", "loads", "none")
"""What the page shows of a scenario; ``none`` is its network alone."""


def is_long(scenario: Scenario, mode: str) -> bool:
    """Whether a picture takes a solver, or a class of the user's, which end only with their process."""
    if mode == "none":
        return False
    choices = [entry.routing for entry in scenario.traffic if entry.routing is not None]
    return mode == "loads" or any(routing.planned for routing in [scenario.routing, *choices])


def picture_of(scenario: Scenario, mode: str, look: Callable[[], None], tell: Teller) -> Data:
    """The picture that the page draws of a scenario.

    Args:
        scenario: the scenario.
        mode: one of :data:`MODES`.
        look: called now and then; KeyboardInterrupt in it ends the work, and a run keeps what it measured.
        tell: told how far it is.

    Raises:
        AnabranchError: with what is wrong.
        KeyboardInterrupt: if it ends before there is something to show.
    """
    if mode == "run":
        return run_document(simulated(scenario, look, tell))
    setup = resolve(scenario, Needed.ROUTES)
    if mode == "routes":
        from anabranch.plans.routes import routes  # noqa: PLC0415 - a run need not wait

        return routes_picture(setup, routes(scenario, lambda *_: look()))
    if mode == "loads":
        from anabranch.plans.worst_loads import worst_loads  # noqa: PLC0415 - imports solvers

        return load_picture(setup, worst_loads(scenario))
    return network_picture(setup)


def simulated(
    scenario: Scenario, look: Callable[[], None], tell: Teller, *, out: Path | None = None
) -> Result:
    """The run, which tells how far it is; captures are written into a folder of a result alone.

    Raises:
        KeyboardInterrupt: if it is to end before it has begun.
        ResultError: if the folder cannot be written.
    """
    end_s = scenario.run_settings.duration.seconds

    def progress(simulated_s: float, _packet_hops: int) -> None:
        look()
        tell({"progress": {"done": simulated_s, "all": end_s, "unit": "s simulated"}})

    def planned(done: int, every: int) -> None:
        look()
        tell({"progress": {"done": done, "all": every, "unit": "pairs with routes"}})

    made = scenario if out is not None else without_captures(scenario)
    write = None if out is None else page_writer()
    return run(made, out=out, write=write, progress=progress, plan_progress=planned)


def without_captures(scenario: Scenario) -> Scenario:
    """The scenario with nothing that writes files."""
    return scenario.model_copy(update={"capture": []}) if scenario.capture else scenario
