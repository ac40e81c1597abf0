"""Load balancing with state, as the benchmark of SEMPER has it (Garcia-Aviles 2017, section IV).

The first packet of each subflow comes up. The first subflow of a host takes the path that a hash gives it,
and its next ones take the paths behind that in turn. What comes back takes the same path.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.live.switches.controller.forwarding import ForwardingController, KnownFlow
from anabranch.live.switches.controller.frames import FiveTuple
from anabranch.live.switches.controller.known import Path
from anabranch.live.switches.controller.planned import routes_of
from anabranch.live.switches.controller.switchboard import Switchboard


class StatefulController(ForwardingController):
    """Gives the subflows of a host the paths of a plan in turn."""

    def __init__(self, board: Switchboard, configuration: Mapping[str, Any]) -> None:
        """With the plan, the setup that it is for, and the addresses of hosts."""
        super().__init__(board, configuration)
        self._routes = {
            pair: [path.links for path in paths]
            for pair, paths in routes_of(configuration["plan"], self.known).items()
        }
        self._next: dict[str, int] = {}
        """By the address of a host: the place of its next subflow's path."""
        self._places: dict[FiveTuple, int] = {}

    def own_path(self, flow: KnownFlow) -> Path | None:
        """The path at the place of the flow; the next one that is up where that one is not."""
        paths = self._routes.get(flow.pair, [])
        place = self._place_of(flow.ends, len(paths)) if paths else 0
        turns: Sequence[Path] = [*paths[place:], *paths[:place]]
        return next((path for path in turns if not self.known.down & set(path)), None)

    def _place_of(self, ends: FiveTuple, count: int) -> int:
        if ends.source[1] == ends.destination[1] == 0:
            # Without ports it is no subflow, as a ping, and takes no turn. Both ways have one path.
            return zlib.crc32(repr(min(ends, ends.reversed())).encode()) % count
        place = self._places.get(ends, self._places.get(ends.reversed()))
        if place is None:
            host = ends.source[0]
            place = self._next.get(host, zlib.crc32(repr(ends).encode()))
            self._next[host] = place + 1
            self._places[ends] = place
        return place % count
