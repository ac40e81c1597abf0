"""Attacks Anabranch: mutated inputs, random scenarios against invariants, injected faults.

``make attack`` runs it, and writes the counts to docs/attack.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def main() -> int:
    """Runs the parts, prints their counts, and returns 1 if there is a defect."""
    sys.path.insert(0, str(HERE))
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    page: dict[str, str] = {}
    defects = _inputs(options, page)
    if options.only is None:
        defects += _scenarios(options, page)
        defects += _orders(options, page)
        defects += _faults(options, page)
    if options.page is not None:
        _write(options, page, time.monotonic() - begin)
    print(f"{defects} defects")
    return 1 if defects else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("--seed", default="1", help="of all that is drawn")
    parser.add_argument("--mutants", type=int, default=20_000, help="mutated inputs")
    parser.add_argument("--scenarios", type=int, default=300, help="random scenarios")
    parser.add_argument("--orders", type=int, default=1000, help="scenarios for orders and sums of columns")
    parser.add_argument("--only", type=int, help="the number of one mutant, to see it again")
    parser.add_argument("--no-faults", action="store_true", help="leave the faults out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--folder", type=Path, default=ROOT / "results" / "attack", help="for what fails")
    parser.add_argument("--page", type=Path, help="where the counts are written, such as docs/attack.md")
    return parser.parse_args()


def _inputs(options: argparse.Namespace, page: dict[str, str]) -> int:
    import inputs  # noqa: PLC0415 - found once HERE is in the path
    import mutants  # noqa: PLC0415

    numbers = range(options.mutants) if options.only is None else [options.only]
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in mutants.SHARES}
    begin = time.monotonic()
    for done, verdict in enumerate(inputs.attack(numbers, options.seed, options.folder, options.jobs), 1):
        kind = mutants.kind_of(verdict.number)
        counts[kind][verdict.outcome] += 1
        if verdict.outcome in inputs.DEFECTS:
            last = (verdict.detail.strip().splitlines() or [""])[-1][:150]
            kept = options.folder / f"{verdict.outcome}-{verdict.number}"
            print(
                f"{verdict.outcome}: {kind}, mutant {verdict.number} of seed {options.seed}, {kept}: {last}"
            )
        if done % 1000 == 0:
            print(f"{done:,} mutants in {time.monotonic() - begin:.0f} s", flush=True)
    columns = ("done", "refused", "in part", "interrupted", *inputs.DEFECTS)
    total = sum(counts.values(), Counter())
    rows = [
        [kind, f"{of.total():,}", *(f"{of[name]:,}" for name in columns)]
        for kind, of in [*counts.items(), ("all", total)]
    ]
    page["inputs"] = _table(("input", "mutants", *columns), rows)
    print(page["inputs"])
    return sum(total[name] for name in inputs.DEFECTS)


def _scenarios(options: argparse.Namespace, page: dict[str, str]) -> int:
    import invariants  # noqa: PLC0415 - found once HERE is in the path

    covered: Counter[str] = Counter()
    checked, clean, studied, drawn = 0, 0, 0, 0
    for finding in invariants.check_all(options.scenarios, options.seed, options.jobs):
        covered.update(finding.covered)
        checked, drawn = checked + 1, drawn + finding.drawn
        clean += not finding.complaints
        studied += finding.studied
        for complaint in finding.complaints:
            print(f"scenario {finding.number} of seed {options.seed}: {complaint}", flush=True)
    page["clean"] = (
        f"{clean} of {checked} random scenarios are clean. {studied} of them were run as studies, too.\n"
        f"{drawn} were drawn, because the program is left to say what does not go together."
    )
    rows = [[name, str(count)] for name, count in sorted(covered.items())]
    page["scenarios"] = _table(("with", "scenarios"), rows)
    print(page["clean"])
    return checked - clean


def _orders(options: argparse.Namespace, page: dict[str, str]) -> int:
    import orders  # noqa: PLC0415 - found once HERE is in the path

    lines = [
        f"scenario {number} of seed {options.seed}: {complaint}"
        for number, complaints in orders.check_all(options.orders, options.seed, options.jobs)
        for complaint in complaints
    ]
    print("\n".join(lines), end="\n" if lines else "", flush=True)
    page["orders"] = orders.told(options.orders, len(lines))
    print(page["orders"])
    return len(lines)


def _faults(options: argparse.Namespace, page: dict[str, str]) -> int:
    """The third part, which is a program of its own, too."""
    page["wrong"], page["faults"] = "They were left out.", ""
    if options.no_faults:
        return 0
    import faults  # noqa: PLC0415 - found once HERE is in the path

    found = faults.main(["--seed", options.seed])
    wrong = found["wrong"]
    assert isinstance(wrong, int)  # noqa: S101 - its type says object
    page["wrong"] = f"{wrong} of them\nare not answered like that."
    numbers = [(name, count) for name, count in found.items() if isinstance(count, int)]
    tables = [(name, of) for name, of in found.items() if isinstance(of, dict)]
    numbers += [(f"{table}: {name}", count) for table, of in tables for name, count in of.items()]
    page["faults"] = _table(("fault", "count"), [[name, f"{count:,}"] for name, count in numbers])
    return wrong


def _table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def _write(options: argparse.Namespace, page: dict[str, str], took_s: float) -> None:
    from anabranch import __version__  # noqa: PLC0415 - what uses most of it has run by now

    text = (
        (HERE / "page.md")
        .read_text(encoding="utf-8")
        .format(
            command=f"make attack SEED={options.seed}",
            date=time.strftime("%d %B %Y"),
            version=__version__,
            python=platform.python_version(),
            machine=f"{platform.system()} on {platform.machine()}",
            jobs=options.jobs,
            minutes=round(took_s / 60),
            **page,
        )
    )
    options.page.write_text(text.strip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
