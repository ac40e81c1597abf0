"""Failures of links, nodes, pairs and groups against brute force: own ECMP over networkx, in plain Python."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.plans.failure_loads import FailureLoad, goodput_shares
from anabranch.plans.load_series import busiest_of_series
from anabranch.plans.worst_loads import LinkLoad
from anabranch.report.views.loads import load_tables

ROOT = Path(__file__).parents[2]
Floats = NDArray[np.float64]
Pair = tuple[str, str]
Shares = dict[Pair, dict[Pair, float]]
"""By pair: its share on each directed link."""


class Network:
    """A random network of 6 to 9 nodes with weights, a matrix that fills it, a group and two windows."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)  # noqa: S311 - the same networks each time
        self.seed = seed
        count = 6 + seed % 4
        # A tree keeps it connected; a few more links leave bridges in some of the networks.
        tree = {(rng.randrange(b), b) for b in range(1, count)}
        others = [pair for pair in combinations(range(count), 2) if pair not in tree]
        joined = sorted(tree | set(rng.sample(others, 2 + seed % 5)))
        self.graph = nx.Graph()
        for a, b in joined:
            self.graph.add_edge(f"n{a}", f"n{b}", weight=rng.randint(1, 3), mbps=rng.choice((10, 20, 40)))
        self.nodes = [f"n{number}" for number in range(count)]
        self.edges = [(f"n{a}", f"n{b}") for a, b in joined]
        self.matrix = {
            (a, b): rng.randint(1, 4) for a in self.nodes for b in self.nodes if a != b and rng.random() < 0.7
        }
        self.group = rng.sample(self.edges, 2)
        self.window = rng.choice(self.edges)

    def scenario(self, folder: Path, **changes: object) -> Scenario:
        rows = [f"{a},{b},{mbps}" for (a, b), mbps in self.matrix.items()]
        (folder / "tm.csv").write_text("\n".join(["from,to,rate_mbps", *rows]))
        network = {
            "node": [{"name": name} for name in self.nodes],
            "link": [
                {
                    "between": [a, b],
                    "new": True,
                    "capacity": f"{self.graph[a][b]['mbps']} Mbps",
                    "weight": self.graph[a][b]["weight"],
                }
                for a, b in self.edges
            ],
            "links": {"delay": "1 ms"},
            "risk_group": [{"name": "duct", "links": ["->".join(edge) for edge in self.group]}],
            "maintenance": [
                {"name": "night", "links": ["-".join(self.window)], "from": "22:00", "until": "04:00"}
            ],
        }
        plain = {
            "network": network | changes,
            "routing": {
                "scheme": "ecmp",
                "metric": "weight",
                "demand": {"matrix": {"from": "file:tm.csv"}},
            },
        }
        return Scenario.from_data(plain, base=folder)

    def cases(self, kind: str) -> Iterator[tuple[str, nx.Graph, set[str]]]:
        """Name, what is left, and nodes that are down, by our own count."""
        singles = [("->".join(edge), [edge]) for edge in self.edges]
        night = f"night (22:00 to 04:00) + {'{}'}"
        down: list[tuple[str, list[Pair]]] = {
            "links": singles,
            "pairs": [(f"{a} + {b}", [*one, *two]) for (a, one), (b, two) in combinations(singles, 2)],
            "groups": [("duct", self.group)],
            "maintenance+links": [
                (night.format(name), [self.window, *one]) for name, one in singles if one != [self.window]
            ],
            "nodes": [],
        }[kind]
        for name, edges in down:
            left = self.graph.copy()
            left.remove_edges_from(edges)
            yield name, left, set()
        if kind == "nodes":
            for node in self.nodes:
                left = self.graph.copy()
                left.remove_edges_from(list(self.graph.edges(node)))
                yield node, left, {node}


def ecmp_shares(graph: nx.Graph, pairs: list[Pair]) -> Shares:
    """Shares by equal splitting at each hop; pairs without a path are left out."""
    shares: Shares = {}
    for source, target in pairs:
        distance = nx.single_source_dijkstra_path_length(graph, target)
        if source not in distance:
            continue
        amount, on = {source: 1.0}, dict[Pair, float]()
        for node in sorted(distance, key=lambda node: -distance[node]):
            part = amount.get(node, 0.0)
            if node == target or not part:
                continue
            next_hops = [
                hop
                for hop in graph[node]
                if hop in distance and distance[hop] + graph[node][hop]["weight"] == distance[node]
            ]
            for hop in next_hops:
                on[node, hop] = part / len(next_hops)
                amount[hop] = amount.get(hop, 0.0) + part / len(next_hops)
        shares[source, target] = on
    return shares


