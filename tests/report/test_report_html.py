"""The page of a result as a file: what it holds, what it must not hold, where the nodes are drawn."""

import itertools
import json
import math
import re
import runpy
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from html_runs import ABILENE, EVIL, document, hostile, numbers, shown
from made_study import GAP, LOSS, SIZE, TRANSPORT, MadeStudy, MetricInfo, make, with_levels

from anabranch import Result, ResultError, Scenario
from anabranch.media.links import link_widths
from anabranch.media.page import embedded
from anabranch.media.page.charts import MOST_STEPS
from anabranch.media.page.data import Steps
from anabranch.media.palette import DARK_PALETTE, PALETTE
from anabranch.report.html import run_report, save_run_report, save_study_report, study_report
from anabranch.report.html.outlines import UNITS_PER_DEGREE, outlines
from anabranch.report.html.run_data import MOST_FLOWS, run_document
from anabranch.report.layout import layout
from anabranch.report.views.cards import cards
from anabranch.text.units import measure, quantity


@pytest.fixture(scope="module")
def abilene() -> Result:
    """A run with coordinates, two paths for a pair, two transports, a failure."""
    return Scenario.loads(ABILENE).run()


class Tags(HTMLParser):
    """Counts the elements of a page, and collects what they refer to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.references: list[str] = []
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.references += [value or "" for name, value in attrs if name in {"src", "href", "srcset", "data"}]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def test_the_page_refers_to_nothing_outside_of_itself(abilene: Result, lines: MadeStudy) -> None:
    for page in (run_report(abilene), study_report(lines)):
        tags = Tags(page)
        assert tags.names.count("script") == 3
        assert tags.handlers == []
        assert all(reference.startswith("#") for reference in tags.references)
        assert "default-src 'none'" in page
        assert not re.search(r"@import|url\((?!#)", page)


def test_the_page_is_small(abilene: Result) -> None:
    # 3 MB without data is the bound that was set; a small run's page with its data stays far below it.
    assert len(run_report(abilene)) < 1_000_000


def test_flows_without_a_connection_and_a_flow_alone() -> None:
    # The link on the way is down from the start: every SYN is lost and repeated.
    cut = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 1
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[[traffic]]
from = "left1"
to = "right1"
flows = {flows}
size = "1 MB"
[[event]]
at = "0 s"
link = ["router-left", "router-right"]
state = "down"
[run]
duration = "3 s"
"""
    several, alone = (
        {card.label: card for card in cards(Scenario.loads(cut.format(flows=flows)).run())}
        for flows in (3, 1)
    )
    assert several["Flows"].note == "0 of 3 done, 3 unfinished, 3 without a connection"
    assert several["Completion time"].value == "> 3 s"
    assert "Jain index" not in alone


def test_what_routing_found_is_told_without_its_clock(abilene: Result) -> None:
    facts = {"worst_case_load": 0.7800000001, "seconds": 1.23456, "mean_paths": 1.5, "delay_bound_ms": 12.0}
    result = Result(abilene.tables, {**abilene.summary, "routing": facts})
    facts = dict(run_document(result)["facts"])
    assert facts["routing: worst case load"] == "0.78"
    assert facts["routing: delay bound (ms)"] == "12"
    assert not any("seconds" in label for label in facts)


def test_the_same_run_gives_the_same_page(abilene: Result) -> None:
    again = Scenario.loads(ABILENE).run()
    assert again.summary["wall_s"] != abilene.summary["wall_s"]
    assert run_report(again, "x = 1") == run_report(abilene, "x = 1")


def test_names_are_text_whatever_they_contain(tmp_path: Path) -> None:
    result = hostile(tmp_path)
    page = run_report(result, f"# {EVIL}")
    assert Tags(page).names.count("script") == 3
    assert Tags(page).names.count("img") == 0
    page_data = document(page)
    assert EVIL in page_data["network"]["names"]
    assert shown(page_data["flows"])["name"] == [f"{EVIL}.0"]
    study = make(GAP, TRANSPORT, metrics=[MetricInfo("m", EVIL)], title=EVIL)
    assert Tags(study_report(study)).names.count("script") == 3


