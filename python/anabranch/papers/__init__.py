"""The publications that are reproduced: ``anabranch reproduce``.

Each paper is a package of its own with a ``PAPER``, and a line in :data:`PAPERS`.
"""

from __future__ import annotations

from anabranch.papers.model import Context, FigureResult, Finding, Paper
from anabranch.papers.mprc import PAPER as MPRC
from anabranch.papers.reproduce import Reproduction, reproduce
from anabranch.papers.robust import PAPER as ROBUST
from anabranch.papers.sdn import PAPER as SDN
from anabranch.papers.semper import PAPER as SEMPER
from anabranch.papers.tcpbp import PAPER as TCPBP

PAPERS: dict[str, Paper] = {paper.key: paper for paper in (TCPBP, SDN, ROBUST, SEMPER, MPRC)}
"""Papers by key."""

__all__ = ["PAPERS", "Context", "FigureResult", "Finding", "Paper", "Reproduction", "reproduce"]
