"""Studios for tests, each with its server in a thread, over a folder of its own."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# What the tests share lies beside them; the browser is that of the pages of results.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "report"))

from reader import browser
from running_studio import EXAMPLES, Running

from anabranch.errors import LiveError

if TYPE_CHECKING:
    from playwright import sync_api as playwright
    from studio_tabs import Tab

__all__ = ["browser"]


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts studios over a folder with ``first.toml`` in it."""
    running: list[Running] = []
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copyfile(EXAMPLES / "first.toml", folder / "first.toml")

    def start(**more: Any) -> Running:
        running.append(Running(folder, **more).start())
        return running[-1]

    yield start
    for each in running:
        each.stop()


@pytest.fixture
def tabs(browser: "playwright.Browser", studio: Callable[..., Running]) -> Iterator[Callable[..., "Tab"]]:
    """Opens tabs of a studio over a folder; nothing may go wrong in them."""
    from studio_tabs import SHORT, Tab  # noqa: PLC0415 - tests without a browser need no Playwright

    opened: list[Tab] = []

    def open_tab(running: Running | None = None, **more: Any) -> Tab:
        if running is None:
            running = studio(first="first.toml")
            (running.folder / "first.toml").write_text(SHORT)
        page = browser.new_page(
            **({"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"} | more)
        )
        opened.append(Tab(page, running))
        return opened[-1].open()

    yield open_tab
    for each in opened:
        each.page.close()
        assert each.wrong == []


@pytest.fixture(scope="session")
def can_run() -> None:
    """Skips where there may be no live run."""
    from anabranch.live.machine import check_machine  # noqa: PLC0415 - needs Linux

    try:
        check_machine(["cubic", "reno"])
    except LiveError as error:
        pytest.skip(f"not here: live runs: {error}")
