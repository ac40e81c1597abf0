"""Failures to look at: links, nodes, pairs of links, groups that share a risk, sites, maintenance.

Kinds are combined with a plus: ``maintenance+links`` is each window with each single link on top of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from anabranch.errors import Problem, ScenarioError
from anabranch.routing.router_failures import Failure, single_links
from anabranch.routing.router_network import RouterNetwork
from anabranch.setup.model import OutageSetup
from anabranch.text.suggest import nearest_remedy

_MOST_FAILURES: Final = 1_000_000
_DAY_MINUTES: Final = 24 * 60


def failures_of(routers: RouterNetwork, asked: str) -> list[Failure]:
    """The failures of the kinds that are asked for, kind by kind, each in the order of the network.

    Args:
        routers: the network, without what is out of service.
        asked: kinds between commas: ``links`` (both directions), ``nodes`` (routers), ``pairs`` (of links),
            ``groups`` (of ``network.risk_group``), ``sites`` (all routers of one place), ``maintenance``
            (windows that are open together); with a plus for one on top of another.

    Raises:
        ScenarioError: a kind is not known, the scenario has none of it, or there are too many failures.
    """
    failures: dict[tuple[str, str], Failure] = {}
    for term in filter(None, (term.strip() for term in asked.split(","))):
        for failure in _of_term(routers, term):
            failures.setdefault((failure.kind, failure.name), failure)
            if len(failures) > _MOST_FAILURES:
                message = f'"{asked}" has more than {_MOST_FAILURES:,} failures; ask for fewer kinds'
                raise ScenarioError([Problem("--failures", message)])
    if not failures:
        message = f'"{asked}" has no failure; name kinds, such as links,nodes'
        raise ScenarioError([Problem("--failures", message)])
    return list(failures.values())


def _of_term(routers: RouterNetwork, term: str) -> Iterator[Failure]:
    """The failures of one kind, or of several at once."""
    if term == "pairs":
        yield from (
            Failure("pairs", both.name, both.links, both.nodes)
            for both in (one.together(other) for one, other in combinations(single_links(routers), 2))
        )
        return
    kinds = [kind.strip() for kind in term.split("+")]
    for kind in kinds:
        if kind not in _KINDS:
            remedy = nearest_remedy(kind, [*_KINDS, "pairs"])
            raise ScenarioError([Problem("--failures", f'no kind "{kind}"; {remedy}')])
    first, *others = ([*_KINDS[kind](routers)] for kind in kinds)
    combined = first
    for added in others:
        combined = [
            one.together(other)
            for one in combined
            for other in added
            if not (other.links <= one.links and other.nodes <= one.nodes)
        ]
    once: set[tuple[frozenset[int], frozenset[int]]] = set()
    for failure in combined:
        if (down := (failure.links, failure.nodes)) not in once:
            once.add(down)
            yield failure


def _nodes(routers: RouterNetwork) -> list[Failure]:
    """Each router that has links."""
    nodes = routers.setup.nodes
    return [
        failure
        for node in routers.routers
        if (failure := _down(routers, "nodes", nodes[node].name, (), [node])).links
    ]


def _sites(routers: RouterNetwork) -> list[Failure]:
    """All routers at one place; a router whose place is not known is a site of its own."""
    nodes = routers.setup.nodes
    by_place: dict[object, list[int]] = defaultdict(list)
    for node in routers.routers:
        place = nodes[node].place
        by_place[node if place is None else (place.latitude, place.longitude)].append(node)
    named = ((", ".join(nodes[node].name for node in at), at) for at in by_place.values())
    return [failure for name, at in named if (failure := _down(routers, "sites", name, (), at)).links]


def _groups(routers: RouterNetwork) -> list[Failure]:
    """Each group of links and nodes that share a risk."""
    groups = routers.setup.outages.risk_groups
    if not groups:
        message = (
            "the scenario has no groups that share a risk; write [[network.risk_group]] with a name and "
            "links, or give the file of the topology a column risk_group"
        )
        raise ScenarioError([Problem("--failures", message)])
    return [_down(routers, "groups", group.name, group.links, group.nodes) for group in groups]


def _windows(routers: RouterNetwork) -> list[Failure]:
    """All windows of maintenance that are open together at some time of the day."""
    windows = routers.setup.outages.maintenance
    if not windows:
        message = "the scenario has no windows of maintenance; write [[network.maintenance]]"
        raise ScenarioError([Problem("--failures", message)])
    opened: dict[tuple[str, ...], list[OutageSetup]] = {}
    for begin in sorted({window.window[0] for window in windows if window.window is not None}):
        together = [window for window in windows if _is_open(window, begin)]
        opened.setdefault(tuple(window.name for window in together), together)
    # A window that ends while others go on leaves these alone.
    for end in sorted({window.window[1] for window in windows if window.window is not None}):
        if together := [window for window in windows if _is_open(window, end)]:
            opened.setdefault(tuple(window.name for window in together), together)
    return [
        _down(
            routers,
            "maintenance",
            " and ".join(f"{window.name} ({_clock(window)})" for window in together),
            [link for window in together for link in window.links],
            [node for window in together for node in window.nodes],
        )
        for together in opened.values()
    ]


def _is_open(window: OutageSetup, minute: int) -> bool:
    """Whether a window is open in the minute that begins then."""
    begin, end = window.window or (0, 0)
    return (minute - begin) % _DAY_MINUTES < (end - begin) % _DAY_MINUTES


def _clock(window: OutageSetup) -> str:
    begin, end = window.window or (0, 0)
    return f"{begin // 60:02}:{begin % 60:02} to {end // 60:02}:{end % 60:02}"


def _down(
    routers: RouterNetwork, kind: str, name: str, links: Sequence[int], nodes: Sequence[int]
) -> Failure:
    down = frozenset(nodes)
    at_nodes = (
        number for number, link in enumerate(routers.setup.links) if link.origin in down or link.to in down
    )
    return Failure(kind, name, frozenset(links) | frozenset(at_nodes), down)


_KINDS: Final[Mapping[str, Callable[[RouterNetwork], list[Failure]]]] = {
    "links": single_links,
    "nodes": _nodes,
    "groups": _groups,
    "sites": _sites,
    "maintenance": _windows,
}
FAILURE_KINDS: Final = (*_KINDS, "pairs")
"""The kinds that can be asked for."""
