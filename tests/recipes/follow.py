"""``make recipes``: follows recipes of CONTRIBUTING.md with toys, in a copy of the sources, and runs it.

Each toy is a list of new files, and of lines that are put behind a line that is there. The copy is compiled,
writes its generated files and pages, runs the toys and passes the tests of tests/house, which hold the
documents against every registry. The program prints how many files and lines each recipe takes. It fails if
one of these steps does, or if the table in ARCHITECTURE.md says otherwise; ``--write`` renews that table.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toys import TOYS, Toy

ROOT = Path(__file__).parents[2]
PRELUDE = '''
import anabranch

TEXT = """
[network]
topology = "dumbbell"
parameters = { hosts = 2, bottleneck_capacity = "10 Mbps", bottleneck_delay = "5 ms" }
links = { capacity = "100 Mbps", delay = "1 ms" }
[[traffic]]
from = ["left1", "left2"]
to = ["right1", "right2"]
pairs = "in-order"
application = { kind = "constant-rate", message = "1400 B", rate = "1 Mbps" }
[run]
duration = "2 s"
"""

def scenario(fields):
    return anabranch.Scenario.loads(TEXT, fields)
'''
"""What the program of each toy begins with."""
HEAD = (
    "| to add | files of Rust by hand | of Python or TOML | of the manual | lines |\n|---|---|---|---|---|\n"
)
"""Of the table in ARCHITECTURE.md."""


@dataclass(frozen=True)
class Effort:
    """What a recipe took by hand."""

    sources: tuple[str, ...]
    """Files of the program."""
    pages: tuple[str, ...]
    """Pages of the manual."""
    lines: int
    """New lines in all of them."""

    def count(self, *endings: str) -> int:
        """Files of the program with one of these endings."""
        return sum(name.endswith(endings) for name in self.sources)


def copied(folder: Path) -> None:
    """Copies every file that git does not ignore into a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def followed(toy: Toy, folder: Path) -> Effort:
    """Puts a toy into the copy.

    Raises:
        ValueError: if a line behind which something is to be put is not there exactly once.
    """
    lines = 0
    # Tests are not counted.
    names = [name for name in (*toy.files, *toy.insertions) if not name.startswith("tests/")]
    for name, text in toy.files.items():
        path = folder / name
        if path.exists():
            raise ValueError(f"{name} is there already")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        lines += text.count("\n") if name in names else 0
    for name, insertions in toy.insertions.items():
        path = folder / name
        text = path.read_text(encoding="utf-8")
        for behind, new in insertions:
            if text.count(behind) != 1:
                raise ValueError(f"{name} has {behind!r} {text.count(behind)} times, not once")
            text = text.replace(behind, behind + new)
            lines += max(1, new.count("\n")) if name in names else 0
        path.write_text(text, encoding="utf-8")
    pages = tuple(name for name in names if name.startswith("docs/"))
    return Effort(tuple(name for name in names if name not in pages), pages, lines)


def _chosen(tests: str) -> list[str]:
    """Unit tests by a filter of their names, or a file of tests by its name."""
    return [tests] if tests.startswith("--test=") else ["--lib", tests]


def checked(folder: Path, target: Path) -> None:
    """Compiles the copy, and runs the tests that hold every registered algorithm.

    Raises:
        subprocess.CalledProcessError: if that fails.
        LookupError: if a toy names tests that are not there.
    """
    check = ["cargo", "check", "--quiet", "--workspace", "--all-targets", "--target-dir", str(target)]
    subprocess.run(check, cwd=folder, check=True)  # noqa: S603
    for package, tests in sorted({test for toy in TOYS.values() for test in toy.tests}):
        command = ["cargo", "test", "--quiet", "--target-dir", str(target), "-p", package, *_chosen(tests)]
        done = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.PIPE, text=True)  # noqa: S603
        sys.stdout.write(done.stdout)
        done.check_returncode()
        if not re.search(r"^running [1-9]", done.stdout, re.MULTILINE):
            raise LookupError(f"{package} has no test {tests!r}, which a toy names")


NOT_OF_TOYS = (
    "tests/house/test_recipes.py",
    # All toys have one name on purpose; whoever follows a recipe has names of their own.
    "tests/house/test_house_rules.py::test_no_two_public_types_have_one_name",
)


def run(folder: Path, target: Path) -> None:
    """Makes the package of the copy and what it generates, runs the programs of the toys and the house tests.

    Raises:
        subprocess.CalledProcessError: if that fails.
    """
    build = ["cargo", "build", "--quiet", "--target-dir", str(target), "-p", "anabranch-python"]
    subprocess.run(build, cwd=folder, check=True)  # noqa: S603
    (library,) = (file for file in (target / "debug").glob("*_core.*") if file.suffix in (".so", ".dylib"))
    shutil.copyfile(library, folder / "python" / "anabranch" / "_core.abi3.so")
    programs = [
        ["docs/generate/algorithms.py"],
        ["docs/generate", "docs"],
        *(["-c", PRELUDE + toy.run] for toy in TOYS.values()),
        [
            "-m",
            "pytest",
            "--quiet",
            "tests/house",
            *(word for test in NOT_OF_TOYS for word in ("--deselect", test)),
        ],
    ]
    paths = os.pathsep.join(str(folder / name) for name in ("python", "publications"))
    environment = {**os.environ, "PYTHONPATH": paths}
    for program in programs:
        subprocess.run([sys.executable, *program], cwd=folder, check=True, env=environment)  # noqa: S603


def table(efforts: Mapping[str, Effort]) -> str:
    """What recipes take, as ARCHITECTURE.md has it."""
    rows = (
        f"| {name} | {effort.count('.rs', '.pkt')} | {effort.count('.py', '.toml')} | {len(effort.pages)} "
        f"| {effort.lines} |\n"
        for name, effort in efforts.items()
    )
    return "".join([HEAD, *rows])


def main() -> int:
    """Follows every recipe, prints what it took, and says whether ARCHITECTURE.md has the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path, default=ROOT / "target" / "recipes", help="where cargo builds")
    parser.add_argument("--write", action="store_true", help="renew the table in ARCHITECTURE.md")
    arguments = parser.parse_args()
    target = arguments.target.absolute()
    with tempfile.TemporaryDirectory(prefix="anabranch-recipes-") as scratch:
        folder = Path(scratch)
        copied(folder)
        efforts = {name: followed(toy, folder) for name, toy in TOYS.items()}
        checked(folder, target)
        run(folder, target)
    print(table(efforts))  # noqa: T201
    page = ROOT / "ARCHITECTURE.md"
    text = page.read_text(encoding="utf-8")
    written = re.sub(rf"{re.escape(HEAD)}(\|.*\n)*", lambda _: table(efforts), text)
    if arguments.write:
        page.write_text(written, encoding="utf-8")
    return 0 if table(efforts) in written and (arguments.write or written == text) else 1


if __name__ == "__main__":
    sys.exit(main())
