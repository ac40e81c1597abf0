"""The network of figure 8: graphs and delays tried against the loads that are printed.

The figure did not survive in the text. What did are twelve loads, that of ALL, and five delays of the
example in section 5. The search starts from the usual NSFNET of 21 links (SNDlib's nobel-us), whose five
delays are the example's, and on which the loads do not come out. It goes in three steps, each of which uses
other numbers:

1. Graphs, without delays: the loads of HYBRID-HOP at X = 0 and X = 100 and that of ALL depend on the graph
   and on the rule for ties alone. Tried is every graph that differs by one end of one link, with ties by the
   lowest and by the highest node number.
2. Of what is left, HYBRID-HOP at the other X with the usual delays: what follows without a fit, and for
   which delays of the link that moved.
3. Delays: those that the example leaves free, fitted to the loads of HYBRID-DELAY by random steps, and then
   how far each of them may change alone.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anabranch import Scenario
from anabranch.routing.robust import single_lp, worst_case
from anabranch.routing.robust.selection import hybrid
from anabranch.routing.router_network import RouterNetwork
from anabranch.setup import resolve
from anabranch_publications.papers.robust.printed import EXAMPLE_MS, LOAD_ALL, LOADS, PERCENTS
from anabranch_publications.papers.robust.solvers import link_flow

Link = tuple[int, int]
"""Both ends by the paper's numbers, the lower first."""

USUAL_MS: Mapping[Link, float] = {
    (1, 2): 4.7, (1, 3): 7.0, (1, 8): 11.2, (2, 3): 2.8, (2, 4): 3.5, (3, 6): 8.4, (4, 5): 2.8,
    (4, 11): 9.1, (5, 6): 5.6, (5, 7): 2.8, (6, 10): 4.9, (6, 14): 8.4, (7, 8): 3.5, (8, 9): 3.5,
    (9, 10): 3.5, (9, 12): 1.4, (9, 13): 1.4, (11, 12): 2.8, (11, 13): 3.5, (12, 14): 1.4, (13, 14): 0.7,
}  # fmt: skip
"""The links of nobel-us, and the usual distances of the NSFNET over 214.3 km/ms, in ms."""
MOVED: tuple[Link, Link] = ((4, 11), (5, 11))
"""The link that leads from the usual graph to ours, and what it becomes."""
NODES = range(1, 15)
_ROUNDING = 0.005 + 1e-6
"""Half of the last printed digit; a load on the edge is printed either way."""
_FIRST_MS = 9.8
"""Of the link that moved, before the fit: about what a line of its length would have."""
_LEAST_MS, _MOST_MS = 0.3, 20.0
_STEP = 0.3
"""Standard deviation of the logarithm of a step of one delay."""


@dataclass(frozen=True)
class Trial:
    """A graph and a rule for ties, and what it makes of the numbers that need no delays."""

    removed: Link | None
    """The link of the usual graph that is not in this one; None for that graph itself."""
    added: Link | None
    lowest_first: bool
    """Of paths with equal hops those with the lower node numbers come first."""
    single: float
    """HYBRID-HOP, X = 100."""
    spread: float | None = None
    """HYBRID-HOP, X = 0; looked at where X = 100 is as printed."""
    everything: float | None = None
    """ALL; looked at where both are as printed."""

    @property
    def fits(self) -> bool:
        """All three are as printed."""
        return self.everything is not None and abs(self.everything - LOAD_ALL) <= 0.0005 + 1e-6


def variants() -> Iterator[tuple[Link | None, Link | None]]:
    """The usual graph, and each that differs from it by one end of one link: what goes, and what comes."""
    yield None, None
    for link in USUAL_MS:
        for kept, other in itertools.product(link, NODES):
            new = (min(kept, other), max(kept, other))
            rest = [*(set(USUAL_MS) - {link}), new]
            if other != kept and new not in USUAL_MS and _connected(rest):
                yield link, new


def _connected(links: Sequence[Link]) -> bool:
    reached, size = {1}, 0
    while len(reached) > size:
        size = len(reached)
        reached |= {node for link in links for node in link if reached & set(link)}
    return size == len(NODES)


def changed(removed: Link | None, added: Link | None, added_ms: float = _FIRST_MS) -> dict[Link, float]:
    """The usual delays on the graph where a link has moved."""
    delays = {link: ms for link, ms in USUAL_MS.items() if link != removed}
    return delays if added is None else delays | {added: added_ms}


