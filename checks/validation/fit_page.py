"""Holds ``anabranch fit`` against paths with known truth: ``make validate-fit``, and ``docs/fit_checks.md``.

A folder of truths has ``NAME.RUN.toml`` (``fit_truths.py`` has the runs) and ``answers.csv``, what the kernel
got: truth, run, flow, goodput_mbps, rtt_mean_ms, retransmissions, completion_s. Captures are in the folder of
the live run of ``measure``. What is missing is run by ``anabranch live``: as root, on a quiet machine.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import platform
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from fit_truths import write_truths

from anabranch import _core
from anabranch.errors import AnabranchError
from anabranch.fitting.estimates import Estimates
from anabranch.fitting.fit import fit
from anabranch.fitting.outcome import Fit
from anabranch.fitting.path import PathModel
from anabranch.fitting.predict import answer, fitted_of, flow_answers, outcome_of, simulated
from anabranch.fitting.writing import estimate_words, label

MEASURES = ("goodput_mbps", "rtt_mean_ms", "completion_s")
FLOOR_SEEDS = (11, 12, 13)
LARGE = 20.0
DURATION_S = 15.0


@dataclass(frozen=True)
class Row:
    """One answer of one truth."""

    truth: str
    model: str
    score: float
    explained: bool
    """Whether the fit says that its model explains the capture."""
    told: bool
    """Whether the fit says that it does not explain the capture, or cannot tell something."""
    run: str
    measure: str
    kernel: float
    value: float
    low: float
    high: float
    baseline: float
    floor: float

    def error(self, value: float) -> float:
        """In percent of what the kernel got."""
        return 100 * (value / self.kernel - 1)

    @property
    def is_inside(self) -> bool:
        """Whether the printed range has the kernel's answer."""
        return self.low <= self.kernel <= self.high


def ran(truth: Path, out: Path, command: str) -> Path:
    """The folder of the run of a scenario, ``live`` or ``run``, which is made if it is not there."""
    folder = out / truth.name.removesuffix(".toml")
    if not (folder / "flows.parquet").exists():
        given = [command, str(truth), "--out", str(folder), "--no-page"]
        called = [sys.executable, "-m", "anabranch", *given]
        done = subprocess.run(called, capture_output=True, text=True, check=False)  # noqa: S603 - our own
        if done.returncode:
            sys.exit(f"{truth.name}: {done.stderr.strip() or done.stdout.strip()}")
    return folder


def kernel_answers(
    folder: Path, runs: Path, names: Iterable[str], command: str
) -> dict[str, dict[str, dict[str, float]]]:
    """By truth and run what the kernel got: recorded, or of live runs."""
    recorded = folder / "answers.csv"
    answers: dict[str, dict[str, dict[str, float]]] = {}
    for name in names:
        for scenario in sorted(folder.glob(f"{name}.*.toml")):
            run = scenario.name.removesuffix(".toml").removeprefix(f"{name}.")
            if run != "measure" and not recorded.exists():
                table = pl.read_parquet(ran(scenario, runs, command) / "flows.parquet")
                sized = "size" in own_entry(scenario)
                answers.setdefault(name, {})[run] = flow_answers(table, "f", is_sized=sized)
    if not recorded.exists():
        return answers
    rows: dict[tuple[str, str], list[dict[str, str]]] = {}
    with recorded.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault((row["truth"], row["run"]), []).append(row)
    for (name, run), flows in rows.items():
        if run == "measure":
            continue
        columns: dict[str, Any] = {"name": [flow["flow"] for flow in flows]}
        for measure in ("goodput_mbps", "rtt_mean_ms", "retransmissions", "completion_s"):
            columns[measure] = [float(flow[measure] or "nan") for flow in flows]
        sized = all(math.isfinite(value) for value in columns["completion_s"])
        answers.setdefault(name, {})[run] = flow_answers(columns, "f", is_sized=sized)
    return answers


def own_entry(scenario: Path) -> dict[str, Any]:
    """The entry of traffic that is asked for, in a scenario with others' beside it."""
    data = tomllib.loads(scenario.read_text(encoding="utf-8"))
    return next(dict(entry) for entry in data["traffic"] if entry["name"] in ("f", "m"))


def floor(scenario: Path) -> dict[str, float]:
    """What the simulator says of the true scenario: nothing that is fitted can be better, but by chance."""
    values: dict[str, list[float]] = {}
    for seed in FLOOR_SEEDS:
        data = tomllib.loads(scenario.read_text(encoding="utf-8"))
        data.pop("capture", None)
        data["run"]["seed"] = seed
        answers = flow_answers(
            outcome_of(data)["tables"]["flows"], "f", is_sized="size" in own_entry(scenario)
        )
        for measure, value in answers.items():
            values.setdefault(measure, []).append(value)
    return {measure: float(np.mean(each)) for measure, each in values.items()}


def baseline_of(path_fit: Fit) -> PathModel:
    """Rate and round-trip time as estimated, and one bandwidth-delay product of buffer."""
    if path_fit.measured is None:
        return path_fit.model
    estimates = Estimates(path_fit.measured)
    rate_mbps, rtt_ms = estimates.rate_mbps, estimates.rtt_ms
    return PathModel(rate_mbps, rtt_ms, rate_mbps * 1e3 / 8 * rtt_ms)


