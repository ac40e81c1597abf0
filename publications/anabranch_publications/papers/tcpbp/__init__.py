"""Vilela 2022: TCPBP, routes by the TCP throughput formula."""

from __future__ import annotations

from anabranch_publications.papers.model import FigureSpec, Paper
from anabranch_publications.papers.tcpbp.beyond import BEYOND
from anabranch_publications.papers.tcpbp.case_study import case_study
from anabranch_publications.papers.tcpbp.tables import route_summary, running_time
from anabranch_publications.papers.tcpbp.throughput import fairness, improvement, one_to_ten

PAPER = Paper(
    "tcpbp",
    "TCPBP: routes by the TCP throughput formula",
    "H. C. Vilela, Master's dissertation, Universidade Tecnologica Federal do Parana, 2022",
    (
        FigureSpec("3.6.1", "Case study: parallel connections through one pipe", case_study),
        FigureSpec("table-2", "Route summary", route_summary),
        FigureSpec("table-3", "Throughput ratio of TCPBP", improvement),
        FigureSpec("table-4", "1 => 10", one_to_ten),
        FigureSpec("table-5", "Fairness", fairness),
        FigureSpec("table-6", "Running time of all-pairs routes", running_time),
        *BEYOND,
    ),
)
"""The thesis, table by table."""
