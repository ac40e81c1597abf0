"""Whether anything in a run is left to chance."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.scenario.algorithms.loss import NoneLoss
from anabranch.scenario.algorithms.protocol import AnyProtocol
from anabranch.scenario.algorithms.queue import Codel, Fifo, Threshold
from anabranch.scenario.algorithms.scheme import Shortest
from anabranch.scenario.controller import BY_SUBFLOW
from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.leaves import (
    ConstantVariate,
    ControllerSetup,
    LossChange,
    MessagesSource,
    QueueChange,
)
from anabranch.setup.model import Setup, tcp_of

_SURE_QUEUES = (Fifo, Threshold, Codel)
"""Disciplines that draw nothing, and hash nothing."""
_DRAWING_CONTROLS = ("bbr", "bbr3", PYTHON)
"""Congestion controls that draw when they probe, or may do so."""
_SURE_APPLICATIONS = ("forwarding", "sdn-paced", "window-clamp", "tcpbp")
"""Applications of a controller that draw nothing, and give a flow one path whatever its ports are."""
_SURE_ALONG_ONE_PATH = (BY_SUBFLOW,)
"""Those that draw nothing, and choose among several paths by ports and by a hash."""
_SURE_BALANCERS = ("packet-round-robin",)
"""Load balancing that draws nothing, and does not look at ports."""
_SURE_TRANSPORTS = ("tcp", "sdn-paced", "sliding-window")
"""Protocols that draw nothing but ports."""


def is_noisy(setup: Setup) -> bool:
    """Whether packets meet chance under way: in a link, a queue, an application or BBR's phase."""
    changes = [event.change for event in setup.events]
    losses = [link.loss for link in setup.links]
    losses += [change.loss for change in changes if isinstance(change, LossChange)]
    disciplines = [link.queue.discipline for link in setup.links]
    disciplines += [change.queue.discipline for change in changes if isinstance(change, QueueChange)]
    sources = [entry.source for entry in setup.flows.entries]
    messages = [source for source in sources if isinstance(source, MessagesSource)]
    drawn = [variate for source in messages for variate in (source.size, source.gap)]
    drawn += [host.processing_delay for host in setup.hosts if host.processing_delay]
    drawn += [router.processing_delay for router in setup.routers if router.processing_delay]
    return (
        any(link.jitter is not None or link.impairments for link in setup.links)
        or not all(isinstance(loss, NoneLoss) for loss in losses)
        or not all(isinstance(discipline, _SURE_QUEUES) for discipline in disciplines)
        or not all(isinstance(variate, ConstantVariate) for variate in drawn)
        or any(_control(transport.config) in _DRAWING_CONTROLS for transport in setup.transports)
    )


def may_differ(setup: Setup, has_single_paths: Callable[[], bool]) -> bool:
    """Whether two replications with equal setups may differ: False only where it is certain that they do not.

    Ports and keys are drawn for each flow, and choose among several paths.

    Args:
        setup: of both.
        has_single_paths: whether the plan has one path for each pair; called if nothing else tells.
    """
    if is_noisy(setup) or any(
        transport.config.algorithm not in _SURE_TRANSPORTS for transport in setup.transports
    ):
        return True
    if setup.controller is not None:
        return _may_differ_under(setup.controller, setup, has_single_paths)
    if setup.routing.load_balancing.algorithm in _SURE_BALANCERS:
        return False
    if all(isinstance(scheme, Shortest) for scheme in (setup.routing.scheme, *setup.routing.others)):
        return False
    # After an event there may be other paths, and a planner may take minutes.
    is_planned = setup.planner is not None or any(routes.planner for routes in setup.own_routes)
    return bool(setup.events) or is_planned or not has_single_paths()


def _may_differ_under(
    controller: ControllerSetup, setup: Setup, has_single_paths: Callable[[], bool]
) -> bool:
    """The same under a controller."""
    if not isinstance(controller.processing_delay, ConstantVariate | None):
        return True
    application = controller.application.algorithm
    if application in _SURE_ALONG_ONE_PATH:
        # After an event there may be other paths.
        return bool(setup.events) or not has_single_paths()
    return application not in _SURE_APPLICATIONS


def _control(config: AnyProtocol) -> str | None:
    """Name of a transport's congestion control; that of its subflows where it has some."""
    tcp = tcp_of(config)
    return None if tcp is None else tcp.congestion_control.algorithm