def filled(shares: Shares, mbps: dict[Pair, int], capacity: Callable[[Pair], float]) -> dict[Pair, float]:
    """The share of its traffic that each pair gets: all grow alike, until a link of theirs is full."""
    level, growing = dict.fromkeys(shares, 0.0), set(shares)
    while growing:
        steps = [1.0 - level[next(iter(growing))]]
        links = {link for pair in growing for link in shares[pair]}
        for link in links:
            used = sum(shares[pair].get(link, 0) * mbps[pair] * level[pair] for pair in shares)
            rate = sum(shares[pair].get(link, 0) * mbps[pair] for pair in growing)
            steps.append((capacity(link) - used) / rate)
        step = max(0.0, min(steps))
        for pair in growing:
            level[pair] += step
        full = {
            link
            for link in links
            if sum(shares[pair].get(link, 0) * mbps[pair] * level[pair] for pair in shares)
            >= capacity(link) * (1 - 1e-12)
        }
        growing = {pair for pair in growing if level[pair] < 1 - 1e-12 and not full & shares[pair].keys()}
    return level


def check(network: Network, case: FailureLoad, left: nx.Graph, down: set[str]) -> None:
    """One failure against all that brute force says of it."""
    pairs = list(network.matrix)
    shares = ecmp_shares(left, pairs)
    loads: dict[Pair, float] = {}
    for pair, on in shares.items():
        for (a, b), share in on.items():
            loads[a, b] = loads.get((a, b), 0.0) + share * network.matrix[pair] / left[a][b]["mbps"]
    worst = max(loads.values(), default=0.0)
    assert case.load == pytest.approx(worst)
    if worst > 0:
        source, _, target = case.worst_link.partition("->")
        assert loads[source, target] == pytest.approx(worst)
    without = {pair for pair in pairs if pair not in shares}
    assert set(case.stranded) == {pair for pair in without if not down & set(pair)}
    assert case.lost_mbps == pytest.approx(sum(network.matrix[pair] for pair in without))
    gone = {edge for a, b in network.edges if not left.has_edge(a, b) for edge in ((a, b), (b, a))}
    before = ecmp_shares(network.graph, pairs)
    assert case.rerouted_pairs == sum(pair in shares and bool(gone & before[pair].keys()) for pair in pairs)
    got = filled(shares, network.matrix, lambda link: left[link[0]][link[1]]["mbps"])
    less = [pair for pair, share in got.items() if share < 1 - 1e-9]
    assert case.squeezed_pairs == len(less)
    assert case.squeezed_mbps == pytest.approx(sum(network.matrix[pair] for pair in less))
    assert case.goodput_mbps == pytest.approx(sum(network.matrix[pair] * got[pair] for pair in less))


@pytest.mark.parametrize("seed", range(10))
def test_every_failure_equals_brute_force(seed: int, tmp_path: Path) -> None:
    network = Network(seed)
    kinds = ("links", "nodes", "pairs", "groups", "maintenance+links")
    loads = network.scenario(tmp_path).worst_case(failures=",".join(kinds), jobs=2)
    assert loads.failures is not None
    entries = {(case.kind, case.name): case for case in loads.failures}
    expected = {(kind, name): (left, down) for kind in kinds for name, left, down in network.cases(kind)}
    assert entries.keys() == expected.keys()
    for key, (left, down) in expected.items():
        check(network, entries[key], left, down)
    assert any(case.squeezed_pairs for case in loads.failures), "no failure overloads a link"
    # Each link's own worst failure.
    for link in loads.links:
        assert link.headroom is None or link.load * (1 + link.headroom) == pytest.approx(1)
        assert link.failed_load is not None
        if link.failed_by is not None:
            assert link.failed_load > link.load
            assert link.failed_load <= max(case.load for case in loads.failures) * (1 + 1e-9)


def test_threads_change_nothing(tmp_path: Path) -> None:
    one, two = (Network(3).scenario(tmp_path).worst_case(failures="pairs", jobs=jobs) for jobs in (1, 2))
    assert one.failures == two.failures
    assert one.links == two.links


