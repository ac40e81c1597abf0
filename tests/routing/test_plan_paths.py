"""What the core makes of a pair's packets on their way through a plan, by hand."""

import json

import numpy as np
import pytest

from anabranch import _core

AB, BA, BC, AC, CD = range(5)
ENDS = np.array([1, 0, 2, 2, 3], dtype=np.uint32)
"""The node behind each link: a->b, b->a, b->c, a->c, c->d."""


NextHops = list[tuple[int, list[int]]]


def planned(tables: list[tuple[int, NextHops]], *pairs: tuple[int, int]) -> _core.PlannedPaths:
    """Pairs that go hop by hop."""
    routes = [{"from": a, "to": b, "paths": []} for a, b in pairs]
    plain = [{"to": to, "next": next_hops} for to, next_hops in tables]
    return _core.Plan(json.dumps({"routes": routes, "tables": plain})).over(ENDS)


def test_each_node_splits_equally_and_shares_join_again() -> None:
    """Half of a's packets goes by way of b; all of them cross c->d."""
    paths = planned([(3, [(0, [AB, AC]), (1, [BC]), (2, [CD])])], (0, 3), (1, 3))
    assert paths.hops(0, 3) == [(0, 1.0, [AB, AC]), (1, 0.5, [BC]), (2, 1.0, [CD])]
    assert dict(paths.shares(0, 3)) == {AB: 0.5, AC: 0.5, BC: 0.5, CD: 1.0}
    assert paths.paths(0, 3, 2) == [([AB, BC, CD], 0.5), ([AC, CD], 0.5)]
    assert paths.paths(0, 3, 1) is None
    places, links, shares = paths.link_shares()
    rows = sorted(zip(places.tolist(), links.tolist(), shares.tolist(), strict=True))
    assert rows == [(0, AB, 0.5), (0, BC, 0.5), (0, AC, 0.5), (0, CD, 1.0), (1, BC, 1.0), (1, CD, 1.0)]
    # Together: 8 of a, of which half goes by way of b, and 3 of b.
    assert paths.link_loads(np.array([8.0, 3.0])).tolist() == [4.0, 0.0, 7.0, 4.0, 11.0]
    assert [paths.shares_on(link).tolist() for link in (AB, BC, CD)] == [[0.5, 0.0], [0.5, 1.0], [1.0, 1.0]]
    with pytest.raises(ValueError, match="one amount for each route"):
        paths.link_loads(np.array([1.0]))
    assert paths.longest(0, 3, np.array([5, 1, 7, 20, 100], dtype=np.uint64)) == 120
    assert paths.longest(1, 3, np.array([5, 1, 7, 20, 100], dtype=np.uint64)) == 107


def test_paths_of_a_pair_have_links_in_common() -> None:
    """Shares on links are sums of the weights; a pair without a route has none."""
    route = {
        "from": 0,
        "to": 3,
        "paths": [{"links": [AB, BC, CD], "weight": 0.25}, {"links": [AC, CD], "weight": 0.75}],
    }
    paths = _core.Plan(json.dumps({"routes": [route], "tables": []})).over(ENDS)
    assert dict(paths.shares(0, 3)) == {AB: 0.25, BC: 0.25, CD: 1.0, AC: 0.75}
    assert dict(paths.shares(0, 3)) == dict(_core.shares_along([([AB, BC, CD], 0.25), ([AC, CD], 0.75)]))
    assert paths.link_loads(np.array([8.0])).tolist() == [2.0, 0.0, 2.0, 6.0, 8.0]
    assert [paths.shares_on(link).tolist() for link in (AC, CD, BA)] == [[0.75], [1.0], [0.0]]
    assert paths.longest(0, 3, np.array([5, 1, 7, 20, 100], dtype=np.uint64)) == 120
    assert (paths.shares(3, 0), paths.paths(3, 0, 9), paths.hops(3, 0)) == ([], [], [])


def test_a_node_splits_in_the_proportion_of_its_weights() -> None:
    """One part of four goes by way of b: weights of 1 and 3."""
    shares = _core.shares_by_weight(ENDS, {0: [(AB, 1), (AC, 3)], 1: [(BC, 1)]}, 0, 2)
    assert dict(shares) == {AB: 0.25, AC: 0.75, BC: 0.25}
    with pytest.raises(ValueError, match="a next hop is no link"):
        _core.shares_by_weight(ENDS, {0: [(9, 1)]}, 0, 2)


def test_a_circle_ends() -> None:
    """From b half goes back to a, and from there to b again: no path has more links than the network."""
    paths = planned([(2, [(0, [AB]), (1, [BA, BC])])], (0, 2))
    outcome = paths.paths(0, 2, 100)
    assert outcome is not None
    assert outcome[-1] == ([AB, BC], 0.5)
    assert max(len(links) for links, _ in outcome) <= len(ENDS)
    assert dict(paths.shares(0, 2)) == {AB: 1.0, BA: 0.5, BC: 0.5}


@pytest.mark.parametrize(
    ("tables", "pairs", "words"),
    [
        ([(2, [(0, [7])])], [(0, 2)], "there is no link 7"),
        ([(2, [(1, [BC]), (0, [AB])])], [(0, 2)], "out of order"),
        ([(2, [(0, [AC])])], [(1, 2), (0, 2)], "out of order"),
    ],
)
def test_a_plan_that_cannot_be_walked_along_is_refused(
    tables: list[tuple[int, NextHops]], pairs: list[tuple[int, int]], words: str
) -> None:
    with pytest.raises(_core.SetupError, match=words):
        planned(tables, *pairs)


def test_plans_are_joined_where_they_agree() -> None:
    """The first plan's route stands where two lead a pair other ways."""

    def plan(path: list[int], table: list[tuple[int, list[int]]]) -> _core.Plan:
        route = {"from": 0, "to": 2, "paths": [{"links": path, "weight": 1.0}]}
        return _core.Plan(json.dumps({"routes": [route], "tables": [{"to": 3, "next": table}]}))

    one, other = plan([AC], [(2, [CD])]), plan([AB, BC], [(0, [AC]), (2, [CD])])
    joined, apart = one.with_others([other]).merged()
    assert apart == [(0, 2)]
    assert joined.data() == {
        "routes": [{"from": 0, "to": 2, "paths": [{"links": [AC], "weight": 1.0}]}],
        "tables": [{"to": 3, "next": [(0, [AC]), (2, [CD])]}],
    }
    assert one.completed(other).data() == joined.data()
    assert one.with_others([one]).merged()[1] == []
