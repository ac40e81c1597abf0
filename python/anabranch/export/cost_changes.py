"""The commands that lead from present costs to planned ones in a safe order, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from anabranch.errors import ExportError
from anabranch.media.pieces import DataTable, columns
from anabranch.plans.cost_changes import CostChanges, CostStep, ordered_changes
from anabranch.plans.igp import CostLoads
from anabranch.routing.router_network import RouterNetwork
from anabranch.text.comments import comment
from anabranch.text.csv_cells import csv_text
from anabranch.text.units import plain

if TYPE_CHECKING:
    from anabranch.export.job import Export, ExportJob
    from anabranch.export.layout import Interface

_COLUMNS = (
    "step", "router", "interface", "link", "cost_before", "cost_after",
    "load_meanwhile_percent", "worst_link", "load_percent",
)  # fmt: skip
_MOST_NAMED = 5


def add_changes(job: ExportJob, command: str, planned: Sequence[int], export: Export) -> str:
    """Adds the files and the table of a change to an export.

    Args:
        job: with present costs.
        command: of an interface, before its cost.
        planned: cost of each link.
        export: gets ``change.txt``, ``back.txt`` and ``change.csv``.

    Returns:
        What the README says of them.

    Raises:
        ExportError: if there is no traffic whose loads could be checked.
    """
    setup, present = job.setup, job.present
    assert present is not None  # noqa: S101 - whoever calls has looked
    if setup.demand is None:
        raise ExportError(
            "--present looks at the loads on the way, and the scenario has no traffic for them; give a "
            "matrix or "
            'bounds: [routing.demand] with matrix = { from = "file:tm.csv" }'
        )
    routers = RouterNetwork.of(setup)
    links = np.array(routers.links, np.int64)
    now, then = np.array(present.by_link, np.int64)[links], np.array(planned, np.int64)[links]
    changes = ordered_changes(CostLoads(routers, setup.demand.matrix is not None), now, then)
    ends = [job.layout.sender[link] for link in routers.links]
    names = [setup.links[link].name for link in routers.links]
    rows = [
        (
            number, job.layout.names[ends[step.arc].node], ends[step.arc].name, names[step.arc], step.before,
            step.after, None if step.loops else step.load_meanwhile, names[step.worst_arc], step.load_after,
        )
        for number, step in enumerate(changes.steps, start=1)
    ]  # fmt: skip
    words = change_words(changes, present.source, names)
    table = DataTable.of_rows(
        "changes", f"Changes from {present.source}, in their order", columns(*_COLUMNS, table="loads"), rows,
        things="changes (change.csv has all)", most=40,
    )  # fmt: skip
    export.tables.append(table)
    export.remarks += words
    export.files["change.csv"] = csv_text(table_header(), [_file_row(row) for row in rows])
    say = _Commands(job, command, ends, names, len(changes.steps)).of
    steps = list(changes.steps)
    export.files["change.txt"] = _text(words, steps, say)
    export.files["back.txt"] = _text(
        [
            f"Back to the costs of {present.source}: the same steps from the last to the first, as safe as "
            "these."
        ],
        [_reversed(changes, step, place) for place, step in reversed(list(enumerate(steps)))],
        say,
    )
    return (
        "## To change what runs\n\n"
        + " ".join(words)
        + (
            "\n\n`change.txt` has the commands of each step, `back.txt` those that take all of it back, and "
            "`change.csv` the loads. Wait after each step until all routers have it (`show ip route "
            "summary` is "
            "quiet for some seconds).\n"
        )
    )


def table_header() -> tuple[str, ...]:
    """The columns of ``change.csv``; loads are in percent of the capacity."""
    return _COLUMNS


def _file_row(row: Sequence[object]) -> list[object]:
    *rest, meanwhile, worst, after = row
    return [*rest, "" if meanwhile is None else 100 * float(str(meanwhile)), worst, 100 * float(str(after))]


def _reversed(changes: CostChanges, step: CostStep, place: int) -> CostStep:
    """The step back: the same mixes of routes, so that loads meanwhile are the same."""
    load_after = changes.steps[place - 1].load_after if place else changes.load_before
    return CostStep(
        step.arc, step.after, step.before, step.load_meanwhile, step.worst_arc, load_after, step.loops
    )


class _Commands:
    """Writes the lines of a step."""

    def __init__(
        self, job: ExportJob, command: str, ends: Sequence[Interface], names: Sequence[str], count: int
    ) -> None:
        self.job, self.command, self.ends, self.names, self.count = job, command, ends, names, count

    def of(self, number: int, step: CostStep) -> str:
        """The lines of a step with its number."""
        end = self.ends[step.arc]
        meanwhile = f"at most {_percent(step.load_meanwhile)} meanwhile on {self.names[step.worst_arc]}"
        if step.loops:
            meanwhile = "PACKETS MAY GO ROUND meanwhile"
        return (
            comment(
                f"Step {number} of {self.count}, on {self.job.layout.names[end.node]}: "
                f"{self.names[step.arc]} from {step.before} to {step.after}; {meanwhile}, then "
                f"{_percent(step.load_after)}"
            )
            + f"\nvtysh -c 'configure terminal' -c 'interface {end.name}' -c '{self.command} {step.after}'\n"
        )


def _text(words: Sequence[str], steps: Sequence[CostStep], say: Callable[[int, CostStep], str]) -> str:
    head = "".join(f"{comment(word)}\n" for word in words)
    wait = "# After each step wait until all routers have it.\n"
    return "\n".join([head + wait, *(say(number, step) for number, step in enumerate(steps, start=1))])


def change_words(changes: CostChanges, source: str, names: Sequence[str]) -> list[str]:
    """A change in sentences: how many costs, whether it is safe, and what is not."""
    if not changes.steps:
        return [f"Nothing is to be changed: all costs are those of {source}."]
    one = "cost differs" if changes.changed == 1 else "costs differ"
    highest = max(changes.load_before, changes.load_after, *(step.load_meanwhile for step in changes.steps))
    words = [
        f"{changes.changed} {one} from {source}; the highest load is {_percent(changes.load_before)} "
        "before and "
        f"{_percent(changes.load_after)} after."
    ]
    if changes.uses_increments:
        why = "No order of whole changes is safe"
        if not changes.tried_all:
            why = f"No safe order of whole changes was found in {changes.trials:,} trials, which are not all"
        words.append(f"{why}; {len(changes.steps)} steps in increments take its place.")
    elif changes.overloads and changes.tried_all:
        words.append("No order of whole changes is safe, and no increments help.")
    if over := changes.overloads:
        named = "; ".join(
            f"step {changes.steps.index(step) + 1} {names[step.worst_arc]} {_percent(step.load_meanwhile)}"
            for step in over[:_MOST_NAMED]
        )
        more = f" and {len(over) - _MOST_NAMED} more" if len(over) > _MOST_NAMED else ""
        words.append(
            "NOT SAFE: packets do not go round, but while routers change some load may be above "
            f"{_percent(changes.allowed_load)}: {named}{more}. Change when there is less traffic."
        )
    else:
        words.append(
            f"On the way no packet can go round and no load is above {_percent(highest)}, in whatever "
            "order routers "
            "take each change."
        )
    return words


def _percent(load: float) -> str:
    return f"{plain(100 * load, 4)} %"
