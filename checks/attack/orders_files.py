"""A result in its other forms, cell by cell beside its tables: ``--json``, Parquet, page, CSV and xlsx."""

from __future__ import annotations

import base64
import json
import math
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
from typer.testing import CliRunner

from anabranch import Result, Scenario, Study
from anabranch.media.columns import Column
from anabranch.media.pieces import columns
from anabranch.report.html import multipath_data
from anabranch.report.views import run as views
from anabranch.report.views.link_tables import causes_of
from anabranch.study.result import StudyResult
from anabranch.terminal.cli import app
from anabranch.text.csv_cells import unescaped
from anabranch.text.units import NOTHING

Rows = Sequence[Mapping[str, Any]]

_ROUNDED_TO = {"queue_mean_packets": 1e-4}
"""The units that the page rounds to."""
_DIGITS = {"f4": 1e-6, "f8": 1e-12, "i4": 0.0}
"""How far numbers of a page may be off, for it keeps some with 24 bits."""
_FILE_DIGITS = 1e-12
"""How far those of CSV and xlsx may be off."""
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_HEADS = {"mean": "", "±": "_ci", "more than": "_more_than", "smallest": "_min", "largest": "_max"}
"""Columns of the sheet of a metric, and the ends of their names in the table of cells."""


def differences(scenario: Scenario, result: Any, folder: Path) -> Iterator[str]:
    """What ``anabranch run`` makes of a scenario that is not what the tables of its result say."""
    file = folder / "scenario.toml"
    file.write_text(scenario.toml(), encoding="utf-8")
    out = folder / "result"
    printed = _printed(["run", str(file), "--out", str(out), "--json"])
    shown = {"flows", "datagram_flows"} & set(result.tables)
    if (tables := set(printed) - {"folder", "summary"}) != shown:
        yield f"--json has the tables {sorted(tables)}, and not {sorted(shown)}"
    for name in sorted(shown & tables):
        yield from _rows_differ(f"--json: {name}", printed[name], result.tables[name].to_dicts(), 0.0)
    loaded = Result.load(out)
    if set(loaded.tables) != set(result.tables):
        yield f"the tables {sorted(set(loaded.tables) ^ set(result.tables))} are not in both"
    for name, table in result.tables.items():
        if name in loaded.tables and not loaded.tables[name].equals(table):
            yield f"{name}.parquet is not the table"
    yield from differences_of_page((out / "report.html").read_text(encoding="utf-8"), result.tables)


def _printed(arguments: list[str]) -> Any:
    """What a command prints as JSON."""
    done = CliRunner().invoke(app, arguments)
    if done.exit_code:
        raise ValueError(
            f"{arguments[0]} ends with {done.exit_code}: {done.output[-500:]} {done.exception!r}"
        )
    return json.loads(done.stdout)


def _rows_differ(where: str, shown: Rows, rows: Rows, digits: float) -> Iterator[str]:
    """The first cell of each column that is another, of rows in their order."""
    if len(shown) != len(rows):
        yield f"{where} has {len(shown)} rows of {len(rows)}"
        return
    columns = list(rows[0]) if rows else []
    if shown and list(shown[0]) != columns:
        yield f"{where} has other columns: {sorted(set(shown[0]) ^ set(columns))}"
        return
    for column in columns:
        for place, (one, row) in enumerate(zip(shown, rows, strict=True)):
            if not _same(one[column], row[column], digits):
                yield f"{where}, row {place}: {column} is {one[column]!r}, and {row[column]!r} in the table"
                break


