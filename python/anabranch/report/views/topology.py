"""Networks that have a name, as pieces."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.media.pieces import DataTable, columns
from anabranch.topology import TopologyName


def topology_table(names: Sequence[TopologyName]) -> DataTable:
    """Every network by name, with the reason where one cannot be had."""
    rows = [(name.spec, name.source, name.note) for name in names]
    return DataTable.of_rows("topologies", "", columns("name", "source", "note"), rows, most=len(rows))
