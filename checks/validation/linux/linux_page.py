"""Holds the simulator against the measured kernel and writes docs/linux.md.

    python checks/validation/linux/linux_page.py

The exit status is 1 if a bound is broken.
"""

from __future__ import annotations

import argparse
import csv
import math
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import matplotlib as mpl
from live_page import section
from measure import Outcome, simulate
from points import points
from recorded import HOST_DELAY, SCATTERING, RecordedOutcome, recorded, simulate_recorded

import anabranch

mpl.use("Agg")
from matplotlib import pyplot as plt

HOST_NOISE = Path(__file__).parent / "host_noise.csv"
DOCS = Path(__file__).parents[3] / "docs"
CONTROLS = ("reno", "cubic", "bbr")
COLOURS = {"reno": "#0072b2", "cubic": "#d55e00", "bbr": "#009e73"}
GROUPS = {
    "single": "One flow",
    "slow-start": "One flow of CUBIC, ssthresh at the end of slow start, in segments",
    "spray": "Packets and ACKs sprayed over two paths",
    "compete": "Two flows, share of the first",
    "messages": "Messages of 30 kB every 150 ms, mean latency in ms",
    "mptcp": "Multipath TCP, completion of 16 MiB in s",
}

INTRODUCTION = """# Linux

The `linux-*` transports beside stock TCP of Linux 6.18: the same links, and for the lossy points of Reno and
CUBIC the same lost packets. The measurements and their rules are in `checks/validation/linux/`. The command
`make validate-linux` runs every point and writes this page.
"""


@dataclass(frozen=True, slots=True)
class Bound:
    """What an error must stay below.

    Attributes:
        name: what is compared.
        most: the bound, as a share.
        error: of the outcomes, as a share; None where none of them is compared.
    """

    name: str
    most: float
    error: Callable[[Sequence[Outcome]], float | None]


