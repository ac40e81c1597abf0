"""Types of the compiled core. Every number is in base units: picoseconds, bits per second, bytes."""

from collections.abc import Callable
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

class Outcome(TypedDict):
    """What a simulation measured."""

    tables: dict[str, dict[str, NDArray[np.generic] | list[str]]]
    summary: dict[str, object]

class SetupError(ValueError):
    """A setup that the engine refuses; ``args`` are (place, message)."""

class CaptureFileError(ValueError):
    """Captures that cannot be analysed; ``args[0]`` is a list of (place, message)."""

def version() -> str: ...
def parse_span(text: str) -> int: ...
def parse_rate(text: str) -> int: ...
def parse_bytes(text: str) -> int: ...
def parse_packets(text: str) -> int: ...
def parse_speed(text: str) -> int: ...
def transport_preset_names() -> list[str]: ...
def transport_preset(name: str) -> str: ...
def plan(setup_json: str) -> str: ...
def simulate(
    setup_json: str, plan_json: str, progress: Callable[[float, int], None] | None = None
) -> Outcome: ...
def draw(
    variate_json: str, seed: int, replication: int, name: str, purpose: str, count: int
) -> NDArray[np.float64]: ...
def analyze_captures(
    paths: list[str],
    window_ps: int | None,
    interval_ps: int,
    ports: list[int],
    disjoint: bool,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome: ...
