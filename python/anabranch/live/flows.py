"""The flows of a setup that the kernel can speak, and what they are to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.live.addresses import address_events
from anabranch.live.path_manager import End
from anabranch.live.reading import ReadingPlan
from anabranch.live.traffic import FlowPlan
from anabranch.scenario.algorithms.protocol import MptcpProtocol, SprayProtocol, TcpProtocol
from anabranch.scenario.leaves import MessagesSource, SizedSource, Variate
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup
from anabranch.setup.flow_columns import FlowSetup
from anabranch.setup.model import TransportSetup, tcp_of

Ends = tuple[tuple[End, End], ...]
"""Of the subflows of a flow: source and destination."""
_PS_PER_S = 1e12
_CONTROLS = {"linux-reno": "reno", "linux-cubic": "cubic", "bbr": "bbr"}
"""The kernel's name of a congestion control, where loss is detected as in Linux."""
_SUBFLOW_CONTROLS = {**_CONTROLS, "newreno": "reno", "cubic": "cubic"}
"""The same for subflows of Multipath TCP."""
_COUPLED = ("lia", "olia", "balia")
_DETECTIONS = ("rack", "linux-rack")
_SCHEDULERS = ("linux", "lowest-rtt")
"""Those that mean the kernel's default: ``lowest-rtt`` is that of the presets."""
_OF_RECEIVERS = {
    *("delayed_ack_segments", "delayed_ack_timeout", "quick_acks", "sack_blocks", "autotuning"),
    *("initial_receive_buffer", "segment_overhead", "paws", "paws_window", "timer_tick", "acks_end_of_write"),
    *("held_sacks", "sack_delay"),
}
"""What of a transport's table a receiver follows."""
# Messages that are drawn at once.
_DRAWN = 1024
_PARTS, _PARTS_PAYLOAD = 256, 160
"""The parts in which the kernel counts a buffer, and those of payload: 1,448 bytes take 2,304 at a device."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """How the kernel speaks a transport."""

    control: str | None
    """Its name of the congestion control; None if it only receives."""
    is_mptcp: bool
    asks_for_ecn: bool
    receive_buffer_bytes: int
    delays_short_segments: bool = False
    """By Nagle's algorithm; otherwise its sockets set TCP_NODELAY, as the simulated application does."""
    receives: bool = True
    """Whether it is the receiver as well; otherwise that is simulated."""


def kernel_of(
    transport: TransportSetup, *, receives: bool = False, only_sends: bool = False
) -> Kernel | None:
    """How the kernel speaks a transport; None if it cannot, or is not to.

    Args:
        transport: what the scenario says of it.
        receives: whether the kernel is to receive what it cannot send.
        only_sends: whether receivers of TCP are simulated, whoever sends.
    """
    config = transport.config
    tcp = tcp_of(config)
    if tcp is None:
        return None
    is_mptcp = isinstance(config, MptcpProtocol)
    controls = _SUBFLOW_CONTROLS if is_mptcp else _CONTROLS
    control = controls.get(tcp.congestion_control.algorithm)
    buffer = _buffer_bytes(tcp)
    if control is None or tcp.loss_detection.algorithm not in _DETECTIONS:
        return Kernel(None, False, False, buffer) if receives and not is_mptcp else None
    return Kernel(control, is_mptcp, tcp.ecn, buffer, tcp.nagle, receives=is_mptcp or not only_sends)


