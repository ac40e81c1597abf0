"""From traffic entries to single flows, with every random variate drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anabranch.scenario.quantity import PS_PER_SECOND, Quantity, quoted
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.traffic import (
    MAX_FLOWS,
    MessageApplication,
    PingApplication,
    RateApplication,
    Traffic,
    UdpApplication,
)
from anabranch.scenario.variate import as_core, mean_base_units
from anabranch.setup.controller import ResolvedController
from anabranch.setup.draws import LARGEST_DRAW, Draws
from anabranch.setup.model import DatagramSetup, FlowSetup, Tagged
from anabranch.setup.network import ResolvedNetwork
from anabranch.setup.problems import Problems
from anabranch.setup.reach import Reach
from anabranch.setup.transport import Transports

_ARRIVALS_AT_ONCE = 1024


class Flows:
    """The flows of a scenario, in the order of its entries."""

    def __init__(
        self,
        scenario: Scenario,
        network: ResolvedNetwork,
        controller: ResolvedController,
        transports: Transports,
        problems: Problems,
    ) -> None:
        self._network = network
        self._controller = controller
        self._transports = transports
        self._problems = problems
        self._reach = Reach(network.links, network.switches)
        self._draws = Draws(scenario)
        self._duration = int(scenario.run_settings.duration)
        self.setups: list[FlowSetup] = []
        self.datagrams: list[DatagramSetup] = []
        named: dict[str, int] = {}
        for number, entry in enumerate(scenario.traffic):
            place = f"traffic[{number}]"
            name = entry.name or place
            if name in named:
                self._problems.add(
                    f"{place}.name", f"{quoted(name)} is the name of traffic[{named[name]}] as well"
                )
                continue
            named[name] = number
            self._add(entry, name, place)

    def _add(self, entry: Traffic, name: str, place: str) -> None:
        if entry.has_datagrams:
            if self._controller.setup is not None:
                self._problems.add(
                    f"{place}.application",
                    "an SDN controller knows connections only; ping and udp need [routing] in its place",
                )
            transport = None
        else:
            transport = self._transports.index(entry.transport, f"{place}.transport")
        pairs = self._pairs(entry, name, place)
        for pair in pairs:
            self._check_reach(pair, entry, place)
        if entry.has_datagrams:
            for drawn in self._drawn(entry, name, place, pairs):
                self.datagrams.append(_datagrams(entry, *drawn))
        elif transport is not None:
            self._controller.check_transport(self._transports.setups[transport], f"{place}.transport")
            for flow, (origin, to), start, stop in self._drawn(entry, name, place, pairs):
                if entry.pairs == "neighbours":
                    self._controller.keep_to_link(len(self.setups))
                source = self._source(entry, flow)
                self.setups.append(FlowSetup(flow, origin, to, transport, source, start, stop))

    def _drawn(
        self, entry: Traffic, name: str, place: str, pairs: list[tuple[int, int]]
    ) -> Iterator[tuple[str, tuple[int, int], int, int | None]]:
        """Name, ends, start and stop of each flow of an entry."""
        counts = self._counts(entry, name, len(pairs))
        if entry.inter_arrival is None and self._count() + sum(counts) > MAX_FLOWS:
            self._too_many(place)
            return
        count = offset = 0
        for number, (pair, flows) in enumerate(zip(pairs, counts, strict=True)):
            if number and entry.stagger is not None:
                offset += self._draws.one(entry.stagger, f"{name}.{count}", "stagger")
            for start in self._starts(entry, name, count, flows, offset):
                if max(self._count(), count) >= MAX_FLOWS:
                    self._too_many(place)
                    return
                flow = f"{name}.{count}"
                count += 1
                stop = None if entry.stop is None else self._draws.one(entry.stop, flow, "stop")
                # It keeps its number, so that the others keep their draws.
                if stop is None or start < stop:
                    yield flow, pair, start, stop

    def _count(self) -> int:
        return len(self.setups) + len(self.datagrams)

    def _too_many(self, place: str) -> None:
        self._problems.add(place, f"makes more than {MAX_FLOWS:,} flows, the most that a run can have")

    def _check_reach(self, pair: tuple[int, int], entry: Traffic, place: str) -> None:
        one_way = isinstance(entry.application, UdpApplication)
        answers = "answers" if entry.has_datagrams else "acknowledgments"
        for a, b in (pair,) if one_way else (pair, pair[::-1]):
            if not self._reach.connected(a, b):
                names = (quoted(self._network.nodes[a].name), quoted(self._network.nodes[b].name))
                what = "data" if (a, b) == pair else answers
                over = "" if self._network.switches is None else " over the controller's switches"
                self._problems.add(
                    place,
                    f"no path from {names[0]} to {names[1]} in {self._network.label}{over} for its {what}",
                )

    def _counts(self, entry: Traffic, name: str, pairs: int) -> list[int]:
        """The most flows of each pair of an entry; one beyond the bound of a run where there is no other."""
        if isinstance(entry.flows, int):
            return [entry.flows] * pairs
        if isinstance(entry.flows, str):
            return [MAX_FLOWS + 1] * pairs
        drawn = self._draws.many(as_core(entry.flows), name, "flows", pairs)
        return [max(1, round(min(float(number), MAX_FLOWS + 1))) for number in drawn]

    def _starts(self, entry: Traffic, name: str, count: int, flows: int, offset: int) -> Iterator[int]:
        """Start of each flow of one pair, in picoseconds.

        Args:
            entry: the traffic entry.
            name: its name.
            count: number of its flows that other pairs have already.
            flows: the most flows that this pair has.
            offset: how much later it starts than the entry says.
        """
        if entry.inter_arrival is None:
            for flow in range(count, count + flows):
                yield offset + self._draws.one(entry.start, f"{name}.{flow}", "start")
            return
        first = f"{name}.{count}"
        start = offset + self._draws.one(entry.start, first, "start")
        yield start
        drawn: NDArray[np.float64] = np.empty(0)
        # What would start after the end is not part of the run.
        end = min(self._duration, entry.stop) if isinstance(entry.stop, Quantity) else self._duration
        for arrival in range(flows - 1):
            if arrival >= len(drawn):
                wanted = max(_ARRIVALS_AT_ONCE, 2 * len(drawn))
                drawn = self._draws.many(as_core(entry.inter_arrival), first, "inter_arrival", wanted)
            start += round(min(float(drawn[arrival]), LARGEST_DRAW))
            if start >= end:
                return
            yield start

    def _source(self, entry: Traffic, flow: str) -> Tagged:
        application = entry.application
        if isinstance(application, RateApplication | MessageApplication):
            return _messages(application)
        if entry.size is None or entry.size == "unlimited":
            return {"kind": "unlimited"}
        assert not isinstance(entry.size, str)  # noqa: S101 - the only text is "unlimited"
        return {"kind": "sized", "bytes": max(1, self._draws.one(entry.size, flow, "size"))}

    def _pairs(self, entry: Traffic, name: str, place: str) -> list[tuple[int, int]]:
        """The pairs of nodes of an entry, the other direction last; what is wrong with them is noted."""
        pairs = self._pairs_there(entry, name, place)
        if not entry.both_directions:
            return pairs
        back = [pair[::-1] for pair in pairs]
        known = set(pairs)
        if twice := next((pair for pair in back if pair in known and pair[0] != pair[1]), None):
            names = " and ".join(quoted(self._network.nodes[node].name) for node in twice)
            self._problems.add(
                f"{place}.both_directions",
                f"{names} send to each other without it; leave it out",
            )
        return pairs + back

    def _pairs_there(self, entry: Traffic, name: str, place: str) -> list[tuple[int, int]]:
        senders = self._ends(entry.source, f"{place}.from")
        if entry.pairs == "permutation":
            return self._permutation(senders, name, place)
        if entry.pairs == "neighbours":
            return self._neighbours(senders, place)
        assert entry.destination is not None  # noqa: S101 - the entry refuses that
        receivers = self._ends(entry.destination, f"{place}.to")
        if entry.pairs == "in-order":
            pairs = list(zip(senders, receivers, strict=False))
        else:
            several = len(senders) > 1 or len(receivers) > 1
            pairs = [(a, b) for a in senders for b in receivers if a != b or not several]
        for a, b in pairs:
            if a == b:
                node = quoted(self._network.nodes[a].name)
                self._problems.add(f"{place}.to", f"is the node that sends as well, {node}")
        for ends, field in ((senders, "from"), (receivers, "to")):
            if self._network.controller in ends:
                self._problems.add(f"{place}.{field}", "is the controller, which is no end of a flow")
        return [pair for pair in pairs if self._network.controller not in pair]

    def _ends(self, ends: str | list[str], place: str) -> list[int]:
        if ends == "*":
            return self._network.hosts
        if isinstance(ends, str):
            found = [self._network.node(ends, place)]
        else:
            found = [self._network.node(name, f"{place}[{index}]") for index, name in enumerate(ends)]
        return [node for node in found if node is not None]

    def _neighbours(self, senders: list[int], place: str) -> list[tuple[int, int]]:
        """Pairs of these nodes with a link from the first to the second, once each."""
        if len(set(senders)) != len(senders):
            self._problems.add(f"{place}.from", "names a node twice")
        links = dict.fromkeys((link.origin, link.to) for link in self._network.links)
        ends = set(senders)
        followers: dict[int, list[int]] = {sender: [] for sender in senders}
        for origin, to in links:
            if origin in ends and to in ends:
                followers[origin].append(to)
        pairs = [(origin, to) for origin, found in followers.items() for to in found]
        if not pairs:
            hint = "; list the switches" if self._network.switches is not None else ""
            self._problems.add(f"{place}.from", f"no two of these nodes have a link between them{hint}")
        return pairs

    def _permutation(self, senders: list[int], name: str, place: str) -> list[tuple[int, int]]:
        """Each sends to the next in a random cyclic order, so that nobody sends to itself."""
        if len(set(senders)) != len(senders):
            self._problems.add(f"{place}.from", "names a node twice; in a permutation each sends once")
        if len(senders) < 2:
            self._problems.add(f"{place}.from", "a permutation needs at least two nodes")
            return []
        ranks = self._draws.many(
            {"distribution": "uniform", "low": 0.0, "high": 1.0}, name, "permutation", len(senders)
        )
        order = [senders[index] for index in np.argsort(ranks, kind="stable")]
        follower = dict(zip(order, [*order[1:], order[0]], strict=True))
        return [(sender, follower[sender]) for sender in senders]


def _datagrams(
    entry: Traffic, flow: str, ends: tuple[int, int], start: int, stop: int | None
) -> DatagramSetup:
    application = entry.application
    source: Tagged
    if isinstance(application, PingApplication):
        source = {"kind": "ping", "interval": int(application.interval)}
    else:
        assert isinstance(application, UdpApplication)  # noqa: S101 - the entry has datagrams
        source = {"kind": "udp", "rate": int(application.rate)}
    return DatagramSetup(flow, *ends, source, int(application.packet), start, stop)


def _messages(application: RateApplication | MessageApplication) -> Tagged:
    gap: Tagged
    if isinstance(application, MessageApplication):
        gap = as_core(application.gap)
    else:
        if application.gap is not None:
            mean = float(application.gap)
        else:
            assert application.rate is not None  # noqa: S101 - the table demands one of both
            mean = mean_base_units(application.message) * 8 * PS_PER_SECOND / application.rate
        if application.kind == "poisson":
            gap = {"distribution": "exponential", "mean": mean}
        else:
            gap = {"distribution": "constant", "value": mean}
    return {"kind": "messages", "size": as_core(application.message), "gap": gap}
