"""Networks, bounds and candidate paths for the tests and the benchmark of robust routing."""

from collections import deque
from collections.abc import Iterable

import numpy as np

from anabranch.routing.robust import Candidates, DemandBounds, FlowNetwork
from anabranch.topology import load

NSFNET_LINKS = (
    "1-2 1-3 1-8 2-3 2-4 3-6 4-5 4-11 5-6 5-7 6-10 6-14 7-8 8-9 9-10 9-12 9-13 11-12 11-13 12-14 13-14"
)
"""The 14-node, 21-link NSFNET of Fukushima et al. 2016, figure 8."""


def network(node_count: int, links: Iterable[tuple[int, int]], capacity_mbps: float = 500.0) -> FlowNetwork:
    """A network of links in both directions, with equal capacities; nodes are called 1, 2, ..."""
    ends = [pair for a, b in links for pair in ((a, b), (b, a))]
    names = tuple(str(node + 1) for node in range(node_count))
    tail, head = np.array(ends).T
    return FlowNetwork(names, tail, head, np.full(len(ends), capacity_mbps), np.ones(len(ends)))


def nsfnet() -> FlowNetwork:
    """NSFNET with 500 Mbps on every link."""
    links = [link.split("-") for link in NSFNET_LINKS.split()]
    return network(14, [(int(a) - 1, int(b) - 1) for a, b in links])


def sndlib(name: str) -> FlowNetwork:
    """A network of SNDlib with 500 Mbps on every link; parallel links count once."""
    topology = load(f"sndlib/{name}")
    index = {node.name: number for number, node in enumerate(topology.nodes)}
    links = {tuple(sorted((index[link.a], index[link.b]))) for link in topology.links}
    return network(len(index), sorted((a, b) for a, b in links))


def uniform_bounds(node_count: int, hose_mbps: float = 130.0, pipe_mbps: float = 50.0) -> DemandBounds:
    """The bounds of the paper's section 6: R = C = 130 Mbps, w = 50 Mbps."""
    hose = np.full(node_count, hose_mbps)
    return DemandBounds(hose, hose, np.full((node_count, node_count), pipe_mbps))


def shortest_candidates(net: FlowNetwork, bounds: DemandBounds, count: int) -> Candidates:
    """The `count` shortest paths of each pair by hops, ties by node numbers, lowest first."""
    source, target = bounds.pairs()
    pairs = zip(source.tolist(), target.tolist(), strict=True)
    search = _Shortest(net)
    return Candidates.from_paths(net, {pair: search.paths(*pair, count) for pair in pairs})


class _Shortest:
    """Enumerates simple paths by length, each length in the order of its node numbers."""

    def __init__(self, net: FlowNetwork) -> None:
        nodes = len(net.nodes)
        arcs = zip(net.tail.tolist(), net.head.tolist(), range(net.arc_count), strict=True)
        self._out: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
        self._back: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
        for tail, head, arc in arcs:
            if net.capacity_mbps[arc] > 0:
                self._out[tail].append((head, arc))
                self._back[head].append((tail, arc))
        for arcs_out in self._out:
            arcs_out.sort()
        self._hops = [self._hops_to(target, set(), set()) for target in range(nodes)]

    def paths(self, source: int, target: int, count: int) -> list[list[int]]:
        hops = self._hops[target]
        entries: list[list[int]] = []
        if source not in hops or not count:
            return entries
        # Nearly always there are enough among the paths that are little longer than the shortest.
        for length in range(hops[source], hops[source] + 3):
            self._extend([], {source}, (source, target, length), hops, entries, count)
            if len(entries) >= count:
                return entries
        return self._by_deviation(source, target, count)

    def _by_deviation(self, source: int, target: int, count: int) -> list[list[int]]:
        """Yen's method: every next path leaves one of those before it at some node."""
        entries: list[tuple[int, list[tuple[int, int]]]] = []
        waiting = [(self._hops[target][source], self._least(source, target, set(), set()))]
        while waiting and len(entries) < count:
            waiting.sort()
            entries.append(waiting.pop(0))
            last = entries[-1][1]
            for at in range(len(last)):
                root = last[:at]
                dropped = {path[at] for _, path in entries if path[:at] == root}
                nodes = {source, *(head for head, _ in root)}
                spur = root[-1][0] if root else source
                rest = self._least(spur, target, nodes - {spur}, dropped)
                whole = (len(root) + len(rest), root + rest)
                if rest and whole not in waiting:
                    waiting.append(whole)
        return [[arc for _, arc in path] for _, path in entries]

    def _least(
        self, source: int, target: int, nodes: set[int], dropped: set[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """The first of the shortest paths without these nodes and first steps, as (node, arc)."""
        arcs = {arc for _, arc in dropped}
        hops = self._hops_to(target, nodes, arcs)
        path: list[tuple[int, int]] = []
        at = source
        while at != target and at in hops:
            step = next(
                (head, arc) for head, arc in self._out[at]
                if arc not in arcs and hops.get(head, -1) == hops[at] - 1
            )  # fmt: skip
            path.append(step)
            at = step[0]
        return path

    def _hops_to(self, target: int, nodes: set[int], arcs: set[int]) -> dict[int, int]:
        hops = {target: 0}
        waiting = deque([target])
        while waiting:
            node = waiting.popleft()
            for before, arc in self._back[node]:
                if before not in hops and before not in nodes and arc not in arcs:
                    hops[before] = hops[node] + 1
                    waiting.append(before)
        return hops

    def _extend(
        self, path: list[int], visited: set[int], left: tuple[int, int, int], hops: dict[int, int],
        outcome: list[list[int]], count: int,
    ) -> None:  # fmt: skip
        at, target, length = left
        if at == target:
            outcome.append(list(path))
            return
        for head, arc in self._out[at]:
            # Just as long as wanted: the target is entered by the last arc only.
            if len(outcome) >= count or head in visited or hops.get(head, length) > length - 1:
                continue
            if head == target and length > 1:
                continue
            path.append(arc)
            visited.add(head)
            self._extend(path, visited, (head, target, length - 1), hops, outcome, count)
            visited.remove(head)
            path.pop()


def random_network(random: np.random.Generator, node_count: int, extra_links: int) -> FlowNetwork:
    """A connected network: a random tree and more links, each arc with a capacity of its own."""
    links = [(int(random.integers(node)), node) for node in range(1, node_count)]
    links += [tuple(random.choice(node_count, 2, replace=False).tolist()) for _ in range(extra_links)]
    plain = network(node_count, links)
    capacity = random.choice([50.0, 100.0, 155.0, 622.0], plain.arc_count)
    return FlowNetwork(plain.nodes, plain.tail, plain.head, capacity, plain.delay_ms)


def random_bounds(random: np.random.Generator, node_count: int, kind: str) -> DemandBounds:
    """Hose, pipe or both, with numbers that do not divide each other, and some pairs without traffic."""
    ingress, egress = random.uniform(20, 100, (2, node_count))
    pair = random.uniform(5, 60, (node_count, node_count))
    pair[random.random(pair.shape) < 0.1] = 0.0
    if kind == "hose":
        return DemandBounds.hose(ingress, egress)
    return DemandBounds.pipe(pair) if kind == "pipe" else DemandBounds(ingress, egress, pair)
