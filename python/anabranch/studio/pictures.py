"""Pictures that the page draws: of a run, of routes, of loads, and of the network alone."""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from anabranch.media.page.data import column, table_data
from anabranch.media.pieces import DataTable, Text
from anabranch.report.html.outlines import Box, outlines
from anabranch.report.html.routes_data import routes_data
from anabranch.report.html.run_data import network_document
from anabranch.results.result import Result

if TYPE_CHECKING:
    from anabranch.plans.routes import Routes
    from anabranch.plans.worst_loads import WorstLoads
    from anabranch.setup import Setup

MOST_PAIRS = 400
"""Pairs whose routes are listed."""
_PS_PER_MS = 1e9


def network_picture(setup: Setup) -> dict[str, Any]:
    """Nodes and links of a scenario that has not run."""
    names = [node.name for node in setup.nodes]
    places = [
        None if node.place is None else (node.place.latitude, node.place.longitude) for node in setup.nodes
    ]
    ends = [(link.origin, link.to) for link in setup.links]
    capacities = [link.capacity / 1e6 for link in setup.links]
    links = pl.DataFrame(
        {
            "name": [link.name for link in setup.links],
            "capacity_mbps": capacities,
            "delay_ms": [link.delay / _PS_PER_MS for link in setup.links],
        },
        schema={"name": pl.String, "capacity_mbps": pl.Float64, "delay_ms": pl.Float64},
    )
    table = DataTable.of_frame("links", "Links", links, links.columns)
    return empty_picture("network") | network_document(names, places, ends, capacities, table)


def empty_picture(kind: str) -> dict[str, Any]:
    """A picture with nothing in it, which has what scripts look for in every one."""
    return {
        "kind": kind, "title": "", "cards": [], "warnings": [], "notes": [], "marks": [], "events": [],
        "routes": None, "link_series": None, "flow_series": None, "ended_s": 0.0, "tables": [], "texts": [],
    }  # fmt: skip


def load_picture(setup: Setup, loads: WorstLoads) -> dict[str, Any]:
    """The network with the load of each link, and the tables of the page of loads."""
    # The page of loads imports what draws figures on paper, which a run need not wait for.
    from anabranch.report.load_page import load_cards, load_words  # noqa: PLC0415
    from anabranch.report.views.loads import load_tables  # noqa: PLC0415

    picture = network_picture(setup)
    by_name = {one.link: one.load for one in loads.links}
    values = [by_name.get(link.name, math.nan) for link in setup.links]
    return picture | {
        "kind": "loads",
        "title": loads.title,
        "cards": [asdict(card) for card in load_cards(loads)],
        "warnings": list(loads.warnings),
        "texts": load_words(loads),
        "load": column(values),
        "tables": [table_data(table) for table in load_tables(loads, loads.worst.link)],
    }


def routes_picture(setup: Setup, routes: Routes) -> dict[str, Any]:
    """The network with the routes of each pair, as the page of a run shows them, and their tables."""
    from anabranch.plans.routes import route_tables  # noqa: PLC0415 - as above
    from anabranch.report.views.routes import route_pieces  # noqa: PLC0415 - as above

    pieces = route_pieces(routes, MOST_PAIRS, "")
    names = [node.name for node in setup.nodes]
    ends = [(names[link.origin], names[link.to]) for link in setup.links]
    plan = routes.names.plan.with_others([other.names.plan for other in routes.others])
    tables = {
        "flows": _senders(setup, routes, names),
        "links": pl.DataFrame(ends, schema={"from": pl.String, "to": pl.String}, orient="row"),
        **route_tables(setup, plan),
    }
    notes = ["".join(map(str, piece.words)) for piece in pieces if isinstance(piece, Text)]
    number = {name: index for index, name in enumerate(names)}
    return network_picture(setup) | {
        "kind": "routes",
        "warnings": list(routes.warnings),
        "tables": [table_data(piece) for piece in pieces if isinstance(piece, DataTable)],
        # Before the notes, which get what is left out.
        "routes": routes_data(Result(tables, {}), number, notes),
        "notes": notes,
    }


def _senders(setup: Setup, routes: Routes, names: list[str]) -> pl.DataFrame:
    """A row for each flow; without traffic for each pair that may send."""
    flows = np.column_stack([setup.flows.origin, setup.flows.to])
    datagrams = np.array([(flow.origin, flow.to) for flow in setup.datagrams], dtype=np.uint32).reshape(-1, 2)
    ends = np.concatenate([flows, datagrams])
    if not len(ends):
        ends = routes.pairs.where(routes.pairs.carries_data).ends
    columns = {"from": [names[node] for node in ends[:, 0]], "to": [names[node] for node in ends[:, 1]]}
    schema = {"from": pl.String, "to": pl.String}
    return pl.DataFrame(columns, schema=schema).with_columns(delivered_bytes=pl.lit(0, pl.UInt64))


@lru_cache(maxsize=16)
def land(box: Box) -> dict[str, Any]:
    """Outlines of land within a box, kept for the next picture of the same network."""
    return outlines(box)
