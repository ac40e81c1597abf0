"""From traffic entries to single flows, with every random variate drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice

import numpy as np
from numpy.typing import NDArray

from anabranch.scenario.algorithms.protocol import MptcpProtocol, TcpProtocol
from anabranch.scenario.leaves import (
    BlockSetup,
    ConstantVariate,
    DatagramSource,
    ExponentialVariate,
    MessagesSource,
    PingDatagramSource,
    ReadingSetup,
    SizedSource,
    Source,
    UdpDatagramSource,
    UnlimitedSource,
    Variate,
)
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
from anabranch.scenario.variate import mean_base_units
from anabranch.setup.controller import ResolvedController
from anabranch.setup.draws import LARGEST_DRAW, UNIT_INTERVAL, Draws, variate
from anabranch.setup.flow_columns import NEVER, EntrySetup, FlowColumns, pair_code
from anabranch.setup.matrix import Matrices
from anabranch.setup.model import DatagramSetup, DemandSetup
from anabranch.setup.network import ResolvedNetwork
from anabranch.setup.own_routes import TrafficRoutes
from anabranch.setup.problems import Problems
from anabranch.setup.reach import Reach
from anabranch.setup.transport import Transports

_ARRIVALS_AT_ONCE = 1024
_TOLD = 10
"""Most pairs without a path that are told one by one."""
_LARGEST_OFFSET = 2**62
"""Picoseconds: beyond every run, and small enough that another draw can be added."""

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Origins and destinations of pairs of nodes."""


