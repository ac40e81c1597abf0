"""Arguments that several commands take, and the scenario that they name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anabranch.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from anabranch.scenario.scenario import Scenario

ScenarioArgument = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML).")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help='Set a field, such as network.links.capacity="20 Mbps"; may be repeated.',
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
    typer.Option("--against", metavar="simulation", help="Simulate each live run as well, and compare."),
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


def load_scenario(file: Path, settings: Sequence[str] | None, seed: int | None) -> Scenario:
    """The scenario in a file, with fields set from the command line.

    Args:
        file: the scenario.
        settings: texts FIELD=VALUE.
        seed: in place of ``run.seed``; None leaves it.

    Raises:
        ScenarioError: with everything that is wrong with it.
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
    return Scenario.load(file, overrides)
