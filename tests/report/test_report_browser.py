"""The page of a result in a real browser: what a reader clicks, hovers, types and prints."""

import math
import re
from pathlib import Path

import polars as pl
import pytest
from html_runs import ABILENE, EVIL, MULTIPATH, hostile
from made_study import GAP, TRANSPORT, make
from matplotlib.colors import LinearSegmentedColormap
from reader import Reader

from anabranch import Result, Scenario
from anabranch.media.links import link_widths
from anabranch.media.palette import OVERLOAD, RAMP
from anabranch.report.html import save_run_report, save_study_report

playwright = pytest.importorskip("playwright.sync_api", reason="not installed: Playwright")

TEN_THOUSAND = """
title = "Ten thousand flows"
[network]
topology = "dumbbell"
[network.parameters]
hosts = 50
bottleneck_capacity = "100 Gbps"
access_capacity = "100 Gbps"
[network.links]
delay = "10 us"
queue = "1000 packets"
[[traffic]]
name = "web"
from = "*"
pairs = "permutation"
flows = 100
size = "5 kB"
start = { distribution = "uniform", low = "0 s", high = "90 ms" }
transport = "linux-cubic"
[run]
duration = "100 ms"
sample_interval = "500 us"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("run")
    result = Scenario.loads(ABILENE).run()
    return save_run_report(result, folder, ABILENE), result


def fill(reader: Reader, link: int) -> str:
    """The colour of a link."""
    color: str = reader.page.locator(f'[data-link="{link}"]').evaluate(
        "(link) => getComputedStyle(link).fill"
    )
    return color


def busiest(result: Result) -> int:
    return int(result.links.sort("utilization", descending=True)["link"][0])


def test_the_page_opens_without_a_network_or_a_complaint(reader: Reader, run: tuple[Path, Result]) -> None:
    file, result = run
    reader.open(file)
    assert reader.texts("h1") == ["Abilene: two transfers"]
    cards = dict(zip(reader.texts(".card .label"), reader.texts(".card .value"), strict=True))
    assert cards["Flows"] == "7"
    assert cards["Jain index"] == f"{result.summary['jain_index']:.3f}"
    assert reader.page.locator(".link").count() == result.links.height == 28
    assert len(reader.texts(".uplot")) == 6
    assert {"Seattle", "Atlanta", "Chicago"} <= set(reader.texts("#map .label"))
    # Short tables are as all others, those of a row for each transport without a filter.
    transports = "#reordering-table tbody tr:not(.spacer) td:first-child"
    assert reader.texts(transports) == ["linux-cubic", "newreno"]
    assert reader.page.locator("#reordering-table input").count() == 0
    assert {"link down", "link up"} <= set(reader.texts("#event-table td"))


def test_a_request_would_be_noticed_and_refused(
    browser: "playwright.Browser", run: tuple[Path, Result]
) -> None:
    page = browser.new_page()
    reader = Reader(page)
    reader.open(run[0])
    page.evaluate(
        "() => { document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:9/x.png' })); }"
    )
    page.evaluate("() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
                  " document.body.append(s); }")  # fmt: skip
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in line for line in reader.wrong)
    page.close()


def test_the_slider_moves_by_arrow_keys_and_colours_the_links(
    reader: Reader, run: tuple[Path, Result]
) -> None:
    file, result = run
    reader.open(file)
    link = busiest(result)
    assert reader.texts("#time-value") == ["whole run"]
    whole = fill(reader, link)
    reader.page.focus("#time")
    reader.page.keyboard.press("ArrowRight")
    # The first sample is at 0.1 s, when nothing much has been sent.
    assert reader.texts("#time-value") == ["0.1 s"]
    assert fill(reader, link) != whole
    for _ in range(39):
        reader.page.keyboard.press("ArrowRight")
    assert reader.texts("#time-value") == ["4 s"]
    # Down between 3 and 5 s, both ways.
    down = reader.page.locator(".link.down").evaluate_all("(links) => links.map((l) => +l.dataset.link)")
    names = result.links.filter(pl.col("link").is_in(down))["name"].to_list()
    assert sorted(names) == ["Denver->Kansas City", "Kansas City->Denver"]
    reader.page.get_by_role("button", name="Whole run").click()
    assert fill(reader, link) == whole
    reader.page.get_by_label("Drops").check()
    assert "drops" in reader.texts("#map-summary")[0]


def test_the_routes_of_a_pair_are_lit(reader: Reader, run: tuple[Path, Result]) -> None:
    file, result = run
    reader.open(file)
    reader.page.select_option("#route-from", label="Seattle")
    lit = reader.page.locator(".link.route").evaluate_all(
        "(links) => links.map((link) => +link.dataset.link)"
    )
    paths = result.tables["routes"].filter((pl.col("from") == "Seattle") & (pl.col("to") == "Atlanta"))
    assert sorted(lit) == sorted(paths["links"].explode().to_list())
    # Two paths of the same weight.
    assert reader.texts("#route-list tbody td:first-child") == ["50 %", "50 %"]
    assert all(text.endswith("Atlanta") for text in reader.texts("#route-list tbody td.path"))
    nodes = result.tables["nodes"]["name"].to_list()
    for name in ("Denver", "Houston"):
        reader.page.locator(f'[data-node="{nodes.index(name)}"]').click()
    assert reader.page.locator("#route-from option:checked").inner_text() == "Denver"
    assert reader.page.locator("#route-to option:checked").inner_text() == "Houston"


def test_a_hovered_chart_says_the_values(reader: Reader, run: tuple[Path, Result]) -> None:
    file, result = run
    reader.open(file)
    area = reader.page.locator("#goodput-chart .u-over")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None
    # The axis goes from 0 to 8 s: a quarter of it is 2 s.
    reader.page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    words = reader.texts("#goodput-chart .readout")[0]
    assert "at 2 s" in words
    at = result.flow_series.filter((pl.col("time_s") - 2).abs() < 1e-6)
    total = at["goodput_mbps"].sum()
    assert f"all 7 flows {total:.4g} Mbps" in words.replace("\n", " ")
    # The other charts follow.
    assert "at 2 s" in reader.texts("#rtt-chart .readout")[0]
    assert "at 2 s" in reader.texts("#queue-chart .readout")[0]


def test_lines_are_hidden_and_shown(reader: Reader, run: tuple[Path, Result]) -> None:
    reader.open(run[0])
    button = reader.page.locator("#series-legend button", has_text="bulk.0")
    assert button.get_attribute("aria-pressed") == "true"
    button.focus()
    reader.page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert reader.page.evaluate("document.activeElement.textContent") == "bulk.0 (linux-cubic)"
    label = reader.page.locator("#goodput-chart .canvas").get_attribute("aria-label") or ""
    assert "side.0" in label
    assert "bulk.0" not in label
    box = reader.page.get_by_label("Plot bulk.0")
    assert not box.is_checked()
    box.check()
    assert button.get_attribute("aria-pressed") == "true"


def test_tables_are_sorted_and_filtered(reader: Reader, run: tuple[Path, Result]) -> None:
    file, result = run
    reader.open(file)
    heading = reader.page.locator("#flow-table th", has_text="delivered")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    names = "#flow-table tbody tr:not(.spacer) td:nth-child(2)"
    order = result.flows.sort(["delivered_bytes", "flow"], descending=[True, False])["name"].to_list()
    assert reader.texts(names) == order
    reader.page.fill("#flow-table input[type=search]", "newreno")
    playwright.expect(reader.page.locator("#flow-table .count")).to_have_text("6 of 7 rows")
    assert set(reader.texts(names)) == {f"side.{i}" for i in range(6)}
    # What has not ended comes last, whichever way it is sorted.
    reader.page.fill("#flow-table input[type=search]", "")
    playwright.expect(reader.page.locator("#flow-table .count")).to_have_text("7 rows")
    ending = reader.page.locator("#flow-table th", has_text="completion").locator("button")
    for _ in range(2):
        ending.click()
        assert reader.texts(names)[-1] == "bulk.0"


def test_subflows_by_path_and_by_connection(reader: Reader, tmp_path: Path) -> None:
    result = Scenario.loads(MULTIPATH).run()
    reader.open(save_run_report(result, tmp_path))
    lines = reader.page.locator("#path-legend button")
    assert len(reader.texts("#path-legend button")) == 4
    assert reader.texts("#path-legend button")[2].startswith("right#3 (")
    # Under the cursor stands what the subflows of a path have in all: the axis goes from 0 to 4 s.
    area = reader.page.locator("#path-chart .u-over")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None
    reader.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    words = reader.texts("#path-chart .readout")[0]
    at = result.subflow_series.filter((pl.col("time_s") - 2).abs() < 1e-6)
    assert f"all paths {at['throughput_mbps'].sum():.4g} Mbps" in words
    assert "at 2 s" in reader.texts("#path-rtt-chart .readout")[0]
    # A connection is chosen from the list or in its table, by keyboard, too.
    assert reader.texts("#subflow-table .count") == ["32 rows"]
    reader.page.select_option("#connection", label="m.1")
    assert reader.texts("#subflow-table .count") == ["16 of 32 rows"]
    names = "#subflow-table tbody tr:not(.spacer) td:nth-child(1)"
    assert set(reader.texts(names)) == {"m.1"}
    second = reader.page.locator("#connection-table button.plain", has_text="m.1")
    assert second.get_attribute("aria-pressed") == "true"
    second.focus()
    reader.page.keyboard.press("Enter")
    assert reader.texts("#subflow-table .count") == ["32 rows"]
    assert reader.page.evaluate("document.activeElement.textContent") == "m.1"
    # Lines go and come; their sum says of what it is.
    lines.first.focus()
    reader.page.keyboard.press("Enter")
    assert lines.first.get_attribute("aria-pressed") == "false"
    assert "these 3 paths" in (reader.page.locator("#path-chart .canvas").get_attribute("aria-label") or "")
    # Numbers by their size.
    heading = reader.page.locator("#subflow-table th", has_text="delivered")
    heading.locator("button").click()
    order = result.subflows.sort(["delivered_bytes", "flow", "subflow"], descending=[True, False, False])
    shown = reader.texts("#subflow-table tbody tr:not(.spacer) td:nth-child(2)")
    assert shown == [str(subflow) for subflow in order["subflow"]][: len(shown)]


def test_relatives_of_one_colour_have_lines_of_their_own(reader: Reader, tmp_path: Path) -> None:
    scenario = ABILENE.replace("flows = 6", "flows = 1").replace('"newreno"', '"cubic"')
    result = Scenario.loads(scenario, {"run.duration": "1 s"}).run()
    reader.open(save_run_report(result, tmp_path))
    keys = reader.page.locator("#series-legend button line").evaluate_all(
        "(all) => all.map((e) => `${e.getAttribute('stroke')} ${e.getAttribute('stroke-dasharray')}`)"
    )
    assert len(keys) == len(set(keys)) == 3


def test_dragging_the_map_by_a_link_or_node_chooses_nothing(reader: Reader, run: tuple[Path, Result]) -> None:
    reader.open(run[0])
    number = reader.texts("#map .label").index("Seattle")
    node = reader.page.locator(f'[data-node="{number}"]')
    node.scroll_into_view_if_needed()
    box = node.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    reader.page.mouse.move(x, y)
    reader.page.mouse.down()
    reader.page.mouse.move(x + 80, y + 40, steps=5)
    reader.page.mouse.up()
    after = node.bounding_box()
    assert after is not None
    assert after["x"] - box["x"] == pytest.approx(80, abs=1)
    assert reader.page.locator("#route-from").input_value() == ""
    # A click is one, also when it follows.
    reader.page.mouse.click(x + 80, y + 40)
    assert reader.page.locator("#route-from").evaluate("(e) => e.selectedOptions[0].text") == "Seattle"


SHORT = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
[network.links]
capacity = "1 Gbps"
delay = "1 us"
[[traffic]]
from = "left1"
to = "right1"
[run]
duration = "5 ms"
sample_interval = "500 us"
"""


