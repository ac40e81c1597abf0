"""Bounds of the traffic between routers, and the parameters of planners, as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable

from anabranch.scenario.algorithm import Own
from anabranch.scenario.algorithms.scheme import AnyScheme
from anabranch.scenario.choice import leaf
from anabranch.scenario.demand import PairRates
from anabranch.scenario.leaves import PathLimitsSetup
from anabranch.scenario.quantity import Rate, quoted
from anabranch.scenario.routing import RouteChoice
from anabranch.scenario.scenario import Scenario
from anabranch.setup.model import DemandSetup, PlannerSetup
from anabranch.setup.network import ResolvedNetwork
from anabranch.setup.own import OwnCode
from anabranch.setup.pair_rates import PairRateReader
from anabranch.setup.problems import Problems
from anabranch.setup.reach import Reach

_PLACE = "routing.demand"
_MOST_ROUTERS = 2000


def planner_setup(routing: RouteChoice, own: OwnCode, place: str = "routing") -> PlannerSetup | None:
    """The planner of a scheme; None where the core plans, or if something is wrong, which is noted."""
    if isinstance(routing.scheme, Own):
        scheme = own.scheme(routing.scheme, f"{place}.scheme")
        return None if scheme is None else PlannerSetup(scheme)
    return PlannerSetup(scheme_leaf(routing)) if routing.planned else None


def scheme_leaf(routing: RouteChoice) -> AnyScheme:
    """The scheme of the program's own as a setup has it, with its metric and its limits."""
    assert not isinstance(routing.scheme, Own)  # noqa: S101 - the caller has seen it
    limits = {} if routing.limits is None else {"limits": PathLimitsSetup(**routing.limits)}
    found: AnyScheme = leaf("scheme", routing.scheme, metric=routing.metric, **limits)
    return found


def demand_setup(scenario: Scenario, network: ResolvedNetwork, problems: Problems) -> DemandSetup | None:
    """``Setup.demand``; what is wrong with the bounds is noted."""
    demand = scenario.routing.demand
    if demand is None:
        return None
    routers = [node for node in range(len(network.nodes)) if not network.is_host(node)]
    if len(routers) > _MOST_ROUTERS:
        problems.add(
            _PLACE, f"{network.label} has {len(routers):,} routers; at most {_MOST_ROUTERS:,} are taken"
        )
        return None
    found = _Bounds(scenario, network, routers, problems)
    bounds = DemandSetup(
        routers,
        found.hose(demand.ingress, f"{_PLACE}.ingress"),
        found.hose(demand.egress, f"{_PLACE}.egress"),
        found.pairs(demand.pair),
    )
    if not len(problems):
        found.check_traffic(bounds)
    return bounds


class _Bounds:
    """Bounds by node id, with a problem for each name or number that cannot be."""

    def __init__(
        self, scenario: Scenario, network: ResolvedNetwork, routers: list[int], problems: Problems
    ) -> None:
        self._base = scenario.base
        self._network = network
        self._routers = routers
        self._problems = problems

    def hose(self, rates: Rate | dict[str, Rate] | None, place: str) -> list[int | None]:
        """The bound of each router, in bits per second; None for no bound."""
        if not isinstance(rates, dict):
            return [None if rates is None else int(rates)] * len(self._routers)
        others = rates.get("*")
        found: dict[int, int] = {}
        for name, rate in rates.items():
            node = None if name == "*" else self._router(name, f"{place}.{name}")
            if node is not None:
                found[node] = int(rate)
        default = None if others is None else int(others)
        return [found.get(router, default) for router in self._routers]

    def pairs(self, given: Rate | PairRates | None) -> int | list[tuple[int, int, int]] | None:
        """Bounds of pairs, in bits per second, as ``Setup.demand`` has them."""
        if given is None or not isinstance(given, PairRates):
            return None if given is None else int(given)
        reader = PairRateReader(self._base, self._network, self._problems, f"{_PLACE}.pair", self._router)
        bounds = reader.rates_bps(given)
        return [(*pair, round(bps)) for pair, bps in sorted(bounds.items())]

    def check_traffic(self, bounds: DemandSetup) -> None:
        """Notes bounds that allow no traffic or any amount of it, and traffic that has no path."""
        ingress = dict(zip(self._routers, bounds.ingress_bps, strict=True))
        egress = dict(zip(self._routers, bounds.egress_bps, strict=True))
        common = bounds.pair_bps
        pairs: Iterable[tuple[int, int, int | None]] = (
            common
            if isinstance(common, list)
            else ((a, b, common) for a in self._routers for b in self._routers if a != b)
        )
        routers = frozenset(self._routers)
        links = [link for link in self._network.links if {link.origin, link.to} <= routers]
        reach = Reach(links)
        total, free, cut = 0, list[tuple[int, int]](), list[tuple[int, int]]()
        for a, b, most in pairs:
            known = [limit for limit in (ingress[a], egress[b], most) if limit is not None]
            if known and min(known) == 0:
                continue
            total += 1
            if not known:
                free.append((a, b))
            elif not reach.connected(a, b):
                cut.append((a, b))
        if not total:
            self._problems.add(
                _PLACE,
                "no pair of routers may have traffic; give some pair rates in, out and between above zero",
            )
        if free:
            self._problems.add(
                _PLACE,
                f"nothing limits the traffic from {self._name(free[0])}{_others(free)}; give ingress, egress "
                "or pair for them",
            )
        if cut:
            self._problems.add(
                _PLACE,
                f"there may be traffic from {self._name(cut[0])}, and no path over routers in "
                f"{self._network.label}{_others(cut)}; connect them, or bound that traffic to zero",
            )

    def _name(self, pair: tuple[int, int]) -> str:
        return " to ".join(quoted(self._network.nodes[node].name) for node in pair)

    def _router(self, name: str, place: str) -> int | None:
        """Id of a router by its name; no such node, or a host, is noted."""
        node = self._network.node(name, place)
        if node is not None and self._network.is_host(node):
            self._problems.add(
                place, f"{quoted(name)} is a host; its traffic counts at the router of its first link"
            )
            return None
        return node


def _others(pairs: list[tuple[int, int]]) -> str:
    return "" if len(pairs) == 1 else f", and so for {len(pairs) - 1:,} other pairs"
