"""The studio without an installation: the core in the browser answers as the program does."""

import base64
import re
import shlex
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright import sync_api as playwright
from running_studio import EXAMPLES
from static_site import ASK, built, plain, served, unlike

from anabranch import Scenario
from anabranch.report.html.run_data import run_document
from anabranch.studio.keeping import command_line
from anabranch.studio.texts import ScenarioText, edited

CLASSROOM = sorted(file.stem for file in (EXAMPLES / "classroom").glob("*.toml"))
TABLES = """async ([text, network]) => {
  const core = await import("./anabranch_wasm.js");
  await core.default();
  const given = network && await (await fetch(`networks/${network}`)).text();
  const simulation = new core.Scenario(text).start(given || undefined);
  simulation.advance();
  const digits = (byte) => byte.toString(16).padStart(2, "0");
  const bytes = ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength);
  const hex = (view) => Array.from(bytes(view), digits).join("");
  const names = (values) => Array.from(values.places, (place) => values.names[place]);
  const texts = (values) => Array.isArray(values) ? values : names(values);
  const told = (values) => ArrayBuffer.isView(values) ? hex(values) : texts(values);
  const tables = simulation.finish().tables;
  return Object.fromEntries(Object.entries(tables).map(([name, table]) =>
    [name, Object.fromEntries(Object.entries(table).map(([column, values]) => [column, told(values)]))]));
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page."""
    with served(built(tmp_path_factory.mktemp("site"))) as found:
        yield found


class Page:
    """A tab with the page, and everything that went wrong in it or left this machine."""

    def __init__(self, page: playwright.Page, address: str) -> None:
        self.page, self.address = page, address
        self.wrong: list[str] = []
        self.requests: list[playwright.Request] = []
        page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", self._request)

    def _request(self, request: playwright.Request) -> None:
        self.requests.append(request)

    def open(self, fragment: str = "") -> "Page":
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}{fragment}")
        self.page.wait_for_selector("html[data-shown]", state="attached")
        return self

    def ask(self, what: str, **question: Any) -> Any:
        answer = self.page.evaluate(ASK, {"what": what, **question})
        assert "answer" in answer, answer.get("error")
        return answer["answer"]

    def refused(self, what: str, **question: Any) -> str:
        return str(self.page.evaluate(ASK, {"what": what, **question})["error"])

    def after(self, act: Any) -> None:
        """Does something, and waits for the next picture."""
        before = int(self.page.get_attribute("html", "data-shown") or 0)
        act()
        self.page.wait_for_function("(n) => Number(document.documentElement.dataset.shown) > n", arg=before)


