"""``anabranch export``: the network and the routes of a scenario in another program's form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.export.formats import FORMATS
from anabranch.process.console import JsonOption, ReplaceOption, console, print_json
from anabranch.terminal import values
from anabranch.terminal.command_options import ScenarioArgument, SetOption, TrustOption, load_scenario
from anabranch.text.suggest import listed


def export(
    scenario: ScenarioArgument,
    to: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help=f"{listed(FORMATS)}.",
            autocompletion=values.export_formats,
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write to.")],
    set_: SetOption = None,
    buckets: Annotated[
        int, typer.Option(metavar="N", help="Most buckets of a group, to which shares are rounded.")
    ] = 64,
    resilient: Annotated[
        bool, typer.Option("--resilient", help="Groups have all N buckets, so that flows keep theirs.")
    ] = False,
    interfaces: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Your own interfaces, for formats of FRR: a CSV, a file of containerlab, or "
            "configurations of FRR.",
        ),
    ] = None,
    present: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Costs of links now: write the changes from them in a safe order. A CSV of weights or "
            "of interfaces, configurations of FRR, or a scenario.",
        ),
    ] = None,
    replace: ReplaceOption = False,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the network and the routes of a scenario for switches, routers and other programs."""
    from anabranch.export.write import export as export_scenario  # noqa: PLC0415 - as every command, when it is used

    loaded = load_scenario(scenario, set_, None, routes_only=True, trust=trust)
    exported = export_scenario(
        loaded,
        to,
        out,
        buckets=buckets,
        resilient=resilient,
        replace=replace,
        interfaces=interfaces,
        present=present,
    )
    if as_json:
        print_json({"folder": str(out), **exported.data()})
        return
    from anabranch.export.view import export_pieces  # noqa: PLC0415
    from anabranch.media.terminal import show  # noqa: PLC0415

    show(console(), export_pieces(exported, out))
