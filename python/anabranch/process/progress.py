"""Progress of runs and studies on a terminal, with an estimate of the time left; nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rich.console import Console

from anabranch.process.foreign import plain

if TYPE_CHECKING:
    from rich.progress import Progress

Report = Callable[[float, int], None]
"""Called now and then with the simulated seconds and the packet-hops so far."""
PlanReport = Callable[[int, int], None]
"""Called now and then with the pairs that have routes, failures looked at or simulations, and with all."""
CaptureReport = Callable[[int, int], None]
"""Called now and then with the bytes of captures read and those to be read."""
StudyReport = Callable[[int, int, int], None]
"""Called after each run with the runs done, the failed ones among them, and all runs."""


@dataclass(frozen=True)
class RunProgress:
    """The progress of a run, first of its routes and then of simulated time; nothing in a pipe."""

    plan: PlanReport | None = None
    run: Report | None = None


@contextmanager
def run_progress(title: str, duration_s: float) -> Iterator[RunProgress]:
    """A progress line on standard error while the block runs.

    Args:
        title: what is running.
        duration_s: simulated time of the whole run, in seconds.
    """
    with _line(title) as update:
        if update is None:
            yield RunProgress()
            return

        def simulated(simulated_s: float, _packet_hops: int) -> None:
            update(simulated_s, duration_s, f"{simulated_s:.4g} of {duration_s:g} s simulated, left")

        yield RunProgress(_planned(update), simulated)


@contextmanager
def plan_progress(title: str) -> Iterator[PlanReport | None]:
    """A progress line on standard error while routes are found; None where that is no terminal.

    Args:
        title: what they are for.
    """
    with _line(title) as update:
        yield None if update is None else _planned(update)


@contextmanager
def counted_progress(title: str, words: str) -> Iterator[PlanReport | None]:
    """A progress line on standard error while things are counted; None where that is no terminal.

    Args:
        title: whose they are.
        words: of a line, with ``done`` and ``of`` in braces: ``{done:,} of {of:,} looked at``.
    """
    with _line(title) as update:
        if update is None:
            yield None
            return

        def report(done: int, of: int) -> None:
            update(done, of, f"{words.format(done=done, of=of)}, left")

        yield report


@contextmanager
def study_progress(title: str) -> Iterator[StudyReport | None]:
    """A progress line on standard error while a study runs; None where that is no terminal.

    Args:
        title: what is running.
    """
    with _line(title, "checking every level") as update:
        if update is None:
            yield None
            return
        begun: int | None = None

        def report(done: int, failed: int, runs: int) -> None:
            nonlocal begun
            if begun is None:
                # What was done before this call says nothing about the time that is left.
                begun = done
            failures = f", {failed:,} failed" if failed else ""
            update(done - begun, runs - begun, f"{done:,} of {runs:,} runs{failures}, left")

        yield report


@contextmanager
def capture_progress(title: str) -> Iterator[CaptureReport | None]:
    """A progress line on standard error while captures are read; None where that is no terminal.

    Args:
        title: what is read.
    """
    with _line(title) as update:
        if update is None:
            yield None
            return

        def report(read_bytes: int, total_bytes: int) -> None:
            text = f"{read_bytes / 1e6:,.0f} of {total_bytes / 1e6:,.0f} MB, left"
            update(read_bytes, total_bytes, text)

        yield report


_Update = Callable[[float, float, str], None]
"""Called with what is done, all there is to do, and both in words."""


def _planned(update: _Update) -> PlanReport:
    return lambda done, pairs: update(done, pairs, f"routes of {done:,} of {pairs:,} pairs, left")


@contextmanager
def _line(title: str, begin: str = "") -> Iterator[_Update | None]:
    """A line that shows the share done, in words too, and the time left; None where nobody would see it."""
    # By name, it would be the stream that takes what code of the user's own prints (own/running.py).
    console = Console(file=sys.stderr)
    # Without ipywidgets a notebook gets a warning for each line in its place.
    is_shown = find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal
    if not is_shown:
        yield None
        return
    with _columns(console) as progress:
        # Titles are the user's text: brackets in them are not markup.
        task = progress.add_task(plain(title).replace("[", r"\["), total=None, done=begin)

        def update(done: float, total: float, text: str) -> None:
            if progress.tasks[0].total != total:
                # Another kind of work: the time that is left is not told from what came before.
                progress.reset(task, total=total)
            progress.update(task, completed=done, done=text)

        yield update


def _columns(console: Console) -> Progress:
    """A line that shows a task's share, its field ``done``, and the time left."""
    # Only terminals have such a line; in a pipe nobody waits for these imports.
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column  # noqa: PLC0415

    columns = (
        # Eighty characters hold all of it: a long title is cut, not the time that is left.
        TextColumn(
            "{task.description}", table_column=Column(max_width=24, no_wrap=True, overflow="ellipsis")
        ),
        BarColumn(bar_width=10),
        TaskProgressColumn(),
        TextColumn("{task.fields[done]}", table_column=Column(no_wrap=True)),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True)
