"""Generators: counts by formula, connected, delays and losses where they belong, clear messages."""

from collections import Counter
from typing import Any

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.topology import GENERATORS, Topology, TopologyError, load
from anabranch.topology.generators.finite_field import FiniteField, prime_power

small = st.integers(1, 6)


def check(topology: Topology, nodes: int, links: int) -> None:
    assert len(topology.nodes) == nodes
    assert len(topology.links) == links
    assert topology.is_connected()
    assert topology.provenance
    assert all(node.place is None for node in topology.nodes)
    assert all(link.length_km is None and link.length_source == "none" for link in topology.links)


def degrees(topology: Topology) -> Counter[str]:
    return Counter(end for link in topology.links for end in (link.a, link.b))


@given(small)
def test_line(hops: int) -> None:
    topology = load("line", hops=hops, delay_ps=7)
    check(topology, hops + 1, hops)
    assert all(link.delay_ps == 7 for link in topology.links)
    assert (topology.links[0].a, topology.links[-1].b) == ("source", "sink")


@given(st.integers(1, 40))
def test_dumbbell(hosts: int) -> None:
    topology = load("dumbbell", hosts=hosts, bottleneck_capacity_bps=10**7, access_delay_ps=5)
    check(topology, 2 * hosts + 2, 2 * hosts + 1)
    bottlenecks = [link for link in topology.links if link.label == "bottleneck"]
    assert [(link.a, link.b, link.capacity_bps, link.delay_ps) for link in bottlenecks] == [
        ("router-left", "router-right", 10**7, None)
    ]
    access = [link for link in topology.links if link.label == "access"]
    assert all(link.capacity_bps is None and link.delay_ps == 5 for link in access)
    assert topology.node(f"right{hosts}").kind == "host"


@given(small, small, st.integers(0, 4))
def test_dumbbell_of_unequal_sides_with_a_row_of_bottlenecks(left: int, right: int, middle: int) -> None:
    topology = load("dumbbell", left_hosts=left, right_hosts=right, middle=middle, bottleneck_delay_ps=3)
    check(topology, left + right + middle + 2, left + right + middle + 1)
    assert degrees(topology)["router-left"] == left + 1
    assert degrees(topology)["router-right"] == right + 1
    row = [link for link in topology.links if link.label == "bottleneck"]
    inner = [f"router-middle{number}" for number in range(1, middle + 1)]
    assert [link.a for link in row] == ["router-left", *inner]
    assert [link.b for link in row] == [*inner, "router-right"]
    assert all(link.delay_ps == 3 for link in row)
    assert [topology.node(name).kind for name in inner] == ["router"] * middle


def test_one_side_of_a_dumbbell_may_be_given_alone() -> None:
    assert load("dumbbell", hosts=3, right_hosts=1).name == "dumbbell(left_hosts=3, right_hosts=1)"
    assert load("dumbbell", left_hosts=2, hosts=2) == load("dumbbell", hosts=2)


@given(small, small)
def test_grid(rows: int, columns: int) -> None:
    if rows * columns == 1:
        with pytest.raises(TopologyError, match="no links"):
            load("grid", rows=rows, columns=columns)
        return
    topology = load("grid", rows=rows, columns=columns)
    check(topology, rows * columns, rows * (columns - 1) + columns * (rows - 1))


def test_the_two_by_two_grid_has_two_disjoint_paths_from_corner_to_corner() -> None:
    topology = load("grid", capacity_bps=10**7, delay_ps=10**10)
    ends = {frozenset((link.a, link.b)) for link in topology.links}
    assert ends == {
        frozenset(("router1.1", "router1.2")),
        frozenset(("router1.2", "router2.2")),
        frozenset(("router1.1", "router2.1")),
        frozenset(("router2.1", "router2.2")),
    }
    assert all((link.capacity_bps, link.delay_ps) == (10**7, 10**10) for link in topology.links)


