"""Result folders: exchanged in one step; what is not ours stays; one writer at a time."""

import errno
import hashlib
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from lines import ENDLESS
from stopping import Stopped, Stopping, is_unknown

from anabranch import Result, ResultError, Scenario, run
from anabranch.results.folders import replacement, replacing

GRAPH = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="source"/><node id="sink"/><edge source="source" target="sink"/></graph></graphml>"""


def made(seed: int) -> Result:
    return Result.from_columns({"numbers": {"number": np.arange(seed)}}, {"seed": seed})


def save(folder: Path, seed: int, *, replace: bool = False) -> None:
    made(seed).save(folder, page=False, replace=replace)


def contents(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A result with files of the user's, and another result, in its folder."""
    out = tmp_path / "out"
    save(out, 1)
    (out / "notes.txt").write_text("mine")
    (out / "link").symlink_to("notes.txt")
    save(out / "nested", 7)
    (out / "nested" / "empty").mkdir()
    return out


def test_what_is_not_ours_refuses_before_anything_runs(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(mixed)
    monkeypatch.setattr("anabranch.runs.runner.plan", lambda *_: pytest.fail("it runs"))
    with pytest.raises(ResultError, match=r"did not write there: link, nested/, notes\.txt; .* --replace"):
        run(Scenario.loads(ENDLESS), out=mixed)
    assert contents(mixed) == before


def test_replace_takes_what_is_ours_alone(mixed: Path) -> None:
    before = contents(mixed)
    save(mixed, 2, replace=True)
    after = contents(mixed)
    assert Result.load(mixed).summary["seed"] == 2
    assert Result.load(mixed / "nested").summary["seed"] == 7
    ours = {"manifest.json", "numbers.parquet", "summary.json"}
    assert before.keys() == after.keys()
    assert {name for name in before if before[name] != after[name]} == ours
    assert (mixed / "link").readlink() == Path("notes.txt")
    assert (mixed / "nested" / "empty").is_dir()
    assert [path.name for path in mixed.parent.iterdir()] == ["out"]
    with pytest.raises(ResultError, match=r"notes\.txt"):
        save(mixed, 3)


def test_a_file_of_the_user_with_a_name_of_ours_gets_another(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for name in ("summary.json", "numbers.parquet.~1~", "numbers.parquet"):
        (tmp_path / "out" / name).write_text(f"my {name}")
    save(tmp_path / "out", 2, replace=True)
    kept = {name: text for name, text in contents(tmp_path / "out").items() if text.startswith(b"my ")}
    assert kept == {
        "summary.json.~1~": b"my summary.json",
        "numbers.parquet.~1~": b"my numbers.parquet",
        "numbers.parquet.~1~.~1~": b"my numbers.parquet.~1~",
    }
    assert Result.load(tmp_path / "out").tables["numbers"].height == 2


@pytest.mark.parametrize("system", ["exchanges", "does not"])
def test_whenever_it_stops_there_is_a_whole_result(
    system: str, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step that changes names fails in turn, as if the process ended there, and the next one goes on."""
    if system == "does not":
        monkeypatch.setattr(replacement, "_exchanged", lambda *_: False)
    mine = {name: text for name, text in contents(mixed).items() if name.startswith(("no", "ne"))}
    for stop in range(1, 40):
        with monkeypatch.context() as patch:
            stopping = Stopping(patch, stop)
            try:
                save(mixed, 10 + stop, replace=True)
            except Stopped:
                pass
            else:
                assert stopping.steps < stop
                break
        place = mixed if mixed.is_dir() else next(mixed.parent.glob(".anabranch-*/old"))
        assert Result.load(place).summary["seed"] in (1, 100 + stop - 1, 10 + stop)
        save(mixed, 100 + stop, replace=True)
        assert Result.load(mixed).summary["seed"] == 100 + stop
        assert {name: text for name, text in contents(mixed).items() if name in mine} == mine
        assert [path.name for path in mixed.parent.iterdir() if not is_unknown(path)] == ["out"]
    assert stop > 8


def test_the_second_writer_is_refused_before_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with replacing(tmp_path / "out", "run") as first:
        with monkeypatch.context() as patch:
            patch.setattr("anabranch.runs.runner.plan", lambda *_: pytest.fail("it runs"))
            with pytest.raises(ResultError, match="out: another process is writing to it"):
                run(Scenario.loads(ENDLESS), out=tmp_path / "out")
        (first.partial / "mine").write_text("whole")
        first.put()
        with pytest.raises(ResultError, match="another process is writing to it"):
            save(tmp_path / "out", 1, replace=True)
    assert contents(tmp_path / "out").keys() == {"manifest.json", "mine"}
    save(tmp_path / "out", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_fails_leaves_no_folders(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a" / "b" / "out", "run"):
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (pl.exceptions.ComputeError("parquet: transport error"), "parquet: transport error"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "Disk quota exceeded"),
        (OSError("no words of the system's"), "no words of the system's"),
    ],
)
def test_the_reason_is_told(
    error: Exception, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(ResultError, match=f"cannot be written: {said}$"):
        save(tmp_path / "out", 1)
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_in_the_page_does_not_lose_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.report.run_folder.write_run_folder", lambda *_, **__: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ZeroDivisionError) as caught:
        run(Scenario.loads(ENDLESS), out=tmp_path / "out")
    (note,) = caught.value.__notes__
    assert note.startswith("what was measured is kept in ")
    assert Result.load(note.rpartition(" ")[2]).flows.height == 1


@pytest.mark.parametrize("name", ["flows.parquet", "summary.json", "report.html", "scenario.toml"])
def test_a_topology_file_with_a_name_of_ours_takes_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(GRAPH)
    text = ENDLESS.replace('"line"', f'"file:{name}"')
    run(Scenario.loads(text, base=tmp_path), out=tmp_path / "out")
    assert Result.load(tmp_path / "out").flows["delivered_bytes"][0] > 0
    kept = Scenario.load(tmp_path / "out" / "scenario.toml")
    assert kept.network.topology == f"file:topologies/{name}"
    assert (tmp_path / "out" / "report.html").read_text().startswith("<!doctype html>")
    assert run(kept).flows.height == 1


ORIGIN = {"version", "versions", "seed", "replication", "scenario_sha256", "topology_sha256"} | {
    "host",
    "started",
    "wall_s",
}


def test_the_summary_says_where_a_run_comes_from(tmp_path: Path) -> None:
    result = run(Scenario.loads(ENDLESS), out=tmp_path / "out", page=False)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary.keys() >= {"seed", "replication", "scenario_sha256", "host", "started", "wall_s"}
    assert summary["versions"].keys() == {"core", "polars", "python"}
    other = run(Scenario.loads(ENDLESS, {"run.seed": "2"}))
    assert other.summary["topology_sha256"] == result.summary["topology_sha256"]
    slow = run(Scenario.loads(ENDLESS, {"network.links.capacity": "1 Mbps"}))
    assert slow.summary["topology_sha256"] != result.summary["topology_sha256"]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["origin"] == {key: summary[key] for key in summary if key in ORIGIN}
    assert manifest["origin"].keys() == ORIGIN
    files = contents(tmp_path / "out")
    assert manifest["files"] == {
        name: {"bytes": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()}
        for name in sorted(files.keys() - {"manifest.json"})
    }