class Flows:
    """The flows of a scenario, in the order of its entries: connections as columns, datagrams one by one."""

    def __init__(
        self,
        scenario: Scenario,
        network: ResolvedNetwork,
        controller: ResolvedController,
        chosen: tuple[Transports, TrafficRoutes],
        demand: DemandSetup | None,
        problems: Problems,
    ) -> None:
        self._network = network
        self._controller = controller
        self._transports, self._routes = chosen
        self._problems = problems
        self._reach = Reach(network.links, network.switches)
        self._draws = Draws(scenario)
        self._matrices = Matrices(scenario.base, network, demand, self._draws, problems)
        self._duration = int(scenario.run_settings.duration)
        self._columns: list[FlowColumns] = []
        self._connections = 0
        self.datagrams: list[DatagramSetup] = []
        self.never_begun: Counter[str] = Counter()
        """By entry: the flows that are not made, since they would begin when the run is over."""
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
        routing = self._routes.place(entry.routing, name, place)
        pairs, offered = self._offered(entry, name, place)
        self._check_reach(pairs, entry, place)
        if transport is not None:
            self._controller.check_transport(self._transports.setups[transport], f"{place}.transport")
            self._check_reading(entry, transport, place)
        elif not entry.has_datagrams:
            return
        drawn = self._drawn(entry, name, place, pairs, offered)
        if drawn is None or not len(drawn.number):
            return
        if transport is None:
            self.datagrams += drawn.datagrams(entry, name, offered, routing)
            return
        flows = range(self._connections, self._connections + len(drawn.number))
        if entry.pairs == "neighbours":
            self._controller.keep_to_link(flows)
        if entry.routing is not None:
            self._controller.go_by(flows, entry.routing.metric)
        sources = [_source(entry)] if offered is None else offered.sources(entry)
        reads = _reading(entry)
        entries = tuple(EntrySetup(name, transport, source, routing, reads) for source in sources)
        self._columns.append(drawn.columns(entries, self._bytes(entry, name, drawn)))
        self._connections += len(drawn.number)

    def _check_reading(self, entry: Traffic, transport: int, place: str) -> None:
        setup = self._transports.setups[transport]
        if entry.reads is not None and not isinstance(setup.config, TcpProtocol | MptcpProtocol):
            self._problems.add(
                f"{place}.reads",
                f"{quoted(setup.name)} has a fixed window, which no receiver shuts; take a transport of TCP "
                "or MPTCP",
            )

    def setups(self) -> FlowColumns:
        """All connections."""
        return FlowColumns.joined(self._columns)

    def _offered(self, entry: Traffic, name: str, place: str) -> tuple[Pairs, Offered | None]:
        """The pairs of an entry, and with a matrix what each of them sends."""
        if entry.matrix is None:
            return self._pairs(entry, name, place), None
        rates = self._matrices.rates(entry.matrix, name, f"{place}.matrix")
        counts = self._counts(entry, name, len(rates.bps))
        return (rates.origin, rates.to), Offered.of(entry, rates.bps, counts)

    def _drawn(
        self, entry: Traffic, name: str, place: str, pairs: Pairs, offered: Offered | None
    ) -> _Drawn | None:
        """The flows of an entry; None if they are too many, which is noted."""
        gaps = None if offered is None or offered.gaps is None else self._gaps(pairs, name, offered.gaps)
        counts = self._counts(entry, name, len(pairs[0])) if offered is None else offered.counts
        one_by_one = entry.inter_arrival is not None or gaps is not None
        if not one_by_one and self._count() + int(counts.sum()) > MAX_FLOWS:
            self._too_many(place)
            return None
        if not one_by_one:
            pair = np.repeat(np.arange(len(counts)), counts)
            number = np.arange(len(pair), dtype=np.uint32)
            offsets = self._offsets(entry, name, np.cumsum(counts) - counts)
            start = offsets[pair] + self._draws.each(entry.start, name, "start", number)
        else:
            pair, start = self._arrivals(entry, name, counts.tolist(), gaps)
            number = np.arange(len(pair), dtype=np.uint32)
        stop = np.full(len(start), NEVER, dtype=np.uint64)
        if entry.stop is not None:
            stop = self._draws.each(entry.stop, name, "stop", number).astype(np.uint64)
        # A flow that is left out keeps its number, so that the others keep their draws.
        kept = start.astype(np.uint64) < stop
        if len(start) > MAX_FLOWS or self._count() + int(kept.sum()) > MAX_FLOWS:
            self._too_many(place)
            return None
        origin, to = (ends[pair[kept]].astype(np.uint32) for ends in pairs)
        return _Drawn(number[kept], pair[kept], origin, to, start[kept].astype(np.uint64), stop[kept])

    def _gaps(self, pairs: Pairs, name: str, gaps: list[Variate]) -> list[tuple[str, Variate]]:
        """The stream of each pair's arrivals, by the names of its nodes, and the time between them.

        Not by the number of its first flow: a pair without any arrival would share the next one's draws.
        """
        nodes = [node.name for node in self._network.nodes]
        ends = zip(*(side.tolist() for side in pairs), strict=True)
        return [(f"{name}.{nodes[a]}->{nodes[b]}", gap) for (a, b), gap in zip(ends, gaps, strict=True)]

    def _offsets(self, entry: Traffic, name: str, first: NDArray[np.int64]) -> NDArray[np.int64]:
        """How much later than the first one each pair starts, given the number of its first flow."""
        if entry.stagger is None:
            return np.zeros(len(first), dtype=np.int64)
        gaps = self._draws.each(entry.stagger, name, "stagger", first[1:].astype(np.uint32)).tolist()
        offsets = [min(offset, _LARGEST_OFFSET) for offset in accumulate(gaps, initial=0)]
        return np.array(offsets[: len(first)], dtype=np.int64)

    def _arrivals(
        self, entry: Traffic, name: str, counts: list[int], gaps: list[tuple[str, Variate]] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Pair and start of each flow, where flows arrive one after the other; one too many at most.

        Args:
            entry: the traffic entry.
            name: its name.
            counts: the most flows of each pair.
            gaps: by a matrix, the stream of each pair and the time between its flows; None for the entry's.
        """
        pairs: list[int] = []
        common = None if entry.inter_arrival is None else variate(entry.inter_arrival)
        starts: list[int] = []
        offset = 0
        for pair, flows in enumerate(counts):
            if pair and entry.stagger is not None:
                offset += self._draws.one(entry.stagger, f"{name}.{len(starts)}", "stagger")
            left = MAX_FLOWS + 1 - len(starts)
            first, gap = (f"{name}.{len(starts)}", common) if gaps is None else gaps[pair]
            assert gap is not None  # noqa: S101 - the caller has seen one of both
            arrivals = self._starts(entry, first, flows, offset, gap)
            # The first arrival of a Poisson process comes after a gap, too.
            found = list(islice(arrivals, 0 if gaps is None else 1, left))
            if gaps is None and not isinstance(entry.flows, str):
                self.never_begun[name] += self._late(
                    entry, name, first, range(len(found), flows), gap, found[:1]
                )
            pairs += [pair] * len(found)
            starts += found
        bounded = [min(start, _LARGEST_OFFSET) for start in starts]
        return np.array(pairs, dtype=np.intp), np.array(bounded, dtype=np.int64)

    def _late(
        self, entry: Traffic, name: str, first: str, rest: range, gap: Variate, begin: list[int]
    ) -> int:
        """How many flows of a pair would begin when the run is over, and before their stop.

        Args:
            entry: the traffic entry.
            name: its name.
            first: the stream of the arrivals.
            rest: the numbers of the pair's flows of which none is made.
            gap: the time from one flow's start to the next one's.
            begin: when the pair's first flow starts.
        """
        if entry.stop is None or not rest or not begin:
            return len(rest)
        if isinstance(entry.stop, Quantity) and entry.stop <= self._duration:
            return 0
        gaps = np.minimum(
            self._draws.many(gap, first, "inter_arrival", min(rest.stop, MAX_FLOWS) - 1), LARGEST_DRAW
        )
        starts = begin[0] + np.cumsum(np.rint(gaps))[rest.start - 1 :]
        numbers = np.arange(rest.start, rest.start + len(starts), dtype=np.uint32)
        return int((starts < self._draws.each(entry.stop, name, "stop", numbers)).sum())

    def _bytes(self, entry: Traffic, name: str, drawn: _Drawn) -> NDArray[np.uint64]:
        """What each flow sends, where the entry has a size."""
        if entry.application is not None or entry.size is None or isinstance(entry.size, str):
            return np.zeros(len(drawn.number), dtype=np.uint64)
        return np.maximum(1, self._draws.each(entry.size, name, "size", drawn.number)).astype(np.uint64)

    def _count(self) -> int:
        return self._connections + len(self.datagrams)

    def _too_many(self, place: str) -> None:
        self._problems.add(place, f"makes more than {MAX_FLOWS:,} flows, the most that a run can have")

    def _check_reach(self, pairs: Pairs, entry: Traffic, place: str) -> None:
        one_way = isinstance(entry.application, UdpApplication)
        there, back = (self._reach.cut_off(*ends) for ends in (pairs, pairs[::-1]))
        answers = "answers" if entry.has_datagrams else "acknowledgments"
        wrong = [(at, "data") for at in there] + [(at, answers) for at in back if not one_way]
        for at, what in sorted(wrong, key=lambda found: found[0])[:_TOLD]:
            ends = [quoted(self._network.nodes[int(side[at])].name) for side in pairs]
            source, target = ends if what == "data" else ends[::-1]
            over = "" if self._network.switches is None else " over the controller's switches"
            self._problems.add(
                place, f"no path from {source} to {target} in {self._network.label}{over} for its {what}"
            )
        if len(wrong) > _TOLD:
            self._problems.add(place, f"and so for {len(wrong) - _TOLD:,} other pairs and directions")

    def _counts(self, entry: Traffic, name: str, pairs: int) -> NDArray[np.int64]:
        """The most flows of each pair of an entry; one beyond the bound of a run where there is no other."""
        if isinstance(entry.flows, int):
            return np.full(pairs, entry.flows)
        if isinstance(entry.flows, str):
            return np.full(pairs, MAX_FLOWS + 1)
        drawn = self._draws.many(variate(entry.flows), name, "flows", pairs)
        return np.maximum(1, np.rint(np.minimum(drawn, MAX_FLOWS + 1))).astype(np.int64)

    def _starts(self, entry: Traffic, first: str, flows: int, offset: int, gap: Variate) -> Iterator[int]:
        """Start of each flow of one pair, in picoseconds, where flows arrive one after the other.

        Args:
            entry: the traffic entry.
            first: the stream that its draws come from.
            flows: the most flows that this pair has.
            offset: how much later it starts than the entry says.
            gap: the time from one flow's start to the next one's.
        """
        start = offset + self._draws.one(entry.start, first, "start")
        yield start
        drawn: NDArray[np.float64] = np.empty(0)
        # What would start after the end is not part of the run.
        end = min(self._duration, entry.stop) if isinstance(entry.stop, Quantity) else self._duration
        for arrival in range(flows - 1):
            if arrival >= len(drawn):
                wanted = max(_ARRIVALS_AT_ONCE, 2 * len(drawn))
                drawn = self._draws.many(gap, first, "inter_arrival", wanted)
            start += round(min(float(drawn[arrival]), LARGEST_DRAW))
            if start >= end:
                return
            yield start

    def _pairs(self, entry: Traffic, name: str, place: str) -> Pairs:
        """The pairs of nodes of an entry, the other direction last; what is wrong with them is noted."""
        origin, to = self._pairs_there(entry, name, place)
        if not entry.both_directions:
            return origin, to
        twice = np.isin(pair_code(to, origin), pair_code(origin, to)) & (origin != to)
        if twice.any():
            at = int(np.argmax(twice))
            names = " and ".join(quoted(self._network.nodes[int(ends[at])].name) for ends in (to, origin))
            self._problems.add(
                f"{place}.both_directions",
                f"{names} send to each other without it; leave it out",
            )
        return np.concatenate([origin, to]), np.concatenate([to, origin])

    def _pairs_there(self, entry: Traffic, name: str, place: str) -> Pairs:
        assert entry.source is not None  # noqa: S101 - the entry refuses that
        senders = self._ends(entry.source, f"{place}.from")
        if entry.pairs == "permutation":
            return _apart(self._permutation(senders, name, place))
        if entry.pairs == "neighbours":
            return _apart(self._neighbours(senders, place))
        assert entry.destination is not None  # noqa: S101 - the entry refuses that
        receivers = self._ends(entry.destination, f"{place}.to")
        if entry.pairs == "in-order":
            origin, to = _apart(list(zip(senders, receivers, strict=False)))
        else:
            origin = np.repeat(np.array(senders, dtype=np.intp), len(receivers))
            to = np.tile(np.array(receivers, dtype=np.intp), len(senders))
            if len(senders) > 1 or len(receivers) > 1:
                origin, to = origin[apart := origin != to], to[apart]
        for same in dict.fromkeys(origin[origin == to].tolist()):
            node = quoted(self._network.nodes[same].name)
            self._problems.add(f"{place}.to", f"is the node that sends as well, {node}")
        controller = self._network.controller
        for ends, field in ((senders, "from"), (receivers, "to")):
            if controller in ends:
                self._problems.add(f"{place}.{field}", "is the controller, which is no end of a flow")
        if controller is None:
            return origin, to
        others = (origin != controller) & (to != controller)
        return origin[others], to[others]

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
        ranks = self._draws.many(UNIT_INTERVAL, name, "permutation", len(senders))
        order = [senders[index] for index in np.argsort(ranks, kind="stable")]
        follower = dict(zip(order, [*order[1:], order[0]], strict=True))
        return [(sender, follower[sender]) for sender in senders]


@dataclass(frozen=True, slots=True)
class Offered:
    """What the pairs of a matrix send."""

    bps: NDArray[np.float64]
    """Rate of each pair."""
    counts: NDArray[np.int64]
    """The most flows of each pair."""
    gaps: list[Variate] | None
    """Where transfers arrive: the time between those of each pair."""

    @classmethod
    def of(cls, entry: Traffic, bps: NDArray[np.float64], counts: NDArray[np.int64]) -> Offered:
        """By the entry's rule: so many flows, transfers of a size, or as many as the rate of one says."""
        assert entry.matrix is not None  # noqa: S101 - the caller has seen it
        if isinstance(entry.size, str) or entry.size is None:
            each = entry.matrix.rate_per_flow
            # Less a trifle, so that rounding makes no flow of nothing.
            flows = counts if each is None else np.ceil(bps / float(each) * (1 - 1e-12)).astype(np.int64)
            return cls(bps, np.maximum(1, flows), None)
        bits = mean_base_units(entry.size) * 8
        means = (bits * PS_PER_SECOND / bps).tolist()
        gaps: list[Variate] = [ExponentialVariate(mean=mean) for mean in means]
        return cls(bps, np.full(len(bps), MAX_FLOWS + 1), gaps)

    @property
    def rates(self) -> list[float]:
        """The rate of a flow of each pair, in bits per second."""
        rates: list[float] = (self.bps / self.counts).tolist()
        return rates

    def sources(self, entry: Traffic) -> list[Source]:
        """What a connection of each pair sends."""
        if isinstance(entry.application, RateApplication):
            return [_messages(entry.application, bps) for bps in self.rates]
        return [_source(entry)]

    def datagrams(self) -> list[DatagramSource]:
        """What a flow of UDP of each pair sends."""
        return [UdpDatagramSource(rate=max(1, round(bps))) for bps in self.rates]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The flows of an entry."""

    number: NDArray[np.uint32]
    pair: NDArray[np.intp]
    """Place of each flow's pair among all of the entry."""
    origin: NDArray[np.uint32]
    to: NDArray[np.uint32]
    start: NDArray[np.uint64]
    stop: NDArray[np.uint64]

    def columns(self, entries: tuple[EntrySetup, ...], size: NDArray[np.uint64]) -> FlowColumns:
        """As connections, of one entry or of one for each pair."""
        each = self.pair if len(entries) > 1 else np.zeros(len(self.pair))
        which = each.astype(np.uint32)
        return FlowColumns(entries, which, self.number, self.origin, self.to, size, self.start, self.stop)

    def datagrams(
        self, entry: Traffic, name: str, offered: Offered | None, routing: int
    ) -> Iterator[DatagramSetup]:
        """As flows of datagrams."""
        application = entry.application
        assert isinstance(application, PingApplication | UdpApplication)  # noqa: S101 - the entry has datagrams
        sources = [_packets(application)] if offered is None else offered.datagrams()
        packet = int(application.packet)
        columns = (self.number, self.pair, self.origin, self.to, self.start, self.stop)
        for number, pair, origin, to, start, stop in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            end = None if stop == NEVER else stop
            source = sources[pair if offered is not None else 0]
            yield DatagramSetup(f"{name}.{number}", origin, to, source, packet, start, end, routing)


def _apart(pairs: list[tuple[int, int]]) -> Pairs:
    origin, to = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return origin, to


def _source(entry: Traffic) -> Source:
    application = entry.application
    if isinstance(application, RateApplication | MessageApplication):
        return _messages(application)
    if entry.size is None or entry.size == "unlimited":
        return UnlimitedSource()
    return SizedSource(bytes=0)


def _reading(entry: Traffic) -> ReadingSetup | None:
    reads = entry.reads
    if reads is None:
        return None
    blocks = None
    if reads.rate is not None:
        interval = max(1, round(8 * int(reads.block) * PS_PER_SECOND / int(reads.rate)))
        blocks = BlockSetup(bytes=int(reads.block), interval=interval)
    pause, resume = (None if time is None else int(time) for time in (reads.pause, reads.resume))
    return ReadingSetup(blocks=blocks, pause=pause, resume=resume)


def _packets(application: PingApplication | UdpApplication) -> DatagramSource:
    if isinstance(application, PingApplication):
        return PingDatagramSource(interval=int(application.interval))
    assert application.rate is not None  # noqa: S101 - the entry demands it
    return UdpDatagramSource(rate=int(application.rate))


def _messages(application: RateApplication | MessageApplication, bps: float | None = None) -> Source:
    """Messages at the application's own rate, or at one in bits per second."""
    gap: Variate
    if isinstance(application, MessageApplication):
        gap = variate(application.gap)
    else:
        rate = bps or application.rate
        if application.gap is not None:
            mean = float(application.gap)
        else:
            assert rate is not None  # noqa: S101 - the table demands one of both
            mean = mean_base_units(application.message) * 8 * PS_PER_SECOND / rate
        is_poisson = application.kind == "poisson"
        gap = ExponentialVariate(mean=mean) if is_poisson else ConstantVariate(value=mean)
    return MessagesSource(size=variate(application.message), gap=gap)