def _same(shown: Any, value: Any, digits: float) -> bool:
    """Whether a cell shows a value; no number, and one that is not finite, is nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        value = None
    if value is None or shown is None or isinstance(value, str):
        return bool(shown == value)
    if isinstance(value, float) and isinstance(shown, int | float):
        return math.isclose(shown, value, rel_tol=digits)
    return bool(shown == value)


def differences_of_page(page: str, tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """What of the tables of a page is not what the result's say; not its lines, which merge samples."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    data = json.loads(text)
    multipath = data.get("multipath") or {}
    flows = {row["flow"]: row for row in tables["flows"].to_dicts()}
    connections = tables["connections"].to_dicts() if "connections" in tables else []
    subflows = tables["subflows"].to_dicts() if connections else []
    drops = [name for name, _ in causes_of(tables["links"])]
    datagrams = tables["datagram_flows"].to_dicts() if "datagram_flows" in tables else []
    names = {row["flow"]: row["name"] for row in flows.values()}
    # Words in place of the engine's kinds; names in place of numbers; unknown paths have a dash.
    for row in datagrams:
        row["measures"] = {"ping": "RTT", "udp": "one way"}[row["kind"]]
    for row in subflows:
        row["connection"] = names[row["flow"]]
        row["path"] = row.get("path") or NOTHING
    for name, part, rows, declared in (
        ("flows", data["flows"], [*flows.values()], columns(*views.FLOWS, table="flows")),
        ("links", data["links"], tables["links"].to_dicts(),
         columns("name", *views.LINKS[3:], *drops, table="links")),
        # A column of both tables is the connection's.
        ("connections", multipath.get("connections"), [flows[row["flow"]] | row for row in connections],
         columns(*views.CONNECTIONS, table="connections")),
        ("subflows", multipath.get("subflows"), subflows, columns(*views.SUBFLOWS, table="subflows")),
        ("datagram_flows", (data.get("latency") or {}).get("table"), datagrams,
         columns(*views.LATENCIES, table="datagram_flows")),
    ):  # fmt: skip
        if part is None:
            if rows:
                yield f"page: {name} is not there"
        elif name != "subflows" or len(rows) <= multipath_data.MOST_SUBFLOWS:
            yield from _part_differs(f"page: {name}", part, rows, declared)


def _part_differs(where: str, part: dict[str, Any], rows: Rows, declared: Sequence[Column]) -> Iterator[str]:
    """What of a table of the page is not in rows: declared columns that have a value."""
    written = {column["key"]: column.get("data") or column["text"] for column in part["columns"]}
    for about in declared:
        key = about.name
        values = [row.get(key) for row in rows]
        if key not in written:
            if any(value is not None and value != NOTHING for value in values):
                yield f"{where}.{key} is not there"
            continue
        if not about.is_number:
            cells = [written[key]["words"][int(at)] for at in _numbers(written[key]["index"])]
            if cells != (wanted := [value or "" for value in values]):
                yield f"{where}.{key} is {cells}, and {wanted} in the table"
            continue
        numbers = _numbers(written[key])
        slack, step = _DIGITS[written[key]["kind"]], _ROUNDED_TO.get(key, 0.0)
        for place, (one, value) in enumerate(zip_longest(numbers, values, fillvalue=math.inf)):
            if not _is_shown(one, value, about.factor, slack, step):
                yield f"{where}.{key}, row {place}: {one}, and {value} in the table"
                break


def _is_shown(one: float | None, value: float | None, factor: float, slack: float, step: float) -> bool:
    if one is None or value is None or math.isnan(value):
        return one is not None and math.isnan(one)
    return math.isclose(one, value * factor, rel_tol=slack, abs_tol=step / 2 + 1e-12)


def _numbers(column: dict[str, str]) -> list[float]:
    raw = np.frombuffer(base64.b64decode(column["base64"]), dtype=f"<{column['kind']}")
    numbers: list[float] = raw.astype(float).tolist()
    return numbers


def differences_of_study(scenario: Scenario, folder: Path) -> Iterator[str]:
    """What of a study of two replications does not agree: cells with runs, and files with both."""
    # Figures hold no number that can be read back.
    wanted = {"scenario": scenario, "replications": 2, "output": {"spreadsheet": True, "figures": []}}
    study = Study.model_validate(wanted).run(jobs=1, out=folder)
    # Nothing runs again: it prints what is there.
    printed = _printed(["study", str(folder / "study.toml"), "--out", str(folder), "--json"])
    yield from _rows_differ("study --json", printed["cells"], study.cells.to_dicts(), 0.0)
    loaded = StudyResult.load(folder)
    for name, ours, theirs in (("runs", study.runs, loaded.runs), ("cells", study.cells, loaded.cells)):
        if not ours.equals(theirs):
            yield f"{name}.parquet is not the table"
    yield from _cells_differ(study)
    yield from differences_of_study_files(study, folder)