def _buffer_bytes(tcp: TcpProtocol) -> int:
    """The kernel's buffer, in which it counts the memory of segments.

    As the scenario says where its receiver does the same (autotuning), otherwise one that holds the window.
    """
    buffer = int(tcp.receive_buffer)
    return buffer if tcp.autotuning else -(-buffer * _PARTS // _PARTS_PAYLOAD)


def check_transports(scenario: Scenario, setup: Setup) -> None:
    """Makes sure that a scenario needs no other kernel, and has no flows that wait for others.

    Raises:
        ScenarioError: if it sprays, waits, couples subflows, or has another scheduler than the kernel's.
    """
    problems = []
    if setup.waits:
        why = (
            "the engine does not see when a real flow is done, so that none can wait for it; for a live run "
        )
        why += "leave out after and collective"
        problems.append(Problem("traffic", why))
    for transport in setup.transports:
        config = transport.config
        if isinstance(config, SprayProtocol):
            why = "spray has no packets on the wire, and no kernel speaks it; for a live run take TCP"
            problems.append(Problem(f"transport.{transport.name}", why))
        if not isinstance(config, MptcpProtocol):
            continue
        control = config.tcp.congestion_control.algorithm
        scheduler = config.scheduler.algorithm
        place = f"transport.{transport.name}"
        if control in _COUPLED:
            why = f"{control} couples the subflows, and Linux has no coupled control; for a live run take "
            why += "mptcp-cubic or linux-mptcp, or congestion_control linux-cubic, linux-reno or bbr"
            problems.append(Problem(f"{place}.congestion_control", why))
        if scheduler not in _SCHEDULERS:
            why = f"Linux has only its default scheduler, and not {scheduler}; for a live run take linux"
            problems.append(Problem(f"{place}.scheduler", why))
    if problems:
        raise ScenarioError(problems, scenario.origin)


def ignored_choices(setup: Setup, kernels: Sequence[Kernel | None]) -> list[str]:
    """The choices in a transport's table that the kernel cannot be told."""
    always = {"receive_buffer", "ecn", "congestion_control", "loss_detection", "nagle"}
    notes = []
    for transport, kernel in zip(setup.transports, kernels, strict=True):
        if kernel is None or kernel.is_mptcp or kernel.control is None:
            continue
        carried = always if kernel.receives else always | _OF_RECEIVERS
        usual = json.loads(_core.transport_preset(f"linux-{kernel.control}"))
        choices = transport.config.core().items()
        differs = [name for name, value in choices if name not in carried and usual.get(name) != value]
        if differs:
            notes.append(
                f"transport.{transport.name}: {', '.join(differs)}: a live run takes the kernel's own, not "
                "those of the scenario"
            )
    return notes


def flow_plans(
    setup: Setup,
    kernels: Sequence[Kernel | None],
    ends: Sequence[Ends],
    ends_anew: Sequence[Ends],
    address_at: Callable[[int, int], str | None],
) -> list[FlowPlan]:
    """The plan of each real flow.

    Args:
        setup: with the flows.
        kernels: how the kernel speaks each transport.
        ends: those of the subflows, by flow.
        ends_anew: those of subflows that begin anew where one was closed, by flow.
        address_at: the address of a flow at a link that begins at one of its hosts; None if it has none.
    """
    plans = []
    for flow, (planned, addresses, anew) in enumerate(zip(setup.flows, ends, ends_anew, strict=True)):
        kernel = kernels[planned.transport]
        if kernel is None:
            continue
        source = planned.source
        heeds = kernel.is_mptcp and _heeds_addresses(setup.transports[planned.transport])
        plans.append(
            FlowPlan(
                flow=flow,
                name=planned.name,
                origin=planned.origin,
                to=planned.to,
                control=kernel.control,
                is_mptcp=kernel.is_mptcp,
                delays_short_segments=kernel.delays_short_segments,
                receives=kernel.receives,
                ends=addresses,
                ends_anew=anew,
                address_events=address_events(setup, flow, address_at) if heeds else (),
                start_s=planned.start / _PS_PER_S,
                stop_s=None if planned.stop is None else planned.stop / _PS_PER_S,
                size_bytes=source.bytes if isinstance(source, SizedSource) else None,
                reading=ReadingPlan.of(planned.reads, planned.start),
                messages=_messages(setup, planned, source) if isinstance(source, MessagesSource) else None,
            )
        )
    return plans


def _heeds_addresses(transport: TransportSetup) -> bool:
    """Whether the path manager follows addresses that come and go, as that of the simulation does."""
    config = transport.config
    return isinstance(config, MptcpProtocol) and config.path_manager.algorithm == "fullmesh"


def _messages(setup: Setup, flow: FlowSetup, source: MessagesSource) -> Iterator[tuple[float, int]]:
    """Times and sizes of a flow's messages, those that a simulated run draws."""

    def drawn(variate: Variate, purpose: str) -> Iterator[float]:
        text, have = json.dumps(variate.core()), 0
        while True:
            # Draws have no state: the first ones are drawn again, and not used.
            values = _core.draw(text, setup.seed, setup.replication, flow.name, purpose, have + _DRAWN)[have:]
            have += _DRAWN
            yield from values.tolist()

    time = flow.start
    for gap, size in zip(drawn(source.gap, "message gap"), drawn(source.size, "message size"), strict=False):
        time += max(int(gap), 1)
        yield time / _PS_PER_S, int(size)


def real_flows(setup: Setup, kernels: Sequence[Kernel | None]) -> np.ndarray:
    """Whether each flow is real."""
    speaks = np.array([kernel is not None for kernel in kernels], dtype=bool)
    return speaks[setup.flows.transport] if len(setup.flows) else np.zeros(0, dtype=bool)