def test_a_short_run_has_one_unit_of_time_and_its_labels_lie_free(reader: Reader, tmp_path: Path) -> None:
    reader.open(save_run_report(Scenario.loads(SHORT).run(), tmp_path))
    reader.page.focus("#time")
    reader.page.keyboard.press("ArrowRight")
    assert reader.texts("#time-value") == ["0.5 ms"]
    tools = reader.page.locator(".zoom").bounding_box()
    assert tools is not None
    labels = reader.page.locator("#map .label:visible").all()
    assert len(labels) >= 4
    for label in labels:
        box = label.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] < tools["x"] or box["y"] > tools["y"] + tools["height"]


def test_themes_and_print(reader: Reader, run: tuple[Path, Result]) -> None:
    reader.open(run[0])
    ground = "getComputedStyle(document.body).backgroundColor"
    light = reader.page.evaluate(ground)
    reader.page.get_by_role("button", name="Dark theme").click()
    dark = reader.page.evaluate(ground)
    assert sum(map(int, dark[4:-1].split(","))) < 100 < sum(map(int, light[4:-1].split(",")))
    reader.page.emulate_media(media="print")
    reader.page.wait_for_selector("html.printing")
    assert reader.page.evaluate(ground) == "rgb(255, 255, 255)"
    # Every row is there, not only those that were in sight.
    assert reader.page.locator("#link-table tbody tr:not(.spacer)").count() == 28
    assert reader.page.evaluate("getComputedStyle(document.querySelector('.tools')).display") == "none"
    reader.page.emulate_media(media="screen")
    reader.page.wait_for_selector("html:not(.printing)")
    assert reader.page.evaluate(ground) == dark
    assert reader.page.pdf().startswith(b"%PDF")