@given(small, st.integers(0, 4))
def test_parking_lot(hops: int, cross: int) -> None:
    topology = load("parking-lot", hops=hops, cross_hosts=cross)
    check(topology, hops + 3 + 2 * hops * cross, hops + 2 + 2 * hops * cross)
    # A router in the middle: two bottlenecks, and the cross traffic that leaves and enters.
    for router in range(2, hops + 1):
        assert degrees(topology)[f"router{router}"] == 2 + 2 * cross


@given(small, small, st.integers(0, 5))
def test_leaf_spine(spines: int, leaves: int, hosts: int) -> None:
    topology = load("leaf-spine", spines=spines, leaves=leaves, hosts_per_leaf=hosts)
    check(topology, spines + leaves + leaves * hosts, spines * leaves + leaves * hosts)
    assert all(degrees(topology)[f"spine{i}"] == leaves for i in range(1, spines + 1))
    assert all(degrees(topology)[f"leaf{i}"] == spines + hosts for i in range(1, leaves + 1))


@settings(deadline=None)
@given(st.sampled_from([2, 4, 6, 8]))
def test_fat_tree(k: int) -> None:
    topology = load("fat-tree", k=k)
    check(topology, 5 * k**2 // 4 + k**3 // 4, 3 * k**3 // 4)
    kinds = Counter(node.kind for node in topology.nodes)
    assert kinds == {"switch": 5 * k**2 // 4, "host": k**3 // 4}
    # Every switch uses all its k ports, every host one (Al-Fares et al. 2008, section 3).
    for node in topology.nodes:
        assert degrees(topology)[node.name] == (k if node.kind == "switch" else 1)
    # Each core switch reaches each pod exactly once, at the aggregation switch of its group.
    for core in (node.name for node in topology.nodes if node.name.startswith("core")):
        group = core.removeprefix("core").partition(".")[0]
        above = [link.a for link in topology.links if link.b == core]
        assert sorted(above) == sorted(f"aggregation{pod}.{group}" for pod in range(1, k + 1))


@given(
    st.lists(
        st.builds(
            dict,
            capacity_bps=st.none() | st.integers(1, 10**12),
            delay_ps=st.none() | st.integers(0, 10**12),
            loss=st.none() | st.floats(0, 1),
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, 4),
)
def test_parallel(paths: list[dict[str, Any]], routers: int) -> None:
    topology = load("parallel", paths=paths, routers_per_path=routers)
    check(topology, 2 + len(paths) * routers, len(paths) * (routers + 1))
    for number, path in enumerate(paths, start=1):
        links = [link for link in topology.links if link.label == f"path{number}"]
        assert links[0].a == "source"
        assert links[-1].b == "sink"
        assert all(link.capacity_bps == path["capacity_bps"] for link in links)
        delays = [link.delay_ps for link in links]
        if path["delay_ps"] is None:
            assert set(delays) == {None}
        else:
            assert sum(delay or 0 for delay in delays) == path["delay_ps"]
        assert links[0].loss == path["loss"]
        assert all(link.loss == (None if path["loss"] is None else 0.0) for link in links[1:])


def test_parallel_by_number_and_by_tables() -> None:
    three = load("parallel", paths=3, delay_ps=10, loss=0.1)
    assert [node.name for node in three.nodes] == ["source", "path1", "path2", "path3", "sink"]
    assert [link.delay_ps for link in three.links] == [5] * 6
    mixed = load(
        "parallel", paths=[{"delay_ps": 3}, {"loss": 0.5, "capacity_bps": None}], delay_ps=10, capacity_bps=9
    )
    assert [link.delay_ps for link in mixed.links] == [2, 1, 5, 5]
    assert [link.capacity_bps for link in mixed.links] == [9] * 4
    assert [link.loss for link in mixed.links] == [None, None, 0.5, 0.0]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("fat-tree", {"k": 3}, "fat-tree: k: 3 is odd; the number of ports must be even: give 2 or 4"),
        ("fat-tree", {"k": 0}, "fat-tree: k: 0 is out of range; give an integer from 2 to 100000"),
        ("fat-tree", {"k": 4.0}, "fat-tree: k: 4.0 is no integer; give an integer from 2 to 100000"),
        ("dumbbell", {"host": 3}, 'dumbbell: there is no parameter "host"; nearest: "hosts"'),
        (
            "dumbbell",
            {"hosts": True},
            "dumbbell: hosts: True is no integer; give an integer from 1 to 100000",
        ),
        (
            "dumbbell",
            {"left_hosts": 0},
            "dumbbell: left_hosts: 0 is out of range; give an integer from 1 to 100000",
        ),
        (
            "dumbbell",
            {"middle": -1},
            "dumbbell: middle: -1 is out of range; give an integer from 0 to 100000",
        ),
        (
            "dumbbell",
            {"hosts": None},
            "dumbbell: hosts: the value is missing; give an integer from 1 to 100000",
        ),
        (
            "dumbbell",
            {"bottleneck_capacity_bps": 0},
            "dumbbell: bottleneck_capacity_bps: 0 is out of range; "
            "give an integer from 1 to 1000000000000000",
        ),
        (
            "line",
            {"delay_ps": -1},
            "line: delay_ps: -1 is out of range; give an integer from 0 to 1000000000000000",
        ),
        ("line", {"loss": float("nan")}, "line: loss: nan is no probability; give a number from 0 to 1"),
        ("line", {"loss": 1.5}, "line: loss: 1.5 is no probability; give a number from 0 to 1"),
        (
            "leaf-spine",
            {"spines": 2000, "leaves": 2000},
            "leaf-spine: the network would have 12000 nodes and 4008000 links; "
            "at most 100000 and 1000000 are made",
        ),
        (
            "parallel",
            {"paths": [{"dely_ps": 3}]},
            'parallel: paths[0]: a path has no "dely_ps"; nearest: "delay_ps"',
        ),
        (
            "parallel",
            {"paths": [{}, {"loss": 2}]},
            "parallel: paths[1].loss: 2 is no probability; give a number from 0 to 1",
        ),
        (
            "parallel",
            {"paths": []},
            "parallel: paths: [] is neither a number nor a list of paths; give an entry for each path",
        ),
    ],
)
def test_wrong_parameters(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(TopologyError) as caught:
        load(name, **parameters)
    assert str(caught.value) == message


def switches(topology: Topology) -> networkx.MultiGraph:
    """The graph of the switches alone."""
    kinds = {node.name: node.kind for node in topology.nodes}
    graph = networkx.MultiGraph()
    graph.add_nodes_from(name for name, kind in kinds.items() if kind == "switch")
    pairs = [(link.a, link.b) for link in topology.links]
    graph.add_edges_from((a, b) for a, b in pairs if kinds[a] == kinds[b] == "switch")
    return graph


def capacity_at(topology: Topology, switch: str, label: str) -> int:
    """The capacity of all links at a switch that have a label."""
    ours = [link for link in topology.links if switch in (link.a, link.b) and link.label == label]
    return sum(link.capacity_bps or 0 for link in ours)


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 6), st.integers(1, 3))
def test_leaf_spine_in_planes(spines: int, leaves: int, hosts: int, planes: int) -> None:
    topology = load("leaf-spine", spines=spines, leaves=leaves, hosts_per_leaf=hosts, planes=planes)
    check(topology, planes * (spines + leaves) + leaves * hosts, planes * (spines * leaves + leaves * hosts))
    ports = degrees(topology)
    assert {ports[node.name] for node in topology.nodes if node.kind == "host"} == {planes}
    # Without the hosts, each plane is a network of its own.
    parts = list(networkx.connected_components(switches(topology)))
    assert len(parts) == planes
    assert {len(part) for part in parts} == {spines + leaves}
    prefixes = {name.partition("-")[0] for part in parts for name in part}
    assert len(prefixes) == (planes if planes > 1 else spines + leaves)