@pytest.mark.parametrize("seed", range(10))
def test_out_of_service_is_a_network_without_it(seed: int, tmp_path: Path) -> None:
    """A link out of service gives the loads of the failure of this link; a node that of the node."""
    network = Network(seed)
    failures = network.scenario(tmp_path).worst_case(failures="links,nodes").failures
    compared = 0
    for case in failures or ():
        out = {"nodes": list(case.nodes)} if case.nodes else {"links": [case.links[0]]}
        scenario = network.scenario(tmp_path, out_of_service=out)
        if case.stranded:
            with pytest.raises(ScenarioError, match=f"cuts off {len(case.stranded)} pairs"):
                scenario.worst_case()
            continue
        loads = scenario.worst_case()
        assert loads.max_load == pytest.approx(case.load)
        assert not {link.link for link in loads.links} & set(case.links)
        compared += 1
    assert compared > 2


def test_filling_by_hand() -> None:
    """8 and 4 Mbps over 6: each gets half. Behind a link of 1 Mbps the second gets a quarter of its own."""
    crossed = [[1.0], [1.0]]
    assert goodput_shares(*arrays(crossed, [8, 4], [6])) == pytest.approx([0.5, 0.5])
    crossed = [[1.0, 0.0], [1.0, 1.0]]
    assert goodput_shares(*arrays(crossed, [8, 4], [6, 1])) == pytest.approx([5 / 8, 1 / 4])


def arrays(
    crossed: list[list[float]], mbps: list[float], capacity: list[float]
) -> tuple[Floats, Floats, Floats]:
    return np.array(crossed), np.array(mbps, float), np.array(capacity, float)


RING = """
[network]
node = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
link = [
  { between = ["a", "b"], new = true },
  { between = ["b", "c"], new = true },
  { between = ["c", "d"], new = true },
  { between = ["d", "a"], new = true },
]
links = { capacity = "10 Mbps", delay = "1 ms" }
[routing]
scheme = "shortest"
demand = { pair = "1 Mbps" }
"""


def ring(more: str = "") -> Scenario:
    return Scenario.from_data(tomllib.loads(RING.replace("[routing]", f"{more}\n[routing]")))


def window(name: str, link: str, begin: str, until: str) -> str:
    return f"""
[[network.maintenance]]
name = "{name}"
links = ["{link}"]
from = "{begin}"
until = "{until}"
"""


def test_windows_that_are_open_together() -> None:
    """22 to 4 and 3 to 5 meet at 3; what ends at 10 does not meet what begins then."""
    scenario = ring(
        window("night", "a->b", "22:00", "04:00")
        + window("early", "c->d", "03:00", "05:00")
        + window("day", "b-c", "09:00", "10:00")
        + window("noon", "b-c", "10:00", "12:00")
    )
    failures = scenario.worst_case(failures="maintenance").failures
    assert failures is not None
    down = {case.name: sorted(set(case.links)) for case in failures}
    assert down == {
        "night (22:00 to 04:00) and early (03:00 to 05:00)": ["a->b", "b->a", "c->d", "d->c"],
        "day (09:00 to 10:00)": ["b->c", "c->b"],
        "night (22:00 to 04:00)": ["a->b", "b->a"],
        "early (03:00 to 05:00)": ["c->d", "d->c"],
    }
    # Both cut the ring in two: 2 times 2 pairs, and back.
    assert {len(case.stranded) for case in failures if " and " in case.name} == {8}


def test_sites_are_the_routers_of_one_place() -> None:
    scenario = ring().replace(
        {
            "network.node": [
                {"name": "a", "latitude": 50.0, "longitude": 8.0},
                {"name": "b", "latitude": 50.0, "longitude": 8.0},
                {"name": "c"},
                {"name": "d"},
            ]
        }
    )
    failures = scenario.worst_case(failures="sites").failures
    assert [(case.name, case.nodes) for case in failures or ()] == [
        ("a, b", ("a", "b")), ("c", ("c",)), ("d", ("d",))
    ]  # fmt: skip
    # No pair of routers that work is cut off, and bounds have no traffic to count.
    assert all(not case.stranded and case.lost_mbps is None for case in failures or ())


