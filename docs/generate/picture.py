"""The picture of the README: the page of examples/first.toml in a browser, during its outage.

    python docs/generate/picture.py docs/figures/report.png

Needs Playwright and a Chromium, found as ``tests/report`` finds it.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from anabranch import Scenario

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# What a reader of the README need not see: it is about one look at a run.
HIDDEN = """
nav, header button, #pair-routes, #series .nothing, #cwnd-chart, #queue-chart, details,
#distributions, #flows, #links, #scenario, footer, .cards > :nth-child(n+7) { display: none !important; }
"""
DURING_OUTAGE_S = 15.0
WIDTH, COLOURS = 1180, 256


def show_outage(page: Page) -> None:
    """Moves the slider to the middle of the outage."""
    slider = page.locator("input[type=range]")
    steps = int(slider.get_attribute("max") or 0)
    # Step 0 is the whole run; 30 s are cut into equal steps.
    slider.evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }",
        str(round(steps * DURING_OUTAGE_S / 30)),
    )


def main(file: Path) -> None:
    """Runs the scenario and keeps a picture of its page."""
    browser_path = os.environ.get("ANABRANCH_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        Scenario.load(ROOT / "examples" / "first.toml").run(out=f"{folder}/first")
        # The sandbox needs rights that a container does not have; the page is our own.
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": WIDTH, "height": 900}, color_scheme="light", device_scale_factor=1.5
        )
        page.goto(Path(f"{folder}/first/report.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        page.add_style_tag(content=HIDDEN)
        show_outage(page)
        page.wait_for_timeout(500)
        shot = Path(folder) / "shot.png"
        page.screenshot(path=shot, full_page=True)
        browser.close()
        # A palette makes it a third as large, with no difference to the eye.
        Image.open(shot).convert("RGB").quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
