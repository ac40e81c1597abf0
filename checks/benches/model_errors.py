"""The throughput models against simulation: runs two studies and writes the ratios of the two as a page.

    python checks/benches/model_errors.py --out docs/model_errors.md [--results DIR] [--jobs N]

The prediction is that of ``anabranch routes`` for the same scenario. What is measured is the goodput after
the first of five samples of a run, which holds slow start. A study that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anabranch import Study, StudyResult, __version__
from anabranch.plans.routes import routes
from anabranch.study.check import design
from anabranch.study.student import half_width

STUDIES = Path(__file__).parents[2] / "examples" / "studies"
NAMES = ("model_errors", "model_errors_bbr")

STEADY = """
    select run, avg(goodput_mbps) as steady_mbps from flow_series series
    join (select run as first_run, min(time_s) as first_s from flow_series group by run) as firsts
        on run = first_run
    where time_s > first_s group by run
"""
"""Goodput of each run after its first sample."""


@dataclass(frozen=True)
class Cell:
    """One transport at one RTT and loss."""

    transport: str
    rtt_ms: str
    loss: str
    """Both as the level's name has them."""
    model: str
    warned: bool
    """The prediction has a warning."""
    ratio: float
    """What was simulated by what is predicted, the mean over the replications."""
    ratio_ci: float
    """Half width of its interval."""
    timeouts: float
    """In all runs together, as the next three."""
    recoveries: float
    losses: float
    spurious: float


class StudyFailedError(Exception):
    """Runs are missing, so that there is no table."""


def cells(study: Study, result: StudyResult) -> Iterator[Cell]:
    """The cells of a study, transports first.

    Raises:
        StudyFailedError: if a run failed, or two samples of a run are not there.
    """
    frame = result.runs.join(result.query(STEADY), on="run")
    if frame.height != result.runs.height:
        raise StudyFailedError(f"{result.runs.height - frame.height} runs have no samples after the first")
    if failed := frame["status"].to_list().count("failed"):
        raise StudyFailedError(f"{failed} runs failed")
    plan = design(study)
    for cell, row in enumerate(result.cells.iter_rows(named=True)):
        runs = frame.filter(frame["cell"] == cell)
        ((prediction,),) = (
            pair.predictions
            for pair in routes(plan.scenario(plan.levels(cell), study.base)).pairs
            if pair.carries == "data"
        )
        (path,) = prediction.paths
        ratios = [value / path.mbps for value in runs["steady_mbps"].to_list()]
        width = half_width(ratios, result.confidence)
        if width is None or prediction.model is None:
            raise StudyFailedError(f"cell {cell} has no interval or no model")
        match = re.fullmatch(r"RTT (\S+) ms, loss (\S+)", row["path"])
        if match is None:
            raise StudyFailedError(f"level {row['path']!r} does not name an RTT and a loss")
        yield Cell(
            row["transport"], match[1], match[2], prediction.model, bool(path.warnings),
            sum(ratios) / len(ratios), width,
            *(float(runs[name].sum()) for name in ("timeouts", "recoveries", "losses", "spurious")),
        )  # fmt: skip


def page(every_cell: list[Cell], cpu_s: float) -> str:
    """The document."""
    lines = [
        "# Throughput models against simulation",
        "",
        "Written by `make models` (checks/benches/model_errors.py); do not edit. What the models are,",
        "and what these tables show, is in [models.md](models.md).",
        "",
        f"- Anabranch {__version__}, on {os.cpu_count()} cores of {processor()}, {platform.system()} "
        f"{platform.machine()}; all runs together took {cpu_s / 60:.0f} CPU minutes.",
        "- One flow over one link; data packets are lost independently with the probability in the first",
        "  column, acknowledgments never. Goodput after slow start by the prediction of `anabranch routes`:",
        "  the mean of five runs, ± half of its 95 % interval. An asterisk marks a prediction with a",
        "  warning: the model is outside its range, as in "
        f"{sum(cell.warned for cell in every_cell)} of {len(every_cell)} cells.",
        "- The second table says what happened: losses for each fast recovery, in which the window falls; in",
        "  brackets retransmission timeouts for 1000 losses, and spurious retransmissions for each loss.",
        "- `examples/studies/model_errors.toml` says how long a run lasts. For BBR the link has 100 Mbps,",
        "  for the others 10 Gbps, so that only loss limits them.",
    ]
    for transport in dict.fromkeys(cell.transport for cell in every_cell):
        of_transport = [cell for cell in every_cell if cell.transport == transport]
        rtts = list(dict.fromkeys(cell.rtt_ms for cell in of_transport))
        head = "| loss | " + " | ".join(f"RTT {rtt} ms" for rtt in rtts) + " |"
        rule = "| --- |" + " ---: |" * len(rtts)
        ratios, events = [head, rule], [head, rule]
        for loss in dict.fromkeys(cell.loss for cell in of_transport):
            row = [cell for cell in of_transport if cell.loss == loss]
            ratios.append(f"| {loss} | " + " | ".join(map(ratio, row)) + " |")
            events.append(f"| {loss} | " + " | ".join(map(happened, row)) + " |")
        lines += ["", f"## `{transport}` by `{of_transport[0].model}`", "", *ratios, "", *events]
    return "\n".join(lines) + "\n"


def ratio(cell: Cell) -> str:
    """What was simulated by what is predicted."""
    return f"{cell.ratio:.2f} ± {cell.ratio_ci:.2f}{'*' if cell.warned else ''}"


def happened(cell: Cell) -> str:
    """Losses for each recovery, timeouts and spurious retransmissions."""
    each = f"{cell.losses / cell.recoveries:.1f}" if cell.recoveries else "none"
    losses = max(cell.losses, 1)
    return f"{each} ({1000 * cell.timeouts / losses:.0f}, {cell.spurious / losses:.1f})"


def processor() -> str:
    """Model of the processor; nothing that names the machine."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []  # Not Linux: the platform's own word has to do.
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def cpu_of(folder: Path) -> float:
    """CPU time of a study's runs in seconds."""
    lines = (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    return sum(json.loads(line)["cpu_s"] for line in lines)


def main() -> None:
    """Runs the studies and writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the page")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="folder of the studies' results"
    )
    parser.add_argument("--jobs", type=int, help="processes; all cores if left out")
    arguments = parser.parse_args()
    every_cell: list[Cell] = []
    cpu_s = 0.0
    for name in NAMES:
        study = Study.load(STUDIES / f"{name}.toml")
        folder = arguments.results / name
        result = study.run(jobs=arguments.jobs, out=folder)
        every_cell += cells(study, result)
        cpu_s += cpu_of(folder)
    arguments.out.write_text(page(every_cell, cpu_s), encoding="utf-8")


if __name__ == "__main__":
    main()
