"""``anabranch transfers``: what TCP feels of a matrix and of failures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anabranch.errors import Problem, ScenarioError
from anabranch.process.console import JobsOption, JsonOption, console, print_json, say, write
from anabranch.process.signals import exit_status
from anabranch.terminal.command_options import (
    CsvOption,
    DuringOption,
    FailuresOption,
    ScenarioArgument,
    SetOption,
    TrustOption,
    WithoutOption,
    XlsxOption,
    finite,
    load_scenario,
)

if TYPE_CHECKING:
    from anabranch.plans.transfers import Transfers
    from anabranch.report.plan_files import PlanFiles
    from anabranch.study.failure_runs import SimulatedRuns
    from anabranch.study.result import StudyResult


def transfers(
    scenario: ScenarioArgument,
    sizes: Annotated[
        str, typer.Option(metavar="SIZES", help='Sizes between commas: "100 kB,10 MB".')
    ] = "100 kB,10 MB",
    transport: Annotated[str, typer.Option(metavar="NAME", help="A preset of one path.")] = "linux-cubic",
    set_: SetOption = None,
    without: WithoutOption = None,
    during: DuringOption = None,
    failures: FailuresOption = None,
    simulate: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Simulate the N failures that harm most, and none, as well."),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1e-3, max=1e6, callback=finite, help="Simulated time of each run."
        ),
    ] = 1.0,
    replications: Annotated[
        int, typer.Option(metavar="N", min=1, help="Runs of each failure and size; 3 have intervals.")
    ] = 3,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of the simulated runs: the same command goes on from there."
        ),
    ] = None,
    csv: CsvOption = None,
    xlsx: XlsxOption = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the goodput and completion of transfers beside a matrix, also in failures, by models."""
    from anabranch.plans.transfers import transfers as by_model  # noqa: PLC0415 - as every command, when used
    from anabranch.process.progress import counted_progress, study_progress  # noqa: PLC0415
    from anabranch.report.plan_files import PlanFiles  # noqa: PLC0415
    from anabranch.study.failure_runs import SimulatedRuns, simulate_failures  # noqa: PLC0415

    files = PlanFiles(csv, xlsx)
    if out is not None and simulate is None:
        raise ScenarioError([Problem("--out", "is for simulated runs; give --simulate N as well")])
    loaded = load_scenario(
        scenario, set_, None, routes_only=True, trust=trust, without=without, during=during
    )
    title = loaded.title or scenario.stem
    with counted_progress(title, "{done:,} of {of:,} looked at") as progress:
        outcome = by_model(
            loaded, _sizes(sizes), transport=transport, failures=failures, jobs=jobs, progress=progress
        )
    simulated = None
    if simulate is not None:
        runs = SimulatedRuns(simulate, seconds, replications)
        _announce(outcome, runs)
        try:
            with study_progress(title) as progress:
                simulated = simulate_failures(loaded, outcome, runs, jobs=jobs, out=out, progress=progress)
        except KeyboardInterrupt:
            if out is None:
                raise
            say(f"interrupted; what is done is kept in {out}, and the same command goes on from there")
            raise typer.Exit(exit_status()) from None
    _show(title, outcome, simulated, files, as_json=as_json)


def _announce(outcome: Transfers, runs: SimulatedRuns) -> None:
    """Says how much there is to simulate, where it takes long."""
    from anabranch.study.failure_runs import MANY_PACKETS, packets_of  # noqa: PLC0415

    if (packets := packets_of(outcome, runs)) > MANY_PACKETS:
        say(
            f"some {packets / 1e6:,.0f} million packets are to be simulated, which takes long; a shorter "
            "--seconds, or a lesser matrix (--set routing.demand.matrix.scale=0.01), has fewer"
        )


def _show(
    title: str, outcome: Transfers, simulated: StudyResult | None, files: PlanFiles, *, as_json: bool
) -> None:
    """Shows what came out, and writes the files that are wanted."""
    from anabranch.media.terminal import show  # noqa: PLC0415
    from anabranch.report.views.study import study_pieces  # noqa: PLC0415
    from anabranch.report.views.transfers import (  # noqa: PLC0415
        transfers_document,
        transfers_pieces,
        transfers_table,
    )

    for warning in (*outcome.warnings, *(() if simulated is None else simulated.warnings)):
        say(f"warning: {warning}")
    if as_json:
        print_json(transfers_document(outcome, simulated))
    else:
        pieces = transfers_pieces(outcome)
        if simulated is not None:
            pieces += study_pieces("Simulated", simulated)
        show(console(), pieces)
    lines = files.write_tables(title, [transfers_table(outcome)])
    if lines and not as_json:
        write("\n".join(lines))


def _sizes(text: str) -> list[int]:
    """Sizes in bytes.

    Raises:
        ScenarioError: one of them is none.
    """
    from anabranch import _core  # noqa: PLC0415

    try:
        sizes = [_core.parse_bytes(one.strip()) for one in text.split(",")]
    except ValueError as error:
        raise ScenarioError([Problem("--sizes", str(error))]) from None
    if min(sizes) < 1:
        raise ScenarioError([Problem("--sizes", "a transfer has a byte at least")])
    return sizes
