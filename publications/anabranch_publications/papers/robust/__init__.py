"""Fukushima et al. 2016: fixed robust routing, and candidate paths that spare TCP."""

from __future__ import annotations

from anabranch_publications.papers.model import FigureSpec, Paper
from anabranch_publications.papers.robust.beyond import failures, optimal, scatter, senders, transports
from anabranch_publications.papers.robust.inferred import network
from anabranch_publications.papers.robust.nsfnet import conclusion, loads, throughput
from anabranch_publications.papers.robust.parallel_paths import figure_4, figure_5, figure_7, printed_lines
from anabranch_publications.papers.robust.settings import settings

PAPER = Paper(
    "robust",
    "Candidate path selection method for TCP performance improvement in fixed robust routing",
    "Y. Fukushima, T. Matsumura, K. Urushibara and T. Yokohira, 2016",
    (
        FigureSpec("4", "Total throughput, four paths", figure_4),
        FigureSpec("4-printed", "The same with access lines of 50 Mbps", printed_lines),
        FigureSpec("5", "Overtaking and fast recovery (figures 5 and 6)", figure_5),
        FigureSpec("7", "Total throughput, ten paths", figure_7),
        FigureSpec("network", "The network of figure 8, inferred", network),
        FigureSpec("12", "Worst-case maximum link load, HYBRID-HOP and ALL", loads("12", "hop")),
        FigureSpec("13", "Worst-case maximum link load, HYBRID-DELAY and ALL", loads("13", "delay")),
        FigureSpec("settings", "Plans and number of paths, which the paper leaves open", settings),
        FigureSpec("14", "TCP throughput of a connection, HYBRID-HOP and ALL", throughput("14", "hop")),
        FigureSpec("15", "TCP throughput of a connection, HYBRID-DELAY and ALL", throughput("15", "delay")),
        FigureSpec("conclusion", "What follows: abstract and conclusion", conclusion),
        FigureSpec("scatter", "What seeds and length change", scatter),
        FigureSpec("senders", "NewReno of the RFCs in place of ns-2's", senders),
        FigureSpec("optimal", "Which pairs keep to one path: by optimisation", optimal),
        FigureSpec("failures", "Worst case under any single link failure", failures),
        FigureSpec("transports", "Transports that survive reordering, and path selection", transports),
    ),
)
"""The paper, figure by figure, and what goes beyond it."""
