"""``anabranch brief``: a network for those who decide."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.errors import Problem, ScenarioError
from anabranch.process.console import JobsOption, JsonOption, console, print_json, say, write
from anabranch.terminal.command_options import (
    CsvOption,
    DuringOption,
    FailuresOption,
    GrowthOption,
    PageOption,
    ScenarioArgument,
    SetOption,
    TrustOption,
    WithoutOption,
    XlsxOption,
    load_scenario,
)


def brief(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    without: WithoutOption = None,
    during: DuringOption = None,
    failures: FailuresOption = None,
    growth: GrowthOption = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="SCENARIO",
            help="The network as it is planned: other costs, capacities or links of the same.",
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What links cost: a CSV with capacity_gbps and price (or price_eur)."
        ),
    ] = None,
    csv: CsvOption = None,
    xlsx: XlsxOption = None,
    page: PageOption = None,
    jobs: JobsOption = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Tell those who decide: today, growth, the ten worst failures, what to do, what it costs."""
    from anabranch.media.terminal import show  # noqa: PLC0415 - as every command, when it is used
    from anabranch.plans.brief import brief_of  # noqa: PLC0415
    from anabranch.plans.measures import read_prices  # noqa: PLC0415
    from anabranch.process.progress import counted_progress  # noqa: PLC0415
    from anabranch.report.plan_files import PlanFiles  # noqa: PLC0415
    from anabranch.report.views.brief import brief_document, brief_pieces  # noqa: PLC0415

    files = PlanFiles(csv, xlsx, page)
    if prices is not None and plan is None:
        raise ScenarioError([Problem("--prices", "changes nothing without --plan; give that, too")])
    listed = None if prices is None else read_prices(prices)
    present, *planned = (
        load_scenario(file, set_, None, routes_only=True, trust=trust, without=without, during=during)
        for file in (scenario, *([] if plan is None else [plan]))
    )
    title = present.title or scenario.stem
    with counted_progress(title, "{done:,} of {of:,} looked at") as progress:
        made = brief_of(
            present,
            planned[0] if planned else None,
            growth_a_year=None if growth is None else growth / 100,
            failures=failures or "links,nodes",
            prices=listed,
            jobs=jobs,
            progress=progress,
        )
    for warning in made.warnings:
        say(f"warning: {warning}")
    if as_json:
        print_json(brief_document(title, made))
    else:
        show(console(), brief_pieces(made))
    lines = files.write_brief(title, made)
    if lines and not as_json:
        write("\n".join(lines))
