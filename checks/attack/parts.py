"""The parts of the attack: what each tries, prints and counts."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import faults
import inputs
import interrupts
import invariants
import mutants
import orders
import places
import two_users


@dataclass(frozen=True)
class Report:
    """What a part came to."""

    tried: int
    defects: int
    texts: dict[str, str] = field(default_factory=dict)
    """For the page, by the names there."""
    left_out: str = ""
    """Why nothing was tried, after "because"."""


Part = Callable[[argparse.Namespace], Report]


def left_out(reports: Mapping[str, Report]) -> str:
    """A sentence for the page on the parts that were not tried; empty where all were."""
    why = [(name, reports[name].left_out if name in reports else "") for name in PARTS]
    names = [
        f"{name} (because {reason})" if reason else name
        for name, reason in why
        if reason or name not in reports
    ]
    return f" Parts that were left out: {', '.join(names)}." if names else ""


def page_of(template: str, tried: Iterable[str]) -> str:
    """The page's text without the sections of the parts that were not tried."""
    head, *sections = template.split("\n## ")
    texts = [f"{{{text}}}" for name in tried for text in TEXTS[name]]
    kept = [section for section in sections if any(text in section for text in texts)]
    return "\n## ".join([head, *kept])


def counted(number: int, noun: str, nouns: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def code(text: str) -> str:
    """Text as code in Markdown, also with backticks."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def _inputs(options: argparse.Namespace) -> Report:
    numbers = range(options.mutants) if options.only is None else [options.only]
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in mutants.SHARES}
    begin = time.monotonic()
    for done, verdict in enumerate(inputs.attack(numbers, options.seed, options.folder, options.jobs), 1):
        kind = mutants.kind_of(verdict.number)
        counts[kind][verdict.outcome] += 1
        if verdict.outcome in inputs.DEFECTS:
            last = (verdict.detail.strip().splitlines() or [""])[-1][:150]
            kept = options.folder / f"{verdict.outcome}-{verdict.number}"
            _say(f"{verdict.outcome}: {kind}, mutant {verdict.number} of seed {options.seed}, {kept}: {last}")
        if done % 1000 == 0:
            _say(f"{done:,} mutants in {time.monotonic() - begin:.0f} s")
    columns = ("done", "refused", "in part", "interrupted", *inputs.DEFECTS)
    total = sum(counts.values(), Counter())
    rows = [
        [kind, f"{of.total():,}", *(f"{of[name]:,}" for name in columns)]
        for kind, of in [*counts.items(), ("all", total)]
    ]
    shown = table(("input", "mutants", *columns), rows)
    _say(shown)
    return Report(total.total(), sum(total[name] for name in inputs.DEFECTS), {"inputs": shown})


def _scenarios(options: argparse.Namespace) -> Report:
    covered: Counter[str] = Counter()
    checked, clean, studied, drawn = 0, 0, 0, 0
    for finding in invariants.check_all(options.scenarios, options.seed, options.jobs):
        covered.update(finding.covered)
        checked, drawn = checked + 1, drawn + finding.drawn
        clean += not finding.complaints
        studied += finding.studied
        for complaint in finding.complaints:
            _say(f"scenario {finding.number} of seed {options.seed}: {complaint}")
    text = (
        f"Of {counted(checked, 'random scenario')}, {counted(clean, 'is', 'are')} clean. "
        f"{counted(studied, 'was', 'were')} run as a study, too.\n"
        f"{drawn:,} were drawn, because the program is left to say what does not go together."
    )
    _say(text)
    rows = [[name, str(count)] for name, count in sorted(covered.items())]
    return Report(checked, checked - clean, {"clean": text, "scenarios": table(("with", "scenarios"), rows)})


def _orders(options: argparse.Namespace) -> Report:
    violations = 0
    for finding in orders.check_all(options.orders, options.seed, options.jobs):
        violations += len(finding.complaints)
        for complaint in finding.complaints:
            _say(f"scenario {finding.number} of the orders of seed {options.seed}: {complaint}")
    text = orders.told(options.orders, violations)
    _say(text)
    return Report(options.orders, violations, {"orders": text})


def _faults(options: argparse.Namespace) -> Report:
    outcomes = faults.attack(
        options.faults, options.kills, options.seed, workers=options.jobs, chosen=options.command, say=_say
    )
    outcome_counts = faults.counts(outcomes)
    numbers = [(name, count) for name, count in outcome_counts.items() if isinstance(count, int)]
    tables = [(name, of) for name, of in outcome_counts.items() if isinstance(of, dict)]
    numbers += [(f"{name}: {of}", count) for name, counts in tables for of, count in counts.items()]
    wrong = sum(bool(outcome.complaints) for outcome in outcomes)
    text = f"Of {counted(len(outcomes), 'fault')}, {counted(wrong, 'is', 'are')} not answered like that."
    _say(text)
    shown = table(("fault", "count"), [[name, f"{count:,}"] for name, count in numbers])
    return Report(len(outcomes), wrong, {"wrong": text, "faults": shown})


def _lines(options: argparse.Namespace) -> Report:
    outcomes = interrupts.check_all(
        options.lines, options.seed, workers=options.jobs, chosen=options.command, say=_say
    )
    wrong = sum(bool(outcome.complaints) for outcome in outcomes)
    text = f"Otherwise: {wrong} of {counted(len(outcomes), 'line')}."
    _say(text)
    columns = ("lines", *interrupts.STATUSES.values(), "wrong")
    answers = interrupts.counts(outcomes)
    rows = [[name, *(f"{of[column]:,}" for column in columns)] for name, of in answers.items()]
    return Report(len(outcomes), wrong, {"otherwise": text, "lines": table(("command", *columns), rows)})


def _places(options: argparse.Namespace) -> Report:
    answers: dict[str, Counter[str]] = {}
    tried, wrong = 0, 0
    for outcome in places.check_all(options.jobs, options.command):
        tried, wrong = tried + 1, wrong + bool(outcome.wrong)
        of = answers.setdefault(outcome.command, Counter())
        of.update(["pairs", outcome.answer] + ["wrong"] * bool(outcome.wrong))
        for complaint in outcome.wrong:
            _say(f"{outcome.command}, {outcome.case}, any seed: {complaint}")
    text = f"With something touched or lost: {wrong} of {counted(tried, 'pair')} of a command and a case."
    _say(text)
    columns = ("pairs", "done", "refused", "interrupted", "wrong")
    rows = [[name, *(f"{of[column]:,}" for column in columns)] for name, of in answers.items()]
    return Report(tried, wrong, {"touched": text, "places": table(("command", *columns), rows)})


def _users(options: argparse.Namespace) -> Report:
    if os.geteuid() != 0:
        _say("users: not tried, because that needs root")
        return Report(0, 0, left_out="it needs root")
    chosen = [name for name in two_users.COMMANDS if not options.command or name in options.command]
    with tempfile.TemporaryDirectory(prefix="two-users-") as name:
        Path(name).chmod(0o755)
        wrong = two_users.attack(options.rounds, Path(name), places.INPUTS, chosen)
    for complaint in wrong:
        _say(f"{complaint} (any seed)")
    tried = 2 * len(chosen) * options.rounds
    text = f"Wrong: {len(wrong)} of {counted(tried, 'round')}."
    _say(f"two users: {text}")
    return Report(tried, len(wrong), {"users": text})


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


PARTS: dict[str, Part] = {
    "inputs": _inputs,
    "scenarios": _scenarios,
    "orders": _orders,
    "faults": _faults,
    "lines": _lines,
    "places": _places,
    "users": _users,
}
"""By the names that ``--parts`` takes."""
TEXTS = {
    "inputs": ("inputs",),
    "scenarios": ("clean", "scenarios"),
    "orders": ("orders",),
    "faults": ("wrong", "faults"),
    "lines": ("otherwise", "lines"),
    "places": ("touched", "places"),
    "users": ("users",),
}
"""The texts of each part on the page, in its section."""
