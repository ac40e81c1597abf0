"""The testbed of Vilela 2022 on real switches: measured links, routes, throughput of kernels, failures.

Ten bridges of Open vSwitch under a controller of OpenFlow, hosts of Linux. Links have a tenth of the thesis's
capacity, and four flows take the place of ten: what loss lets a flow have is the same.
"""

from __future__ import annotations

from typing import Final

from anabranch_publications.papers.model import FigureSpec, Paper
from anabranch_publications.papers.tcpbp.live.links import links_and_routes
from anabranch_publications.papers.tcpbp.live.moves import reconvergence
from anabranch_publications.papers.tcpbp.live.throughput import kernels_throughput

LIVE: Final = Paper(
    "tcpbp-live",
    "TCPBP on real switches",
    "H. C. Vilela, Master's dissertation, Universidade Tecnologica Federal do Parana, 2022, chapter 4",
    (
        FigureSpec("links", "Measured links, and routes 1 => 10", links_and_routes),
        FigureSpec("table-4", "1 => 10 with and without trains of segments", kernels_throughput),
        FigureSpec("re-convergence", "A link fails, and a link becomes slow", reconvergence),
    ),
)
"""The testbed, live."""
