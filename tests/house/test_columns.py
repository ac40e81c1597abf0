"""Every column of every table is declared once, and media take heading and unit from there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch import Scenario
from anabranch.media.columns import COLUMNS, column
from anabranch.media.columns.column import SOFT_HYPHEN, UNITS, Column
from anabranch.media.columns.declared import _by_name
from anabranch.media.columns.tables import CAPTURE, RUN
from anabranch.report.views import capture, run
from anabranch.report.views.loads import load_tables
from anabranch.report.views.routes import route_pieces, route_tables

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "python" / "anabranch"
LISTS = (
    run.FLOWS,
    run.LATENCIES,
    run.LINKS,
    run.CONNECTIONS,
    run.SUBFLOWS,
    capture.CONNECTIONS,
    capture.SUBFLOWS,
)


def explained() -> set[str]:
    """The names of all columns of which a document says what they mean."""
    tables = (*RUN.values(), *CAPTURE.values())
    return {name for table in tables for names in table for name in names.split()}


def test_every_column_that_a_document_explains_is_declared() -> None:
    assert len(explained()) > 150
    assert sorted(explained() - COLUMNS.keys()) == []


def test_what_views_show_is_declared() -> None:
    shown = {name for names in LISTS for name in names}
    assert sorted(shown - COLUMNS.keys()) == []


def test_routes_and_loads_show_declared_columns() -> None:
    data = {
        "network": {"topology": "sndlib/nobel-us", "links": {"capacity": "500 Mbps"}},
        "routing": {"scheme": "shortest", "demand": {"ingress": "400 Mbps", "egress": "400 Mbps"}},
        "traffic": [{"from": "*", "to": "*"}],
        "run": {"duration": "1 s"},
    }
    scenario = Scenario.from_data(data)
    routes, loads = scenario.routes(), scenario.worst_case(failures=True)
    tables = [*route_tables(routes), *load_tables(loads, loads.worst.link)]
    tables += [piece for piece in route_pieces(routes) if hasattr(piece, "columns")]  # type: ignore[misc]
    assert len(tables) >= 7
    for table in tables:
        for about in table.columns:
            assert about in (column(about.name), column(about.name, "loads")), f"{table.name}: {about.name}"


def test_a_column_is_declared_once() -> None:
    with pytest.raises(ValueError, match="the column delay_ms is declared twice"):
        _by_name((Column("delay_ms"),), (Column("delay_ms", "another heading"),))
    with pytest.raises(KeyError):
        column("no_such_column")


def test_a_unit_is_the_end_of_the_name() -> None:
    """What a declaration says of a unit does not contradict the name."""
    for name, about in COLUMNS.items():
        last = name.rpartition("_")[2]
        if "_" in name and last in UNITS:
            assert about.unit == UNITS[last], name
        assert about.label == about.heading.replace(SOFT_HYPHEN, "")
        assert about.heading
        assert 0 <= about.priority <= 9
        assert about.bound == "" or about.bound in COLUMNS


def literal_headings() -> Iterator[str]:
    """Declarations of columns with a fixed name, outside of the module that declares all."""
    for file in sorted(SOURCES.rglob("*.py")):
        if file.is_relative_to(SOURCES / "media" / "columns"):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="Column"), args=[ast.Constant(value=str(name)), *_]):
                    yield f"{file.relative_to(SOURCES)}: {name}"


def test_no_view_declares_a_column_of_its_own() -> None:
    assert list(literal_headings()) == []


@pytest.mark.parametrize(
    "script", sorted((SOURCES / "report" / "html" / "assets" / "js").glob("*.js")), ids=lambda file: file.name
)
def test_a_script_has_no_heading_but_of_its_own_controls(script: Path) -> None:
    """Tables of a page are made of what its data say (`shownTable`); "plot" is a column of boxes to tick."""
    written = set(re.findall(r'heading: "([^"]+)"', script.read_text(encoding="utf-8")))
    assert written <= {"plot"}