def test_groups_of_a_file_of_links(tmp_path: Path) -> None:
    """A column risk_group: a link may be in several; the scenario adds links to the group of that name."""
    rows = ["a,b,duct 7", "b,c,duct 7; bridge", "c,d,", "d,a,"]
    (tmp_path / "links.csv").write_text("\n".join(["from,to,risk_group", *rows]))
    scenario = ring('[[network.risk_group]]\nname = "bridge"\nlinks = ["c->d"]')
    plain = scenario.data(given_only=True)
    plain["network"] = {
        "topology": "file:links.csv",
        "links": {"capacity": "10 Mbps", "delay": "1 ms"},
        "risk_group": plain["network"]["risk_group"],
    }
    failures = Scenario.from_data(plain, base=tmp_path).worst_case(failures="groups").failures
    assert {case.name: {link for link in case.links if link < link[::-1]} for case in failures or ()} == {
        "bridge": {"b->c", "c->d"}, "duct 7": {"a->b", "b->c"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ("linkz", 'no kind "linkz"; nearest: "links"'),
        ("groups", "the scenario has no groups that share a risk"),
        ("maintenance+links", "the scenario has no windows of maintenance"),
        (",", "has no failure"),
    ],
)
def test_kinds_that_are_not_there(kinds: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        ring().worst_case(failures=kinds)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            '[network.out_of_service]\nlinks = ["a->c"]',
            'out_of_service.links[0]: no link "a->c" in this scenario',
        ),
        ('[network.out_of_service]\nnodes = ["x"]', 'out_of_service.nodes[0]: no node "x"'),
        (
            '[network.out_of_service]\nlinks = ["a-b", "c-d"]',
            'cuts off 8 pairs that may have traffic: "a" to "b"',
        ),
        ('[[network.risk_group]]\nname = "g"', "risk_group[0].links: is missing, and so is nodes"),
        ('[[network.risk_group]]\nname = "g"\nlinks = ["a->d#2"]', 'no link "a->d#2"'),
        (
            '[[network.risk_group]]\nname = "g"\nlinks = ["a->d"]\n' * 2,
            'risk_group[1].name: "g" is the name of another one, too',
        ),
        (window("w", "a->b", "25:00", "01:00"), '"25:00" is no time of day; write it like "22:00"'),
        (window("w", "a->b", "01:00", "01:00"), "maintenance[0].until: is the time of from"),
        (window("w", "a->x", "01:00", "02:00"), 'maintenance[0].links[0]: no link "a->x"'),
    ],
)
def test_mistakes(more: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        ring(more).worst_case()
    assert message in str(error.value)


DAY = ROOT / "examples" / "traffic"
OF_A_DAY = {
    "network": {"topology": "zoo/Abilene", "links": {"capacity": "10 Mbps"}},
    "routing": {"scheme": "ecmp", "demand": {"matrix": {"from": "file:day.txt"}}},
}


def test_a_series_is_each_of_its_matrices() -> None:
    """The second of the file is four times the first, the third three times."""
    scenario = Scenario.from_data(OF_A_DAY, base=DAY)
    busiest = busiest_of_series(scenario, failures="links")
    assert busiest.series is not None
    assert [one.demand_mbps for one in busiest.series] == pytest.approx([6.5, 26, 19.5])
    for one in busiest.series:
        alone = scenario.replace({"routing.demand.matrix.number": one.number}).worst_case(failures=True)
        assert alone.worst_failure is not None
        assert (one.load, one.worst_link) == (alone.max_load, alone.worst.link)
        assert (one.failed_load, one.failed_by) == (alone.worst_failure.load, alone.worst_failure.name)
    assert busiest.max_load == max(one.load for one in busiest.series) == busiest.series[1].load
    assert load_tables(busiest, busiest.worst.link)[0].name == "series"


@pytest.mark.parametrize(
    "demand", [{"pair": "1 Mbps"}, {"matrix": {"from": "file:day.txt", "number": 2}}], ids=str
)
def test_no_series(demand: dict[str, object]) -> None:
    scenario = Scenario.from_data(OF_A_DAY | {"routing": {"demand": demand}}, base=DAY)
    with pytest.raises(ScenarioError, match="--series needs a file of several matrices"):
        busiest_of_series(scenario)


def test_when_a_link_is_full() -> None:
    """Half full, and 41.42 % more each year: full in two years; twice full: today."""
    half = LinkLoad("a->b", "a", "b", 10, 0.5)
    assert half.headroom == pytest.approx(1.0)
    assert half.years_until_full(2**0.5 - 1) == pytest.approx(2)
    full = LinkLoad("a->b", "a", "b", 10, 2.0)
    assert (full.headroom, full.years_until_full(0.3)) == (-0.5, 0)
    empty = LinkLoad("a->b", "a", "b", 10, 0.0)
    assert (empty.headroom, empty.years_until_full(0.3)) == (None, None)
    assert half.years_until_full(0.0) is None
