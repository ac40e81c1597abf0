"""``anabranch evaluate``: a congestion control over the scenarios of RFC 9743."""

from __future__ import annotations

from dataclasses import replace as replace_field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anabranch.process.console import (
    EXIT_INCOMPLETE,
    JobsOption,
    JsonOption,
    ReplaceOption,
    console,
    print_json,
    say,
)
from anabranch.process.signals import exit_status
from anabranch.terminal import values
from anabranch.terminal.command_options import TrustOption

if TYPE_CHECKING:
    from anabranch.study.evaluation import Control


def evaluate(
    control: Annotated[
        str,
        typer.Argument(
            metavar="CONTROL",
            help="A preset of TCP, or a class of your own: module:Class, file.py:Class.",
            autocompletion=values.tcp_presets,
        ),
    ],
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET",
            help="What the rest of the sender does where CONTROL is a class; newreno if left out.",
            autocompletion=values.tcp_presets,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="Set a field of the transport, such as congestion_control.beta=0.8; may be repeated.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Only these sections of RFC 9743, such as 5.1,7.10."),
    ] = None,
    replications: Annotated[
        int | None, typer.Option(metavar="N", help="Runs of each scenario; 5 if left out.", min=1)
    ] = None,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder; results/evaluate- and the control's name if left out."),
    ] = None,
    replace: ReplaceOption = False,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Evaluate a congestion control by RFC 9743 and RFC 5166, beside CUBIC; write the report for a draft."""
    from anabranch.media.terminal import show  # noqa: PLC0415
    from anabranch.process.progress import study_progress  # noqa: PLC0415
    from anabranch.results.folders import adding  # noqa: PLC0415 - as every command, when it is used
    from anabranch.results.result import json_ready  # noqa: PLC0415
    from anabranch.study.evaluation import REPLICATIONS, Extent, control_of, view  # noqa: PLC0415
    from anabranch.study.evaluation import evaluate as run_evaluation  # noqa: PLC0415

    chosen = _agreed(control_of(control, preset, set_ or (), trust=trust))
    folder = out if out is not None else Path("results") / f"evaluate-{_file_name(control)}"
    sections = [part.strip() for part in (only or "").split(",") if part.strip()]
    try:
        with adding(folder, view.FOLDER_KIND, view.FILES, replace=replace) as place:
            extent = Extent(tuple(sections), replications or REPLICATIONS)
            outcome = run_evaluation(
                chosen, folder, extent, jobs=jobs, progress=study_progress, replace=replace
            )
            view.write(outcome, place.partial)
            place.put()
    except KeyboardInterrupt:
        kept = f"; finished runs are kept in {folder}, and the same command goes on from there"
        say(f"interrupted{kept if folder.is_dir() else ''}")
        raise typer.Exit(exit_status()) from None
    if as_json:
        print_json(json_ready({"folder": str(folder), **outcome.data()}))
    else:
        show(console(), view.pieces(outcome, folder))
    if outcome.failed:
        raise typer.Exit(EXIT_INCOMPLETE)


def _agreed(control: Control) -> Control:
    """The control, to whose code somebody has agreed; a terminal is asked.

    Raises:
        ConsentError: if its code may not run.
        ScenarioError: if it is none.
    """
    from anabranch.own.consent import asked_about  # noqa: PLC0415 - as every command, when it is used
    from anabranch.scenario.provenance import Provenance  # noqa: PLC0415
    from anabranch.setup import Needed, agree  # noqa: PLC0415
    from anabranch.study.evaluation.cases import PLAINEST  # noqa: PLC0415

    scenario = control.scenario(PLAINEST.scenario, PLAINEST.transports)
    if not scenario.code():
        return control
    asked_about(scenario, partial(agree, scenario, Needed.ALL))
    return replace_field(control, provenance=Provenance.worker(scenario.provenance.agreement))


def _file_name(control: str) -> str:
    """The control's name as a part of a file's."""
    name = control.rpartition(":")[2] or control
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
