"""A result as files beside its tables: Parquet, what ``--json`` prints, and the numbers of the page."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import Result
from anabranch.result import json_ready

_DIGITS = {"f4": 1e-6, "f8": 1e-12, "i4": 0.0}
"""How far numbers of a page may be off, for it keeps some with 24 bits."""


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
            same = math.isnan(one) if value is None else _is_near(one, float(value), factor, slack)
            if not same:
                yield f"page: {name}.{column['key']} is {one}, and {value} in the table"
                break


def _is_near(shown: float, value: float, factor: float, slack: float) -> bool:
    return any(
        math.isclose(shown, wanted, rel_tol=slack, abs_tol=1e-12) for wanted in (value, value * factor)
    )


def _numbers(column: dict[str, str]) -> list[float]:
    raw = np.frombuffer(base64.b64decode(column["base64"]), dtype=f"<{column['kind']}")
    found: list[float] = raw.astype(float).tolist()
    return found
