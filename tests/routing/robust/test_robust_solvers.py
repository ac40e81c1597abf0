"""The solvers against each other, against the published optimum, against closed forms and every bound."""

import subprocess
import sys
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
from robust_networks import (
    network,
    nsfnet,
    random_bounds,
    random_network,
    shortest_candidates,
    sndlib,
    uniform_bounds,
)
from scipy import sparse

from anabranch.routing.robust import (
    Candidates,
    DemandBounds,
    FlowNetwork,
    RoutingError,
    Solution,
    SolverError,
    all_paths,
    cut_bound,
    decompose,
    single_lp,
    worst_case,
)
from anabranch.routing.robust.alike import Alike
from anabranch.routing.robust.problem import RoutingProblem
from anabranch.routing.robust.trees import Trees
from anabranch_publications.papers.robust.solvers import exchange, link_flow

AGREEMENT = 1e-6


def certified(net: FlowNetwork, bounds: DemandBounds, solution: Solution) -> Solution:
    """The solution, once the evaluator has confirmed its load and its bound lies where it should."""
    assert solution.status == "optimal"
    assert worst_case(net, bounds, solution.routing).max_load == pytest.approx(solution.load, rel=1e-9)
    assert solution.lower_bound <= solution.load * (1 + 1e-9)
    assert solution.gap <= AGREEMENT
    return solution


