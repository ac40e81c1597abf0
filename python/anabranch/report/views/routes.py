"""The routes of a scenario as pieces: paths, next hops, what a flow should get, and forwarding hop by hop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from anabranch import _core
from anabranch.media.columns import Column
from anabranch.media.columns.column import completed
from anabranch.media.pieces import Bars, Cell, DataTable, Piece, Text, columns, counted
from anabranch.plans.named import Hop, PairRoutes, PathRow
from anabranch.plans.predictions import ThroughputPrediction
from anabranch.plans.routes import Routes
from anabranch.routing.path_throughput import PathPrediction
from anabranch.text.units import plain

if TYPE_CHECKING:
    from anabranch.plans.forwarding import ForwardingCheck

_MOST_PAIRS = 40
_PATHS = (
    "pair", "from", "to", "carries", "path_number", "path", "weight", "hops", "delay_ms", "bottleneck_mbps",
    "loss",
)  # fmt: skip
_PREDICTED = (
    "pair", "from", "to", "transport", "path", "share_of_flows", "rtt_idle_ms", "loss", "capacity_mbps",
    "shared_by", "model", "predicted_mbps", "notes",
)  # fmt: skip
_SHOWN_ALREADY = ("hops", "delay_ms", "bottleneck_mbps")
"""Metrics whose values stand in the table of paths in any case."""


def route_pieces(
    routes: Routes, most_pairs: int = _MOST_PAIRS, elsewhere: str = " (--json shows all)"
) -> list[Piece]:
    """The routes of every pair that sends data, what its flows should get, and how many others there are.

    Args:
        routes: whose.
        most_pairs: pairs that are shown.
        elsewhere: where the others are, behind their number.
    """
    # Where all traffic has routes of its own, those of [routing] are none.
    plans = [one for one in (routes, *routes.others) if len(one.pairs) or not routes.others]
    return [piece for one in plans for piece in _pieces(one, most_pairs, elsewhere)]


def _pieces(routes: Routes, most_pairs: int, elsewhere: str) -> list[Piece]:
    data = routes.pairs.where(routes.pairs.carries_data)
    first = data[:most_pairs]
    pieces: list[Piece] = [replace(table, most=table.height) for table in _paths_and_hops(routes, first)]
    for name, value in routes.facts.items():
        pieces.append(Text(f"{name}: {plain(value, 6) if isinstance(value, float) else value}"))
    pieces += _predictions(first)
    if len(data) > most_pairs:
        pieces.append(Text(f"... and {len(data) - most_pairs:,} more pairs{elsewhere}"))
    if others := len(routes.pairs) - len(data):
        only = "pair that carries" if others == 1 else "pairs that carry"
        pieces.append(Text(f"and {others} {only} only acknowledgments{elsewhere}"))
    return pieces


def route_tables(routes: Routes) -> list[DataTable]:
    """Paths, next hops and how long paths are; and the same of traffic that has routes of its own."""
    tables = _all_tables(routes)
    for number, other in enumerate(routes.others, start=1):
        tables += [replace(table, name=f"{table.name}_{number}") for table in _all_tables(other)]
    return tables


def _all_tables(routes: Routes) -> list[DataTable]:
    tables = _paths_and_hops(routes, routes.pairs)
    delays_ms: dict[int, list[float]] = defaultdict(list)
    for pair in routes.pairs:
        for path in pair.paths:
            delays_ms[path.hops].append(path.delay_ms)
    if delays_ms:
        rows = [(str(hops), len(delays), fmean(delays)) for hops, delays in sorted(delays_ms.items())]
        caption = "How long the paths are" + (f", {routes.caption}" if routes.traffic else "")
        about = columns("hops", "paths", "mean_delay_ms")
        lengths = DataTable.of_rows("lengths", caption, about, rows, chart=Bars("hops", ("paths",)))
        tables.insert(1, lengths)
    return tables


def _paths_and_hops(routes: Routes, pairs: Sequence[PairRoutes]) -> list[DataTable]:
    """The table of paths and that of next hops, without those that have no row."""
    paths, hops = list[Sequence[Cell]](), list[Sequence[Cell]]()
    for pair in pairs:
        paths += [_path_row(pair, number, path) for number, path in enumerate(pair.paths, start=1)]
        hops += [_hop_row(pair, hop) for hop in pair.hop_by_hop]
    metric = () if routes.metric_column in _SHOWN_ALREADY else (_metric(routes.metric_column),)
    about = (*columns(*_PATHS), *metric)
    tables = []
    if paths:
        rows = [row[: len(about)] for row in paths]
        tables.append(DataTable.of_rows("paths", routes.caption, about, rows, elsewhere="--json", grouped=1))
    if hops:
        about = columns("pair", "from", "to", "at", "next", "share")
        caption = f"{routes.caption}, hop by hop"
        tables.append(DataTable.of_rows("next_hops", caption, about, hops, elsewhere="--json", grouped=1))
    return tables


def _metric(name: str) -> Column:
    """The column of a metric of paths: a scheme of the user's own may name one that no table declares."""
    return completed(Column(name, name, digits=6, priority=9))


