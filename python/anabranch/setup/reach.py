"""Reachability of nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch.setup.model import LinkSetup

_FEW = 16
"""Pairs below which arrays take longer than a loop."""


class Access(NamedTuple):
    """How a host hangs on a router, by ids: its first link to one that has a link back."""

    out: int
    into: int
    router: int


def access_links(links: Sequence[LinkSetup], is_router: Callable[[int], bool]) -> dict[int, Access]:
    """The links of each host that hangs on a router; any node that is no router is a host."""
    back: dict[tuple[int, int], int] = {}
    for number, link in enumerate(links):
        back.setdefault((link.origin, link.to), number)
    access: dict[int, Access] = {}
    for number, link in enumerate(links):
        if not is_router(link.origin) and is_router(link.to) and (link.to, link.origin) in back:
            access.setdefault(link.origin, Access(number, back[link.to, link.origin], link.to))
    return access


class Reach:
    """Reachability over directed links; each sender's answer is computed once.

    Where every link has one that leads back, as in most networks, all nodes of a connected part reach the
    same nodes, so that one search serves all of them.
    """

    def __init__(self, links: Sequence[LinkSetup]) -> None:
        """Takes the links of a run, in which every node forwards."""
        self._next: dict[int, list[int]] = defaultdict(list)
        pairs = {(link.origin, link.to) for link in links}
        for origin, to in pairs:
            self._next[origin].append(to)
        self._symmetric = all((to, origin) in pairs for origin, to in pairs)
        self._reached: dict[int, set[int]] = {}

    def connected(self, origin: int, to: int) -> bool:
        """Whether some path leads from ``origin`` to ``to``."""
        return to in self._reached_from(origin)

    def _reached_from(self, origin: int) -> set[int]:
        if origin not in self._reached:
            reached = self._search(origin)
            for node in reached if self._symmetric else (origin,):
                self._reached[node] = reached
        return self._reached[origin]

    def cut_off(self, origins: NDArray[np.intp], to: NDArray[np.intp]) -> list[int]:
        """The pairs among these that no path connects, by their places."""
        if not self._symmetric or len(origins) < _FEW:
            pairs = zip(origins.tolist(), to.tolist(), strict=True)
            return [place for place, pair in enumerate(pairs) if not self.connected(*pair)]
        nodes, places = np.unique(np.concatenate([origins, to]), return_inverse=True)
        # Nodes of a connected part have one set, so that it stands for the part.
        parts = np.array([id(self._reached_from(node)) for node in nodes.tolist()], dtype=np.uint64)[places]
        return np.flatnonzero(parts[: len(origins)] != parts[len(origins) :]).tolist()

    def _search(self, origin: int) -> set[int]:
        reached = {origin}
        waiting = [origin]
        while waiting:
            fresh = [node for node in self._next[waiting.pop()] if node not in reached]
            reached.update(fresh)
            waiting.extend(fresh)
        return reached
