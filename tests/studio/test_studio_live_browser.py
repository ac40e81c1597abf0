"""A live run in a real browser: what somebody sees while it goes on, and afterwards."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright import sync_api as playwright
from processes import children, namespaces, until
from running_studio import EXAMPLES, Running
from studio_tabs import Tab

from anabranch.errors import LiveError

Start = Callable[..., Running]
Tabs = Callable[..., Tab]
LIVE = (EXAMPLES / "live.toml").read_text()


def opened(tabs: Tabs, studio: Start, duration: str) -> Tab:
    running = studio(first="live.toml")
    (running.folder / "live.toml").write_text(LIVE.replace('"10 s"', f'"{duration}"'))
    return tabs(running)


@pytest.mark.usefixtures("can_run")
def test_a_live_run_is_seen_as_it_happens_and_beside_its_simulation(
    tabs: Tabs, studio: Start, tmp_path: Path
) -> None:
    tab = opened(tabs, studio, "4 s")
    before = tab.shown()
    tab.page.get_by_role("button", name="Run live").click()
    tab.page.wait_for_selector("#network[data-kind=live]", timeout=30_000)
    # Lines come while it goes on, over those of the simulation.
    tab.page.wait_for_selector("#series-legend [data-key=beside]", timeout=30_000)
    tab.page.wait_for_function("() => /^[1-4]/.test(document.querySelector('#cards .value')?.textContent)")
    assert tab.shown() == before
    assert tab.page.locator("#goodput-chart canvas").count() == 1
    assert tab.page.locator("#flows").is_hidden()
    assert tab.page.locator("#stop").is_visible()
    assert "s live" in tab.page.inner_text("#state-words")
    tab.page.screenshot(path=tmp_path / "while.png", full_page=True)
    assert tab.axe() == []
    tab.page.wait_for_function(
        "(n) => Number(document.documentElement.dataset.shown) > n", arg=before, timeout=60_000
    )
    assert "simulated and run live" in tab.page.inner_text("#state-words")
    assert tab.page.inner_text("#compare-name") == "simulated"
    assert "linux-reno" in tab.page.inner_text("#compare-flows")
    assert tab.page.locator("#flows").is_visible()
    assert tab.page.locator("#stop").is_hidden()
    assert tab.axe() == []
    tab.page.screenshot(path=tmp_path / "after.png", full_page=True)
    # A change goes on with simulation, beside the same.
    tab.after(lambda: tab.page.get_by_label("network · links · queue", exact=True).fill("100"))
    assert "simulated in" in tab.page.inner_text("#state-words")


@pytest.mark.usefixtures("can_run")
def test_stop_and_a_page_that_closes_end_a_live_run(tabs: Tabs, studio: Start) -> None:
    tab = opened(tabs, studio, "60 s")
    live = tab.page.get_by_role("button", name="Run live")
    live.click()
    tab.page.wait_for_selector("#network[data-kind=live]", timeout=30_000)
    tab.page.wait_for_function("() => /^[1-9]/.test(document.querySelector('#cards .value')?.textContent)")
    tab.after(lambda: tab.page.click("#stop"))
    assert "stopped before its end" in tab.page.inner_text("#cards")
    until(lambda: not namespaces(children()), 5)
    live.click()
    until(lambda: namespaces(children()))
    tab.page.goto("about:blank")
    until(lambda: not namespaces(children()), 10)


def test_a_button_says_why_there_are_no_live_runs(tabs: Tabs, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise LiveError("live runs need root")

    monkeypatch.setattr("anabranch.live.machine.check_machine", refused)
    tab = tabs()
    button = tab.page.get_by_role("button", name="Run live")
    playwright.expect(button).to_have_attribute("aria-disabled", "true")
    assert button.get_attribute("title") == "live runs need root"
    button.click(force=True)
    assert tab.page.inner_text("#said") == "live runs need root"
    assert tab.axe() == []
