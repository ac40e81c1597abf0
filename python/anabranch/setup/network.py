"""From a topology and the scenario's settings to directed links with numbers."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from anabranch.scenario.algorithms.loss import AnyLoss, Bernoulli
from anabranch.scenario.choice import Algorithm, leaf
from anabranch.scenario.leaves import PlaceSetup, QueueChange, QueueSetup
from anabranch.scenario.network import (
    MOST_WEIGHT,
    DistanceDelay,
    HostOverride,
    HostSettings,
    LinkOverride,
    LinkSelector,
    LinkSettings,
    Network,
    RouterOverride,
    RouterSettings,
)
from anabranch.scenario.quantity import SegmentCount, Span, Speed, quoted
from anabranch.scenario.record import core_value
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.variate import Uniform
from anabranch.setup.draws import Draws, variate
from anabranch.setup.model import HostSetup, LinkSetup, NodeSetup, RouterSetup
from anabranch.setup.problems import Problems
from anabranch.setup.queue import Unsized, products_of, queue_setup, with_rtt
from anabranch.setup.topologies import is_generated, load_topology, new_nodes
from anabranch.setup.weights import LinkWeights, by_weight
from anabranch.suggest import suggest
from anabranch.topology import Topology, TopologyLink, TopologyNode

DEFAULT_DELAY = DistanceDelay(source="distance", speed=Speed("200 km/ms"))
DELAY_CLASSES = {
    "LAN": Uniform(distribution="uniform", low=Span("1 us"), high=Span("10 us")),
    "WAN": Uniform(distribution="uniform", low=Span("1 ms"), high=Span("10 ms")),
}
"""Delay of the links of a network by its class (Gholizadeh 2019, section 3.1.1)."""
# Below, one packet outlasts every run; above, its sending takes less than the clock can tell.
_SMALLEST_CAPACITY_BPS, _LARGEST_CAPACITY_BPS = 100, 10**15
_LINKS = "network.links"
_FIELDS = tuple(LinkSettings.model_fields)
_RESOLVED = frozenset({"capacity", "delay", "queue", "loss", "jitter", "weight"})
"""Settings of which the core gets something else; any other one is passed on as it is."""


def host_setups(settings: Network, network: ResolvedNetwork) -> list[HostSetup]:
    """What hosts do besides their transports, where the scenario says it; unknown hosts are noted."""
    given = _given("host", settings.hosts, settings.host, network)
    return [HostSetup(node, said.get("offload", 1), said.get("processing_delay")) for node, said in given]


def router_setups(settings: Network, network: ResolvedNetwork) -> list[RouterSetup]:
    """What nodes take to pass packets on, where the scenario says it; unknown ones are noted."""
    given = _given("router", settings.routers, settings.router, network)
    return [RouterSetup(node, said["processing_delay"]) for node, said in given]


def _given(
    table: str,
    everywhere: HostSettings | RouterSettings,
    single: Sequence[HostOverride | RouterOverride],
    network: ResolvedNetwork,
) -> list[tuple[int, dict[str, Any]]]:
    """The nodes of which somebody says something, each with that, as the core has it, by field."""

    def said(settings: HostSettings | RouterSettings) -> dict[str, Any]:
        values = {name: getattr(settings, name) for name in type(everywhere).model_fields}
        return {
            name: int(value) if isinstance(value, SegmentCount) else variate(value)
            for name, value in values.items()
            if value is not None
        }

    common = said(everywhere)
    given = dict.fromkeys(range(len(network.nodes)), common) if common else {}
    for number, entry in enumerate(single):
        node = network.node(entry.name, f"network.{table}[{number}].name")
        if node is not None and (own := said(entry)):
            given[node] = {**given.get(node, {}), **own}
    return sorted(given.items())


@dataclass(frozen=True, slots=True)
class Wire:
    """A link of the topology, or one that the scenario adds, with all its settings."""

    link: TopologyLink
    settings: dict[str, Any]
    """Values by field of :class:`LinkSettings`; what nobody set is absent."""
    backward: dict[str, Any]
    """The same for the direction from ``b`` to ``a``."""
    place: str = _LINKS
    """Where its settings stand, for messages."""


class ResolvedNetwork:
    """Nodes and directed links of a run, and how to find them by name."""

    def __init__(self, scenario: Scenario, problems: Problems) -> None:
        """Loads the topology and applies the scenario's settings; problems are noted.

        Raises:
            ScenarioError: if there is no such topology.
        """
        self.problems = problems
        """What is wrong with the scenario, and later with changes of the network."""
        self._draws = Draws(scenario)
        found = load_topology(scenario, problems)
        self.label = found.name
        self.provenance = found.provenance
        self.demands = found.demands
        """The topology's own traffic matrix, by names and in its own unit; None where it has none."""
        self._nodes = [*found.nodes, *new_nodes(scenario.network, found, problems)]
        self._ids = {node.name: index for index, node in enumerate(self._nodes)}
        for index, node in enumerate(self._nodes):
            for alias in node.aliases:
                # A name beats an alias, and the first alias a later one.
                self._ids.setdefault(alias, index)
        self.nodes = [_node_setup(node) for node in self._nodes]
        self._by_weight = by_weight(scenario)
        self._weights = LinkWeights(scenario, self.node, problems)
        wires = self._wires(found, scenario.network)
        self._weights.note_unused(self.label)
        self.links: list[LinkSetup] = []
        self.unsized_queues: list[Unsized] = []
        """Queues whose room depends on the flows."""
        self._between: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._queues: dict[tuple[int, int], tuple[object, QueueSetup]] = {}
        """What the links with one queue of the scenario, by its identity, and one capacity have in common."""
        self._missing: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.controller: int | None = None
        """The node that is the SDN controller; None where there is none."""
        self.switches: list[int] | None = None
        """The switches of the controller; None where there is none."""
        self.lay(wires, self.label)

    @property
    def hosts(self) -> list[int]:
        """Nodes that ``"*"`` stands for: the hosts, or all where the topology marks none.

        With a controller, a node that is no switch of it is a host, and the controller itself is none.
        """
        switches = frozenset(self.switches or ())
        ends = [index for index in range(len(self._nodes)) if index != self.controller]
        marked = [index for index in ends if self.is_host(index) and index not in switches]
        return marked or [index for index in ends if switches and index not in switches] or ends

    def is_host(self, node: int) -> bool:
        """Whether a node is marked a host."""
        return self._nodes[node].kind == "host"

    def add_node(self, name: str) -> int:
        """Id of a node that is added after all others; the caller has seen that the name is free."""
        self._nodes.append(TopologyNode(name))
        self.nodes.append(NodeSetup(name))
        # A name beats an alias.
        self._ids[name] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def lay(self, wires: Sequence[Wire], owner: str) -> None:
        """Adds the directed links of wires; what they lack is noted as missing in ``owner``."""
        for wire in wires:
            a, b = self._ids[wire.link.a], self._ids[wire.link.b]
            # One edge, one length: the same distribution draws the same delay in both directions.
            stream = self._free_name(a, b)
            self._add(a, b, wire, wire.settings, stream)
            if not wire.link.directed:
                self._add(b, a, wire, wire.backward, stream)
        self._note_missing(owner)

    def node(self, name: str, place: str) -> int | None:
        """Id of a node by name or alias; an unknown one is noted, with the nearest name."""
        found = self._ids.get(name)
        if found is None:
            names = [node.name for node in self._nodes]
            near = suggest(name, names)
            hint = f"; nearest: {quoted(near)}" if near else _listed("nodes", names)
            self.problems.add(place, f"no node {quoted(name)} in {self.label}{hint}")
        return found

    def knows(self, name: str) -> bool:
        """Whether some node has this name or alias."""
        return name in self._ids

    def links_between(self, ends: Sequence[str], selector: LinkSelector, place: str) -> list[int]:
        """Ids of the directed links that a selector means; none is noted as a problem."""
        a, b = (self.node(name, f"{place}[{index}]") for index, name in enumerate(ends))
        if a is None or b is None:
            return []
        pairs = {"both": [(a, b), (b, a)], "forward": [(a, b)], "backward": [(b, a)]}[selector.direction]
        chosen = [
            link
            for pair in pairs
            for count, link in enumerate(self._between.get(pair, []), start=1)
            if selector.index in (None, count)
        ]
        if not chosen:
            self.problems.add(place, self._no_link(a, b, selector.index))
        return chosen

    def check_capacity(self, capacity: int, place: str) -> None:
        """Notes a capacity that the engine cannot work with."""
        if not _SMALLEST_CAPACITY_BPS <= capacity <= _LARGEST_CAPACITY_BPS:
            self.problems.add(place, f"{int(capacity)} bps is not between 100 bps and 1000 Tbps")

    def queue_changes(
        self, links: list[int], queue: object, capacity: int | None, place: str
    ) -> list[QueueChange]:
        """Changes of links to a queue, each at its capacity or at a new one; room without a size is noted."""
        if products := products_of(queue):
            reason = f"{quoted(products[0])} needs a round-trip time here; {with_rtt(products[0])}"
            self.problems.add(place, reason)
            return []
        setups = ((link, queue_setup(queue, capacity or self.links[link].capacity)) for link in links)
        return [QueueChange(links=[link], queue=to) for link, to in setups]

    def _no_link(self, a: int, b: int, index: int | None) -> str:
        names = (quoted(self.nodes[a].name), quoted(self.nodes[b].name))
        parallel = max(len(self._between.get((a, b), [])), len(self._between.get((b, a), [])))
        if parallel and index is not None:
            return f"no link {index} between {names[0]} and {names[1]}; {self.label} has {parallel}"
        if parallel:
            return f"no link from {names[0]} to {names[1]} in that direction in {self.label}"
        near = sorted({self.nodes[link.to].name for link in self.links if link.origin == a})
        hint = _listed(f"links of {names[0]} lead to", near) if near else f"; {names[0]} has no link"
        return f"no link between {names[0]} and {names[1]} in {self.label}{hint}"

    def _wires(self, found: Topology, network: Network) -> list[Wire]:
        """All links with their settings.

        The more special place wins: ``network.link``, then the parameters of a generator, then
        ``network.access`` and ``network.delay_class``, then ``network.links``, then what a topology from
        elsewhere says.
        """
        self._check_classes(network)
        wires = []
        for link in found.links:
            own, common = _of_topology(link), self._common(network, link)
            settings = common | own if is_generated(network) else own | common
            forward, backward = self._weights.of(self._ids[link.a], self._ids[link.b], directed=link.directed)
            if network.delay_class is not None and is_generated(network) and "delay" in own:
                self._check_class_serves(link)
            wires.append(Wire(link, settings | forward, settings | backward))
        for number, entry in enumerate(network.link):
            place = f"network.link[{number}]"
            ends = [self.node(name, f"{place}.between[{end}]") for end, name in enumerate(entry.between)]
            if None in ends:
                continue
            a, b = (self._nodes[end].name for end in ends if end is not None)
            if a == b:
                self.problems.add(f"{place}.between", f"both names mean the node {quoted(a)}")
            elif entry.new:
                one_way = entry.direction != "both"
                first, second = (b, a) if entry.direction == "backward" else (a, b)
                link = TopologyLink(first, second, directed=one_way)
                common, own = self._common(network, link), set_fields(entry)
                ends_of_link = (self._ids[first], self._ids[second])
                forth, back = self._weights.of(*ends_of_link, directed=one_way)
                wires.append(Wire(link, common | forth | own, common | back | own))
            else:
                self._override(wires, (a, b), entry, place)
        return wires

    def _at_host(self, link: TopologyLink) -> bool:
        return any(self.is_host(self._ids[end]) for end in (link.a, link.b))

    def _common(self, network: Network, link: TopologyLink) -> dict[str, Any]:
        """What a link has by its kind: that of all links, and that of links at hosts or between others."""
        common = set_fields(network.links)
        if self._at_host(link):
            return common | set_fields(network.access)
        if network.delay_class is not None:
            common["delay"] = DELAY_CLASSES[network.delay_class]
        return common

    def _check_classes(self, network: Network) -> None:
        if set_fields(network.access) and not any(node.kind == "host" for node in self._nodes):
            self.problems.add(
                "network.access", f"{self.label} marks no hosts, so that no link is at one; use network.links"
            )

    def _check_class_serves(self, link: TopologyLink) -> None:
        """Notes that a generator's parameter sets the delay that the class would draw."""
        if not self._at_host(link):
            self.problems.add(
                "network.delay_class",
                f"the parameters of {self.label} give the links between its nodes a delay; leave out one of "
                "the two",
            )

    def _override(self, wires: list[Wire], ends: tuple[str, str], entry: LinkOverride, place: str) -> None:
        """Changes the settings of the links that an entry means."""
        changed = 0
        settings = set_fields(entry)
        counts: dict[tuple[str, str], int] = defaultdict(int)
        forward, backward = ends, ends[::-1]
        wanted = {"both": (forward, backward), "forward": (forward,), "backward": (backward,)}[
            entry.direction
        ]
        for wire in wires:
            ways = [((wire.link.a, wire.link.b), wire.settings)]
            if not wire.link.directed:
                ways.append(((wire.link.b, wire.link.a), wire.backward))
            for way, target in ways:
                counts[way] += 1
                if way in wanted and entry.index in (None, counts[way]):
                    target.update(settings)
                    changed += 1
        if not changed:
            names = f"{quoted(ends[0])} and {quoted(ends[1])}"
            there = max(counts[forward], counts[backward])
            if there and entry.index is not None:
                message = f"no link {entry.index} between {names}; {self.label} has {there}"
            elif there:
                message = f"no link between {names} in that direction in {self.label}"
            else:
                message = f"no link between {names} in {self.label}; to add one, write new = true"
            self.problems.add(f"{place}.between", message)

    def _free_name(self, origin: int, to: int) -> str:
        """The name of the next link from one node to another."""
        parallel = len(self._between[origin, to])
        name = f"{self.nodes[origin].name}->{self.nodes[to].name}"
        return f"{name}#{parallel + 1}" if parallel else name

    def _add(self, origin: int, to: int, wire: Wire, settings: dict[str, Any], stream: str) -> None:
        capacity = self._capacity(settings, wire)
        queue = settings.get("queue")
        if products_of(queue):
            self.unsized_queues.append(Unsized(len(self.links), queue, f"{wire.place}.queue"))
        if (kind := (id(queue), capacity)) not in self._queues:
            self._queues[kind] = queue, queue_setup(queue, capacity)
        setup = LinkSetup(
            origin=origin,
            to=to,
            name=self._free_name(origin, to),
            capacity=capacity,
            delay=self._delay(settings, wire, stream),
            jitter=None if settings.get("jitter") is None else variate(settings["jitter"]),
            loss=self._loss(settings, wire.link),
            queue=self._queues[kind][1],
            weight=self._weight(settings, wire),
            **{name: core_value(value) for name, value in settings.items() if name not in _RESOLVED},
        )
        self._between[origin, to].append(len(self.links))
        self.links.append(setup)

    def _capacity(self, settings: dict[str, Any], wire: Wire) -> int:
        capacity = settings.get("capacity")
        ends = f"{wire.link.a} - {wire.link.b}"
        if capacity is None:
            self._missing[wire.place, "capacity"].append(ends)
            return 1
        if not _SMALLEST_CAPACITY_BPS <= capacity <= _LARGEST_CAPACITY_BPS:
            self.problems.add(
                f"{wire.place}.capacity",
                f"{int(capacity)} bps on the link {ends} is not between 100 bps and 1000 Tbps",
            )
            return 1
        return int(capacity)

    def _delay(self, settings: dict[str, Any], wire: Wire, stream: str) -> int:
        """Propagation delay in picoseconds; a distribution's is drawn from the stream of that name."""
        delay = settings.get("delay", DEFAULT_DELAY)
        if isinstance(delay, int):
            return int(delay)
        if isinstance(delay, DistanceDelay):
            if wire.link.length_km is None:
                self._missing[wire.place, "delay"].append(f"{wire.link.a} - {wire.link.b}")
                return 0
            # km and m/s: one km at one m/s takes 1e15 ps.
            return round(wire.link.length_km * 1e15 / delay.speed) + delay.plus
        return self._draws.one(delay, stream, "delay")

    def _loss(self, settings: dict[str, Any], link: TopologyLink) -> AnyLoss:
        loss = settings.get("loss", 0.0)
        if isinstance(loss, float) and not 0 <= loss < 1:
            # Only a topology gets here: what the scenario says has been checked.
            self.problems.add(
                "network.links.loss", f"{loss} on the link {link.a} - {link.b} is not at least 0 and below 1"
            )
            loss = 0.0
        return loss_setup(loss)

    def _weight(self, settings: dict[str, Any], wire: Wire) -> int | None:
        """The weight of a link; one that is missing, or cannot be, is noted where routes go by weights."""
        weight, ends = settings.get("weight"), f"{wire.link.a} - {wire.link.b}"
        if isinstance(weight, int | float) and weight == int(weight) and 1 <= weight <= MOST_WEIGHT:
            return int(weight)
        if not self._by_weight or wire.place != _LINKS:
            return None
        if weight is None:
            self._missing[wire.place, "weight"].append(ends)
        else:
            # Only a topology gets here: what the scenario says has been checked.
            self.problems.add(
                "network.topology",
                f"the weight of the link {ends} is {weight:g}; a weight is a whole number from 1 to "
                f"{MOST_WEIGHT:,}",
            )
        return None

    def _note_missing(self, owner: str) -> None:
        """One problem for each setting that some links lack."""
        reasons = {
            "capacity": 'has no capacity of its own; write one, for example "10 Mbps"',
            "delay": 'has neither delay nor length; write a delay, for example "5 ms"',
            "weight": 'has no weight, and routing.metric is "weight"; write one, for example weight = 10, or '
            "give network.weights",
        }
        for (place, field), directions in self._missing.items():
            links = list(dict.fromkeys(directions))
            others = f" (and {len(links) - 1} more)" if len(links) > 1 else ""
            self.problems.add(
                f"{place}.{field}", f"is missing: link {links[0]}{others} of {owner} {reasons[field]}"
            )
        self._missing.clear()


