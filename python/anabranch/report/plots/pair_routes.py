"""The routes of a pair of nodes: the share of its packets on each link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from anabranch.errors import ResultError
from anabranch.result import Result
from anabranch.suggest import nearest_remedy


def pair_shares(result: Result, pair: tuple[str, str]) -> dict[int, float]:
    """The share of a pair's packets on each link that its routes use, as they were at the start of the run.

    Along paths it is the weight of those that use the link; hop by hop each node shares equally.

    Args:
        result: the run.
        pair: names of the source and of the destination.

    Raises:
        ResultError: if there is no such pair, or the result does not hold its routes.
    """
    if not {"routes", "next_hops"} & result.tables.keys():
        raise ResultError(
            "plot.network: pair: this result does not hold its routes; run its scenario again with this "
            "version"
        )
    source, destination = pair
    if "routes" in result.tables:
        routes = result.tables["routes"]
        own = routes.filter((pl.col("from") == source) & (pl.col("to") == destination))
        if own.height:
            return _along_paths(own)
    if "next_hops" in result.tables:
        table = result.tables["next_hops"].filter(pl.col("to") == destination)
        hops = dict(table.select("node", "links").iter_rows())
        if source in hops and source != destination:
            return _hop_by_hop(result, hops, source, destination)
    raise ResultError(_no_such(result, pair))


def _along_paths(own: pl.DataFrame) -> dict[int, float]:
    total = float(own["weight"].sum()) or 1.0
    shares: dict[int, float] = {}
    for weight, links in own.select("weight", "links").iter_rows():
        for link in links:
            shares[link] = shares.get(link, 0.0) + weight / total
    return shares


def _hop_by_hop(
    result: Result, hops: Mapping[str, Sequence[int]], source: str, destination: str
) -> dict[int, float]:
    """Each node splits what comes to it equally over its next hops."""
    end_of = dict(result.links.select("link", "to").iter_rows())
    shares: dict[int, float] = {}
    through = {source: 1.0}
    for node in _in_order(hops, end_of, source):
        links = [] if node == destination else hops.get(node, [])
        for link in links:
            share = through.get(node, 0.0) / len(links)
            shares[link] = share
            through[end_of[link]] = through.get(end_of[link], 0.0) + share
    return shares


def _in_order(hops: Mapping[str, Sequence[int]], end_of: Mapping[int, str], source: str) -> list[str]:
    """The nodes that are reached, each after all those that send to it: depth first, last finished first."""
    seen, finished = {source}, []
    stack = [(source, iter(hops.get(source, [])))]
    while stack:
        node, rest = stack[-1]
        following = next((end_of[link] for link in rest if end_of[link] not in seen), None)
        if following is None:
            finished.append(node)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(hops.get(following, []))))
    return finished[::-1]


def _no_such(result: Result, pair: tuple[str, str]) -> str:
    """Which of the two nodes does not exist, or that there are no routes between them."""
    names = result.tables["nodes"]["name"].to_list() if "nodes" in result.tables else []
    for name in pair:
        if names and name not in names:
            hint = nearest_remedy(name, names, f'one is "{names[0]}"')
            return f'plot.network: pair: no node "{name}"; {hint}'
    known = result.flows.select("from", "to").unique(maintain_order=True).head(3).rows()
    some = ", ".join(f'("{a}", "{b}")' for a, b in known)
    return (
        f'plot.network: pair: no routes from "{pair[0]}" to "{pair[1]}": routes are there for pairs that '
        f"send, such as {some}"
    )