def _cells_differ(study: StudyResult) -> Iterator[str]:
    """Which mean, smallest and largest of a cell are not those of its runs."""
    runs = study.runs.to_dicts()
    for name in (metric.name for metric in study.metrics):
        for cell in study.cells.to_dicts():
            values = [run[name] for run in runs if run["cell"] == cell["cell"] and run[name] is not None]
            shown = (cell[f"{name}_min"], cell[name], cell[f"{name}_max"])
            if not values or cell[name] is None:
                continue
            wanted = (min(values), sum(values) / len(values), max(values))
            if not all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(shown, wanted, strict=True)):
                yield f"study: {name} is {shown} in the cells, and {wanted} of the runs"


def differences_of_study_files(study: StudyResult, folder: Path) -> Iterator[str]:
    """What CSV and xlsx of a study have in another place, or not at all."""
    for name, table in (("runs", study.runs), ("cells", study.cells)):
        read = pl.read_csv(folder / f"{name}.csv", infer_schema=False)
        rows = [
            {column: _typed(cell, table.schema[column]) for column, cell in row.items()}
            for row in read.to_dicts()
        ]
        yield from _rows_differ(f"{name}.csv", rows, table.to_dicts(), _FILE_DIGITS)
    sheets = _sheets(folder / "study.xlsx")
    for name, table in (("Runs", study.runs), ("Cells", study.cells)):
        _, *rows_shown = sheets[name]
        named = [dict(zip_longest(table.columns, row[: table.width])) for row in rows_shown]
        yield from _rows_differ(f"study.xlsx: {name}", named, table.to_dicts(), _FILE_DIGITS)
    metric_sheets = [name for name in sheets if name not in ("Study", "Cells", "Runs", "Failed")]
    (cell,) = study.cells.to_dicts()
    for metric, name in zip(study.metrics, metric_sheets, strict=True):
        heads, values = sheets[name][4], sheets[name][5]
        if missing := {"mean", "smallest", "largest"} - {str(head) for head in heads}:
            yield f"study.xlsx: {name} has no column {sorted(missing)}"
        for head, value in zip(heads[1:], values[1:], strict=False):
            wanted = cell.get(f"{metric.name}{_HEADS[str(head)]}")
            if not _same(value, wanted, _FILE_DIGITS):
                yield f"study.xlsx: {name}, {head} is {value}, and {wanted} in the cells"


def _typed(cell: str | None, kind: pl.DataType) -> Any:
    if cell is None or kind == pl.String:
        return None if cell is None else unescaped(cell)
    return int(cell) if kind.is_integer() else float(cell)


def _sheets(file: Path) -> dict[str, list[list[Any]]]:
    """The cells of each sheet of a spreadsheet by row and column, None where there is none."""
    with zipfile.ZipFile(file) as archive:

        def part(name: str) -> ElementTree.Element:
            return ElementTree.fromstring(archive.read(f"xl/{name}.xml"))  # noqa: S314 - we wrote it

        texts = ["".join(text.itertext()) for text in part("sharedStrings").iter(f"{_SHEET}si")]
        names = [str(sheet.get("name")) for sheet in part("workbook").iter(f"{_SHEET}sheet")]
        return {
            name: _grid(part(f"worksheets/sheet{number}"), texts)
            for number, name in enumerate(names, start=1)
        }


def _grid(sheet: ElementTree.Element, texts: Sequence[str]) -> list[list[Any]]:
    cells: dict[tuple[int, int], Any] = {}
    for cell in sheet.iter(f"{_SHEET}c"):
        letters, row = re.fullmatch(r"([A-Z]+)(\d+)", str(cell.get("r"))).groups()  # type: ignore[union-attr]
        column = 0
        for letter in letters:
            column = 26 * column + ord(letter) - ord("A") + 1
        text = cell.findtext(f"{_SHEET}v")
        if text is not None:
            cells[int(row) - 1, column - 1] = texts[int(text)] if cell.get("t") == "s" else float(text)
    rows, columns = (max((place[axis] for place in cells), default=-1) + 1 for axis in (0, 1))
    return [[cells.get((row, column)) for column in range(columns)] for row in range(rows)]
