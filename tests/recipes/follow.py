"""``make recipes``: follows recipes of CONTRIBUTING.md with toys, in a copy of the sources, and runs it.

Each toy is a list of new files, and of lines that are put behind a line that is there. The program prints how
many files and lines each recipe takes. It fails if one takes more files than it may, or if the copy does not
compile, does not pass its tests or does not run the toys.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from toys import TOYS, Toy

ROOT = Path(__file__).parents[2]
PRELUDE = '''
import anabranch

def scenario(fields):
    return anabranch.Scenario.loads("""
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
""", fields)
'''
"""What the program of each toy begins with."""


@dataclass(frozen=True)
class Effort:
    """What a recipe took."""

    files: int
    lines: int


def copied(folder: Path) -> None:
    """Every tracked file, into a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607
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
    for name, text in toy.files.items():
        path = folder / name
        if path.exists():
            raise ValueError(f"{name} is there already")
        path.write_text(text, encoding="utf-8")
        lines += text.count("\n")
    for name, insertions in toy.insertions.items():
        path = folder / name
        text = path.read_text(encoding="utf-8")
        for behind, new in insertions:
            if text.count(behind) != 1:
                raise ValueError(f"{name} has {behind!r} {text.count(behind)} times, not once")
            text = text.replace(behind, behind + new)
            lines += max(1, new.count("\n"))
        path.write_text(text, encoding="utf-8")
    return Effort(len(toy.files) + len(toy.insertions), lines)


def checked(folder: Path, target: Path) -> None:
    """Compiles the copy, and runs the tests that hold every registered algorithm.

    Raises:
        subprocess.CalledProcessError: if that fails.
    """
    commands = [
        ["cargo", "check", "--quiet", "--workspace", "--all-targets", "--target-dir", str(target)],
        *(
            ["cargo", "test", "--quiet", "--target-dir", str(target), "-p", package, "--lib", tests]
            for package, tests in sorted({test for toy in TOYS.values() for test in toy.tests})
        ),
    ]
    for command in commands:
        subprocess.run(command, cwd=folder, check=True)  # noqa: S603


def run(folder: Path, target: Path) -> None:
    """Makes the package of the copy, and runs the programs of the toys with it.

    Raises:
        subprocess.CalledProcessError: if that fails.
    """
    build = ["cargo", "build", "--quiet", "--target-dir", str(target), "-p", "anabranch-python"]
    subprocess.run(build, cwd=folder, check=True)  # noqa: S603
    (library,) = (found for found in (target / "debug").glob("*_core.*") if found.suffix in (".so", ".dylib"))
    shutil.copyfile(library, folder / "python" / "anabranch" / "_core.abi3.so")
    programs = [["docs/generate/algorithms.py"], *(["-c", PRELUDE + toy.run] for toy in TOYS.values())]
    environment = {**os.environ, "PYTHONPATH": str(folder / "python")}
    for program in programs:
        subprocess.run([sys.executable, *program], cwd=folder, check=True, env=environment)  # noqa: S603


def main() -> int:
    """Follows every recipe, prints what it took, and says whether it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path, default=ROOT / "target" / "recipes", help="where cargo builds")
    target = parser.parse_args().target.absolute()
    with tempfile.TemporaryDirectory(prefix="anabranch-recipes-") as scratch:
        folder = Path(scratch)
        copied(folder)
        efforts = {name: followed(toy, folder) for name, toy in TOYS.items()}
        checked(folder, target)
        run(folder, target)
    too_many = [name for name, effort in efforts.items() if effort.files > TOYS[name].most_files]
    print("| to add | files by hand | allowed | lines |\n|---|---|---|---|")  # noqa: T201
    for name, effort in efforts.items():
        print(f"| {name} | {effort.files} | {TOYS[name].most_files} | {effort.lines} |")  # noqa: T201
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
