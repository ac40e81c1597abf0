"""Differences of one network from another in costs and capacities of links, and their price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.plans.routes import settled
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.files import text_of
from anabranch.setup.problems import Problems
from anabranch.setup.table_file import header_of, number_of, table_rows

_CAPACITY: Final = "capacity_gbps"
_PRICE: Final = "price"
_SAME: Final = 1e-9


@dataclass(frozen=True)
class PriceList:
    """Prices of links by their capacity."""

    by_mbps: Mapping[float, float]
    currency: str
    """Empty where the list does not say it."""

    def of(self, mbps: float) -> float | None:
        """The price of a link of this capacity; None if the list has none."""
        return next((price for rate, price in self.by_mbps.items() if abs(rate - mbps) <= _SAME * mbps), None)


@dataclass(frozen=True, slots=True)
class InterfaceCost:
    """A directed link whose cost changes."""

    link: str
    before: int | None
    """None for a link without one, or a new link."""
    after: int | None


@dataclass(frozen=True, slots=True)
class PlannedCapacity:
    """A link that gets another capacity, both directions."""

    link: str
    """The name of one direction."""
    before_mbps: float
    """0 for a new link."""
    after_mbps: float
    """0 for a link that goes."""
    price: float | None
    """Of the link with its new capacity; None where nobody says it, 0 for less capacity than before."""


@dataclass(frozen=True)
class Measures:
    """All that changes."""

    costs: tuple[InterfaceCost, ...]
    capacities: tuple[PlannedCapacity, ...]
    currency: str

    @property
    def price(self) -> float:
        """The sum of the known prices."""
        return sum(change.price or 0.0 for change in self.capacities)

    @property
    def unpriced(self) -> tuple[PlannedCapacity, ...]:
        """Links to buy whose price nobody says."""
        return tuple(change for change in self.capacities if change.price is None)


def read_prices(path: Path) -> PriceList:
    """Reads a CSV with the columns ``capacity_gbps`` and ``price``, or ``price_eur`` with another currency.

    Raises:
        ScenarioError: if it cannot be read, with every row that is wrong.
    """
    try:
        text = text_of(str(path), None)
    except _core.ProblemError as error:
        raise ScenarioError([Problem("--prices", str(error))]) from None
    column = next((name for name in header_of(text) if name.split("_")[0] == _PRICE), _PRICE)
    problems, prices = Problems(None), dict[float, float]()
    for row in table_rows(path.name, text, (_CAPACITY, column), problems):
        values = [number_of(row.cells[name]) for name in (_CAPACITY, column)]
        for name, value, least in zip((_CAPACITY, column), values, (1e-6, 0.0), strict=True):
            if value is None or value < least:
                kind = "above 0" if least else "from 0 on"
                problems.add(row.place, f"{name} is {quoted(row.cells[name])}; it is a number {kind}")
        if values[0] is not None and values[1] is not None:
            if 1000 * values[0] in prices:
                problems.add(row.place, f"{row.cells[_CAPACITY]} Gbps has a price already")
            prices[1000 * values[0]] = values[1]
    problems.raise_if_any()
    if not prices:
        raise ScenarioError([Problem("--prices", f"{quoted(str(path))} has no price")])
    return PriceList(prices, column.partition("_")[2].upper())


def measures(present: Scenario, planned: Scenario, prices: PriceList | None) -> Measures:
    """The differences of a planned network from a present one.

    Args:
        present: the network now.
        planned: the same with other costs, capacities or links.
        prices: of links; None where nobody says.

    Raises:
        ScenarioError: if one of them has no network that can be read.
    """
    before, after = (
        _links(settled(resolve(scenario, Needed.ROUTES), scenario.origin)) for scenario in (present, planned)
    )
    names = list(dict.fromkeys([*before, *after]))
    costs = tuple(
        InterfaceCost(name, *cost)
        for name in names
        if (cost := (before.get(name, (None, 0.0))[0], after.get(name, (None, 0.0))[0]))[0] != cost[1]
    )
    capacities = list[PlannedCapacity]()
    seen: set[str] = set()
    for name in names:
        now, then = before.get(name, (None, 0.0))[1], after.get(name, (None, 0.0))[1]
        if name in seen or abs(now - then) <= _SAME * max(now, then):
            continue
        # Both directions are one link to buy.
        seen |= {name, _opposite(name)}
        price = 0.0 if then < now else None if prices is None else prices.of(then)
        capacities.append(PlannedCapacity(name, now, then, price))
    return Measures(costs, tuple(capacities), "" if prices is None else prices.currency)


def _links(setup: Setup) -> dict[str, tuple[int | None, float]]:
    """Cost and capacity in Mbps of each link, by name."""
    return {link.name: (link.weight, link.capacity / 1e6) for link in setup.links}


def _opposite(name: str) -> str:
    """The name of a link's other direction."""
    ends, hash_, number = name.partition("#")
    origin, _, to = ends.partition("->")
    return f"{to}->{origin}{hash_}{number}"
