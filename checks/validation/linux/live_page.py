"""The last section of docs/linux.md: points measured anew on a kernel, beside their simulations."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

FILE = Path(__file__).parent / "live.csv"
PAGE = Path(__file__).parents[3] / "docs" / "linux.md"
HEADING = "## Measured anew"
GROUPS = {
    "single": "one flow, goodput (Mbps)",
    "spray": "sprayed over two paths, goodput (Mbps)",
    "compete": "two flows, share of the first",
    "mptcp": "Multipath TCP, 16 MiB (s)",
}

WORDS = """`make validate-live` (Linux, root) measures the points above anew, by [live runs](live.md) between
hosts of the kernel that it runs on, and simulates the same scenarios with the same losses. A part
of the points takes some minutes; `make validate-live POINTS=--all` takes all of them, and
`POINTS="--all --runs 5"` several runs of each, lossy ones with other losses. The runs are in
`checks/validation/linux/live.csv`. An error is simulated over live, less 1. The last columns are
how late the latest 1 % of packets came, and the load of the machine. Under load, hosts are late,
too: other work makes errors larger."""


def percent(share: float) -> str:
    """A share in percent, with its sign."""
    return f"{100 * share:+.2f} %"


def rows() -> list[dict[str, str]]:
    """What live.csv has."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def errors(rows: Sequence[dict[str, str]], group: str) -> list[float]:
    """Of the valid runs of a group."""
    return [
        float(row["simulated"]) / float(row["live"]) - 1
        for row in rows
        if row["group"] == group and not row["not_valid"] and float(row["live"])
    ]


def groups(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """A line for each group: how many runs, and their errors without signs."""
    yield "| what | runs | not valid | error, median | worst |"
    yield "|---|---|---|---|---|"
    for group, name in GROUPS.items():
        rows_of_group = [row for row in rows if row["group"] == group]
        if not rows_of_group:
            continue
        sizes = [abs(error) for error in errors(rows, group)]
        late = sum(bool(row["not_valid"]) for row in rows_of_group)
        errors_text = f"{100 * median(sizes):.2f} % | {100 * max(sizes):.2f} %" if sizes else " | "
        yield f"| {name} | {len(rows_of_group)} | {late} | {errors_text} |"


def lines(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """A line for each run."""
    yield (
        "| point | live | simulated | error | sent again, live (%) | simulated | SRTT, live (ms) | simulated "
        "| late (us) | load |"
    )
    yield "|---" * 10 + "|"
    for row in rows:
        error = percent(float(row["simulated"]) / float(row["live"]) - 1) if float(row["live"]) else ""
        trips = [
            f"{float(row[name]):.1f}" if row[name] else "" for name in ("live_srtt_ms", "simulated_srtt_ms")
        ]
        again = [float(row[f"{name}_retransmitted_percent"]) for name in ("live", "simulated")]
        yield (
            f"| {row['point']} | {float(row['live']):.4g} | {float(row['simulated']):.4g} | "
            f"{error if not row['not_valid'] else 'not valid'} | {again[0]:.2f} | {again[1]:.2f} | "
            f"{trips[0]} | {trips[1]} | {float(row['lateness_p99_us']):.0f} | {float(row['load']):.1f} |"
        )


def measured_on(rows: Sequence[dict[str, str]]) -> str:
    """The kernel and the machine of live runs, when they were made, and how busy it was."""
    first, days = rows[0], sorted({row["day"] for row in rows})
    machine = f"Linux {first['kernel'].split('-')[0]}, {first['machine']}, {first['cpus']} cores"
    loads = sorted(float(row["load"]) for row in rows)
    when = " to ".join(dict.fromkeys((days[0], days[-1])))
    return f"{machine}, {when}; load of the machine {loads[0]:.1f} to {loads[-1]:.1f}."


def section() -> str:
    """The whole section."""
    rows_of_file = rows()
    parts = [
        HEADING,
        "",
        WORDS,
        "",
        measured_on(rows_of_file),
        "",
        *groups(rows_of_file),
        "",
        *lines(rows_of_file),
        "",
    ]
    return "\n".join(parts)


def write_section() -> None:
    """Puts the section in the place of the one before, at the end of the page."""
    before = PAGE.read_text(encoding="utf-8").partition(HEADING)[0].rstrip("\n")
    PAGE.write_text(f"{before}\n\n{section()}", encoding="utf-8")
