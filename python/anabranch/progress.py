"""Progress of runs and studies on a terminal, with an estimate of the time left; nothing in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress

Report = Callable[[float, int], None]
"""Called now and then with the simulated seconds and the packet-hops so far."""
CaptureReport = Callable[[int, int], None]
"""Called now and then with the bytes of captures read and those to be read."""
StudyReport = Callable[[int, int, int], None]
"""Called after each run with the runs done, the failed ones among them, and all runs."""


@contextmanager
def terminal_progress(title: str, duration_s: float) -> Iterator[Report | None]:
    """A progress line on standard error while the block runs; None where that is no terminal.

    Args:
        title: what is running.
        duration_s: simulated time of the whole run, in seconds.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with _line(console) as progress:
        task = progress.add_task(_plain(title), total=duration_s, done="")

        def report(simulated_s: float, _packet_hops: int) -> None:
            text = f"{simulated_s:.4g} of {duration_s:g} s simulated, left"
            progress.update(task, completed=simulated_s, done=text)

        yield report


@contextmanager
def study_progress(title: str) -> Iterator[StudyReport | None]:
    """A progress line on standard error while a study runs; None where that is no terminal.

    Args:
        title: what is running.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with _line(console) as progress:
        task = progress.add_task(_plain(title), total=None, done="checking every level")
        begun = 0

        def report(done: int, failed: int, runs: int) -> None:
            nonlocal begun
            if progress.tasks[0].total is None:
                # What was done before this call says nothing about the time that is left.
                begun = done
                progress.reset(task, total=runs - begun)
            failures = f", {failed:,} failed" if failed else ""
            text = f"{done:,} of {runs:,} runs{failures}, left"
            progress.update(task, completed=done - begun, done=text)

        yield report


@contextmanager
def capture_progress(title: str) -> Iterator[CaptureReport | None]:
    """A progress line on standard error while captures are read; None where that is no terminal.

    Args:
        title: what is read.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with _line(console) as progress:
        task = progress.add_task(_plain(title), total=None, done="")

        def report(read_bytes: int, total_bytes: int) -> None:
            text = f"{read_bytes / 1e6:,.0f} of {total_bytes / 1e6:,.0f} MB, left"
            progress.update(task, total=total_bytes, completed=read_bytes, done=text)

        yield report


def _line(console: Console) -> Progress:
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


def _plain(title: str) -> str:
    """Titles are the user's text: brackets in them are not markup."""
    return title.replace("[", r"\[")
