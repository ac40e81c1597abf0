"""``anabranch capture``: packet captures, and measurements of other tools."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from anabranch.process.console import JsonOption, ReplaceOption, console, print_json, say
from anabranch.process.signals import deferred, exit_status
from anabranch.terminal import values
from anabranch.terminal.given_files import CAPTURE, FOLDER, MEASUREMENT, other_kinds_told

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Captures (pcap, pcapng; gzip, zstd), or measurements of iperf3, ss, flent, qlog, Starlink; "
        "- for standard input.",
    ),
]
WindowOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help='Length of the steady window, such as "200 s", which ends with the first end of data; '
        "the whole steady state if left out.",
    ),
]
IntervalOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Intervals of the series; 1 s, or those of the measurement, if left out."
    ),
]
PortOption = Annotated[
    list[int] | None, typer.Option(metavar="N", help="Only flows with this port; may be repeated.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format of the measurements: iperf3, ss, flent, qlog or starlink; recognised if left out.",
        autocompletion=values.measurement_formats,
    ),
]
BesideOption = Annotated[
    str | None,
    typer.Option(
        metavar="RUN", help="Compare with a run (its folder), or with another measurement or capture."
    ),
]
DisjointOption = Annotated[
    bool, typer.Option("--disjoint", help="No packet passes two capture points: count all.")
]
SubflowsOption = Annotated[
    int | None, typer.Option(metavar="N", help="Subflows that should have connected.", min=1)
]
ReadersOption = Annotated[
    int | None, typer.Option(metavar="N", help="Files read at once; all cores if left out.", min=1)
]
OutOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for the tables and the page; none if left out.")
]


def capture(
    files: FilesArgument,
    window: WindowOption = None,
    interval: IntervalOption = None,
    port: PortOption = None,
    form: FormatOption = None,
    against: BesideOption = None,
    disjoint: DisjointOption = False,
    subflows: SubflowsOption = None,
    jobs: ReadersOption = None,
    out: OutOption = None,
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Analyse packet captures, or measurements of other tools: throughput, RTT, losses and reordering."""
    from anabranch.media.terminal import show  # noqa: PLC0415 - as every command, when it is used
    from anabranch.process.progress import capture_progress  # noqa: PLC0415
    from anabranch.report.views.capture import capture_pieces  # noqa: PLC0415
    from anabranch.results.result import json_ready  # noqa: PLC0415
    from anabranch.runs.against import against as compared  # noqa: PLC0415
    from anabranch.runs.capture import analyze, capture_name, check_folder  # noqa: PLC0415

    if out is not None:
        # Before the work, not after it.
        check_folder(out, files, replace=replace)
    title = capture_name(files[0]) if len(files) == 1 else f"{len(files)} captures"
    with ExitStack() as around:
        for file in files:
            around.enter_context(other_kinds_told(file, CAPTURE, MEASUREMENT, FOLDER))
        progress = around.enter_context(capture_progress(title))
        result = analyze(
            files,
            window=window,
            interval=interval,
            ports=port or (),
            disjoint=disjoint,
            subflows=subflows,
            jobs=jobs,
            form=form,
            progress=progress,
        )
    if against is not None:
        result = compared(result, against)
    if out is not None:
        from anabranch.report.html import save_capture_report  # noqa: PLC0415

        with deferred() as signals:
            result.save(out, replace=replace, add=partial(save_capture_report, result))
            signals.kept = f"the tables are in {out}"
    for warning in result.summary["warnings"]:
        say(f"warning: {warning}")
    if as_json:
        tables = {name: json_ready(table.to_dicts()) for name, table in result.tables.items()}
        print_json({"summary": json_ready(dict(result.summary)), **tables})
    else:
        show(console(), capture_pieces(result, out))
    if result.interrupted:
        raise typer.Exit(exit_status())
