"""Scenarios, with what is done with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from anabranch.errors import StudioError, installation
from anabranch.scenario import scenario as file

if TYPE_CHECKING:
    from anabranch.api.runs import Result, Simulation
    from anabranch.plans.forwarding import ForwardingCheck
    from anabranch.plans.routes import Routes
    from anabranch.plans.worst_loads import WorstLoads
    from anabranch.studio.widget import Widget


class Scenario(file.Scenario):
    """Everything one run needs: network, routing or controller, traffic, transports, events, measurements."""

    def _repr_html_(self) -> str:
        """What it sets, as TOML; defaults are left out."""
        import tomli_w  # noqa: PLC0415 - only notebooks ask

        from anabranch.media.notebook import code_html  # noqa: PLC0415 - as above

        return code_html(tomli_w.dumps(self.data(given_only=True)))

    def routes(self, *, trust: bool = False) -> Routes:
        """The routes of all its pairs; nothing is simulated.

        With ``trust``, a routing scheme of somebody else's may run (docs/security.md); it is the same below.

        Raises:
            ScenarioError: if the scenario cannot be run.
            ConsentError: if nobody has agreed to code that would run.
        """
        from anabranch.api.routes import routes  # noqa: PLC0415 - imports the metrics, and tables

        return routes(self.trusted() if trust else self)

    def check_forwarding(self) -> ForwardingCheck:
        """Whether routers that each forward by the metric agree on its paths; nothing is simulated.

        Raises:
            ScenarioError: if the scenario cannot be run, or its routes are not those of a metric.
        """
        from anabranch.plans.forwarding import check_forwarding  # noqa: PLC0415 - few ask

        return check_forwarding(self)

    def worst_case(
        self, *, failures: bool | str = False, jobs: int | None = None, trust: bool = False
    ) -> WorstLoads:
        """The highest load of every link within ``routing.demand``, with a matrix that causes it.

        Args:
            failures: look at failures as well: of every single link (both directions) with True, or of these
                kinds, such as ``"links,nodes,maintenance+links"`` (docs/operator.md).
            jobs: threads for the failures; one for each core if None.
            trust: let a routing scheme of somebody else's run.

        Raises:
            ScenarioError: if the scenario cannot be run, or has no bounds.
            ConsentError: if nobody has agreed to code that would run.
        """
        from anabranch.plans.worst_loads import worst_loads  # noqa: PLC0415 - imports solvers

        kinds = failures if isinstance(failures, str) else "links" if failures else None
        return worst_loads(self.trusted() if trust else self, failures=kinds, jobs=jobs)

    def studio(self, *, height: int = 700, trust: bool = False) -> Widget:
        """The scenario with a slider for each number, in a notebook: it runs again with each change.

        The scenario stays as it is; ``.scenario`` of what is returned is the one that the sliders have made.
        With ``trust``, code of somebody else's may run.

        Args:
            height: of the frame, in pixels.
            trust: as above.

        Raises:
            StudioError: if what the studio needs is not installed, or no port is free.
        """
        try:
            from anabranch.studio.widget import widget  # noqa: PLC0415 - an optional extra
        except ModuleNotFoundError as error:
            if error.name not in ("starlette", "uvicorn"):
                raise
            raise StudioError(
                f"the studio needs {error.name}; install it with: {installation('studio')}"
            ) from None
        return widget(self, height=height, trust=trust)

    def start(self, *, trust: bool = False) -> Simulation:
        """A run in steps: it stands at time zero, and goes on when it is told to.

        With ``trust``, code of somebody else's may run.

        Raises:
            ScenarioError: if the scenario cannot be run.
            ConsentError: if nobody has agreed to code that would run.
        """
        from anabranch.api.runs import Simulation  # noqa: PLC0415 - imports what simulates

        return Simulation(self.trusted() if trust else self)

    def run(
        self,
        out: Path | str | None = None,
        *,
        page: bool = True,
        replace: bool = False,
        live: bool = False,
        cores: int | Literal["all"] = 1,
        trust: bool = False,
    ) -> Result:
        """Runs the scenario; with ``out``, the result is saved in that folder, with ``page`` its page too.

        With ``live``, it runs between real hosts of this machine, in real time (docs/live.md). With several
        ``cores``, or all, its network is divided between them, where that pays (docs/parallel.md). With
        ``trust``, code of somebody else's may run.

        Raises:
            ScenarioError: if the scenario cannot be run.
            ConsentError: if nobody has agreed to code that would run.
            LiveError: if the machine can do no live runs.
            ResultError: if the folder has other files, without ``replace``, or cannot be written.
        """
        from anabranch.api.runs import run  # noqa: PLC0415 - imports what simulates

        return run(self, out=out, page=page, replace=replace, live=live, cores=cores, trust=trust)
