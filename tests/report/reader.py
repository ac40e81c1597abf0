"""A page in a real browser, as a reader has it before him."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright import sync_api as playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = os.environ.get("ANABRANCH_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class Reader:
    """A page, and everything that went wrong with it or left it."""

    def __init__(self, page: "playwright.Page") -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", self._request)

    def _request(self, request: "playwright.Request") -> None:
        if not request.url.endswith("/report.html") or not request.url.startswith("file:"):
            self.wrong.append(f"request: {request.url}")

    def open(self, file: Path) -> float:
        """Opens a page; seconds until it has drawn itself."""
        begin = time.perf_counter()
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-ready]")
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        return time.perf_counter() - begin

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector finds."""
        return [text.strip() for text in self.page.locator(selector).all_text_contents()]


@pytest.fixture(scope="module")
def browser() -> Iterator["playwright.Browser"]:
    """A Chromium; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="not installed: Playwright")
    if BROWSER is None:
        pytest.skip("not installed: Chromium, and ANABRANCH_BROWSER names none")
    with playwright.sync_playwright() as started:
        # The sandbox needs rights that a container does not have; the pages are our own.
        browser = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def reader(browser: "playwright.Browser") -> Iterator[Reader]:
    """A page of the browser; nothing may go wrong with it."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    reader = Reader(page)
    yield reader
    page.close()
    assert reader.wrong == []
