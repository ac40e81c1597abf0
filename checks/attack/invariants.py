"""The second part: what holds in every run, computed from the scenario and the tables alone."""

from __future__ import annotations

import heapq
import math
import random
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import clocks
import draws
import orders

STUDIED_OF = 6
"""Of so many scenarios one is run as a study, too."""
LONGEST_S = 60
"""Processor time that all runs of a scenario may take."""
_CAUSES = ("queue", "random", "down", "codel", "fq_codel", "pie", "red", "policed")
_OF_FLOWS = ("unreachable", "corrupted")
"""Causes of drops that are of no link."""
_CONDITIONS = ("shaper", "policer", "reorder", "duplicate", "corrupt")
_LARGEST_TRAIN_BYTES = 70_000

Edges = Mapping[str, Mapping[str, float]]
"""A number for each directed link: a capacity, or a delay."""


@dataclass
class Finding:
    """What a random scenario came to."""

    number: int
    drawn: int = 0
    """How many were drawn until one was valid."""
    complaints: list[str] = field(default_factory=list)
    studied: bool = False
    slow: bool = False
    """Whether real time was over, which says nothing as long as others use the machine."""
    covered: set[str] = field(default_factory=set)
    """Transports, schemes and the like that it has."""


def check_all(count: int, seed: str, processes: int) -> Iterator[Finding]:
    """Draws, runs and checks so many scenarios."""
    pieces = [(seed, number) for number in range(count)]
    yield from clocks.alone_again(_one, pieces, processes, lambda finding: finding.slow)


def _one(given: tuple[str, int]) -> Finding:
    seed, number = given
    finding = Finding(number)
    try:
        with clocks.at_most(LONGEST_S):
            check(f"{seed} scenario {number}", finding)
    except Exception as error:  # noqa: BLE001 - whatever gets here is the find
        finding.slow = isinstance(error, clocks.TooLongError) and error.by_wall
        finding.complaints.append(f"{type(error).__name__}: {error}")
    return finding


def check(seed: str, finding: Finding) -> None:
    """Draws scenarios until one is valid, runs it and notes what does not hold."""
    from anabranch import Scenario, ScenarioError, Study  # noqa: PLC0415 - in the process that runs it

    draw = random.Random(seed)  # noqa: S311 - not for secrets
    while True:
        finding.drawn += 1
        data = draws.scenario(draw)
        try:
            scenario = Scenario.from_data(data)
            scenario.routes()
            # What needs the routes is refused before anything runs, too.
            result = scenario.run()
        except ScenarioError:
            continue
        break
    flows, links = result.flows.to_dicts(), result.links.to_dicts()
    finding.covered = _covered(data)
    note = finding.complaints.append
    finding.complaints += complaints(flows, links, data)
    finding.complaints += orders.violations(orders.rows_of(result.tables), trains=orders.has_trains(data))
    idle = Scenario.from_data(draws.with_idle_host(data)).run()
    if not idle.flows.equals(result.flows):
        different = [name for name in idle.flows.columns if not idle.flows[name].equals(result.flows[name])]
        note(f"an idle host changes {', '.join(different)} of the flows")
    if finding.number % STUDIED_OF == 0:
        finding.studied = True
        in_all = sum(flow["delivered_bytes"] for flow in flows) * 8 / _duration_s(data) / 1e6
        of_study = Study(scenario=scenario).run(jobs=1).runs["delivered_mbps"].item()
        if not math.isclose(of_study, in_all, rel_tol=1e-9):
            note(f"a study says that {of_study} Mbps were delivered in all, and its run {in_all}")


def complaints(flows: list[dict[str, Any]], links: list[dict[str, Any]], data: draws.Data) -> Iterator[str]:
    """What does not hold in the tables of a run."""
    yield from _flow_books(flows, data)
    yield from _link_books(flows, links, data)
    yield from _bounds(flows, data)


def _covered(data: draws.Data) -> set[str]:
    scheme = data.get("routing", {}).get("scheme")
    subjects = {entry["transport"] for entry in data["traffic"]}
    subjects.add(f"scheme {scheme['algorithm'] if isinstance(scheme, dict) else scheme}")
    subjects |= {f"queue {_name(link['queue'])}" for link in data["network"]["link"]}
    subjects |= {f"controller {data['controller']['application']}"} if "controller" in data else set()
    subjects |= {"failure"} if any("state" in event for event in data.get("event", ())) else set()
    hosts = data["network"].get("hosts", {})
    subjects |= {field.replace("_", " ") for field in ("offload", "processing_delay") if field in hosts}
    subjects |= {kind for kind in _CONDITIONS for link in data["network"]["link"] if kind in link}
    return subjects


