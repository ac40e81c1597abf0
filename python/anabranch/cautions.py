"""Warnings about settings that do nothing, and about results that hang on a phase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from anabranch import _core
from anabranch.scenario.quantity import Rate, Span, quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup.chance import is_noisy
from anabranch.setup.model import LinkSetup, Setup
from anabranch.topology.readers.attributes import UNREAD

_NEARLY = 1.1
"""Round-trip times are nearly equal up to this ratio."""


def cautions(scenario: Scenario, setup: Setup, plan: _core.Plan) -> list[str]:
    """What will run and yet can hardly be meant, a line for each."""
    return [
        *(f"network.topology: {note}" for note in setup.provenance if note.startswith(UNREAD)),
        *_unused_transports(scenario, setup),
        *_idle_ecn(scenario, setup),
        *_above_line_rate(setup),
        *_after_the_end(setup),
        *_unheard_addresses(setup),
        *_phases(setup.of_routing(0), plan),
    ]


def _unused_transports(scenario: Scenario, setup: Setup) -> Iterator[str]:
    used = {transport.name for transport in setup.transports}
    for name in scenario.transport:
        if name not in used:
            yield f"transport.{name}: no traffic uses it, so that it changes nothing"


def _idle_ecn(scenario: Scenario, setup: Setup) -> Iterator[str]:
    """ECN takes both: queues that mark, and transports that react to it."""
    capable = [transport.name for transport in setup.transports if _is_capable(transport.config)]
    changed = [event.change["queue"]["discipline"] for event in setup.events if "queue" in event.change]
    marking = [link for link in setup.links if _marks(link.queue.discipline)]
    if capable and not marking and not any(map(_marks, changed)):
        for name in capable:
            if name in scenario.transport and scenario.transport[name].ecn:
                yield f"transport.{name}.ecn: no queue marks packets, so that it changes nothing"
    if marking and not capable:
        queue = str(marking[0].queue.discipline["algorithm"])
        yield (
            f"queue of {marking[0].name}: {queue} marks packets of transports with ecn = true, and no "
            "traffic uses one, so that it marks nothing"
        )


def _is_capable(config: dict[str, object]) -> bool:
    tcp = config.get("tcp", config)
    return isinstance(tcp, dict) and bool(tcp.get("ecn"))


def _marks(discipline: dict[str, object]) -> bool:
    return discipline["algorithm"] == "threshold" or discipline.get("ecn") is True


def _above_line_rate(setup: Setup) -> Iterator[str]:
    """UDP that its own host cannot send: a real one would not be lost there, but never be sent."""
    capacity: dict[int, int] = defaultdict(int)
    for link in setup.links:
        capacity[link.origin] += link.capacity
    for flow in setup.datagrams:
        rate = flow.source.get("rate")
        if isinstance(rate, int) and rate > capacity[flow.origin]:
            node = setup.nodes[flow.origin].name
            yield (
                f"{flow.name}: {Rate(rate).text} is above what the links of {quoted(node)} carry, "
                f"{Rate(capacity[flow.origin]).text}: the rest is dropped where it is sent"
            )
            return


def _after_the_end(setup: Setup) -> Iterator[str]:
    """Flows that begin when the run is over, entry by entry."""
    flows, end = setup.flows, setup.duration
    late, every = (np.bincount(which, minlength=len(flows.entries))
                   for which in (flows.entry[flows.start >= end], flows.entry))  # fmt: skip
    counts = {entry.name: (int(late[n]), int(every[n])) for n, entry in enumerate(flows.entries) if late[n]}
    for flow in setup.datagrams:
        name = flow.name.rpartition(".")[0]
        before = counts.get(name, (0, 0))
        counts[name] = (before[0] + (flow.start >= end), before[1] + 1)
    for name, (count, of) in counts.items():
        if count:
            yield (
                f"{name}: {count:,} of {of:,} flows {'begins' if count == 1 else 'begin'} when the run is "
                f"over, at {Span(end).text}, and nothing of them is in the results; give a longer "
                "run.duration, or an earlier start"
            )


def _unheard_addresses(setup: Setup) -> Iterator[str]:
    """Addresses of a host that receives which its connections cannot hear of, each connection once."""
    managers = [transport.config.get("path_manager") for transport in setup.transports]
    gone: dict[int, set[int]] = defaultdict(set)
    told: set[str] = set()
    for event in setup.events:
        if event.change["kind"] != "address":
            continue
        link = int(str(event.change["link"]))
        host = setup.links[link].origin
        (gone[host].discard if event.change["up"] else gone[host].add)(link)
        addresses = {number for number, other in enumerate(setup.links) if other.origin == host}
        name, at = quoted(setup.nodes[host].name), Span(event.at).text
        for flow in setup.flows:
            manager = managers[flow.transport]
            hears = isinstance(manager, dict) and manager["algorithm"] == "fullmesh"
            if flow.to != host or flow.start >= event.at or not hears or flow.name in told:
                continue
            if gone[host] == addresses:
                told.add(flow.name)
                yield (
                    f"{flow.name}: {name} has no address at {at}, and only the end that sends data opens "
                    "subflows: the connection waits from then on, whatever address comes up"
                )
            elif event.change["up"] and isinstance(manager, dict) and manager["add_addr_accepted"] == 0:
                told.add(flow.name)
                yield (
                    f"{flow.name}: {name} announces an address at {at}, and add_addr_accepted of its path "
                    "manager is 0, as in a stock kernel, so that no subflow goes there"
                )


def _phases(setup: Setup, plan: _core.Plan) -> Iterator[str]:
    """Phase effects (Floyd and Jacobson 1992): a drop-tail queue meets the same flow over and over."""
    if is_noisy(setup):
        return

    def path(origin: int, to: int) -> list[LinkSetup]:
        paths = plan.paths(origin, to) or []
        return [setup.links[link] for links, _ in paths[:1] for link in links]

    rtts: dict[str, list[int]] = defaultdict(list)
    for origin, to, flows in setup.flows.pairs_with("unlimited"):
        there, back = path(origin, to), path(to, origin)
        narrow = min(there, key=lambda link: link.capacity, default=None)
        if narrow and narrow.queue.discipline["algorithm"] == "fifo":
            rtts[narrow.name] += [sum(link.delay for link in (*there, *back))] * flows
    for name, found in rtts.items():
        if min(found) < max(found) <= _NEARLY * min(found):
            yield (
                f"phase effects: {len(found)} flows of nearly equal round-trip times share the drop-tail "
                f"queue of {quoted(name)}, and nothing is random under way: the phase of their packets "
                "decides who loses, and one flow may get many times the share of another. Add a jitter to "
                "network.access, "
                'such as { distribution = "uniform", low = "0 ms", high = "1 ms" }, or take another queue'
            )
            return