class Loads:
    """Loads of the schemes of section 6 on one graph with delays."""

    def __init__(self, delays_ms: Mapping[Link, float], *, lowest_first: bool = True) -> None:
        order = list(NODES) if lowest_first else list(reversed(NODES))
        data: dict[str, Any] = {
            "network": {
                "links": {"capacity": "500 Mbps"},
                "node": [{"name": str(node)} for node in order],
                "link": [
                    {"between": [str(a), str(b)], "new": True, "delay": f"{round(ms * 1e6)} ns"}
                    for (a, b), ms in sorted(delays_ms.items())
                ],
            },
            "routing": {"demand": {"ingress": "130 Mbps", "egress": "130 Mbps", "pair": "50 Mbps"}},
            "traffic": [{"from": "1", "to": "2", "size": "1 kB"}],
            "run": {"duration": "1 s"},
        }
        self._routers = RouterNetwork.of(resolve(Scenario.from_data(data)))

    def everything(self) -> float:
        """ALL."""
        return link_flow(self._routers.network, self._routers.bounds).load

    def of(self, metric: str, percent: int) -> float:
        """HYBRID-HOP (``hop``) or HYBRID-DELAY (``delay``) with K = 2 at X."""
        network, bounds = self._routers.network, self._routers.bounds
        several = self._routers.candidates(2, {"hop": "hops", "delay": "delay"}[metric])
        candidates = hybrid(network, several, percent)
        if candidates.path_count == candidates.pair_count:
            routing = candidates.routing(network.arc_count, [1.0] * candidates.path_count)
            return worst_case(network, bounds, routing).max_load
        return single_lp(network, bounds, candidates).load

    def example_ms(self) -> list[float]:
        """Delays of the longer of two candidates from router 1 to routers 2 to 6, by hops (section 5)."""
        network = self._routers.network
        place = [network.nodes.index(str(node)) for node in range(1, 7)]
        pairs = [(place[0], end) for end in place[1:]]
        paths = self._routers.paths(2, "hops", pairs)
        return [max(float(network.delay_ms[list(path)].sum()) for path in paths[pair]) for pair in pairs]


def misfit(metric: str, percent: int, load: float) -> float:
    """By how much a load misses the printed one, beyond rounding."""
    printed = LOADS[metric][PERCENTS.index(percent)]
    return max(0.0, abs(load - printed) - _ROUNDING)


def tried(removed: Link | None, added: Link | None, *, lowest_first: bool) -> Trial:
    """Step 1 for one graph; later numbers are computed only where the earlier ones are as printed."""
    loads = Loads(changed(removed, added), lowest_first=lowest_first)
    single = loads.of("hop", 100)
    spread = loads.of("hop", 0) if not misfit("hop", 100, single) else None
    everything = loads.everything() if spread is not None and not misfit("hop", 0, spread) else None
    return Trial(removed, added, lowest_first, single, spread, everything)


def follows(trial: Trial, added_ms: float) -> tuple[int, int, bool]:
    """Step 2: how many loads of figures 12 and 13 are as printed, and whether the example's delays are.

    Args:
        trial: a graph that fits.
        added_ms: delay of the link that moved; all others have the usual ones.
    """
    loads = Loads(changed(trial.removed, trial.added, added_ms), lowest_first=trial.lowest_first)
    met = [sum(not misfit(metric, x, loads.of(metric, x)) for x in PERCENTS) for metric in ("hop", "delay")]
    example = all(
        abs(ours - printed) <= 0.05 + 1e-6
        for ours, printed in zip(loads.example_ms(), EXAMPLE_MS.values(), strict=True)
    )
    return met[0], met[1], example


def total_misfit(delays_ms: Mapping[Link, float], most: float = math.inf) -> float:
    """Step 3: what the ten loads that depend on delays miss together; a part if it exceeds ``most``."""
    loads, total = Loads(delays_ms), 0.0
    # Those first that miss most with the usual delays; HYBRID-HOP at X = 0 and 100 knows no delays.
    order = [("delay", x) for x in (100, 0, 20, 40)] + [("hop", 20), ("hop", 40)]
    order += [(metric, x) for x in (60, 80) for metric in ("delay", "hop")]
    for metric, percent in order:
        total += misfit(metric, percent, loads.of(metric, percent))
        if total > most:
            break
    return total


def free_links() -> list[Link]:
    """Links of our graph that are in no path of the example, so that their delays are free."""
    fixed = {(1, 2), (1, 3), (2, 3), (2, 4), (3, 6), (5, 6)}
    return [link for link in sorted(changed(*MOVED)) if link not in fixed]


@dataclass(frozen=True)
class Fit:
    """Delays that a search ended with."""

    delays_ms: dict[Link, float]
    misfit: float
    """What the twelve loads miss beyond rounding, in total; 0 where all are as printed."""
    steps: int
    """Sets of delays that were tried."""


def fitted(seed: int, most_steps: int) -> Fit:
    """Random steps from the usual delays, one or two at a time; kept where the loads miss by no more.

    Args:
        seed: of the steps.
        most_steps: after so many it ends, fitted or not.
    """
    source = random.Random(seed)  # noqa: S311 - no secret
    free = free_links()
    best = changed(*MOVED)
    least = total_misfit(best)
    for step in range(1, most_steps + 1):
        trial = dict(best)
        for link in source.sample(free, source.choice((1, 1, 2))):
            moved = trial[link] * math.exp(source.gauss(0.0, _STEP))
            trial[link] = round(min(max(moved, _LEAST_MS), _MOST_MS), 2)
        missed = total_misfit(trial, least)
        if missed <= least:
            best, least = trial, missed
        if least == 0.0:
            return Fit(best, least, step)
    return Fit(best, least, most_steps)


def freedom(delays_ms: Mapping[Link, float], link: Link, factors: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest delay of a link, of the tried ones, with which all loads stay as printed.

    Args:
        delays_ms: a fit; all other delays stay.
        link: which.
        factors: of its delay, ascending; tried outwards from 1 until a load changes.
    """
    ends = []
    for side in ([f for f in reversed(factors) if f < 1], [f for f in factors if f > 1]):
        last = delays_ms[link]
        for factor in side:
            if total_misfit({**delays_ms, link: delays_ms[link] * factor}, 0.0) > 0:
                break
            last = delays_ms[link] * factor
        ends.append(last)
    return ends[0], ends[1]
