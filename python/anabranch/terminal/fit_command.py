"""``anabranch fit`` and ``anabranch predict``: a scenario from a measurement, and predictions."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from anabranch.process.console import JsonOption, ReplaceOption, console, print_json
from anabranch.terminal import values
from anabranch.terminal.given_files import CAPTURE, MEASUREMENT, other_kinds_told

TransportsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--transport",
        metavar="NAME",
        help="What made the transfer, once for all files or once for each; recognised if left out.",
        autocompletion=values.transports,
    ),
]


def fit(
    measurements: Annotated[
        list[Path],
        typer.Argument(
            metavar="MEASUREMENT...",
            help="Captures at the sender (pcap, pcapng), a transfer each, or a log of iperf3 or ss.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder; results/ and the first file's name, -fit, if left out."),
    ] = None,
    transport: TransportsOption = None,
    receiver: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A capture of the first transfer at the receiver."),
    ] = None,
    ping: Annotated[
        Path | None, typer.Option(metavar="LOG", help="The output of ping during the first transfer.")
    ] = None,
    port: Annotated[
        list[int] | None, typer.Option(metavar="PORT", help="Only flows with this port; may be repeated.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(metavar="N", help="Simulations at most; 120 if left out."),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Run the path between real hosts, and hold the kernel against the capture (Linux, root).",
        ),
    ] = False,
    no_page: Annotated[bool, typer.Option("--no-page", help="Write no report.html.")] = False,
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a scenario of a measurement: the path with ranges, and what cannot be told (docs/fit.md)."""
    from anabranch.fitting.fit import DEFAULT_BUDGET  # noqa: PLC0415 - as every command, when it is used
    from anabranch.fitting.fit import fit as fit_path  # noqa: PLC0415
    from anabranch.fitting.tables import fit_pieces  # noqa: PLC0415
    from anabranch.media.terminal import show  # noqa: PLC0415
    from anabranch.process.progress import counted_progress  # noqa: PLC0415
    from anabranch.results.result import json_ready  # noqa: PLC0415

    folder = out if out is not None else Path("results") / f"{measurements[0].name.split('.', 1)[0]}-fit"
    with ExitStack() as stack:
        for file in measurements:
            stack.enter_context(other_kinds_told(file, CAPTURE, MEASUREMENT))
        progress = stack.enter_context(counted_progress("fit", "{done:,} of at most {of:,} simulations"))
        path_fit = fit_path(
            *measurements,
            transport=transport,
            receiver=receiver,
            ping=ping,
            ports=port or (),
            budget=DEFAULT_BUDGET if budget is None else budget,
            live=live,
            out=folder,
            page=not no_page,
            replace=replace,
            progress=progress,
        )
    if as_json:
        print_json(json_ready({"folder": str(folder), **path_fit.data()}))
    else:
        show(console(), fit_pieces(path_fit, folder))


def predict(
    fitted: Annotated[
        Path, typer.Argument(metavar="FITTED", help="The folder of a fit, or fitted.toml in it.")
    ],
    transport: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A transport; may be repeated. CUBIC, Reno and BBR of Linux if left out.",
            autocompletion=values.transports,
        ),
    ] = None,
    buffer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE",
            help='A drop-tail buffer in place of the queue, "100 kB" or "2 BDP"; may be repeated.',
        ),
    ] = None,
    second: Annotated[
        list[str] | None,
        typer.Option(
            "--second-path",
            metavar="PATH",
            help='Another fit, or "rate=6 Mbps, delay=30 ms, buffer=1 BDP, loss=0.1 %" (delay one way): '
            "alone, and both by Multipath TCP; may be repeated.",
        ),
    ] = None,
    flows: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Flows at once.")] = 1,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help='Of transfers one after the other, such as "100 kB": their completion.'
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Predict what transports would get over a fitted path, alone or beside a second one, with ranges."""
    from anabranch.fitting.predict import DEFAULT_TRANSPORTS  # noqa: PLC0415 - as every command, when it is used
    from anabranch.fitting.predict import predict as predict_all  # noqa: PLC0415
    from anabranch.fitting.second_path import second_path  # noqa: PLC0415
    from anabranch.fitting.stored import read_fitted  # noqa: PLC0415
    from anabranch.fitting.tables import prediction_document, prediction_pieces  # noqa: PLC0415
    from anabranch.media.terminal import show  # noqa: PLC0415
    from anabranch.process.progress import counted_progress  # noqa: PLC0415
    from anabranch.results.result import json_ready  # noqa: PLC0415

    fitted_path = read_fitted(fitted)
    seconds = [second_path(one) for one in second or ()]
    with counted_progress("predict", "{done:,} of at most {of:,} simulations") as progress:
        predictions = predict_all(
            fitted,
            transports=transport or DEFAULT_TRANSPORTS,
            buffers=buffer or (),
            second_paths=seconds,
            flows=flows,
            size=size,
            progress=progress,
        )
    if as_json:
        print_json(json_ready(prediction_document(predictions, fitted_path, seconds)))
    else:
        show(console(), prediction_pieces(predictions, fitted_path, seconds))
