"""Hashes of the tables of a run, that do not depend on columns that were added since they were written."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from anabranch import Scenario

FILE = Path(__file__).parent / "fingerprints.json"
HEX_DIGITS = 16

Columns = dict[str, list[str]]
"""The columns of each table that are hashed."""
Hashes = dict[str, str]
"""The hash of each table of one run."""


def simulated(data: Mapping[str, Any], folder: Path, *, cores: int = 1) -> dict[str, pl.DataFrame | bytes]:
    """The tables of a run of plain data, and the bytes of its captures."""
    result = Scenario.from_data(dict(data)).run(out=folder / "result", page=False, cores=cores)
    outcome: dict[str, pl.DataFrame | bytes] = dict(result.tables)
    for capture in data.get("capture", []):
        outcome[capture["file"]] = (folder / "result" / capture["file"]).read_bytes()
    return outcome


def columns_of(tables: Mapping[str, pl.DataFrame | bytes]) -> Columns:
    """Every column there is now."""
    return {name: table.columns for name, table in tables.items() if isinstance(table, pl.DataFrame)}


def hashes_of(tables: Mapping[str, pl.DataFrame | bytes], columns: Columns) -> Hashes:
    """The hash of each table over the columns that are listed for it.

    Raises:
        KeyError: if a listed column is not there any more.
    """
    return {
        name: hash_table(table, columns[name]) if isinstance(table, pl.DataFrame) else digest(table)
        for name, table in sorted(tables.items())
        if name in columns or isinstance(table, bytes)
    }


def hash_table(table: pl.DataFrame, columns: list[str]) -> str:
    """A hash of values, not of a library's way to store them."""
    missing = set(columns) - set(table.columns)
    if missing:
        raise KeyError(f"no column {', '.join(sorted(missing))}")
    values = {name: [_plain(value) for value in table[name].to_list()] for name in columns}
    return digest(json.dumps(values, allow_nan=False).encode())


def _plain(value: Any) -> Any:
    """A number to its last bit, whether a column keeps it as an integer or not."""
    if isinstance(value, float):
        return value.hex() if math.isfinite(value) else str(value)
    return value


def digest(content: bytes) -> str:
    """The beginning of the SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()[:HEX_DIGITS]
