"""A page of sections to be tested, whose order after each sort is known beforehand."""

from html_runs import EVIL
from matplotlib.figure import Figure

from anabranch.report.sections import (
    Badge,
    Link,
    PageCard,
    PageColumn,
    PageFigure,
    PageTable,
    Section,
    page,
)

COLUMNS = (
    PageColumn("link"),
    PageColumn("goodput", "Mbps", numeric=True),
    PageColumn("verdict", choices=True),
    PageColumn("reason"),
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
        EVIL,
        ["What this is.", ("With a ", Link("link", "two/report.html"), ".")],
        [PageCard("Rows", "4", "of which 2 agree")],
        [
            Section("5.4", "All links", [EVIL], [PageTable("Links", COLUMNS, ROWS, searchable=True)]),
            Section(
                "pictures",
                "Pictures",
                tables=[PageTable("Short", COLUMNS[:2], [row[:2] for row in ROWS])],
                figures=[
                    PageFigure.of("first", drawing(), href="first.svg"),
                    PageFigure.of("second", drawing(4.0)),
                ],
            ),
        ],
    )
