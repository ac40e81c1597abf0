"""Results, routes and topologies as tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.result import Result
from anabranch.routes import PairRoutes, Routes
from anabranch.topology import TopologyName

_MOST_ROWS = 40

FlowColumn = tuple[str, str, str]
"""Heading, column of the flows table, and how its values are written."""

_FLOW_COLUMNS: tuple[FlowColumn, ...] = (
    ("flow", "name", ""),
    ("from", "from", ""),
    ("to", "to", ""),
    ("transport", "transport", ""),
    ("goodput Mbps", "goodput_mbps", ".3f"),
    ("completion s", "completion_s", ".3f"),
    ("RTT ms", "rtt_mean_ms", ".2f"),
    ("retransmitted", "retransmissions", ",d"),
    ("spurious", "spurious_retransmissions", ",d"),
    ("timeouts", "timeouts", ",d"),
    ("reordered", "reordering_ratio", ".2%"),
    ("extent", "reordering_extent_mean", ".1f"),
)


def show_result(console: Console, title: str, result: Result, folder: Path) -> None:
    """A table of the flows, the totals, and where everything is."""
    flows = result.flows
    columns = [column for column in _FLOW_COLUMNS if column[1] in flows.columns]
    table = _table(title)
    for heading, _, form in columns:
        table.add_column(heading, justify="right" if form else "left", overflow="fold")
    for row in flows.head(_MOST_ROWS).to_dicts():
        table.add_row(*(_cell(row[name], form) for _, name, form in columns))
    console.print(table)
    if flows.height > _MOST_ROWS:
        console.print(Text(f"... and {flows.height - _MOST_ROWS:,} more flows"))
    console.print(Text(_totals(result)))
    console.print(Text(f"results in {folder}"))


def _totals(result: Result) -> str:
    summary = result.summary
    parts = [f"goodput in all {result.flows['goodput_mbps'].sum():.3f} Mbps"]
    if isinstance(jain := summary.get("jain_index"), float):
        parts.append(f"Jain index {jain:.4f}")
    if isinstance(hops := summary.get("packet_hops"), int):
        wall_s = float(summary["wall_s"])
        rate = f", {hops / wall_s / 1e6:.2f} M a second" if wall_s > 0 else ""
        parts.append(f"{hops:,} packet-hops in {wall_s:.2f} s{rate}")
    return "; ".join(parts)


def show_routes(console: Console, routes: Routes) -> None:
    """The routes of every pair that sends data, and how many others there are."""
    data = [pair for pair in routes.pairs if pair.carries == "data"]
    by_path = [pair for pair in data if pair.paths]
    if by_path:
        _show_paths(console, routes, by_path)
    for pair in [pair for pair in data if not pair.paths][:_MOST_ROWS]:
        _show_hops(console, pair)
    others = len(routes.pairs) - len(data)
    if others:
        console.print(Text(f"and {others} {'pair that carries' if others == 1 else 'pairs that carry'} only "
                           "acknowledgments (--json shows all)"))  # fmt: skip


def _show_paths(console: Console, routes: Routes, pairs: Sequence[PairRoutes]) -> None:
    table = _table(f"{routes.scheme} by {routes.metric}")
    table.add_column("pair")
    table.add_column("path", overflow="fold")
    for heading in ("hops", "delay ms", "bottleneck Mbps", "loss", "weight"):
        table.add_column(heading, justify="right")
    for pair in pairs[:_MOST_ROWS]:
        for number, path in enumerate(pair.paths):
            name = f"{pair.source} -> {pair.destination}" if number == 0 else ""
            table.add_row(
                Text(name),
                Text(" - ".join(path.nodes)),
                str(path.hops),
                f"{path.delay_ms:.3f}",
                f"{path.bottleneck_mbps:g}",
                f"{path.loss:.3g}",
                f"{path.weight:.4f}",
            )
    console.print(table)
    if len(pairs) > _MOST_ROWS:
        console.print(Text(f"... and {len(pairs) - _MOST_ROWS:,} more pairs"))


def _show_hops(console: Console, pair: PairRoutes) -> None:
    table = _table(f"{pair.source} -> {pair.destination}, hop by hop")
    table.add_column("at")
    table.add_column("next, in equal shares", overflow="fold")
    table.add_column("share of packets", justify="right")
    for hop in pair.hop_by_hop:
        table.add_row(Text(hop.node), Text(", ".join(hop.next_nodes)), f"{hop.share:.4f}")
    console.print(table)


def show_topology_names(console: Console, names: Sequence[TopologyName]) -> None:
    """Every network by name, with the reason where one cannot be had."""
    table = _table(None)
    table.add_column("name")
    table.add_column("source")
    table.add_column("note", overflow="fold")
    for name in names:
        table.add_row(Text(name.spec), name.source, Text(name.note))
    console.print(table)


def _table(title: str | None) -> Table:
    return Table(title=None if title is None else Text(title), title_justify="left", box=None, pad_edge=False)


def _cell(value: Any, form: str) -> Text:
    if value is None:
        return Text("-")
    return Text(format(value, form) if form else str(value))
