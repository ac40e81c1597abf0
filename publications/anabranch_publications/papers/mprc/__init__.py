"""Chang 2024: MPRC, congestion control that per-packet multipath routing does not break."""

from __future__ import annotations

from anabranch_publications.papers.model import FigureSpec, Paper
from anabranch_publications.papers.mprc.beyond import (
    background,
    coexistence,
    delay_ratio,
    delay_ratio_random,
    failure,
    k_and_diversity,
    spread,
    unequal_capacities,
)
from anabranch_publications.papers.mprc.curves import (
    CurveClaims,
    half_of_the_paths,
    minimal_fluctuation,
    peak_of_bbr,
    steadier,
    within_a_second,
)
from anabranch_publications.papers.mprc.figures import (
    WORST,
    Claims,
    abilene,
    applications,
    attmpls,
    grid,
    lossy,
    single_path,
    throughput,
)

_STEADIER = steadier("cubic", "newreno", "NewReno experiences greater fluctuations than CUBIC")
CURVES: tuple[tuple[str, str, str, str, Claims, tuple[CurveClaims, ...], bool], ...] = (
    ("2.3", "TCP variants over OSPF, grid", "grid", "single path", single_path, (), False),
    (
        "2.4",
        "TCP variants over ECMP, grid",
        "grid",
        "ECMP",
        grid,
        (_STEADIER, peak_of_bbr(15, 2.5)),
        False,
    ),
    (
        "5.3",
        "MPRC and TCP variants over OSPF, Abilene",
        "Abilene, short",
        "single path",
        single_path,
        (within_a_second("5.3"),),
        False,
    ),
    (
        "5.4",
        "MPRC and TCP variants over OSPF, AT&T",
        "AttMpls",
        "single path",
        single_path,
        (within_a_second("5.4"),),
        False,
    ),
    (
        "5.5",
        "MPRC and TCP variants over multipath routing, Abilene",
        "Abilene, short",
        "disjoint",
        abilene,
        (_STEADIER, minimal_fluctuation, peak_of_bbr(20, 2.5)),
        False,
    ),
    (
        "5.6",
        "MPRC and TCP variants over multipath routing, AT&T",
        "AttMpls",
        "disjoint",
        attmpls,
        (minimal_fluctuation,),
        False,
    ),
    (
        "5.7",
        "Path errors over OSPF, Abilene",
        "Abilene, short",
        "single path",
        lossy(dict.fromkeys(("newreno", "cubic", "bbr"), "well below the bandwidth"), "single path"),
        (peak_of_bbr(10, None),),
        True,
    ),
    (
        "5.8",
        "Path errors over ECMP, Abilene",
        "Abilene, short",
        "disjoint",
        lossy(
            dict.fromkeys(("newreno", "cubic"), "below 2.5 Mbps") | {"bbr": WORST},
            "disjoint",
        ),
        (half_of_the_paths,),
        True,
    ),
)
"""Figures of throughput over time: key, title, network, routing, claims, claims of its curves, and whether
bytes have errors."""

PAPER = Paper(
    "mprc",
    "Multipath routing compatible congestion control",
    "T. Chang, Master's thesis, University of Victoria, 2024",
    (
        *(
            FigureSpec(key, title, throughput(key, title, network, routing, claims, *curves, errors=errors))
            for key, title, network, routing, claims, curves, errors in CURVES
        ),
        FigureSpec(
            "5.9",
            "Fairness of two applications",
            applications("5.9", "Fairness of two applications", (0, 10), (None, 20), (12, 20)),
        ),
        FigureSpec(
            "5.10",
            "Fairness of three applications",
            applications("5.10", "Fairness of three applications", (0, 10, 15), (None, None, None), (17, 30)),
        ),
        FigureSpec("delay-ratio", "Unequal delays, in turn", delay_ratio),
        FigureSpec("delay-ratio-random", "Unequal delays, at random", delay_ratio_random),
        FigureSpec("capacities", "Unequal capacities", unequal_capacities),
        FigureSpec("diversity", "A K that follows RTT diversity", k_and_diversity),
        FigureSpec("spread", "Flow, flowlet and packet spread", spread),
        FigureSpec("failure", "Link and node failure during a transfer", failure),
        FigureSpec("background", "Background traffic", background),
        FigureSpec("coexistence", "Coexistence on one bottleneck", coexistence),
    ),
)
"""The thesis, figure by figure."""
