"""Results, routes and topologies as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console
from rich.text import Text

from anabranch.censored import COMPLETION, Times
from anabranch.console import (
    FULL,
    FrameColumn,
    TextColumn,
    frame_columns,
    load_cell,
    print_columns,
    print_more,
    print_overload,
    print_rows,
)
from anabranch.predictions import PathPrediction, ThroughputPrediction
from anabranch.result import LOGS, FactorInfo, Result
from anabranch.routes import PairRoutes, PathRow, Routes
from anabranch.topology import TopologyName
from anabranch.units import aligned, estimates, in_unit, plain, with_unit

if TYPE_CHECKING:
    # Each is shown by one command; the others need not wait for its parts.
    from anabranch.forwarding import ForwardingCheck
    from anabranch.study import StudyResult
    from anabranch.worst_loads import LoadChange, LoadChanges, WorstLoads

_MOST_ROWS = 40
_MOST_LOADED = 15

_FLOW_COLUMNS: tuple[FrameColumn, ...] = (
    ("flow", "name", ""),
    ("from", "from", ""),
    ("to", "to", ""),
    ("transport", "transport", ""),
    ("goodput", "goodput_mbps", "Mbps"),
    ("completion", COMPLETION, "s"),
    ("RTT", "rtt_mean_ms", "ms"),
    ("retrans- mitted", "retransmissions", ",d"),
    ("spurious", "spurious_retransmissions", ",d"),
    ("timeouts", "timeouts", ",d"),
    ("reordered", "reordering_ratio", ".2%"),
    ("mean extent", "reordering_extent_mean", ".1f"),
)
_SPARE = ("mean extent", "spurious", "timeouts", "transport", "RTT", "from", "to", "reordered")
"""Columns that a narrow terminal does without, the first of them first."""
_LATENCY_COLUMNS: tuple[FrameColumn, ...] = (
    ("flow", "name", ""),
    ("latency", "measures", ""),
    ("from", "from", ""),
    ("to", "to", ""),
    ("sent", "sent", ",d"),
    ("lost", "loss_ratio", ".2%"),
    ("median", "latency_p50_ms", "ms"),
    ("p95", "latency_p95_ms", "ms"),
    ("p99", "latency_p99_ms", "ms"),
    ("max", "latency_max_ms", "ms"),
    ("jitter", "jitter_ms", "ms"),
    ("throughput", "throughput_mbps", "Mbps"),
    ("reordered", "reordering_ratio", ".2%"),
)
_SPARE_LATENCY = ("reordered", "throughput", "from", "to", "p95")
_MEASURES = {"ping": "RTT", "udp": "one way"}
"""What a latency is, by kind of flow."""
_SPARE_PREDICTED = ("share of flows", "shared by", "capacity", "model", "loss")


def show_result(console: Console, title: str, result: Result, folder: Path | None = None) -> None:
    """A table of the flows, the latencies, the totals, and where everything is, if it is in a folder."""
    flows, datagrams = result.flows, result.tables.get("datagram_flows")
    if flows.height or datagrams is None:
        _print_flows(console, title, flows, "flows", (_FLOW_COLUMNS, _SPARE))
        title = "packets without a connection"
    if datagrams is not None:
        named = datagrams.with_columns(pl.col("kind").replace_strict(_MEASURES).alias("measures"))
        _print_flows(console, title, named, "datagram_flows", (_LATENCY_COLUMNS, _SPARE_LATENCY))
    for line in (*_failures(flows), *_completion(flows)):
        console.print(Text(line))
    console.print(Text(_totals(result)))
    if folder is None:
        return
    console.print(Text(f"results in {folder}"))
    if "log" in result.tables:
        console.print(Text(f"event logs in {folder / LOGS}"))


_AGAINST_COLUMNS: tuple[FrameColumn, ...] = (
    ("flow", "name", ""),
    ("transport", "transport", ""),
    ("live", "goodput_mbps", "Mbps"),
    ("simulated", "simulated_goodput_mbps", "Mbps"),
    ("difference", "difference_percent", "+.1f"),
    ("completion live", COMPLETION, "s"),
    ("completion simulated", f"simulated_{COMPLETION}", "s"),
    ("retrans- mitted live", "retransmissions", ",d"),
    ("retrans- mitted simulated", "simulated_retransmissions", ",d"),
)


def show_against(console: Console, result: Result) -> None:
    """The flows of a live run beside those of its simulation, and what follows."""
    form = (_AGAINST_COLUMNS, ("transport",))
    _print_flows(
        console, "live against simulation, difference in %", result.tables["against"], "against", form
    )
    told = result.summary["live"]["against"]
    if "refused" in told:
        console.print(Text(f"no conclusion: {told['refused']}"))
    elif told["median_difference_percent"] is not None:
        console.print(
            Text(
                f"goodput differs by {told['median_difference_percent']:.2g} % at the median of "
                f"{told['flows']} real flows, and by {told['largest_difference_percent']:.2g} % at most"
            )
        )


def _print_flows(
    console: Console,
    title: str,
    flows: pl.DataFrame,
    table: str,
    form: tuple[Sequence[FrameColumn], Sequence[str]],
) -> None:
    columns = frame_columns(flows.head(_MOST_ROWS), form[0])
    # The unit in a heading follows from the values.
    spare = [column.name for name in form[1] for column in columns if column.name.startswith(name)]
    print_columns(console, title, columns, spare=spare, rest=f"the table {table} ({table}.parquet)")
    print_more(console, flows.height, _MOST_ROWS, "flows")


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


def _completion(flows: pl.DataFrame) -> list[str]:
    """How many flows of how many are done, and their completion times over all of them."""
    times = Times.of(flows)
    if times.count < 2 and times.done == times.count:
        return []
    unfinished = times.count - times.done
    found = [
        f"{name} {times.statistic(name).text(lambda value: with_unit(value, 's', 4), '-')}"
        for name in ("median", "p95")
    ]
    left = f", {unfinished:,} unfinished" if unfinished else ""
    return [f"{times.share_done()} {'flow' if times.count == 1 else 'flows'} done{left}; completion: "
            + ", ".join(found)]  # fmt: skip


def _totals(result: Result) -> str:
    summary = result.summary
    parts = []
    if isinstance(total_mbps := summary.get("delivered_mbps"), float):
        parts.append(
            f"delivered in all {with_unit(total_mbps, 'Mbps', 4)} over {plain(float(summary['ended_s']))} s"
        )
    if result.flows.height > 1 and isinstance(jain := summary.get("jain_index"), float):
        parts.append(f"Jain index {jain:.4f}")
    if isinstance(hops := summary.get("packet_hops"), int):
        wall_s = float(summary["wall_s"])
        rate = f" ({hops / wall_s / 1e6:.1f} million/s)" if wall_s > 0 else ""
        parts.append(f"{hops:,} packet-hops in {wall_s:.2f} s{rate}")
    return "; ".join(parts)


def show_routes(console: Console, routes: Routes) -> None:
    """The routes of every pair that sends data, what its flows should get, and how many others there are."""
    # Where all traffic has routes of its own, those of [routing] are none.
    for shown in (routes, *routes.others):
        if len(shown.pairs) or not routes.others:
            _show_routes(console, shown)


def _show_routes(console: Console, routes: Routes) -> None:
    data = routes.pairs.where(routes.pairs.carries_data)
    by_path = data.where(data.by_path)
    if len(by_path):
        _show_paths(console, routes, by_path)
    for pair in data.where(~data.by_path)[:_MOST_ROWS]:
        _show_hops(console, pair, f" by {routes.caption}" if routes.traffic else "")
    for name, value in routes.facts.items():
        console.print(Text(f"{name}: {plain(value, 6) if isinstance(value, float) else value}"))
    _show_predictions(console, data)
    others = len(routes.pairs) - len(data)
    if others:
        console.print(Text(f"and {others} {'pair that carries' if others == 1 else 'pairs that carry'} only "
                           "acknowledgments (--json shows all)"))  # fmt: skip


def _show_paths(console: Console, routes: Routes, pairs: Sequence[PairRoutes]) -> None:
    shown = pairs[:_MOST_ROWS]
    paths = [path for pair in shown for path in pair.paths]
    names = [
        f"{pair.source} -> {pair.destination}" if number == 0 else ""
        for pair in shown
        for number, _ in enumerate(pair.paths)
    ]
    delays, delay_unit = in_unit([path.delay_ms for path in paths], "ms")
    rates, rate_unit = in_unit([path.bottleneck_mbps for path in paths], "Mbps")
    columns = [
        TextColumn("pair", names),
        TextColumn("path", [_path_text(path) for path in paths]),
        TextColumn("hops", [str(path.hops) for path in paths], "right"),
        TextColumn(f"delay\n{delay_unit}", delays, "right"),
        TextColumn(f"bottleneck\n{rate_unit}", rates, "right"),
        TextColumn("loss", aligned([plain(path.loss, 3) for path in paths]), "right"),
        TextColumn("weight", [f"{path.weight:.4f}" for path in paths], "right"),
    ]
    # The values of some metrics stand there already.
    if routes.metric_column not in ("hops", "delay_ms", "bottleneck_mbps"):
        values = ["infinite" if path.metric_value is None else plain(path.metric_value, 6) for path in paths]
        columns.append(TextColumn(routes.metric_column, values, "right"))
    spare = ("weight", "loss", f"delay {delay_unit}") if console.width < 70 else ()
    print_columns(console, routes.caption, columns, spare=spare, rest="--json")
    print_more(console, len(pairs), _MOST_ROWS, "pairs")


def _path_text(path: PathRow) -> str:
    """The nodes along a path; one that the second of parallel links leads to has its number."""
    reached = (name.removeprefix(f"{node}->") for node, name in zip(path.nodes, path.links, strict=False))
    return " - ".join([path.nodes[0], *reached])


def _show_hops(console: Console, pair: PairRoutes, whose: str) -> None:
    print_rows(
        console,
        f"{pair.source} -> {pair.destination}, hop by hop{whose}",
        {"at": "left", "next, in equal shares": "fold", "share of packets": "right"},
        ((hop.node, ", ".join(hop.next_nodes), f"{hop.share:.4f}") for hop in pair.hop_by_hop),
    )


def _show_predictions(console: Console, pairs: Sequence[PairRoutes]) -> None:
    """A row for each pair, transport and path; under it what limits the numbers, each reason once."""
    notes: dict[str, int] = {}
    rows: list[_PredictedRow] = []
    for pair in pairs[:_MOST_ROWS]:
        name = f"{pair.source} -> {pair.destination}"
        for prediction in pair.predictions:
            for row in _prediction_rows(pair, prediction, notes):
                rows.append(replace(row, pair=name))
                name = ""
    if not rows:
        return
    rtts, rtt_unit = in_unit([row.rtt_ms for row in rows], "ms")
    capacities, capacity_unit = in_unit([row.capacity_mbps for row in rows], "Mbps")
    rates, rate_unit = in_unit([row.mbps for row in rows], "Mbps")
    columns = [
        TextColumn("pair", [row.pair for row in rows]),
        TextColumn("transport", [row.transport for row in rows]),
        TextColumn("path", [row.path for row in rows]),
        TextColumn("share\nof\nflows", [row.share for row in rows], "right"),
        TextColumn(f"RTT\n{rtt_unit}", rtts, "right"),
        TextColumn("loss", aligned([row.loss for row in rows]), "right"),
        TextColumn(f"capacity\n{capacity_unit}", capacities, "right"),
        TextColumn("shared\nby", [row.flows for row in rows], "right"),
        TextColumn("model", [row.model for row in rows], "right"),
        TextColumn(rate_unit, rates, "right"),
        TextColumn("note", [row.notes for row in rows], "right"),
    ]
    spare = [column.name for name in _SPARE_PREDICTED for column in columns if column.name.startswith(name)]
    print_columns(console, "\npredicted throughput of one long flow", columns, spare=spare, rest="--json")
    print_more(console, len(pairs), _MOST_ROWS, "pairs")
    for note, number in notes.items():
        console.print(Text(f"note {number}: {note}"))
    console.print(
        Text(
            "RTT through an idle network, without queues and jitter. Capacity in payload, and only flows of "
            "the same pair share it."
        )
    )


@dataclass(frozen=True, slots=True)
class _PredictedRow:
    """A row of the table of predictions; what is None has a dash."""

    transport: str
    path: str
    model: str
    mbps: float | None
    notes: str = ""
    pair: str = ""
    share: str = ""
    rtt_ms: float | None = None
    loss: str = ""
    capacity_mbps: float | None = None
    flows: str = ""


def _prediction_rows(
    pair: PairRoutes, prediction: ThroughputPrediction, notes: dict[str, int]
) -> Iterator[_PredictedRow]:
    """One row, or one for each kind of path and their mean."""

    def noted(texts: Sequence[str]) -> str:
        return ", ".join(str(notes.setdefault(text, len(notes) + 1)) for text in texts)

    model = prediction.model or "no model"
    if prediction.mbps is None:
        reason = () if prediction.reason is None else (prediction.reason,)
        yield _PredictedRow(prediction.transport, "", model, None, noted(reason))
        return
    alike: dict[PathPrediction, list[int]] = {}
    for number, path in enumerate(prediction.paths, start=1):
        alike.setdefault(replace(path, nodes=(), share=0.0), []).append(number)
    transport = prediction.transport
    for path, numbers in alike.items():
        share = sum(prediction.paths[number - 1].share for number in numbers)
        yield _PredictedRow(
            transport,
            _paths_named(pair, prediction, numbers),
            model,
            path.mbps,
            noted(path.warnings),
            share=f"{share:.2f}",
            rtt_ms=path.rtt_ms,
            loss=plain(path.loss, 3),
            capacity_mbps=path.capacity_mbps,
            flows=plain(path.flows, 3),
        )
        transport = ""
    if len(alike) > 1:
        yield _PredictedRow("", "mean", model, prediction.mbps)


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
    ranked = sorted(loads.links, key=lambda found: -found.load)[:_MOST_LOADED]
    capacities, unit = in_unit([found.capacity_mbps for found in ranked], "Mbps")
    print_rows(
        console,
        f"worst-case load of each link, {loads.scheme}",
        {"link": "left", f"capacity {unit}": "right", "load": "right"},
        ((found.link, text, _load(found.load)) for found, text in zip(ranked, capacities, strict=True)),
    )
    print_more(console, len(loads.links), _MOST_LOADED, "links (--json shows all)")
    matrix = loads.matrix(link)[:_MOST_ROWS]
    rates, unit = in_unit([entry.mbps for entry in matrix], "Mbps")
    print_rows(
        console,
        f"\ntraffic that loads {link} most",
        {"from": "left", "to": "left", unit: "right", "share over the link": "right"},
        (
            (entry.source, entry.destination, text, f"{entry.share:.4f}")
            for entry, text in zip(matrix, rates, strict=True)
        ),
    )
    print_more(console, len(loads.matrix(link)), _MOST_ROWS, "pairs")
    worst = sorted(loads.failures or (), key=lambda case: -case.load)[:_MOST_LOADED]
    if loads.failures is not None:
        print_rows(
            console,
            "\nworst-case load while a link is down, both directions",
            {"down": "left", "load": "right", "worst link": "left", "pairs cut off": "right"},
            ((case.links[0], _load(case.load), case.worst_link, f"{len(case.stranded):,}") for case in worst),
            spare=("pairs cut off",),
            rest="--json",
        )
    if max([loads.max_load, *(case.load for case in worst)]) > FULL:
        print_overload(console)


def show_load_changes(console: Console, changes: LoadChanges) -> None:
    """The links and failures whose worst case changes most, and both worst cases."""
    before, after = changes.before, changes.after
    for what, found in (("link", changes.links), ("down", changes.failures)):
        ranked = sorted(found, key=lambda one: (-abs(one.cut_change), -abs(one.change)))[:_MOST_LOADED]
        if not ranked:
            continue
        print_rows(
            console,
            f"\nbefore, {before.scheme}, and after, {after.scheme}: "
            + ("worst-case load of each link" if what == "link" else "while a link is down"),
            {what: "left", "before": "right", "after": "right", "change": "right"}
            | ({} if what == "link" else {"pairs cut off": "right"}),
            (_change_cells(one, cuts=what == "down") for one in ranked),
        )
        print_more(console, len(found), _MOST_LOADED, "links (--json shows all)")
    console.print(Text(f"worst case {before.max_load:.4f} before, {after.max_load:.4f} after"))


def _change_cells(change: LoadChange, *, cuts: bool) -> tuple[str | Text, ...]:
    # Of pairs that are cut off no load is left: less of it is no relief.
    more = change.cut_change
    words = f"{abs(more):,} {'more' if more > 0 else 'fewer'} cut off" if more else f"{change.change:+.4f}"
    cells = (change.name, _load(change.before), _load(change.after), words)
    return (*cells, f"{change.cut_before:,} -> {change.cut_after:,}") if cuts else cells


def _load(load: float) -> Text:
    return load_cell(load, f"{load:.4f}")


def show_study(console: Console, title: str, result: StudyResult, folder: Path | None = None) -> None:
    """A table of the cells with their metrics, the reasons of failures, and the folder if there is one."""
    cells = result.cells.head(_MOST_ROWS)
    columns = [_factor_column(factor, cells[factor.name].to_list()) for factor in result.factors]
    told: set[tuple[str, ...]] = set()
    for metric in result.metrics:
        means, widths = (cells[name].to_list() for name in (metric.name, f"{metric.name}_ci"))
        bounds = cells[f"{metric.name}_more_than"].to_list() if metric.censored else None
        texts, label = estimates(metric.label, means, widths, bounds)
        if metric.censored:
            counts = zip(cells[f"{metric.name}_done"], cells[f"{metric.name}_flows"], strict=True)
            shares = tuple("-" if not flows else f"{done:,} of {flows:,}" for done, flows in counts)
            # Of metrics over the same flows the first one says it.
            if shares not in told and any(share != "-" for share in shares):
                columns.append(TextColumn("flows\ndone", shares, "right"))
            told.add(shares)
        columns.append(TextColumn(label.replace(" ", "\n"), texts, "right"))
    # Of the metrics those without a value go first, and then the last; the first one stays.
    metrics = columns[len(result.factors) + 1 :]
    empty = [column for column in metrics if set(column.cells) == {"-"}]
    spare = [*empty, *(column for column in reversed(metrics) if column not in empty)]
    rest = "cells.csv" if folder else "result.cells"
    print_columns(console, title, columns, spare=[column.name for column in spare], rest=rest)
    print_more(console, result.cells.height, _MOST_ROWS, "cells")
    runs = result.runs
    failed = runs.filter(pl.col("status") == "failed")
    parts = [f"{runs.height:,} runs over {result.cells.height:,} cells"]
    if result.live:
        parts.append("live beside simulated" if "hosts" in runs.columns else "live")
    if failed.height:
        parts.append(f"{failed.height:,} failed, the first with: {failed['reason'][0]}")
    if result.replications > 1:
        parts.append(result.interval_note)
    console.print(Text("; ".join(parts)))
    if folder is not None:
        console.print(Text(f"results in {folder}"))


def _factor_column(factor: FactorInfo, levels: Sequence[float | str | None]) -> TextColumn:
    """The levels in the study's own unit."""
    heading = factor.label if factor.unit is None else f"{factor.label} ({factor.unit})"
    texts = ["-" if level is None else plain(level, 10) if isinstance(level, float) else str(level)
             for level in levels]  # fmt: skip
    if factor.kind == "continuous":
        return TextColumn(heading, aligned(texts), "right")
    return TextColumn(heading, texts)


def show_topology_names(console: Console, names: Sequence[TopologyName]) -> None:
    """Every network by name, with the reason where one cannot be had."""
    columns = {"name": "left", "source": "left", "note": "fold"}
    print_rows(console, None, columns, ((name.spec, name.source, name.note) for name in names))
