"""Predictions of the throughput models for the flows of a scenario, over the routes of its packets.

A flow that keeps to one path is as in ``routing/path_throughput.py``; what spreads its packets over several
paths has the mean of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from anabranch.models import Model, ModelError, configured_model
from anabranch.plans.paths import shares_along
from anabranch.routing.path_throughput import (
    PacketSizes,
    PathPrediction,
    conditions_of,
    dependent_losses,
    kept_path,
    loss_of,
    packet_sizes,
    path_prediction_of,
    time_s,
)
from anabranch.routing.planned import WeightedPath
from anabranch.scenario.algorithms.loss_detection import Dupack
from anabranch.scenario.algorithms.protocol import AnyProtocol, TcpProtocol
from anabranch.setup import Setup
from anabranch.setup.model import TransportSetup

MOST_PATHS: Final = 256
"""Most paths of a pair, hop by hop, that are computed one by one."""
_PER_PACKET: Final = ("packet", "packet-round-robin")


@dataclass(frozen=True, slots=True)
class ThroughputPrediction:
    """The throughput of each flow of a pair that uses one transport."""

    transport: str
    """Name that the scenario gives it."""
    flows: int
    """Flows of the pair that use it."""
    model: str | None
    """Name of the model; None where there is none."""
    mbps: float | None
    """Throughput of one flow in Mbps of payload, the mean over the flows; None without a prediction."""
    reason: str | None
    """Why there is no prediction."""
    paths: tuple[PathPrediction, ...]


def predictions(
    setup: Setup,
    pair: tuple[int, int],
    there: Sequence[WeightedPath] | None,
    back: Sequence[WeightedPath] | None,
) -> tuple[ThroughputPrediction, ...]:
    """A prediction for each transport that sends data from one node to another, in order of first flows.

    Every flow of the pair counts as long, and as open together with all others.

    Args:
        setup: the scenario, resolved.
        pair: origin and destination.
        there: the paths that data takes; None if there are too many.
        back: those of acknowledgments, likewise.
    """
    used = setup.flows.between(*pair)
    flows = used.total()
    return tuple(
        _prediction(setup, setup.transports[index], number, flows, there, back)
        for index, number in used.items()
    )


def _prediction(
    setup: Setup,
    transport: TransportSetup,
    number: int,
    flows: int,
    there: Sequence[WeightedPath] | None,
    back: Sequence[WeightedPath] | None,
) -> ThroughputPrediction:
    def without(reason: str, model: str | None = None) -> ThroughputPrediction:
        return ThroughputPrediction(transport.name, number, model, None, reason, ())

    try:
        model = configured_model(transport.config)
    except ModelError as error:
        return without(error.problem.message)
    if there is None or back is None:
        return without(f"more than {MOST_PATHS} paths, hop by hop", model.name)
    sizes = packet_sizes(transport.config)
    returning = _mean_time_s(setup, back, sizes.ack_packet)
    if len(there) > 1 and setup.routing.load_balancing.algorithm in _PER_PACKET:
        spread = _Mixture(setup, there, sizes)
        if (refusal := spread.refusal(transport.config)) is not None:
            return without(refusal, model.name)
        paths = [spread.predict(model, transport.config, flows, returning)]
    else:
        paths = [
            kept_path(setup, model, transport.config, weighted, there, flows, returning) for weighted in there
        ]
    mbps = sum(path.share * path.mbps for path in paths)
    return ThroughputPrediction(transport.name, number, model.name, mbps, None, tuple(paths))


class _Mixture:
    """A flow whose packets are distributed over several paths.

    By Little's law its throughput is its window over the mean time that a packet and its acknowledgment take,
    and its loss is the mean, whatever path a packet takes. What the models do not know is reordering.
    """

    def __init__(self, setup: Setup, there: Sequence[WeightedPath], sizes: PacketSizes) -> None:
        self._setup = setup
        self._ways = there
        self._sizes = sizes
        # Each link gets its share of all packets, so that the first one that is full limits them all.
        self._capacity_mbps = sizes.efficiency * min(
            setup.links[link].sustained_rate / 1e6 / part for link, part in shares_along(there).items()
        )
        times = [time_s(setup, path, sizes.data_packet) for path in there]
        self._differ_s = max(times) - min(times)

    def refusal(self, config: AnyProtocol) -> str | None:
        """Why there is no prediction, where reordering decides; None where it does not."""
        if (passed := self._overtaking()) == 0:
            return None
        differ = f"packets of a flow take paths whose delays differ by {self._differ_s * 1e3:.3g} ms"
        if not isinstance(config, TcpProtocol):
            return f"{differ}: no formula has a fixed window with reordering"
        detection = config.loss_detection
        if isinstance(detection, Dupack) and passed >= detection.threshold:
            return f"{differ}: {detection.threshold} duplicate ACKs take reordering for loss"
        return None

    def _overtaking(self) -> int:
        """Most packets that can overtake one at the rate of all paths together."""
        # Rounding of sums of delays is no reordering.
        if self._differ_s < 1e-9:
            return 0
        return math.ceil(self._differ_s * self._capacity_mbps * 1e6 / 8 / self._sizes.payload)

    def predict(self, model: Model, config: AnyProtocol, flows: int, returning_s: float) -> PathPrediction:
        """The model over the mean of the paths."""
        setup, ways = self._setup, self._ways
        conditions = conditions_of(
            config,
            rtt_s=_mean_time_s(setup, ways, self._sizes.data_packet) + returning_s,
            loss=min(1.0, sum(path.weight * loss_of(setup, path) for path in ways)),
            capacity_mbps=self._capacity_mbps,
            flows=flows,
        )
        warnings = dependent_losses(
            [setup.links[link] for link in sorted({link for path in ways for link in path.links})]
        )
        if self._overtaking() > 0:
            differ = f"delays of the paths differ by {self._differ_s * 1e3:.3g} ms"
            warnings = (*warnings, f"{model.name}: {differ}, and reordering is not in the model")
        return path_prediction_of(setup, model, conditions, (), 1.0, warnings)


def _mean_time_s(setup: Setup, ways: Sequence[WeightedPath], packet_bytes: int) -> float:
    return sum(path.weight * time_s(setup, path, packet_bytes) for path in ways)