def test_the_system_says_dark(browser: "playwright.Browser", run: tuple[Path, Result]) -> None:
    page = browser.new_page(color_scheme="dark")
    Reader(page).open(run[0])
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 23, 29)"
    page.close()


@pytest.mark.parametrize("width", [360, 800])
def test_a_narrow_page_does_not_overflow(reader: Reader, run: tuple[Path, Result], width: int) -> None:
    reader.page.set_viewport_size({"width": width, "height": 800})
    reader.open(run[0])
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width


def test_everything_is_reached_by_keyboard(reader: Reader, run: tuple[Path, Result]) -> None:
    reader.open(run[0])
    reached = []
    for _ in range(60):
        reader.page.keyboard.press("Tab")
        reached.append(reader.page.evaluate("document.activeElement.id || document.activeElement.className"
                                            " || document.activeElement.tagName"))  # fmt: skip
    order = [
        reached.index(name) for name in ("theme", "play", "time", "whole", "route-from", "route-to", "series")
    ]
    assert order == sorted(order)
    assert "viewport" in reached
    for control in reader.page.locator("button, input, select, [tabindex='0']").all():
        name = control.evaluate(
            "(e) => e.textContent.trim() || e.ariaLabel || e.labels?.[0]?.textContent"
            " || e.getAttribute('aria-labelledby')"
        )
        assert name, control.evaluate("(e) => e.outerHTML")