def rows_of(folder: Path, name: str, path_fit: Fit, answers: dict[str, dict[str, float]]) -> list[Row]:
    """Every answer of a truth."""
    fitted, baseline = fitted_of(path_fit), baseline_of(path_fit)
    rows = []
    for run, kernel in sorted(answers.items()):
        scenario = folder / f"{name}.{run}.toml"
        entry = own_entry(scenario)
        predicted = answer(fitted, entry, DURATION_S)
        simple = simulated(baseline, entry, DURATION_S, 1)
        true = floor(scenario)
        for measure in MEASURES:
            one = predicted.get(measure)
            if one is None or not kernel.get(measure):
                continue
            rows.append(
                Row(
                    name, path_fit.kind, path_fit.score or math.nan,
                    path_fit.is_explained, not path_fit.is_explained or bool(path_fit.unknown),
                    run, measure, kernel[measure], one.value, one.low, one.high,
                    simple.get(measure, math.nan), true.get(measure, math.nan),
                )
            )  # fmt: skip
    return rows


def spread(errors: Sequence[float]) -> str:
    """Median and 95th percentile of the sizes of errors."""
    sizes = np.abs([error for error in errors if math.isfinite(error)])
    return f"{np.median(sizes):.1f} / {np.percentile(sizes, 95):.1f}" if sizes.size else "-"


def line(name: str, rows: Sequence[Row]) -> str:
    """A row of the table: errors of the fit, the baseline and the floor, and how many ranges hold."""
    cells = [
        spread([row.error(getattr(row, kind)) for row in rows]) for kind in ("value", "baseline", "floor")
    ]
    inside = 100 * np.mean([row.is_inside for row in rows]) if rows else math.nan
    return f"| {name} | {len(rows)} | {' | '.join(cells)} | {inside:.0f} |"


def kind_of(truth: str) -> str:
    """The kind in the name of a truth."""
    return truth.partition("-")[2] or truth


def _inferred(name: str, path_fit: Fit) -> str:
    values = "; ".join(f"{label(one.name)} {estimate_words(one)}" for one in path_fit.ranges)
    score = path_fit.score or math.nan
    return f"| {name} | {path_fit.title} | {score:.2f} | {path_fit.runs}, {path_fit.wall_s:.1f} | {values} |"


def _large(row: Row) -> str:
    words = "told" if row.told else "NOT TOLD"
    return (
        f"- {row.truth}, {row.run}, {row.measure}: {row.error(row.value):+.0f} % (true scenario "
        f"{row.error(row.floor):+.0f} %), {words}, range {row.low:.3g} to {row.high:.3g}, "
        f"kernel {row.kernel:.3g}"
    )


def page(rows: Sequence[Row], fits: dict[str, Fit], failures: Sequence[str]) -> str:
    """The page in Markdown."""
    head = (
        "| | answers | fit: median / p95 % | baseline | true scenario simulated | ranges that hold, % |\n"
        + "|---" * 6
        + "|"
    )
    goodput = [row for row in rows if row.measure != "rtt_mean_ms"]
    rtts = [row for row in rows if row.measure == "rtt_mean_ms"]
    large = [row for row in rows if abs(row.error(row.value)) > LARGE]
    lines = [
        "# Fits against known paths",
        "",
        "Written by `make validate-fit`; [fit.md](fit.md) says what is measured and how.",
        "",
        f"Anabranch {_core.version()}, Linux {platform.release().partition('-')[0]}, "
        f"{os.cpu_count()} cores of {platform.machine()}, "
        f"{datetime.now(UTC):%d %B %Y}. {len(fits)} paths, {len(rows)} answers.",
        "",
        "## By what is predicted",
        "",
        head,
        line("goodput and completion", goodput),
        line("mean RTT", rtts),
        line("goodput and completion, explained paths", [row for row in goodput if row.explained]),
        line("mean RTT, explained paths", [row for row in rtts if row.explained]),
        *(line(run, [row for row in goodput if row.run == run]) for run in sorted({row.run for row in rows})),
        "",
        "## By path: goodput and completion",
        "",
        head,
        *(line(name, [row for row in goodput if row.truth == name]) for name in fits),
        "",
        "## By path: mean RTT",
        "",
        head,
        *(line(name, [row for row in rtts if row.truth == name]) for name in fits),
        "",
        "## What was inferred",
        "",
        "| path | model | misfit | simulations, s | path's parameters |\n|---|---|---|---|---|",
        *(_inferred(name, path_fit) for name, path_fit in fits.items()),
        "",
        f"## Errors above {LARGE:g} %",
        "",
        *map(_large, large),
        *([] if large else ["None."]),
        *([] if not failures else ["", "## Not fitted", "", *(f"- {one}" for one in failures)]),
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Fits every truth, predicts its answers and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("truths", nargs="?", type=Path, help="folder of truths; drawn anew if left out")
    parser.add_argument("--live", type=Path, default=Path("results/fit-live"), help="folder of live runs")
    parser.add_argument(
        "--simulated", action="store_true", help="simulate the truth: needs no root, and flatters"
    )
    parser.add_argument("--paths", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="truths whose names contain this")
    parser.add_argument("--out", type=Path, default=None, help="the page; printed if left out")
    given = parser.parse_args()
    truths: Path = given.truths or given.live / "truths"
    if given.truths is None:
        write_truths(truths, given.paths, given.seed)
    names = sorted(file.name.removesuffix(".measure.toml") for file in truths.glob("*.measure.toml"))
    names = [name for name in names if given.only in name]
    command = "run" if given.simulated else "live"
    answers = kernel_answers(truths, given.live, names, command)
    rows: list[Row] = []
    fits: dict[str, Fit] = {}
    failures = []
    for name in names:
        capture = ran(truths / f"{name}.measure.toml", given.live, command) / "src.pcapng"
        try:
            fits[name] = fit(capture)
        except AnabranchError as error:
            failures.append(f"{name}: {error}")
            continue
        rows += rows_of(truths, name, fits[name], answers.get(name, {}))
        sys.stderr.write(f"{name}: {fits[name].verdict}\n")
    text = page(rows, fits, failures)
    if given.out is None:
        sys.stdout.write(text)
    else:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
