"""Measured conditions of a link, replayed from a file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from anabranch.scenario.files import names_file
from anabranch.scenario.network import LinkSelector, NodePair
from anabranch.scenario.quantity import PositiveSpan, quoted
from anabranch.scenario.table import refuse


class Profile(LinkSelector):
    """Capacity, delay and loss of a link over time, as they were measured.

    Each row of the file is a change of the link, like an ``[[event]]``: its values hold until the next row.
    """

    link: NodePair
    """The links between these two nodes."""
    source: Annotated[str, Field(alias="from", min_length=1)]
    """Where the measurement is: ``"file:lte.csv"``."""
    format: Literal["csv", "mahimahi"] = "csv"
    """``csv``: a header with ``time_s`` and any of ``capacity_mbps`` (or ``_bps``, ``_kbps``, ``_gbps``),
    ``delay_ms`` (or ``_us``, ``_s``) and ``loss``. ``mahimahi``: a trace of its ``mm-link``, each line the
    millisecond at which a packet of 1500 bytes may leave (Netravali et al. 2015)."""
    interval: PositiveSpan | None = None
    """Over which the packets of a Mahimahi trace are counted for the capacity; left out, over 100 ms."""
    repeat: PositiveSpan | None = None
    """Begin anew after so long, until the run ends; left out, a CSV file is played once, and a Mahimahi trace
    begins anew at its last millisecond, as there."""

    def _check_together(self) -> None:
        if not names_file(self.source):
            refuse("from", f'{quoted(self.source)} is not like "file:lte.csv"')
        if self.format == "csv" and self.interval is not None:
            refuse("interval", "is for a Mahimahi trace; a CSV file has its times in it")