def every_simple_path(net: FlowNetwork, bounds: DemandBounds) -> Candidates:
    """All simple paths, by networkx."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(len(net.nodes)))
    for arc in range(net.arc_count):
        graph.add_edge(int(net.tail[arc]), int(net.head[arc]), arc)
    pairs = zip(*(ends.tolist() for ends in bounds.pairs()), strict=True)
    return Candidates.from_paths(
        net,
        {(s, t): [[arc for *_, arc in p] for p in nx.all_simple_edge_paths(graph, s, t)] for s, t in pairs},
    )


@pytest.mark.parametrize(
    ("count", "load"),
    [
        (1, 0.92),
        # The paper's ties, lowest node numbers first, give 0.702; the paper prints 0.68 in figure 12.
        (2, 0.702),
    ],
)
@pytest.mark.parametrize("solve", [single_lp, exchange])
def test_nsfnet_with_few_paths(
    count: int, load: float, solve: Callable[[FlowNetwork, DemandBounds, Candidates], Solution]
) -> None:
    net, bounds = nsfnet(), uniform_bounds(14)
    solution = certified(net, bounds, solve(net, bounds, shortest_candidates(net, bounds, count)))
    assert round(solution.load, 3) == load


def test_nsfnet_over_all_paths_has_the_published_load() -> None:
    # Fukushima et al. 2016, figure 12: ALL has 0.455.
    net, bounds = nsfnet(), uniform_bounds(14)
    by_flow = certified(net, bounds, link_flow(net, bounds))
    by_columns = certified(net, bounds, all_paths(net, bounds))
    eight = shortest_candidates(net, bounds, 8)
    assert [round(s.load, 4) for s in (by_flow, by_columns)] == [0.455, 0.455]
    # Eight shortest paths of each pair are enough for the same load.
    assert round(certified(net, bounds, single_lp(net, bounds, eight)).load, 4) == 0.455


def test_a_cut_explains_the_published_load() -> None:
    # Whatever the routing, a set of nodes must send what the bounds allow over the links that lead out of it.
    assert cut_bound(nsfnet(), uniform_bounds(14)) == pytest.approx(0.455, rel=1e-9)


@pytest.mark.parametrize("kind", ["hose", "pipe", "both"])
@pytest.mark.parametrize("seed", range(3))
def test_all_solvers_agree_on_random_networks(kind: str, seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    net = random_network(random, 6, 4)
    bounds = random_bounds(random, 6, kind)
    paths = every_simple_path(net, bounds)
    loads = [
        certified(net, bounds, solution).load
        for solution in (
            single_lp(net, bounds, paths),
            exchange(net, bounds, paths),
            link_flow(net, bounds),
            all_paths(net, bounds),
        )
    ]
    assert loads == pytest.approx([loads[0]] * 4, rel=2 * AGREEMENT)
    assert cut_bound(net, bounds) <= loads[0] * (1 + AGREEMENT)


@pytest.mark.parametrize("name", ["polska", "dfn-gwin", "abilene"])
def test_all_solvers_agree_on_sndlib(name: str) -> None:
    net = sndlib(name)
    bounds = uniform_bounds(len(net.nodes))
    candidates = shortest_candidates(net, bounds, 3)
    whole = certified(net, bounds, single_lp(net, bounds, candidates, rows="all"))
    by_link = certified(net, bounds, single_lp(net, bounds, candidates))
    assert by_link.load == pytest.approx(whole.load, rel=2 * AGREEMENT)
    flow = certified(net, bounds, link_flow(net, bounds))
    assert certified(net, bounds, all_paths(net, bounds)).load == pytest.approx(flow.load, rel=2 * AGREEMENT)
    assert flow.load <= whole.load * (1 + AGREEMENT)


def test_rows_that_come_link_by_link_find_the_whole_optimum() -> None:
    net = sndlib("nobel-eu")
    bounds = uniform_bounds(len(net.nodes))
    candidates = shortest_candidates(net, bounds, 4)
    # More arcs than are solved at once, so that the rows do come link by link.
    assert len(candidates.arcs) > 10_000
    by_link = certified(net, bounds, single_lp(net, bounds, candidates))
    assert by_link.iterations > 1
    whole = certified(net, bounds, single_lp(net, bounds, candidates, rows="all"))
    assert by_link.load == pytest.approx(whole.load, rel=2 * AGREEMENT)


def test_one_pair_fills_its_paths_in_proportion_to_their_capacities() -> None:
    # Over disjoint paths of capacities 30, 60 and 90 the least load is w over their sum.
    net = network(5, [(0, 1), (1, 4), (0, 2), (2, 4), (0, 3), (3, 4)])
    capacity = np.repeat([30.0, 60.0, 90.0], 4)
    net = FlowNetwork(net.nodes, net.tail, net.head, capacity, net.delay_ms)
    pair = np.zeros((5, 5))
    pair[0, 4] = 45.0
    solution = certified(net, bounds := DemandBounds.pipe(pair), link_flow(net, bounds))
    assert solution.load == pytest.approx(45 / 180, rel=AGREEMENT)
    assert solution.routing.fraction is not None
    assert sorted(solution.routing.fraction) == pytest.approx([1 / 6, 1 / 3, 1 / 2], abs=1e-5)


def test_links_without_capacity_are_left_alone() -> None:
    plain = network(4, [(0, 1), (1, 3), (0, 2), (2, 3)])
    capacity = plain.capacity_mbps.copy()
    capacity[[4, 5]] = (
        0.0  # what is left is the chain 0-1-3-2, whose middle has four pairs of 50 Mbps each way
    )
    net = FlowNetwork(plain.nodes, plain.tail, plain.head, capacity, plain.delay_ms)
    bounds = uniform_bounds(4)
    for solve in (link_flow, all_paths):
        assert certified(net, bounds, solve(net, bounds)).load == pytest.approx(200 / 500, rel=AGREEMENT)


def test_a_decomposition_is_made_of_simple_paths_that_add_up() -> None:
    net, bounds = sndlib("polska"), uniform_bounds(12)
    routing = link_flow(net, bounds).routing
    assert routing.candidates is not None
    routing.candidates.check(net)
    routing.check(net)
    assert routing.fraction is not None
    assert np.add.reduceat(routing.fraction, routing.candidates.path_start[:-1]) == pytest.approx(
        1.0, abs=1e-12
    )


def test_a_time_limit_leaves_a_routing_and_an_honest_bound() -> None:
    net, bounds = nsfnet(), uniform_bounds(14)
    candidates = shortest_candidates(net, bounds, 4)
    # What a finished solver finds is the outside reason for both inequalities.
    best = single_lp(net, bounds, candidates).load
    for solve in (exchange, single_lp):
        solution = solve(net, bounds, candidates, time_limit_s=0.0)
        assert solution.status == "time-limit"
        assert solution.lower_bound <= best * (1 + AGREEMENT)
        assert solution.load >= best * (1 - AGREEMENT)
        assert solution.gap > AGREEMENT
        assert worst_case(net, bounds, solution.routing).max_load == solution.load
    stopped = all_paths(sndlib("nobel-eu"), uniform_bounds(28), time_limit_s=0.0)
    assert stopped.status == "time-limit"
    assert stopped.lower_bound > 0


def test_a_time_limit_before_any_flow_is_an_error() -> None:
    with pytest.raises(SolverError, match=r"^link-flow: no routing before the time limit; allow more time"):
        link_flow(nsfnet(), uniform_bounds(14), time_limit_s=0.0)


def test_a_share_without_flow_has_no_paths() -> None:
    net = network(2, [(0, 1)])
    with pytest.raises(RoutingError, match=r"^1 to 2: no flow leads from the one to the other"):
        decompose(net, np.array([0]), np.array([1]), sparse.csr_array((1, 2)))


def test_solvers_are_deterministic() -> None:
    net, bounds = sndlib("abilene"), uniform_bounds(12)
    candidates = shortest_candidates(net, bounds, 3)
    first, second = (single_lp(net, bounds, candidates).routing.fraction for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.tobytes() == second.tobytes()


def test_the_solver_is_silent() -> None:
    # A process of its own: the library's own output is only flushed at the end of one.
    program = "from anabranch.routing.robust.highs import new_solver; new_solver()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60)  # noqa: S603
    assert (done.stdout, done.stderr) == (b"", b"")


def tufted(sizes: dict[int, float] | None = None) -> tuple[FlowNetwork, DemandBounds]:
    """A ring of five with a chord, on which trees of one to four nodes hang, one of them two links deep.

    Args:
        sizes: what some nodes may send and receive, in Mbps; all others 130.
    """
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 3)]
    leaves = [(0, 5), (0, 6), (0, 7), (1, 8), (2, 9), (9, 10), (9, 11), (11, 12)]
    hose = np.array([(sizes or {}).get(node, 130.0) for node in range(13)])
    return network(13, ring + leaves), DemandBounds(hose, hose, np.full((13, 13), 50.0))


@pytest.mark.parametrize("sizes", [{}, {1: 60.0, 8: 60.0}, {5: 60.0}])
def test_trees_change_no_optimum(sizes: dict[int, float]) -> None:
    """Over all paths: as the link-flow form, which knows no trees; the last has a tree of unequal nodes."""
    net, bounds = tufted(sizes)
    solution, plain = all_paths(net, bounds), link_flow(net, bounds)
    assert (Trees.find(net, bounds) is None) == (5 in sizes)
    assert solution.load == pytest.approx(plain.load, rel=2e-6)
    assert solution.status == "optimal"
    assert solution.gap <= 1e-6
    assert worst_case(net, bounds, solution.routing).max_load == pytest.approx(solution.load, rel=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("sizes", [{}, {1: 60.0, 8: 60.0}, {5: 60.0}])
def test_nodes_that_are_alike_change_no_optimum(sizes: dict[int, float], count: int) -> None:
    """Over K paths: as the whole program, which groups nothing."""
    net, bounds = tufted(sizes)
    candidates = shortest_candidates(net, bounds, count)
    alike = Alike.find(RoutingProblem(net, bounds, candidates))
    assert (alike is None) == (count == 1)
    solution = single_lp(net, bounds, candidates)
    plain = single_lp(net, bounds, candidates, rows="all")
    assert solution.load == pytest.approx(plain.load, rel=2e-6)
    assert solution.status == "optimal"
    assert solution.gap <= 1e-6


def test_brain_is_proved_over_all_paths() -> None:
    """161 nodes, of which nine are in no tree: 25,760 pairs become 72."""
    net = sndlib("brain")
    bounds = uniform_bounds(len(net.nodes))
    trees = Trees.find(net, bounds)
    assert trees is not None
    assert len(trees.bounds.pairs()[0]) == 72
    solution = all_paths(net, bounds)
    assert solution.status == "optimal"
    assert solution.gap <= 1e-6
    assert worst_case(net, bounds, solution.routing).max_load == pytest.approx(solution.load, rel=1e-9)
