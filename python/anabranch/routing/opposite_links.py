"""The links of an edge the other way, for answers that come back over the links of their data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from anabranch.routing.planned import Pair
from anabranch.setup.model import LinkSetup


class OppositeLinks:
    """The opposite of each link: of parallel ones the first belongs to the first opposite one, and so on."""

    def __init__(self, links: Sequence[LinkSetup]) -> None:
        """Takes the links of a setup; a link's id is its index."""
        parallel: dict[Pair, list[int]] = defaultdict(list)
        for number, link in enumerate(links):
            parallel[link.origin, link.to].append(number)
        self._of = dict[int, int]()
        for (origin, to), numbers in parallel.items():
            self._of |= dict(zip(numbers, parallel.get((to, origin), ()), strict=False))

    def of_path(self, links: Sequence[int]) -> tuple[int, ...] | None:
        """The way back of a path by its links; None where one has no opposite."""
        back = [self._of.get(link) for link in reversed(links)]
        return tuple(link for link in back if link is not None) if None not in back else None