@pytest.fixture
def page(browser: playwright.Browser, address: str) -> Iterator[Page]:
    """The page in a browser with an empty cache; nothing may go wrong, and nothing may leave this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    made = Page(context.new_page(), address)
    yield made
    context.close()
    assert made.wrong == []
    for request in made.requests:
        assert request.method == "GET", request.url
        assert request.url.startswith((address, "data:", "blob:", "about:")), request.url


COLLECTIVES = """
[network]
node = [
    { name = "a", kind = "host" }, { name = "b", kind = "host" },
    { name = "c", kind = "host" }, { name = "s" },
]
links = { capacity = "100 Gbps", delay = "1 us", queue = { algorithm = "trim", limit = "100 packets" } }
link = [
    { between = ["a", "s"], new = true }, { between = ["b", "s"], new = true },
    { between = ["c", "s"], new = true },
]
[[traffic]]
name = "gather"
from = ["a", "b", "c"]
transport = "uet"
collective = { operation = "all-gather", bytes = "100 kB" }
[[traffic]]
name = "cut"
from = ["a", "c"]
transport = "uet"
collective = { operation = "all-to-all", bytes = "100 MB" }
[run]
duration = "1 ms"
"""
"""One operation is complete, the other is not."""


@pytest.mark.parametrize(
    "name", ["first", "failure", "rrul", *(f"classroom/{stem}" for stem in CLASSROOM), "collectives"]
)
def test_the_picture_is_that_of_the_program(page: Page, name: str, tmp_path: Path) -> None:
    # Cards, tables, lines, distributions, routes, places of nodes, notes: the whole document.
    page.page.goto(page.address)
    file = EXAMPLES / f"{name}.toml"
    if name == "collectives":
        file = tmp_path / "collectives.toml"
        file.write_text(COLLECTIVES)
    answer = page.ask("show", file=file.name, text=file.read_text())
    assert answer["problems"] == []
    mine, theirs = answer["picture"], plain(run_document(Scenario.load(file).run()))
    for only in ("facts", "scenario"):
        del theirs[only]
    # The page says what it leaves out.
    assert mine["notes"].pop().endswith("anabranch run FILE.")
    assert unlike(theirs, mine) == []
    # Tables have the bits, not only the digits.
    for table in ("flows", "links"):
        assert _exact(mine[table]) == _exact(theirs[table])


def _exact(table: dict[str, Any]) -> list[list[str]]:
    """The columns of a table that have all 64 bits, as texts, of which each number has its own."""
    columns = (column.get("data", {}) for column in table["columns"])
    return [
        ["none" if str(value).lower() == "nan" else repr(float(value)) for value in data["values"]]
        for data in columns
        if data.get("kind") == "f8"
    ]


@pytest.mark.parametrize("name", ["first", "classroom/mptcp_failover"])
def test_the_tables_of_the_core_are_those_of_a_run_byte_for_byte(page: Page, name: str) -> None:
    page.page.goto(page.address)
    file = EXAMPLES / f"{name}.toml"
    scenario = Scenario.load(file)
    network = f"{scenario.network.topology}.json".lower() if scenario.network.topology else ""
    tables = page.page.evaluate(TABLES, [file.read_text(), network])
    result = scenario.run()
    assert tables.keys() <= result.tables.keys()
    for name_, columns in tables.items():
        for column, values in columns.items():
            series = result.tables[name_][column]
            if isinstance(values, str):
                kind = np.uint64 if series.dtype.is_integer() else np.float64
                mine = np.frombuffer(bytes.fromhex(values), kind)
                theirs = series.to_numpy().astype(kind)
                # What is not a number has many forms; all else has one.
                is_number = ~np.isnan(mine)
                assert mine[is_number].tobytes() == theirs[is_number].tobytes()
                assert (~is_number).sum() == series.null_count()
            else:
                assert [text or None for text in values] == series.to_list(), (name_, column)


def test_changes_of_fields_are_those_of_the_program(page: Page) -> None:
    page.page.goto(page.address)
    text = (EXAMPLES / "first.toml").read_text()
    changes = [
        {"place": "network.links.queue", "typed": "50 packets"},
        {"place": ["traffic", 0, "transport"], "value": "bbr"},
        {"place": ["run", "seed"], "typed": "7"},
        {"place": "title", "value": 'a "quoted" one\n\u00e9\x7f'},
        {"place": ["event"], "append": {"at": "25 s", "link": ["Denver", "Kansas City"], "state": "down"}},
        {"place": ["network", "link"], "value": [{"between": ["Denver", "Seattle"], "loss": 0.25}]},
        {"place": ["event", 1], "remove": True},
    ]
    assert page.ask("show", file="first.toml", text=text, changes=changes)["text"] == edited(text, changes)
    assert "leads to no place" in page.refused(
        "show", text=text, changes=[{"place": "run.seed.x", "value": 1}]
    )


def test_a_slider_runs_the_core_and_mistakes_stand_at_their_places(page: Page) -> None:
    page.open()
    longest = page.page.locator("#cards .card", has_text="Longest queue").locator(".value")
    assert longest.inner_text() == "100 packets"
    queue = (
        page.page.locator("#panel-controls input[type=text]").filter(has=page.page.locator(":scope")).nth(3)
    )
    page.after(lambda: (queue.fill("20 packets"), queue.press("Enter")))
    assert longest.inner_text() == "20 packets"
    page.page.get_by_role("tab", name="Text", exact=True).click()
    toml = page.page.locator("#toml")
    page.after(lambda: toml.fill(toml.input_value().replace('scheme = "disjoint"', 'scheme = "disjoin"')))
    assert re.search(r'line \d+: routing\.scheme: .*"disjoint"', page.page.inner_text("#problems"))
    assert page.page.locator("#picture.is-stale").count() == 1


def test_a_link_carries_the_scenario_behind_the_hash(page: Page) -> None:
    page.open("#example=classroom/slow_start.toml")
    page.page.click("#keep-link")
    assert (
        page.page.locator("#dialog pre").inner_text() == f"{page.address}#example=classroom/slow_start.toml"
    )
    page.page.keyboard.press("Escape")
    page.page.get_by_role("tab", name="Text", exact=True).click()
    toml = page.page.locator("#toml")
    text = toml.input_value().replace("Slow start", "Slow start, é <b>").replace('"20 Mbps"', '"5 Mbps"')
    page.after(lambda: toml.fill(text))
    page.page.click("#keep-link")
    # The dialog of the first link has stayed in the page.
    link = page.page.locator("#dialog pre", has_text="scenario=").inner_text()
    before = len(page.requests)
    page.open(link.removeprefix(page.address) + "&mode=routes")
    assert page.page.locator("input[name=mode][value=routes]").is_checked()
    assert page.page.locator("#plan-tables tbody").count() == 1
    assert page.page.locator("#toml").input_value() == text
    assert not any("scenario=" in request.url.split("#")[0] for request in page.requests[before:])
    page.page.goto("about:blank")
    bomb = zlib.compress(b" " * 3_000_000, wbits=-15)
    for broken in ("AAAA", base64.urlsafe_b64encode(bomb).decode().rstrip("=")):
        page.page.goto("about:blank")
        page.page.goto(f"{page.address}#scenario={broken}")
        page.page.wait_for_selector("#banner:not([hidden])")
        assert "has not come whole" in page.page.inner_text("#banner")
        page.page.wait_for_selector("html[data-shown]", state="attached")


def test_the_command_is_that_of_the_program(page: Page, tmp_path: Path) -> None:
    page.page.goto(page.address)
    page.ask("welcome")
    text = (EXAMPLES / "first.toml").read_text()
    file = tmp_path / "first.toml"
    file.write_text(text)
    changed = edited(text, [
        {"place": "network.links.queue", "value": "it's 50 packets"},
        {"place": ["traffic", 1, "transport"], "value": "bbr"},
        {"place": "network.links.loss", "value": 0.25},
        {"place": "routing.scheme", "value": {"algorithm": "disjoint", "most": 3}},
        {"place": "title", "value": "7"},
    ])  # fmt: skip
    for shown, mode in ((changed, "run"), (text, "routes"), (text + "# a comment\n", "loads")):
        mine = page.ask("command", file="first.toml", text=shown, mode=mode)["command"]
        theirs = command_line(ScenarioText(shown, file), mode)
        # Each has its own order of fields.
        assert shlex.split(mine)[:3] == shlex.split(theirs)[:3]
        assert sorted(shlex.split(mine)) == sorted(shlex.split(theirs))
    assert mine == "anabranch load first.toml"
    fewer = text.replace('load_balancing = "packet"', "")
    assert "Save the scenario first" in page.refused("command", file="first.toml", text=fewer)
    assert "Save the scenario first" in page.refused("command", file="new.toml", text=text)


def test_a_link_to_no_example_is_told_and_the_page_is_there(page: Page) -> None:
    page.open("#example=nothing.toml")
    assert page.page.inner_text("#banner span").startswith("nothing.toml is no example of this page")
    assert page.page.locator("#file").input_value() == "first.toml"


def test_saving_gives_a_file_and_loading_takes_one(page: Page, tmp_path: Path) -> None:
    page.open("#example=classroom/slow_start.toml")
    with page.page.expect_download() as download:
        page.page.keyboard.press("Control+s")
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.read_bytes() == (EXAMPLES / "classroom" / "slow_start.toml").read_bytes()
    page.page.click("#import")
    page.page.set_input_files("#import-files", str(EXAMPLES / "classroom" / "unequal_rtts.toml"))
    page.after(page.page.get_by_role("button", name="Import", exact=True).last.click)
    assert page.page.locator("#file").input_value() == "unequal_rtts.toml"


def test_the_catalogue_is_there_and_what_a_page_has_not_names_the_command(page: Page) -> None:
    page.page.goto(page.address)
    names = [entry["name"] for entry in page.ask("topologies")["names"]]
    assert "zoo/Abilene" in names
    assert len(names) > 500
    made = page.ask("import", files=[], topology="sndlib/germany50")["text"]
    answer = page.ask("show", file="g.toml", text=made, mode="routes")
    assert answer["problems"] == []
    assert answer["picture"]["kind"] == "routes"
    assert len(answer["picture"]["network"]["names"]) == 50
    assert answer["picture"]["links"]["rows"] == 176
    text = (EXAMPLES / "first.toml").read_text()
    loads = page.ask("show", file="first.toml", text=text, mode="loads")
    assert "anabranch load first.toml" in loads["problems"][0]["message"]
    assert page.refused("keep", file="first.toml", name="x", text=text).endswith(
        "anabranch run first.toml --out results/x"
    )
    assert "anabranch studio" in page.refused("study", file="first.toml", text=text, factors=[])
    assert "--figures png" in page.refused("figures", file="first.toml", text=text)
    with_scheme = text.replace('scheme = "disjoint"', 'scheme = { python = "mine:Scheme" }')
    said = page.ask("show", file="first.toml", text=with_scheme)["problems"][0]
    assert said["place"] == "routing.scheme"
    assert "class of your own" in said["message"]
    nowhere = text.replace("zoo/Abilene", "zoo/<img src=x>")
    assert "no network" in page.ask("show", file="first.toml", text=nowhere)["problems"][0]["message"]
    page.wrong = [words for words in page.wrong if "404" not in words]


def test_a_long_run_says_how_far_it_is_and_stops(page: Page) -> None:
    page.open()
    page.page.get_by_role("tab", name="Text", exact=True).click()
    toml = page.page.locator("#toml")
    toml.fill(toml.input_value().replace('duration = "30 s"', 'duration = "3000 s"'))
    page.page.wait_for_selector("#stop:not([hidden])")
    page.after(lambda: page.page.click("#stop"))
    assert "stopped before its end" in page.page.inner_text("#cards")


def test_runs_of_two_tabs_go_on_in_turns_and_a_later_one_of_a_tab_replaces_the_first(page: Page) -> None:
    page.page.goto(page.address)
    text = (EXAMPLES / "first.toml").read_text()
    long = text.replace('duration = "30 s"', 'duration = "90 s"')
    answers = page.page.evaluate(
        f"""async ([text, long]) => {{
          const ask = {ASK};
          const show = (tab, text) => ask({{ what: "show", tab, file: "first.toml", text }});
          const every = [show("a", long), show("a-beside", long), show("b", long), show("b", text)];
          const told = ({{ answer }}) => [answer.picture?.ended_s ?? null, answer.replaced];
          return (await Promise.all(every)).map(told);
        }}""",
        [text, long],
    )
    assert answers == [[90, False], [90, False], [None, True], [30, False]]


def test_axe_finds_nothing_serious(page: Page) -> None:
    page.open()
    violations = Axe().run(page.page).response["violations"]
    assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []
