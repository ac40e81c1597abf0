"""What uet-htsim and ours have for the same fabrics: ``fabric_page.py FOLDER [--only TEXT] [--out PAGE]``.

The means of median, maximum, makespan and trims of a run stand beside each other, with the standard error
of what they differ by, and whether that is within the bounds that were set before.
"""

import argparse
import math
import platform
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fabric import Numbers, configurations

from anabranch import _core

UNEVEN = ("oblivious", "bitmap")
"""Selectors that deal 64 values: hashes of ours and of theirs give some paths more of them."""
FEW_TRIMS = 100
UNLIKELY = 0.05
"""What is less likely than that is no chance."""
VERDICTS = ("within", "chance", "outside", "unknown")
GROUPS = {
    "a-line-rate": "one flow on an idle path, and two",
    "b-permutation": "permutation",
    "c-incast": "incast",
    "d-degraded": "half a link",
    "d-dies": "silent link",
    "e-collective": "collective",
    "f-leaf-spine": "leaf-spine",
    "g-cc": "constant window",
    "g-no-trim": "without trimming",
    "h-1024": "1,024 hosts",
}
HEAD = """# Fabrics beside uet-htsim

Written by `make validate-fabric`; [fabric.md](fabric.md#checked-against-uet-htsim) says what is compared.

"""
NOTES = """
A cell has what uet-htsim has, what we have, how far that is above in percent, and the standard error of
that. Bounds were set before: 0.1 % on an idle path, 2 % for medians, 5 % for maxima (10 % for `oblivious`
and `bitmap`, whose 64 values no two hashes deal alike), 2 % for makespans of collectives, 15 % for trims
where there are more than 100 in all runs, none where there are none. Where a link falls silent, maxima are
to be no larger. **Bold** is outside of its bound by more than two standard errors; *italic* outside, but not
by so much, as chance would have it; where there are no trims there, italic if as many runs of ours would be
without any in one of 20 cases. One run says nothing of its error: what is outside then is unknown (?). From 1
to 100 trims there is no bound. CPU seconds are of a run, and theirs of another, busy machine.
Runs with controls and selectors that are not here are left out: RCCC, their "dctcp", switches that choose the
least loaded port.

"""


@dataclass(frozen=True)
class Cell:
    """One measure of one configuration."""

    theirs: float
    ours: float
    percent: float
    error: float
    bound: float
    """In percent; infinity where there is none."""
    may_be_less: bool = False
    as_likely: float = 1.0
    """Where theirs is nothing: how likely as many runs of ours have nothing, too."""

    @property
    def verdict(self) -> str | None:
        """One of ``VERDICTS``; none where there is no bound."""
        if math.isinf(self.bound):
            return None
        if math.isnan(self.percent):
            return "chance" if self.as_likely >= UNLIKELY else "outside"
        excess = (self.percent if self.may_be_less else abs(self.percent)) - self.bound
        if excess <= 0:
            return "within"
        if math.isnan(self.error):
            return "unknown"
        return "chance" if excess <= 2 * self.error else "outside"

    def text(self, digits: int) -> str:
        """Of so many digits behind the point."""
        mark = {"chance": "*", "outside": "**"}.get(self.verdict or "", "")
        numbers = f"{self.theirs:.{digits}f}, {self.ours:.{digits}f}"
        if math.isnan(self.percent):
            return f"{mark}{numbers}{mark}"
        error = "-" if math.isnan(self.error) else f"{self.error:.1f}"
        doubt = " ?" if self.verdict == "unknown" else ""
        return f"{numbers}, {mark}{self.percent:+.1f}{mark} ± {error}{doubt}"


def deviation(theirs: list[float], ours: list[float]) -> tuple[float, float]:
    """How far ours are above theirs in percent, and the standard error of that.

    Runs of ours follow each other that are of the same flow list, and stand beside the one of theirs. How far
    draws scatter is what runs of ours of the same flow list say; one of theirs scatters as much.
    """
    runs = len(ours) // max(len(theirs), 1)
    if not runs:
        return math.nan, math.nan
    lists = [ours[first : first + runs] for first in range(0, len(ours), runs)]
    mean = statistics.fmean(theirs)
    if not mean:
        return (math.nan if any(ours) else 0.0), math.nan
    percent = 100 * (statistics.fmean(ours) / mean - 1)
    if runs == 1:
        return percent, math.nan
    variance = statistics.fmean(statistics.variance(draws) for draws in lists)
    return percent, 100 * math.sqrt(variance * (1 + 1 / runs) / len(theirs)) / mean


