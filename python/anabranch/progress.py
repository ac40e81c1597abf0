"""Progress of a run on a terminal, with an estimate of the time left; nothing in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column

Report = Callable[[float, int], None]
"""Called now and then with the simulated seconds and the packet-hops so far."""


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
    columns = (
        # Eighty characters hold all of it: a long title is cut, not the time that is left.
        TextColumn(
            "{task.description}", table_column=Column(max_width=24, no_wrap=True, overflow="ellipsis")
        ),
        BarColumn(bar_width=10),
        TaskProgressColumn(),
        TextColumn("{task.fields[simulated]}", table_column=Column(no_wrap=True)),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        # Titles are the user's text: brackets in them are not markup.
        task = progress.add_task(title.replace("[", r"\["), total=duration_s, simulated="")

        def report(simulated_s: float, _packet_hops: int) -> None:
            text = f"{simulated_s:.4g} of {duration_s:g} s simulated, left"
            progress.update(task, completed=simulated_s, simulated=text)

        yield report
