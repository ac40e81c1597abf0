"""Progress of a run on a terminal, with an estimate of the time left; nothing in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

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
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[simulated]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        # Titles are the user's text: brackets in them are not markup.
        task = progress.add_task(title.replace("[", r"\["), total=duration_s, simulated="")

        def report(simulated_s: float, packet_hops: int) -> None:
            text = f"{simulated_s:.1f} of {duration_s:g} s, {packet_hops / 1e6:.1f} M packet-hops, left"
            progress.update(task, completed=simulated_s, simulated=text)

        yield report
