"""The network as a figure: colours are the tables' values, routes the plan's shares, land where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from made_run import made_run
from matplotlib.collections import PatchCollection
from matplotlib.patches import PathPatch

from anabranch import Result, ResultError, Scenario
from anabranch.report.plots.pair_routes import pair_shares
from anabranch.report.plots.plot import Plot

EXAMPLES = Path(__file__).parents[2] / "examples"

SPRAYED = """
title = "Abilene: sprayed over two paths"
[network]
topology = "zoo/Abilene"
[network.links]
capacity = "10 Mbps"
delay = { from = "distance", speed = "200 km/ms", plus = "1 ms" }
[routing]
scheme = "disjoint"
load_balancing = "packet"
[[traffic]]
from = "Seattle"
to = "Atlanta"
[[event]]
at = "1 s"
link = ["Denver", "Kansas City"]
state = "down"
[run]
duration = "2 s"
"""


@pytest.fixture(scope="module")
def abilene() -> Result:
    return Scenario.loads(SPRAYED).run()


def links_of(plot: Plot) -> PatchCollection:
    """The links of a map."""
    (entry,) = [each for each in plot.axes.collections if isinstance(each, PatchCollection)]
    return entry


@pytest.mark.parametrize(
    ("by", "column", "factor"), [("utilization", "utilization", 100.0), ("queue", "queue_max_packets", 1.0)]
)
def test_colours_are_the_whole_run(abilene: Result, by: Any, column: str, factor: float) -> None:
    values = links_of(abilene.plot.network(by=by)).get_array()
    np.testing.assert_allclose(values, abilene.links[column] * factor)
    assert max(values) > 0


def test_drops_of_the_whole_run_are_those_of_all_causes() -> None:
    # Queue and random loss of each link of the made run.
    assert list(links_of(made_run().plot.network(by="drops")).get_array()) == [0, 4, 8]


@pytest.mark.parametrize(
    ("by", "values"), [("utilization", [60, 4, 2]), ("queue", [0, 2, 4]), ("drops", [0, 1, 2])]
)
def test_colours_at_an_instant_are_those_of_the_sample_it_falls_into(by: Any, values: list[float]) -> None:
    # Samples are at 1, 2, 3 and 4 s, and speak of the time before: 1.5 s belongs to that at 2 s. Throughputs
    # are then 6, 4 and 2 Mbps over 10, 100 and 10, of which the last one has 2 / 10.
    plot = made_run().plot.network(by=by, at_s=1.5)
    expected = [60, 4, 20] if by == "utilization" else values
    assert list(links_of(plot).get_array()) == pytest.approx(expected)
    assert "at 2 s" in plot.figure.axes[1].get_xlabel()


def test_an_instant_outside_of_the_run_is_refused() -> None:
    with pytest.raises(ResultError, match=r"at_s: there is no sample at 9 s; samples go from 1 s to 4 s"):
        made_run().plot.network(at_s=9)


def test_a_link_that_is_down_has_no_colour() -> None:
    # a->b is down from 2 s to 3 s; the sample at 3 s speaks of that time.
    down = [patch for patch in made_run().plot.network(at_s=3).axes.patches if patch.get_linestyle() != "-"]
    assert len(down) == 1
    up = [patch for patch in made_run().plot.network(at_s=4).axes.patches if patch.get_linestyle() != "-"]
    assert up == []


def test_routes_are_outlined_with_their_shares(abilene: Result) -> None:
    routes = abilene.tables["routes"].filter((pl.col("from") == "Seattle") & (pl.col("to") == "Atlanta"))
    assert routes.height == 2
    wanted: dict[int, float] = {}
    for weight, links in routes.select("weight", "links").iter_rows():
        for link in links:
            wanted[link] = wanted.get(link, 0.0) + weight / routes["weight"].sum()
    assert pair_shares(abilene, ("Seattle", "Atlanta")) == pytest.approx(wanted)
    plot = abilene.plot.network(pair=("Seattle", "Atlanta"))
    shown = [text.get_text() for text in plot.axes.texts if "%" in text.get_text()]
    # Disjoint paths: no link has both, and the first of each says its path's share.
    total = routes["weight"].sum()
    assert sorted(shown) == sorted(f"{100 * weight / total:.3g} %" for weight in routes["weight"])
    alpha = links_of(plot).get_alpha()
    assert [link for link, value in enumerate(alpha) if value == 1] == sorted(wanted)


def test_shares_hop_by_hop_split_equally() -> None:
    result = Scenario.load(EXAMPLES / "leaf_spine.toml", {"run.duration": "2 ms"}).run()
    names = result.links["name"].to_list()
    ends = dict(zip(names, result.links.select("from", "to").rows(), strict=True))
    (source, destination) = next(
        pair for pair in result.flows.select("from", "to").iter_rows() if pair[0][:5] != pair[1][:5]
    )
    shares = {names[link]: share for link, share in pair_shares(result, (source, destination)).items()}
    # Up to a leaf, over each of the spines with the same share, down from a leaf.
    spines = [name for name in result.tables["nodes"]["name"] if name.startswith("spine")]
    assert len(spines) == 4
    through = [share for name, share in shares.items() if "spine" in ends[name][1]]
    assert through == [0.25] * 4
    assert sorted(shares.values()) == [0.25] * 8 + [1.0] * 2


def test_pairs_that_are_not_there_are_told(abilene: Result) -> None:
    with pytest.raises(ResultError, match='pair: no node "Seatle"; nearest: "Seattle"'):
        abilene.plot.network(pair=("Seatle", "Atlanta"))
    with pytest.raises(ResultError, match=r'no routes from "Denver" to "Houston".*"Seattle", "Atlanta"'):
        abilene.plot.network(pair=("Denver", "Houston"))
    with pytest.raises(ResultError, match="does not hold its routes"):
        made_run().plot.network(pair=("a", "c"))


def test_cities_lie_on_land_and_the_gulf_does_not(abilene: Result) -> None:
    axes = abilene.plot.network().axes
    land = next(patch for patch in axes.patches if isinstance(patch, PathPatch))
    (nodes,) = [line for line in axes.get_lines() if line.get_marker() == "o"]
    names = abilene.tables["nodes"]["name"].to_list()
    places = dict(zip(names, np.array(nodes.get_xydata()), strict=True))
    path = land.get_path()
    inland = ("Denver", "Kansas City", "Indianapolis", "Atlanta", "Houston")
    assert [name for name in inland if not path.contains_point(places[name])] == []
    # The middle of the Gulf of Mexico (25 N, 90 W) by the two cities whose places are known: x is linear in
    # longitude, y in latitude.
    table = abilene.tables["nodes"].filter(pl.col("name").is_in(["Denver", "Atlanta"]))
    entries = {
        row["name"]: (row["longitude_deg"], row["latitude_deg"]) for row in table.iter_rows(named=True)
    }
    (denver, atlanta), (d, a) = (
        (np.array(entries[name]) for name in ("Denver", "Atlanta")),
        (places["Denver"], places["Atlanta"]),
    )
    gulf = d + (np.array([-90.0, 25.0]) - denver) / (atlanta - denver) * (a - d)
    assert not path.contains_point(gulf)


def test_wider_links_have_more_capacity() -> None:
    shapes = links_of(made_run().plot.network()).get_paths()

    def area(path: Any) -> float:
        x, y = path.vertices[:5].T
        return abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))))

    # 10 Mbps, 100 Mbps, 10 Mbps over links of the same length.
    areas = [area(path) for path in shapes]
    assert areas[1] > 2 * areas[0]
    assert areas[2] == pytest.approx(areas[0], rel=0.05)
