"""Which nodes can reach which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from anabranch.setup.model import LinkSetup


class Reach:
    """Reachability over directed links; each sender's answer is computed once."""

    def __init__(self, links: Sequence[LinkSetup]) -> None:
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
                fresh = [node for node in self._next[waiting.pop()] if node not in reached]
                reached.update(fresh)
                waiting.extend(dict.fromkeys(fresh))
            self._reached[origin] = reached
        return to in self._reached[origin]