def percentile(values: Iterable[float], share: float) -> float | None:
    """The smallest value with at least this share of all at or below it."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None


def errors(outcomes: Iterable[Outcome], group: str, *names: str) -> list[float]:
    """Absolute errors of a group, of the points whose names contain one of `names`."""
    return [
        abs(outcome.error)
        for outcome in outcomes
        if outcome.point.group == group and (not names or any(name in outcome.point.name for name in names))
    ]


def middle(values: Sequence[float]) -> float | None:
    """The median; None of nothing."""
    return median(values) if values else None


def retransmitted(outcomes: Iterable[Outcome], control: str) -> float | None:
    """Median error of the share of segments that one flow sends again."""
    return middle(
        [
            abs(outcome.retransmitted_percent / outcome.point.retransmitted_percent - 1)
            for outcome in outcomes
            if outcome.point.group == "single"
            and outcome.point.control == control
            and outcome.point.retransmitted_percent
            and outcome.retransmitted_percent is not None
        ]
    )


def queueing(outcomes: Iterable[Outcome], control: str) -> float | None:
    """Median error of the mean queueing delay of one flow: smoothed RTT less the RTT without queues."""
    return middle(
        [
            abs((outcome.srtt_ms - point.rtt_ms) / (point.srtt_ms - point.rtt_ms) - 1)
            for outcome in outcomes
            if (point := outcome.point).group == "single"
            and point.control == control
            and point.srtt_ms is not None
            and outcome.srtt_ms is not None
        ]
    )


def share_difference(outcomes: Iterable[Outcome]) -> float | None:
    """Of the first flow's share, where the kernel's is a mean over pairs of RTTs, too."""
    shares = [outcome for outcome in outcomes if outcome.point.name == "cubic-cubic-20M-40/120ms-q1"]
    return abs(shares[0].simulated - shares[0].point.kernel) if shares else None


def bounds() -> list[Bound]:
    """Every bound."""
    lines = [
        Bound("one flow, goodput, median", 0.001, lambda all_: middle(errors(all_, "single"))),
        Bound(
            "one flow, goodput, 95th percentile", 0.03, lambda all_: percentile(errors(all_, "single"), 0.95)
        ),
        Bound("one flow, goodput, worst", 0.07, lambda all_: percentile(errors(all_, "single"), 1.0)),
    ]
    lines += [
        Bound(
            f"one flow, segments sent again, {control}, median",
            0.25,
            lambda all_, control=control: retransmitted(all_, control),  # type: ignore[misc]
        )
        for control in CONTROLS
    ]
    lines += [
        Bound(
            "end of slow start, window, worst", 0.02, lambda all_: percentile(errors(all_, "slow-start"), 1.0)
        ),
        Bound("one flow, queueing delay, bbr, median", 0.15, lambda all_: queueing(all_, "bbr")),
        Bound(
            "spraying up to (10, 30), worst",
            0.015,
            lambda all_: percentile(errors(all_, "spray", "(10, 10)", "(10, 30)"), 1.0),
        ),
        Bound(
            "spraying at (10, 50), worst",
            0.08,
            lambda all_: percentile(errors(all_, "spray", "(10, 50)"), 1.0),
        ),
        Bound(
            "spraying at (10, 100), worst",
            0.30,
            lambda all_: percentile(errors(all_, "spray", "(10, 100)"), 1.0),
        ),
        Bound(
            "CUBIC beside BBR, share, worst",
            0.20,
            lambda all_: percentile(errors(all_, "compete", "cubic-bbr"), 1.0),
        ),
        Bound("two CUBIC flows of 40 and 120 ms, difference of the share", 0.05, share_difference),
        Bound("messages, mean latency", 0.15, lambda all_: percentile(errors(all_, "messages"), 1.0)),
        Bound(
            "Multipath TCP, completion, median",
            0.03,
            lambda all_: middle(errors(all_, "mptcp")),
        ),
        Bound(
            "Multipath TCP, completion, worst",
            0.03,
            lambda all_: percentile(errors(all_, "mptcp"), 1.0),
        ),
    ]
    return lines


RECORDED_BOUNDS = {"median": 0.003, "95th percentile": 0.03, "worst": 0.05}
"""Of the errors of points that are scenarios of their own, but for those whose kernel runs scatter."""


def recorded_errors(outcomes: Iterable[RecordedOutcome]) -> list[float]:
    """Absolute errors of the points that do not scatter."""
    return [abs(outcome.error) for outcome in outcomes if outcome.point.group not in SCATTERING]


def recorded_verdicts(outcomes: Sequence[RecordedOutcome]) -> tuple[list[str], bool]:
    """Rows of the table of bounds, and whether all are kept."""
    errors = recorded_errors(outcomes)
    entries = {
        "median": middle(errors),
        "95th percentile": percentile(errors, 0.95),
        "worst": percentile(errors, 1.0),
    }
    outside = [
        outcome.point.name
        for outcome in outcomes
        if outcome.point.group in SCATTERING and not outcome.is_within_spread
    ]
    lines, kept = [], not outside
    for name, most in RECORDED_BOUNDS.items():
        error = entries[name] or 0.0
        kept &= error <= most
        verdict = "kept" if error <= most else "**not kept**"
        lines.append(f"| scenarios, {name} | {percent(error)} | {percent(most, 1)} | {verdict} |")
    verdict = "kept" if not outside else f"**not kept**: {', '.join(outside)}"
    lines.append(f"| scenarios that scatter, outside of the spread | {len(outside)} | 0 | {verdict} |")
    return lines, kept


RECORDED = """## Scenarios

