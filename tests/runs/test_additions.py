"""Folders that grow: files come together or not at all, what is not ours stays, one writer at a time."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from lines import ENDLESS
from stopping import Stopped, Stopping, is_unknown

from anabranch import ResultError, Scenario, run
from anabranch.results.folders import adding, foreign, read_manifest
from anabranch.results.result import write_parquet

FILES = ("README.md", "figures/a.png", "report.html")


def add(folder: Path, text: str, *, replace: bool = False) -> None:
    with adding(folder, "pages", FILES, replace=replace) as place:
        for name in FILES:
            (place.partial / name).parent.mkdir(exist_ok=True)
            (place.partial / name).write_text(text)
        place.put()


def contents(folder: Path) -> dict[str, str]:
    entries = {
        file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*") if file.is_file()
    }
    return {name: text for name, text in entries.items() if name != "manifest.json"}


def test_a_folder_that_is_not_ours_refuses_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    message = r"has what Anabranch did not write there: thesis\.tex; .* --replace"
    with pytest.raises(ResultError, match=message), adding(tmp_path / "out", "pages", FILES):
        pytest.fail("it works")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]
    add(tmp_path / "out", "new", replace=True)
    assert contents(tmp_path / "out") == {"thesis.tex": "mine", **dict.fromkeys(FILES, "new")}
    # From then on it is ours, and a file with a name of its own is in nobody's way.
    add(tmp_path / "out", "newer")
    assert contents(tmp_path / "out") == {"thesis.tex": "mine", **dict.fromkeys(FILES, "newer")}


@pytest.mark.parametrize("name", ["README.md", "figures", "figures/a.png"])
@pytest.mark.parametrize("form", ["file", "folder", "link"])
def test_a_file_of_the_users_with_a_name_of_ours_stays(form: str, name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with adding(out, "pages") as place:
        (place.partial / "known").write_text("ours")
        place.put()
    (tmp_path / "elsewhere").write_text("mine")
    file = out / name
    file.parent.mkdir(exist_ok=True)
    if form == "file":
        file.write_text("mine")
    elif form == "link":
        file.symlink_to("../elsewhere" if file.parent == out else "../../elsewhere")
    else:
        file.mkdir()
        (file / "mine").write_text("mine")
    if name != "figures" or form != "folder":
        with pytest.raises(ResultError, match=f"did not write there: {name}; "):
            add(out, "new")
    add(out, "new", replace=True)
    kept = {path: text for path, text in contents(out).items() if text == "mine"}
    assert len(kept) == 1
    assert {path: text for path, text in contents(out).items() if text != "mine"} == {
        "known": "ours",
        **dict.fromkeys(FILES, "new"),
    }


def test_whenever_it_stops_all_files_are_old_or_become_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step that changes a name fails in turn, as if the process ended there; the next one goes on."""

    out = tmp_path / "out"
    add(out, "0")
    (out / "README.md").unlink()
    (out / "report.html.mine").write_text("mine")

    for stop in range(1, 80):
        with monkeypatch.context() as patch:
            stopping = Stopping(patch, stop)
            try:
                add(out, f"{stop}", replace=True)
            except Stopped:
                pass
            else:
                assert stopping.steps < stop
                break
        # What opens the folder next ends the move, or leaves all as it was.
        with adding(out, "pages", FILES):
            pass
        outcome = contents(out)
        assert outcome.pop("report.html.mine") == "mine"
        assert set(outcome.values()) in ({f"{stop - 1}"}, {f"{stop}"}, {"0"})
        assert all(is_unknown(path) for path in out.glob(".*"))
        assert [name for name in foreign(out) if not is_unknown(out / name)] == ["report.html.mine"]
        add(out, f"{stop}")
    assert stop > 12


def test_the_second_writer_and_another_kind_are_refused(tmp_path: Path) -> None:
    with adding(tmp_path / "out", "pages") as place:
        with pytest.raises(ResultError, match="out: another process is writing to it"):
            add(tmp_path / "out", "second")
        (place.partial / "mine").write_text("whole")
        place.put()
    assert contents(tmp_path / "out") == {"mine": "whole"}
    for replace in (False, True):
        with (
            pytest.raises(ResultError, match=r"has a result of another kind \(pages\)"),
            adding(tmp_path / "out", "study", replace=replace),
        ):
            pytest.fail("it works")


def test_what_comes_to_nothing_leaves_nothing(tmp_path: Path) -> None:
    with suppress(ZeroDivisionError), adding(tmp_path / "a" / "b", "pages") as place:
        (place.partial / "half").write_text("half")
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path / "out", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anabranch.results.folders.addition.contents_below", full)
    with pytest.raises(ResultError, match="out: cannot be written: No space left on device"):
        add(tmp_path / "out", "new")
    assert contents(tmp_path / "out") == dict.fromkeys(FILES, "old")
    assert not list((tmp_path / "out").glob(".*"))


