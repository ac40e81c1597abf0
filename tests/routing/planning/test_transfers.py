"""Transfers by the model against simulation, and against round trips and loads by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from small_networks import Arc, Network

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.models import ModelError
from anabranch.plans.transfers import completion_s, transfers
from anabranch.study.failure_runs import NOTHING, SimulatedRuns, packets_of, simulate_failures

PACKET, ACK = 1500 * 8, 52 * 8
"""Bits of a full packet and of a bare acknowledgment with timestamps (RFC 7323)."""


@pytest.mark.parametrize("size", [10_000, 100_000, 1_000_000, 10_000_000])
@pytest.mark.parametrize(("mbps", "delay_ms"), [(100.0, 5), (1000.0, 5), (50.0, 1)])
def test_the_model_is_near_to_a_simulation(size: int, mbps: float, delay_ms: int) -> None:
    """One transfer over an idle link: within a fifth, or a round trip where a window misses by a segment."""
    data = {
        "network": {
            "node": [{"name": "a"}, {"name": "b"}],
            "link": [
                {
                    "between": ["a", "b"], "new": True, "capacity": f"{mbps} Mbps", "delay": f"{delay_ms} ms",
                    "queue": "4000 packets", "weight": 1,
                }
            ],
        },
        "traffic": [{"from": "a", "to": "b", "size": f"{size} B", "transport": "linux-cubic"}],
        "run": {"duration": "20 s"},
    }  # fmt: skip
    simulated = Scenario.from_data(data).run().tables["flows"]["completion_s"][0]
    rtt = np.array([2e-3 * delay_ms + (PACKET + ACK) / (mbps * 1e6)])
    payload = 1448
    model = completion_s(size, rtt, np.array([mbps * payload / 1500]), payload)[0]
    assert abs(model - simulated) <= max(0.2 * simulated, rtt[0])


def paths_of(network: Network, down: Arc | None, pair: Arc) -> tuple[float, list[Arc]]:
    """By hand: the mean time of a full packet there and of an acknowledgment back, and the arcs there."""
    graph = nx.DiGraph()
    for (a, b), weight in network.weight.items():
        if down not in {(a, b), (b, a)}:
            graph.add_edge(a, b, weight=weight)
    total, crossed = 0.0, list[Arc]()
    for (source, target), bits in ((pair, PACKET), (pair[::-1], ACK)):
        ways = list(nx.all_shortest_paths(graph, source, target, weight="weight"))

        def chance(route: list[str], among: list[list[str]] = ways) -> float:
            """Of each path: at every node one of its next hops on a shortest path."""
            part = 1.0
            for hop in range(len(route) - 1):
                part /= len({other[hop + 1] for other in among if other[: hop + 1] == route[: hop + 1]})
            return part

        for path in ways:
            arcs = list(pairwise(path))
            time = sum(1e-3 + bits / (network.mbps[arc] * 1e6) for arc in arcs)
            total += chance(path) * time
            crossed += arcs if bits == PACKET else []
    return total, crossed


@pytest.mark.parametrize("seed", range(10))
def test_round_trips_loads_and_full_links_by_hand(seed: int, tmp_path: Path) -> None:
    network = Network.random(seed)
    outcome = transfers(network.scenario(tmp_path), [1], failures="links")
    edges = [arc for arc in network.mbps if arc[0] < arc[1]]
    message = "no model knows what they get, and they are in no time"
    assert any(message in warning for warning in outcome.warnings) == any(
        case.full_pairs for case in outcome.cases
    )
    assert len(outcome.cases) == 1 + len(edges)
    for case in outcome.cases:
        down = None if not case.name else (case.name.split("->")[0], case.name.split("->")[1])
        loads = network.loads(network.weight, down)
        assert case.load == pytest.approx(max(loads.values()))
        times, full = [], 0
        for pair in network.matrix:
            rtt, arcs = paths_of(network, down, pair)
            if max(loads[arc] for arc in arcs) >= 1 - 1e-9:
                full += 1
                continue
            # A byte: a handshake, the way there, and its time at the rate that is left.
            free = min(network.mbps[arc] * (1 - loads[arc]) for arc in arcs)
            times.append(1.5 * rtt + 8 / (free * 1e6 * 1448 / 1500))
        assert (case.full_pairs, case.modelled_pairs, case.cut_pairs) == (full, len(times), 0)
        (one,) = case.times
        if times:
            assert one.worst_s == pytest.approx(max(times), rel=1e-6)
            assert one.median_s == pytest.approx(float(np.median(times)), rel=1e-6)
        else:
            assert one.worst_s is None


def test_the_failures_that_harm_most_are_simulated(tmp_path: Path) -> None:
    """A node with one link is cut off by its failure, and sends nothing then."""
    network = Network.random(1)
    network.mbps |= {("n0", "stub"): 10.0, ("stub", "n0"): 10.0}
    network.weight |= {("n0", "stub"): 3, ("stub", "n0"): 3}
    network.matrix = {("n1", "stub"): 2.0, ("stub", "n1"): 2.0, ("n1", "n2"): 2.0}
    scenario = network.scenario(tmp_path)
    outcome = transfers(scenario, [20_000], failures="links")
    assert outcome.cases[outcome.by_harm[0]].name == "n0->stub"
    assert outcome.cases[outcome.by_harm[0]].cut_pairs == 2
    runs, out = SimulatedRuns(2, 0.5), tmp_path / "runs"
    # Three cells of three runs, each 6 Mbps for half a second.
    assert packets_of(outcome, runs) == pytest.approx(9 * 0.5 * 6e6 / 12_000)
    result = simulate_failures(scenario, outcome, runs, jobs=2, out=out)
    done_counts = list[int]()
    again = simulate_failures(
        scenario, outcome, runs, jobs=2, out=out, progress=lambda done, *_: done_counts.append(done)
    )
    assert done_counts == [result.runs.height], "runs that are done are not made again"
    assert again.cells.equals(result.cells)
    assert list(result.cells["down"]) == [
        NOTHING,
        *(outcome.cases[place].name for place in outcome.by_harm[:2]),
    ]
    assert result.cells["failed"].sum() == 0
    # A third of the traffic is left: about 2 Mbps * 0.5 s / 20 kB = 6.25 flows in each of three runs.
    flows = result.cells["completion_median_s_flows"].to_list()
    assert flows[1] < flows[0] / 2
    assert flows[1] > 0
    assert result.replications == 3


def test_what_no_model_knows_is_refused(tmp_path: Path) -> None:
    network = Network.random(0)
    with pytest.raises(ScenarioError, match="transfers are beside one matrix"):
        transfers(network.scenario(tmp_path, {"ingress": "9 Mbps", "egress": "9 Mbps"}), [1])
    with pytest.raises(ModelError, match="mptcp sends over several paths"):
        transfers(network.scenario(tmp_path), [1], transport="mptcp")
    robust = network.scenario(tmp_path).replace({"routing.scheme": "robust", "routing.metric": "hops"})
    with pytest.raises(ScenarioError, match="routers compute routes anew"):
        transfers(robust, [1])


def test_the_command(tmp_path: Path) -> None:
    network = Network.random(2)
    network.matrix = {pair: mbps / 10 for pair, mbps in network.matrix.items()}
    file = tmp_path / "net.toml"
    file.write_text(network.scenario(tmp_path).toml())
    command = [sys.executable, "-m", "anabranch", "transfers", str(file)]

    def ran(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *more], capture_output=True, text=True, check=False)  # noqa: S603

    more = ("--failures", "links", "--sizes", "20 kB,1 MB", "--simulate", "1", "--seconds", "0.2", "--json")
    document = json.loads(ran(*more).stdout)
    assert len(document["cases"]) == 1 + len(network.mbps) // 2
    assert [one["size_bytes"] for one in document["cases"][0]["times"]] == [20_000, 1_000_000]
    assert len(document["simulated"]) == 4
    for refused in (ran("--sizes", "0 B"), ran("--sizes", "ten"), ran("--transport", "mptcp")):
        assert refused.returncode == 2
        assert "Traceback" not in refused.stderr
