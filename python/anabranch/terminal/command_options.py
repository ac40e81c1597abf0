"""Arguments that several commands take, and the scenario that they name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand

from anabranch.errors import Problem, ScenarioError
from anabranch.report.looks import FORMATS as FIGURE_FORMS
from anabranch.terminal import values
from anabranch.terminal.given_files import SCENARIO, STUDY, other_kinds_told
from anabranch.text.suggest import listed

if TYPE_CHECKING:
    from anabranch.scenario.scenario import Scenario
    from anabranch.study import Study

ScenarioArgument = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML).")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help='Set a field, such as network.links.capacity="20 Mbps"; may be repeated.',
        autocompletion=values.fields,
    ),
]
FiguresOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FORM",
        help=f"Write every figure as well: {listed(FIGURE_FORMS)}, into figures/; may be repeated.",
        autocompletion=values.figure_forms,
    ),
]
CsvOption = Annotated[
    Path | None, typer.Option("--csv", metavar="DIR", help="Write the tables into a folder, as CSV.")
]
XlsxOption = Annotated[
    Path | None,
    typer.Option("--xlsx", metavar="FILE", help="Write the tables as a spreadsheet with charts (.xlsx)."),
]
PageOption = Annotated[
    Path | None,
    typer.Option("--page", metavar="FILE", help="Write a page for those who decide (.html), with failures."),
]
AgainstOption = Annotated[
    Path | None,
    typer.Option("--against", metavar="SCENARIO", help="Compare with the routes of another scenario file."),
]
AgainstSimulationOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="simulation",
        help="Simulate each live run as well, and compare.",
        autocompletion=lambda: ["simulation"],
    ),
]
LiveRunsOption = Annotated[
    int | None,
    typer.Option(
        "--runs", metavar="N", min=1, help="Live runs that --against simulation compares; 3 if left out."
    ),
]
KernelReceiversOption = Annotated[
    bool,
    typer.Option("--kernel-receivers", help="Let the kernel receive the flows of TCP that it cannot send."),
]
SimulatedReceiversOption = Annotated[
    bool,
    typer.Option("--simulated-receivers", help="Simulate the receivers of the flows that the kernel sends."),
]
MapOption = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="Draw the loads on a map: a file .png, .svg or .pdf."),
]


WithoutOption = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="NAME",
        help='Take a link, "Oslo-Bergen", or a node out of service; may be repeated.',
    ),
]
DuringOption = Annotated[
    list[str] | None,
    typer.Option(
        "--during",
        metavar="WINDOW",
        help="Take out of service what a window of network.maintenance names; may be repeated.",
    ),
]
FailuresOption = Annotated[
    str | None,
    typer.Option(
        "--failures",
        metavar="[KINDS]",
        help="Look at failures as well: links,nodes,pairs,groups,sites,maintenance, or maintenance+links "
        "for both at once; links if left out.",
        autocompletion=values.failure_kinds,
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on this Dask cluster, such as tcp://10.0.0.1:8786; it can run code here.",
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Let code in Python run that the scenario names, whoever has written it; see docs/security.md.",
    ),
]


class OptionalValues(TyperCommand):
    """A command with an option whose value may be left out; typer has none of these."""

    usual: ClassVar[Mapping[str, str]] = {"--failures": "links"}
    """Such options, with the value that they have then."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the arguments, with the values that were left out."""
        given = list[str]()
        for place, argument in enumerate(args):
            given.append(argument)
            following = args[place + 1 : place + 2]
            if argument in self.usual and not (following and _is_value(following[0])):
                given.append(self.usual[argument])
        return super().parse_args(ctx, given)


def finite(value: float | None) -> float | None:
    """The value of an option that is a number: its callback, because no bound keeps NaN out.

    Raises:
        typer.BadParameter: if it is infinite, or no number.
    """
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no finite number.")
    return value


GrowthOption = Annotated[
    float | None,
    typer.Option(
        metavar="PERCENT",
        min=0.0,
        callback=finite,
        help="Growth of all traffic a year: say when links are full.",
    ),
]


def _is_value(argument: str) -> bool:
    """Whether this is no other option, and no file."""
    return not argument.startswith("-") and not argument.endswith(".toml") and not Path(argument).is_file()


def load_scenario(
    file: Path,
    settings: Sequence[str] | None,
    seed: int | None,
    *,
    routes_only: bool,
    trust: bool,
    without: Sequence[str] | None = None,
    during: Sequence[str] | None = None,
) -> Scenario:
    """The scenario in a file, with fields set from the command line; a terminal is asked about its code.

    Args:
        file: the scenario.
        settings: texts FIELD=VALUE.
        seed: in place of ``run.seed``; None leaves it.
        routes_only: whether only its routes are wanted, so that no other code runs.
        trust: let its code run without a question.
        without: links and nodes that are out of service as well.
        during: windows of maintenance whose links and nodes are so, too.

    Raises:
        ScenarioError: with everything that is wrong with it.
        ConsentError: if its code may not run.
    """
    from anabranch.scenario.scenario import Scenario  # noqa: PLC0415 - as every command, when it is used

    overrides: dict[str, str] = {}
    for setting in settings or ():
        field, separator, value = setting.partition("=")
        if not separator or not field.strip():
            raise ScenarioError([Problem("", f"{setting!r} is not FIELD=VALUE, such as run.seed=2")], "--set")
        overrides[field.strip()] = value.strip()
    if seed is not None:
        overrides["run.seed"] = str(seed)
    with other_kinds_told(file, SCENARIO):
        scenario = Scenario.load(file, overrides)
    if without or during:
        from anabranch.setup.out_of_service import without as taken_out  # noqa: PLC0415 - few ask

        scenario = taken_out(scenario, without or (), during or ())
    if trust:
        scenario = scenario.trusted()
    if scenario.code():
        from anabranch.own.consent import asked_about  # noqa: PLC0415 - few scenarios have such code
        from anabranch.setup import Needed, agree  # noqa: PLC0415

        # Before anything else is on the terminal.
        asked_about(scenario, partial(agree, scenario, Needed.ROUTES if routes_only else Needed.ALL))
    return scenario


def load_study(file: Path, *, trust: bool) -> Study:
    """The study in a file; a terminal is asked about its code, unless it is trusted.

    Raises:
        StudyError: with everything that is wrong with it.
        ConsentError: if its code may not run.
    """
    from anabranch.own.consent import asked_about  # noqa: PLC0415 - as every command, when it is used
    from anabranch.study import Study  # noqa: PLC0415
    from anabranch.study.sources import study_agreement  # noqa: PLC0415

    with other_kinds_told(file, STUDY):
        study = Study.load(file)
    if trust:
        study = study.trusted()
    asked_about(study, partial(study_agreement, study))
    return study
