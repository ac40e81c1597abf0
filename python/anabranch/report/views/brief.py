"""A network for those who decide: today, growth, the worst failures, what to do and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anabranch.media.json import records
from anabranch.media.pieces import Card, Cell, DataTable, Piece, Text, columns, counted
from anabranch.plans.worst_loads import years_until_full
from anabranch.report.views.loads import cutting, load_tables, overloading, percent, severity, state
from anabranch.text.units import plain

if TYPE_CHECKING:
    from anabranch.plans.brief import Brief
    from anabranch.plans.measures import Measures
    from anabranch.plans.worst_loads import LinkLoad, WorstLoads

_NOT_SHOWN = ("which", "kind", "rerouted_pairs", "squeezed_pairs", "squeezed_mbps", "predicted_goodput_mbps")
"""Columns of failures that a page for those who decide does not need."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
MOST = 10
"""Rows of each table: a page has no room for more."""


def brief_document(title: str, brief: Brief) -> dict[str, Any]:
    """The words and the tables as a document of JSON."""
    tables = {table.name: records(table) for table in brief_tables(brief)}
    return {"title": title, "words": brief_words(brief), "warnings": list(brief.warnings)} | tables


def brief_words(brief: Brief) -> list[str]:
    """The answer in sentences, the first one first."""
    loads = brief.present
    load = (
        "highest load" if loads.matrix_name is not None else "highest load by any traffic within the bounds"
    )
    words = [
        f"Today the {load} is {percent(loads.max_load)}, on {loads.worst.link}, with {loads.links_up}. "
        f"{_failure_words(loads)}"
    ]
    if brief.growth_a_year is not None:
        words.append(_growth_words(brief, brief.growth_a_year))
    if brief.planned is not None and brief.measures is not None:
        words.append(_plan_words(brief.planned, brief.measures))
    else:
        words.append("What to do is not looked at: no plan was given (--plan).")
    return words


def _failure_words(loads: WorstLoads) -> str:
    failures, bad, cut = loads.failures or (), overloading(loads), cutting(loads)
    worst = loads.worst_failure
    if worst is None:
        return "No failures were looked at."
    lost = f", {cut} cut pairs off" if cut else ", none cuts pairs off"
    overload = f"{bad or 'none'} overload{'s' if bad <= 1 else ''} a link{lost}"
    return (
        f"Of {len(failures)} failures ({', '.join(loads.failure_kinds)}) {overload}; the highest load is "
        f"{percent(worst.load)}, on {worst.worst_link} without {worst.name}."
    )


def _growth_words(brief: Brief, growth: float) -> str:
    parts = []
    for when, loads in brief.states:
        alone = _years(years_until_full(loads.max_load, growth))
        worst = loads.worst_failure
        failed = (
            ""
            if worst is None
            else f", and in the worst failure {_years(years_until_full(worst.load, growth))}"
        )
        parts.append(
            f"{'With the plan' if when == 'planned' else 'As it is'} the first link is full {alone}{failed}"
        )
    return f"Traffic grows by {percent(growth)} a year. {'. '.join(parts)}."


def _years(years: float | None) -> str:
    if years is None:
        return "never"
    return "at once" if years == 0 else f"in {plain(years, 2)} years"


def _plan_words(planned: WorstLoads, measures: Measures) -> str:
    does = []
    if measures.costs:
        does.append(f"other costs of {counted(len(measures.costs), 'interface')}")
    if measures.capacities:
        does.append(f"other capacities of {counted(len(measures.capacities), 'link')}")
    if not does:
        return "The plan is the network as it is."
    return (
        f"The plan has {' and '.join(does)}. By it the highest load is {percent(planned.max_load)}. "
        f"{_failure_words(planned)} {price_words(measures)}"
    )


def price_words(measures: Measures) -> str:
    """The price of a plan, in a sentence."""
    bought = [change for change in measures.capacities if change.after_mbps > change.before_mbps]
    if not bought:
        return "Nothing is to be bought."
    unit = f" {measures.currency}" if measures.currency else ""
    sentence = f"What is to be bought costs {measures.price:,.0f}{unit}."
    if len(measures.unpriced) == len(bought):
        return "What is to be bought has no price here (--prices)."
    if measures.unpriced:
        sentence = (
            f"{sentence[:-1]}, without {counted(len(measures.unpriced), 'link')} whose price is not known."
        )
    return sentence


def brief_cards(brief: Brief) -> list[Card]:
    """The numbers at the top: each as it is, and as it is planned."""
    rows = [_facts(loads, brief.growth_a_year) for _, loads in brief.states]
    cards = [
        Card(name, " → ".join(value.replace(" ", _NO_BREAK) for value in values), note)
        for (name, note), *values in zip(
            [(name, note) for name, _, note in rows[0]],
            *([value for _, value, _ in row] for row in rows),
            strict=True,
        )
    ]
    if brief.measures is not None:
        unit = f" {brief.measures.currency}" if brief.measures.currency else ""
        unknown = brief.measures.unpriced
        price = "not known" if unknown and not brief.measures.price else f"{brief.measures.price:,.0f}{unit}"
        note = f"{len(unknown)} without a price" if unknown else "of the plan"
        cards.append(Card("price", price, note))
    return cards