def cell(theirs: list[float], ours: list[float], bound: float, *, may_be_less: bool = False) -> Cell:
    """What stands beside each other."""
    there, here = (statistics.fmean(numbers or [math.nan]) for numbers in (theirs, ours))
    percent, error = deviation(theirs, ours)
    without = sum(not number for number in ours) / max(len(ours), 1)
    return Cell(there, here, percent, error, bound, may_be_less, without ** len(theirs))


def cells(name: tuple[str, ...], theirs: Numbers, ours: Numbers) -> Iterator[Cell | None]:
    """Those of a configuration: median, maximum, makespan, trims; none where nothing is to be compared."""
    group, selector = name[0], name[3]
    alone = group == "a-line-rate" and not name[-1].startswith("two")
    is_collective = group == "e-collective"
    maximum = 10.0 if selector in UNEVEN else 5.0
    pairs = [(theirs.medians, ours.medians), (theirs.maxima, ours.maxima)]
    bounds = (0.1, 0.1) if alone else (2.0, 0.0 if group == "d-dies" else maximum)
    for (a, b), bound in zip(pairs, bounds, strict=True):
        # Steps of collectives begin later there, so that flows of theirs are not compared.
        yield None if is_collective else cell(a, b, bound, may_be_less=not bound)
    yield cell(theirs.makespans, ours.makespans, 2.0) if is_collective else None
    is_bound = sum(theirs.trims) > FEW_TRIMS or not any(theirs.trims)
    yield cell(theirs.trims, ours.trims, 15.0 if is_bound else math.inf)


def page(folder: Path, only: str, seeds: int | None) -> Iterator[str]:
    """The lines of the page, as they come."""
    yield HEAD
    now = datetime.now(UTC)
    machine = f"{platform.system()} {platform.release().partition('-')[0]}, {platform.machine()}"
    yield f"Anabranch {_core.version()}, {machine}, {now.day} {now:%B %Y}.\n{NOTES}"
    yield "| | median, us | maximum, us | makespan, us | trims of a run | unfinished | CPU s |\n"
    yield "|---|---|---|---|---|---|---|\n"
    verdicts: Counter[str | None] = Counter()
    for name, (theirs, ours) in configurations(folder, only, seeds):
        measured = list(cells(name, theirs, ours))
        verdicts.update(cell.verdict for cell in measured if cell is not None)
        texts = ["" if cell is None else cell.text(1 if cell is measured[3] else 2) for cell in measured]
        share = theirs.runs / ours.runs
        texts.append(f"{theirs.unfinished}, {ours.unfinished * share:.0f}")
        texts.append(f"{theirs.seconds / theirs.runs:.2f}, {ours.seconds / ours.runs:.2f}")
        yield f"| {described(name)} | {' | '.join(texts)} |\n"
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS)
    bounded = sum(verdicts[verdict] for verdict in VERDICTS)
    yield f"\nOf {bounded} cells with a bound: {counts}. {verdicts[None]} have none.\n"


def described(name: tuple[str, ...]) -> str:
    """A configuration in words."""
    group, topology, gbps, selector, _, _, _, change, matrix = name
    slow = ", half a link" if "the link" in change and group not in {"d-degraded", "d-dies"} else ""
    slow = ", slow links" if change.startswith("all") else slow
    return f"{GROUPS[group]}: {topology}, {gbps} Gbps, {matrix}{slow}, `{selector}`"


def main() -> None:
    """Run all, and write both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="configurations whose name has this text")
    parser.add_argument("--seeds", type=int, help="runs of ours for each of theirs, with other draws")
    parser.add_argument("--out", type=Path, help="the page; standard output if left out")
    given = parser.parse_args()
    lines = page(given.folder, given.only, given.seeds)
    if given.out is None:
        for line in lines:
            sys.stdout.write(line)
            sys.stdout.flush()
    else:
        given.out.write_text("".join(lines))


if __name__ == "__main__":
    main()
