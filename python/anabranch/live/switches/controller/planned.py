"""The application of runs without ``[controller]``: the routes of a plan, as groups made beforehand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anabranch import _core
from anabranch.live.switches.controller.switchboard import GoneEntry, PacketUp, Switchboard
from anabranch.live.switches.controller.tell import tell
from anabranch.plans.paths import PlanPaths
from anabranch.plans.switch_rules import (
    TRANSIT,
    Entry,
    Numbers,
    OwnFlow,
    Rules,
    SelectGroup,
    own_traffic,
    rules_of,
)
from anabranch.routing.planned import Pair, WeightedPath
from anabranch.setup.model import LinkSetup

Routes = Mapping[Pair, Sequence[WeightedPath]]
MOST_PATHS = 256
"""Of a pair that goes hop by hop: Open vSwitch spreads over so many slots at most."""
_LINK_FIELDS = ("to", "name", "capacity", "delay", "jitter", "loss", "queue")
_FULL_WEIGHT = 1000
"""What the weights of a group's buckets add up to, but for rounding."""


def routes_of(data: Mapping[str, Any], links: Sequence[LinkSetup], names: Sequence[str]) -> Routes:
    """The weighted paths of a plan's pairs, those that go hop by hop included.

    Args:
        data: the plan as plain data.
        links: of the network.
        names: of its nodes.

    Raises:
        ValueError: if a pair has more than 256 of them.
    """
    plan = PlanPaths.of(_core.Plan(json.dumps(data)), links)
    routes = {}
    for pair in plan.pairs:
        paths = plan.of_pair(pair, MOST_PATHS)
        if paths is None:
            ends = " -> ".join(names[node] for node in pair)
            raise ValueError(
                f"{ends}: more than {MOST_PATHS} paths hop by hop, and a group has no more slots"
            )
        if paths:
            routes[pair] = paths
    return routes


def whole_weights(paths: Sequence[WeightedPath]) -> list[tuple[tuple[int, ...], int]]:
    """Whole numbers in the proportion of the shares; none below what Open vSwitch can spread by."""
    total = sum(path.weight for path in paths)
    least = _FULL_WEIGHT // MOST_PATHS + 1
    return [(path.links, max(round(path.weight / total * _FULL_WEIGHT), least)) for path in paths]


def links_of(setup: Mapping[str, Any]) -> list[LinkSetup]:
    """The links of a setup that is plain data."""
    return [
        LinkSetup(origin=link["from"], **{name: link[name] for name in _LINK_FIELDS})
        for link in setup["links"]
    ]


class PlannedRoutes:
    """Keeps the switches at the routes of a plan; paths that fail are left out."""

    def __init__(self, board: Switchboard, configuration: Mapping[str, Any]) -> None:
        """With the plan, the setup that it is for, and the addresses of hosts."""
        self._board = board
        data = configuration["setup"]
        self._setup = _core.Setup(json.dumps(data))
        self._links = links_of(data)
        self._down: set[int] = set()
        self._recomputes: list[bool] = configuration["recomputes"]
        self._plans = [configuration["plan"], *configuration.get("others", ())]
        flows = (OwnFlow(**flow) for flow in configuration.get("own", ()))
        self._own = own_traffic(flows, len(self._plans))
        self._addresses = {int(node): of for node, of in configuration["addresses"].items()}
        self._ports = board.layout.by_number()
        self._openflow = board.layout.openflow_ports()
        self._numbers = Numbers()
        self._entries: dict[tuple[int, int, str], Entry] = {}
        self._groups: dict[tuple[int, int], SelectGroup] = {}

    def on_switches(self) -> None:
        """Makes all groups and entries."""
        self._apply(self._routes(), lambda: tell("ready"))

    def on_begin(self, begin_ns: int) -> None:
        """There is nothing to do: the routes are there."""

    def on_packet(self, up: PacketUp) -> None:
        """No entry sends a frame up."""

    def on_removed(self, gone: GoneEntry) -> None:
        """No entry goes by itself."""

    def tables(self) -> dict[str, Any]:
        """There is nothing to say that the plan does not."""
        return {}

    def on_port(self, switch: int, port: int, *, up: bool) -> None:
        """A link has failed, or is back."""
        end = self._ports[switch, port]
        links = {link for link in (end.link_out, end.link_in) if link is not None}
        before = self._down
        self._down = before - links if up else before | links
        if self._down != before:
            self._apply(self._routes(), lambda: None)

    def _routes(self) -> list[Routes]:
        """The routes over the links that are up, and those of flows with routes of their own."""
        return [self._routes_of(place, plan) for place, plan in enumerate(self._plans)]

    def _routes_of(self, place: int, plan: Mapping[str, Any]) -> Routes:
        names = self._board.layout.names
        if self._recomputes[place] and self._down:
            anew = self._setup.plan(routing=place, down=sorted(self._down))
            return routes_of(anew.data(), self._links, names)
        alive = {}
        for pair, paths in routes_of(plan, self._links, names).items():
            left = [path for path in paths if not self._down & set(path.links)]
            if left:
                alive[pair] = left
        return alive

    def _apply(self, routes: Sequence[Routes], then: Callable[[], None]) -> None:
        """Makes what is new: entries behind the first switch come first, so that they know all packets."""
        plans = [
            ({pair: whole_weights(paths) for pair, paths in of_flows.items()}, traffic)
            for of_flows, traffic in zip(routes, (None, *self._own), strict=True)
        ]
        rules = rules_of(self._openflow, self._links, plans, self._addresses, self._numbers)
        for entry in rules.entries:
            if entry.priority == TRANSIT:
                self._make(entry)
        self._board.barrier(list(self._board.layout.switches), lambda: self._switch_over(rules, then))

    def _make(self, entry: Entry) -> None:
        key = (entry.switch, entry.priority, str(sorted(entry.match.items())))
        if self._entries.get(key) != entry:
            self._board.entry(entry)
            self._entries[key] = entry

    def _switch_over(self, rules: Rules, then: Callable[[], None]) -> None:
        for group in rules.groups:
            key = (group.switch, group.number)
            if self._groups.get(key) != group:
                self._board.group(group, new=key not in self._groups)
                self._groups[key] = group
        for entry in rules.entries:
            self._make(entry)
        self._board.barrier(list(self._board.layout.switches), then)
