"""Which nodes can reach which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from anabranch.setup.model import LinkSetup


class Reach:
    """Reachability over directed links; each sender's answer is computed once.

    Where every link has one that leads back, as in most networks, all nodes of a connected part reach the
    same nodes, so that one search serves all of them.
    """

    def __init__(self, links: Sequence[LinkSetup]) -> None:
        self._next: dict[int, list[int]] = defaultdict(list)
        pairs = {(link.origin, link.to) for link in links}
        for origin, to in pairs:
            self._next[origin].append(to)
        self._symmetric = all((to, origin) in pairs for origin, to in pairs)
        self._reached: dict[int, set[int]] = {}

    def connected(self, origin: int, to: int) -> bool:
        """Whether some path leads from ``origin`` to ``to``."""
        if origin not in self._reached:
            reached = self._search(origin)
            for node in reached if self._symmetric else (origin,):
                self._reached[node] = reached
        return to in self._reached[origin]

    def _search(self, origin: int) -> set[int]:
        reached = {origin}
        waiting = [origin]
        while waiting:
            fresh = [node for node in self._next[waiting.pop()] if node not in reached]
            reached.update(fresh)
            waiting.extend(fresh)
        return reached
