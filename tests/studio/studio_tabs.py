"""Tabs of a studio in a real browser, and what may be done in them."""

import tomllib
from collections.abc import Callable
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright import sync_api as playwright
from running_studio import EXAMPLES, Running

SHORT = (
    (EXAMPLES / "first.toml")
    .read_text()
    .replace('"30 s"', '"3 s"')
    .replace('"10 s"', '"1 s"')
    .replace('"20 s"', '"2 s"')
)


class Tab:
    """A tab with the studio, and everything that went wrong in it or left this machine."""

    def __init__(self, page: playwright.Page, running: Running) -> None:
        self.page = page
        self.running = running
        self.wrong: list[str] = []
        self.expects_gone = False
        page.on("console", self._message)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", self._request)
        page.on("dialog", lambda dialog: dialog.accept())

    def _message(self, message: playwright.ConsoleMessage) -> None:
        if not (self.expects_gone and "ERR_CONNECTION" in message.text):
            self.wrong.append(f"console: {message.text}")

    def _request(self, request: playwright.Request) -> None:
        own_text = f"http://127.0.0.1:{self.running.port}/"
        if not request.url.startswith((own_text, "data:", "blob:", "about:")):
            self.wrong.append(f"request: {request.url}")

    def open(self) -> "Tab":
        self.page.goto(self.running.address)
        self.page.wait_for_selector("html[data-ready]")
        self.page.wait_for_selector("html[data-shown]", state="attached")
        return self

    def shown(self) -> int:
        """How many pictures there have been."""
        return int(self.page.get_attribute("html", "data-shown") or 0)

    def after(self, act: Callable[[], Any]) -> None:
        """Does something, and waits for the next picture."""
        before = self.shown()
        act()
        self.page.wait_for_function("(n) => Number(document.documentElement.dataset.shown) > n", arg=before)

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name, exact=True).click()

    @property
    def text(self) -> str:
        return self.page.input_value("#toml")

    @property
    def data(self) -> dict[str, Any]:
        return tomllib.loads(self.text)

    def card(self, label: str) -> str:
        return self.page.locator("#cards .card", has_text=label).locator(".value").inner_text()

    def save(self) -> None:
        self.page.keyboard.press("Control+s")
        self.page.wait_for_function("() => document.getElementById('save').textContent === 'Save'")

    def axe(self) -> list[str]:
        """Findings of axe that are serious or critical."""
        violations = Axe().run(self.page).response["violations"]
        return [
            f"{each['id']}: {node['html'][:120]}"
            for each in violations if each["impact"] in ("serious", "critical") for node in each["nodes"]
        ]  # fmt: skip
