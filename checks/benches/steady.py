"""Whether long runs repeat themselves, so that a part of them need not be simulated.

    python checks/benches/steady.py --out docs/steady.md

Runs long-lived flows over one bottleneck for 600 s, watches them as an engine would that skips what repeats,
and compares what it would have foretold with what has come.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path as File
from typing import Any

import numpy as np
from steady_paths import (
    BOTTLENECK,
    DURATION_S,
    LARGE_BUFFER,
    STEP_S,
    TRANSPORTS,
    Path,
    drawn,
    plain,
)
from steady_rules import (
    LONGEST_CYCLE_S,
    RULES,
    Errors,
    Floats,
    Known,
    Trace,
    after,
    before,
    errors,
    returns,
    trace,
)

from anabranch import __version__

FACTOR = 20
"""How much faster a run is to become: the rest is known after a twentieth of it."""
TOLERANCE = 0.01
FLOWS = (1, 2, 10)
PINGED = ("newreno", "cubic", "dctcp")
PARTS = ("plain", "ping", "random")
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

RETURNS = """
Flows of one transport over 100 Mbps and 20 ms, with room for one bandwidth-delay product, for {duration} s;
{seeds} runs each, whose flows start at other times within the first second. A cycle has come back where the
window of each flow was, in three cycles in a row, on average within the tolerance of what it was a cycle
before, and the queue within the same share of its room, with as many reductions of each flow in each cycle,
give or take one or a tenth, and at least one. All lengths between 0.5 and {longest} s are tried at every
step of 50 ms; multiples of a cycle are among them, so that the step hides none. Where no window is reduced,
nothing may have moved for 10 s. "Closest" is the least tolerance at which any cycle came back at any time,
in the best run and in the median of the runs. Then: how many runs came back within 1 % and within 5 %, and
when in the median. The last column is what would be wrong (95th percentile over flows) if those within 1 %
had gone on in their cycles.
"""
EARLY = """
The same runs. {early} s are simulated, and the rest goes on at the mean rates of the last half of that,
whether anything came back or not: this is all that a run can have seen that becomes {factor} times as fast.
The 95th percentile of the errors over flows and runs. In the last column, the standard deviation over the
mean of what like flows get side by side in the {duration} s of a whole run (median of the runs): how little
even that tells of what one such flow gets.
"""
PING = """
The first run of each, and {pings} that differ from it by one ping of 1500 bytes between two other hosts,
{early} to {last} s after the beginning. All that happens before the ping is the same to the last bit. How
far the end is apart is what nobody can foretell who has seen the beginning to within a packet.
"""
RANDOM = """
1 to 20 flows over one bottleneck of 5 to 50 Mbps, 5 to 100 ms there and back (in half of the scenarios up
to twice as long for some flows), with room for 0.25 to 2 bandwidth-delay products: drop-tail, CoDel,
FQ-CoDel or marks above a threshold, for {duration} s. A seventh has random loss of 1e-4, a seventh receive
windows that fill half of the path, a fifth mixed transports. Each run is simulated whole, and watched by
two rules as an engine would, up to its half. "The state comes back" is the rule above at 1 %. "Means have
settled": the mean goodput of each flow has a 95 % interval of 1 % to either side, by ten batches of the
last half of the time so far, which are taken to be independent. The errors are those of runs that go on at
these rates to their end, the 95th percentile over flows. Speed is by simulated time; runs without a skip
take their whole time in "all runs together".
"""


def at_most(values: Iterable[float], share: float = 0.95) -> float:
    """What so many of the values do not exceed; NaN without values."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan


def percent(value: float) -> str:
    """A share for the page; infinity is what did not happen."""
    return "" if math.isnan(value) else "none" if math.isinf(value) else f"{100 * value:.2f}"


