"""``anabranch topology``: which networks there are, and what is in one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.process.console import JsonOption, console, print_json, write
from anabranch.terminal import values
from anabranch.terminal.given_files import NETWORK, other_kinds_told

topology_app = typer.Typer(
    no_args_is_help=True, help="List and show networks that have a name.", rich_markup_mode=None
)


@topology_app.command("list")
def topology_list(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="Where they come from, such as zoo; all if left out.",
            autocompletion=values.sources,
        ),
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
        typer.Argument(
            metavar="NAME",
            help="zoo/Abilene, sndlib/germany50, file:net.graphml, dumbbell, ...",
            autocompletion=values.topologies,
        ),
    ],
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOML",
            help="How an attribute of a file is read, as in network.file.attributes of a scenario: "
            '\'capacity = { name = "bw", unit = "Mbps" }\'. May be given several times.',
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the nodes and links of a network, and where they come from."""
    from anabranch.topology import load  # noqa: PLC0415 - as every command, when it is used
    from anabranch.topology.describe import describe  # noqa: PLC0415

    choices = _attributes(attribute or [])
    with other_kinds_told(Path(name.removeprefix("file:")), NETWORK):
        network = load(name, attributes=choices)
    if as_json:
        print_json(network.to_dict())
    else:
        write(describe(network))


def _attributes(texts: list[str]) -> dict[str, object]:
    """What the option `--attribute` says: lines of TOML, with the header of messages or without."""
    import tomllib  # noqa: PLC0415 - few commands have the option

    from anabranch.topology import TopologyError  # noqa: PLC0415
    from anabranch.topology.attributes.choices import TABLE  # noqa: PLC0415

    attributes: dict[str, object] = {}
    for text in texts:
        try:
            entries = tomllib.loads(text.strip().removeprefix(f"[{TABLE}]"))
        except tomllib.TOMLDecodeError as error:
            raise TopologyError(
                "--attribute",
                f"{text!r} is no TOML ({error})",
                'write capacity = { name = "bw", unit = "Mbps" }',
            ) from error
        twice = sorted(attributes.keys() & entries.keys())
        if twice:
            raise TopologyError("--attribute", f"{twice[0]} is there twice", "leave one of them")
        attributes |= entries
    return attributes
