"""The worst failures simulated: a study over failures and sizes of transfers, which make the matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from anabranch.plans.transfers import Transfers
from anabranch.routing.router_failures import Failure
from anabranch.routing.router_network import RouterNetwork
from anabranch.scenario.scenario import Scenario
from anabranch.study.model import Study
from anabranch.study.result import StudyResult
from anabranch.text.csv_cells import csv_text

NOTHING: Final = "nothing"
"""The level where nothing is down."""


@dataclass(frozen=True, slots=True)
class SimulatedRuns:
    """The runs of a simulation of failures."""

    failures: int
    """So many of those that harm most, beside nothing down."""
    duration_s: float = 1.0
    """Simulated time of each run."""
    replications: int = 3
    """Runs of each failure and size; three or more have intervals."""


MANY_PACKETS: Final = 20_000_000
"""More take minutes: a core simulates a few million packet-hops a second."""
_PACKET_BITS: Final = 1500 * 8


def packets_of(transfers: Transfers, runs: SimulatedRuns) -> float:
    """The packets that all runs of a simulation send, about: the matrix for their time, none sent again."""
    cells = (1 + min(runs.failures, len(transfers.by_harm))) * len(transfers.sizes)
    matrix_mbps = float(np.sum(transfers.routers.bounds.pair_mbps))
    return cells * runs.replications * runs.duration_s * matrix_mbps * 1e6 / _PACKET_BITS


def simulate_failures(
    scenario: Scenario,
    transfers: Transfers,
    runs: SimulatedRuns,
    *,
    jobs: int | None = None,
    out: Path | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> StudyResult:
    """Simulates the failures that harm most, and the network with nothing down.

    The matrix becomes transfers that arrive as a Poisson process, in turn of each size. Pairs without a route
    send nothing.

    Args:
        scenario: that of the transfers.
        transfers: by the model, which say what harms.
        runs: how many, and how long.
        jobs: processes; one for each core if None.
        out: folder of the study, which goes on from the runs that are in it; none is kept if None.
        progress: told of the runs done, the failed ones and all.

    Raises:
        ScenarioError: if the scenario cannot be run.
        StudyError: if no run can be made.
    """
    places = [0, *transfers.by_harm[: runs.failures]]
    failures = [transfers.failures[place] for place in places]
    with TemporaryDirectory(prefix="anabranch-") as folder:
        data = _study(scenario, transfers, failures, Path(folder), runs)
        study = Study.from_data(data, base=scenario.base)
        return study.run(jobs=jobs, out=out, progress=progress)


def _study(
    scenario: Scenario,
    transfers: Transfers,
    failures: Sequence[Failure],
    folder: Path,
    runs: SimulatedRuns,
) -> dict[str, Any]:
    """The study as a file would have it."""
    given = scenario.data(given_only=True)
    out = given.get("network", {}).get("out_of_service", {})
    levels = []
    for number, failure in enumerate(failures):
        matrix = folder / f"{number}.csv"
        matrix.write_text(_matrix(transfers.routers, failure), encoding="utf-8")
        levels.append(
            {
                "label": failure.name or NOTHING,
                "set": {
                    "network.out_of_service": _down(transfers.routers, failure, out),
                    "traffic[0].matrix": {"from": f"file:{matrix}"},
                },
            }
        )
    given["traffic"] = [
        {
            "matrix": {"from": f"file:{folder / '0.csv'}"},
            "size": f"{transfers.sizes[0]} B",
            "transport": transfers.transport,
        }
    ]
    given["run"] = {**given.get("run", {}), "duration": f"{runs.duration_s!r} s"}
    given["network"] = {**given["network"], "out_of_service": {"links": [], "nodes": [], **out}}
    given["routing"] = {key: value for key, value in given["routing"].items() if key != "demand"}
    return {
        "title": scenario.title or "Failures",
        "scenario": given,
        "replications": runs.replications,
        "factor": [
            {"label": "down", "level": levels},
            {"field": "traffic[0].size", "label": "size", "levels": [f"{one} B" for one in transfers.sizes]},
        ],
        "metric": [
            *(
                {
                    "name": f"completion_{name}_s", "column": "completion_s", "statistic": statistic,
                    "label": f"completion, {statistic} (s)",
                }
                for name, statistic in (("median", "median"), ("p95", "p95"))
            ),
            {"name": "goodput_mean_mbps", "column": "goodput_mbps", "statistic": "mean"},
        ],
    }  # fmt: skip


def _down(routers: RouterNetwork, failure: Failure, out: dict[str, Any]) -> dict[str, list[str]]:
    """What is out of service: of the scenario, and of the failure."""
    setup = routers.setup
    at_nodes = {
        number
        for number, link in enumerate(setup.links)
        if link.origin in failure.nodes or link.to in failure.nodes
    }
    return {
        "links": [
            *out.get("links", []),
            *(setup.links[link].name for link in sorted(failure.links - at_nodes)),
        ],
        "nodes": [*out.get("nodes", []), *(setup.nodes[node].name for node in sorted(failure.nodes))],
    }


def _matrix(routers: RouterNetwork, failure: Failure) -> str:
    """The traffic of pairs that have a route while this is down."""
    network = routers.network
    down = np.isin(np.array(routers.links), list(failure.links))
    group = list(range(len(network.nodes)))

    def root(node: int) -> int:
        while group[node] != node:
            node = group[node]
        return node

    for tail, head in zip(network.tail[~down].tolist(), network.head[~down].tolist(), strict=True):
        group[root(tail)] = root(head)
    rows = [
        (network.nodes[a], network.nodes[b], repr(float(routers.bounds.pair_mbps[a, b])))
        for a, b in zip(*(side.tolist() for side in routers.bounds.pairs()), strict=True)
        if root(a) == root(b) and not {routers.routers[a], routers.routers[b]} & failure.nodes
    ]
    return csv_text(("from", "to", "rate_mbps"), rows)
