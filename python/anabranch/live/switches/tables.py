"""The messages of a controller at its end, as the tables of a simulated one (docs/results.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

_OF_FLOWS = ("route_changes", "flow_routes")
_TYPES = {
    "time_s": pl.Float64,
    "since_s": pl.Float64,
    "loss": pl.Float64,
    "delay_ms": pl.Float64,
    "data_path": pl.String,
    "ack_path": pl.String,
}
"""Of columns; all others are counts and ids."""


def controller_tables(records: Mapping[str, Any], flows: int) -> dict[str, pl.DataFrame]:
    """The tables of an application; those without rows are left out.

    Args:
        records: ``tables`` by name and column, and ``counted``: for each probe of a link when it came
            back, the link, and from when to when the packets were sent that had been counted by then, all
            in seconds.
        flows: how many the scenario has; what programs send has numbers behind them, and no rows.
    """
    tables = {}
    for name, columns in records.get("tables", {}).items():
        schema = {column: _TYPES.get(column, pl.UInt64) for column in columns}
        table = pl.DataFrame(columns, schema=schema).with_columns(pl.col(pl.Float64).fill_nan(None))
        tables[name] = table.filter(pl.col("flow") < flows) if name in _OF_FLOWS else table
    if "link_estimates" in tables:
        tables["link_estimates"] = _with_times(tables["link_estimates"], records["counted"])
    return {name: table for name, table in tables.items() if not table.is_empty()}


def _with_times(estimates: pl.DataFrame, counted: list[list[float]]) -> pl.DataFrame:
    """Estimates of links with the times of the last probe before each of them."""
    columns = ("time_s", "link", "counted_from_s", "counted_to_s")
    schema = dict.fromkeys(columns, pl.Float64) | {"link": pl.UInt64}
    probes = pl.DataFrame(counted, schema=schema, orient="row").sort("time_s")
    joined = estimates.with_row_index("row").sort("time_s")
    joined = joined.join_asof(probes, on="time_s", by="link", check_sortedness=False)
    return joined.sort("row").drop("row")