def test_fat_tree_in_planes() -> None:
    topology = load("fat-tree", k=4, planes=2)
    check(topology, 2 * 20 + 16, 2 * 48)
    assert [len(part) for part in networkx.connected_components(switches(topology))] == [20, 20]
    one = networkx.Graph((link.a, link.b) for link in load("fat-tree", k=4).links)
    first = networkx.Graph((a.removeprefix("plane1-"), b.removeprefix("plane1-")) for a, b in (
        (link.a, link.b) for link in topology.links if not any("plane2" in end for end in (link.a, link.b))
    ))  # fmt: skip
    assert set(map(frozenset, first.edges)) == set(map(frozenset, one.edges))


@given(st.integers(1, 8), st.integers(1, 64), st.sampled_from([1, 1.5, 2, 3, 4.0]), st.integers(1, 2))
def test_oversubscription_of_a_leaf_spine(spines: int, hosts: int, ratio: float, planes: int) -> None:
    parameters = {"spines": spines, "leaves": 2, "hosts_per_leaf": hosts, "planes": planes}
    topology = load("leaf-spine", oversubscription=ratio, host_capacity_bps=25 * 10**9, **parameters)
    leaf = "leaf1" if planes == 1 else "plane1-leaf1"
    down, up = capacity_at(topology, leaf, "host"), capacity_at(topology, leaf, "fabric")
    assert down == hosts * 25 * 10**9
    assert down / up == pytest.approx(ratio, rel=1e-6)


