"""Attacks Anabranch: mutated inputs, random scenarios, faults, Ctrl-C, links in the way, and a second user.

``make attack`` runs all parts, and writes the counts to docs/attack.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import clocks
from parts import PARTS, Report, code, counted, left_out, page_of, table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class _Cost:
    """What a part took."""

    cpu_s: float
    real_s: float


def main() -> int:
    """Runs the parts, prints their counts, and returns 1 if there is a defect."""
    command = shlex.join([".venv/bin/python", "checks/attack", *sys.argv[1:]])
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {options.seed}", flush=True)
    reports: dict[str, Report] = {}
    costs: dict[str, _Cost] = {}
    for name in options.parts:
        begin, before_s = time.monotonic(), clocks.cpu_of_all_s()
        reports[name] = PARTS[name](options)
        costs[name] = _Cost(clocks.cpu_of_all_s() - before_s, time.monotonic() - begin)
        cost = f"{costs[name].cpu_s:.0f} s of processor time in {costs[name].real_s:.0f} s"
        print(f"{name}: {reports[name].tried:,} tried, {reports[name].defects} defects, {cost}", flush=True)
    if options.page is not None:
        _write(options, command, reports, costs)
    defects = sum(report.defects for report in reports.values())
    print(f"{defects} defects with seed {options.seed}")
    return 1 if defects else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("--seed", type=_seed, default="1", help="of all that is drawn: any text")
    parser.add_argument(
        "--parts", type=_parts, default=list(PARTS), help=f"which, with commas; all are {','.join(PARTS)}"
    )
    parser.add_argument("--mutants", type=_count, default=20_000, help="mutated inputs")
    parser.add_argument(
        "--only", type=_count, help="the number of one mutant, to see it again; no other part runs"
    )
    parser.add_argument("--scenarios", type=_count, default=300, help="random scenarios")
    parser.add_argument(
        "--orders", type=_count, default=1000, help="scenarios for orders and sums of columns"
    )
    parser.add_argument("--faults", type=_count, default=300, help="faults under commands that write")
    parser.add_argument("--lines", type=_count, default=40, help="of each command, with Ctrl-C at each")
    parser.add_argument("--kills", type=_count, default=20, help="studies that are killed, and go on")
    parser.add_argument("--rounds", type=_count, default=3, help="of each command beside a second user")
    parser.add_argument(
        "--command",
        action="append",
        default=[],
        help="only this command of faults, lines, places, users; may be repeated",
    )
    parser.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1, help="processes, at least one")
    parser.add_argument("--folder", type=Path, default=ROOT / "results" / "attack", help="for what fails")
    parser.add_argument("--page", type=Path, help="where the counts are written, such as docs/attack.md")
    options = parser.parse_args()
    if options.only is not None:
        options.parts = ["inputs"]
    if unknown := sorted(set(options.command) - _commands(options.parts)):
        names = ", ".join(sorted(_commands(options.parts))) or "none"
        parser.error(
            f"the parts {', '.join(options.parts)} have no command {unknown[0]!r}; they have: {names}"
        )
    return options


def _seed(text: str) -> str:
    """Any text that can be shown, and given again."""
    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be shown on the page; take other letters or digits"
        )
    return text


def _parts(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in PARTS]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is no part; the parts are {', '.join(PARTS)}")
    return [name for name in PARTS if name in names]


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)


def _jobs(text: str) -> int:
    if (count := _count(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} does nothing; take 1 or more")
    return count


def _commands(parts: list[str]) -> set[str]:
    """Commands that a part can be limited to."""
    import faults  # noqa: PLC0415 - only here
    import places  # noqa: PLC0415 - the same
    import two_users  # noqa: PLC0415 - the same

    of_parts = {
        "faults": {command.name for command in faults.COMMANDS},
        "lines": {command.name for command in faults.COMMANDS},
        "places": {command.name for command in places.COMMANDS},
        "users": set(two_users.COMMANDS),
    }
    return {command for part in parts for command in of_parts.get(part, ())}


def _write(
    options: argparse.Namespace, command: str, reports: dict[str, Report], costs: dict[str, _Cost]
) -> None:
    from anabranch import __version__  # noqa: PLC0415 - what uses most of it has run by now

    tried = {name: report for name, report in reports.items() if not report.left_out}
    rows = [
        (
            name,
            f"{report.tried:,}",
            f"{report.defects:,}",
            f"{costs[name].cpu_s / 60:.1f}",
            f"{costs[name].real_s / 60:.1f}",
        )
        for name, report in tried.items()
    ]
    real_s = sum(cost.real_s for cost in costs.values())
    template = page_of((HERE / "page.md").read_text(encoding="utf-8"), tried)
    text = template.format(
        command=code(command),
        date=time.strftime("%d %B %Y").lstrip("0"),
        version=__version__,
        python=platform.python_version(),
        machine=f"{platform.system()} on {platform.machine()}",
        jobs=counted(options.jobs, "process", "processes"),
        minutes=f"{real_s:.0f} s" if real_s < 100 else counted(round(real_s / 60), "minute"),
        parts=table(("part", "tried", "defects", "minutes of processor time", "minutes"), rows),
        left_out=left_out(reports),
        **{name: text for report in tried.values() for name, text in report.texts.items()},
    )
    options.page.write_text(text.strip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
