"""Whether anything in a run is left to chance."""

from __future__ import annotations

from anabranch.scenario.algorithm import PYTHON
from anabranch.setup.model import Setup, Tagged

_SURE_QUEUES = ("fifo", "threshold", "codel")
"""Disciplines that draw nothing, and hash nothing."""
_DRAWING_CONTROLS = ("bbr", "bbr3", PYTHON)
"""Congestion controls that draw when they probe, or may do so."""


def is_noisy(setup: Setup) -> bool:
    """Whether packets meet chance under way: in a link, a queue, an application or BBR's phase."""
    changes = [event.change for event in setup.events]
    losses = [link.loss for link in setup.links]
    losses += [change["loss"] for change in changes if "loss" in change]
    disciplines = [link.queue.discipline for link in setup.links]
    disciplines += [change["queue"]["discipline"] for change in changes if "queue" in change]
    sources = [entry.source for entry in setup.flows.entries]
    drawn = [source[part] for source in sources for part in ("size", "gap") if part in source]
    drawn += [host.processing_delay for host in setup.hosts if host.processing_delay]
    drawn += [router.processing_delay for router in setup.routers]
    return (
        any(link.jitter is not None for link in setup.links)
        or any(loss["algorithm"] != "none" for loss in losses)
        or any(discipline["algorithm"] not in _SURE_QUEUES for discipline in disciplines)
        or any(variate["distribution"] != "constant" for variate in drawn)
        or any(_control(transport.config) in _DRAWING_CONTROLS for transport in setup.transports)
    )


def may_differ(setup: Setup) -> bool:
    """Whether two replications with equal setups may differ: False only where it is certain that they do not.

    Ports and keys are drawn for each flow, and choose among several paths.
    """
    return (
        is_noisy(setup)
        or setup.controller is not None
        or any(
            (scheme or {}).get("algorithm") != "shortest"
            for scheme in (setup.routing.scheme, *setup.routing.others)
        )
        or any(transport.config["algorithm"] != "tcp" for transport in setup.transports)
    )


def _control(config: Tagged) -> str | None:
    """Name of a transport's congestion control; that of its subflows where it has some."""
    control: Tagged = config.get("tcp", config).get("congestion_control", {})
    return control.get("algorithm")
