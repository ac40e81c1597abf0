"""The recipes of CONTRIBUTING.md against the tree: the files, places and names that they send a reader to."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from documents import ROOT

sys.path.insert(0, str(ROOT / "tests" / "recipes"))

from follow import PRELUDE, Effort, copied, followed, table
from toys import TOYS

SOURCES = (".rs", ".py", ".js", ".css", ".j2", ".toml")
ELSEWHERE = {"anabranch", "routes", "FigureSpec", "Context", "study", "ReceiverStats", "toml", "sh"}
"""Names in a step that stand in a file it does not name; somewhere they are."""
PLACEHOLDER = "NAME"


@cache
def tracked() -> tuple[str, ...]:
    """Every file of the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
    if listed.returncode == 0:
        return tuple(name for name in listed.stdout.splitlines() if (ROOT / name).is_file())
    # An unpacked archive has no history.
    skipped = {"target", ".venv", ".git"}
    outcome = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return tuple(
        path.as_posix() for path in outcome if not skipped & set(path.parts) and path.parts[0] != "results"
    )


@cache
def names_in(file: str) -> frozenset[str]:
    """Every word in a file."""
    return frozenset(re.findall(r"\w+", (ROOT / file).read_text(encoding="utf-8", errors="ignore")))


def is_path(code: str) -> bool:
    """Whether a piece of code is a path rather than a name."""
    return "/" in code or re.search(r"\.(rs|py|md|toml|css|js)$", code) is not None


def files_at(path: str) -> list[str]:
    """The files that a path means: its end is given, and ``NAME`` stands for what is to be added."""
    pattern = re.escape(path.rstrip("/")).replace(PLACEHOLDER, r"[^/]+")
    return [file for file in tracked() if re.search(rf"(^|/){pattern}($|/)", file)]


def steps() -> list[tuple[str, list[str]]]:
    """Each step of each recipe: the recipe's heading, and what is set as code in the step."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = text[text.index("## Where things go") : text.index("## Style")]
    outcome, recipe = [], ""
    for step in re.split(r"\n(?=### |\d\. |\n[A-Z])", text):
        heading = re.match(r"\n*### (.*)", step)
        recipe = heading.group(1) if heading else recipe
        outcome.append((recipe, re.findall(r"`([^`]+)`", step)))
    return outcome


def test_the_recipes_are_found() -> None:
    assert len({recipe for recipe, _ in steps()}) >= 22
    assert len(steps()) >= 80


def test_every_path_of_a_recipe_exists() -> None:
    paths = [(recipe, code) for recipe, codes in steps() for code in codes if is_path(code)]
    assert len(paths) > 100
    missing = []
    for recipe, path in paths:
        at = path if PLACEHOLDER not in path else path[: path.index(PLACEHOLDER)].rpartition("/")[0]
        if at and not files_at(at):
            missing.append((recipe, path))
    assert missing == []


def test_every_name_of_a_recipe_is_where_it_says() -> None:
    everywhere = frozenset().union(*(names_in(file) for file in tracked() if file.endswith(SOURCES)))
    checked, missing = 0, []
    for recipe, codes in steps():
        there = [file for code in codes if code.endswith((".rs", ".py")) for file in files_at(code)]
        here = frozenset().union(*map(names_in, there)) if there else everywhere
        names = [code for code in codes if not is_path(code) and not code.startswith("make ")]
        for name in [word for code in names for word in re.findall(r"\w+", code)]:
            checked += 1
            if name not in here and not (name in ELSEWHERE and name in everywhere) and name != PLACEHOLDER:
                missing.append((recipe, name))
    assert checked > 100
    assert missing == []


def test_the_makefile_of_a_recipe_has_its_targets() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = {code.split()[1] for _, codes in steps() for code in codes if code.startswith("make ")}
    assert called >= {"reference", "models", "reproduce"}
    assert called - targets == set()


def follow(name: str, folder: Path) -> Effort:
    """Puts a toy into a copy of the files that it changes, and says what it took."""
    toy = TOYS[name]
    for file in toy.insertions:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, folder / file)
    for file in toy.files:
        assert not (ROOT / file).exists()
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
    return followed(toy, folder)


@pytest.mark.parametrize("name", TOYS)
def test_a_toy_finds_its_places(name: str, tmp_path: Path) -> None:
    """What `make recipes` compiles for minutes must at least find the lines that it goes behind."""
    effort = follow(name, tmp_path)
    assert effort.sources or effort.pages
    assert effort.lines > 0


def test_architecture_says_what_an_addition_takes(tmp_path: Path) -> None:
    efforts = {name: follow(name, tmp_path / str(number)) for number, name in enumerate(TOYS)}
    assert table(efforts) in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("an export format", 2),
        ("a file format of topologies", 2),
        ("a table on the page of loads, in its workbook and its CSV files", 1),
    ],
)
def test_what_has_one_place_takes_one_line_there(name: str, files: int, tmp_path: Path) -> None:
    """A file of its own and a line in its registry; help, manual and attack take the name from there."""
    effort = follow(name, tmp_path)
    assert (len(effort.sources), effort.pages) == (files, ())


def test_a_column_is_declared_in_one_file(tmp_path: Path) -> None:
    effort = follow("a result column", tmp_path)
    assert (effort.count(".py"), effort.pages) == (1, ())


def test_toys_that_need_no_compiler_run(tmp_path: Path) -> None:
    """``make recipes`` compiles the others, too."""
    chosen = {
        name: toy
        for name, toy in TOYS.items()
        if not any(file.startswith("crates/") for file in (*toy.files, *toy.insertions))
    }
    assert len(chosen) >= 14
    copied(tmp_path)
    (core,) = (ROOT / "python" / "anabranch").glob("_core.*.so")
    shutil.copyfile(core, tmp_path / "python" / "anabranch" / core.name)
    for toy in chosen.values():
        followed(toy, tmp_path)
    program = "\n".join(f"exec({PRELUDE + toy.run!r}, {{}})" for toy in chosen.values())
    paths = os.pathsep.join(str(tmp_path / name) for name in ("python", "publications"))
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-c", program]
    done = subprocess.run(  # noqa: S603 - our own program
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