def _named(pair: PairRoutes) -> tuple[str, str, str]:
    return f"{pair.source} -> {pair.destination}", pair.source, pair.destination


def _path_row(pair: PairRoutes, number: int, path: PathRow) -> Sequence[Cell]:
    return (
        *_named(pair), pair.carries, number, path.path, path.weight, path.hops, path.delay_ms,
        path.bottleneck_mbps, path.loss, path.metric_value,
    )  # fmt: skip


def _hop_row(pair: PairRoutes, hop: Hop) -> Sequence[Cell]:
    return (*_named(pair), hop.node, "; ".join(hop.next_nodes), hop.share)


def _predictions(pairs: Sequence[PairRoutes]) -> list[Piece]:
    """A row for each pair, transport and path; under it what limits the numbers, each reason once."""
    notes: dict[str, int] = {}
    rows = [
        (*_named(pair), *row)
        for pair in pairs
        for prediction in pair.predictions
        for row in _prediction_rows(pair, prediction, notes)
    ]
    if not rows:
        return []
    about = columns(*_PREDICTED)
    caption = "predicted throughput of one long flow"
    return [
        DataTable.of_rows("predictions", caption, about, rows, elsewhere="--json", grouped=1,
              most=len(rows)),
        *(Text(f"note {number}: {note}") for note, number in notes.items()),
        Text("RTT through an idle network, without queues and jitter. Capacity in payload, and only flows of "
             "the same pair share it."),
    ]  # fmt: skip


def _prediction_rows(
    pair: PairRoutes, prediction: ThroughputPrediction, notes: dict[str, int]
) -> Iterator[Sequence[Cell]]:
    """One row, or one for each kind of path and their mean."""

    def noted(texts: Sequence[str]) -> str:
        return ", ".join(str(notes.setdefault(text, len(notes) + 1)) for text in texts)

    model = prediction.model or "no model"
    if prediction.mbps is None:
        reason = () if prediction.reason is None else (prediction.reason,)
        yield (prediction.transport, "", *[None] * 5, model, None, noted(reason))
        return
    alike: dict[PathPrediction, list[int]] = {}
    for number, path in enumerate(prediction.paths, start=1):
        alike.setdefault(replace(path, nodes=(), share=0.0), []).append(number)
    transport = prediction.transport
    for path, numbers in alike.items():
        share = sum(prediction.paths[number - 1].share for number in numbers)
        named = _paths_named(pair, prediction, numbers)
        yield (
            transport, named, share, path.rtt_ms, path.loss, path.capacity_mbps, path.flows, model, path.mbps,
            noted(path.warnings),
        )  # fmt: skip
        transport = ""
    if len(alike) > 1:
        yield ("", "mean", *[None] * 5, model, prediction.mbps, "")


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
    return _core.path_text(prediction.paths[numbers[0] - 1].nodes)


def forwarding_pieces(check: ForwardingCheck) -> list[Piece]:
    """Whether hop-by-hop forwarding agrees with a metric, and the pairs with which it does not."""
    caption = f"hop by hop by {check.metric}{'' if check.search == 'exact' else f', {check.search} search'}"
    if check.agrees:
        return [Text(f"{caption}: every packet takes the path that its source wants")]
    rows = [
        (
            f"{pair.source} -> {pair.destination}",
            _core.path_text(pair.wanted),
            _core.path_text(pair.walked),
            "arrives" if pair.loop is None else f"loops: {_core.path_text(pair.loop)}",
        )
        for pair in check.astray
    ]
    about = columns("pair", "path_wanted", "path_taken", "ends")
    astray = counted(len(check.astray), "pair")
    return [
        DataTable.of_rows("forwarding", caption, about, rows, things="pairs"),
        Text(
            f"packets of {astray} go astray, of {check.loops:,} in circles; install these routes along whole "
            "paths"
        ),
    ]
