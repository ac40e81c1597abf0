"""Section 4 of Fukushima et al. 2016 in ns-2 itself, as `make validate-ns2` has run it."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

FILE = Path(__file__).with_name("ns2.json")
"""Written by checks/validation/ns2_claims.py."""

Lines = Literal["spaced", "printed"]
LINE_MBPS: Mapping[Lines, float] = {"spaced": 20.8, "printed": 50.0}
"""Capacity of a source's access line. A segment of 1 KB has 40 bytes of headers in ns-2, as here, and takes
0.4 ms over the first, the mean gap of its source; section 4.1 has the second."""


@dataclass(frozen=True, slots=True)
class Ns2Run:
    """One run of five connections."""

    combination: str
    """A letter for each path: S, M or L."""
    d_ms: float
    lines: Lines
    seed: int
    mbps: float
    """Segments acknowledged in order, of all connections."""
    recoveries: int
    retransmissions: int
    timeouts: int


@dataclass(frozen=True, slots=True)
class Ns2Runs:
    """All runs of one version of ns-2."""

    version: str
    source: str
    date: str
    seconds: float
    """Of simulated time, each."""
    window_segments: int
    """`window_` of ns-2."""
    runs: tuple[Ns2Run, ...]

    @classmethod
    def load(cls, path: Path = FILE) -> Ns2Runs:
        """The runs in a file.

        Raises:
            OSError: if it cannot be read.
            ValueError: if it has other fields.
        """
        data = json.loads(path.read_text(encoding="utf-8"))
        try:
            return cls(**{**data, "runs": tuple(Ns2Run(**run) for run in data["runs"])})
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path}: not what ns2_claims.py writes ({error}); run it again") from error

    def save(self, path: Path = FILE) -> None:
        """Writes the file, a run a line."""
        head = {key: value for key, value in asdict(self).items() if key != "runs"}
        lines = [f' "{key}": {json.dumps(value)},' for key, value in head.items()]
        runs = ",\n".join("  " + json.dumps(asdict(run)) for run in self.runs)
        path.write_text("\n".join(["{", *lines, ' "runs": [', runs, " ]", "}", ""]), encoding="utf-8")

    def of(self, combination: str, d_ms: float, lines: Lines) -> Iterator[Ns2Run]:
        """The runs of one set-up, by seed."""
        for run in self.runs:
            if (run.combination, run.lines) == (combination, lines) and abs(run.d_ms - d_ms) < 1e-9:
                yield run

    def mbps(self, combination: str, d_ms: float, lines: Lines) -> tuple[float, float]:
        """Total throughput: mean over the seeds, and its standard error."""
        return _mean([run.mbps for run in self.of(combination, d_ms, lines)])

    def recoveries(self, combination: str, d_ms: float, lines: Lines) -> tuple[float, float]:
        """Fast recoveries of all connections in a run: mean over the seeds, and its standard error."""
        return _mean([float(run.recoveries) for run in self.of(combination, d_ms, lines)])


def _mean(values: list[float]) -> tuple[float, float]:
    return statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))


@cache
def measured() -> Ns2Runs:
    """Returns the runs that are stored."""
    return Ns2Runs.load()