Each point is a scenario of `checks/validation/linux/recorded/`, run three times between hosts of the kernel
and simulated with the same seeds, which draw the same losses. Nothing of the transports was fitted to them.
Where the kernel's own runs scatter by more than any bound (competing flows, messages with 2 % of losses,
Multipath TCP), the means of both sides must differ by no more than the runs of one side do.
"""


def with_host_delay(outcomes: Sequence[RecordedOutcome]) -> str:
    """What the time that real hosts need explains of the errors."""
    errors = recorded_errors(outcomes)
    shares = (middle(errors), percentile(errors, 0.95), percentile(errors, 1.0))
    median, high, worst = (percent(share or 0.0) for share in shares)
    return (
        f"Real hosts need time: pings of live runs take {HOST_DELAY} more for each host on their\n"
        f"way. The table is without. With that processing delay at the simulated hosts errors are\n"
        f"{median} in the median, {high} at the 95th percentile and {worst} at worst.\n"
    )


def recorded_table(outcomes: Sequence[RecordedOutcome], delayed: Sequence[RecordedOutcome]) -> list[str]:
    """The points that are scenarios of their own; ``delayed`` with the delay of real hosts."""

    def cells(outcome: RecordedOutcome) -> str:
        point = outcome.point
        kernel, simulated = (
            f"{sum(values) / len(values):.4g} ({min(values):.4g} to {max(values):.4g})"
            for values in (point.kernel, outcome.simulated)
        )
        held = "spread" if point.group in SCATTERING else "error"
        return (
            f"| {point.name} | {point.group} | {point.metric} ({point.unit}) | {kernel} | {simulated} "
            f"| {100 * outcome.error:+.2f} % | {held} |"
        )

    header = "| point | group | metric | kernel | simulated | error | held to |"
    return [
        RECORDED,
        with_host_delay(delayed),
        header,
        "|---|---|---|---|---|---|---|",
        *map(cells, outcomes),
        "",
    ]


def percent(share: float, places: int = 2) -> str:
    """A share in percent."""
    return f"{100 * share:.{places}f} %"


def verdicts(outcomes: Sequence[Outcome]) -> tuple[list[str], bool]:
    """The table of bounds, and whether all are kept."""
    lines = ["| what | error | bound | |", "|---|---|---|---|"]
    kept = True
    for bound in bounds():
        error = bound.error(outcomes)
        if error is None:
            continue
        holds = error <= bound.most
        kept &= holds
        verdict = "kept" if holds else "**not kept**"
        lines.append(f"| {bound.name} | {percent(error)} | {percent(bound.most, 1)} | {verdict} |")
    return lines, kept


def row(outcome: Outcome) -> str:
    """A point as a row."""
    point = outcome.point

    def pair(kernel: float | None, simulated: float | None, places: int) -> str:
        if kernel is None or simulated is None:
            return " | "
        return f"{kernel:.{places}f} | {simulated:.{places}f}"

    return (
        f"| {point.name} | {point.kernel:.4g} | {outcome.simulated:.4g} | {100 * outcome.error:+.2f} % | "
        f"{pair(point.retransmitted_percent, outcome.retransmitted_percent, 2)} | "
        f"{pair(point.srtt_ms, outcome.srtt_ms, 1)} |"
    )


def table(outcomes: Sequence[Outcome], group: str) -> list[str]:
    """The points of a group."""
    rows = [row(outcome) for outcome in outcomes if outcome.point.group == group]
    return [
        f"## {GROUPS[group]}\n",
        "| point | kernel | simulated | error | sent again, kernel (%) | simulated "
        "| SRTT, kernel (ms) | simulated |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def figure(outcomes: Sequence[Outcome], file: Path) -> None:
    """Cumulative shares of the error of one flow's goodput, by control."""
    drawn, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for control in CONTROLS:
        errors = sorted(
            100 * abs(outcome.error)
            for outcome in outcomes
            if outcome.point.group == "single" and outcome.point.control == control
        )
        shares = [100 * (place + 1) / len(errors) for place in range(len(errors))]
        axes.step(errors, shares, where="post", color=COLOURS[control], label=f"linux-{control}")
    axes.set_xscale("symlog", linthresh=0.01)
    axes.set_xlim(left=0)
    axes.set_xticks([0, 0.01, 0.1, 1, 10], ["0", "0.01", "0.1", "1", "10"])
    axes.set_xlabel("absolute error of goodput against Linux 6.18 (%)")
    axes.set_ylabel("points (%)")
    axes.set_ylim(0, 102)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    drawn.savefig(file, dpi=120)
    plt.close(drawn)