def _name(queue: object) -> str:
    algorithm = queue.get("algorithm", "fifo") if isinstance(queue, dict) else queue
    return algorithm if isinstance(algorithm, str) and algorithm.replace("-", "").isalpha() else "fifo"


def _duration_s(data: draws.Data) -> float:
    return _number(data["run"]["duration"]) / 1e3


def _number(quantity: str) -> float:
    """The number of a quantity; all here are in ms, Mbps or kB."""
    return float(quantity.partition(" ")[0])


def _flow_books(flows: list[dict[str, Any]], data: draws.Data) -> Iterator[str]:
    """Sent = received + lost + in flight; the causes of losses add up; sizes are what was delivered."""
    duration_s = _duration_s(data)
    for flow in flows:
        name = flow["name"]
        arrived = flow["packets_received"] + flow["drops_data"] + flow["packets_in_flight"]
        arrived += flow["duplicates_received"] - flow["duplicated_packets"]
        if flow["segments_sent"] != arrived:
            sent = flow["segments_sent"]
            yield f"{name}: {sent} segments were sent, and {arrived} came, were lost or are under way"
        caused = sum(flow[f"drops_{cause}"] for cause in (*_CAUSES, *_OF_FLOWS))
        lost = flow["drops_data"] + flow["drops_without_data"] + flow["drops_acks"]
        if caused != lost:
            yield f"{name}: {lost} losses, and {caused} causes"
        done = flow["completion_s"]
        if done is not None and flow["completion_more_than_s"] is not None:
            yield f"{name}: complete and unfinished"
        size = data["traffic"][int(name.split("[")[1].split("]")[0])].get("size")
        if done is not None:
            if flow["start_s"] + done > duration_s + 1e-9:
                yield f"{name}: complete after the run"
            if isinstance(size, str) and flow["delivered_bytes"] != 1000 * _number(size):
                yield f"{name}: complete with {flow['delivered_bytes']} of {size}"
        if not flow["failure"] and flow["goodput_mbps"] is not None:
            over_s = done if done is not None else duration_s - flow["start_s"]
            goodput = flow["delivered_bytes"] * 8 / over_s / 1e6 if over_s > 0 else 0.0
            if not math.isclose(goodput, flow["goodput_mbps"], rel_tol=1e-6, abs_tol=1e-9):
                yield f"{name}: goodput {flow['goodput_mbps']} in place of {goodput}"


def _link_books(flows: list[dict[str, Any]], links: list[dict[str, Any]], data: draws.Data) -> Iterator[str]:
    """No link is busier than always, or carries more than its capacity; all losses are some flow's."""
    duration_s, capacities = _duration_s(data), _capacities(data)
    changed = {frozenset(event["link"]) for event in data.get("event", ()) if "link" in event}
    for link in links:
        if link["from"] not in capacities or link["to"] not in capacities[link["from"]]:
            continue
        mbps = capacities[link["from"]][link["to"]]
        if not 0 <= link["utilization"] <= 1 + 1e-9:
            yield f"{link['name']}: utilization {link['utilization']}"
        if link["bytes"] * 8 > mbps * 1e6 * duration_s + 8 * _LARGEST_TRAIN_BYTES:
            yield f"{link['name']}: {link['bytes']} bytes in {duration_s} s over {mbps} Mbps"
        steady = frozenset((link["from"], link["to"])) not in changed and not any(
            "node" in e for e in data.get("event", ())
        )
        busy = link["bytes"] * 8 / (mbps * 1e6) / duration_s
        slack = 8 * _LARGEST_TRAIN_BYTES / (mbps * 1e6) / duration_s
        if steady and not busy - slack - 1e-9 <= link["utilization"] <= busy + 1e-9:
            yield f"{link['name']}: utilization {link['utilization']}, and its bytes say {busy}"
    if "controller" in data:
        # Its own messages are lost, too, and are no flow's.
        return
    for cause in _CAUSES:
        of_links = sum(link[f"drops_{cause}"] for link in links)
        of_flows = sum(flow[f"drops_{cause}"] for flow in flows)
        if of_flows < of_links or ("hosts" not in data["network"] and of_flows != of_links):
            yield f"drops_{cause}: {of_links} of links, {of_flows} of flows"


