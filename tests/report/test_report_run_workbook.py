"""The workbook of a run: its tables, and charts whose numbers are those of print and of the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from html_runs import ABILENE, numbers
from made_run import drawn, made_run
from workbook import Workbook, read_workbook

from anabranch import Result, ResultError, Scenario
from anabranch.media.page.charts import chart_data, steps_of
from anabranch.report.run_workbook import save_run_workbook
from anabranch.report.views.charts import run_charts
from anabranch.report.views.choice import TimeRange
from anabranch.report.views.over_time import GOODPUT, flow_chart

pytest.importorskip("xlsxwriter", reason="not installed: XlsxWriter")


@pytest.fixture(scope="module")
def run() -> Result:
    return Scenario.loads(ABILENE).run()


def saved(result: Result, folder: Path) -> Workbook:
    save_run_workbook(result, folder / "run.xlsx")
    return read_workbook(folder / "run.xlsx")


def test_a_sheet_for_each_table_and_each_chart(run: Result, tmp_path: Path) -> None:
    book = saved(run, tmp_path)
    assert list(book.cells) == [
        "flows", "links", "reordering", "events",
        "goodput", "rtt", "cwnd", "queue", "utilization", "drops", "completion_times", "reordering (2)",
    ]  # fmt: skip
    assert [chart.title for chart in book.charts] == [chart.name for chart in run_charts(run)]
    first = (tmp_path / "run.xlsx").read_bytes()
    saved(run, tmp_path)
    assert (tmp_path / "run.xlsx").read_bytes() == first


def test_print_page_and_workbook_have_the_same_lines(run: Result, tmp_path: Path) -> None:
    chart = flow_chart(run, "goodput", GOODPUT, None, None, TimeRange())
    page = chart_data(chart, steps_of(chart))
    printed = drawn(run.plot.goodput())
    (sheet,) = [one for one in saved(run, tmp_path).charts if one.title == "goodput"]
    book = saved(run, tmp_path)
    values = numbers(page["axes"][0]["values"]).reshape(len(page["lines"]), -1)
    assert [one.name for one in sheet.series] == [line["label"] for line in page["lines"]] == list(printed)
    assert len(printed) == 8
    for series, on_page, (times, on_paper) in zip(sheet.series, values, printed.values(), strict=True):
        cells = [np.nan if cell is None else float(cell) for cell in book.at(series.values)]
        expected = np.isfinite(cells)
        np.testing.assert_allclose(cells, on_page, rtol=1e-6)
        np.testing.assert_allclose(np.array(cells)[expected], np.array(on_paper)[np.isfinite(on_paper)])
        at = np.array(book.at(series.categories), dtype=float)
        assert at[expected].tolist() == np.array(times)[np.isfinite(on_paper)].tolist()


def test_a_distribution_has_the_corners_of_its_steps(tmp_path: Path) -> None:
    # One of four flows that can complete has not.
    result = made_run(["cubic"] * 4, completion_s=[1.0, 2.0, 2.0, np.nan])
    tables = {**result.tables, "links": result.links.with_columns(queue_mean_packets=0.0, packets=0)}
    book = saved(Result(tables, result.summary), tmp_path)
    (chart,) = [one for one in book.charts if one.title == "completion_times"]
    (series,) = chart.series
    corners = list(zip(book.at(series.categories), book.at(series.values), strict=True))
    assert [corner for corner in corners if None not in corner] == [
        (1, 0), (1, 0), (1, 1 / 4), (2, 1 / 4), (2, 3 / 4),
    ]  # fmt: skip
    assert chart.axes == ["completion time in s", "share of flows"]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="--xlsx: this is no run"):
        save_run_workbook(None, tmp_path / "x.xlsx")
    assert not (tmp_path / "x.xlsx").exists()
