"""A page of sections to be tested, whose order after each sort is known beforehand."""

from html_runs import EVIL
from matplotlib.figure import Figure

from anabranch.media.columns import Column
from anabranch.media.page.sections import page
from anabranch.media.pieces import Article, Badge, Card, DataTable, Link, Section
from anabranch.report.style import picture

COLUMNS = (
    Column("link", "link"),
    Column("goodput_mbps", "goodput", "Mbps"),
    Column("verdict", "verdict"),
    Column("reason", "reason"),
)
GOOD, KNOWN, BAD = (
    Badge("agrees", "good"), Badge("differs, and it is known why", "known"), Badge("differs", "bad"),
)  # fmt: skip
ROWS = (
    ("link 10", 9.0, GOOD, ""),
    ("link 9", None, KNOWN, "the window is the limit"),
    ("link 2", 1234.0, BAD, ""),
    (Link("link 1", "one/report.html"), 10.5, GOOD, EVIL),
)


def drawing(width: float = 3.0) -> Figure:
    """A line with a clip path, so that two drawings share names inside."""
    figure = Figure(figsize=(width, 2))
    axes = figure.add_subplot()
    axes.plot([0, 1, 2], [0, width, 1])
    return figure


def made_page() -> str:
    """Two sections: a table that can be filtered, and one that cannot, with two figures."""
    return page(
        Article(
            EVIL,
            ["What this is.", ("With a ", Link("link", "two/report.html"), ".")],
            [Card("Rows", "4", "of which 2 agree")],
            [
                Section(
                    "5.4",
                    "All links",
                    [EVIL],
                    [
                        DataTable.of_rows(
                            "links", "Links", COLUMNS, ROWS, searchable=True, choices=("verdict",)
                        )
                    ],
                ),
                Section(
                    "pictures",
                    "Pictures",
                    tables=[DataTable.of_rows("short", "Short", COLUMNS[:2], [row[:2] for row in ROWS])],
                    figures=[
                        picture("first", drawing(), href="first.svg"),
                        picture("second", drawing(4.0)),
                    ],
                ),
            ],
        )
    )
