"""A page of sections as a file: what it holds, what it refers to, and what it refuses."""

import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from html_runs import EVIL
from made_page import COLUMNS, drawing, made_page
from rich.console import Console

from anabranch.media.columns import Column
from anabranch.media.files import save_csv
from anabranch.media.markdown import article_text
from anabranch.media.page.sections import page, save_page
from anabranch.media.pieces import Article, Card, DataTable, Figure, Link, Section, Worded
from anabranch.media.terminal import show
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
        page(Article("t", [], [], [Section("a", "A", figures=[Figure("f", b"GIF89a")])]))


def test_numbers_are_sorted_in_full_and_what_is_missing_has_none() -> None:
    table = DataTable.of_rows(
        "t", "t", (Column("x", "x", digits=3),), [(1.23456789,), (None,), (float("nan"),)]
    )
    text = page(Article("t", [], [Card("a", "1")], [Section("s", "S", tables=[table])]))
    assert re.findall(r'<td class="num"( data-value="[^"]*")?>\s*([^<]*?)\s*</td>', text) == [
        (' data-value="1.23456789"', "1.23"), ("", "\N{EN DASH}"), ("", "\N{EN DASH}"),
    ]  # fmt: skip


def test_a_page_that_cannot_be_right_is_refused() -> None:
    with pytest.raises(ValueError, match="sections share the keys a"):
        Article("t", [], [], [Section("a", "A"), Section("a", "B")])
    with pytest.raises(ValueError, match='"short" has a row that is not 4 cells long'):
        DataTable.of_rows("short", "short", COLUMNS, [("x",)])


def test_the_same_page_has_the_same_bytes(tmp_path: Path) -> None:
    assert made_page() == made_page()
    document = Article("A title", ["Lead."], [], [Section("a", "A")])
    file = save_page(tmp_path / "new", document)
    assert file == tmp_path / "new" / "report.html"
    assert file.read_text(encoding="utf-8") == page(document)


WORDED = DataTable.of_rows(
    "loads",
    "Loads",
    (Column("name", "name", priority=9), Column("load", "load", format=",.1f", priority=9, limit=1.0)),
    [("a", Worded("1.5 \N{PLUS-MINUS SIGN} 0.2", 1.5)), ("b", Worded("- (1)", None))],
)


def test_a_number_with_words_of_its_own_is_one_in_every_medium(tmp_path: Path) -> None:
    text = page(Article("t", [], [], [Section("s", "S", tables=[WORDED])]))
    assert re.findall(r'<td class="num"( data-value="[^"]*")?>\s*([^<]*?)\s*</td>', text) == [
        (' data-value="1.5"', "1.5 \N{PLUS-MINUS SIGN} 0.2"), ("", "- (1)"),
    ]  # fmt: skip
    assert "| a | 1.5 \N{PLUS-MINUS SIGN} 0.2 |" in article_text(
        Article("t", [], [], [Section("s", "S", tables=[WORDED])])
    )
    # A file has the number alone, and a terminal marks it where it is an overload.
    (file,) = save_csv([WORDED], tmp_path)
    assert file.read_text(encoding="utf-8").split() == ["name,load", "a,1.5", "b,"]
    console = Console(width=80, file=StringIO())
    show(console, [WORDED])
    assert "! 1.5 \N{PLUS-MINUS SIGN} 0.2" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "! -" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_an_article_as_text_has_all_that_its_page_has_but_the_cards() -> None:
    section = Section(
        "s", "All of it", [("See ", Link("there", "x.html"), ".")], [WORDED],
        [Figure("A drawing", b"<svg/>", href="figures/a.svg"), Figure("Of the page alone", b"<svg/>")],
        notes=["(1) not measured", "(2) unknown"],
    )  # fmt: skip
    assert article_text(Article("Title", ["Lead."], [Card("n", "1")], [section])) == (
        "# Title\n\nLead.\n\n## All of it\n\nSee [there](x.html).\n\nLoads:\n\n"
        "| name | load |\n| --- | ---: |\n"
        "| a | 1.5 \N{PLUS-MINUS SIGN} 0.2 |\n| b | - (1) |\n\n(1) not measured  \n(2) unknown  \n\n"
        "![A drawing](figures/a.svg)\n"
    )
