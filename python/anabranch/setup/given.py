"""Routes that a scenario brings along: paths of ``[[routing.paths]]``, of a CSV file, or of a saved plan."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from anabranch import _core
from anabranch.scenario.files import FILE
from anabranch.scenario.quantity import quoted
from anabranch.scenario.routing import GIVEN
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.tables import GivenPath
from anabranch.setup.files import text_of
from anabranch.setup.network import NamedNetwork
from anabranch.setup.plan_file import PlanFile, changed_links, differences, read_plan
from anabranch.setup.problems import Problems
from anabranch.setup.reach import Access, access_links
from anabranch.setup.route_csv import RouteRow, read_rows

_PLACE: Final = "routing.paths"
_NUMBERED = re.compile(r"(.+)#([1-9][0-9]{0,8})")
_SUM_TOLERANCE: Final = 1e-9
"""How far shares may be from a sum of one, as in the core (crates/routing/src/plan.rs)."""

_Pair = tuple[int, int]
_Links = tuple[int, ...]
_Routes = dict[_Pair, list[tuple[_Links, float]]]


@dataclass
class GivenRoutes:
    """Routes by node and link numbers, whoever made them."""

    label: str
    """The file, or the field of the scenario."""
    paths: _Routes = field(default_factory=dict)
    """Paths with their shares, which add up to one; none where a pair is forwarded hop by hop."""
    tables: dict[int, dict[int, _Links]] = field(default_factory=dict)
    """Next hops by destination and node."""
    access: dict[int, Access] = field(default_factory=dict)
    """How hosts hang on routers."""
    warnings: tuple[str, ...] = ()


def given_routes(scenario: Scenario, network: NamedNetwork, problems: Problems) -> GivenRoutes | None:
    """The routes of the scheme ``given``; what is wrong with them is noted. None for other schemes."""
    given = scenario.routing.paths
    if scenario.routing.scheme_name != GIVEN or given is None or scenario.controller is not None:
        return None
    reader = _Reader(network, problems)
    if not isinstance(given, str):
        return reader.of_tables(given)
    name = given.removeprefix(FILE)
    try:
        text = text_of(name, scenario.base)
    except _core.ProblemError as error:
        problems.add(_PLACE, str(error))
        return None
    return reader.of_plan(name, text) if name.lower().endswith(".json") else reader.of_csv(name, text)


class _Reader:
    def __init__(self, network: NamedNetwork, problems: Problems) -> None:
        self._network = network
        self._problems = problems
        self._seen: dict[_Links, str] = {}
        """Where each path stands."""

    def of_tables(self, given: Sequence[GivenPath]) -> GivenRoutes:
        """The paths of ``[[routing.paths]]``."""
        routes: _Routes = {}
        for number, path in enumerate(given):
            place = f"{_PLACE}[{number}]"
            links = self._links([self._hop(name) for name in path.nodes], place)
            if links is not None:
                pair = (self._network.links[links[0]].origin, self._network.links[links[-1]].to)
                if self._note(links, pair, place):
                    routes.setdefault(pair, []).append((links, path.weight))
        return GivenRoutes(_PLACE, _shared(routes), access=self._access())

    def of_csv(self, name: str, text: str) -> GivenRoutes:
        """The routes of a table with a row for each path and each next hop."""
        paths: _Routes = {}
        hops: dict[int, list[tuple[int, int, RouteRow]]] = {}
        for row in read_rows(name, text, _PLACE, self._problems):
            ends = [self._node(end, row.place) for end in row.ends]
            links = self._links([self._numbered(*hop) for hop in row.hops], row.place)
            if links is None or None in ends:
                continue
            link_ends = (self._network.links[links[0]].origin, self._network.links[links[-1]].to)
            if (ends[0], ends[1] if row.is_path else link_ends[1]) != link_ends:
                there = " to ".join(row.ends)
                message = f"the path leads from {self._pair(link_ends)}, and the row is of {there}"
                self._problems.add(row.place, message)
            elif not row.is_path:
                hops.setdefault(ends[1] or 0, []).append((link_ends[0], links[0], row))
            elif self._note(links, link_ends, row.place):
                paths.setdefault(link_ends, []).append((links, row.weight))
        given = GivenRoutes(name, _shared(paths), access=self._access())
        for to, rows in hops.items():
            self._add_table(given, to, rows)
        return given

    def _add_table(self, given: GivenRoutes, to: int, rows: Sequence[tuple[int, int, RouteRow]]) -> None:
        """The next hops to a destination; what does not hold is noted."""
        next_of: dict[int, _Links] = {}
        weights: dict[int, float] = {}
        for node, link, row in rows:
            if link in next_of.get(node, ()):
                self._problems.add(row.place, "the same next hop stands there twice")
            elif not math.isclose(weights.setdefault(node, row.weight), row.weight, rel_tol=_SUM_TOLERANCE):
                message = (
                    f"the weight is {row.weight!r}, and that of another next hop {weights[node]!r}; hop by "
                    "hop a node shares equally: give whole paths for other shares"
                )
                self._problems.add(row.place, message)
            next_of[node] = (*next_of.get(node, ()), link)
        if self._leads_on(to, next_of, rows[0][2].place):
            given.tables[to] = next_of
            # A pair goes hop by hop that has no paths of its own.
            for node in next_of:
                given.paths.setdefault((node, to), [])

    def of_plan(self, name: str, text: str) -> GivenRoutes:
        """The routes of a saved plan, share for share; a plan of another network is refused."""
        given = GivenRoutes(name, access=self._access())
        plan = read_plan(name, text, _PLACE, self._problems)
        if plan is None:
            return given
        nodes, links = self._network.nodes, self._network.links
        other = differences(plan, nodes, links, self._network.core.label)
        if other:
            self._problems.add(
                _PLACE,
                f"{quoted(name)} is a plan of another network ({quoted(plan.title)}): {'; '.join(other)}",
            )
            return given
        given.warnings = _warnings(name, changed_links(plan, links))
        self._take(plan, given)
        return given

    def _take(self, plan: PlanFile, given: GivenRoutes) -> None:
        """The routes and tables of a plan whose network is this one; what does not hold is noted."""
        ids = {node.name: number for number, node in enumerate(self._network.nodes)}
        links = {link.name: number for number, link in enumerate(self._network.links)}
        for number, table in enumerate(plan.tables):
            place = f"{given.label}, tables[{number}]"
            to = self._known(ids, [table.destination], "node", place)
            next_of: dict[int, _Links] = {}
            for name, hops in table.next.items():
                node = self._known(ids, [name], "node", place)
                out = self._known(links, hops, "link", place)
                if any(self._network.links[link].origin != at for at in node for link in out):
                    self._problems.add(place, f"a next hop of {quoted(name)} is a link of another node")
                elif node and out:
                    next_of[node[0]] = out
            if to and self._leads_on(to[0], next_of, place):
                given.tables[to[0]] = next_of
        for number, route in enumerate(plan.routes):
            place = f"{given.label}, routes[{number}]"
            ends = self._known(ids, [route.source, route.destination], "node", place)
            if len(ends) < 2:
                continue
            pair = (ends[0], ends[1])
            if pair in given.paths:
                self._problems.add(place, f"the routes of {self._pair(pair)} stand there twice")
                continue
            paths = [(self._known(links, path.links, "link", place), path.weight) for path in route.paths]
            given.paths[pair] = [path for path in paths if path[0]]
            for path, _ in given.paths[pair]:
                self._note(path, pair, place)
            total = math.fsum(weight for _, weight in paths)
            if paths and abs(total - 1) > _SUM_TOLERANCE:
                self._problems.add(place, f"the weights of {self._pair(pair)} add up to {total!r}, not to 1")
            if not paths and pair[0] not in given.tables.get(pair[1], {}):
                self._problems.add(place, f"{self._pair(pair)} has neither a path nor a next hop")

    def _known(self, ids: dict[str, int], names: Iterable[str], kind: str, place: str) -> _Links:
        """Numbers by names; an unknown name is noted, and nothing found then."""
        listed = list(names)
        unknown = [name for name in listed if name not in ids]
        for name in unknown:
            self._problems.add(place, f"no {kind} {quoted(name)} in {self._network.core.label}")
        return () if unknown else tuple(ids[name] for name in listed)

    def _leads_on(self, to: int, next_of: dict[int, _Links], place: str) -> bool:
        """Whether packets come to the destination from wherever a table sends them."""
        left = {
            node: {self._network.links[link].to for link in hops} - {to} for node, hops in next_of.items()
        }
        while done := [node for node, after in left.items() if not after]:
            for node in done:
                del left[node]
            for after in left.values():
                after.difference_update(done)
        if to in next_of or left:
            at = quoted(self._network.nodes[next(iter(left), to)].name)
            name = quoted(self._network.nodes[to].name)
            self._problems.add(place, f"packets to {name} go round, or end, at {at}")
        return not left

    def _links(self, hops: Sequence[tuple[str, int]], place: str) -> _Links | None:
        """The links along nodes; None where there is something wrong, which is noted."""
        nodes = [self._node(name, place) for name, _ in hops]
        if None in nodes:
            return None
        names = [self._network.nodes[node].name for node in nodes if node is not None]
        links = tuple(
            link
            for a, b, (_, index) in zip(names, names[1:], hops[1:], strict=False)
            if (link := self._network.link((a, b), index, place, self._problems)) is not None
        )
        return links if len(links) == len(names) - 1 else None

    def _node(self, name: str, place: str) -> int | None:
        return self._network.node(name, place, self._problems)

    def _hop(self, name: str) -> tuple[str, int]:
        """Node, and number of the parallel link that leads there; a node may have a name that ends in #2."""
        numbered = _NUMBERED.fullmatch(name)
        if numbered is None or self._network.core.knows(name):
            return name, 1
        return numbered[1], int(numbered[2])

    def _numbered(self, name: str, number: int) -> tuple[str, int]:
        """Node and number of a link, where a name that ends like a number needs no quotation marks."""
        if number > 1 and not self._network.core.knows(name) and self._network.core.knows(f"{name}#{number}"):
            return f"{name}#{number}", 1
        return name, number

    def _note(self, links: _Links, pair: _Pair, place: str) -> bool:
        """Whether a path holds: one that is none, or of another pair, loops or is there already is noted."""
        taken = [self._network.links[link] for link in links]
        nodes = [taken[0].origin, *(link.to for link in taken)]
        joined = all(link.origin == node for link, node in zip(taken, nodes, strict=False))
        if not joined or (nodes[0], nodes[-1]) != pair:
            message = f"{', '.join(link.name for link in taken)} is no path from {self._pair(pair)}"
        elif len(set(nodes)) < len(nodes):
            twice = next(node for node in nodes if nodes.count(node) > 1)
            message = f"the path comes through {quoted(self._network.nodes[twice].name)} twice"
        elif links in self._seen:
            message = f"the same path stands in {self._seen[links]} already"
        else:
            self._seen[links] = place
            return True
        self._problems.add(place, message)
        return False

    def _pair(self, pair: _Pair) -> str:
        return " to ".join(quoted(self._network.nodes[node].name) for node in pair)

    def _access(self) -> dict[int, Access]:
        return access_links(self._network.links, lambda node: not self._network.core.is_host(node))


def _shared(routes: _Routes) -> _Routes:
    """Weights of each pair as shares of their sum."""
    shared = {}
    for pair, paths in routes.items():
        total = math.fsum(weight for _, weight in paths)
        # Shares stay as they are, to the last digit.
        total = 1.0 if abs(total - 1) <= _SUM_TOLERANCE else total
        shared[pair] = [(links, min(weight / total, 1.0)) for links, weight in paths]
    return shared


def _warnings(name: str, changed: Sequence[str]) -> tuple[str, ...]:
    """What is to be said of a plan that was made where links were other ones."""
    if not changed:
        return ()
    others = f" and {len(changed) - 1:,} more" if len(changed) > 1 else ""
    return (
        f"{_PLACE}: the plan in {quoted(name)} was made where the link {changed[0]}{others} had another "
        "capacity or delay",
    )
