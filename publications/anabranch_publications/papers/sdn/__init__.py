"""Gholizadeh 2019: congestion control in software-defined networks."""

from __future__ import annotations

from anabranch_publications.papers.model import FigureSpec, Paper
from anabranch_publications.papers.sdn.beyond import incast
from anabranch_publications.papers.sdn.comparison import comparison
from anabranch_publications.papers.sdn.figures import CURVES, curve, table_a3
from anabranch_publications.papers.sdn.verification import (
    appendix_table,
    heterogeneous,
    homogeneous,
    single_flow,
    sliding_window,
)

PAPER = Paper(
    "sdn",
    "Congestion control in software-defined networks: a simulation study",
    "R. Gholizadeh, Master's thesis, University of Calgary, 2019",
    (
        FigureSpec("3.10", "Verification: a sliding window of five", sliding_window),
        FigureSpec("4.11", "Verification: a single flow", single_flow),
        FigureSpec("4.13", "Verification: three flows", homogeneous),
        FigureSpec("4.16", "Verification: unequal access links", heterogeneous),
        *(
            FigureSpec(key, title, curve(key, title, study, metric, findings))
            for key, title, study, metric, findings in CURVES
        ),
        FigureSpec("A.1", "Sequence numbers as table and graph", appendix_table),
        FigureSpec("A.3", "Output of a study", table_a3),
        FigureSpec("incast-stretched", "In-cast beyond the breaking point", incast),
        FigureSpec("comparison", "Paced senders beside TCP and clamped windows", comparison),
    ),
)
"""The thesis, figure by figure."""
