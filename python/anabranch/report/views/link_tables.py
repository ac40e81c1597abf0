"""The content of the tables of links: drops with their causes; utilization, queue and drops over time."""

from __future__ import annotations

import polars as pl

from anabranch import _core
from anabranch.results.result import Result

CAUSES = _core.drop_causes()
"""Column of the table ``links`` and name of each cause, in the order of the table."""

# The first ones can happen on any link; the others belong to a queue discipline.
_EVERYWHERE = 3
_IMPAIRMENTS = ("duplicated_packets", "corrupted_packets", "reordered_packets")


def causes_of(links: pl.DataFrame) -> list[tuple[str, str]]:
    """The causes that a page tells of: those of any link, and others that dropped something."""
    causes = [(column, label) for column, label in CAUSES if column in links.columns]
    return [
        (column, label)
        for number, (column, label) in enumerate(causes)
        if number < _EVERYWHERE or bool((links[column] > 0).any())
    ]


def impairments_of(links: pl.DataFrame) -> list[str]:
    """The columns of what links did to single packets besides dropping them, where one of them did."""
    return [name for name in _IMPAIRMENTS if name in links.columns and bool((links[name] > 0).any())]


def all_drops(links: pl.DataFrame) -> pl.Series:
    """Packets that each link dropped, whatever the cause."""
    names = [name for name in links.columns if name.startswith("drops_")]
    return links.select(drops=pl.sum_horizontal(names))["drops"]


def link_values(result: Result, samples: pl.DataFrame) -> pl.DataFrame:
    """The samples of links with ``utilization``, ``queue_packets`` and ``drops`` (since the start).

    Utilization is relative to the capacity at the end of the run: no table has an earlier one.
    """
    links = result.links.select("link", "capacity_mbps")
    joined = samples.join(links, on="link", how="left", maintain_order="left")
    # A packet counts where its transmission begins, and may end in the time of the next sample.
    share = (pl.col("throughput_mbps") / pl.col("capacity_mbps")).clip(upper_bound=1)
    return joined.select("time_s", "link", "drops", "queue_packets", utilization=share)


def capacity_changed(result: Result) -> bool:
    """Whether a link has had another capacity than at the end of the run."""
    events = result.tables.get("events")
    return events is not None and bool((events["kind"] == "capacity").any())