@pytest.mark.parametrize("text", ["</script>", "<!--", "&lt;", "\u2028", "</SCRIPT >"])
def test_no_text_ends_the_data(text: str) -> None:
    written = embedded({"name": text})
    assert not set("<>&\u2028") & set(written)
    assert json.loads(written) == {"name": text}


def test_the_tables_of_the_page_are_those_of_the_result(abilene: Result) -> None:
    page_data = document(run_report(abilene))
    columns = shown(page_data["flows"])
    assert columns["name"] == abilene.flows["name"].to_list()
    np.testing.assert_array_equal(columns["delivered_bytes"], abilene.flows["delivered_bytes"])
    ended = abilene.flows["completion_s"].to_numpy()
    np.testing.assert_allclose(columns["completion_s"], ended, rtol=1e-6)
    assert math.isnan(columns["completion_s"][0])
    links = shown(page_data["links"])
    np.testing.assert_allclose(links["utilization"], abilene.links["utilization"] * 100, rtol=1e-6)
    causes = [name for name in abilene.links.columns if name.startswith("drops_")]
    assert numbers(page_data["drops"]).sum() == sum(abilene.links[name].sum() for name in causes) > 0


def test_the_routes_are_those_of_the_plan(abilene: Result) -> None:
    page_data = document(run_report(abilene))
    names = page_data["network"]["names"]
    routes = Scenario.loads(ABILENE).run().tables["routes"]
    (pair,) = [pair for pair in page_data["routes"]["pairs"] if names[pair[0]] == "Seattle"]
    assert names[pair[1]] == "Atlanta"
    expected = routes.filter((pl.col("from") == "Seattle") & (pl.col("to") == "Atlanta"))
    assert pair[3] == len(pair[4])
    assert [share for share, _, _ in pair[4]] == expected["weight"].to_list()
    used = [link for _, links, _ in pair[4] for link in links]
    assert pair[5] == [[link, 0.5] for link in used]
    # Link-disjoint paths share no link, and each leads from Seattle to Atlanta.
    assert len(used) == len(set(used))
    assert pair[3] == 2
    ends = abilene.links.select("from", "to").rows()
    for _, links, text in pair[4]:
        assert ends[links[0]][0] == "Seattle"
        assert ends[links[-1]][1] == "Atlanta"
        assert all(ends[a][1] == ends[b][0] for a, b in itertools.pairwise(links))
        assert text == " > ".join(["Seattle", *(ends[link][1] for link in links)])


def test_an_older_result_without_routes_and_places_still_has_a_page(abilene: Result) -> None:
    older = {name: table for name, table in abilene.tables.items() if name not in {"nodes", "routes"}}
    page = run_report(Result(older, abilene.summary))
    page_data = document(page)
    assert page_data["routes"] is None
    assert page_data["network"]["layout"] == "distances"
    assert "does not hold its routes" in page


def test_samples_are_merged_as_the_page_says() -> None:
    times = pl.Series("time_s", [0.1, 0.2, 0.3, 0.4, 0.5])
    steps = Steps.of(times, 2)
    assert (steps.merged, steps.times_s.tolist()) == (3, [0.3, 0.5])
    assert steps.number(times).to_list() == [0, 0, 0, 1, 1]
    assert Steps.of(times, 5).merged == 1


