"""What each part of robust routing gains over HiGHS alone with the same limit: ten networks of SNDlib.

    python checks/benches/robust_parts.py [--out FILE] [--only GROUP ...] [--networks [NAME ...]]

Solves each problem as the library does, then with one part left out at a time, then by HiGHS alone: the
whole program in one piece. Prints the tables; with --out they take the place of their section in the document
that checks/benches/robust.py writes. What was measured is kept in results/robust_parts.json, so that a
stopped run goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import platform
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/routing/robust"))

from robust import PARTS, Row, table
from robust_networks import shortest_candidates, sndlib, uniform_bounds

from anabranch import Scenario
from anabranch.routing.robust import (
    Candidates,
    DemandBounds,
    FlowNetwork,
    RobustRoutingError,
    Solution,
    all_paths,
    budget,
    ceiling_of,
    fewest_splits,
    single_lp,
)
from anabranch.routing.robust.optimal import robust_optimal
from anabranch.routing.robust.problem import RoutingProblem
from anabranch.routing.robust.single_path import least_single_path
from anabranch.routing.router_network import RouterNetwork
from anabranch.setup import resolve
from anabranch_publications.papers.robust.solvers import link_flow

KEPT = Path("results/robust_parts.json")
NETWORKS = (
    *("abilene", "polska", "nobel-us", "nobel-germany", "atlanta"),
    *("geant", "ta1", "france", "germany50", "brain"),
)
CANDIDATES = 4
LIMIT_S = 10.0
MIXED_LIMIT_S = 4.0
"""Of the two problems with most parts that use up their limit."""
LEVEL = 1.05
"""Times the least load: what `robust-optimal` may have."""
MOST_COLUMNS = 2_000_000
"""Of a program that is built at all."""
ALONE = "HiGHS alone"
LIBRARY = "all parts"
Patches = Mapping[str, Any]
"""By module and name what takes the place of a part."""


@dataclass(frozen=True)
class Outcome:
    """What came of a problem: the smaller the value and the larger the bound, the better."""

    value: float
    bound: float
    cpu_s: float

    @property
    def gap(self) -> float:
        """By which part of the value the optimum may be lower."""
        return max((self.value - self.bound) / self.value, 0.0) if self.value > 0 else 0.0


@dataclass(frozen=True)
class Group:
    """A problem, and the parts of its solver."""

    title: str
    value: str
    solve: Callable[[str, str], tuple[float, float]]
    """Value and bound on a network, with the name of what is left out."""
    parts: Mapping[str, Patches]
    """What takes the place of each part where it is left out."""


def none(*_: Any, **__: Any) -> None:
    """In place of what finds something to make smaller."""


def zero(*_: Any, **__: Any) -> int:
    """In place of a bound, and of what counts its programs."""
    return 0


@cache
def problem(name: str) -> RoutingProblem:
    """A network with its bounds and candidates."""
    net = sndlib(name)
    bounds = uniform_bounds(len(net.nodes))
    return RoutingProblem(net, bounds, shortest_candidates(net, bounds, CANDIDATES))


@cache
def least(name: str) -> Solution:
    """Its least load over the candidates, which the other problems begin with."""
    asked = problem(name)
    return single_lp(asked.network, asked.bounds, asked.candidates)


def over_paths(name: str, without: str) -> tuple[float, float]:
    """Least load over k paths."""
    del without
    asked = problem(name)
    solution = single_lp(asked.network, asked.bounds, asked.candidates, time_limit_s=LIMIT_S)
    return solution.load, solution.lower_bound


def by_delay(name: str, without: str) -> tuple[float, float]:
    """Least load over k paths by delay: the same both ways, as those by hops are not where they tie."""
    del without
    network, bounds, candidates = paths_by_delay(name)
    solution = single_lp(network, bounds, candidates, time_limit_s=LIMIT_S)
    return solution.load, solution.lower_bound


@cache
def paths_by_delay(name: str) -> tuple[FlowNetwork, DemandBounds, Candidates]:
    """A network with its bounds, and the k paths of least delay of each pair."""
    routers = RouterNetwork.of(
        resolve(
            Scenario.from_data(
                {
                    "network": {"topology": f"sndlib/{name}", "links": {"capacity": "500 Mbps"}},
                    "routing": {"demand": {"ingress": "130 Mbps", "egress": "130 Mbps", "pair": "50 Mbps"}},
                    "traffic": [{"from": "*", "pairs": "permutation", "size": "1 kB"}],
                    "run": {"duration": "1 s"},
                }
            )
        )
    )
    return routers.network, routers.bounds, routers.candidates(CANDIDATES, "delay")


def over_all(name: str, without: str) -> tuple[float, float]:
    """Least load over all paths; by HiGHS alone in the link-flow form."""
    net, bounds = problem(name).network, problem(name).bounds
    if without == ALONE and len(bounds.pairs()[0]) * net.arc_count > MOST_COLUMNS:
        return math.inf, 0.0
    solution = (link_flow if without == ALONE else all_paths)(net, bounds, time_limit_s=LIMIT_S)
    return solution.load, solution.lower_bound


def on_one_path(name: str, without: str) -> tuple[float, float]:
    """Least load with every pair on one of k paths."""
    asked = problem(name)
    steps = 0 if without in {"local_search", ALONE} else 20_000
    solution = least_single_path(
        asked.network, asked.bounds, asked.candidates, time_limit_s=LIMIT_S, steps=steps
    )
    return solution.load, solution.lower_bound


def at_a_level(name: str, without: str) -> tuple[float, float]:
    """Least predicted loss up to a load."""
    asked, level = problem(name), LEVEL * least(name).load
    steps = 0 if without in {"local_search", ALONE} else 10_000
    solution = robust_optimal(
        asked.network, asked.bounds, asked.candidates, level, time_limit_s=MIXED_LIMIT_S, steps=steps
    )
    return solution.lost_mbps, solution.lost_bound_mbps


def few_splits(name: str, without: str) -> tuple[float, float]:
    """Fewest split pairs at the least load."""
    del without
    asked = problem(name)
    first = least(name)
    solution = fewest_splits(asked, first.routing, ceiling_of(first, 1e-6), MIXED_LIMIT_S)
    return solution.count, solution.lower_bound


GROUPS = {
    "paths": Group(
        "Least load over four paths of each pair (`single-lp`)", "load, four paths", over_paths,
        {
            "alike": {"single_lp.Alike.find": none},
            "master: rows of binding links": {"single_lp.SMALL": math.inf},
        },
    ),
    "delay": Group(
        "The same by delay, where the paths of opposite pairs are the same", "load, four by delay", by_delay,
        {
            "alike": {"single_lp.Alike.find": none},
            "mirror images": {"single_lp.Mirror.find": none},
            "master: rows of binding links": {"single_lp.SMALL": math.inf},
        },
    ),
    "all": Group(
        "Least load over all paths (`all-paths`); HiGHS alone has the link-flow form, opposite pairs once",
        "load, all paths",
        over_all,
        {
            "trees": {"all_paths.Trees.find": none},
            "two_phase and partition": {"all_paths._through_intermediates": zero},
            "partition": {"all_paths.Partition.find": none},
            "mirror images": {"all_paths.mirror_of_arcs": none},
            "cuts": {"all_paths.cut_bound": zero},
        },
    ),
    "single": Group(
        "Least load with every pair on one path (`robust-single`)", "load, one path", on_one_path,
        {
            "local_search": {},
            "single_path_bounds": {
                "single_path.attainable_loads": none, "single_path.pair_count_bound": zero,
            },
        },
    ),
    "optimal": Group(
        f"Least predicted loss in Mbps up to {LEVEL:g} times the least load (`robust-optimal`)", "loss",
        at_a_level,
        {
            "local_search": {},
            "optimal: around single paths": {"optimal._Problem._around": zero},
            "optimal: sparse fractions": {"optimal._Problem.sparse": zero},
        },
    ),
    "splits": Group(
        "Fewest split pairs at the least load (`splits = \"fewest\"`)", "split pairs", few_splits,
        {
            "fewest_splits: sparse fractions": {"fewest_splits._Search._sparse": none},
            "fewest_splits: pairs that must split": {"fewest_splits._Search._forced": none},
            "fewest_splits: pair by pair": {"fewest_splits._Search._fix": none},
            "local_search": {"fewest_splits._Search._from_whole": none},
        },
    ),
}  # fmt: skip


def patched(group: Group, without: str) -> ExitStack:
    """The library without a part; without all of them for HiGHS alone."""
    parts = group.parts.values() if without == ALONE else [group.parts.get(without, {})]
    stack = ExitStack()
    for place, stand_in in [entry for part in parts for entry in part.items()]:
        module, *names = place.split(".")
        owner: Any = import_module(f"anabranch.routing.robust.{module}")
        for name in names[:-1]:
            owner = getattr(owner, name)
        stack.enter_context(patch.object(owner, names[-1], stand_in))
    return stack


def measured(group: Group, name: str, without: str) -> Outcome:
    """A problem on a network; an infinite value where there is no answer within the limit."""
    least(name)  # No part of what is measured, nor are the paths by delay.
    paths_by_delay(name)
    begin = process_time()
    try:
        # Limits count work: on a busy machine the clock would end what has work left.
        with patched(group, without), patch.object(budget, "_CLOCK", 1000.0):
            value, bound = group.solve(name, without)
    except (RobustRoutingError, MemoryError):
        value, bound = math.inf, 0.0
    return Outcome(value, bound, process_time() - begin)


def measure(groups: list[str], networks: list[str]) -> None:
    """Measures what is not kept yet, and keeps it."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    KEPT.parent.mkdir(exist_ok=True)
    for key, name in itertools.product(groups, networks):
        of_network = kept.setdefault(key, {}).setdefault(name, {})
        for without in (LIBRARY, *GROUPS[key].parts, ALONE):
            if without not in of_network:
                of_network[without] = asdict(measured(GROUPS[key], name, without))
                KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")
                sys.stderr.write(f"{key} {name}, without {without}: {of_network[without]}\n")


