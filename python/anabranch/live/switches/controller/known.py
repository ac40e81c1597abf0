"""The controller's knowledge of the network, and paths in it by the searches of the core."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anabranch import _core
from anabranch.setup.model import LinkSetup

Path = tuple[int, ...]
"""Links, from one node to another."""

_FIELDS = ("to", "name", "capacity", "delay", "jitter", "loss", "queue")


class KnownNetwork:
    """A network whose links are up or down, with losses and delays of its links as they are known."""

    def __init__(self, setup: Mapping[str, Any]) -> None:
        """Of the setup of a run, as plain data."""
        self._setup = dict(setup)
        self.links = [_link(link) for link in setup["links"]]
        self.names: list[str] = [node["name"] for node in setup["nodes"]]
        self.down: set[int] = set()
        """Links that no path may take."""
        self._core: _core.Setup | None = None
        self._known: tuple[object, list[int]] | None = None

    def set_down(self, links: Iterable[int], *, down: bool) -> bool:
        """Links that are not there, or are again; whether that is news."""
        before = set(self.down)
        self.down = self.down | set(links) if down else self.down - set(links)
        return self.down != before

    def spelled(self, path: Sequence[int]) -> str:
        """Names of the nodes along a path."""
        nodes = [self.links[path[0]].origin, *(self.links[link].to for link in path)] if path else []
        return " > ".join(self.names[node] for node in nodes)

    def paths(
        self,
        metric: str,
        pairs: Sequence[tuple[int, int]],
        search: str = "exact",
        qualities: Mapping[int, tuple[float, int]] | None = None,
    ) -> dict[tuple[int, int], Path]:
        """The best path of each pair that has one.

        Args:
            metric: as in ``[routing]``.
            pairs: from and to.
            search: ``exact``, or ``published`` for the metric ``tcpbp``.
            qualities: loss and delay in picoseconds of links that are not those of the scenario.
        """
        core, numbers = self._masked(qualities or {})
        found = core.candidate_paths(1, metric, list(pairs), search)
        return {
            (origin, to): tuple(numbers[link] for link in paths[0]) for origin, to, paths in found if paths
        }

    def plan(self, setup: Mapping[str, Any], routing: int = 0) -> dict[str, Any]:
        """The plan of one of the core's schemes without the links that are down, as plain data.

        Links have the numbers that they have with all of them up.
        """
        core, numbers = self._masked({}, setup["flows"])
        data: dict[str, Any] = dict(core.plan(routing=routing).data())
        for route in data["routes"]:
            for path in route["paths"]:
                path["links"] = [numbers[link] for link in path["links"]]
        for table in data["tables"]:
            table["next"] = [(node, [numbers[link] for link in links]) for node, links in table["next"]]
        return data

    def _masked(
        self, qualities: Mapping[int, tuple[float, int]], flows: Sequence[object] = ()
    ) -> tuple[_core.Setup, list[int]]:
        """The core's setup without what is down, and the own numbers of its links."""
        numbers = [number for number in range(len(self.links)) if number not in self.down]
        links = []
        for number in numbers:
            link = dict(self._setup["links"][number])
            if number in qualities:
                loss, delay = qualities[number]
                link |= {
                    "loss": {"algorithm": "bernoulli", "probability": loss},
                    "delay": delay,
                    "jitter": None,
                }
            links.append(link)
        data = {
            **self._setup,
            "links": links,
            "flows": list(flows),
            "events": [],
            "captures": [],
            "hosts": [],
        }
        return _core.Setup(json.dumps(data)), numbers


def _link(data: Mapping[str, Any]) -> LinkSetup:
    return LinkSetup(origin=data["from"], **{name: data[name] for name in _FIELDS})
