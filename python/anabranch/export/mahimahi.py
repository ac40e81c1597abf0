"""Traces of Mahimahi's ``mm-link``: the milliseconds at which a packet of 1500 bytes may leave a link.

Source: Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP" (USENIX ATC 2015), and the manual
page of ``mm-link``: a trace begins anew at its last millisecond.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from anabranch.errors import ExportError
from anabranch.export.emulated import mean_loss, not_in_a_network_file
from anabranch.export.job import Export, ExportJob, cell
from anabranch.scenario.leaves import (
    CapacityChange,
    DelayChange,
    LinksChange,
    LossChange,
    NodeChange,
    QueueChange,
)
from anabranch.setup import Setup

_PS_PER_MS: Final = 10**9
_BITS: Final = 1500 * 8
"""Of an opportunity."""
_MOST_LINES: Final = 10_000_000
"""Of all traces together: some 80 MB."""

_README: Final = """
Each trace has the capacity of a link in a direction, from the beginning of the run to its end, and then
begins anew. The n-th line is the millisecond by which the link could have carried n packets of 1500 bytes;
the last one is the end of the run, so that the trace is as long. Its opportunities are those of the link, to
one packet.

| trace | link | packets | delay | loss |
|---|---|---|---|---|
{rows}

## To load

Between the ends of a link, with its delay there and its random loss:

    mm-delay MS mm-loss uplink RATIO mm-link UP.trace DOWN.trace

`UP.trace` is that of the direction in which the program inside sends. In a scenario, `format =
"mahimahi"` in a `[[profile]]` reads a trace again.

## To undo

Leave the shell that `mm-link` started; the files change nothing.
"""


def write(job: ExportJob) -> Export:
    """A trace for each direction of the links whose capacity changes; of all links where none does.

    Raises:
        ExportError: if the traces would have too many lines.
    """
    setup, layout = job.setup, job.layout
    steps = _capacities(setup)
    changing = {_ends(setup, link) for link, changes in steps.items() if len(changes) > 1}
    chosen = [link for link in steps if not changing or _ends(setup, link) in changing]
    _check_size(setup, steps, chosen)
    export, rows = Export(), []
    for number in chosen:
        link = setup.links[number]
        interface = layout.sender[number].name
        name = f"{interface}-{layout.label(link.origin)}-{layout.label(link.to)}.trace"
        lines = [f"{line}\n" for line in opportunities(steps[number], setup.duration)]
        export.files[name] = "".join(lines)
        delay_ms, loss = link.delay / _PS_PER_MS, mean_loss(link)
        rows.append(f"| `{name}` | {cell(link.name)} | {len(lines):,} | {delay_ms:g} ms | {loss:.3g} |")
    export.notes = _notes(job, chosen)
    readme = _README.format(rows="\n".join(rows))
    return export.with_readme(layout, "Traces for Mahimahi", readme, interfaces=False)


def _ends(setup: Setup, link: int) -> frozenset[int]:
    """The nodes at both ends, in whichever direction."""
    return frozenset((setup.links[link].origin, setup.links[link].to))


def _capacities(setup: Setup) -> dict[int, list[tuple[int, int]]]:
    """By link: from which time in ps on it has which capacity in bps; 0 while it is down."""
    steps = {number: [(0, link.capacity)] for number, link in enumerate(setup.links)}
    rates = [link.capacity for link in setup.links]
    is_down = [False] * len(setup.links)
    for event in setup.events:
        match event.change:
            case CapacityChange(links=links, capacity=capacity):
                touched = list(links)
                for link in touched:
                    rates[link] = capacity
            case LinksChange(links=links, up=up):
                touched = list(links)
                for link in touched:
                    is_down[link] = not up
            case NodeChange(node=node, up=up):
                touched = [n for n, link in enumerate(setup.links) if node in (link.origin, link.to)]
                for link in touched:
                    is_down[link] = not up
            case _:
                continue
        for link in touched:
            rate = 0 if is_down[link] else rates[link]
            if steps[link][-1][1] != rate:
                steps[link].append((event.at, rate))
    return steps


def opportunities(steps: Sequence[tuple[int, int]], duration: int) -> Iterator[int]:
    """The milliseconds at which packets of 1500 bytes may leave; the last one is the end of the run.

    Args:
        steps: from which time in picoseconds on there is which capacity in bits per second, in order of time.
        duration: of the run in picoseconds.
    """
    # In bits times picoseconds per second, so that nothing is rounded.
    size = _BITS * 10**12
    carried = sent = last_ms = 0
    ends = [*(at for at, _ in steps[1:]), duration]
    for (begin, rate), end in zip(steps, ends, strict=True):
        until = min(end, duration)
        if until <= begin:
            continue
        after = carried + (until - begin) * rate
        for number in range(sent + 1, after // size + 1):
            at = begin + -(-(number * size - carried) // rate)
            last_ms = -(-at // _PS_PER_MS)
            yield last_ms
        carried, sent = after, after // size
    if last_ms < (end_ms := -(-duration // _PS_PER_MS)):
        yield end_ms


def _check_size(setup: Setup, steps: dict[int, list[tuple[int, int]]], chosen: Sequence[int]) -> None:
    bits = sum(max(rate for _, rate in steps[link]) for link in chosen) * setup.duration // 10**12
    if bits // _BITS > _MOST_LINES:
        raise ExportError(
            f"--to mahimahi: the traces may have {bits // _BITS:,} lines, and at most {_MOST_LINES:,} are "
            "written; shorten run.duration"
        )


def _notes(job: ExportJob, chosen: Sequence[int]) -> list[str]:
    """What a trace does not say of these links."""
    changes = [event.change for event in job.setup.events]
    notes = ["routes, transports and traffic of the scenario: a trace is of one link"]
    for kind, words in _CHANGING.items():
        touched = {link for change in changes if isinstance(change, kind) for link in change.links}
        if not touched.isdisjoint(chosen):
            notes.append(words)
    return notes + not_in_a_network_file(job.layout)


_CHANGING: Final[Mapping[type[DelayChange | LossChange | QueueChange], str]] = {
    DelayChange: "a delay that changes: mm-delay has one, and the table that of the beginning",
    LossChange: "a loss that changes: mm-loss has one, and the table that of the beginning",
    QueueChange: "a queue that changes",
}