def _bounds(flows: list[dict[str, Any]], data: draws.Data) -> Iterator[str]:
    """Goodput within the minimum cut, no completion before bytes and delays allow, no RTT below delays."""
    capacities, delays = _capacities(data), _delays_ms(data)
    pairs: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for flow in flows:
        pairs[flow["from"], flow["to"]].append(flow)
    for (source, target), flows_of_pair in pairs.items():
        cut_mbps = maximum_flow(capacities, source, target)
        one_way_ms = shortest(delays, source, target)
        first_s = min(flow["start_s"] for flow in flows_of_pair)
        most = cut_mbps * 1e6 * max(_duration_s(data) - first_s, 0) / 8
        bytes_ = sum(flow["delivered_bytes"] for flow in flows_of_pair)
        if bytes_ > most * (1 + 1e-9):
            cut = f"through a cut of {cut_mbps} Mbps, which lets {most:.0f} pass"
            yield f"{source} to {target}: {bytes_} bytes {cut}"
        for flow in flows_of_pair:
            if flow["rtt_min_ms"] is not None and flow["rtt_min_ms"] < 2 * one_way_ms - 1e-6:
                yield f"{flow['name']}: an RTT of {flow['rtt_min_ms']} ms, and the way takes {2 * one_way_ms}"
            if flow["completion_s"] is None:
                continue
            # The handshake's round trip, where there is one, and the way of the last byte.
            trips = 1 if flow["transport"] in draws.WITHOUT_HANDSHAKE else 3
            least_s = trips * one_way_ms / 1e3 + flow["delivered_bytes"] * 8 / (cut_mbps * 1e6)
            if flow["completion_s"] < least_s * (1 - 1e-9):
                yield f"{flow['name']}: complete after {flow['completion_s']} s, and it takes {least_s}"


def _capacities(data: draws.Data) -> dict[str, dict[str, float]]:
    """The highest rate that each directed link has at any time, in Mbps."""
    return _of_links(data, "capacity", max)


def _delays_ms(data: draws.Data) -> dict[str, dict[str, float]]:
    """The smallest delay that each directed link has at any time."""
    delays = _of_links(data, "delay", min)
    for link in data["network"]["link"]:
        if "reorder" in link:
            # Chosen packets are spared all of it.
            a, b = link["between"]
            delays[a][b] = delays[b][a] = 0.0
    return delays


def _of_links(data: draws.Data, key: str, best: Any) -> dict[str, dict[str, float]]:
    numbers: dict[str, dict[str, float]] = defaultdict(dict)
    changes = [(event["link"], event[key]) for event in data.get("event", ()) if key in event]
    for (a, b), value in [(link["between"], link[key]) for link in data["network"]["link"]] + changes:
        for one, other in ((a, b), (b, a)):
            number = _number(value)
            numbers[one][other] = best(numbers[one].get(other, number), number)
    return numbers


def maximum_flow(capacities: Edges, source: str, target: str) -> float:
    """The maximum flow, which is the minimum cut (Edmonds and Karp 1972)."""
    left: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for a, row in capacities.items():
        for b, capacity in row.items():
            left[a][b] += capacity
    total = 0.0
    while True:
        before: dict[str, str] = {source: source}
        waiting = deque([source])
        while waiting and target not in before:
            node = waiting.popleft()
            for other, capacity in left[node].items():
                if capacity > 1e-12 and other not in before:
                    before[other] = node
                    waiting.append(other)
        if target not in before:
            return total
        path = [target]
        while path[-1] != source:
            path.append(before[path[-1]])
        steps = list(zip(path[1:], path, strict=False))
        room = min(left[a][b] for a, b in steps)
        for a, b in steps:
            left[a][b] -= room
            left[b][a] += room
        total += room


def shortest(delays: Edges, source: str, target: str) -> float:
    """The smallest delay from one node to another (Dijkstra 1959)."""
    distances: dict[str, float] = {}
    waiting = [(0.0, source)]
    while waiting:
        delay, node = heapq.heappop(waiting)
        if node in distances:
            continue
        distances[node] = delay
        for other, more in delays[node].items():
            heapq.heappush(waiting, (delay + more, other))
    return distances.get(target, math.inf)