def many(flows: int, samples: int) -> Result:
    """A run made up: flow i delivers i bytes, at sample t it has i Mbps, and link 0 loses t packets at t."""
    flow, time = np.arange(flows), np.arange(1, samples + 1)
    zero = np.zeros(flows)
    names = ("segments_sent", "retransmissions", "timeouts", "packets_received", "reordered_packets")
    tables = {
        "flows": {
            "flow": flow, "name": [f"f{i}" for i in flow], "from": ["a"] * flows, "to": ["b"] * flows,
            "transport": ["cubic", "bbr"] * (flows // 2), "delivered_bytes": flow, "completion_s": zero + 1,
            "rtt_mean_ms": zero, **dict.fromkeys(names, flow * 0),
        },
        "links": {
            "link": np.array([0]), "name": ["a->b"], "from": ["a"], "to": ["b"],
            "capacity_mbps": np.array([10.0]), "delay_ms": np.array([1.0]), "utilization": np.array([0.5]),
            "queue_max_packets": np.array([9]),
            "drops_queue": np.array([3]), "drops_random": np.array([0]), "drops_down": np.array([0]),
            "drops_codel": np.array([0]),
        },
        "flow_series": {
            "time_s": np.repeat(time / 10, flows), "flow": np.tile(flow, samples),
            "goodput_mbps": np.tile(flow * 1.0, samples), "srtt_ms": np.tile(flow * 1.0, samples),
            "cwnd_bytes": np.tile(flow * 1000, samples),
        },
        "link_series": {
            "time_s": time / 10, "link": time * 0, "queue_packets": time % 7,
            "throughput_mbps": time % 2 * 10.0,
            "drops": np.cumsum(time),
        },
    }  # fmt: skip
    return Result.from_columns(tables, {"title": "made", "ended_s": samples / 10})


def test_many_flows_keep_their_sums_and_the_largest_keep_their_lines() -> None:
    page_data = run_document(many(300, 4))
    series = page_data["flow_series"]
    # Those that delivered most: flow i delivers i bytes.
    rows = [line["row"] for line in series["lines"]]
    assert rows == [None] * 3 + list(range(300 - MOST_FLOWS, 300))
    assert [line["label"] for line in series["lines"][:3]] == [
        "all 300 flows",
        "all bbr (150)",
        "all cubic (150)",
    ]
    # What many flows have together is shown at first.
    assert series["shown"] == [0, 1, 2]
    goodput, srtt, _ = (numbers(axis["values"]).reshape(3 + MOST_FLOWS, 4) for axis in series["axes"])
    assert goodput[3:, 0].tolist() == list(range(300 - MOST_FLOWS, 300))
    # 0 + 1 + ... + 299 over all flows; bbr has the odd ones, cubic the even ones.
    assert goodput[0].tolist() == [44850.0] * 4
    assert goodput[1:3, 0].tolist() == [22500.0, 22350.0]
    assert srtt[0].tolist() == [149.5] * 4
    assert any("100 of 300 flows" in note for note in page_data["notes"])


def test_long_runs_keep_means_maxima_and_sums() -> None:
    page_data = run_document(many(2, 3 * MOST_STEPS))
    series = page_data["link_series"]
    # Three samples to a step; the first has t = 1, 2, 3.
    assert len(numbers(series["times"])) == MOST_STEPS
    assert numbers(series["queue_packets"])[:2].tolist() == [3, 6]
    assert numbers(series["drops"])[:2].tolist() == [6, 15]
    assert numbers(series["utilization"])[:2] == pytest.approx([2 / 3, 1 / 3])
    merged = "3 samples in a row are one step: the"
    assert page_data["notes"] == [
        f"Lines over time: {merged} mean of goodput, smoothed RTT and congestion window.",
        f"Links over time: {merged} mean of utilization, the maximum of queue, the sum of drops.",
    ]


def test_a_map_is_true_to_scale_at_its_middle() -> None:
    # A degree of longitude at 60 degrees north is half as long as one of latitude.
    drawing = layout([(59.0, 10.0), (61.0, 10.0), (60.0, 14.0)], [(0, 1), (1, 2)], "abc")
    assert drawing.kind == "map"
    (ax, ay), (bx, by), (cx, cy) = drawing.points
    assert (ax - bx, ay - by) == pytest.approx((0, 2))
    assert (cx - ax, cy) == pytest.approx((2, -60))


def test_a_map_across_the_180th_meridian_is_not_torn() -> None:
    drawing = layout([(0.0, 179.0), (0.0, -179.0)], [(0, 1)], "ab")
    assert np.ptp(drawing.points[:, 0]) == pytest.approx(2)


def test_nodes_in_one_place_are_side_by_side() -> None:
    drawing = layout([(0.0, 0.0), (0.0, 0.0), (10.0, 10.0)], [(0, 1), (1, 2)], "abc")
    assert np.hypot(*(drawing.points[0] - drawing.points[1])) > 0.05


def test_hosts_leaves_and_spines_are_in_tiers() -> None:
    spines, leaves = (0, 1), (2, 3)
    ends = [(spine, leaf) for spine in spines for leaf in leaves] + [(2, 4), (2, 5), (3, 6), (3, 7)]
    drawing = layout([None] * 8, ends, ["s1", "s2", "l1", "l2", "h1", "h2", "h3", "h4"])
    assert drawing.kind == "tiers"
    assert drawing.points[:, 1].tolist() == [0, 0, 0.5, 0.5, 1, 1, 1, 1]
    # No two in the same place, hosts below their leaves.
    assert drawing.points[4:, 0].tolist() == sorted(drawing.points[4:, 0])


def _fat_tree(k: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Names and edges of a fat tree of switches with k ports (Al-Fares 2008)."""
    half, number, ends = k // 2, dict[str, int](), list[tuple[int, int]]()

    def join(one: str, other: str) -> None:
        ends.append((number.setdefault(one, len(number)), number.setdefault(other, len(number))))

    for pod, a, b in itertools.product(range(k), range(half), range(half)):
        join(f"c{a}.{b}", f"a{pod}.{a}")
        join(f"a{pod}.{a}", f"e{pod}.{b}")
        join(f"e{pod}.{a}", f"h{pod}.{a}.{b}")
    return list(number), ends


@pytest.mark.parametrize("k", [4, 8, 16])
def test_a_fat_tree_is_in_tiers_and_its_pods_side_by_side(k: int) -> None:
    names, ends = _fat_tree(k)
    placed = layout([None] * len(names), ends, names)
    assert placed.kind == "tiers"
    x = dict(zip(names, placed.points[:, 0].tolist(), strict=True))
    y = dict(zip(names, placed.points[:, 1].tolist(), strict=True))
    for tier in "aeh":
        pods = [[x[name] for name in names if name.startswith(f"{tier}{pod}.")] for pod in range(k)]
        assert all(max(one) < min(next_one) for one, next_one in itertools.pairwise(pods))
    heights = [sorted({round(y[name], 9) for name in names if name[0] == tier}) for tier in "caeh"]
    assert all(one[-1] < below[0] for one, below in itertools.pairwise(heights))
    # Hosts of a switch side by side where there is room, and otherwise each lower than the one before.
    assert len(heights[-1]) == (1 if k == 4 else k // 2)
    assert len(np.unique(placed.points.round(6), axis=0)) == len(names)


def test_many_links_are_thinner_and_keep_their_order() -> None:
    few, many = link_widths([100.0] * 300), link_widths([100.0] * 1200)
    assert (few[0], many[0]) == pytest.approx((5 / 9, 5 / 18))
    narrow, wide = link_widths([10.0, 1000.0] * 600)[:2]
    assert wide / narrow == pytest.approx(3)


def test_distances_on_paper_are_those_in_hops() -> None:
    # A path can be drawn as a straight line, exactly; its ends, with one neighbour each, are placed apart.
    drawing = layout([None] * 6, [(i, i + 1) for i in range(5)], "abcdef")
    assert drawing.kind == "distances"
    inner = drawing.points[1:5]
    assert np.ptp(inner[:, 1]) < 0.05
    assert np.abs(np.diff(inner[:, 0])) == pytest.approx([1, 1, 1], abs=0.05)
    ring = layout([None] * 12, [(i, (i + 1) % 12) for i in range(12)], "abcdefghijkl").points
    radii = np.hypot(*(ring - ring.mean(axis=0)).T)
    assert np.ptp(radii) < 0.1 * radii.mean()


@pytest.mark.parametrize("nodes", [1, 2, 3, 1500])
def test_every_size_has_a_layout(nodes: int) -> None:
    drawing = layout([None] * nodes, [(i, i + 1) for i in range(nodes - 1)], [str(i) for i in range(nodes)])
    assert np.isfinite(drawing.points).all()
    assert len(np.unique(drawing.points.round(6), axis=0)) == nodes


def inside(path: str, x: float, y: float) -> bool:
    """Whether a point is inside a path of closed rings, by the even-odd rule."""
    within = False
    for ring in re.findall(r"M([^Mz]*)z", path):
        steps = np.array([int(text) for text in re.findall(r"-?\d+", ring)]).reshape(-1, 2).cumsum(axis=0)
        before = np.roll(steps, 1, axis=0)
        crosses = (steps[:, 1] > y) != (before[:, 1] > y)
        (x1, y1), (x2, y2) = steps[crosses].T, before[crosses].T
        within ^= bool((x < (x2 - x1) * (y - y1) / (y2 - y1) + x1).sum() % 2)
    return within


@pytest.mark.parametrize(
    ("place", "longitude", "latitude", "land"),
    [
        ("Denver", -104.98, 39.74, True), ("Berlin", 13.40, 52.52, True), ("Nairobi", 36.82, -1.29, True),
        ("South Pole", 0.0, -89.0, True), ("Chukotka", 178.0, 67.0, True), ("Atlantic", -35.0, 40.0, False),
        ("Pacific", -150.0, 0.0, False), ("Gulf of Mexico", -90.0, 25.0, False),
    ],
)  # fmt: skip
def test_the_outlines_are_those_of_the_earth(
    place: str, longitude: float, latitude: float, land: bool
) -> None:
    # A part of the Earth around the place, and all of it.
    around = (longitude - 8, max(latitude - 5, -90), longitude + 12, latitude + 7)
    for box in (around, (-180.0, -90.0, 180.0, 90.0)):
        shapes = outlines(box)
        units = shapes["units"]
        assert inside(shapes["land"], longitude * units, latitude * units) == land, (place, box)


def test_outlines_end_where_the_map_does() -> None:
    shapes = outlines((5.0, 47.0, 15.0, 55.0))
    points = [
        np.array([int(text) for text in re.findall(r"-?\d+", line)]).reshape(-1, 2).cumsum(axis=0)
        for line in re.findall(r"M([^M]*)", shapes["land"] + shapes["borders"])
    ]
    degrees = np.concatenate(points) / shapes["units"]
    assert len(degrees) > 500
    assert degrees.min(axis=0).tolist() == [5, 47]
    assert degrees.max(axis=0).tolist() == [15, 55]


def test_outlines_beyond_the_180th_meridian_are_there() -> None:
    # New Zealand's Chatham Islands lie at 176.5 degrees west, Fiji at 178 degrees east.
    shapes = outlines((170.0, -50.0, 190.0, -10.0))
    units = shapes["units"]
    assert inside(shapes["land"], 178.0 * units, -17.8 * units)
    assert inside(shapes["land"], (360 - 176.5) * units, -44.0 * units)


def test_outlines_are_converted_from_topojson() -> None:
    # Two squares of one degree with a side in common, arcs as in the TopoJSON specification (section 2.1.3).
    topology = {
        "transform": {"scale": [1.0, 1.0], "translate": [0.0, 0.0]},
        "arcs": [[[1, 0], [0, 1]], [[1, 1], [-1, 0], [0, -1], [1, 0]], [[1, 0], [1, 0], [0, 1], [-1, 0]]],
        "objects": {
            "land": {"type": "MultiPolygon", "arcs": [[[2, 1]]]},
            "countries": {
                "type": "GeometryCollection",
                "geometries": [{"type": "Polygon", "arcs": [[0, 1]]}, {"type": "Polygon", "arcs": [[2, -1]]}],
            },
        },
    }
    world = Path(__file__).parents[2] / "docs" / "generate" / "world.py"
    outcome = runpy.run_path(str(world))["convert"](topology)
    side = UNITS_PER_DEGREE
    assert outcome["borders"] == [[side, 0, 0, side]]
    # From (1, 0) around both squares.
    steps = [side, 0, side, 0, 0, side, -side, 0, -side, 0, 0, -side, side, 0]
    assert outcome["land"] == [steps]


def test_numbers_are_written_for_people() -> None:
    space = "\N{NARROW NO-BREAK SPACE}"
    assert [quantity(value) for value in (0, 7, 12345, 0.12345, 1234567, None)] == [
        "0", "7", f"12{space}345", "0.123", "1.23 M", "\N{EN DASH}",
    ]  # fmt: skip
    assert [measure(value, "s") for value in (30, 0.0174, 2e-6, 0)] == ["30 s", "17.4 ms", "2 us", "0 s"]
    assert [measure(value, "Mbps") for value in (156000, 9.61, 0.0004)] == [
        "156 Gbps",
        "9.61 Mbps",
        "400 bps",
    ]


def contrast(one: str, other: str) -> float:
    """Contrast of two colours by WCAG 2.2 (relative luminance)."""
    shades = []
    for color in (one, other):
        channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        shades.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(shades) + 0.05) / (min(shades) + 0.05)


def test_dark_colours_stand_out_and_are_as_many() -> None:
    assert len(DARK_PALETTE) == len(PALETTE) == len(set(DARK_PALETTE))
    assert all(contrast(color, "#1a222a") >= 4.5 for color in DARK_PALETTE)


def test_the_study_shows_every_mean_and_cell(lines: MadeStudy) -> None:
    page = study_report(lines)
    # Twelve cells; the smallest mean is 1.25 by the formula, and its interval a tenth of it.
    assert page.count("<title>") == 1 + 12
    assert "0 us, segments = 100: 1.25 ± 0.12" in page
    page_data = document(page)
    (means,) = [column for column in page_data["cells"]["columns"] if column.get("key") == "fct_us"]
    assert numbers(means["data"]).tolist() == lines.cells["fct_us"].to_list()


def test_a_study_of_bars_panels_and_failures() -> None:
    page = study_report(make(TRANSPORT, GAP, LOSS))
    assert page.count('class="plot"') == 2
    # Every bar says its value, and every name below them the whole of it.
    assert page.count("<title>") == 1 + 3 * 4 * 2 + 3 * 2
    assert "cubic, 300 us: 7.25 ± 0.72" in page
    assert page.count('aria-hidden="true"') == 4
    failed = make(GAP, SIZE, formula=lambda _: None)
    page = study_report(failed)
    assert "No run has a value." in page
    assert "36 \N{MULTIPLICATION SIGN} =no way: ended" in page


def test_figures_of_a_study_have_the_colours_of_the_page() -> None:
    long = "通信, a name of more letters than there is room for"
    page = study_report(make(with_levels(TRANSPORT, "cubic", "linux-cubic", "sdn-paced", long)))
    figures = page[page.index("<figure") : page.index("</figure>")]
    assert not any(color.lower() in figures for color in PALETTE)
    assert "var(--c1)" in figures
    # The name is there in its own letters, cut, and in full to the pointer.
    assert f">{long[:17]}…<title>{long}</title>" in figures
    # What a picture refers to is its own: other pictures of the page may be hidden.
    metrics = [MetricInfo("a", "a"), MetricInfo("b", "b")]
    several = study_report(
        make(TRANSPORT, with_levels(TRANSPORT, "cubic", "linux-cubic"), LOSS, metrics=metrics)
    )
    names = re.findall(r' id="([^"]+)"', several)
    assert len(set(names)) == len(names)
    assert set(re.findall(r'(?:href="#|url\(#)(\w+)', several)) - {"figures", "cells"} <= set(names)


def test_pages_are_written_whole(tmp_path: Path, abilene: Result, lines: MadeStudy) -> None:
    assert save_run_report(abilene, tmp_path) == tmp_path / "report.html"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    save_study_report(lines, tmp_path)
    assert "Incast at one switch" in (tmp_path / "report.html").read_text(encoding="utf-8")
    captures = Result({"connections": pl.DataFrame({"a": [1]})}, {})
    with pytest.raises(ResultError, match="no table"):
        save_run_report(captures, tmp_path)


def test_a_result_folder_comes_with_its_page(tmp_path: Path, abilene: Result) -> None:
    folder = abilene.save(tmp_path / "out", scenario=Scenario.loads(ABILENE))
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Abilene: two transfers" in page
    assert page == run_report(Result.load(folder), (folder / "scenario.toml").read_text(encoding="utf-8"))
