"""Simulations of a path with the traffic of a measurement, seen as the measurement was."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.errors import AnabranchError, CaptureError
from anabranch.fitting.exchange import LEAST_SEGMENTS, Exchange
from anabranch.fitting.features import Features
from anabranch.fitting.path import PathModel, scenario_data
from anabranch.plans.routes import plan
from anabranch.runs.runner import capture_into
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve

_CAPTURE = "src.pcapng"
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it are made by tempfile


@dataclass(frozen=True)
class Transfer:
    """One capture, with the flows that were in it."""

    name: str
    flows: tuple[Features, ...]
    """Those with most data first."""
    traffic: tuple[dict[str, Any], ...]
    """The same flows as entries of a scenario."""
    duration_s: float

    @property
    def main(self) -> Features:
        """The flow that carried most."""
        return self.flows[0]


@dataclass
class Simulator:
    """Runs models against transfers, and counts how often."""

    runs: int = 0
    failures: list[str] = field(default_factory=list)
    """Why models could not be run."""

    def simulate(
        self, model: PathModel, transfer: Transfer, *, seed: int = 1, replay: bool = True
    ) -> list[Features]:
        """The features of every flow of a transfer over a path; none where nothing got through."""
        data = scenario_data(
            model, transfer.traffic, transfer.duration_s, seed=seed, replay=replay, capture=_CAPTURE
        )
        self.runs += 1
        try:
            exchanges = captured(data)
        except AnabranchError as error:
            self.failures.append(str(error))
            return []
        return [Features(one, transfer.duration_s) for one in exchanges]


def captured(data: dict[str, Any]) -> list[Exchange]:
    """The flows of a scenario as ``src`` sees them.

    Raises:
        ScenarioError: if the scenario cannot be run.
    """
    scenario = Scenario.model_validate(data)
    setup = resolve(scenario, Needed.ALL)
    place = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="anabranch-fit-", dir=place) as folder:
        inside = capture_into(setup, Path(folder))
        planned = plan(inside, None)
        inside.core().simulate(planned.plan, None, 1)
        try:
            plain, _ = _core.exchanges(str(Path(folder) / _CAPTURE), [], None)
        except _core.CaptureFileError as error:
            if not isinstance(error, CaptureError) and not Path(folder, _CAPTURE).exists():
                raise
            return []
    exchanges = [Exchange.of_core(one) for one in plain]
    return [one for one in exchanges if one.sent_s.size >= LEAST_SEGMENTS and one.ack_s.size > 1]


def traffic_of(exchanges: Sequence[Exchange], transport: str) -> tuple[dict[str, Any], ...]:
    """Entries of a scenario that start what was captured, at the same times."""
    first_s = min(one.began_unix_s for one in exchanges)
    entries = []
    for number, one in enumerate(exchanges):
        entry: dict[str, Any] = {
            "name": f"flow{number + 1}",
            "from": "src",
            "to": "dst",
            "transport": transport,
            "start": f"{one.began_unix_s - first_s:.6f} s",
        }
        if one.is_finished:
            entry["size"] = f"{one.total_bytes} B"
        entries.append(entry)
    return tuple(entries)
