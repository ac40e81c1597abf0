"""The page of worst-case loads, for those who decide on routing or capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch.media.columns import FULL
from anabranch.media.page.sections import page
from anabranch.media.palette import OVERLOAD
from anabranch.media.pieces import Article, Card, DataTable, Section, counted
from anabranch.media.texts import printable
from anabranch.report.load_map import load_map
from anabranch.report.style import picture, styled
from anabranch.report.style import plain as drawn
from anabranch.report.views.loads import cutting, load_tables, overloading, percent, severity
from anabranch.results.folders import write_whole
from anabranch.text.units import plain, with_unit

if TYPE_CHECKING:
    from anabranch.plans.failure_loads import FailureLoad
    from anabranch.plans.worst_loads import LoadChange, LoadChanges, WorstLoads

_LOAD, _BEFORE = "#0072B2", "#999999"
_MOST_BARS = 25
_PLACED = ("links", "failures", "matrix", "change_of_links", "change_of_failures")
"""Tables that have a place among the words; any other one has a section of its own behind them."""


def save_load_page(
    path: Path | str, loads: WorstLoads, changes: LoadChanges | None = None, *, warnings: Sequence[str] = ()
) -> Path:
    """Writes the page, one file that fetches nothing.

    Args:
        path: the file.
        loads: of the scenario, with failures.
        changes: against another plan.
        warnings: what must be known about the numbers.

    Raises:
        ResultError: if it cannot be written.
    """
    return write_whole(Path(path), load_page(loads, changes, warnings=warnings).encode())


def load_page(loads: WorstLoads, changes: LoadChanges | None = None, *, warnings: Sequence[str] = ()) -> str:
    """The page as HTML; arguments as of :func:`save_load_page`."""
    link = loads.worst.link
    tables = {table.name: table for table in load_tables(loads, link, changes)}
    whose = "the highest load that any traffic within the bounds can give it"
    behind = "One matrix within the bounds that gives the worst link its load. Others may do so, too."
    heading = f"Worst case with {loads.links_up}"
    if loads.matrix_name is not None:
        whose = f"its load by the traffic of {loads.matrix_name}"
        behind = f"What of {loads.matrix_name} crosses the most loaded link."
        heading = f"Loads with {loads.links_up}"
    shown = (
        f"For each link, {whose}. The map shows both directions of a link side by side, and beside it the "
        "traffic that loads the worst link most."
    )
    drawn_map = picture(f"Worst case of every link, and the traffic behind {link}", load_map(loads))
    worst = Section("worst", heading, [shown], [tables["links"]], [drawn_map], figures_first=True)
    sections = [
        *([] if changes is None else [_before_and_after(changes, tables)]),
        worst,
        *([_failures(loads, tables)] if loads.failures else []),
        Section("matrix", f"Traffic behind {link}", [behind], [tables["matrix"]]),
        *(Section(name, table.caption, [], [table]) for name, table in tables.items() if name not in _PLACED),
        _method(loads, changes),
    ]
    what = "worst-case loads" if loads.matrix_name is None else f"loads by {loads.matrix_name}"
    title = f"{loads.title or 'Loads of links'}: {what}"
    lead = [*load_words(loads, changes), *(f"Note: {warning}" for warning in warnings)]
    return page(Article(title, lead, load_cards(loads, changes), sections))


def load_words(loads: WorstLoads, changes: LoadChanges | None = None) -> list[str]:
    """The answer in sentences."""
    worst = loads.worst
    while_up = "while all links are up"
    if loads.out_of_service:
        while_up = f"with {loads.links_up}"
    fits = "No link can be overloaded" if loads.max_load <= FULL else "Links can be overloaded"
    most = "the most that traffic within the bounds can load any link is"
    if loads.matrix_name is not None:
        fits = "No link is overloaded" if loads.max_load <= FULL else "Links are overloaded"
        most = f"the most that the traffic of {loads.matrix_name} loads any link is"
    lead = [
        f"{fits} {while_up}: {most} "
        f"{percent(loads.max_load)} of its capacity, on {worst.link} "
        f"({with_unit(worst.capacity_mbps, 'Mbps')})."
    ]
    failure = loads.worst_failure
    if loads.failures and failure is not None:
        bad, cut = overloading(loads), cutting(loads)
        single = " of a single link" if loads.failure_kinds == ("links",) else ""
        another = "another one" if single else "a link"
        sentence = f"{bad} of {len(loads.failures)} failures{single} can overload {another}"
        none = f"No failure{single} overloads {another}"
        cuts = " None of them cuts a pair off."
        if cut:
            cuts = (
                f" But {cut} of {len(loads.failures)} failures cut pairs off: these pairs have no route "
                "until the repair, and their traffic is in no load."
            )
        lead.append(
            f"{sentence if bad else none}: the worst is "
            f"{failure.name}{' (both directions)' if failure.kind == 'links' else ''}, with "
            f"{percent(failure.load)} on "
            f"{failure.worst_link}.{cuts}"
        )
    if changes is not None:
        lead.append(_changed(changes))
    return lead


def _changed(changes: LoadChanges) -> str:
    before, after = changes.before, changes.after
    more = sum(one.change > 5e-4 for one in changes.links)
    less = sum(one.change < -5e-4 for one in changes.links)
    return (
        f"{_way(before.max_load, after.max_load)} from {percent(before.max_load)} with {before.scheme} to "
        f"{percent(after.max_load)} with {after.scheme}; {counted(less, 'link')} can be loaded less than "
        f"before, {more} more.{_cut_off(changes)}"
    )


def _cut_off(changes: LoadChanges) -> str:
    """How many failures cut pairs off, where that changes: a load without their traffic is no better one."""
    before, after = cutting(changes.before), cutting(changes.after)
    if before == after:
        return ""
    return (
        f" Before, {counted(before, 'failure')} cut pairs off, after, {after}; loads without the traffic of "
        "these pairs are no sign of room."
    )


def _way(before: float, after: float) -> str:
    if abs(after - before) < 5e-4:
        return "The worst case stays the same,"
    return "The worst case rises" if after > before else "The worst case falls"


def load_cards(loads: WorstLoads, changes: LoadChanges | None = None) -> list[Card]:
    """The numbers at the top."""
    full = sum(link.load > FULL for link in loads.links)
    what = "worst case" if loads.matrix_name is None else "highest load"
    cards = [
        Card(f"{what}, {loads.links_up}", percent(loads.max_load), loads.worst.link),
        Card(
            "links that can be overloaded" if loads.matrix_name is None else "links that are overloaded",
            f"{full} of {len(loads.links)}",
            loads.links_up,
        ),
    ]
    failure = loads.worst_failure
    if loads.failures and failure is not None:
        of_all, kinds = f"of {len(loads.failures)}", _kinds(loads)
        cards += [
            Card("worst failure", percent(failure.load), f"{failure.name} down"),
            Card("failures that overload", f"{overloading(loads)} {of_all}", kinds),
            Card("failures that cut pairs off", f"{cutting(loads)} {of_all}", kinds),
        ]
    if changes is not None:
        note = f"{changes.before.scheme}, then {changes.after.scheme}"
        both = f"{percent(changes.before.max_load)} → {percent(changes.after.max_load)}"
        cards.insert(0, Card("worst case, before → after", both, note))
    return cards


def _kinds(loads: WorstLoads) -> str:
    """What fails, in words."""
    return "single links" if loads.failure_kinds == ("links",) else ", ".join(loads.failure_kinds)


def _before_and_after(changes: LoadChanges, tables: Mapping[str, DataTable]) -> Section:
    """Which links and failures become worse or better."""
    shown = [tables[name] for name in ("change_of_links", "change_of_failures") if name in tables]
    note = "Grey: before; coloured: after, orange above the capacity."
    figures = [picture("The links that change most", _pairs(changes.links, "all links up"), note=note)]
    if changes.failures:
        drawn_failures = _pairs(changes.failures, "highest load of any link")
        figures.append(picture("The failures that change most", drawn_failures))
    words = (
        f"Before: {changes.before.title or 'the other scenario'}, {changes.before.scheme}. After: "
        f"{changes.after.title or 'this scenario'}, {changes.after.scheme}. Each load is the worst case of "
        "its own routes, so that one traffic matrix need not cause both."
    )
    return Section("change", "Before and after", [words], shown, figures, figures_first=True)


def _failures(loads: WorstLoads, tables: Mapping[str, DataTable]) -> Section:
    ranked = sorted(loads.failures or (), key=severity)
    names = [case.name for case in ranked[:_MOST_BARS]]
    figure = _bars(names, ranked)
    shown = f"the worst {_MOST_BARS} of {len(ranked)}" if len(ranked) > _MOST_BARS else f"all {len(ranked)}"
    return Section(
        "failures",
        "What each failure does",
        [f"Each row takes down what it names ({_kinds(loads)}; links in both directions), and gives the "
         "highest load of any other link for the worst traffic that is left. Traffic without a route is in "
         "no load. Rows that overload a link or cut pairs off come first.", *_squeezed(loads)],
        [tables["failures"]],
        [picture(f"Highest load while a link is down, {shown}", figure,
                       note="The line is the capacity; orange bars are above it.")],
        figures_first=True,
    )  # fmt: skip


def _squeezed(loads: WorstLoads) -> list[str]:
    """What the columns of goodput are."""
    if loads.matrix_name is None:
        return []
    return [
        "Squeezed pairs have more traffic than a full link on their way lets through. Their goodput is that "
        "of flows in proportion to the traffic which share full links evenly (max-min fairness)."
    ]


def _method(loads: WorstLoads, changes: LoadChanges | None) -> Section:
    facts = "; ".join(
        f"{name.replace('_', ' ')} {plain(value, 6) if isinstance(value, float) else value}"
        for name, value in loads.facts.items()
    )
    traffic = (
        "the worst traffic matrix within the bounds of [routing.demand], found by a linear program for each"
        if loads.matrix_name is None
        else f"the one traffic matrix of [routing.demand], {loads.matrix_name}"
    )
    words = [
        f"Nothing is simulated. The load of a link is the traffic over its capacity, for {traffic}. Links at "
        "hosts are in no load. Above 100 %, traffic is queued and lost, or TCP holds it back.",
        "After a failure, schemes that take a solver leave dead paths out and share their traffic in "
        "proportion over the others; other schemes plan anew.",
    ]
    if facts:
        words.append(f"What the planner says of {loads.scheme}: {facts}.")
    if changes is not None and changes.before.warnings:
        words.append("Of the routes before: " + "; ".join(changes.before.warnings))
    return Section("method", "How to read the numbers", words)


def _bars(names: Sequence[str], cases: Sequence[FailureLoad]) -> Figure:
    with styled():
        figure, axes = _axes(len(names))
        values = [100 * case.load for case in cases[: len(names)]]
        colors = [OVERLOAD if value > 100 * FULL else _LOAD for value in values]
        axes.barh(range(len(names)), values, color=colors, height=0.7)
        _finish(axes, names, "highest load in % of the capacity")
    return figure


def _pairs(changes: Sequence[LoadChange], what: str) -> Figure:
    """A line from each load before to that after, the largest changes first."""
    ranked = sorted(changes, key=lambda one: -abs(one.change))[:_MOST_BARS]
    with styled():
        figure, axes = _axes(len(ranked))
        for row, one in enumerate(ranked):
            color = OVERLOAD if one.after > FULL else _LOAD
            axes.plot([100 * one.before, 100 * one.after], [row, row], color=color, linewidth=1.6, zorder=2)
            axes.plot(100 * one.before, row, "o", color=_BEFORE, zorder=3)
            axes.plot(100 * one.after, row, "o", color=color, zorder=4)
        _finish(axes, [one.name for one in ranked], f"load in % of the capacity, {what}")
    return figure


def _axes(rows: int) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, 0.7 + 0.2 * max(rows, 3)), layout="constrained")
    return figure, figure.subplots()


def _finish(axes: Axes, names: Sequence[str], label: str) -> None:
    axes.axvline(100, color="#404040", linewidth=1.0, linestyle="--")
    axes.set_yticks(range(len(names)), [drawn(printable(name)) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(label)
