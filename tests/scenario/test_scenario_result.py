"""Results: folders that are complete or absent, tables that read back, figures with labels."""

import hashlib
import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anabranch import Result, ResultError, Scenario, run
from anabranch.report.figures import compare_goodput, goodput_over_time
from anabranch.report.looks import look
from anabranch.report.style import save_figure
from anabranch.results.result import json_ready

from .conftest import BASE, EXAMPLES


def made(flows: int = 2, samples: int = 5) -> Result:
    """A result of known numbers: flow i has i + 1 Mbps all the time."""
    flow = np.arange(flows)
    time_s = np.arange(1, samples + 1) * 0.1
    tables = {
        "flows": {
            "flow": flow,
            "name": [f"traffic[0].{i}" for i in flow],
            "transport": ["cubic"] * flows,
            "completion_s": np.where(flow == 0, 1.5, np.nan),
        },
        "flow_series": {
            "time_s": np.repeat(time_s, flows),
            "flow": np.tile(flow, samples),
            "goodput_mbps": np.tile(flow + 1.0, samples),
        },
    }
    return Result.from_columns(tables, {"title": "cost: 5 $ & 6 $", "seed": 1, "interrupted": False})


def test_what_is_no_number_is_null() -> None:
    assert made().flows["completion_s"].to_list() == [1.5, None]


def test_a_table_that_is_not_there_is_told() -> None:
    with pytest.raises(ResultError, match="no table links; it has flows, flow_series"):
        _ = made().links


def test_a_result_reads_back(tmp_path: Path) -> None:
    result = made()
    folder = result.save(tmp_path / "a" / "b")
    again = Result.load(folder)
    assert again.summary == result.summary
    assert again.tables.keys() == result.tables.keys()
    for name, table in result.tables.items():
        assert again.tables[name].equals(table)


def test_a_failed_save_leaves_the_earlier_result_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made().save(tmp_path / "out")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(ResultError, match="cannot be written: No space left on device"):
        made(flows=3).save(folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("content", [None, b"{}", b"\xff", b"[]", b'{"format": "other"}'])
def test_another_folder_is_no_result(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "summary.json").write_bytes(content)
    (tmp_path / "other.txt").write_text("mine")
    with pytest.raises(ResultError, match="not a result folder"):
        Result.load(tmp_path)
    with pytest.raises(ResultError, match=r"did not write there: other\.txt"):
        made().save(tmp_path)
    assert (tmp_path / "other.txt").read_text() == "mine"


def test_a_damaged_table_is_told(tmp_path: Path) -> None:
    folder = made().save(tmp_path / "out")
    (folder / "flows.parquet").write_bytes(b"PAR1 not quite")
    with pytest.raises(ResultError, match="a table cannot be read"):
        Result.load(folder)


def test_json_has_no_numbers_that_json_lacks() -> None:
    value = {"a": [math.nan, math.inf, 1.5, np.float64(2.5), np.int64(3)], "b": ("x", None)}
    assert json_ready(value) == {"a": [None, None, 1.5, 2.5, 3], "b": ["x", None]}


def test_a_run_says_what_it_was(tmp_path: Path) -> None:
    scenario = Scenario.loads(BASE, {"run.seed": "5", "run.replication": "2"})
    result = run(scenario, out=tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    text = (tmp_path / "out" / "scenario.toml").read_bytes()
    assert summary["scenario_sha256"] == hashlib.sha256(text).hexdigest()
    assert (summary["seed"], summary["replication"], summary["interrupted"]) == (5, 2, False)
    assert summary["wall_s"] > 0
    assert any("Topology Zoo" in line for line in summary["network"])
    assert Scenario.load(tmp_path / "out" / "scenario.toml") == scenario
    assert Result.load(tmp_path / "out").flows.equals(result.flows)


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not(tmp_path: Path) -> None:
    lossy = {"network.links.loss": "0.01"}
    folders = {}
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        run(Scenario.loads(BASE, {**lossy, "run.seed": seed}), out=tmp_path / name)
        folders[name] = {file.name: file.read_bytes() for file in (tmp_path / name).glob("*.parquet")}
    assert len(folders["a"]) >= 5
    assert folders["a"] == folders["b"]
    assert folders["a"]["flows.parquet"] != folders["c"]["flows.parquet"]


def test_a_topology_file_goes_with_the_result(tmp_path: Path) -> None:
    graph = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>"""
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "two.graphml").write_text(graph)
    text = (
        BASE.replace('"zoo/Abilene"', '"file:nets/two.graphml"')
        .replace("Seattle", "a")
        .replace("Atlanta", "b")
    )
    scenario = Scenario.loads(text.replace('"10 Mbps"', '"10 Mbps"\ndelay = "1 ms"'), base=tmp_path)
    run(scenario, out=tmp_path / "out")
    kept = Scenario.load(tmp_path / "out" / "scenario.toml")
    assert kept.network.topology == "file:topologies/two.graphml"
    again = run(kept)
    assert again.flows.equals(Result.load(tmp_path / "out").flows)


def test_captures_go_into_the_result(tmp_path: Path) -> None:
    scenario = Scenario.load(EXAMPLES / "lossy.toml", {"run.duration": "1 s"})
    run(scenario, out=tmp_path / "out")
    # The block type of a pcapng section header (draft-ietf-opsawg-pcapng section 4.1).
    assert (tmp_path / "out" / "source.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


# --- figures


def test_goodput_is_drawn_for_each_flow_and_all_together() -> None:
    figure = goodput_over_time(made())
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time in ms", "goodput in Mbps")
    lines = {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}
    assert lines == {"traffic[0].0": [1] * 5, "traffic[0].1": [2] * 5, "all 2 flows": [3] * 5}


def test_many_flows_become_their_mean_with_a_band() -> None:
    (axes,) = goodput_over_time(made(flows=20)).axes
    (line,) = axes.get_lines()
    assert line.get_label() == "cubic: mean and 5\N{EN DASH}95 % of 20 flows"
    # The mean of 1 to 20.
    assert list(line.get_ydata()) == [10.5] * 5


def test_runs_are_compared_in_panels() -> None:
    result = made()
    figure = compare_goodput({"one": {"cubic": result, "bbr": result}, "two": {"cubic": result}})
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two"]
    # A transport has its colour in every figure.
    colors = [line.get_color() for line in figure.axes[0].get_lines()]
    assert colors == [look("cubic").color, look("bbr").color]
    assert colors[0] != colors[1]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_figure_has_the_same_bytes(tmp_path: Path, ending: str) -> None:
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        save_figure(goodput_over_time(made()), file)
    assert files[0].read_bytes() == files[1].read_bytes()
