"""The routes that a result holds, as they were at the start of the run; the core walks along them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from anabranch import _core
from anabranch.errors import ResultError
from anabranch.results.result import Result

NamedPair = tuple[str, str]
"""Names of source and destination."""
ROUTE_TABLES = {"routes", "next_hops"}
"""The tables of which a result has one at least, if it holds its routes."""


@dataclass(frozen=True, slots=True)
class ResultRoutes:
    """Paths and shares of the packets of some pairs."""

    shares: Mapping[NamedPair, Mapping[int, float]]
    """The share of a pair's packets on each link that its routes use, for pairs that have routes. Where
    entries of traffic have routes of their own, it is the mean over them."""
    paths: Mapping[NamedPair, list[tuple[float, list[int]]]]
    """Weight and links of each path, for pairs that do not go hop by hop."""


def result_routes(result: Result, pairs: Collection[NamedPair]) -> ResultRoutes:
    """Returns the routes of some pairs of a run.

    Raises:
        ResultError: the tables of routes do not fit the links of the result.
    """
    wanted = pl.DataFrame([*pairs], schema={"from": pl.String, "to": pl.String}, orient="row")
    names = _Names(result)
    shares_of: dict[NamedPair, list[Mapping[int, float]]] = {}
    listed: dict[NamedPair, list[tuple[float, list[int]]]] = {}
    for number in _places(result):
        paths = _paths(result, wanted, number)
        tables = _next_hops(result, wanted, number)
        by_hop = [
            (source, to)
            for source, to in pairs
            if source != to and source in tables.get(to, {}) and (source, to) not in paths
        ]
        planned = names.plan(paths, by_hop, tables)
        for pair in (*paths, *by_hop):
            shares_of.setdefault(pair, []).append(dict(planned.shares(*map(names.number, pair))))
        for pair, listed_paths in paths.items():
            listed.setdefault(pair, []).extend(listed_paths)
    return ResultRoutes({pair: _mean(shares) for pair, shares in shares_of.items()}, listed)


class _Names:
    """The nodes and links of a result by number."""

    def __init__(self, result: Result) -> None:
        self._numbers: dict[str, int] = {}
        self._ends = np.array([self.number(name) for name in result.links["to"].to_list()], dtype=np.uint32)

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def plan(
        self,
        paths: Mapping[NamedPair, list[tuple[float, list[int]]]],
        by_hop: Collection[NamedPair],
        tables: Mapping[str, Mapping[str, list[int]]],
    ) -> _core.PlannedPaths:
        routes = [
            {
                "from": self.number(source),
                "to": self.number(to),
                "paths": [
                    {"links": links, "weight": weight} for weight, links in paths.get((source, to), ())
                ],
            }
            for source, to in (*paths, *by_hop)
        ]
        plain = {
            "routes": sorted(routes, key=lambda route: (route["from"], route["to"])),
            "tables": [
                {
                    "to": self.number(to),
                    "next": sorted((self.number(node), links) for node, links in of.items()),
                }
                for to, of in tables.items()
            ],
        }
        try:
            return _core.Plan(json.dumps(plain)).over(self._ends)
        except _core.SetupError as error:
            raise ResultError(
                f"the routes of this result do not fit its links ({error.args[1]}); run its scenario again"
            ) from None


def _places(result: Result) -> list[int]:
    """The routes of ``[routing]`` and those that traffic has of its own, by number."""
    columns = [
        result.tables[name].get_column("routing", default=None)
        for name in ROUTE_TABLES & result.tables.keys()
    ]
    return sorted({0, *(int(place) for column in columns if column is not None for place in column.unique())})


def _of_place(result: Result, name: str, place: int) -> pl.DataFrame | None:
    table = result.tables.get(name)
    if table is None or "routing" not in table.columns:
        return table if place == 0 else None
    return table.filter(pl.col("routing") == place)


def _paths(
    result: Result, wanted: pl.DataFrame, place: int
) -> dict[NamedPair, list[tuple[float, list[int]]]]:
    table = _of_place(result, "routes", place)
    paths_of: dict[NamedPair, list[tuple[float, list[int]]]] = {}
    if table is not None:
        rows = table.join(wanted, on=["from", "to"], how="semi", maintain_order="left")
        for source, to, weight, links in rows.select("from", "to", "weight", "links").iter_rows():
            paths_of.setdefault((source, to), []).append((weight, links))
    return paths_of


def _next_hops(result: Result, wanted: pl.DataFrame, place: int) -> dict[str, dict[str, list[int]]]:
    table = _of_place(result, "next_hops", place)
    hops: dict[str, dict[str, list[int]]] = {}
    if table is not None:
        rows = table.filter(pl.col("to").is_in(wanted["to"].unique().implode()))
        for to, node, links in rows.select("to", "node", "links").iter_rows():
            hops.setdefault(to, {})[node] = links
    return hops


def _mean(shares: list[Mapping[int, float]]) -> Mapping[int, float]:
    if len(shares) == 1:
        return shares[0]
    links = dict.fromkeys(link for one in shares for link in one)
    return {link: sum(one.get(link, 0.0) for one in shares) / len(shares) for link in links}