@lru_cache(maxsize=1024)
def loss_setup(loss: float | str | Algorithm) -> AnyLoss:
    """Random loss as a setup has it."""
    if isinstance(loss, int | float):
        loss = Bernoulli.filled({"probability": float(loss)}) if loss > 0 else "none"
    found: AnyLoss = leaf("loss", loss)
    return found


def _node_setup(node: TopologyNode) -> NodeSetup:
    if node.place is None:
        return NodeSetup(node.name)
    place = PlaceSetup(latitude=node.place.latitude, longitude=node.place.longitude)
    return NodeSetup(node.name, place)


def _of_topology(link: TopologyLink) -> dict[str, Any]:
    """What the topology itself says about a link."""
    said = {
        "capacity": link.capacity_bps,
        "delay": link.delay_ps,
        "loss": link.loss,
        "weight": link.weight,
    }
    return {field: value for field, value in said.items() if value is not None}


def set_fields(settings: LinkSettings) -> dict[str, Any]:
    """The settings that somebody gave, by field."""
    values = {field: getattr(settings, field) for field in _FIELDS}
    return {field: value for field, value in values.items() if value is not None}


def _listed(what: str, names: Sequence[str]) -> str:
    """The names, where they are few enough to help."""
    few = ", ".join(json.dumps(name, ensure_ascii=False) for name in names[:12])
    return f"; {what}: {few}" if 0 < len(names) <= 12 else ""
