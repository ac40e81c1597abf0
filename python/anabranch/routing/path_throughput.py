"""Predictions of the throughput models for a flow that keeps to one path.

The round trip is that of an idle network: propagation and transmission of a full data packet on the way
there, and of a bare acknowledgment on the way back. Queues, jitter and delayed acknowledgments are not in it.
Loss of acknowledgments is left out. The capacity is shared by the flows of the same pair and by no others.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from anabranch import _core
from anabranch.routing.planned import WeightedPath
from anabranch.scenario.algorithms.loss import AnyLoss, GilbertElliott, Periodic
from anabranch.scenario.algorithms.protocol import (
    AnyProtocol,
    MptcpProtocol,
    SdnPacedProtocol,
    SlidingWindowProtocol,
    SprayProtocol,
    TcpProtocol,
)
from anabranch.setup import Setup
from anabranch.setup.model import LinkSetup, TransportSetup, tcp_of

if TYPE_CHECKING:
    from anabranch.models import Model, PathConditions

_PS_PER_S = 1e12
_HEADER_BYTES = 40
"""IPv4 and TCP without options (RFC 791, RFC 9293 section 3.1)."""
_SPRAY_HEADER_BYTES = 64
"""All headers of a packet of ``spray``."""
_TIMESTAMP_BYTES = 12
"""The timestamps option with its padding (RFC 7323 appendix A)."""


@dataclass(frozen=True, slots=True)
class PathPrediction:
    """The throughput of one flow that keeps to one path, or distributes its packets over all of them."""

    nodes: tuple[str, ...]
    """Of the path; empty for a flow whose packets take several."""
    share: float
    """Share of the pair's flows that it holds for."""
    rtt_ms: float
    """Round trip through an idle network; with several paths, the mean over packets."""
    loss: float
    """Probability that a data packet is lost at random on its path, in the long run; with several paths, the
    mean over packets."""
    capacity_mbps: float
    """Payload that the link which limits these flows can carry; with load balancing by packet, all paths
    together."""
    flows: float
    """Flows of the pair that share it, this one included; an expectation with load balancing by flow."""
    mbps: float
    """Throughput of one flow in Mbps of payload."""
    warnings: tuple[str, ...]
    """Why the number may not hold."""


@dataclass(frozen=True, slots=True)
class PacketSizes:
    """Bytes of a transport's packets, full ones and bare acknowledgments."""

    payload: int
    data_packet: int
    ack_packet: int

    @property
    def efficiency(self) -> float:
        """Payload by bytes on the wire."""
        return self.payload / self.data_packet


def path_prediction(
    setup: Setup,
    transport: TransportSetup,
    model: Model,
    there: tuple[int, ...],
    back: tuple[int, ...],
    flows: float,
) -> PathPrediction:
    """The throughput of one flow by a model, maybe not its transport's own, over one path and another back.

    Args:
        setup: the scenario, resolved.
        transport: gives sizes of packets, the largest window and the shortest timeout.
        model: the model.
        there: links that data takes.
        back: links that acknowledgments take.
        flows: flows of the pair that take the same path, this one included.
    """
    path = WeightedPath(there, 1.0)
    returning = time_s(setup, WeightedPath(back, 1.0), packet_sizes(transport.config).ack_packet)
    return kept_path(setup, model, transport.config, path, [path], flows, returning)


def kept_path(
    setup: Setup,
    model: Model,
    config: AnyProtocol,
    path: WeightedPath,
    there: Sequence[WeightedPath],
    flows: float,
    returning_s: float,
) -> PathPrediction:
    """The prediction for a flow that keeps to one path.

    Of the other flows, each comes through a link with the share of the paths that do; Vilela 2022 (section
    3.6.2) gives each flow its part of the bandwidth that is available, min(TP, ABW / n_f).
    """
    sizes = packet_sizes(config)

    def sharing(link: int) -> float:
        return 1 + (flows - 1) * sum(other.weight for other in there if link in other.links)

    limit = min(path.links, key=lambda link: setup.links[link].capacity / sharing(link))
    conditions = conditions_of(
        config,
        rtt_s=time_s(setup, path, sizes.data_packet) + returning_s,
        loss=loss_of(setup, path),
        capacity_mbps=setup.links[limit].capacity / 1e6 * sizes.efficiency,
        flows=sharing(limit),
    )
    links = [setup.links[link] for link in path.links]
    nodes = tuple(setup.nodes[node].name for node in (links[0].origin, *(link.to for link in links)))
    return path_prediction_of(setup, model, conditions, nodes, path.weight, dependent_losses(links))


