"""Subflows on the page of a run: what the page holds against the tables that it comes from."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from html_runs import ABILENE, MULTIPATH, numbers, shown
from numpy.typing import NDArray

from anabranch import Result, Scenario
from anabranch.report.html import multipath_data as module
from anabranch.report.html.run_data import run_document
from anabranch.report.subflow_paths import between_ends, names_of_paths
from anabranch.report.views import subflows

WAYS = ["right", "right#2", "right#3", "right#4"]
"""The links between the routers, by the number that the scenario gives them."""


@pytest.fixture(scope="module")
def run() -> Result:
    """Two connections of 16 subflows over four parallel links."""
    return Scenario.loads(MULTIPATH).run()


def lines(series: dict[str, Any]) -> tuple[list[int], list[str]]:
    """The connection of each line, -1 for all of them, and its path."""
    connection = [-1 if line["row"] is None else line["row"] for line in series["lines"]]
    return connection, [line["label"].rpartition(" (")[0] for line in series["lines"]]


def values(series: dict[str, Any], axis: int) -> NDArray[np.float64]:
    """The values of an axis, by line and step."""
    return numbers(series["axes"][axis]["values"]).reshape(len(series["lines"]), -1)


def way(path: str) -> str:
    """The node behind the router on the left."""
    return path.split(" > ")[2]


def by_path(run: Result, flow: int | None) -> pl.DataFrame:
    """The sums over the subflows of each path and instant, by hand."""
    paths = {(flow, subflow): way(path) for flow, subflow, path in
             run.subflows.select("flow", "subflow", "path").iter_rows()}  # fmt: skip
    sums: dict[tuple[str, float], float] = {}
    for row in run.subflow_series.iter_rows(named=True):
        if flow is None or row["flow"] == flow:
            key = (paths[row["flow"], row["subflow"]], row["time_s"])
            sums[key] = sums.get(key, 0.0) + row["throughput_mbps"]
    rows = [(*key, value) for key, value in sums.items()]
    return pl.DataFrame(rows, ["way", "time_s", "sum"], orient="row").sort("time_s")


def test_a_run_without_subflows_has_no_section() -> None:
    assert run_document(Scenario.loads(ABILENE, {"run.duration": "100 ms"}).run())["multipath"] is None


def test_throughputs_of_a_path_are_the_sums_over_its_subflows(run: Result) -> None:
    series = run_document(run)["multipath"]["series"]
    connection, paths = lines(series)
    matrix = values(series, 0)
    times = numbers(series["times"])
    # All together, then each of the two.
    assert sorted(zip(connection, paths, strict=True)) == [(c, w) for c in (-1, 0, 1) for w in WAYS]
    for number, flow in ((-1, None), (0, 0), (1, 1)):
        expected = by_path(run, flow)
        for name in WAYS:
            (row,) = [i for i in range(len(paths)) if connection[i] == number and paths[i] == name]
            rows_of_one = expected.filter(pl.col("way") == name)
            at = np.searchsorted(times, rows_of_one["time_s"])
            np.testing.assert_allclose(matrix[row][at], rows_of_one["sum"], rtol=1e-6)
            assert np.isnan(np.delete(matrix[row], at)).all()
    counts = dict(line["label"].rstrip(")").split(" (") for line in series["lines"][:4])
    subflows_of = dict(run.subflows.group_by(pl.col("path").map_elements(way, pl.String)).len().rows())
    assert {path: int(count) for path, count in counts.items()} == subflows_of


def test_lines_do_not_hang_on_the_blocks_they_are_worked_on_in(
    run: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_document(run)["multipath"]["series"]
    # Blocks of a prime number of rows end in the middle of instants.
    monkeypatch.setattr(subflows, "_BLOCK_ROWS", 101)
    parts = run_document(run)["multipath"]["series"]
    for axis in range(2):
        np.testing.assert_allclose(values(parts, axis), values(whole, axis), rtol=1e-6)


def test_tables_have_every_connection_and_subflow(run: Result) -> None:
    data = run_document(run)["multipath"]
    columns = shown(data["subflows"])
    assert shown(data["connections"])["name"] == ["m.0", "m.1"]
    assert columns["connection"] == ["m.0"] * 16 + ["m.1"] * 16
    assert columns["path"] == run.subflows["path"].to_list()
    assert columns["state"] == run.subflows["state"].to_list()
    assert numbers(data["subflows"]["connection"]).tolist() == [0] * 16 + [1] * 16
    assert columns["delivered_bytes"].tolist() == run.subflows["delivered_bytes"].to_list()
    assert columns["rtt_mean_ms"] == pytest.approx(run.subflows["rtt_mean_ms"].to_numpy())


def test_many_paths_connections_and_subflows_are_bounded_and_said(
    run: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_PATHS", 2)
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 1)
    monkeypatch.setattr(module, "MOST_SUBFLOWS", 20)
    notes: list[str] = []
    data = module.multipath_data(run, notes)
    assert data is not None
    best = int(run.flows.sort("delivered_bytes", descending=True)["flow"][0])
    series = data["series"]
    connection, paths = lines(series)
    assert sorted(set(connection)) == [-1, best]
    assert [name for name in paths if name == "other paths"] == ["other paths"] * 2
    assert len(paths) == 6
    # Nothing is lost: the lines of all connections sum up to every subflow.
    matrix = values(series, 0)[:3]
    total = run.subflow_series.group_by("time_s").agg(pl.col("throughput_mbps").sum()).sort("time_s")
    at = np.searchsorted(numbers(series["times"]), total["time_s"])
    np.testing.assert_allclose(np.nansum(matrix, axis=0)[at], total["throughput_mbps"], rtol=1e-6)
    assert set(numbers(data["subflows"]["connection"]).tolist()) == {best}
    assert any("1 of 2 connections, which delivered most" in note for note in notes)
    assert any("1 of 2 connections have lines" in note for note in notes)


def test_paths_are_named_by_what_tells_them_apart() -> None:
    a, b, c = ("a", "x", "z"), ("a", "y", "w", "z"), ("a", "z")
    assert names_of_paths([a, b, a, ()]) == ["x", "y, w", "x", ""]
    # Nothing but common nodes, or the same nodes in another order: the whole path.
    assert names_of_paths([a, c]) == ["x", "a > z"]
    assert names_of_paths([("a", "b", "c"), ("b", "a", "c")]) == ["a > b > c", "b > a > c"]
    assert names_of_paths([]) == []


def test_a_path_without_its_hosts() -> None:
    assert between_ends("h > left > right#2 > s", "s") == ("left", "right#2")
    # The number of a parallel link at the end, and a path of one link, are all there is to tell.
    assert between_ends("h > left > s#2", "s") == ("left", "s#2")
    assert between_ends("h > s", "s") == ("h", "s")
    assert between_ends(None, "s") == ()


def test_lines_of_a_simulation_stand_beside_those_of_a_live_run(run: Result) -> None:
    doubled = run.subflow_series.with_columns(pl.col("throughput_mbps", "srtt_ms") * 2)
    later = doubled.tail(1).with_columns(time_s=pl.col("time_s") + 1e3)
    tables = {**run.tables, "simulated_subflow_series": pl.concat([doubled, later])}
    series = run_document(Result(tables, run.summary))["multipath"]["series"]
    for axis, simulated in zip(series["axes"], series["simulated"], strict=True):
        np.testing.assert_allclose(numbers(simulated), 2 * numbers(axis["values"]))
    assert run_document(run)["multipath"]["series"]["simulated"] is None