def test_names_of_a_scenario_are_never_html(reader: Reader, tmp_path: Path) -> None:
    result = hostile(tmp_path)
    reader.open(save_run_report(result, tmp_path, f"# {EVIL}"))
    reader.page.select_option("#route-from", label=EVIL)
    reader.page.locator(".link").first.hover(force=True)
    assert reader.page.title() == f"{EVIL} & more"
    assert reader.page.locator("img").count() == 0
    assert EVIL in reader.texts("#map .label")
    assert reader.page.evaluate("document.scripts.length") == 3


def test_ten_thousand_flows_open_in_three_seconds(reader: Reader, tmp_path: Path) -> None:
    result = Scenario.loads(TEN_THOUSAND).run()
    assert result.flows.height >= 10_000
    file = save_run_report(result, tmp_path)
    # The best of three: the bound is on the page, not on what else this machine does.
    assert min(reader.open(file) for _ in range(3)) < 3
    assert reader.page.evaluate("document.querySelectorAll('#flow-table tr').length") < 100
    view = reader.page.locator("#flow-table .viewport")
    view.focus()
    reader.page.keyboard.press("End")
    last = result.flows["name"][-1]
    playwright.expect(reader.page.locator("#flow-table tbody")).to_contain_text(last)


def test_a_study_in_the_browser(reader: Reader, tmp_path: Path) -> None:
    reader.open(save_study_report(make(GAP, TRANSPORT), tmp_path))
    assert reader.page.locator("svg.plot").count() == 1
    assert reader.texts("#cell-table .count") == ["12 rows"]
    heading = reader.page.locator("#cell-table th", has_text="mean flow completion").locator("button")
    heading.click()
    # The largest mean by the formula: 12 cells, from 1.25 in steps of 1.
    assert "12.25" in reader.texts("#cell-table tbody tr:not(.spacer)")[0]


