"""What a peer measured, and the JSON file that keeps it."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from scenarios import Scenario

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of one scenario with one seed.

    Attributes:
        scenario: name.
        seed: seed.
        fingerprint: of the scenario as it was run.
        goodput_mbps: of each flow, in-order payload from the end of the warm-up to the end of the run.
        packet_hops: packets, of any kind, that were sent over a link.
        cpu_s: processor seconds of the simulation itself, without start and set-up.
        error: why there are no numbers; empty if there are.
    """

    scenario: str
    seed: int
    fingerprint: str
    goodput_mbps: tuple[float, ...] = ()
    packet_hops: int = 0
    cpu_s: float = 0.0
    queue_drops: int | None = None
    random_losses: int | None = None
    error: str = ""

    @property
    def total_mbps(self) -> float:
        """Goodput of all flows together."""
        return sum(self.goodput_mbps)

    @property
    def jain(self) -> float:
        """Jain's fairness index (Jain, Chiu, Hawe 1984): (sum x)^2 / (n sum x^2)."""
        squares = sum(x * x for x in self.goodput_mbps)
        return self.total_mbps**2 / (len(self.goodput_mbps) * squares) if squares > 0 else 0.0


@dataclass
class Results:
    """All runs of one simulator."""

    simulator: str
    version: str
    source: str
    machine: dict[str, str] = field(default_factory=dict)
    date: str = ""
    runs: list[RunRecord] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> Self:
        """The results in a file.

        Raises:
            ValueError: if the file is of another format.
            OSError: if it cannot be read.
        """
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.pop("format_version", None) != FORMAT_VERSION:
            raise ValueError(f"{path}: not a results file of format {FORMAT_VERSION}; run the peer again")
        runs = [RunRecord(**{**run, "goodput_mbps": tuple(run["goodput_mbps"])}) for run in data.pop("runs")]
        return cls(**data, runs=runs)

    def save(self, path: Path) -> None:
        """Writes the file, all of it or nothing, so that a killed peer can go on."""
        self.date = datetime.now(UTC).date().isoformat()
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        runs = ",\n".join("  " + json.dumps(asdict(run)) for run in self.runs)
        head = {"format_version": FORMAT_VERSION, **asdict(self)}
        del head["runs"]
        lines = [f' "{key}": {json.dumps(value)},' for key, value in head.items()]
        partial.write_text("\n".join(["{", *lines, ' "runs": [', runs, " ]", "}", ""]), encoding="utf-8")
        partial.replace(path)

    def has(self, scenario: Scenario, seed: int) -> bool:
        """Whether this very run is there, with numbers."""
        return any(
            (run.scenario, run.seed, run.fingerprint, run.error)
            == (scenario.name, seed, scenario.fingerprint(), "")
            for run in self.runs
        )

    def put(self, run: RunRecord) -> None:
        """Adds a run in place of an earlier one of the same scenario and seed."""
        self.runs = [old for old in self.runs if (old.scenario, old.seed) != (run.scenario, run.seed)]
        self.runs.append(run)

    def of(self, scenario: Scenario) -> list[RunRecord]:
        """The runs of a scenario that have numbers, by seed; those of an older form of it are left out."""
        fresh = [
            run
            for run in self.runs
            if run.scenario == scenario.name and run.fingerprint == scenario.fingerprint() and not run.error
        ]
        return sorted(fresh, key=lambda run: run.seed)


def goodput_mbps(bytes_at_warmup: int, bytes_at_end: int, scenario: Scenario) -> float:
    """Goodput between the end of the warm-up and the end of the run."""
    return (bytes_at_end - bytes_at_warmup) * 8 / (scenario.duration_s - scenario.warmup_s) / 1e6


def describe_machine() -> dict[str, str]:
    """Processor, its cores, and the operating system; nothing that names the machine."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []  # Not Linux: the platform's own word for the processor has to do.
    for line in lines:
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return {"cpu": model, "cores": str(os.cpu_count()), "system": f"{platform.system()} {platform.machine()}"}
