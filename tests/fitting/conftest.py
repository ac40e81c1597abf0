"""Captures of simulated paths whose parameters are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch import Scenario
from anabranch.fitting.path import PathModel, scenario_data

Captured = Callable[..., Path]
"""Makes a capture of a path."""


@pytest.fixture
def captured(tmp_path: Path) -> Captured:
    """Simulates traffic over a path and gives the capture at the sender, or ``dst.pcapng`` beside it."""

    def make(
        model: PathModel,
        *,
        name: str = "a",
        duration_s: float = 6.0,
        transport: str = "linux-cubic",
        seed: int = 11,
        receiver: bool = False,
        transports: dict[str, Any] | None = None,
        **entry: Any,
    ) -> Path:
        traffic = [{"name": "f", "from": "src", "to": "dst", "transport": transport, **entry}]
        data = scenario_data(model, traffic, duration_s, seed=seed, capture="src.pcapng")
        if transports is not None:
            data["transport"] = transports
        if receiver:
            data["capture"].append({"file": "dst.pcapng", "host": "dst", "snap_length": "128 B"})
        folder = tmp_path / name
        Scenario.model_validate(data).run(out=folder, page=False)
        return folder / "src.pcapng"

    return make
