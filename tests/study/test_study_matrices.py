"""A factor whose levels are the matrices of a series."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from anabranch import StudyError
from anabranch.study import Study

DATA = Path(__file__).parents[1] / "topology" / "traffic_data"
STUDY = """
[scenario.network]
node = [{ name = "a" }, { name = "b" }, { name = "c" }]
links = { capacity = "10 Mbps", delay = "1 ms" }
link = [{ between = ["a", "b"], new = true }, { between = ["b", "c"], new = true }]
[[scenario.traffic]]
matrix = { from = "file:FIRST" }
application = { kind = "udp", packet = "1000 B" }
[scenario.run]
duration = "200 ms"
[[factor]]
field = "traffic[0].matrix"
label = "time"
matrices = "file:SERIES"
[[metric]]
name = "sent"
table = "datagram_flows"
column = "sent"
statistic = "sum"
"""


def run(folder: Path, first: str, series: str) -> dict[str, float]:
    (folder / "s.toml").write_text(STUDY.replace("FIRST", first).replace("SERIES", series), encoding="utf-8")
    cells = Study.load(folder / "s.toml").run(jobs=1).cells
    return dict(zip(cells["time"], cells["sent"], strict=True))


def test_each_matrix_of_a_file_is_a_level(tmp_path: Path) -> None:
    """1.75 Mbps are 218.75 packets of 1 kB a second, and 3 Mbps 375: in 0.2 s 44 or 45, and 75."""
    for name in ("triangle.yates.txt", "triangle.yates.hosts"):
        shutil.copy(DATA / name, tmp_path / name)
    result = run(tmp_path, "triangle.yates.txt", "triangle.yates.txt")
    assert result == {"matrix 1": pytest.approx(44, abs=1), "matrix 2": pytest.approx(75, abs=1)}


@pytest.mark.parametrize("series", ["tms", "tms/*.xml"])
def test_files_of_a_folder_are_levels_by_their_times(series: str, tmp_path: Path) -> None:
    (tmp_path / "tms").mkdir()
    text = (DATA / "triangle.xml").read_text(encoding="utf-8")
    for minute, mbps in (("05", "1.5"), ("10", "3")):
        other = text.replace("0102-0305", f"0102-03{minute}").replace(">1.5", f">{mbps}")
        (tmp_path / "tms" / f"m{minute}.xml").write_text(other, encoding="utf-8")
    result = run(tmp_path, "tms/m05.xml", series)
    assert list(result) == ["20200102-0305", "20200102-0310"]
    assert result["20200102-0310"] == pytest.approx(result["20200102-0305"] + 0.2 * 1.5e6 / 8e3, abs=1)


MISTAKES = [
    ('matrices = "file:none*.xml"', "factor[0].matrices", '"none*.xml": there are no such files'),
    ('matrices = "tms"', "factor[0].matrices", '"tms" is not like "file:tms/*.xml"'),
    ('levels = [1]\nmatrices = "file:x"', "factor[0].levels", "the levels are the matrices; leave it out"),
    ('matrices = "file:flows.csv"', "factor[0].matrices", "(CSV of flows) has no traffic matrix"),
]


@pytest.mark.parametrize(("line", "place", "message"), MISTAKES)
def test_mistakes(line: str, place: str, message: str, tmp_path: Path) -> None:
    for name in ("triangle.xml", "flows.csv"):
        shutil.copy(DATA / name, tmp_path / name)
    text = STUDY.replace('matrices = "file:SERIES"', line).replace("FIRST", "triangle.xml")
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        Study.load(tmp_path / "s.toml").run(jobs=1)
    assert any(problem.place == place and message in problem.message for problem in caught.value.problems)


def test_the_field_is_a_table_of_a_matrix(tmp_path: Path) -> None:
    text = STUDY.replace("FIRST", "x").replace("SERIES", "x").replace('"traffic[0].matrix"', '"run.seed"')
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=r"factor\[0\]\.field: must be a table of a matrix"):
        Study.load(tmp_path / "s.toml")


def test_a_run_keeps_all_files_of_a_series(tmp_path: Path) -> None:
    """So that the scenario in its folder is the one that ran, with the names of nodes beside it."""
    from anabranch import Scenario  # noqa: PLC0415 - the study alone is of this file otherwise

    (tmp_path / "tms").mkdir()
    for number in (1, 2):
        shutil.copy(DATA / "triangle.demands", tmp_path / "tms" / f"{number}.demands")
    shutil.copy(DATA / "triangle.yates.txt", tmp_path / "y.txt")
    shutil.copy(DATA / "triangle.yates.hosts", tmp_path / "y.hosts")
    body = STUDY[: STUDY.index("[[factor]]")].replace("scenario.", "")
    for first, extra in (("tms/*.demands", ', interval = "100 ms"'), ("y.txt", ", number = 2")):
        text = body.replace('"file:FIRST"', f'"file:{first}"{extra}')
        (tmp_path / "x.toml").write_text(text, encoding="utf-8")
        out = tmp_path / f"out-{first[0]}"
        before = Scenario.load(tmp_path / "x.toml").run(out=out, page=False)
        again = Scenario.load(out / "scenario.toml").run()
        assert again.tables["datagram_flows"].equals(before.tables["datagram_flows"])
