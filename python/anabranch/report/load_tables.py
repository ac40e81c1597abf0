"""Routes and worst-case loads as tables: for files, spreadsheets and the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from anabranch.report.sections import Badge, Cell, PageColumn, PageTable
from anabranch.report.table_files import NamedTable, TableChart

if TYPE_CHECKING:
    from anabranch.routes import PairRoutes, PathRow, Routes
    from anabranch.worst_loads import LoadChange, LoadChanges, WorstLoads

FULL = 1 + 1e-9
"""Load above which a link has more traffic than it can carry; solvers leave the rest."""
NEAR = 0.9
"""Load from which a link counts as nearly full."""
_MOST_NAMED = 5


def _number(heading: str, unit: str = "") -> PageColumn:
    return PageColumn(heading, unit, numeric=True)


_LOAD = _number("load", "%")


def route_tables(routes: Routes) -> list[NamedTable]:
    """Paths, next hops and how long paths are; and the same of traffic that has routes of its own."""
    tables = _tables_of(routes)
    for number, other in enumerate(routes.others, start=1):
        tables += [replace(table, name=f"{table.name}_{number}") for table in _tables_of(other)]
    return tables


def _tables_of(routes: Routes) -> list[NamedTable]:
    data, hops = list[Sequence[Cell]](), list[Sequence[Cell]]()
    by_length: dict[int, list[PathRow]] = defaultdict(list)
    for pair in routes.pairs:
        data += [_path_row(pair, number, path) for number, path in enumerate(pair.paths, start=1)]
        hops += [
            (pair.source, pair.destination, hop.node, "; ".join(hop.next_nodes), hop.share)
            for hop in pair.hop_by_hop
        ]
        for path in pair.paths:
            by_length[path.hops].append(path)
    metric = [] if routes.metric_column in ("hops", "delay_ms", "bottleneck_mbps") else [routes.metric_column]
    columns = [
        PageColumn("from"), PageColumn("to"), PageColumn("carries"), _number("path number"),
        PageColumn("path"), _number("weight"), _number("hops"),
        _number("delay", "ms"), _number("bottleneck", "Mbps"),
        _number("loss"), *(_number(name) for name in metric),
    ]  # fmt: skip
    caption = routes.caption
    tables = []
    if data:
        tables.append(NamedTable("paths", PageTable(caption, columns, [row[: len(columns)] for row in data])))
        lengths = [
            (str(count), len(found), fmean(path.delay_ms for path in found))
            for count, found in sorted(by_length.items())
        ]
        heads = [PageColumn("hops"), _number("paths"), _number("mean delay", "ms")]
        title = "How long the paths are" + (f", {caption}" if routes.traffic else "")
        tables.append(NamedTable("lengths", PageTable(title, heads, lengths), TableChart(0, (1,))))
    if hops:
        heads = [*map(PageColumn, ("from", "to", "at", "next")), _number("share")]
        tables.append(NamedTable("next_hops", PageTable(f"{caption}, hop by hop", heads, hops)))
    return tables


def _path_row(pair: PairRoutes, number: int, path: PathRow) -> Sequence[Cell]:
    return (
        pair.source, pair.destination, pair.carries, number, " - ".join(path.nodes), path.weight, path.hops,
        path.delay_ms, path.bottleneck_mbps, path.loss, path.metric_value,
    )  # fmt: skip


def load_tables(loads: WorstLoads, link: str, changes: LoadChanges | None = None) -> list[NamedTable]:
    """The links, the failures and the matrix behind one link; and what has changed against another plan."""
    tables = [_links(loads), _matrix(loads, link)]
    if loads.failures is not None:
        tables.insert(1, _failures(loads))
    if changes is not None:
        tables.append(_changes("change_of_links", "link", changes.links))
        if changes.failures:
            tables.append(_changes("change_of_failures", "down", changes.failures))
    return tables


def _links(loads: WorstLoads) -> NamedTable:
    columns = [
        PageColumn("link"), PageColumn("from"), PageColumn("to"),
        _number("capacity", "Mbps"), _LOAD, PageColumn("state", choices=True),
    ]  # fmt: skip
    rows = [
        (one.link, one.source, one.destination, one.capacity_mbps, 100 * one.load, state(one.load))
        for one in sorted(loads.links, key=lambda one: -one.load)
    ]
    table = PageTable("Highest load of each link, all links up", columns, rows, searchable=True, boxed=True)
    return NamedTable("links", table, TableChart(0, (4,)))


def _failures(loads: WorstLoads) -> NamedTable:
    columns = [
        PageColumn("down"), _LOAD, PageColumn("state", choices=True), PageColumn("worst link"),
        _number("pairs cut off"), PageColumn("which"),
    ]  # fmt: skip
    rows = []
    for case in sorted(loads.failures or (), key=lambda case: -case.load):
        named = ", ".join(f"{a} - {b}" for a, b in case.stranded[:_MOST_NAMED])
        more = len(case.stranded) - _MOST_NAMED
        which = f"{named} and {more} more" if more > 0 else named
        cut_off = len(case.stranded)
        badge = state(case.load, cut_off)
        rows.append((case.links[0], 100 * case.load, badge, case.worst_link, cut_off, which))
    table = PageTable(
        "Highest load of any link while one is down", columns, rows, searchable=True, boxed=True
    )
    return NamedTable("failures", table, TableChart(0, (1,)))


def _matrix(loads: WorstLoads, link: str) -> NamedTable:
    columns = [
        *map(PageColumn, ("from", "to")),
        _number("traffic", "Mbps"),
        _number("share over the link", "%"),
    ]
    rows = [(one.source, one.destination, one.mbps, 100 * one.share) for one in loads.matrix(link)]
    return NamedTable(
        "matrix", PageTable(f"Traffic that loads {link} most", columns, rows, searchable=True, boxed=True)
    )


def _changes(name: str, what: str, changes: Sequence[LoadChange]) -> NamedTable:
    columns = [PageColumn(what), _number("before", "%"), _number("after", "%"), _number("change", "points"),
               PageColumn("verdict", choices=True)]  # fmt: skip
    ranked = sorted(changes, key=lambda one: (-abs(one.cut_after - one.cut_before), -abs(one.change)))
    rows: list[tuple[Cell, ...]] = [
        (one.name, 100 * one.before, 100 * one.after, 100 * one.change, verdict(one)) for one in ranked
    ]
    if what == "down":
        columns += [_number("cut off before", "pairs"), _number("cut off after", "pairs")]
        rows = [(*row, one.cut_before, one.cut_after) for row, one in zip(rows, ranked, strict=True)]
    title = "Before and after, by link" if what == "link" else "Before and after, while a link is down"
    table = PageTable(title, columns, rows, searchable=True, boxed=True)
    return NamedTable(name, table, TableChart(0, (1, 2), most=20))


def state(load: float, cut_off: int = 0) -> Badge:
    """Whether pairs have no route, or a load is above the capacity, near it, or below."""
    if cut_off:
        return Badge("cuts pairs off", "bad")
    if load > FULL:
        return Badge("overloaded", "bad")
    return Badge("nearly full") if load >= NEAR else Badge("has room", "good")


def verdict(change: LoadChange) -> Badge:
    """What a change means to whoever answers for the link."""
    if change.cut_after > change.cut_before:
        return Badge("cuts off more", "bad")
    if change.before <= FULL < change.after:
        return Badge("now overloaded", "bad")
    if change.cut_after < change.cut_before:
        return Badge("cuts off fewer", "good")
    if change.after <= FULL < change.before:
        return Badge("now carries it", "good")
    if abs(change.change) < 5e-4:
        return Badge("as before")
    return Badge("more") if change.change > 0 else Badge("less", "good")