def worst(outcome: Sequence[Errors]) -> tuple[str, str, str]:
    """The 95th percentiles: goodput of flows, of all flows together, and completion."""
    return (
        percent(at_most(value for one in outcome for value in one.goodput.tolist())),
        percent(at_most(one.total for one in outcome)),
        percent(at_most(value for one in outcome for value in one.completion.tolist())),
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of Markdown, names in two columns, and numbers to the right."""
    return [
        f"| {' | '.join(head)} |",
        "|---|---|" + "---:|" * (len(head) - 2),
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def section(title: str, text: str, *tables: list[str], **values: object) -> list[str]:
    """A section of the page."""
    filled = textwrap.fill(text.format(**values).strip(), 120, break_on_hyphens=False)
    return [f"## {title}", "", filled, "", *(line for lines in tables for line in lines)]


def watched(path: Path) -> Trace:
    """The trace of a run."""
    return trace(path.scenario(series=True).run(), BOTTLENECK, path.room, STEP_S)


@dataclass(frozen=True)
class Watched:
    """A plain run: how close it comes to itself, when, what is foretold, how far its flows are apart."""

    closest: float
    cycle_s: float
    reductions: float
    repeats: Known | None
    repeats_roughly: Known | None
    by_repeating: Errors | None
    early: Errors
    spread: float


def watch(path: Path) -> Watched:
    """Looks at one plain run."""
    whole = watched(path)
    returned = returns(whole, [TOLERANCE, 5 * TOLERANCE])
    expected, roughly = returned.first
    return Watched(
        returned.closest,
        returned.cycle * STEP_S,
        float(whole.reductions[-1].mean()),
        expected,
        roughly,
        errors(whole, expected) if expected else None,
        errors(whole, after(whole, DURATION_S / FACTOR)),
        float(whole.delivered[-1].std() / whole.delivered[-1].mean()),
    )


def when(outcome: Sequence[Known | None]) -> str:
    """How many were satisfied, and the median of when."""
    times = [expected.step * STEP_S for expected in outcome if expected]
    return f"{len(times)} of {len(outcome)}" + (f", {statistics.median(times):.0f} s" if times else "")


def plain_sections(each: Map, seeds: int) -> list[str]:
    """Whether plain runs come back to a state, and what is known after a twentieth of them."""
    back, early = [], []
    for transport in TRANSPORTS:
        for flows in FLOWS:
            runs: list[Watched] = list(each(watch, [plain(transport, flows, seed) for seed in range(seeds)]))
            best = min(runs, key=lambda run: run.closest)
            name = (f"`{transport}`", f"{flows}")
            row = (
                *name,
                f"{statistics.fmean(run.reductions for run in runs):.0f}",
                percent(best.closest),
                f"{best.cycle_s:.1f}" if best.cycle_s else "",
                percent(statistics.median(run.closest for run in runs)),
                when([run.repeats for run in runs]),
                when([run.repeats_roughly for run in runs]),
                worst([run.by_repeating for run in runs if run.by_repeating])[0],
            )
            back.append(row)
            spread = percent(statistics.median(run.spread for run in runs)) if flows > 1 else ""
            early.append((*name, *worst([run.early for run in runs]), spread))
            tell(f"{row} {early[-1]}")
    head = (
        *("transport", "flows", "reductions of a flow", "closest, %", "its cycle, s", "median of runs, %"),
        *("within 1 %", "within 5 %", "error of goodput, %"),
    )
    second = (
        *("transport", "flows", "goodput of a flow, %", "of all together, %", "completion of a flow, %"),
        "spread of whole runs, %",
    )
    facts = {"duration": DURATION_S, "seeds": seeds, "longest": f"{LONGEST_CYCLE_S:.0f}"}
    after_it = {"duration": DURATION_S, "early": DURATION_S // FACTOR, "factor": FACTOR}
    return [
        *section("Does the state come back?", RETURNS, table(head, back), **facts),
        *section("After a twentieth of the time", EARLY, table(second, early), **after_it),
    ]


def delivered(path: Path, ping_s: float | None) -> Floats:
    """Bytes that each flow has delivered at the end."""
    flows = path.scenario(series=False, ping_s=ping_s).run().flows
    return flows["delivered_bytes"].to_numpy().astype(np.float64)


def ping_section(each: Map, pings: int) -> list[str]:
    """How much of a run's rest is decided by what has been seen of it."""
    early = DURATION_S // FACTOR
    rows = []
    for transport in PINGED:
        for flows in FLOWS[1:]:
            path = plain(transport, flows, 0)
            times = [None, *(early + number for number in range(pings))]
            first, *others = each(partial(delivered, path), times)
            apart = [value for other in others for value in np.abs(other / first - 1).tolist()]
            together = [abs(other.sum() / first.sum() - 1) for other in others]
            values = (statistics.median(apart), at_most(apart), at_most(together))
            rows.append((f"`{transport}`", f"{flows}", *map(percent, values)))
            tell(f"{rows[-1]}")
    head = ("transport", "flows", "goodput of a flow, median, %", "95th percentile, %", "of all together, %")
    facts = {"pings": pings, "early": early, "last": early + pings - 1}
    return section("One packet more", PING, table(head, rows), **facts)


@dataclass(frozen=True)
class Judged:
    """A random run: its flows, and by each rule when it is satisfied and what is wrong then."""

    path: Path
    by_rule: dict[str, tuple[Known, Errors] | None]

    def simulated_s(self, rule: str) -> float:
        """What is left to simulate by a rule."""
        outcome = self.by_rule[rule]
        return (outcome[0].step + 1) * STEP_S if outcome else DURATION_S


def judge(seed: int) -> Judged:
    """Looks at one random run by all rules."""
    path = drawn(seed)
    whole = watched(path)
    half = before(whole, DURATION_S / 2)
    by_rule: dict[str, tuple[Known, Errors] | None] = {}
    for name, rule in RULES.items():
        expected = rule(half, TOLERANCE)
        by_rule[name] = (expected, errors(whole, expected)) if expected else None
    tell(f"{seed}: {path.flows} flows, " + ", ".join(f"{name}: {entry}" for name, entry in by_rule.items()))
    return Judged(path, by_rule)


def groups(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """The random runs by what they have in common."""
    rest = [one for one in judged if one.path.receive_buffer == LARGE_BUFFER]
    return {
        "all": list(judged),
        "small receive windows": [one for one in judged if one.path.receive_buffer != LARGE_BUFFER],
        "others, 1 flow": [one for one in rest if one.path.flows == 1],
        "others, 2 and 3 flows": [one for one in rest if one.path.flows in {2, 3}],
        "others, 5 flows and more": [one for one in rest if one.path.flows >= 5],
    }


def judged_row(rule: str, name: str, group: Sequence[Judged]) -> tuple[str, ...]:
    """A group of random runs under a rule."""
    entries = [one.by_rule[rule] for one in group]
    times = [one.simulated_s(rule) for one in group]
    skipped = [DURATION_S / seconds for seconds, one in zip(times, entries, strict=True) if one]
    return (
        rule,
        name,
        f"{len(group)}",
        f"{len(skipped)}",
        f"{statistics.median(skipped):.1f}" if skipped else "",
        f"{DURATION_S * len(times) / sum(times):.2f}" if times else "",
        *worst([one[1] for one in entries if one]),
    )


def random_section(each: Map, count: int) -> list[str]:
    """Both ways on random scenarios."""
    judged: list[Judged] = list(each(judge, range(count)))
    rows = [judged_row(rule, name, group) for rule in RULES for name, group in groups(judged).items()]
    head = (
        *("rule", "scenarios", "runs", "skip", "times as fast, median of these", "all runs together"),
        *("goodput of a flow, %", "of all together, %", "completion of a flow, %"),
    )
    return section(f"{count} random scenarios", RANDOM, table(head, rows), duration=DURATION_S)


def tell(line: str) -> None:
    """Shows how far it is."""
    sys.stderr.write(f"{line}\n")


def main() -> None:
    """Simulates, and writes the page."""
    parser = argparse.ArgumentParser(description="Whether long runs repeat themselves.")
    parser.add_argument("--out", type=File, help="write a page here")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="sections of the page")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each plain scenario")
    parser.add_argument("--pings", type=int, default=5, help="runs with one packet more")
    parser.add_argument("--random", type=int, default=200, help="random scenarios")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    given = parser.parse_args()
    today = datetime.now(UTC).date().isoformat()
    with ThreadPoolExecutor(given.jobs) as pool:
        sections = {
            "plain": partial(plain_sections, pool.map, given.seeds),
            "ping": partial(ping_section, pool.map, given.pings),
            "random": partial(random_section, pool.map, given.random),
        }
        parts = [line for name in PARTS if name in given.parts for line in sections[name]()]
    lines = [
        "# Whether long runs repeat themselves",
        "",
        "Written by checks/benches/steady.py (`make steady`); do not edit. What follows from it is in",
        "[speed.md](speed.md#time-that-repeats).",
        "",
        f"Run on {today} on {platform.machine()}, {platform.system()}, Anabranch {__version__}.",
        "",
        *parts,
    ]
    text = "\n".join(lines)
    sys.stdout.write(text)
    if given.out:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
