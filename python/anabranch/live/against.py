"""A live run beside the simulation of the same scenario, flow by flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from anabranch.results.censored import COMPLETION, MORE_THAN
from anabranch.results.result import Result

_SERIES = ("flow_series", "subflow_series")
_COMPARED = ("delivered_bytes", "goodput_mbps", COMPLETION, MORE_THAN, "retransmissions")


def simulated_series(simulated: Result) -> dict[str, pl.DataFrame]:
    """The simulation's samples of flows and subflows, as tables beside those of the live run."""
    return {f"simulated_{name}": simulated.tables[name] for name in _SERIES if name in simulated.tables}


def compared(live: Mapping[str, pl.DataFrame], simulated: Result) -> pl.DataFrame:
    """A row for each flow with a real end of the table ``flows``: live, simulated, and the difference.

    The RTT of both is the mean of ``srtt_ms`` over the samples of their series: the kernel tells none of the
    single samples of which a simulated flow has its ``rtt_mean_ms``.
    """
    real = (
        live["flows"].filter(pl.col("hosts") != "simulated").select("flow", "name", "transport", *_COMPARED)
    )
    other = simulated.flows.select("flow", *(pl.col(name).alias(f"simulated_{name}") for name in _COMPARED))
    ratio = pl.col("simulated_goodput_mbps") / pl.col("goodput_mbps")
    difference = pl.when(pl.col("goodput_mbps") > 0).then((ratio - 1) * 100)
    table = real.join(other, on="flow", how="left", maintain_order="left")
    for prefix, tables in (("", live), ("simulated_", simulated.tables)):
        table = table.join(_mean_srtt(tables, prefix), on="flow", how="left", maintain_order="left")
    return table.with_columns(difference_percent=difference)


def _mean_srtt(tables: Mapping[str, pl.DataFrame], prefix: str) -> pl.DataFrame:
    """The mean over time of the smoothed RTT of each flow; no row where it was not sampled."""
    name = f"{prefix}srtt_mean_ms"
    series = tables.get("flow_series")
    if series is None or "srtt_ms" not in series.columns:
        return pl.DataFrame(schema={"flow": tables["flows"].schema["flow"], name: pl.Float64})
    return series.group_by("flow").agg(pl.col("srtt_ms").drop_nans().mean().alias(name))


def verdict(table: pl.DataFrame, not_valid: str | None) -> dict[str, Any]:
    """The summary of a comparison: the median of the differences without their signs, and the largest.

    With further runs, also how many flows differ by more than the runs of either side do.

    Args:
        table: the comparison.
        not_valid: why the live run is not valid: nothing follows from it then.
    """
    if not_valid is not None:
        return {"flows": table.height, "refused": f"the live run is not valid: {not_valid}"}
    differences = table["difference_percent"].drop_nulls().abs()
    beyond = {} if "within_spread" not in table else _beyond(table)
    return {
        "flows": table.height,
        **beyond,
        "median_difference_percent": differences.median(),
        "largest_difference_percent": differences.max(),
    }


def _beyond(table: pl.DataFrame) -> dict[str, Any]:
    """Counts of runs, and of flows whose means differ by more than the runs of either side."""
    first = table.row(0, named=True) if table.height else {"live_runs": 0, "simulated_runs": 0}
    verdicts = table["within_spread"]
    return {
        "live_runs": first["live_runs"],
        "simulated_runs": first["simulated_runs"],
        "beyond_spread": int((verdicts == "no").sum()),
        "spread_unknown": int((verdicts == "unknown").sum()),
    }
