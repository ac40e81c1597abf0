"""``anabranch capacity``: modules to buy so that links carry the traffic in every failure."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Annotated

import typer

from anabranch.errors import Problem, ScenarioError
from anabranch.process.console import JobsOption, JsonOption, console, print_json, say, write
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


def capacity(
    scenario: ScenarioArgument,
    module: Annotated[
        str, typer.Option(metavar="RATE", help='Capacity of a module, each direction: "100 Gbps".')
    ],
    set_: SetOption = None,
    without: WithoutOption = None,
    during: DuringOption = None,
    failures: FailuresOption = None,
    most: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", min=1.0, max=100.0, callback=finite, help="The highest load of a link."
        ),
    ] = 100.0,
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV of prices of a module: from,to,price; 1 if left out."),
    ] = None,
    jobs: JobsOption = None,
    csv_: CsvOption = None,
    xlsx: XlsxOption = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the modules to buy so that no link is overloaded in any failure; nothing is simulated."""
    from anabranch import _core  # noqa: PLC0415 - as every command, when it is used
    from anabranch.media.terminal import show  # noqa: PLC0415
    from anabranch.plans.capacity import Purchase, capacity_to_buy  # noqa: PLC0415
    from anabranch.report.plan_files import PlanFiles  # noqa: PLC0415
    from anabranch.report.views.capacity import (  # noqa: PLC0415
        capacity_document,
        capacity_pieces,
        capacity_table,
    )

    try:
        module_mbps = _core.parse_rate(module) / 1e6
    except ValueError as error:
        raise ScenarioError([Problem("--module", str(error))]) from None
    if module_mbps <= 0:
        raise ScenarioError([Problem("--module", f"{module} buys nothing; give a rate above zero")])
    files = PlanFiles(csv_, xlsx)
    loaded = load_scenario(
        scenario, set_, None, routes_only=True, trust=trust, without=without, during=during
    )
    purchase = Purchase(module_mbps, most / 100, None if prices is None else _prices(prices))
    plan = capacity_to_buy(loaded, purchase, failures=failures or "links", jobs=jobs)
    for warning in plan.warnings:
        say(f"warning: {warning}")
    if as_json:
        print_json(capacity_document(plan))
    else:
        show(console(), capacity_pieces(plan))
    lines = files.write_tables(loaded.title or scenario.stem, [capacity_table(plan)])
    if lines and not as_json:
        write("\n".join(lines))


def _prices(file: Path) -> dict[frozenset[str], float]:
    """The prices of a file.

    Raises:
        ScenarioError: if it cannot be read, or a row is no price of a link.
    """
    from anabranch import _core  # noqa: PLC0415
    from anabranch.setup.files import text_of  # noqa: PLC0415
    from anabranch.text.csv_cells import unescaped  # noqa: PLC0415

    try:
        text = text_of(str(file), None)
    except _core.ProblemError as error:
        raise ScenarioError([Problem("--prices", str(error))]) from None
    rows = csv.DictReader(text.splitlines())
    if not {"from", "to", "price"} <= set(rows.fieldnames or ()):
        raise ScenarioError([Problem("--prices", f"{file}: the header must have from, to and price")])
    prices = dict[frozenset[str], float]()
    for row in rows:
        try:
            price = float(row["price"])
        except (TypeError, ValueError):
            price = math.nan
        if not (math.isfinite(price) and price >= 0):
            message = f"{file}, line {rows.line_num}: the price must be a number from 0"
            raise ScenarioError([Problem("--prices", message)])
        prices[frozenset(unescaped(row[end] or "") for end in ("from", "to"))] = price
    return prices