def test_oversubscription_of_a_fat_tree() -> None:
    topology = load("fat-tree", k=8, oversubscription=4, host_capacity_bps=10**10)
    assert (
        capacity_at(topology, "edge1.1", "host") == 4 * capacity_at(topology, "edge1.1", "pod") == 4 * 10**10
    )
    assert capacity_at(topology, "core1.1", "core") == 8 * 2_500_000_000
    agreed = load("fat-tree", oversubscription=4, host_capacity_bps=10**10, fabric_capacity_bps=2_500_000_000)
    assert {link.capacity_bps for link in agreed.links} == {10**10, 2_500_000_000}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"oversubscription": 3},
            "leaf-spine: oversubscription: the capacity of the links of hosts",
        ),
        ({"oversubscription": 0, "host_capacity_bps": 9}, "0 is no ratio; give a number above 0"),
        ({"oversubscription": True, "host_capacity_bps": 9}, "True is no ratio"),
        ({"oversubscription": 1e-320, "host_capacity_bps": 9}, "makes inf bps for a fabric link; give a"),
        ({"oversubscription": 1e300, "host_capacity_bps": 9}, "bps for a fabric link; give a ratio that"),
        ({"oversubscription": float("nan"), "host_capacity_bps": 9}, "nan is no ratio"),
        (
            {"oversubscription": 2, "host_capacity_bps": 10, "fabric_capacity_bps": 7},
            "2 makes 5 bps for a fabric link, and fabric_capacity is 7 bps; leave out one of the two",
        ),
        (
            {"oversubscription": 2, "host_capacity_bps": 9, "hosts_per_leaf": 0},
            "leaves without hosts",
        ),
        ({"planes": 0}, "planes: 0 is out of range"),
    ],
)
def test_what_a_fabric_cannot_have(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(TopologyError) as caught:
        load("leaf-spine", **parameters)
    assert message in str(caught.value)


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(0, 3), st.integers(1, 3), st.data())
def test_dragonfly(a: int, p: int, h: int, data: st.DataObject) -> None:
    g = data.draw(st.none() | st.integers(2, a * h + 1))
    topology = load("dragonfly", routers_per_group=a, hosts_per_router=p, global_links=h, groups=g)
    groups = a * h + 1 if g is None else g
    each = a * h // (groups - 1)
    between = groups * (groups - 1) // 2 * each
    check(topology, groups * a * (1 + p), groups * a * (a - 1) // 2 + between + groups * a * p)
    graph = switches(topology)
    assert networkx.diameter(networkx.Graph(graph)) <= 3
    wide = [(link.a, link.b) for link in topology.links if link.label == "global"]
    pairs = Counter(frozenset(end.partition(".")[0] for end in ends) for ends in wide)
    assert len(pairs) == groups * (groups - 1) // 2
    assert set(pairs.values()) == {each}
    ports = Counter(end for ends in wide for end in ends)
    assert max(ports.values()) <= h
    if g is None:  # as large as it gets: every port is in use
        assert set(dict(graph.degree()).values()) == {a + h - 1}


def test_the_dragonfly_of_the_paper() -> None:
    # Kim et al., figure 5: a = 4, p = h = 2 make 9 groups, 36 switches and N = 72 hosts; the diameter is 3.
    topology = load("dragonfly")
    assert Counter(node.kind for node in topology.nodes) == {"switch": 36, "host": 72}
    assert networkx.diameter(networkx.Graph(switches(topology))) == 3
    with pytest.raises(TopologyError, match="10 groups need 9 global links each, and a group has 8"):
        load("dragonfly", groups=10)


@pytest.mark.parametrize("q", [3, 4, 5, 7, 8, 9, 11, 13, 16])
def test_slim_fly(q: int) -> None:
    delta = next(delta for delta in (-1, 0, 1) if (q - delta) % 4 == 0)
    topology = load("slim-fly", q=q)
    degree = (3 * q - delta) // 2
    hosts = -(-degree // 2)
    check(topology, 2 * q * q * (1 + hosts), q * q * degree + 2 * q * q * hosts)
    graph = networkx.Graph(switches(topology))
    assert set(dict(graph.degree()).values()) == {degree}
    assert networkx.diameter(graph) == 2


def test_the_slim_fly_of_seven_links_is_the_graph_of_hoffman_and_singleton() -> None:
    outcome = networkx.Graph(switches(load("slim-fly", hosts_per_router=0)))
    assert networkx.is_isomorphic(outcome, networkx.hoffman_singleton_graph())


@pytest.mark.parametrize(
    ("q", "message"), [(6, "nearest are 5 and 7"), (2, "out of range"), (10, "no power")]
)
def test_a_slim_fly_is_over_a_field(q: int, message: str) -> None:
    with pytest.raises(TopologyError, match=message):
        load("slim-fly", q=q)


@pytest.mark.parametrize(("p", "n"), [(2, 1), (5, 1), (2, 4), (3, 2), (7, 2)])
def test_finite_fields(p: int, n: int) -> None:
    """The axioms, and that the powers of one element are all but 0."""
    field, size = FiniteField(p, n), p**n
    assert prime_power(size) == (p, n)
    assert {field.power(i) for i in range(size - 1)} == set(range(1, size))
    few = range(min(size, 12))
    for a in few:
        assert (field.sum(a, 0), field.product(a, 1), field.product(a, 0)) == (a, a, 0)
        for b in few:
            assert (field.sum(a, b), field.product(a, b)) == (field.sum(b, a), field.product(b, a))
            for c in few:
                assert field.product(a, field.sum(b, c)) == field.sum(
                    field.product(a, b), field.product(a, c)
                )
                assert field.product(a, field.product(b, c)) == field.product(field.product(a, b), c)
    assert [prime_power(q) for q in (1, 6, 12, 100)] == [None] * 4


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.dictionaries(st.text(max_size=3), st.none()), max_size=2),
)


@settings(deadline=None)
@given(st.data(), st.sampled_from(sorted(GENERATORS)))
def test_wrong_values_raise_nothing_else(data: st.DataObject, name: str) -> None:
    names = [parameter.name for parameter in GENERATORS[name].parameters]
    parameters = data.draw(st.dictionaries(st.sampled_from(names), junk, max_size=3))
    try:
        assert load(name, **parameters).is_connected()
    except TopologyError as error:
        assert str(error).startswith(f"{name}: ")


def test_the_registry_describes_every_parameter() -> None:
    assert len(GENERATORS) == 9
    for name, generator in GENERATORS.items():
        assert generator.name == name
        assert generator.summary.endswith(".")
        assert all(parameter.default is not parameter.empty for parameter in generator.parameters)
        for parameter in generator.parameters:
            expected = {"_bps": int | None, "_ps": int | None, "oss": float | None}
            names = [kind for suffix, kind in expected.items() if parameter.name.endswith(suffix)]
            assert parameter.annotation == (names[0] if names else parameter.annotation)
            assert parameter.annotation in (int, int | None, float | None) or parameter.name == "paths"