WITHOUT_POSIX = """
import fcntl, os, signal, subprocess, sys, types, typer

class Locked(types.ModuleType):
    LK_NBLCK = 2
    def locking(self, descriptor, mode, count):
        flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

flock = fcntl.flock
sys.modules["msvcrt"] = Locked("msvcrt")
sys.modules.update(dict.fromkeys(("fcntl", "pwd", "grp", "resource", "termios")))
for module, names in ((signal, ("SIGHUP", "pthread_sigmask")), (os, ("O_DIRECTORY", "sched_getaffinity"))):
    for name in names:
        delattr(module, name)
import anabranch, anabranch.terminal.cli, anabranch.study.execute
from anabranch.results.folders import adding
for seed in (1, 2):
    anabranch.run("line.toml", out="out", page=False)
try:
    with adding(anabranch.terminal.cli.Path("out"), "run"):
        anabranch.run("line.toml", out="out", page=False)
except anabranch.ResultError as error:
    print(error)
"""


def test_it_imports_and_runs_where_there_is_no_posix(tmp_path: Path) -> None:
    """Windows has other locks, fewer signals, and no folders that can be opened."""
    (tmp_path / "line.toml").write_text(LINE)
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", WITHOUT_POSIX], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout == "out: another process is writing to it; wait for it, or choose another name\n"
    manifest = read_manifest(tmp_path / "out")
    assert manifest is not None
    assert manifest.kind == "run"
    assert not list(tmp_path.glob(".anabranch-*"))


LINE = (
    ENDLESS
    + """[[capture]]
file = "sink.pcapng"
host = "sink"
[[capture]]
file = "source.pcapng"
host = "source"
snap_length = "1 B"
"""
)
"""Two captures, of which the first is ten times as large."""


def test_captures_do_not_take_the_place_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("source.pcapng").write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr("anabranch.runs.runner.plan", lambda *_: pytest.fail("it runs"))
        with pytest.raises(
            ResultError, match=r"source\.pcapng: is there already, and a capture has this name"
        ):
            run(Scenario.loads(LINE))
    stepped = Scenario.loads(LINE).start().advance("10 ms")
    with pytest.raises(ResultError, match="a capture has this name"):
        stepped.finish()
    assert Path("source.pcapng").read_text() == "mine"
    assert stepped.finish("out", page=False).flows.height == 1
    run(Scenario.loads(LINE), replace=True)
    assert Path("source.pcapng").stat().st_size > 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "sink.pcapng", "source.pcapng"]


LIMITED = """
import resource, sys
import anabranch
sys.dont_write_bytecode = True  # a limit cuts it, too
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
result = anabranch.run("line.toml", out=sys.argv[2] or None, page=False)
print(*result.summary["warnings"], sep="\\n")
"""


@pytest.mark.parametrize("out", ["out", ""])
def test_a_full_disk_under_a_capture_loses_the_capture_alone(out: str, tmp_path: Path) -> None:
    """No file may be larger than 60 kB; the first capture has some 100 kB."""
    (tmp_path / "line.toml").write_text(LINE)
    (tmp_path / "temporary").mkdir()
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", LIMITED, "60000", out], cwd=tmp_path, capture_output=True, text=True,
        timeout=60, check=False, env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.startswith("the capture sink.pcapng, and nothing else, is lost: at 0.")
    assert "File too large" in done.stdout
    kept = {path.name for path in (tmp_path / (out or ".")).iterdir()}
    assert "sink.pcapng" not in kept
    assert (tmp_path / (out or ".") / "source.pcapng").stat().st_size > 1000
    assert not out or {"flows.parquet", "summary.json"} <= kept
    assert list((tmp_path / "temporary").iterdir()) == []


def test_captures_make_room_for_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full as long as there are captures, here and in the folder for temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    written = write_parquet

    def full(table: pl.DataFrame, file: Path) -> None:
        if list(tmp_path.glob(".anabranch-*/new/*.pcapng")):
            raise OSError(28, "No space left on device")
        written(table, file)

    monkeypatch.setattr("anabranch.results.result.write_parquet", full)
    result = run(Scenario.loads(LINE), out=tmp_path / "out", page=False)
    assert [warning.partition(":")[0] for warning in result.summary["warnings"][-2:]] == [
        "the capture sink.pcapng is lost", "the capture source.pcapng is lost",
    ]  # fmt: skip
    assert (tmp_path / "out" / "flows.parquet").is_file()
    assert list((tmp_path / "temporary").iterdir()) == []
