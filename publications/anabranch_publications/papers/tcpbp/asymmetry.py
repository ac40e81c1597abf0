"""Links whose two directions differ: how often TCPBP and delay routing agree on round trips, and the gain."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

import numpy as np
import polars as pl

from anabranch import Scenario
from anabranch_publications.papers.findings import Finding, Tolerance, number
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.tcpbp.network import LINKS, NODES, TRANSPORT, network

PUBLISHED_SAME_ONE_WAY: Final = 0.867
PUBLISHED_SAME_ROUND_TRIP: Final = 0.751
"""Section 4.4: share of pairs with the same routes by TCPBP and by delay, and the guess for asymmetric "
"links."""

_ALIKE: Final = 0.0125
"""How far a drawn network's share of like routes may be from the printed one to be like the thesis's: one of
90 ordered pairs more or less."""

_ROUTINGS: Final[dict[str, dict[str, Any]]] = {
    "delay": {"scheme": "shortest", "metric": "delay"},
    "tcpbp": {"scheme": "tcpbp-exact"},
    "model": {"scheme": {"algorithm": "tcpbp-exact", "model": "transport", "sharing": "none"}},
}

Routes = dict[tuple[str, str], tuple[tuple[str, ...], float]]
"""Nodes of a pair's path, and the predicted throughput of its flow in Mbps."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The outcome of one drawn network."""

    same_one_way: float
    """Share of the 90 ordered pairs whose path is the same by TCPBP and by delay."""
    same_round_trip: float
    """Share of the 45 pairs with the same path both ways."""
    tcpbp_gain: float
    """Predicted throughput over that of delay routing, mean over the 90 ordered pairs."""
    model_gain: float


def drawn_network(seed: int, *, symmetric: bool) -> dict[str, Any]:
    """The thesis's topology; delay and loss of each direction drawn, apart, from the 21 printed values.

    Args:
        seed: of the draw.
        symmetric: both directions of a link get the same.
    """
    draw = np.random.default_rng(seed)
    delays = [delay for delay, _ in LINKS.values()]
    losses = [loss for _, loss in LINKS.values()]
    table = network()
    links = []
    for link in table["link"]:
        both = []
        for direction in ("forward", "backward"):
            delay_ms, loss = float(draw.choice(delays)), float(draw.choice(losses))
            both.append(
                {
                    "between": link["between"],
                    "direction": direction,
                    "delay": f"{delay_ms * 1000:g} us",
                    "loss": loss,
                }
            )
        if symmetric:
            both[1] |= {"delay": both[0]["delay"], "loss": both[0]["loss"]}
        links += [{"between": link["between"], "new": True}, *both]
    table["link"] = links
    return table


def _routes(table: dict[str, Any], routing: str) -> Routes:
    pairs = list(permutations(NODES, 2))
    data = {
        "network": table,
        "routing": _ROUTINGS[routing],
        "transport": TRANSPORT,
        "traffic": [
            {
                "from": [origin for origin, _ in pairs],
                "to": [to for _, to in pairs],
                "pairs": "in-order",
                "transport": "tcpbp-cubic",
            }
        ],
        "run": {"duration": "1 s"},
    }
    routes: Routes = {}
    for pair in Scenario.from_data(data).routes().pairs:
        mbps = pair.predictions[0].mbps
        assert mbps is not None  # noqa: S101 - CUBIC has a model
        routes[pair.source, pair.destination] = (pair.paths[0].nodes, mbps)
    return routes


def compare_drawn(seed: int, *, symmetric: bool) -> Drawn:
    """Routes by delay, by d sqrt(p) and by the model in one drawn network."""
    table = drawn_network(seed, symmetric=symmetric)
    delay, tcpbp, model = (_routes(table, routing) for routing in _ROUTINGS)
    same = {pair: delay[pair][0] == tcpbp[pair][0] for pair in delay}
    round_trips = [same[pair] and same[pair[::-1]] for pair in same if pair[0] < pair[1]]
    return Drawn(
        same_one_way=statistics.fmean(same.values()),
        same_round_trip=statistics.fmean(round_trips),
        tcpbp_gain=statistics.fmean(tcpbp[pair][1] / delay[pair][1] for pair in delay),
        model_gain=statistics.fmean(model[pair][1] / delay[pair][1] for pair in delay),
    )


def like_the_thesis(draws: int) -> list[float]:
    """Shares of like round trips in the drawn networks with as many like routes one way as the thesis's."""
    shares = []
    for seed in range(draws):
        table = drawn_network(seed, symmetric=False)
        delay, tcpbp = (_routes(table, routing) for routing in ("delay", "tcpbp"))
        same = {pair: delay[pair][0] == tcpbp[pair][0] for pair in delay}
        if abs(statistics.fmean(same.values()) - PUBLISHED_SAME_ONE_WAY) <= _ALIKE:
            both = [same[pair] and same[pair[::-1]] for pair in same if pair[0] < pair[1]]
            shares.append(statistics.fmean(both))
    return shares


def asymmetric_links(context: Context) -> FigureResult:
    """Drawn networks with two-way links, and as many whose directions differ."""
    seeds = range(4 if context.quick else 25)
    rows = []
    for symmetric in (True, False):
        comparisons = [compare_drawn(seed, symmetric=symmetric) for seed in seeds]
        rows.append(
            {
                "links": "symmetric" if symmetric else "asymmetric",
                "same one way": statistics.fmean(one.same_one_way for one in comparisons),
                "same round trip": statistics.fmean(one.same_round_trip for one in comparisons),
                "TCPBP over delay": statistics.fmean(one.tcpbp_gain for one in comparisons),
                "model over delay": statistics.fmean(one.model_gain for one in comparisons),
            }
        )
    table = pl.DataFrame(rows)
    symmetric_row, row = table.to_dicts()
    independent = row["same one way"] ** 2
    alike = like_the_thesis(300 if context.quick else 1000)
    error = statistics.stdev(alike) / len(alike) ** 0.5
    findings = (
        number(
            f"same round-trip routes as delay routing, {len(alike)} drawn networks with "
            f"{PUBLISHED_SAME_ONE_WAY} the same one way",
            PUBLISHED_SAME_ROUND_TRIP,
            statistics.fmean(alike),
            unit="",
            digits=3,
            tolerance=Tolerance(2 * error, "two standard errors over the networks"),
        ),
        Finding(
            "the guess's rule over all networks: round trips are the same as often as two independent ways",
            f"{independent:.3f}, the square of our share one way",
            f"{row['same round trip']:.3f}",
            abs(row["same round trip"] - independent) <= 0.05,
            "within 0.05, two of 45 pairs",
            "question",
        ),
        Finding(
            "round trips differ more often with asymmetric links than with symmetric ones",
            "believed",
            f"the same: {symmetric_row['same round trip']:.3f} and {row['same round trip']:.3f}",
            row["same round trip"] < symmetric_row["same round trip"],
        ),
    )
    return FigureResult(
        "asymmetric",
        "Asymmetric links: how often routes differ, and what is gained",
        findings,
        {"asymmetric": table},
        shown={f"Means over {len(seeds)} drawn networks": table.with_columns(pl.col(pl.Float64).round(3))},
        note=(
            "The thesis's topology, with delays and losses drawn apart from the 21 printed values; gains are "
            "predicted for CUBIC, mean of the ratio over ordered pairs. A flow's acknowledgments take the "
            "route "
            "of the pair back, which TCPBP chooses as if it carried data. The model chooses both ways "
            "together."
        ),
    )