def _facts(loads: WorstLoads, growth: float | None) -> list[tuple[str, str, str]]:
    """Names, values and notes of a network."""
    failures, worst = loads.failures or (), loads.worst_failure
    facts = [("highest load", percent(loads.max_load), loads.worst.link)]
    if worst is not None:
        facts += [
            ("worst failure", percent(worst.load), f"{worst.name} down"),
            ("failures that overload", str(overloading(loads)), f"of {len(failures)}"),
            ("failures that cut off", str(cutting(loads)), f"of {len(failures)}"),
        ]
    if growth is not None:
        full = _years(years_until_full(loads.max_load, growth))
        facts.append(("first link is full", full, "with nothing down"))
    if growth is not None and worst is not None:
        full = _years(years_until_full(max(loads.max_load, worst.load), growth))
        facts.append(("first link is full in a failure", full, "in the worst one"))
    return facts


def brief_tables(brief: Brief) -> list[DataTable]:
    """The tables of the page and of its workbook."""
    tables = []
    if brief.planned is not None:
        tables.append(_before_and_after(brief))
    tables += [_first_full(brief), *([_worst_failures(brief)] if brief.present.failures else [])]
    if brief.measures is not None:
        tables += _measure_tables(brief.measures)
    return tables


def _before_and_after(brief: Brief) -> DataTable:
    """Each fact today and by the plan."""
    rows = [_facts(loads, brief.growth_a_year) for _, loads in brief.states]
    # Texts, which workbooks and files of CSV have as well.
    cells = list(
        zip([name for name, _, _ in rows[0]], *([value for _, value, _ in row] for row in rows), strict=True)
    )
    return DataTable.of_rows(
        "plan", "Today, and by the plan", columns("measure", "today", "by_plan", table="brief"), cells
    )


def _first_full(brief: Brief) -> DataTable:
    """The links that are full first, the worst failure of each counted; of both directions one."""
    growth, loads = brief.growth_a_year, brief.present
    rows: list[Sequence[Cell]] = []
    for one in _first_of_pairs(loads)[:MOST]:
        most = max(one.load, one.failed_load or 0.0)
        years = () if growth is None else (years_until_full(one.load, growth), years_until_full(most, growth))
        rows.append((one.link, one.capacity_mbps, one.load, most, state(most), one.failed_by, *years))
    # The state is that in the worst failure: beside the load of today it would be read as today's.
    names = ("link", "capacity_mbps", "load_percent", "failed_load_percent", "failed_state", "failed_by")
    grown = "" if growth is None else f"; traffic grows by {percent(growth)} a year"
    return DataTable.of_rows(
        "growth",
        f"The links that are full first{grown}",
        columns(
            *names, *(() if growth is None else ("full_in_years", "full_in_failure_years")), table="loads"
        ),
        rows,
    )


def _first_of_pairs(loads: WorstLoads) -> list[LinkLoad]:
    """The links by their highest loads, of both directions the one with the higher load."""
    seen: set[tuple[frozenset[str], str]] = set()
    first: list[LinkLoad] = []
    for one in sorted(loads.links, key=lambda one: -max(one.load, one.failed_load or 0.0)):
        edge = (frozenset((one.source, one.destination)), one.link.partition("#")[2])
        if edge not in seen:
            seen.add(edge)
            first.append(one)
    return first


def _worst_failures(brief: Brief) -> DataTable:
    loads = brief.present
    (table,) = (one for one in load_tables(loads, loads.worst.link) if one.name == "failures")
    ranked = sorted(loads.failures or (), key=severity)
    values = tuple(tuple(column[:MOST]) for column in table.values)
    shown = f"The {min(MOST, len(ranked))} worst of {len(ranked)} failures"
    first = replace(
        table, caption=shown, values=values, chart=None, things="failures", most=MOST,
        searchable=False, boxed=False, choices=(),
    )  # fmt: skip
    if brief.planned is None:
        return first.without(*_NOT_SHOWN)
    after = {(case.kind, case.name): case.load for case in brief.planned.failures or ()}
    planned = tuple(after.get((case.kind, case.name)) for case in ranked[:MOST])
    names = [about.name for about in first.columns]
    place = names.index("load_percent") + 1
    return replace(
        first,
        columns=(
            *first.columns[:place],
            *columns("load_by_plan_percent", table="loads"),
            *first.columns[place:],
        ),
        values=(*first.values[:place], planned, *first.values[place:]),
    ).without(*_NOT_SHOWN)


def _measure_tables(measures: Measures) -> list[DataTable]:
    tables = []
    if measures.capacities:
        rows = [(one.link, one.before_mbps, one.after_mbps, one.price) for one in measures.capacities]
        names = ("link", "capacity_before_mbps", "capacity_after_mbps", "price")
        unit = f", prices in {measures.currency}" if measures.currency else ""
        caption = f"Capacity to buy, both directions{unit}"
        tables.append(
            DataTable.of_rows("capacity", caption, columns(*names, table="loads"), rows, things="links")
        )
    if measures.costs:
        costs = [(one.link, one.before, one.after) for one in measures.costs]
        about = columns("link", "cost_before", "cost_after", table="loads")
        tables.append(
            DataTable.of_rows("costs", "Costs of interfaces to change", about, costs, things="interfaces")
        )
    return tables


def brief_pieces(brief: Brief) -> list[Piece]:
    """The words and the tables for a terminal."""
    return [*(Text(word) for word in brief_words(brief)), *brief_tables(brief)]
