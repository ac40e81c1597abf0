"""``anabranch topology``: which networks there are, and what is in one."""

from __future__ import annotations

from typing import Annotated

import typer

from anabranch.process.console import JsonOption, console, print_json, write

topology_app = typer.Typer(
    no_args_is_help=True, help="List and show networks that have a name.", rich_markup_mode=None
)


@topology_app.command("list")
def topology_list(
    source: Annotated[
        str | None,
        typer.Argument(metavar="SOURCE", help="Where they come from, such as zoo; all if left out."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the networks that have a name."""
    from anabranch import topology  # noqa: PLC0415 - as every command, when it is used
    from anabranch.media.json import records  # noqa: PLC0415
    from anabranch.media.terminal import show  # noqa: PLC0415
    from anabranch.report.views.topology import topology_table  # noqa: PLC0415

    table = topology_table(topology.names(source))
    if as_json:
        print_json(records(table))
    else:
        show(console(), [table])


@topology_app.command("show")
def topology_show(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="zoo/Abilene, sndlib/germany50, file:net.graphml, dumbbell, ..."),
    ],
    as_json: JsonOption = False,
) -> None:
    """Show the nodes and links of a network, and where they come from."""
    from anabranch import topology  # noqa: PLC0415 - as every command, when it is used

    found = topology.load(name)
    if as_json:
        print_json(found.to_dict())
    else:
        write(topology.describe(found))
