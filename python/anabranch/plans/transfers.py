"""Goodput and completion of transfers of given sizes, with all links up and in each failure: what TCP feels.

The model is of a transfer that begins beside the traffic of one matrix, over links that carry it steadily: a
handshake, slow start from the initial window (RFC 6928: 10 segments) with windows that double in each round
trip, and the rate of the pair from the window on that fills it, as Cardwell, Savage and Anderson (Modeling
TCP Latency, 2000, section 3) have it without loss. The rate is the lowest of what the matrix leaves free on
the links of the pair's paths, and of what the throughput model of the transport allows for their random loss
and its largest window. Waiting in queues is in no model, and neither is a transfer over a link that is full:
what it gets depends on the flows that it meets, so that such pairs are counted apart. Simulation knows both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.models import Model, configured_model
from anabranch.plans.failure_loads import cores
from anabranch.plans.failures import failures_of
from anabranch.plans.routes import settled
from anabranch.routing import Planned
from anabranch.routing.pair_shares import ends_of, sending, shares_of_pairs
from anabranch.routing.path_throughput import PacketSizes, conditions_of, long_run_loss, packet_sizes
from anabranch.routing.robust import RobustRoutingError
from anabranch.routing.router_failures import NORMAL, Failure
from anabranch.routing.router_network import RouterNetwork, as_scenario_error
from anabranch.scenario.algorithms.protocol import AnyProtocol
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve
from anabranch.setup.flow_columns import pair_code

Floats = NDArray[np.float64]
_INITIAL_SEGMENTS: Final = 10
"""RFC 6928, section 2."""
_FULL: Final = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class TransferTimes:
    """Transfers of one size, one for each pair, by the model."""

    size_bytes: int
    median_s: float | None
    """Completion: half of the pairs that the model knows are faster. None where it knows none."""
    worst_s: float | None
    worst_pair: tuple[str, str] | None
    median_mbps: float | None
    """Size over completion."""
    least_mbps: float | None


@dataclass(frozen=True, slots=True)
class FailureTransfers:
    """Transfers while something is down."""

    kind: str
    """Empty where nothing is."""
    name: str
    load: float
    """The highest of any link."""
    modelled_pairs: int
    full_pairs: int
    """Pairs with a path over a full link, of which the model says nothing."""
    cut_pairs: int
    """Pairs without a route, those of nodes that are down included."""
    times: tuple[TransferTimes, ...]
    """By size."""


@dataclass(frozen=True, slots=True)
class Transfers:
    """Transfers in all failures, and with nothing down first."""

    scheme: str
    transport: str
    model: str
    sizes: tuple[int, ...]
    cases: tuple[FailureTransfers, ...]
    failures: tuple[Failure, ...]
    """Of the cases; the first is none."""
    routers: RouterNetwork
    warnings: tuple[str, ...]

    @property
    def by_harm(self) -> list[int]:
        """Places of the failures, first those in which most pairs are cut off or meet a full link.

        Of several, that with the longest completion of the largest size is first.
        """

        def harm(place: int) -> tuple[int, float]:
            case = self.cases[place]
            return case.cut_pairs + case.full_pairs, case.times[-1].worst_s or 0.0

        return sorted(range(1, len(self.cases)), key=lambda place: tuple(-part for part in harm(place)))


def completion_s(size_bytes: float, rtt_s: Floats, rate_mbps: Floats, segment_bytes: float) -> Floats:
    """Completion of a transfer from its SYN until its last byte has arrived, without loss in slow start.

    Args:
        size_bytes: what it sends.
        rtt_s: round trips, shape (pairs,).
        rate_mbps: rate once the window fills the pipe, of payload; above 0.
        segment_bytes: payload of a full segment.
    """
    first = _INITIAL_SEGMENTS * segment_bytes
    bytes_per_s = rate_mbps * 1e6 / 8
    pipe = bytes_per_s * rtt_s
    # Round trips in which a window is sent and the sender then waits: it is smaller than the pipe.
    rounds = np.maximum(np.ceil(np.log2(np.maximum(pipe / first, 1.0))), 0.0)
    # As many as the size takes: windows of n round trips together are 2^n - 1 times the first.
    needed = math.floor(math.log2(size_bytes / first + 1) - 1e-12) if size_bytes > 0 else 0
    waited = np.minimum(rounds, needed)
    left = np.maximum(size_bytes - first * (2.0**waited - 1), 0.0)
    # A handshake, the rounds, what is left at the rate, and the way there.
    return np.asarray(rtt_s + waited * rtt_s + left / bytes_per_s + rtt_s / 2, np.float64)


def transfers(
    scenario: Scenario,
    sizes: Sequence[int],
    *,
    transport: str = "linux-cubic",
    failures: str | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Transfers:
    """Goodput and completion of transfers of these sizes, with nothing down and in each failure.

    Args:
        scenario: with one matrix, ``routing.demand.matrix``, and a scheme that routers compute anew.
        sizes: in bytes, from 1.
        transport: a preset of one path.
        failures: kinds, as of :func:`anabranch.plans.worst_loads.worst_loads`.
        jobs: threads; one for each core if None.
        progress: told of the failures that are done, and of all.

    Raises:
        ScenarioError: if the scenario cannot be run, has no matrix, or routes of a solver.
        ModelError: if no model predicts the transport.
    """
    setup = settled(resolve(scenario, Needed.ROUTES), scenario.origin)
    if setup.demand is None or setup.demand.matrix is None:
        message = 'is missing; transfers are beside one matrix, such as matrix = { from = "file:tm.csv" }'
        raise ScenarioError([Problem("routing.demand.matrix", message)], scenario.origin)
    if setup.keeps_plan or setup.own_routes:
        message = "transfers are known where all routers compute routes anew; choose ecmp or shortest"
        raise ScenarioError([Problem("routing.scheme", message)], scenario.origin)
    config = _config(scenario, transport)
    try:
        model = configured_model(config)
        routers = RouterNetwork.of(setup)
        looked_at = (NORMAL, *(() if failures is None else failures_of(routers, failures)))
        judge = _Judge(routers, tuple(sizes), config, model)
        cases = list[FailureTransfers]()
        with ThreadPoolExecutor(jobs or cores()) as pool:
            for case in pool.map(judge.case, looked_at):
                cases.append(case)
                if progress is not None:
                    progress(len(cases), len(looked_at))
    except RobustRoutingError as error:
        raise as_scenario_error(error, scenario.origin) from None
    return Transfers(
        scenario.routing.scheme_name, transport, model.name, tuple(sizes), tuple(cases), looked_at, routers,
        _warnings(cases),
    )  # fmt: skip


def _config(scenario: Scenario, transport: str) -> AnyProtocol:
    """The transport as a run has it."""
    a, b = _two_nodes(scenario)
    entry = {"from": a, "to": b, "size": "1 MB", "transport": transport}
    with_flow = scenario.replace({"traffic": [entry], "run": {"duration": "1 s"}})
    return resolve(with_flow, Needed.ROUTES).transports[0].config


def _two_nodes(scenario: Scenario) -> tuple[str, str]:
    setup = resolve(scenario, Needed.ROUTES)
    link = setup.links[0]
    return setup.nodes[link.origin].name, setup.nodes[link.to].name


def _warnings(cases: Sequence[FailureTransfers]) -> tuple[str, ...]:
    full = [case for case in cases if case.full_pairs]
    if not full:
        return ()
    worst = max(full, key=lambda case: case.full_pairs)
    where = f"while {worst.name} is down" if worst.name else "with nothing down"
    return (
        f"transfers: in {len(full):,} of {len(cases):,} cases pairs meet a full link, {worst.full_pairs:,} "
        f"of them {where}; no model knows what they get, and they are in no time (--simulate does)",
    )


class _Judge:
    """Says what transfers get while something is down; several threads may ask it at once."""

    def __init__(
        self, routers: RouterNetwork, sizes: tuple[int, ...], config: AnyProtocol, model: Model
    ) -> None:
        self._routers = routers
        self._sizes = sizes
        self._config = config
        self._model = model
        self._packets: PacketSizes = packet_sizes(config)
        self._pairs = np.stack(routers.bounds.pairs(), axis=1)
        self._core: _core.Setup = sending(routers, routers.setup, self._pairs).core()
        nodes = ends_of(routers, self._pairs)
        self._there, self._back = pair_code(*nodes.T), pair_code(*nodes.T[::-1])
        links = [routers.setup.links[link] for link in routers.links]
        rate = np.array([link.capacity for link in links], np.float64)
        delay = np.array([link.delay for link in links], np.float64) / 1e12
        self._data_s = delay + 8 * self._packets.data_packet / rate
        self._ack_s = delay + 8 * self._packets.ack_packet / rate
        self._survival = np.log1p(-np.minimum([long_run_loss(link) for link in links], 1 - 1e-15))

    def case(self, failure: Failure) -> FailureTransfers:
        """The transfers while this is down."""
        routers = self._routers
        planned = Planned(self._core.plan(None, 0, sorted(failure.links)))
        origins, to, _ = planned.plan.ends()
        codes = pair_code(origins, to)
        has_route = np.isin(self._there, codes) & np.isin(self._back, codes)
        pairs = self._pairs[has_route]
        share = shares_of_pairs(routers, planned, pairs)
        mbps = routers.bounds.pair_mbps[pairs[:, 0], pairs[:, 1]]
        capacity = routers.network.capacity_mbps
        traffic = np.asarray(share.T @ mbps)
        load = np.divide(traffic, capacity, out=np.zeros(len(traffic)), where=capacity > 0)
        free = np.maximum(capacity - traffic, 0.0)
        free[load > _FULL] = 0.0
        rtt_s = share @ self._data_s + self._returning(planned, pairs)
        least = _least(share, free)
        has_rtt = least > 0
        rate = np.array(
            [
                self._rate(*one)
                for one in zip(
                    least[has_rtt].tolist(),
                    rtt_s[has_rtt].tolist(),
                    (share @ self._survival)[has_rtt].tolist(),
                    strict=True,
                )
            ]
        )  # fmt: skip
        named = pairs[has_rtt]
        return FailureTransfers(
            failure.kind,
            failure.name,
            float(load.max(initial=0.0)),
            int(has_rtt.sum()),
            int((~has_rtt).sum()),
            int((~has_route).sum()),
            tuple(self._times(size, named, rtt_s[has_rtt], rate) for size in self._sizes),
        )

    def _returning(self, planned: Planned, pairs: NDArray[np.int64]) -> Floats:
        """Time of a bare acknowledgment back; with several paths the mean."""
        back = shares_of_pairs(self._routers, planned, pairs[:, ::-1])
        return np.asarray(back @ self._ack_s, np.float64)

    def _rate(self, free_mbps: float, rtt_s: float, log_survival: float) -> float:
        """What the model of the transport allows beside the traffic, in Mbps of payload."""
        conditions = conditions_of(
            self._config,
            rtt_s=rtt_s,
            loss=-math.expm1(log_survival),
            capacity_mbps=free_mbps * self._packets.efficiency,
            flows=1,
        )
        return self._model.predict(conditions).mbps

    def _times(self, size: int, pairs: NDArray[np.int64], rtt_s: Floats, rate_mbps: Floats) -> TransferTimes:
        if not len(pairs):
            return TransferTimes(size, None, None, None, None, None)
        time = completion_s(size, rtt_s, rate_mbps, self._packets.payload)
        goodput = 8e-6 * size / time
        names, worst = self._routers.network.nodes, int(time.argmax())
        a, b = pairs[worst].tolist()
        return TransferTimes(
            size,
            float(np.median(time)),
            float(time[worst]),
            (names[a], names[b]),
            float(np.median(goodput)),
            float(goodput.min()),
        )


def _least(share: sparse.csr_array, values: Floats) -> Floats:
    """The least value of the arcs that each pair crosses."""
    used = share.data > 0
    row = np.repeat(np.arange(share.shape[0]), np.diff(share.indptr))[used]
    least = np.full(share.shape[0], np.inf)
    np.minimum.at(least, row, values[share.indices[used]])
    return least
