"""``anabranch weights``: IGP weights of links under which loads are low."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.process.console import JobsOption, JsonOption, ReplaceOption, console, print_json, say, write
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


def weights(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    without: WithoutOption = None,
    during: DuringOption = None,
    failures: FailuresOption = None,
    max_changes: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Most interfaces that get another weight; all if left out."),
    ] = None,
    max_weight: Annotated[
        int, typer.Option(metavar="N", min=1, max=2**32 - 1, help="The greatest weight; OSPF has 16 bits.")
    ] = 65_535,
    symmetric: Annotated[
        bool, typer.Option("--symmetric", help="Give both directions of a link the same weight.")
    ] = False,
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.01,
            max=1e6,
            callback=finite,
            help="Work of the search, about so long on one core.",
        ),
    ] = 10.0,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write weights.csv, and scenario.toml with ECMP by it, there."),
    ] = None,
    replace: ReplaceOption = False,
    csv: CsvOption = None,
    xlsx: XlsxOption = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Search IGP weights of links for ECMP under which the highest load is low; nothing is simulated."""
    from anabranch.media.terminal import show  # noqa: PLC0415 - as every command, when it is used
    from anabranch.plans.weight_search import WeightLimits, search_weights  # noqa: PLC0415
    from anabranch.process.progress import counted_progress  # noqa: PLC0415
    from anabranch.report.plan_files import PlanFiles  # noqa: PLC0415
    from anabranch.report.views.weights import (  # noqa: PLC0415
        weight_document,
        weight_pieces,
        weight_view_tables,
    )

    files = PlanFiles(csv, xlsx)
    loaded = load_scenario(
        scenario, set_, None, routes_only=True, trust=trust, without=without, during=during
    )
    limits = WeightLimits(max_changes, max_weight, symmetric, time_limit)
    title = loaded.title or scenario.stem
    with counted_progress(title, "{done:,} of {of:,} units of work done") as progress:
        search = search_weights(loaded, limits, failures=failures, jobs=jobs, progress=progress)
    for warning in search.warnings:
        say(f"warning: {warning}")
    if as_json:
        print_json(weight_document(search))
    else:
        show(console(), weight_pieces(search))
    lines = files.write_tables(title, weight_view_tables(search))
    if out is not None:
        lines += [f"written: {path}" for path in search.table.save(loaded, out, replace_files=replace)]
    if lines and not as_json:
        write("\n".join(lines))
