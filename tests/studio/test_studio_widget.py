"""The widget of notebooks: the page of the studio in a frame, and the scenario that its sliders make."""

import re
import urllib.request
from collections.abc import Iterator

import pytest
from playwright import sync_api as playwright
from running_studio import EXAMPLES
from static_site import served

from anabranch import Scenario
from anabranch.studio.widget import Widget


@pytest.fixture
def widget() -> Iterator[Widget]:
    """The widget of the first example."""
    made = Scenario.load(EXAMPLES / "first.toml").studio(height=500)
    yield made
    made.close()


def test_a_notebook_shows_the_sliders_and_reads_what_they_made(
    widget: Widget, browser: playwright.Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # A notebook is a page of another port of this machine.
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "index.html").write_text(f"<!doctype html><title>notebook</title>{widget._repr_html_()}")
    page = browser.new_page(viewport={"width": 900, "height": 700})
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    with served(folder) as address:
        page.goto(f"{address}index.html")
        frame = page.frame_locator("iframe")
        frame.locator("html[data-shown]").wait_for(state="attached")
        assert frame.locator("h1").is_hidden()
        queue = frame.get_by_label("network · links · queue", exact=False).and_(
            frame.locator("input[type=text]")
        )
        queue.fill("20 packets")
        queue.press("Enter")
        longest = frame.locator("#cards .card", has_text="Longest queue").locator(".value")
        playwright.expect(longest).to_have_text("20 packets")
    page.close()
    assert [words for words in wrong if "favicon" not in words and "404" not in words] == []
    # The scenario that runs is the one of the sliders, and the given one is as it was.
    assert widget.scenario.data()["network"]["links"]["queue"] == "20 packets"
    assert widget.scenario.run().links["queue_max_packets"].max() == 20


def test_nobody_but_notebooks_of_this_machine_may_frame_it(widget: Widget) -> None:
    with urllib.request.urlopen(widget.address.split("#")[0]) as answer:  # noqa: S310 - our own server
        policy = answer.headers["Content-Security-Policy"]
    ancestors = re.search(r"frame-ancestors ([^;]*)", policy)
    assert ancestors is not None
    assert ancestors[1].split() == ["http://127.0.0.1:*", "http://localhost:*", "vscode-webview:"]
