"""Worst-case loads as pieces: links, failures, the traffic behind a link, a change against another plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from anabranch.media.columns import FULL
from anabranch.media.json import records
from anabranch.media.links import LinkScale
from anabranch.media.pieces import Badge, Bars, Cell, DataTable, Map, Piece, Text, columns
from anabranch.text.units import plain

if TYPE_CHECKING:
    from anabranch.plans.failure_loads import FailureLoad
    from anabranch.plans.worst_loads import LoadChange, LoadChanges, WorstLoads

NEAR = 0.9
"""Load from which a link counts as nearly full."""
_MOST_NAMED = 5
_THINGS = {
    "series": "matrices", "matrix": "pairs", "failures": "failures", "change_of_failures": "failures",
    "weights": "changes", "transfers": "rows",
}  # fmt: skip
"""What the rows of tables are that are not about links."""
_MOST_LOADED = 15


def load_pieces(loads: WorstLoads, link: str, changes: LoadChanges | None = None) -> list[Piece]:
    """The most loaded links, the matrix behind one of them, the worst failures, and what has changed."""
    tables = {table.name: table for table in load_tables(loads, link, changes)}
    tables["links"] = tables["links"].without("from", "to", "state")
    if "failures" in tables:
        of_one_kind = () if len(loads.failure_kinds) > 1 else ("kind",)
        tables["failures"] = tables["failures"].without("state", "which", *of_one_kind)
    shown = [
        replace(tables[name], most=most)
        for name, most in (
            ("series", _MOST_LOADED), ("links", _MOST_LOADED), ("matrix", 40), ("failures", _MOST_LOADED),
            ("change_of_links", _MOST_LOADED), ("change_of_failures", _MOST_LOADED),
        )
        if name in tables
    ]  # fmt: skip
    if changes is None:
        return list(shown)
    before, after = changes.before, changes.after
    what = "worst case" if after.matrix_name is None else "highest load"
    return [*shown, Text(f"{what} {before.max_load:.4f} before, {after.max_load:.4f} after")]


def load_tables(loads: WorstLoads, link: str, changes: LoadChanges | None = None) -> list[DataTable]:
    """The links, the failures and the matrix behind one link; and what has changed against another plan."""
    tables = [_links(loads), _matrix(loads, link)]
    if loads.failures is not None:
        tables.insert(1, _failures(loads))
    if loads.series is not None:
        tables.insert(0, _series(loads))
    return tables if changes is None else [*tables, *changes_tables(changes)]


def changes_tables(changes: LoadChanges) -> list[DataTable]:
    """Changes in the loads of links, and in those of failures where both plans have some."""
    of_links = _changes("change_of_links", changes, changes.links)
    if not changes.failures:
        return [of_links]
    return [of_links, _changes("change_of_failures", changes, changes.failures)]


_KEYS = {
    "load_percent": "load",
    "headroom_percent": "headroom",
    "failed_load_percent": "failed_load",
    "predicted_goodput_mbps": "goodput_mbps",
}
"""Keys of documents that are not the names of their columns."""
_LINK_KEYS = ("link", "from", "to", "capacity_mbps", "load_percent", "headroom_percent")
_FAILED_KEYS = ("failed_load_percent", "failed_by")
_IMPACT = (
    "lost_mbps", "rerouted_pairs", "squeezed_pairs", "squeezed_mbps", "predicted_goodput_mbps",
)  # fmt: skip
"""Columns of what becomes of the traffic."""
_FAILURE_KEYS = ("kind", "down", "load_percent", "worst_link", *_IMPACT)
_CHANGE_KEYS = ("before_percent", "after_percent")


def load_document(loads: WorstLoads, changes: LoadChanges | None = None) -> dict[str, Any]:
    """The tables as a document of JSON, in the order of the network; each link has its traffic besides."""
    link_keys = (*_LINK_KEYS, *(() if loads.failures is None else _FAILED_KEYS))
    of_link = {row["link"]: row for row in records(_links(loads), _keys(link_keys))}
    of_failure = {(row["kind"], row["down"]): row for row in records(_failures(loads), _keys(_FAILURE_KEYS))}
    document = {
        "title": loads.title,
        "scheme": loads.scheme,
        "matrix": loads.matrix_name,
        "worst_case_load": loads.max_load,
        "proved_load": loads.proved_load,
        "worst_link": loads.worst.link,
        "out_of_service": list(loads.out_of_service),
        "links": [
            of_link[one.link]
            | {"matrix": [[each.source, each.destination, each.mbps] for each in loads.matrix(one.link)]}
            for one in loads.links
        ],
        "failures": None
        if loads.failures is None
        else [
            {"links": list(case.links), "nodes": list(case.nodes)}
            | of_failure[case.kind, case.name]
            | {"stranded": [list(pair) for pair in case.stranded]}
            for case in loads.failures
        ],
        "series": None if loads.series is None else [asdict(one) for one in loads.series],
        "facts": dict(loads.facts),
        "warnings": list(loads.warnings),
    }
    return document if changes is None else document | {"against": changes_document(changes)}


def _keys(names: Sequence[str]) -> dict[str, str]:
    return {name: _KEYS.get(name, name) for name in names}


def changes_document(changes: LoadChanges) -> dict[str, Any]:
    """The changes as a document: a list of values for each link, and for each failure."""
    links = {row[0]: row for row in _rows(_changes("change_of_links", changes, changes.links), "link")}
    table = _changes("change_of_failures", changes, changes.failures)
    failures = {row[0]: row for row in _rows(table, "down", "cut_off_before_pairs", "cut_off_after_pairs")}
    return {
        "scheme": changes.before.scheme,
        "worst_case_load": changes.before.max_load,
        "worst_link": changes.before.worst.link,
        "links": [links[one.name] for one in changes.links],
        "failures": [failures[one.name] for one in changes.failures],
    }


def _rows(table: DataTable, name: str, *more: str) -> list[list[Any]]:
    return [list(row.values()) for row in records(table.only(name, *_CHANGE_KEYS, *more))]


def load_map_of(loads: WorstLoads, link: str) -> Map:
    """The links by their worst cases, the heavier ones above, one of them chosen.

    Raises:
        KeyError: no link between routers has this name.
    """
    number = {name: index for index, name in enumerate(loads.routers)}
    ordered = sorted(loads.links, key=lambda one: one.load)
    # Rounding alone is no overload.
    top = 1.0 if loads.max_load > FULL else max(0.1, math.ceil(loads.max_load * 10 - 1e-6) / 10)
    return Map(
        loads.routers,
        list(loads.places.values()),
        [(number[one.source], number[one.destination]) for one in ordered],
        [one.capacity_mbps for one in ordered],
        [one.load for one in ordered],
        LinkScale(top, FULL),
        chosen={one.link: place for place, one in enumerate(ordered)}[link],
    )


def percent(load: float) -> str:
    """A load as people say it."""
    return f"{plain(100 * load, 3)} %"


def overloading(loads: WorstLoads) -> int:
    """How many failures can overload a link."""
    return sum(case.load > FULL for case in loads.failures or ())


def cutting(loads: WorstLoads) -> int:
    """How many failures cut pairs off."""
    return sum(bool(case.stranded) for case in loads.failures or ())


def plan_table(
    name: str, caption: str, names: Sequence[str], rows: Sequence[Sequence[Cell]], chart: Bars | None = None
) -> DataTable:
    """A table of the columns of loads, all of whose rows are in a document of JSON and on a page."""
    return DataTable.of_rows(
        name, caption, columns(*names, table="loads"), rows, chart=chart,
        things=f"{_THINGS.get(name, 'links')} (--json shows all)", elsewhere="--json",
        choices=("state", "verdict"), searchable=True, boxed=True,
    )  # fmt: skip


def _links(loads: WorstLoads) -> DataTable:
    growth, has_failures = loads.growth_a_year, loads.failures is not None
    rows = [
        (
            one.link, one.source, one.destination, one.capacity_mbps, one.load, state(one.load), one.headroom,
            *(() if growth is None else (one.years_until_full(growth),)),
            *((one.failed_load, one.failed_by) if has_failures else ()),
        )
        for one in sorted(loads.links, key=lambda one: -one.load)
    ]  # fmt: skip
    names = (
        "link", "from", "to", "capacity_mbps", "load_percent", "state", "headroom_percent",
        *(() if growth is None else ("full_in_years",)),
        *(_FAILED_KEYS if has_failures else ()),
    )  # fmt: skip
    whose = (
        "Highest load of each link"
        if loads.matrix_name is None
        else f"Load of each link by {loads.matrix_name}"
    )
    grown = "" if growth is None else f"; traffic grows by {percent(growth)} a year"
    caption = f"{whose}, {loads.links_up}, {loads.scheme}{grown}"
    return plan_table("links", caption, names, rows, Bars("link", ("load_percent",)))


def _series(loads: WorstLoads) -> DataTable:
    """A row for each matrix of a series, in the order of the file."""
    has_failures = loads.failures is not None
    rows = [
        (
            one.number, one.label, one.demand_mbps, one.load, state(one.load), one.worst_link,
            *((one.failed_load, one.failed_by) if has_failures else ()),
        )
        for one in loads.series or ()
    ]  # fmt: skip
    names = (
        "matrix", "label", "demand_mbps", "load_percent", "state", "worst_link",
        *(_FAILED_KEYS if has_failures else ()),
    )  # fmt: skip
    caption = f"Highest load by each matrix, {loads.links_up}, {loads.scheme}"
    return plan_table("series", caption, names, rows, Bars("matrix", ("load_percent",)))


def _failures(loads: WorstLoads) -> DataTable:
    """A row for each failure: first those that overload a link or cut pairs off, then by their loads."""
    rows = []
    for case in sorted(loads.failures or (), key=severity):
        named = ", ".join(f"{a} - {b}" for a, b in case.stranded[:_MOST_NAMED])
        more = len(case.stranded) - _MOST_NAMED
        which = f"{named} and {more} more" if more > 0 else named
        cut_off = len(case.stranded)
        verdict = state(case.load, cut_off)
        impact = (
            case.lost_mbps, case.rerouted_pairs, case.squeezed_pairs, case.squeezed_mbps, case.goodput_mbps
        )  # fmt: skip
        rows.append((case.name, case.load, verdict, case.worst_link, cut_off, which, *impact, case.kind))
    names = ("down", "load_percent", "state", "worst_link", "pairs_cut_off", "which", *_IMPACT, "kind")
    caption = "Highest load of any link while one is down, both directions"
    if loads.failure_kinds != ("links",):
        caption = f"Highest load of any link while others are down: {', '.join(loads.failure_kinds)}"
    return plan_table("failures", caption, names, rows, Bars("down", ("load_percent",)))


def severity(case: FailureLoad) -> tuple[bool, float]:
    """The order of failures: what overloads a link or cuts pairs off comes first, then the higher load."""
    return not (case.stranded or case.load > FULL), -case.load


def _matrix(loads: WorstLoads, link: str) -> DataTable:
    rows = [(one.source, one.destination, one.mbps, one.share) for one in loads.matrix(link)]
    names = ("from", "to", "traffic_mbps", "share_over_the_link_percent")
    caption = f"Traffic that loads {link} most" if loads.matrix_name is None else f"Traffic over {link}"
    return plan_table("matrix", caption, names, rows)


def _changes(name: str, changes: LoadChanges, entries: Sequence[LoadChange]) -> DataTable:
    is_failure = name == "change_of_failures"
    ranked = sorted(entries, key=lambda one: (-abs(one.cut_change), -abs(one.change)))
    rows: list[Sequence[Cell]] = [
        (
            one.name, one.before, one.after, one.change, verdict(one),
            *((one.cut_before, one.cut_after) if is_failure else ()),
        )
        for one in ranked
    ]  # fmt: skip
    names = ("before_percent", "after_percent", "change_points", "verdict")
    what, where = ("down", "while something is down") if is_failure else ("link", "by link")
    cuts = ("cut_off_before_pairs", "cut_off_after_pairs") if is_failure else ()
    caption = f"Before, {changes.before.scheme}, and after, {changes.after.scheme}, {where}"
    return plan_table(
        name, caption, (what, *names, *cuts), rows, Bars(what, ("before_percent", "after_percent"), most=20)
    )


def state(load: float, cut_off: int = 0) -> Badge:
    """Whether pairs have no route, or a load is above the capacity, near it, or below."""
    if cut_off:
        return Badge("cuts pairs off", "bad")
    if load > FULL:
        return Badge("overloaded", "bad")
    return Badge("nearly full") if load >= NEAR else Badge("has room", "good")


def verdict(change: LoadChange) -> Badge:
    """The meaning of a change to whoever answers for the link."""
    # Of pairs that are cut off no load is left: less of it is no relief.
    if change.cut_change > 0:
        return Badge("cuts off more", "bad")
    if change.before <= FULL < change.after:
        return Badge("now overloaded", "bad")
    if change.cut_change < 0:
        return Badge("cuts off fewer", "good")
    if change.after <= FULL < change.before:
        return Badge("now carries it", "good")
    if abs(change.change) < 5e-4:
        return Badge("as before")
    return Badge("more") if change.change > 0 else Badge("less", "good")
