"""Ctrl-C at lines of the program that are drawn from all those that a command runs through.

Faults at random times mostly meet imports and compiled code. Here each line of the package that a command
runs is as likely as the others, such as the one after a file was closed. A test tries a few.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import faults

AT_LINE = Path(__file__).with_name("at_line.py")
STATUSES = {0: "done", 130: "interrupted", -2: "ended in silence"}
"""Where the command was through, in its middle, and where it neither began nor has something left to say."""


def lines_of(ground: faults.Ground, folder: Path) -> list[tuple[str, int]]:
    """The lines of the package that a command runs through, with how often each does."""
    work, listing = folder / "undisturbed", folder / "lines.txt"
    shutil.copytree(ground.template, work, symlinks=True)
    done = _run(ground, work, str(listing), "")
    if done.returncode != 0:
        raise RuntimeError(f"{ground.command.name}: status {done.returncode}: {done.stderr}")
    shutil.rmtree(work)
    pairs = (line.rsplit(" ", 1) for line in listing.read_text(encoding="utf-8").splitlines())
    return [(place, int(count)) for place, count in pairs]


def interrupted(ground: faults.Ground, place: str, work: Path) -> faults.Outcome:
    """A command with Ctrl-C at a place (see ``at_line.py``), and what is found after it."""
    shutil.copytree(ground.template, work, symlinks=True)
    try:
        done = _run(ground, work, "", place)
    except subprocess.TimeoutExpired:
        return faults.Outcome(ground.command.name, place, faults.HUNG, [f"{place}: does not end"])
    outcome = faults.Outcome(ground.command.name, place, done.returncode)
    complaints = faults.judged(ground, work, "SIGINT", done.returncode, done.stderr)
    if done.returncode not in STATUSES:
        complaints.append(f"status {done.returncode} after Ctrl-C: {done.stderr[-2000:]}")
    outcome.complaints += [f"{place}: {complaint}" for complaint in complaints]
    if not complaints:
        shutil.rmtree(work)
    return outcome


def _run(ground: faults.Ground, work: Path, listing: str, place: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(AT_LINE), listing, place, *ground.command.arguments], cwd=work,
        env=faults.environment(work), capture_output=True, text=True, check=False, start_new_session=True,
        timeout=faults.ALONE_S,
    )  # fmt: skip


def check_all(
    count: int, seed: str, workers: int = 2, chosen: Sequence[str] = (),
    say: Callable[[str], object] = lambda _: None,
) -> list[faults.Outcome]:  # fmt: skip
    """Interrupts each command at lines drawn without repetition.

    Args:
        count: lines of each command; all that there are, if there are fewer.
        seed: of what is drawn.
        workers: processes at once.
        chosen: names of commands; all of them if empty.
        say: hears of each complaint, and how far it is.
    """
    outcomes = []
    for command in faults.COMMANDS:
        if chosen and command.name not in chosen:
            continue
        draw = random.Random(f"{seed} lines {command.name}")  # noqa: S311 - nothing secret
        of_command = _of_command(command, count, draw, workers)
        say(f"{command.name}: Ctrl-C at {len(of_command)} lines")
        for outcome in of_command:
            for complaint in outcome.complaints:
                say(f"{command.name}, status {outcome.status}, seed {seed}: {complaint}")
        outcomes += of_command
    return outcomes


def _of_command(
    command: faults.Command, count: int, draw: random.Random, workers: int
) -> list[faults.Outcome]:
    with tempfile.TemporaryDirectory(prefix="lines-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        ground = faults.prepared(command, folder)
        lines = lines_of(ground, folder)
        drawn = draw.sample(lines, min(count, len(lines)))
        # The first time, the last one, or another.
        places = [f"{line}:{draw.choice((1, times, draw.randint(1, times)))}" for line, times in drawn]

        def attempt(numbered: tuple[int, str]) -> faults.Outcome:
            number, place = numbered
            return interrupted(ground, place, folder / str(number))

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(attempt, enumerate(places)))


def counts(outcomes: Sequence[faults.Outcome]) -> dict[str, Counter[str]]:
    """How the commands ended, by command."""
    answers: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        ends = STATUSES.get(outcome.status, "otherwise")
        answers.setdefault(outcome.command, Counter()).update(["lines", ends])
        answers[outcome.command]["wrong"] += bool(outcome.complaints)
    return answers
