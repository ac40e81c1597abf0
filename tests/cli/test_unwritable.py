"""What cannot be written is told by the name that it would have, and nothing is left half."""

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch import Scenario, Study, StudyError
from anabranch.errors import ResultError
from anabranch.export.formats import FORMATS

from .conftest import SMALL

WATCHED = SMALL.replace("2 s", "200 ms").replace("[run]", '[run]\nsequences = "*"\nlog = "*"')
STUDY = """
replications = 1
scenario = "small.toml"
[[factor]]
field = "network.links.delay"
levels = ["1 ms", "2 ms"]
"""
NAME = "n" * 300
HIDDEN = re.compile(r"\.anabranch-|/proc/|/fd/")
"""Where files are written before they are in their place, by name and by descriptor."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(WATCHED)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def limited(folder: Path, most_bytes: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program where no file may be larger: writes fail as on a full disk, of bytecode without a word."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    command = [sys.executable, "-m", "anabranch", *arguments]
    return subprocess.run(  # noqa: S603 - our own program
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, preexec_fn=limit,
        env={**os.environ, "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip


@pytest.mark.parametrize("most_bytes", [0, 700, 3000, 12_000, 60_000])
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "small.toml", "--out", "out"),
        ("study", "study.toml", "--out", "out", "--jobs", "1"),
        ("export", "small.toml", "--to", "csv", "--out", "out"),
        ("routes", "small.toml", "--out", "out/plan.json"),
        ("new", "controller", "mine", "--out", "out"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_hidden_folder_is_named(arguments: tuple[str, ...], most_bytes: int, folder: Path) -> None:
    done = limited(folder, most_bytes, *arguments)
    assert "Traceback" not in done.stderr
    if done.returncode == 0:
        return
    assert done.returncode == 2
    assert not HIDDEN.search(done.stderr)
    # A journal is written without a buffer, which the system answers with less than it was asked for.
    words = ("File too large", "No space left on device")
    message = [line for line in done.stderr.splitlines() if any(word in line for word in words)]
    assert message, done.stderr
    assert all(line.startswith("out") for line in message)
    assert arguments[0] == "study" or not (folder / "out").exists() or not any((folder / "out").iterdir())


@pytest.mark.parametrize("name", list(FORMATS))
def test_an_export_names_its_file(name: str, folder: Path) -> None:
    done = limited(folder, 250, "export", "small.toml", "--to", name, "--out", "out")
    assert done.returncode == 2
    assert done.stderr.startswith("out/")
    assert not (folder / "out").exists()


@pytest.mark.parametrize("form", ["pdf", "png"])
def test_a_figure_names_its_file(form: str, folder: Path) -> None:
    Scenario.load(folder / "small.toml").run(out=folder / "out", page=False)
    before = sorted((folder / "out").rglob("*"))
    done = limited(folder, 3000, "report", "out", "--figures", form)
    assert done.returncode == 2
    assert done.stderr.startswith("out/")
    assert not HIDDEN.search(done.stderr)
    assert sorted((folder / "out").rglob("*")) == before


def test_a_folder_that_is_gone_is_told(folder: Path) -> None:
    def remove(done: int, _failures: int, runs: int) -> None:
        if done == runs:
            shutil.rmtree(folder / "out")

    with pytest.raises((StudyError, ResultError), match="out: cannot be written: No such file or directory"):
        Study.load(folder / "study.toml").run(jobs=1, out=folder / "out", progress=remove)


def test_a_long_name_of_a_flow_is_cut_in_names_of_files(folder: Path) -> None:
    text = WATCHED.replace("[[traffic]]", f'[[traffic]]\nname = "{NAME}"')
    Scenario.loads(text).run(out=folder / "out")
    for part in ("sequences", "logs"):
        files = list((folder / "out" / part).iterdir())
        assert files
        assert all(file.name.startswith("0-nnn") and len(file.name) < 220 for file in files)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "small.toml",
            "[run]",
            f'[[capture]]\nfile = "{NAME}.pcapng"\nhost = "left1"\n[run]',
            "14:8: capture[0].file: has 307 bytes; a file name may have 240 here",
        ),
        (
            "study.toml",
            "[[factor]]",
            f'[[metric]]\nname = "{NAME}"\ncolumn = "goodput_mbps"\n[[factor]]',
            "5:8: metric[0].name: has 300 letters, and figures have it as their file name; 200 at most",
        ),
    ],
)
def test_a_name_that_no_file_can_have_is_told_before_anything_runs(
    file: str, old: str, new: str, message: str, folder: Path
) -> None:
    (folder / file).write_text((folder / file).read_text().replace(old, new, 1))
    command = "run" if file == "small.toml" else "study"
    done = limited(folder, 10**9, command, file, "--out", "out")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"{file}:{message}")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "small.toml", "--out"),
        ("export", "small.toml", "--to", "csv", "--out"),
        ("routes", "small.toml", "--out"),
        ("new", "controller", "mine", "--out"),
        ("study", "study.toml", "--out"),
        ("report",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_place_whose_name_is_too_long_is_named(arguments: tuple[str, ...], folder: Path) -> None:
    done = limited(folder, 10**9, *arguments, NAME)
    assert done.returncode == 2
    assert NAME in done.stderr
    assert "File name too long" in done.stderr
    assert done.stderr.count("\n") == 1