HOSTS = """## Hosts

Real hosts need time for a packet and hand over several segments at once. The command `python
checks/validation/linux/host_noise.py` runs every point with a processing delay of all hosts (the
same for each packet, or exponential with the given mean) and with segmentation offload, whose
trains are one packet on every link ([links.md](links.md)). The errors:
"""

DECISION = """
Neither is on in the `linux-*` transports: every bound is kept without. BBR's queueing delay comes nearer at
50 us, while the share of CUBIC beside BBR leaves its bound, and the median error of one flow is larger with
any delay. Sprayed flows hardly mind. The emulator of the measurements was late by
less than 0.2 ms, and they show no more noise than that. With offload the errors are large, because every
packet of the measurements was one segment. For slower hosts, or links on which a train is one packet, set
them in the scenario.
"""


def host_noise() -> list[str]:
    """What host_noise.csv says: the errors by choice of hosts, and how many bounds each keeps."""
    most = {bound.name: bound.most for bound in bounds()}
    with HOST_NOISE.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    kept = [sum(float(row[column]) <= most[row[0]] for row in rows) for column in range(1, len(header))]
    lines = [
        "| " + " | ".join(header) + " | bound |",
        "|---" * (len(header) + 1) + "|",
        *(
            f"| {name} | "
            + " | ".join(percent(float(error)) for error in errors)
            + f" | {percent(most[name], 1)} |"
            for name, *errors in rows
        ),
        f"| bounds kept, of {len(rows)} | " + " | ".join(map(str, kept)) + " | |",
    ]
    return [HOSTS, *lines, DECISION]


def page(
    outcomes: Sequence[Outcome], scenarios: Sequence[RecordedOutcome], delayed: Sequence[RecordedOutcome]
) -> tuple[str, bool]:
    """docs/linux.md, and whether every bound is kept."""
    lines, kept = verdicts(outcomes)
    more, more_kept = recorded_verdicts(scenarios)
    lines += more
    machine = f"{platform.machine()}, {platform.system()} {platform.release().split('-')[0]}"
    parts = [
        INTRODUCTION,
        *lines,
        "",
        f"Anabranch {anabranch.__version__}, {machine}. An error is simulated over kernel, less 1; over "
        "matched runs the mean of their ratios. Goodput is in Mbps. Shares of two flows are means over 96 "
        "pairs of RTTs within 5 %; the kernel's are of single pairs, but for that of 40 and 120 ms. Sprayed "
        "flows and Multipath TCP are means over five runs, with delays of 10 and 100 ms over eighty, in "
        "which each packet is 0 to 0.2 ms late, as the emulator was. "
        "BBR over 10 and 100 ms stands there twice: beside the kernel's mean of two runs, and of thirty. "
        "Names of Multipath TCP have the capacities of the two paths in Mbps and their delays one way in ms.",
        "",
        "![Errors of one flow by control](figures/linux.png)",
        "",
    ]
    parts += recorded_table(scenarios, delayed)
    for group in GROUPS:
        parts += table(outcomes, group)
    return "\n".join([*parts, *host_noise(), section()]), kept and more_kept


def main() -> int:
    """Runs every point and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of linux.md and figures/ (docs)")
    out = parser.parse_args().out
    every_point = [point for file in ("measured.csv", "told.csv", "slow_start.csv") for point in points(file)]
    outcomes = simulate(point for point in every_point if point.group in GROUPS)
    scenarios = simulate_recorded(recorded())
    delayed = simulate_recorded(recorded(), processing_delay=HOST_DELAY)
    text, kept = page(outcomes, scenarios, delayed)
    (out / "figures").mkdir(parents=True, exist_ok=True)
    figure(outcomes, out / "figures" / "linux.png")
    (out / "linux.md").write_text(text, encoding="utf-8")
    print("\n".join([*verdicts(outcomes)[0], *recorded_verdicts(scenarios)[0]]))  # noqa: T201
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
