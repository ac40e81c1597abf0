"""The publications that are reproduced: ``anabranch reproduce``.

Each paper is a package of its own with a ``PAPER``, and a line in :data:`PAPERS`.
"""

from __future__ import annotations

from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context, FigureResult, Paper
from anabranch_publications.papers.mprc import PAPER as MPRC
from anabranch_publications.papers.reproduce import Reproduction, reproduce
from anabranch_publications.papers.robust import PAPER as ROBUST
from anabranch_publications.papers.sdn import PAPER as SDN
from anabranch_publications.papers.semper import PAPER as SEMPER
from anabranch_publications.papers.semper.live import LIVE as SEMPER_LIVE
from anabranch_publications.papers.tcpbp import PAPER as TCPBP
from anabranch_publications.papers.tcpbp.live import LIVE as TCPBP_LIVE

PAPERS: dict[str, Paper] = {paper.key: paper for paper in (TCPBP, SDN, ROBUST, SEMPER, MPRC)}
"""Papers by key."""

LIVE_PAPERS: dict[str, Paper] = {TCPBP.key: TCPBP_LIVE, SEMPER.key: SEMPER_LIVE}
"""What is reproduced by real kernels and switches, by the key of its paper."""

__all__ = [
    "LIVE_PAPERS",
    "PAPERS",
    "Context",
    "FigureResult",
    "Finding",
    "Paper",
    "Reproduction",
    "reproduce",
]
