"""What a folder says of itself that it grows takes nothing from its user, who may have it from elsewhere."""

import json
from pathlib import Path

import numpy as np
import pytest
from lines import SIZED

from anabranch import Result, ResultError, Scenario, Study, StudyError
from anabranch.export.write import export
from anabranch.results.folders import adding

STUDY = """
replications = 1
keep = "tables"
scenario = "line.toml"
[[factor]]
field = "network.links.delay"
levels = ["1 ms", "2 ms"]
"""
MINE = "six years of work\n"
FIRST = "tables/flows/000000.parquet"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "line.toml").write_text(SIZED)
    (tmp_path / "study.toml").write_text(STUDY)
    return Study.load(tmp_path / "study.toml")


def claim(folder: Path, *names: str) -> None:
    """Lets the manifest of a folder say that names grow."""
    data = json.loads((folder / "manifest.json").read_text())
    data["growing"] = [*data.get("growing", []), *names]
    (folder / "manifest.json").write_text(json.dumps(data))


def plant(folder: Path, *names: str) -> None:
    """The user's own text under names, in the place of what is there."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(MINE)


def mine(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    texts = [path for path in files if path.read_bytes() == MINE.encode()]
    return sorted(path.relative_to(folder).as_posix() for path in texts)


@pytest.mark.parametrize("command", ["run", "export"])
def test_a_received_result_that_says_it_grows_takes_nothing(command: str, tmp_path: Path) -> None:
    got = tmp_path / "got"
    scenario = Scenario.loads(SIZED)
    scenario.run(out=got, page=False)
    claim(got, "thesis.tex", "notes/", "flows.csv", "flows.parquet", "summary.json")
    users = ["notes/mine.txt", "thesis.tex"]
    plant(got, *users, "flows.csv", "flows.parquet")
    if command == "run":
        with pytest.raises(ResultError, match=r"flows\.csv, flows\.parquet, notes/, thesis\.tex; "):
            scenario.run(out=got, page=False)
        scenario.run(out=got, page=False, replace=True)
        assert mine(got) == ["flows.csv", "flows.parquet.~1~", *users]
    else:
        export(scenario, "csv", got, replace=True)
        assert mine(got) == ["flows.csv", "flows.parquet", *users]


def test_a_folder_that_gets_files_believes_no_name_but_its_own(tmp_path: Path) -> None:
    with adding(tmp_path / "out", "pages") as place:
        (place.partial / "known").write_text("ours")
        place.put()
    claim(tmp_path / "out", "README.md", "figures/")
    plant(tmp_path / "out", "README.md", "figures/mine.png")
    for claims in (["README.md"], ["figures/"]):
        with (
            pytest.raises(ResultError, match=f"did not write there: {claims[0]}; "),
            adding(tmp_path / "out", "pages", claims),
        ):
            pytest.fail("it works")


def test_a_study_believes_no_name_but_its_own(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "st"
    study.run(jobs=1, out=out)
    claim(out, "cells.csv")
    plant(out, "cells.csv")
    with pytest.raises(StudyError, match=r"did not write there: cells\.csv; "):
        study.run(jobs=1, out=out)
    study.run(jobs=1, out=out, replace=True)
    assert mine(out) == ["cells.csv.~1~"]
    assert (out / "cells.csv").read_text().startswith("cell,")


@pytest.mark.parametrize("command", ["run", "export", "save"])
def test_what_is_put_over_a_study_keeps_its_journal_and_tables(
    command: str, study: Study, tmp_path: Path
) -> None:
    """They have no hash by which anybody knows that the user has not changed them."""
    out = tmp_path / "st"
    study.run(jobs=1, out=out)
    plant(out, "tables/mine.txt")
    kept = {name: (out / name).read_bytes() for name in ("journal.jsonl", FIRST)}
    scenario = Scenario.loads(SIZED)
    if command == "run":
        with pytest.raises(ResultError, match="has a result of another kind"):
            scenario.run(out=out, page=False)
        scenario.run(out=out, page=False, replace=True)
    elif command == "export":
        export(scenario, "csv", out, replace=True)
    else:
        Result.from_columns({"numbers": {"number": np.arange(1)}}, {}).save(out, page=False, replace=True)
    assert mine(out) == ["tables/mine.txt"]
    assert {name: (out / name).read_bytes() for name in kept} == kept
    assert not (out / "study.json").exists()


def test_a_table_of_the_users_makes_way_for_that_of_a_run(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "st"
    study.run(jobs=1, out=out)
    written = (out / FIRST).read_bytes()
    second = out / "tables/flows/000001.parquet"
    inode = second.stat().st_ino
    (out / "journal.jsonl").unlink()
    plant(out, FIRST)
    study.run(jobs=1, out=out)
    assert mine(out) == [f"{FIRST}.~1~"]
    assert (out / FIRST).read_bytes() == written
    # What holds the same already is kept.
    assert second.stat().st_ino == inode
