"""Paths and shares of a plan for the packets of pairs, over the links of a setup; the core walks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from anabranch import _core
from anabranch.routing.planned import Pair, WeightedPath, link_ends
from anabranch.setup.model import LinkSetup

Shares = Mapping[int, float]
"""Share of a pair's packets on each link that has some."""


def shares_along(paths: Iterable[tuple[Sequence[int], float]]) -> Shares:
    """Returns the share on each link of packets that take paths with these shares."""
    return dict(_core.shares_along([(list(links), share) for links, share in paths]))


@dataclass(frozen=True, slots=True)
class PlanPaths:
    """The paths and the next hops of a plan, over the links of its network."""

    plan: _core.Plan
    core: _core.PlannedPaths
    """The same plan on its links."""

    @classmethod
    def of(cls, plan: _core.Plan, links: Sequence[LinkSetup]) -> PlanPaths:
        """Returns the paths of a plan.

        Raises:
            SetupError: the plan is not one of these links.
        """
        return cls(plan, plan.over(link_ends(links)))

    @property
    def pairs(self) -> list[Pair]:
        """All pairs that have routes, in order."""
        return self.core.pairs()

    def of_pair(self, pair: Pair, most: int) -> Sequence[WeightedPath] | None:
        """Returns the paths of a pair; None if it goes hop by hop, and by more than ``most`` of them."""
        paths = self.core.paths(*pair, most)
        return None if paths is None else [WeightedPath(tuple(links), share) for links, share in paths]

    def shares(self) -> dict[Pair, Shares]:
        """Returns the share of each pair's packets on each link, by pairs in order."""
        return {pair: dict(self.core.shares(*pair)) for pair in self.pairs}

    def next_hops(self) -> dict[int, dict[int, list[int]]]:
        """Returns the links by which nodes send on, hop by hop, by destination and node."""
        tables = sorted(self.plan.tables(), key=lambda table: table["to"])
        return {
            table["to"]: {node: links for node, links in table["next"] if links and node != table["to"]}
            for table in tables
        }
