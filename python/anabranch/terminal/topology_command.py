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
    from anabranch.media.terminal import show  # noqa: PLC0415
    from anabranch.report.views.topology import topology_pieces  # noqa: PLC0415

    names = topology.names(source)
    if as_json:
        print_json([{"name": n.spec, "source": n.source, "note": n.note} for n in names])
    else:
        show(console(), topology_pieces(names))


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
