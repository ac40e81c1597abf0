"""Results, routes and topologies as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.console import (
    FrameColumn,
    frame_table,
    natural_width,
    plain_table,
    print_more,
    print_rows,
    print_table,
    table_cell,
)
from anabranch.predictions import PathPrediction, ThroughputPrediction
from anabranch.result import LOGS, Result
from anabranch.routes import PairRoutes, PathRow, Routes
from anabranch.topology import TopologyName

if TYPE_CHECKING:
    # Each is shown by one command; the others need not wait for its parts.
    from anabranch.forwarding import ForwardingCheck
    from anabranch.study import StudyResult
    from anabranch.worst_loads import WorstLoads

_MOST_ROWS = 40
_MOST_LOADED = 15

_FLOW_COLUMNS: tuple[FrameColumn, ...] = (
    ("flow", "name", ""),
    ("from", "from", ""),
    ("to", "to", ""),
    ("transport", "transport", ""),
    ("goodput Mbps", "goodput_mbps", ".3f"),
    ("completion s", "completion_s", ".3f"),
    ("RTT ms", "rtt_mean_ms", ".2f"),
    ("retrans- mitted", "retransmissions", ",d"),
    ("spurious", "spurious_retransmissions", ",d"),
    ("timeouts", "timeouts", ",d"),
    ("reordered", "reordering_ratio", ".2%"),
    ("mean extent", "reordering_extent_mean", ".1f"),
)

# Columns that a narrow terminal does without, the first of them first.
_DISPENSABLE = (
    "reordering_extent_mean",
    "spurious_retransmissions",
    "timeouts",
    "transport",
    "rtt_mean_ms",
    "from",
    "to",
    "reordering_ratio",
)


_PREDICTED = (
    "pair",
    "transport",
    "path",
    "share of flows",
    "RTT ms",
    "loss",
    "capacity Mbps",
    "shared by",
    "model",
    "Mbps",
    "note",
)
# The same for predictions.
_DISPENSABLE_PREDICTED = ("share of flows", "shared by", "capacity Mbps", "model", "loss")


def show_result(console: Console, title: str, result: Result, folder: Path | None = None) -> None:
    """A table of the flows, the totals, and where everything is, if it is in a folder."""
    flows = result.flows
    shown = flows.head(_MOST_ROWS)
    columns = [
        column
        for column in _FLOW_COLUMNS
        if column[1] in shown.columns and shown[column[1]].null_count() < max(shown.height, 1)
    ]
    left_out = [column for name in _DISPENSABLE for column in columns if column[1] == name]
    table = frame_table(title, shown, columns)
    while left_out and natural_width(console, table) > console.width:
        columns.remove(left_out.pop(0))
        table = frame_table(title, shown, columns)
    print_table(console, table)
    print_more(console, flows.height, _MOST_ROWS, "flows")
    for line in _failures(flows):
        console.print(Text(line))
    console.print(Text(_totals(result)))
    if folder is None:
        return
    console.print(Text(f"results in {folder}"))
    if "log" in result.tables:
        console.print(Text(f"event logs in {folder / LOGS}"))


def _failures(flows: pl.DataFrame) -> list[str]:
    """How many flows were given up, for each reason, and how many still waited for a connection."""
    lines = []
    failed = flows.filter(pl.col("failure").is_not_null())
    for reason, count in failed["failure"].value_counts(sort=True, name="flows").sort("failure").iter_rows():
        lines.append(f"{count:,} {'flow' if count == 1 else 'flows'} failed: {reason}")
    # A SYN that has just left is no trouble; one that had to be repeated is.
    repeated = pl.col("timeouts") > 0
    waiting = flows.filter(pl.col("failure").is_null() & pl.col("handshake_s").is_null() & repeated)
    if waiting.height:
        lost = waiting.filter(pl.col("drops_control") > 0).height
        to_controller = (
            f"; packets of {lost:,} of them were lost on the way to or from the controller" if lost else ""
        )
        lines.append(
            f"{waiting.height:,} {'flow' if waiting.height == 1 else 'flows'} had no connection when the run "
            f"ended, before handshake_timeout was over{to_controller}"
        )
    return lines


def _totals(result: Result) -> str:
    summary = result.summary
    parts = []
    if isinstance(total_mbps := summary.get("delivered_mbps"), float):
        parts.append(f"delivered in all {total_mbps:.3f} Mbps over {float(summary['ended_s']):g} s")
    if result.flows.height > 1 and isinstance(jain := summary.get("jain_index"), float):
        parts.append(f"Jain index {jain:.4f}")
    if isinstance(hops := summary.get("packet_hops"), int):
        wall_s = float(summary["wall_s"])
        rate = f" ({hops / wall_s / 1e6:.1f} million/s)" if wall_s > 0 else ""
        parts.append(f"{hops:,} packet-hops in {wall_s:.2f} s{rate}")
    return "; ".join(parts)


def show_routes(console: Console, routes: Routes) -> None:
    """The routes of every pair that sends data, what its flows should get, and how many others there are."""
    data = [pair for pair in routes.pairs if pair.carries == "data"]
    by_path = [pair for pair in data if pair.paths]
    if by_path:
        _show_paths(console, routes, by_path)
    for pair in [pair for pair in data if not pair.paths][:_MOST_ROWS]:
        _show_hops(console, pair)
    for name, value in routes.facts.items():
        console.print(Text(f"{name}: {value:.6g}" if isinstance(value, float) else f"{name}: {value}"))
    _show_predictions(console, data)
    others = len(routes.pairs) - len(data)
    if others:
        console.print(Text(f"and {others} {'pair that carries' if others == 1 else 'pairs that carry'} only "
                           "acknowledgments (--json shows all)"))  # fmt: skip


def _show_paths(console: Console, routes: Routes, pairs: Sequence[PairRoutes]) -> None:
    table = plain_table(f"{routes.scheme} by {routes.metric}")
    table.add_column("pair")
    table.add_column("path", overflow="fold")
    headings = ["hops", "delay ms", "bottleneck Mbps", "loss", "weight"]
    # The values of some metrics stand there already.
    own_column = routes.metric_column not in ("hops", "delay_ms", "bottleneck_mbps")
    for heading in [*headings, routes.metric_column] if own_column else headings:
        table.add_column("\n".join(heading.split(" ")), justify="right", vertical="bottom", no_wrap=True)
    for pair in pairs[:_MOST_ROWS]:
        for number, path in enumerate(pair.paths):
            name = f"{pair.source} -> {pair.destination}" if number == 0 else ""
            cells = [
                str(path.hops),
                f"{path.delay_ms:.3f}",
                f"{path.bottleneck_mbps:g}",
                f"{path.loss:.3g}",
                f"{path.weight:.4f}",
            ]
            if own_column:
                cells.append("infinite" if path.metric_value is None else f"{path.metric_value:.6g}")
            table.add_row(Text(name), Text(_path_text(path)), *cells)
    print_table(console, table)
    print_more(console, len(pairs), _MOST_ROWS, "pairs")


def _path_text(path: PathRow) -> str:
    """The nodes along a path; one that the second of parallel links leads to has its number."""
    reached = (name.removeprefix(f"{node}->") for node, name in zip(path.nodes, path.links, strict=False))
    return " - ".join([path.nodes[0], *reached])


def _show_hops(console: Console, pair: PairRoutes) -> None:
    print_rows(
        console,
        f"{pair.source} -> {pair.destination}, hop by hop",
        {"at": "left", "next, in equal shares": "fold", "share of packets": "right"},
        ((hop.node, ", ".join(hop.next_nodes), f"{hop.share:.4f}") for hop in pair.hop_by_hop),
    )


def _show_predictions(console: Console, pairs: Sequence[PairRoutes]) -> None:
    """A row for each pair, transport and path; under it what limits the numbers, each reason once."""
    notes: dict[str, int] = {}
    rows: list[tuple[str, ...]] = []
    for pair in pairs[:_MOST_ROWS]:
        name = f"{pair.source} -> {pair.destination}"
        for prediction in pair.predictions:
            for cells in _prediction_rows(pair, prediction, notes):
                rows.append((name, *cells))
                name = ""
    if not rows:
        return
    left_out: list[str] = []
    table = _prediction_table(rows, left_out)
    for heading in _DISPENSABLE_PREDICTED:
        if natural_width(console, table) > console.width:
            left_out.append(heading)
            table = _prediction_table(rows, left_out)
    print_table(console, table)
    print_more(console, len(pairs), _MOST_ROWS, "pairs")
    for note, number in notes.items():
        console.print(Text(f"note {number}: {note}"))
    console.print(
        Text(
            "RTT through an idle network, without queues and jitter. Capacity in payload, and only flows of "
            "the same pair share it."
        )
    )


def _prediction_table(rows: Sequence[Sequence[str]], left_out: Sequence[str]) -> Table:
    table = plain_table("\npredicted throughput of one long flow")
    kept = [index for index, heading in enumerate(_PREDICTED) if heading not in left_out]
    for index in kept:
        text = _PREDICTED[index] in _PREDICTED[:3]
        table.add_column(
            "\n".join(_PREDICTED[index].split(" ")),
            justify="left" if text else "right",
            vertical="bottom",
            overflow="fold",
            # A name may break where nothing else is left to go; a number may not.
            no_wrap=index > 0,
        )
    for row in rows:
        table.add_row(*(Text(row[index]) for index in kept))
    return table


def _prediction_rows(
    pair: PairRoutes, prediction: ThroughputPrediction, notes: dict[str, int]
) -> Iterator[tuple[str, ...]]:
    """The cells behind the pair: one row, or one for each kind of path and their mean."""

    def noted(texts: Sequence[str]) -> str:
        return ", ".join(str(notes.setdefault(text, len(notes) + 1)) for text in texts)

    model = prediction.model or "no model"
    if prediction.mbps is None:
        reason = () if prediction.reason is None else (prediction.reason,)
        yield (prediction.transport, "", "", "", "", "", "", model, "-", noted(reason))
        return
    alike: dict[PathPrediction, list[int]] = {}
    for number, path in enumerate(prediction.paths, start=1):
        alike.setdefault(replace(path, nodes=(), share=0.0), []).append(number)
    transport = prediction.transport
    for path, numbers in alike.items():
        share = sum(prediction.paths[number - 1].share for number in numbers)
        yield (
            transport,
            _paths_named(pair, prediction, numbers),
            f"{share:.2f}",
            f"{path.rtt_ms:.3f}",
            f"{path.loss:.3g}",
            f"{path.capacity_mbps:.5g}",
            f"{path.flows:.3g}",
            model,
            f"{path.mbps:.4g}",
            noted(path.warnings),
        )
        transport = ""
    if len(alike) > 1:
        yield ("", "mean", "", "", "", "", "", model, f"{prediction.mbps:.4g}", "")


def _paths_named(pair: PairRoutes, prediction: ThroughputPrediction, numbers: Sequence[int]) -> str:
    """What paths a row is about, by their number in the table of routes."""
    if not prediction.paths[0].nodes:
        return "all, by packet"
    if len(prediction.paths) == 1:
        return ""
    if len(numbers) > 1:
        return f"{len(numbers)} alike"
    if pair.paths:
        return str(numbers[0])
    return " - ".join(prediction.paths[numbers[0] - 1].nodes)


def show_forwarding(console: Console, found: ForwardingCheck) -> None:
    """Whether hop-by-hop forwarding agrees with a metric, and the pairs with which it does not."""
    search = "" if found.search == "exact" else f", {found.search} search"
    if found.agrees:
        console.print(
            Text(f"hop by hop by {found.metric}{search}: every packet takes the path that its source wants")
        )
        return
    rows = []
    for pair in found.astray[:_MOST_ROWS]:
        ends = "arrives" if pair.loop is None else f"loops: {' - '.join(pair.loop)}"
        name = f"{pair.source} -> {pair.destination}"
        rows.append((name, " - ".join(pair.wanted), " - ".join(pair.walked), ends))
    columns = dict.fromkeys(("pair", "path wanted", "path taken", "ends"), "fold")
    print_rows(console, f"\nhop by hop by {found.metric}{search}", columns, rows)
    print_more(console, len(found.astray), _MOST_ROWS, "pairs")
    console.print(
        Text(
            f"packets of {len(found.astray):,} {'pair' if len(found.astray) == 1 else 'pairs'} go astray, of "
            f"{found.loops:,} in circles; install these routes along whole paths"
        )
    )


def show_loads(console: Console, loads: WorstLoads, link: str) -> None:
    """The most loaded links, the matrix behind one of them, and the worst failures."""
    ranked = sorted(loads.links, key=lambda found: -found.load)
    print_rows(
        console,
        f"worst-case load of each link, {loads.scheme}",
        {"link": "left", "capacity Mbps": "right", "load": "right"},
        ((found.link, f"{found.capacity_mbps:g}", f"{found.load:.4f}") for found in ranked[:_MOST_LOADED]),
    )
    print_more(console, len(ranked), _MOST_LOADED, "links (--json shows all)")
    matrix = loads.matrix(link)
    print_rows(
        console,
        f"\ntraffic that loads {link} most",
        {"from": "left", "to": "left", "Mbps": "right", "share over the link": "right"},
        ((e.source, e.destination, f"{e.mbps:.4g}", f"{e.share:.4f}") for e in matrix[:_MOST_ROWS]),
    )
    print_more(console, len(matrix), _MOST_ROWS, "pairs")
    if loads.failures is None:
        return
    worst = sorted(loads.failures, key=lambda case: -case.load)[:_MOST_LOADED]
    print_rows(
        console,
        "\nworst-case load while a link is down, both directions",
        {"down": "left", "load": "right", "worst link": "left", "pairs cut off": "right"},
        ((case.links[0], f"{case.load:.4f}", case.worst_link, f"{len(case.stranded):,}") for case in worst),
    )


def show_study(console: Console, title: str, result: StudyResult, folder: Path | None = None) -> None:
    """A table of the cells with their metrics, the reasons of failures, and the folder if there is one."""
    cells = result.cells.head(_MOST_ROWS)
    table = plain_table(title)
    for factor in result.factors:
        unit = f" ({factor.unit})" if factor.unit is not None else ""
        table.add_column(
            Text(f"{factor.label}{unit}"), justify="right" if factor.kind == "continuous" else "left"
        )
    for metric in result.metrics:
        table.add_column(Text("\n".join(metric.label.split(" "))), justify="right", vertical="bottom")
    for row in cells.to_dicts():
        levels = (table_cell(row[factor.name], "g" if factor.unit else "") for factor in result.factors)
        table.add_row(*levels, *(_estimate(row, metric.name) for metric in result.metrics))
    print_table(console, table)
    print_more(console, result.cells.height, _MOST_ROWS, "cells")
    runs = result.runs
    failed = runs.filter(pl.col("status") == "failed")
    parts = [f"{runs.height:,} runs over {result.cells.height:,} cells"]
    if failed.height:
        parts.append(f"{failed.height:,} failed, the first with: {failed['reason'][0]}")
    if result.replications > 2:
        parts.append(f"intervals hold the mean with probability {result.confidence:g}")
    elif result.replications == 2:
        parts.append("no intervals: they take three replications at least")
    console.print(Text("; ".join(parts)))
    if folder is not None:
        console.print(Text(f"results in {folder}"))


def _estimate(row: dict[str, Any], name: str) -> Text:
    """A mean with the half width of its interval, where it has one."""
    if row[name] is None:
        return Text("-")
    half = row[f"{name}_ci"]
    return Text(f"{row[name]:.6g}" + ("" if half is None else f" \N{PLUS-MINUS SIGN} {half:.2g}"))


def show_topology_names(console: Console, names: Sequence[TopologyName]) -> None:
    """Every network by name, with the reason where one cannot be had."""
    columns = {"name": "left", "source": "left", "note": "fold"}
    print_rows(console, None, columns, ((name.spec, name.source, name.note) for name in names))
