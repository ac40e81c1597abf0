"""Garcia-Aviles 2017: SEMPER, Multipath TCP over paths that a hash chooses."""

from __future__ import annotations

from anabranch_publications.papers.model import FigureSpec, Paper
from anabranch_publications.papers.semper.beyond import hybrid, requests, sharing, sizing
from anabranch_publications.papers.semper.captures import from_captures
from anabranch_publications.papers.semper.failure import failing_path
from anabranch_publications.papers.semper.figures import more_hosts, schemes, validation, validation_of_k

PAPER = Paper(
    "semper",
    "SEMPER: stateless traffic engineering with Multipath TCP",
    "G. Garcia-Aviles, Master's thesis, Universidad Carlos III de Madrid, 2017",
    (
        FigureSpec("6", "Validation: capacity region and measuring window", validation),
        FigureSpec("7", "Number of subflows of a host", validation_of_k),
        FigureSpec("8", "Stateless against stateful", schemes),
        FigureSpec("9", "A path fails, N = 2", failing_path("9", 2)),
        FigureSpec("10", "Number of hosts", more_hosts),
        FigureSpec("11", "A path fails, N = 4", failing_path("11", 4)),
        FigureSpec("captures", "From captures of the paths to R_i", from_captures),
        FigureSpec("hybrid", "Hybrid WAN: unequal paths", hybrid),
        FigureSpec("sizing", "How many subflows", sizing),
        FigureSpec("sharing", "Beside a single TCP connection", sharing),
        FigureSpec("requests", "Short requests under each scheduler", requests),
    ),
)
"""The thesis, figure by figure."""
