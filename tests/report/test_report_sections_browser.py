"""A page of sections in a real browser: sorted, filtered, in the dark and on paper."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from html_runs import EVIL
from made_page import made_page
from reader import Reader

if TYPE_CHECKING:
    from playwright import sync_api as playwright


@pytest.fixture
def sections(tmp_path: Path) -> Path:
    """The page of sections, whose rows are written so that each order is known beforehand."""
    file = tmp_path / "report.html"
    file.write_text(made_page(), encoding="utf-8")
    return file


LINKS = "#section-5\\.4 tbody tr:visible td:first-child"


def test_a_page_of_sections_is_sorted_by_click_and_by_keyboard(reader: Reader, sections: Path) -> None:
    reader.open(sections)
    assert reader.page.title() == EVIL
    assert reader.texts("nav a") == ["All links", "Pictures"]
    first = reader.texts(LINKS)
    assert first == ["link 10", "link 9", "link 2", "link 1"]
    heading = reader.page.locator("#section-5\\.4 th", has_text="goodput")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    # Numbers by their size, and what has none comes last, whichever way.
    assert reader.texts(LINKS) == ["link 2", "link 1", "link 10", "link 9"]
    reader.page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert reader.texts(LINKS) == ["link 10", "link 1", "link 2", "link 9"]
    reader.page.locator("#section-5\\.4 th", has_text="link").locator("button").focus()
    reader.page.keyboard.press("Space")
    # Numbers inside of words as numbers.
    assert reader.texts(LINKS) == ["link 1", "link 2", "link 9", "link 10"]
    assert heading.get_attribute("aria-sort") is None
    # The other table is as it was.
    assert reader.texts("#section-pictures td:first-child") == first


def test_a_page_of_sections_is_filtered_by_text_and_by_verdict(reader: Reader, sections: Path) -> None:
    reader.open(sections)
    assert reader.page.locator(".adopted .tools").count() == 1
    count = reader.page.locator(".adopted .tools .count")
    assert count.inner_text() == "4 rows"
    verdict = reader.page.get_by_label("verdict")
    assert verdict.locator("option").all_text_contents() == [
        "all", "agrees", "differs, and it is known why", "differs",
    ]  # fmt: skip
    verdict.select_option("agrees")
    assert count.inner_text() == "2 of 4 rows"
    assert reader.texts(LINKS) == ["link 10", "link 1"]
    reader.page.get_by_label("Filter: Links").fill("OWNED")
    assert reader.texts(LINKS) == ["link 1"]
    verdict.select_option("")
    reader.page.get_by_label("Filter: Links").fill("the window")
    assert reader.texts(LINKS) == ["link 9"]


def test_a_page_of_sections_in_the_dark_on_paper_and_on_a_telephone(reader: Reader, sections: Path) -> None:
    reader.open(sections)
    for image in reader.page.locator("img").all():
        assert image.evaluate("(image) => image.naturalWidth") > 100
    ground = "getComputedStyle(document.body).backgroundColor"
    reader.page.get_by_role("button", name="Dark theme").click()
    assert reader.page.evaluate(ground) == "rgb(17, 23, 29)"
    # Light letters on a dark badge, with the contrast that WCAG 1.4.3 asks for.
    for badge in reader.page.locator(".badge").all():
        assert contrast(badge) >= 4.5
    reader.page.get_by_role("button", name="Light theme").click()
    for badge in reader.page.locator(".badge").all():
        assert contrast(badge) >= 4.5
    reader.page.emulate_media(media="print")
    assert reader.page.evaluate(ground) == "rgb(255, 255, 255)"
    assert reader.page.locator(".adopted .tools input").is_hidden()
    reader.page.emulate_media(media="screen")
    reader.page.set_viewport_size({"width": 360, "height": 800})
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 360


def contrast(element: "playwright.Locator") -> float:
    """The contrast of an element's letters to its ground (WCAG 2.2)."""
    colors = element.evaluate("(e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")

    def luminance(color: str) -> float:
        parts = [int(part) / 255 for part in color.removeprefix("rgb(").removesuffix(")").split(",")]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted(map(luminance, colors))
    return (light + 0.05) / (dark + 0.05)
