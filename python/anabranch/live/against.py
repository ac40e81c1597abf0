"""A live run beside the simulation of the same scenario, flow by flow."""

from __future__ import annotations

from typing import Any

import polars as pl

from anabranch.results.censored import COMPLETION, MORE_THAN
from anabranch.results.result import Result

_SERIES = ("flow_series", "subflow_series")
_COMPARED = ("delivered_bytes", "goodput_mbps", COMPLETION, MORE_THAN, "retransmissions", "rtt_mean_ms")


def simulated_series(simulated: Result) -> dict[str, pl.DataFrame]:
    """The simulation's samples of flows and subflows, as tables beside those of the live run."""
    return {f"simulated_{name}": simulated.tables[name] for name in _SERIES if name in simulated.tables}


def compared(live: pl.DataFrame, simulated: Result) -> pl.DataFrame:
    """A row for each flow with a real end of the table ``flows``: live, simulated, and the difference."""
    real = live.filter(pl.col("hosts") != "simulated").select("flow", "name", "transport", *_COMPARED)
    other = simulated.flows.select("flow", *(pl.col(name).alias(f"simulated_{name}") for name in _COMPARED))
    ratio = pl.col("simulated_goodput_mbps") / pl.col("goodput_mbps")
    difference = pl.when(pl.col("goodput_mbps") > 0).then((ratio - 1) * 100)
    return real.join(other, on="flow", how="left", maintain_order="left").with_columns(
        difference_percent=difference
    )


def verdict(table: pl.DataFrame, not_valid: str | None) -> dict[str, Any]:
    """The summary of a comparison: the median of the differences without their signs, and the largest.

    Args:
        table: the comparison.
        not_valid: why the live run is not valid: nothing follows from it then.
    """
    if not_valid is not None:
        return {"flows": table.height, "refused": f"the live run is not valid: {not_valid}"}
    differences = table["difference_percent"].drop_nulls().abs()
    return {
        "flows": table.height,
        "median_difference_percent": differences.median(),
        "largest_difference_percent": differences.max(),
    }
