"""A result as files beside its tables: Parquet, JSON, the page, and a study's CSV and xlsx."""

from __future__ import annotations

import base64
import json
import math
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anabranch import Result, Scenario, Study
from anabranch.result import json_ready

_DIGITS = {"f4": 1e-6, "f8": 1e-12, "i4": 0.0}
"""How far numbers of a page may be off, for it keeps some with 24 bits."""

_ROUNDED = {"queue_mean_packets": 0.5e-4}
"""Columns that the page shows with fewer digits: by how much."""


def differences(result: Any, folder: Path) -> Iterator[str]:
    """What of a saved result is not what its tables say."""
    loaded = Result.load(folder)
    for name, table in result.tables.items():
        if not loaded.tables[name].equals(table):
            yield f"{name}.parquet is not the table"
        rows = table.to_dicts()
        if json.loads(json.dumps(json_ready(rows))) != json_ready(rows):
            yield f"{name} is another table as JSON"
    (text,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>',
        (folder / "report.html").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    data = json.loads(text)
    multipath = data.get("multipath") or {}
    parts = {
        "flows": data.get("flows"),
        "links": data.get("links"),
        "connections": multipath.get("connections"),
        "subflows": multipath.get("subflows"),
        "datagram_flows": data.get("latency"),
    }
    for name, part in parts.items():
        if part is not None and name in result.tables:
            yield from _columns(name, part["columns"], result.tables[name])


def _columns(name: str, columns: list[dict[str, Any]], table: Any) -> Iterator[str]:
    """The columns of a table of the page that the table has under the same name."""
    for column in columns:
        if column["key"] not in table.columns:
            continue
        shown = _numbers(column["data"])
        values = table[column["key"]].to_list()
        factor = 100.0 if column["unit"] == "%" else column["factor"]
        slack = _DIGITS[column["data"]["kind"]]
        if len(shown) > len(values):
            yield f"page: {name}.{column['key']} has {len(shown)} numbers of {len(values)}"
        for one, value in zip(shown, values, strict=False):
            same = (
                math.isnan(one)
                if value is None
                else _is_near(one, float(value), factor, slack, _ROUNDED.get(column["key"], 0.0))
            )
            if not same:
                yield f"page: {name}.{column['key']} is {one}, and {value} in the table"
                break


def _is_near(shown: float, value: float, factor: float, rel_tol: float, abs_tol: float = 0.0) -> bool:
    return any(
        math.isclose(shown, wanted, rel_tol=rel_tol, abs_tol=abs_tol + 1e-12)
        for wanted in (value, value * factor)
    )


def _numbers(column: dict[str, str]) -> list[float]:
    raw = np.frombuffer(base64.b64decode(column["base64"]), dtype=f"<{column['kind']}")
    found: list[float] = raw.astype(float).tolist()
    return found


def differences_of_study(scenario: Scenario, folder: Path) -> Iterator[str]:
    """What of a study of two replications does not agree: cells with runs, and files with both."""
    study = Study.model_validate({"scenario": scenario, "replications": 2}).run(jobs=1, out=folder)
    runs, cells = study.runs.to_dicts(), study.cells.to_dicts()
    for name in (metric.name for metric in study.metrics):
        for cell in cells:
            values = [run[name] for run in runs if run["cell"] == cell["cell"] and run[name] is not None]
            low, mean, high = cell[f"{name}_min"], cell[name], cell[f"{name}_max"]
            if not values or mean is None:
                continue
            wanted = (min(values), sum(values) / len(values), max(values))
            if not all(
                math.isclose(a, b, rel_tol=1e-9) for a, b in zip((low, mean, high), wanted, strict=True)
            ):
                yield f"study: {name} is {low}, {mean}, {high} in the cells, and {wanted} of the runs"
    for name, table in (("runs", study.runs), ("cells", study.cells)):
        read = pl.read_csv(folder / f"{name}.csv", infer_schema_length=None).to_dicts()
        for ours, theirs in zip(table.to_dicts(), read, strict=True):
            for column, value in ours.items():
                if isinstance(value, float) and not _is_near(theirs[column], value, 1.0, 1e-12):
                    yield f"{name}.csv: {column} is {theirs[column]}, and {value} in the table"
    with zipfile.ZipFile(folder / "study.xlsx") as archive:
        sheets = [archive.read(name).decode() for name in archive.namelist() if "/worksheets/" in name]
    shown = {float(text) for sheet in sheets for text in re.findall(r"<v>([-0-9.eE+]+)</v>", sheet)}
    for cell in cells:
        for name in (metric.name for metric in study.metrics):
            value = cell[name]
            if value is not None and not any(_is_near(one, value, 1.0, 1e-9) for one in shown):
                yield f"study.xlsx: {name} {value} is not in it"