def test_the_map_has_the_scale_and_the_widths_of_print(reader: Reader, tmp_path: Path) -> None:
    """One declaration: what print draws a link with is what the page has of it."""
    scenario = ABILENE.replace('links]\ncapacity = "10 Mbps"', 'links]\ncapacity = "1 Gbps"', 1)
    slow = 'between = ["Denver", "Houston"]\nnew = true\ncapacity = "10 Mbps"\ndelay = "9 ms"'
    scenario = scenario.replace("[routing]", f"[[network.link]]\n{slow}\n[routing]")
    result = Scenario.loads(scenario, {"run.duration": "1 s"}).run()
    shares = link_widths(result.links["capacity_mbps"].to_list())
    # Two decades: the narrowest has a third of the width of the widest.
    assert (min(shares), max(shares)) == pytest.approx((1 / 3, 1))
    reader.open(save_run_report(result, tmp_path))
    drawn = reader.page.locator(".link").evaluate_all(
        "(links) => links.map((link) => "
        "link.getAttribute('points').split(' ').map((corner) => corner.split(',').map(Number)))"
    )
    # The first and the last corner of a band are at its foot.
    feet = [math.dist(corners[0], corners[-1]) for corners in drawn]
    widest = max(feet)
    assert [foot / widest for foot in feet] == pytest.approx(shares, abs=0.03)
    colours = LinearSegmentedColormap.from_list("links", RAMP)
    for link, share in enumerate(result.links["utilization"]):
        expected = [round(255 * part) for part in colours(share)[:3]]
        shown = [int(text) for text in re.findall(r"\d+", fill(reader, link))]
        assert shown == pytest.approx(expected, abs=3)
    assert reader.texts("#width-words") == ["Width: capacity, 10 Mbps to 1 Gbps"]


def test_an_overload_has_its_colour_and_edge_on_a_page(
    reader: Reader, run: tuple[Path, Result], tmp_path: Path
) -> None:
    result = run[1]
    link = busiest(result)
    over = pl.when(pl.col("link") == link).then(1.2).otherwise(pl.col("utilization"))
    tables = {**result.tables, "links": result.links.with_columns(utilization=over)}
    reader.open(save_run_report(Result(tables, result.summary), tmp_path))
    assert fill(reader, link) == "rgb({}, {}, {})".format(*bytes.fromhex(OVERLOAD[1:]))
    assert reader.page.locator(".link.over").count() == 1
