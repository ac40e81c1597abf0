"""The fitted path between real hosts: what the kernel gets over it, beside measurement and simulation."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from anabranch.errors import AnabranchError, LiveError
from anabranch.fitting.exchange import read_exchanges
from anabranch.fitting.features import Features
from anabranch.fitting.measures import MEASURES
from anabranch.fitting.outcome import Fit, HeldLive
from anabranch.fitting.path import scenario_data
from anabranch.fitting.simulate import Simulator, Transfer
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve

_CAPTURE = "src.pcapng"
_TRIES = 3
"""Live runs that are made until one is valid: the machine may be busy at times."""


def check_can_run_live() -> None:
    """Makes sure, before the work, that this machine can make live runs.

    Raises:
        LiveError: if it cannot, with what to do about it.
    """
    from anabranch.live import machine  # noqa: PLC0415 - needs Linux

    machine.check_machine()


def held_live(fit: Fit, transfer: Transfer) -> Fit:
    """The fit with a live run of its path: the same transfer by the kernel, over the replayed losses.

    A path that cannot be run live has a note with the reason.

    Args:
        fit: what was found.
        transfer: the first measurement, with the flows that were in it.
    """
    simulated = Simulator().simulate(fit.model, replace(transfer, traffic=fit.traffic))
    try:
        flows = _flows_live(fit)
    except AnabranchError as error:
        return replace(fit, notes=(*fit.notes, f"the path was not run live: {error}"))
    rows = tuple(
        HeldLive(measure, of(transfer.flows), of(simulated), of(flows)) for measure, of in MEASURES.items()
    )
    return replace(fit, live=rows)


def _flows_live(fit: Fit) -> list[Features]:
    """The flows of a valid live run, as a capture at their sender has them.

    Raises:
        LiveError: if the kernel cannot be the sender, or no run is valid.
        ScenarioError: if the kernel must not be asked for what the transport wants.
    """
    from anabranch.live import run  # noqa: PLC0415 - needs Linux
    from anabranch.live.flows import kernel_of  # noqa: PLC0415 - the same

    data = scenario_data(fit.model, fit.traffic, fit.duration_s, replay=True, capture=_CAPTURE)
    scenario = Scenario.model_validate(data)
    setup = resolve(scenario, Needed.ALL)
    if kernel_of(setup.transports[int(setup.flows.transport[0])]) is None:
        raise LiveError(f"{fit.transport} is none of the kernel's transports; docs/live.md has them")
    why = ""
    for _ in range(_TRIES):
        with tempfile.TemporaryDirectory(prefix="anabranch-fit-") as name:
            folder = Path(name) / "live"
            live = run(scenario, out=folder, page=False).summary["live"]
            if live["valid"]:
                exchanges, _ = read_exchanges(folder / _CAPTURE)
                return [Features(one, fit.duration_s) for one in exchanges if not one.is_at_receiver]
            why = str(live["not_valid"])
    raise LiveError(f"none of {_TRIES} live runs is valid; of the last one {why}")
