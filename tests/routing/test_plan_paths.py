"""What next hops make of a pair's packets, by hand."""

import pytest

from anabranch import Scenario
from anabranch.plan_paths import NextHops, WeightedPath, unrolled, walked, walked_from
from anabranch.setup import resolve
from anabranch.setup.model import LinkSetup

NAMES = ("a->b", "b->a", "b->c", "a->c")


def links() -> tuple[list[LinkSetup], dict[str, int]]:
    """The links of a triangle, and the numbers of some."""
    link = {"capacity": "10 Mbps", "delay": "1 ms", "new": True}
    data = {
        "network": {
            "node": [{"name": name} for name in "abc"],
            "link": [{"between": list(ends), **link} for ends in ("ab", "bc", "ac")],
        },
        "traffic": [{"from": "a", "to": "c", "size": "100 kB"}],
        "run": {"duration": "5 s"},
    }
    found = resolve(Scenario.from_data(data)).links
    return found, {link.name: number for number, link in enumerate(found) if link.name in NAMES}


def test_a_node_splits_in_the_proportion_of_its_weights() -> None:
    """One part of four goes by way of b: weights of 1 and 3."""
    found, at = links()
    next_hops = {0: {at["a->b"]: 1, at["a->c"]: 3}, 1: {at["b->c"]: 1}}
    nodes, crossed = walked(found, next_hops, (0, 2))
    assert nodes == {0: 1.0, 1: 0.25, 2: 1.0}
    assert crossed == {at["a->b"]: 0.25, at["a->c"]: 0.75, at["b->c"]: 0.25}
    paths = [WeightedPath((at["a->b"], at["b->c"]), 0.25), WeightedPath((at["a->c"],), 0.75)]
    assert unrolled(found, next_hops, (0, 2), 2) == paths
    assert unrolled(found, next_hops, (0, 2), 1) is None


def test_a_circle_ends() -> None:
    """From b half goes back to a, and from there to b again: no path has more links than the network."""
    found, at = links()
    next_hops = {0: {at["a->b"]: 1}, 1: {at["b->a"]: 1, at["b->c"]: 1}}
    paths = unrolled(found, next_hops, (0, 2), 100)
    assert paths is not None
    assert paths[-1] == WeightedPath((at["a->b"], at["b->c"]), 0.5)
    assert max(len(path.links) for path in paths) <= len(found)


@pytest.mark.parametrize("circle", [False, True])
def test_many_origins_are_as_each_alone(circle: bool) -> None:
    """In the circle, b sends half of what it has back to a."""
    found, at = links()
    next_hops: NextHops = {0: {at["a->b"]: 1, at["a->c"]: 3}, 1: {at["b->c"]: 1}}
    if circle:
        next_hops = {0: {at["a->b"]: 1}, 1: {at["b->a"]: 1, at["b->c"]: 1}}
    shares = walked_from(found, next_hops, [0, 1], 2)
    for origin, row in enumerate(shares.tolist()):
        alone = walked(found, next_hops, (origin, 2))[1]
        assert row == [alone.get(link, 0.0) for link in range(len(found))]
    assert shares[1, at["b->c"]] == (0.5 if circle else 1.0)
