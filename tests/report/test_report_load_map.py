"""The map of loads: places, a layout without them, names that do not hide each other, the same bytes
twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch

from anabranch import Scenario
from anabranch.plans.worst_loads import WorstLoads
from anabranch.report.layout import layout
from anabranch.report.load_map import load_map
from anabranch.report.style import save_figure


@pytest.fixture(scope="module")
def loads() -> WorstLoads:
    bounds = {"ingress": "130 Mbps", "egress": "130 Mbps", "pair": "50 Mbps"}
    network = {"topology": "sndlib/nobel-us", "links": {"capacity": "500 Mbps"}}
    return Scenario.from_data(
        {
            "network": network,
            "routing": {"scheme": "shortest", "demand": bounds},
            "traffic": [{"from": "*", "to": "*"}],
            "run": {"duration": "1 s"},
        }
    ).worst_case()


def test_places_keep_north_up_and_east_right() -> None:
    seattle, miami, boston = (47.6, -122.3), (25.8, -80.2), (42.4, -71.1)
    points = layout([seattle, miami, boston], [(0, 1), (1, 2)], "abc").points
    assert points[0, 0] < points[1, 0] < points[2, 0]
    # Down the page, y grows.
    assert points[1, 1] > points[2, 1] > points[0, 1]


def test_the_date_line_does_not_tear_a_network() -> None:
    tokyo, honolulu, los_angeles = (35.7, 139.7), (21.3, -157.9), (34.1, -118.2)
    x = layout([tokyo, honolulu, los_angeles], [(0, 1), (1, 2)], "abc").points[:, 0]
    assert x[0] < x[1] < x[2]
    assert x[2] - x[0] < 120


def test_without_places_neighbours_are_near() -> None:
    """On a ring of six the drawing has all neighbours equally far, and opposite nodes farthest."""
    links = [(node, (node + 1) % 6) for node in range(6)]
    points = layout([None] * 6, links, "abcdef").points
    near = [float(np.hypot(*(points[a] - points[b]))) for a, b in links]
    assert max(near) / min(near) < 1.05
    assert float(np.hypot(*(points[0] - points[3]))) > 1.8 * min(near)


def test_the_figure_is_the_same_twice_and_names_every_router(loads: WorstLoads, tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        save_figure(load_map(loads), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    figure = load_map(loads)
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(shown) == sorted(loads.routers)
    assert any(f"{loads.max_load:.3f}" in text.get_text() for text in figure.texts)


def test_names_do_not_cover_each_other(loads: WorstLoads) -> None:
    figure = load_map(loads)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 14
    pairs = [(a, b) for number, a in enumerate(boxes) for b in boxes[number + 1 :]]
    assert not [pair for pair in pairs if pair[0].shrunk(0.9, 0.6).overlaps(pair[1].shrunk(0.9, 0.6))]


def test_another_link_has_its_own_matrix(loads: WorstLoads) -> None:
    figure = load_map(loads, "Houston->Atlanta")
    assert any("Houston->Atlanta" in text.get_text() for text in figure.texts)
    with pytest.raises(KeyError):
        load_map(loads, "Houston->Oslo")


def test_land_lies_below_a_network_with_coordinates_and_no_other(loads: WorstLoads) -> None:
    def land(outcome: WorstLoads) -> list[PathPatch]:
        return [patch for patch in load_map(outcome).axes[0].patches if patch.get_gid() == "map-land"]  # type: ignore[misc]

    (shape,) = land(loads)
    axes = load_map(loads).axes[0]
    names = {text.get_text() for text in axes.texts}
    dots = next(line for line in axes.lines if len(line.get_xdata()) == len(loads.routers))
    at = dict(zip(loads.routers, np.asarray(dots.get_xydata()), strict=True))
    assert names == set(loads.routers)
    # In the middle of the continent, and some hundred kilometres off its coasts.
    assert shape.get_path().contains_point(at["Lincoln"])
    off = at["Palo-Alto"] - 0.25 * (at["Lincoln"] - at["Palo-Alto"])
    assert not shape.get_path().contains_point(off)
    assert land(replace(loads, places=dict.fromkeys(loads.places))) == []


def test_overload_has_its_colour_and_edge_and_stands_in_the_legend(loads: WorstLoads) -> None:
    """Every link at 13/10 of its own load: those above the capacity, and no other, differ."""
    figure = load_map(loads)
    assert not any(text.get_text() == "overload" for axes in figure.axes for text in axes.texts)
    links = tuple(replace(link, load=link.load * 1.3) for link in loads.links)
    over = sum(link.load > 1 for link in links)
    assert 0 < over < len(links)
    figure = load_map(replace(loads, links=links))
    (drawn,) = figure.axes[0].collections
    FigureCanvasAgg(figure).draw()
    orange = to_rgba("#E8710A")
    assert sum(tuple(color) == orange for color in drawn.get_facecolor()) == over
    assert sum(width > 0 for width in np.atleast_1d(drawn.get_linewidth())) == over
    assert any(text.get_text() == "overload" for axes in figure.axes for text in axes.texts)


def test_the_matrix_has_the_unit_that_suits_it_and_no_exponents(loads: WorstLoads) -> None:
    """The same network a thousand times as fast; 2e+04 Mbps is 20 Gbps."""
    bounds = {"ingress": "130 Gbps", "egress": "130 Gbps", "pair": "20 Gbps"}
    fast = Scenario.from_data(
        {
            "network": {"topology": "sndlib/nobel-us", "links": {"capacity": "500 Gbps"}},
            "routing": {"scheme": "shortest", "demand": bounds},
            "traffic": [{"from": "*", "to": "*"}],
            "run": {"duration": "1 s"},
        }
    ).worst_case()
    figure = load_map(fast)
    matrix = figure.axes[-1]
    assert matrix.get_title(loc="left") == "traffic behind it, in Gbps"
    shown = [float(text.get_text()) for text in matrix.texts]
    assert max(shown) == 20
    assert sum(shown) == pytest.approx(fast.matrix_mbps(fast.worst.link).sum() / 1000, rel=0.01)
    assert load_map(loads).axes[-1].get_title(loc="left") == "traffic behind it, in Mbps"
    assert not any("e+" in text.get_text() for axes in figure.axes for text in axes.texts)