def path_prediction_of(
    setup: Setup,
    model: Model,
    conditions: PathConditions,
    nodes: tuple[str, ...],
    share: float,
    warnings: tuple[str, ...],
) -> PathPrediction:
    """Returns what a model says of a path, with the warnings that hold for the scenario as a whole."""
    throughput = model.predict(conditions)
    if application_of(setup) == "window-clamp":
        warnings = (*warnings, "the controller limits windows, which is not in the prediction")
    assert conditions.capacity_mbps is not None  # noqa: S101 - every link has one
    return PathPrediction(
        nodes=nodes,
        share=share,
        rtt_ms=conditions.rtt_s * 1e3,
        loss=conditions.loss,
        capacity_mbps=conditions.capacity_mbps,
        flows=conditions.flows,
        mbps=throughput.mbps,
        warnings=(*throughput.warnings, *warnings),
    )


def application_of(setup: Setup) -> str | None:
    """Name of the controller's application; None without a controller."""
    return None if setup.controller is None else setup.controller.application.algorithm


def conditions_of(
    config: AnyProtocol, *, rtt_s: float, loss: float, capacity_mbps: float, flows: float
) -> PathConditions:
    """A path as the models see it, with the transport's own limits.

    Those of Multipath TCP are a subflow's. A transport that is paced has no window: a model that is named for
    it sees no limit.
    """
    sizes = packet_sizes(config)
    window_bytes = timeout_s = None
    if (tcp := tcp_of(config)) is not None:
        window_bytes = _largest_window_bytes(tcp, sizes.payload)
        timeout_s = max(tcp.min_rto / _PS_PER_S, rtt_s)
    elif isinstance(config, SlidingWindowProtocol):
        window_bytes = config.window_segments * sizes.payload
    from anabranch.models import PathConditions  # noqa: PLC0415 - a run needs no model

    return PathConditions(
        rtt_s=rtt_s,
        loss=loss,
        mss_bytes=sizes.payload,
        capacity_mbps=capacity_mbps,
        flows=flows,
        window_bytes=window_bytes,
        timeout_s=timeout_s,
    )


def _largest_window_bytes(config: TcpProtocol, payload: int) -> int:
    """The receive buffer, or with autotuning what it holds of payload, in 256 parts as Linux counts it."""
    buffer = int(config.receive_buffer)
    if not config.autotuning:
        return buffer
    return buffer * (256 * payload // (payload + config.segment_overhead)) // 256


def packet_sizes(config: AnyProtocol) -> PacketSizes:
    """The packets of a transport as it is configured; those of a subflow where it has several."""
    if isinstance(config, SdnPacedProtocol | SlidingWindowProtocol):
        segment = int(config.segment)
        return PacketSizes(segment - _HEADER_BYTES, segment, _HEADER_BYTES)
    if isinstance(config, SprayProtocol):
        payload = int(config.payload)
        return PacketSizes(payload, payload + _SPRAY_HEADER_BYTES, _SPRAY_HEADER_BYTES)
    tcp = config.tcp if isinstance(config, MptcpProtocol) else config
    mss, options = int(tcp.mss), _TIMESTAMP_BYTES if tcp.timestamps else 0
    # The MSS counts options (RFC 9293 section 3.7.1).
    return PacketSizes(mss - options, mss + _HEADER_BYTES, _HEADER_BYTES + options)


def time_s(setup: Setup, path: WeightedPath, packet_bytes: int) -> float:
    """Time that a packet takes where no other is in its way: propagation, and transmission at each link."""
    links = [setup.links[link] for link in path.links]
    return sum(link.delay / _PS_PER_S + packet_bytes * 8 / link.capacity for link in links)


def loss_of(setup: Setup, path: WeightedPath) -> float:
    """Returns the probability that a packet is lost at random on a path, in the long run."""
    return path_loss([setup.links[link] for link in path.links])


def path_loss(links: Sequence[LinkSetup]) -> float:
    """Probability that a packet is lost at random on one of these links, in the long run."""
    losses = [long_run_loss(link) for link in links]
    if max(losses) >= 1:
        return 1.0
    # By logarithms, which keep the digits of little loss.
    return max(0.0, -math.expm1(sum(math.log1p(-loss) for loss in losses)))


def long_run_loss(link: LinkSetup) -> float:
    """Share of packets that the link's random loss takes in the long run."""
    return _mean_loss(link.loss)


@cache
def _mean_loss(loss: AnyLoss) -> float:
    return _core.mean_loss(json.dumps(loss.core()))


_DEPENDENT: Final = {GilbertElliott: "come in bursts", Periodic: "are evenly spaced"}
"""Models whose losses depend on each other."""


def dependent_losses(links: Sequence[LinkSetup]) -> tuple[str, ...]:
    """Warnings where losses are not independent, as all models have them."""
    named = {
        how: [link.name for link in links if isinstance(link.loss, model) and long_run_loss(link) > 0]
        for model, how in _DEPENDENT.items()
    }
    return tuple(
        f"losses of {', '.join(names)} {how}, which the models take for independent losses"
        for how, names in named.items()
        if names
    )
