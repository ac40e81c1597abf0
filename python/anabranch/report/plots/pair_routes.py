"""The routes of a pair of nodes: the share of its packets on each link."""

from __future__ import annotations

from collections.abc import Mapping

from anabranch.errors import ResultError
from anabranch.report.result_routes import ROUTE_TABLES, result_routes
from anabranch.results.result import Result
from anabranch.text.suggest import nearest_remedy


def pair_shares(result: Result, pair: tuple[str, str]) -> Mapping[int, float]:
    """The share of a pair's packets on each link that its routes use, as they were at the start of the run.

    Along paths it is the weight of those that use the link; hop by hop each node shares equally.

    Args:
        result: the run.
        pair: names of the source and of the destination.

    Raises:
        ResultError: if there is no such pair, or the result does not hold its routes.
    """
    if not ROUTE_TABLES & result.tables.keys():
        raise ResultError(
            "plot.network: pair: this result does not hold its routes; run its scenario again with this "
            "version"
        )
    shares = result_routes(result, [pair]).shares.get(pair)
    if shares is None:
        raise ResultError(_no_such(result, pair))
    return shares


def _no_such(result: Result, pair: tuple[str, str]) -> str:
    """Which of the two nodes does not exist, or that there are no routes between them."""
    names = result.tables["nodes"]["name"].to_list() if "nodes" in result.tables else []
    for name in pair:
        if names and name not in names:
            hint = nearest_remedy(name, names, f'one is "{names[0]}"')
            return f'plot.network: pair: no node "{name}"; {hint}'
    pairs = result.flows.select("from", "to").unique(maintain_order=True).head(3).rows()
    some = ", ".join(f'("{a}", "{b}")' for a, b in pairs)
    return (
        f'plot.network: pair: no routes from "{pair[0]}" to "{pair[1]}": routes are there for pairs that '
        f"send, such as {some}"
    )