def all_kept() -> dict[str, dict[str, dict[str, Outcome]]]:
    """Outcomes by group, network and what is left out, of the networks that are done."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    return {
        key: {
            name: {without: Outcome(**outcome) for without, outcome in kept[key][name].items()}
            for name in NETWORKS
            if {LIBRARY, *group.parts, ALONE} <= kept[key].get(name, {}).keys()
        }
        for key, group in GROUPS.items()
        if key in kept
    }


def cell(outcome: Outcome) -> str:
    """Value, the gap where there is one, and CPU time."""
    if not math.isfinite(outcome.value):
        return f"none, {outcome.cpu_s:.1f} s" if outcome.cpu_s > 1 else "too large"
    gap = f" ({outcome.gap:.1%})" if outcome.gap > 1e-5 else ""
    return f"{outcome.value:.5g}{gap}, {outcome.cpu_s:.2f} s"


def is_better(one: Outcome, other: Outcome) -> bool:
    """Whether value or bound is better, and neither is worse."""
    slack = 2e-5 * max(abs(one.value) if math.isfinite(one.value) else 0.0, 1e-9)
    lower, higher = one.value < other.value - slack, one.bound > other.bound + slack
    worse = one.value > other.value + slack or one.bound < other.bound - slack
    return (lower or higher) and not worse


def gain(of_network: Mapping[str, Mapping[str, Outcome]], without: str) -> tuple[str, str, str]:
    """On how many networks the library is better with the part, and worse, and the times it takes without."""
    pairs = [(outcomes[LIBRARY], outcomes[without]) for outcomes in of_network.values()]
    better = sum(is_better(whole, less) for whole, less in pairs)
    worse = sum(is_better(less, whole) for whole, less in pairs)
    ratios = [less.cpu_s / whole.cpu_s for whole, less in pairs if math.isfinite(less.value)]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    return f"{better}", f"{worse}", f"{mean:.2f} ({min(ratios):.2f} to {max(ratios):.1f})"


def section(outcomes: Mapping[str, Mapping[str, Mapping[str, Outcome]]]) -> str:
    """The tables with what they were measured on."""
    lines = [
        PARTS,
        "",
        "Written by checks/benches/robust_parts.py (`make robust-parts`); do not edit.",
        "",
        f"Run on {datetime.now(UTC).date().isoformat()} on {platform.machine()}, {platform.system()}, "
        f"Python {platform.python_version()}, HiGHS {version('highspy')}, Anabranch {version('anabranch')}.",
        "",
        "Each problem as the library solves it, with one part left out, and by HiGHS alone, each within work",
        f"of {LIMIT_S:g} s, the last two of {MIXED_LIMIT_S:g} s, with the bounds and capacities above.",
        "A cell has the value, the gap where the optimum is not proved, and CPU time on a shared machine.",
        "The first table counts networks on which value or bound is better with the part and neither is",
        "worse, and the opposite; time is that without the part in times of that with all, mean and range.",
        "",
    ]
    counted: list[Row] = [
        (GROUPS[key].value, without, *gain(of_group, without))
        for key, of_group in outcomes.items()
        for without in (*GROUPS[key].parts, ALONE)
    ]
    lines += table(("problem", "without", "better with", "worse with", "time without"), counted)
    for key, of_group in outcomes.items():
        head = ("network", LIBRARY, *(f"without {part}" for part in GROUPS[key].parts), ALONE)
        left_out = [name for name in NETWORKS if name not in of_group]
        rows = [
            (name, *(cell(of_network[without]) for without in (LIBRARY, *GROUPS[key].parts, ALONE)))
            for name, of_network in of_group.items()
        ]
        lines += ["", f"### {GROUPS[key].title}", "", *table(head, rows)]
        lines += ["", f"Not measured: {', '.join(left_out)}."] if left_out else []
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description="What each part of robust routing gains")
    parser.add_argument("--out", type=Path, help="put the section into this document")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS), help="these problems")
    parser.add_argument("--networks", nargs="*", choices=NETWORKS, default=list(NETWORKS), help="these")
    arguments = parser.parse_args()
    measure(arguments.only, arguments.networks)
    text = section(all_kept())
    sys.stdout.write(text)
    if arguments.out:
        before, _, after = arguments.out.read_text(encoding="utf-8").partition(PARTS)
        after = after[after.index("\n## ") + 1 :] if "\n## " in after else ""
        made = "\n\n".join(part.strip() for part in (before, text, after) if part.strip())
        arguments.out.write_text(made + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
