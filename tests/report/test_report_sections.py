"""A page of sections as a file: what it holds, what it refers to, and what it refuses."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from html_runs import EVIL
from made_page import COLUMNS, drawing, made_page

from anabranch.columns import Column
from anabranch.media.page.sections import page, save_page
from anabranch.media.pieces import Card, DataTable, Figure, Section
from anabranch.report.style import figure_bytes, picture


class Elements(HTMLParser):
    """Every element with its attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        """The values of an attribute, wherever it is."""
        return [attributes[name] or "" for _, attributes in self.found if name in attributes]


def test_a_page_fetches_nothing_and_runs_only_its_own_script() -> None:
    elements = Elements(made_page())
    assert [tag for tag, _ in elements.found].count("script") == 2
    sources = elements.values("src")
    assert len(sources) == 2
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert [reference for reference in elements.values("href") if not reference.startswith("#")] == [
        "two/report.html", "one/report.html", "one/report.html", "first.svg",
    ]  # fmt: skip
    assert not [name for _, attributes in elements.found for name in attributes if name.startswith("on")]
    (policy,) = [value for value in elements.values("content") if "default-src" in value]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy.split("script-src")[1]
    assert EVIL in elements.text


def test_every_section_is_in_the_table_of_contents() -> None:
    elements = Elements(made_page())
    sections = [a["id"] for tag, a in elements.found if tag == "section" and "id" in a]
    assert sections == ["section-5.4", "section-pictures"]
    assert [f"#{section}" for section in sections] == [
        v for v in elements.values("href") if v.startswith("#")
    ]
    names = elements.values("id")
    assert len(set(names)) == len(names)


def test_a_figure_is_the_bytes_of_its_file_and_large_ones_become_points() -> None:
    figure = drawing()
    assert picture("f", figure).image == figure_bytes(figure, "svg")
    axes = figure.axes[0]
    axes.scatter(range(9000), range(9000))
    assert len(figure_bytes(figure, "svg")) > 400_000
    assert picture("f", figure).image.startswith(b"\x89PNG")
    with pytest.raises(ValueError, match='"f" is neither SVG nor PNG'):
        page("t", "", [], [Section("a", "A", figures=[Figure("f", b"GIF89a")])])


def test_numbers_are_sorted_in_full_and_what_is_missing_has_none() -> None:
    table = DataTable.of_rows(
        "t", "t", (Column("x", "x", digits=3),), [(1.23456789,), (None,), (float("nan"),)]
    )
    text = page("t", "", [Card("a", "1")], [Section("s", "S", tables=[table])])
    assert re.findall(r'<td class="num"( data-value="[^"]*")?>\s*([^<]*?)\s*</td>', text) == [
        (' data-value="1.23456789"', "1.23"), ("", "\N{EN DASH}"), ("", "\N{EN DASH}"),
    ]  # fmt: skip


def test_a_page_that_cannot_be_right_is_refused() -> None:
    with pytest.raises(ValueError, match="sections share the keys a"):
        page("t", "", [], [Section("a", "A"), Section("a", "B")])
    with pytest.raises(ValueError, match='"short" has a row that is not 4 cells long'):
        DataTable.of_rows("short", "short", COLUMNS, [("x",)])


def test_the_same_page_has_the_same_bytes(tmp_path: Path) -> None:
    assert made_page() == made_page()
    file = save_page(tmp_path / "new", "A title", "Lead.", [], [Section("a", "A")])
    assert file == tmp_path / "new" / "report.html"
    assert file.read_text(encoding="utf-8") == page("A title", "Lead.", [], [Section("a", "A")])
