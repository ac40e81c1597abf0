"""How missing places and lengths are filled: the stated rules, on networks whose answer is known."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.topology import Place, TopologyLink
from anabranch.topology.assemble import assemble
from anabranch.topology.draft import Draft, DraftNode
from anabranch.topology.gaps import MAX_FILLED, fill_places, median_length_km


def vector(place: Place) -> tuple[float, float, float]:
    phi, lam = math.radians(place.latitude), math.radians(place.longitude)
    return math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)


def test_one_node_between_two_across_the_date_line() -> None:
    placed = {"a": Place(0, 179, "file"), "b": Place(0, -177, "file")}
    assert fill_places(placed, ["a", "x", "b"], [("a", "x"), ("x", "b")]) == {
        "x": Place(0.0, -179.0, "filled")
    }


def test_a_parallel_link_counts_twice() -> None:
    placed = {"a": Place(0, 0, "file"), "b": Place(0, 0.3, "file")}
    places = fill_places(placed, ["a", "x", "b"], [("a", "x"), ("a", "x"), ("x", "b")])
    assert places["x"].longitude == pytest.approx(0.1, abs=1e-4)


def test_a_tree_collapses_onto_its_root() -> None:
    placed = {"a": Place(50, 8, "file")}
    places = fill_places(placed, list("axyz"), [("a", "x"), ("x", "y"), ("x", "z")])
    assert places == dict.fromkeys("xyz", Place(50.0, 8.0, "filled"))


def test_a_component_without_any_place_gets_none() -> None:
    placed = {"a": Place(50, 8, "file")}
    assert set(fill_places(placed, list("abxy"), [("a", "b"), ("x", "y")])) == {"b"}
    assert fill_places({}, list("xy"), [("x", "y")]) == {}


def test_between_antipodes_there_is_no_barycentre() -> None:
    placed = {"a": Place(90, 0, "file"), "b": Place(-90, 0, "file")}
    assert fill_places(placed, list("axb"), [("a", "x"), ("x", "b")]) == {}


def test_too_many_gaps_are_left_open() -> None:
    nodes = [str(i) for i in range(MAX_FILLED + 2)]
    links = [(nodes[0], node) for node in nodes[1:]]
    assert fill_places({"0": Place(0, 0, "file")}, nodes, links) == {}
    assert len(fill_places({"0": Place(0, 0, "file"), "1": Place(0, 0, "file")}, nodes, links)) == MAX_FILLED


@given(st.data())
def test_every_filled_node_lies_at_the_barycentre_of_its_neighbours(data: st.DataObject) -> None:
    """The defining property. Places within a few degrees, where unit vectors average like the plane."""
    count = data.draw(st.integers(3, 12))
    parents = [data.draw(st.integers(0, i - 1)) for i in range(1, count)]
    links = [(str(i + 1), str(parent)) for i, parent in enumerate(parents)]
    extra = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(
        lambda pair: pair[0] != pair[1]
    )
    links += [(str(a), str(b)) for a, b in data.draw(st.lists(extra, max_size=8))]
    expected = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=count - 1))
    degrees = st.floats(-2, 2)
    placed = {str(i): Place(data.draw(degrees), data.draw(degrees), "file") for i in sorted(expected)}
    nodes = [str(i) for i in range(count)]
    filled = fill_places(placed, nodes, links)
    assert set(filled) == set(nodes) - set(placed)  # a tree spans all, so all can be placed
    places = placed | filled
    for node in filled:
        neighbours = [b if a == node else a for a, b in links if node in (a, b)]
        mean = [sum(vector(places[n])[axis] for n in neighbours) / len(neighbours) for axis in range(3)]
        # 1e-4 degrees of rounding at each place is 2e-6; curvature over 4 degrees adds less.
        assert math.dist(vector(places[node]), mean) < 5e-3
        assert abs(math.dist(vector(places[node])[1:], mean[1:])) < 2e-4


def test_median_of_positive_lengths() -> None:
    assert median_length_km([0.0, 3.0, 1.0, 10.0]) == 3.0
    assert median_length_km([0.0]) is None
    assert median_length_km([]) is None


def test_an_unplaced_component_gets_the_median_length() -> None:
    nodes = [
        DraftNode("a", coordinates=(0, 0)),
        DraftNode("b", coordinates=(0, 1)),
        DraftNode("x"),
        DraftNode("y"),
    ]
    topology = assemble("t", "t", Draft(nodes, [TopologyLink("a", "b"), TopologyLink("x", "y")]), [])
    assert topology.links[1].length_km == topology.links[0].length_km
    assert [link.length_source for link in topology.links] == ["great-circle", "default"]
    assert [node.place is None for node in topology.nodes] == [False, False, True, True]
    assert any("111.2 km, the median" in sentence for sentence in topology.provenance)
    assert any("have no place" in sentence for sentence in topology.provenance)


def test_a_stub_put_where_it_is_attached_has_no_known_length() -> None:
    nodes = [
        DraftNode("a", coordinates=(0, 0)),
        DraftNode("b", coordinates=(0, 1)),
        DraftNode("x"),
        DraftNode("y"),
    ]
    links = [TopologyLink("a", "b"), TopologyLink("a", "x"), TopologyLink("x", "y", length_km=3.0)]
    topology = assemble("t", "t", Draft(nodes, links), [])
    assert topology.node("x").place == Place(0.0, 0.0, "filled")
    assert [link.length_source for link in topology.links] == ["great-circle", "default", "file"]
    assert [link.length_km for link in topology.links] == [topology.links[0].length_km] * 2 + [3.0]


def test_two_places_of_the_source_may_coincide() -> None:
    nodes = [DraftNode("a", coordinates=(1, 1)), DraftNode("b", coordinates=(1, 1))]
    link = assemble("t", "t", Draft(nodes, [TopologyLink("a", "b")]), []).links[0]
    assert (link.length_km, link.length_source) == (0.0, "great-circle")


def test_names_never_clash() -> None:
    labels = ["A", "A (2)", "A", None, "", "A", " A  (2) "]
    nodes = [DraftNode(f"n{i}", label) for i, label in enumerate(labels)]
    topology = assemble("t", "t", Draft(nodes, []), [])
    assert [node.name for node in topology.nodes] == ["A", "A (2)", "A (3)", "n3", "n4", "A (4)", "A (2) (2)"]
    assert topology.node("n5").name == "A (4)"


def test_many_equal_names_take_linear_time() -> None:
    topology = assemble("t", "t", Draft([DraftNode(str(i), "x") for i in range(20_000)], []), [])
    assert topology.nodes[-1].name == "x (20000)"
