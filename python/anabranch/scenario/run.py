"""How long, with which randomness, and what is measured."""

from __future__ import annotations

import os
from typing import Annotated, Literal

from pydantic import Field, Tag

from anabranch.scenario.network import NodeName, NodePair
from anabranch.scenario.quantity import ByteCount, PositiveSpan, Span
from anabranch.scenario.table import Table, either, refuse

U64 = Annotated[int, Field(ge=0, le=2**64 - 1)]

FlowNames = Annotated[
    Annotated[Literal["*"], Tag("<all>")]
    | Annotated[list[Annotated[str, Field(min_length=1)]], Tag("<several>")],
    either("*", "all", "several"),
]
"""Some flows by name, or ``"*"`` for all."""


class Run(Table):
    """How long, with which randomness, and what is sampled."""

    duration: PositiveSpan
    """Simulated time; with ``until = "done"`` the latest end."""
    until: Literal["duration", "done"] = "duration"
    """When the run ends. ``duration``: when its time is over; ``done``: as soon as every flow with a size, or
    a ``stop``, has completed, or when its time is over if one does not."""
    seed: U64 = 1
    """Seed of every random stream."""
    replication: U64 = 0
    """Replication: the same scenario with other, independent random streams."""
    sample_interval: PositiveSpan = Span("100 ms")
    """Time between the rows of the series."""
    flow_series: bool = True
    """Sample every flow."""
    link_series: bool = True
    """Sample every link."""
    sequences: FlowNames = []
    """Flows by name (``web.0``) of which every segment and every acknowledgment is noted, or ``"*"``."""
    log: FlowNames = []
    """Flows by name (``web.0``) whose senders keep an event log, with a row for each ACK, or ``"*"``."""


_MOST_NAME_BYTES = 240
"""Bytes of a file's name: file systems have 255, and beside it there may be a file that is not yet whole."""


class Capture(Table):
    """Packets written to a pcapng file, for Wireshark."""

    file: Annotated[str, Field(min_length=1)]
    """File name, in the result folder."""
    link: NodePair | None = None
    """Packets as their transmission on the link from the first node to the second begins."""
    index: Annotated[int, Field(ge=1)] = 1
    """Which of several parallel links, counted from 1."""
    host: NodeName | None = None
    """Packets that this node sends or receives."""
    snap_length: ByteCount | None = None
    """Bytes kept of each packet; left out: all."""

    def _check_together(self) -> None:
        if (self.link is None) == (self.host is None):
            refuse("link", "give either link or host" + (", not both" if self.link is not None else ""))
        if self.file in (".", "..") or any(character in self.file for character in "/\\\0"):
            refuse("file", "must be a plain file name; the file goes into the result folder")
        if not self.file.endswith(".pcapng"):
            refuse("file", "must end in .pcapng")
        if (length := len(os.fsencode(self.file))) > _MOST_NAME_BYTES:
            refuse("file", f"has {length} bytes; a file name may have {_MOST_NAME_BYTES} here")
        if self.snap_length is not None and not 0 < self.snap_length < 2**32:
            refuse("snap_length", "must be between 1 B and 4 GB")
