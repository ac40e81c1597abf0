"""Which nodes can reach which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from anabranch.setup.model import LinkSetup


class Reach:
    """Reachability over directed links; each sender's answer is computed once."""

    def __init__(self, links: Sequence[LinkSetup], switches: Collection[int] | None = None) -> None:
        """Takes the links of a run.

        Args:
            links: all links.
            switches: the only nodes that forward; any other node sends what it has over its first link to
                one of them. None where every node forwards.
        """
        self._switches = None if switches is None else frozenset(switches)
        self._next: dict[int, list[int]] = defaultdict(list)
        for link in links:
            self._next[link.origin].append(link.to)
        self._reached: dict[int, set[int]] = {}

    def connected(self, origin: int, to: int) -> bool:
        """Whether some path leads from ``origin`` to ``to``."""
        if origin not in self._reached:
            reached = {origin}
            waiting = [origin]
            while waiting:
                fresh = [node for node in self._following(waiting.pop(), origin) if node not in reached]
                reached.update(fresh)
                waiting.extend(dict.fromkeys(fresh))
            self._reached[origin] = reached
        return to in self._reached[origin]

    def _following(self, node: int, origin: int) -> list[int]:
        """Where a packet from ``origin`` can go from a node."""
        if self._switches is None or node in self._switches:
            return self._next[node]
        if node != origin:
            return []
        return [neighbour for neighbour in self._next[node] if neighbour in self._switches][:1]
