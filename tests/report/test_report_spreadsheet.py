"""The spreadsheet, read back from its XML."""

import math
import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from made_study import GAP, LOSS, SIZE, TRANSPORT, FactorInfo, MadeStudy, MetricInfo, make, with_levels
from workbook import Workbook, read_workbook

from anabranch.errors import ResultError
from anabranch.report.looks import look
from anabranch.report.spreadsheet import number_format, save_spreadsheet, sheet_names
from anabranch.report.study import write_outputs
from anabranch.report.views.outcome import StudyOutcome

FCT = "mean flow completion time in us"
"""31 letters, which is as long as the name of a sheet may be."""

# Figure A.3 of the thesis: inter-arrival time in us, then segments, and the mean flow completion time in us.
FIGURE_A3 = {
    100.0: (1172.17, 308.17, *(184.77,) * 9),
    500.0: (5504.97, 4100.26, 3010.50, 1844.28, 848.92, 512.34, *(512.19,) * 5),
    1000.0: (
        10920.97,
        9516.26,
        8194.72,
        6922.44,
        5956.31,
        4700.74,
        3500.65,
        2350.79,
        1378.46,
        920.69,
        920.54,
    ),
}


def saved(result: StudyOutcome, folder: Path) -> Workbook:
    """The spreadsheet of a study, written and read back."""
    return read_workbook(save_spreadsheet(result, folder / "study.xlsx"))


def row_of(book: Workbook, sheet: str, row: int) -> list[object]:
    """The cells of a row that hold something."""
    return [value for address, value in book.cells[sheet].items()
            if re.fullmatch(rf"[A-Z]+{row}", address) and value is not None]  # fmt: skip


def test_the_table_of_figure_a3_is_in_the_sheet(tmp_path: Path) -> None:
    gap = with_levels(GAP, *(100.0 * n for n in range(11)))
    result = make(gap, SIZE, formula=lambda at: FIGURE_A3[float(at[1])][int(float(at[0]) / 100)])
    book = saved(result, tmp_path)
    assert row_of(book, FCT, 1) == [FCT]
    assert row_of(book, FCT, 4) == ["segments"]
    assert row_of(book, FCT, 5) == ["inter-arrival time in us", "segments = 100", "±", "segments = 500", "±",
                                    "segments = 1000", "±"]  # fmt: skip
    for index, level in enumerate(gap.levels):
        numbers = row_of(book, FCT, 6 + index)
        assert numbers[0] == level
        assert numbers[1::2] == pytest.approx([FIGURE_A3[size][index] for size in FIGURE_A3])
        assert numbers[2::2] == pytest.approx([FIGURE_A3[size][index] / 10 for size in FIGURE_A3])
    assert row_of(book, FCT, 17) == []
    assert book.frozen[FCT] == "B6"
    assert "#,##0.00" in book.formats


def test_a_continuous_first_factor_has_lines_over_numbers(lines: MadeStudy, tmp_path: Path) -> None:
    (chart,) = saved(lines, tmp_path).charts
    assert (chart.kind, chart.scatter_style) == ("scatterChart", "lineMarker")
    assert chart.title == "Incast at one switch"
    assert chart.axes == ["inter-arrival time in us", FCT]
    assert chart.legend
    assert not chart.logarithmic


def test_a_categorical_first_factor_has_bars(bars: MadeStudy, tmp_path: Path) -> None:
    book = saved(bars, tmp_path)
    (chart,) = book.charts
    assert chart.kind == "barChart"
    assert chart.axes == ["transport", FCT]
    assert {tuple(book.at(series.categories)) for series in chart.series} == {("cubic", "bbr", "sdn-paced")}


@pytest.mark.parametrize(
    "factors", [(GAP, SIZE), (TRANSPORT, SIZE), (GAP, TRANSPORT), (GAP, TRANSPORT, LOSS)]
)
def test_series_refer_to_the_cells_of_their_level(factors: tuple[FactorInfo, ...], tmp_path: Path) -> None:
    result = make(*factors)
    book = saved(result, tmp_path)
    first, second = factors[:2]
    rest = LOSS.levels if len(factors) > 2 else (None,)
    assert len(book.charts) == len(rest)
    seen = 0
    for chart, fixed in zip(book.charts, rest, strict=True):
        assert chart.title == ("Incast at one switch" if fixed is None else f"loss = {fixed:g} %")
        assert len(chart.series) == len(second.levels)
        for series, level in zip(chart.series, second.levels, strict=True):
            cells = result.cells.filter(pl.col(second.name) == level)
            if fixed is not None:
                cells = cells.filter(pl.col("loss") == fixed)
            assert book.one(series.name) in (level, f"segments = {level:g}" if level != str(level) else level)
            assert book.at(series.categories) == list(first.levels)
            assert book.at(series.values) == pytest.approx(cells["fct_us"].to_list())
            widths = pytest.approx(cells["fct_us_ci"].to_list())
            assert book.at(str(series.plus)) == book.at(str(series.minus)) == widths
            seen += 1
    assert seen == len(rest) * len(second.levels)


def test_transports_have_their_colours(tmp_path: Path) -> None:
    names = ("sdn-paced", "linux-cubic", "cubic")
    (chart,) = saved(make(GAP, with_levels(TRANSPORT, *names)), tmp_path).charts
    assert [series.color for series in chart.series] == [look(name).color for name in names]


def test_levels_far_apart_have_a_logarithmic_axis(tmp_path: Path) -> None:
    (chart,) = saved(make(with_levels(LOSS, 1e-4, 1e-3, 1e-2)), tmp_path).charts
    assert chart.logarithmic


def test_one_factor_has_the_extremes_beside_it_and_no_legend(tmp_path: Path) -> None:
    book = saved(make(GAP), tmp_path)
    assert row_of(book, FCT, 5) == ["inter-arrival time in us", "mean", "±", "smallest", "largest"]
    # The runs of a cell are 1 apart.
    assert row_of(book, FCT, 7) == [100.0, 2.25, pytest.approx(0.225), 1.25, 3.25]
    (chart,) = book.charts
    assert not chart.legend


def test_no_factor_gives_one_row_and_no_chart(tmp_path: Path) -> None:
    book = saved(make(), tmp_path)
    assert row_of(book, FCT, 6) == ["all runs", 1.25, 0.125, 0.25, 2.25]
    assert row_of(book, FCT, 7) == []
    assert book.charts == []


def test_one_replication_has_no_intervals_and_no_error_bars(tmp_path: Path) -> None:
    book = saved(make(GAP, SIZE, replications=1), tmp_path)
    assert "±" not in book.cells[FCT].values()
    assert {series.plus for series in book.charts[0].series} == {None}


def test_the_first_sheet_says_what_was_studied(blocks: MadeStudy, tmp_path: Path) -> None:
    book = saved(blocks, tmp_path)
    assert list(book.cells) == ["Study", FCT, "Cells", "Runs"]
    facts = [row_of(book, "Study", row) for row in range(1, 9)]
    assert facts[0] == ["Incast at one switch"]
    assert facts[2:6] == [["Runs", 72], ["Failed runs", 0], ["Cells", 24], ["Replications of each cell", 3]]
    assert facts[6] == ["Confidence of the intervals in %", 95]
    assert facts[7][0] == "Anabranch version"
    assert row_of(book, "Study", 11) == [
        "inter-arrival time",
        "us",
        "continuous",
        "gap_us",
        "0, 100, 200, 300",
    ]


def test_what_failed_is_empty_never_zero_and_listed_with_its_reason(tmp_path: Path) -> None:
    result = make(GAP, SIZE, formula=lambda at: None if at == (100.0, 500.0) else 7.0)
    book = saved(result, tmp_path)
    assert row_of(book, FCT, 7) == [100.0, 7.0, pytest.approx(0.7), 7.0, pytest.approx(0.7)]
    assert book.at(book.charts[0].series[1].values) == [7.0, None, 7.0, 7.0]
    assert 0.0 not in [book.cells[FCT][f"{column}7"] for column in "BCDEFG"]
    assert row_of(book, "Failed", 2) == [12, 4, 0, "=no way: ended", 100.0, 500.0, "failed"]
    assert row_of(book, "Failed", 5) == []
    assert book.formulas == 0


def test_cells_that_were_not_run_are_empty(lines: MadeStudy, tmp_path: Path) -> None:
    book = saved(replace(lines, cells=lines.cells.head(4)), tmp_path)
    assert book.at(book.charts[0].series[2].values) == [3.25, None, None, None]
    nothing = replace(lines, cells=lines.cells.clear(), runs=lines.runs.clear())
    assert row_of(saved(nothing, tmp_path), FCT, 6) == [0.0]


def test_what_is_no_number_never_reaches_the_file(lines: MadeStudy, tmp_path: Path) -> None:
    odd = pl.when(pl.col("cell") == 0).then(float("nan")).when(pl.col("cell") == 1).then(float("inf"))
    frames = {name: getattr(lines, name).with_columns(odd.otherwise(pl.col("fct_us")).alias("fct_us"))
              for name in ("runs", "cells")}  # fmt: skip
    file = save_spreadsheet(replace(lines, **frames), tmp_path / "study.xlsx")
    book = read_workbook(file)
    assert [book.at(series.values)[0] for series in book.charts[0].series] == [None, None, 3.25]
    with zipfile.ZipFile(file) as archive:
        contents = [archive.read(name).lower() for name in archive.namelist()]
    assert len(contents) > 10
    assert not [content for content in contents if re.search(rb">(nan|-?inf|#num!|#div/0!)<", content)]


def test_runs_and_cells_are_all_there(lines: MadeStudy, tmp_path: Path) -> None:
    book = saved(lines, tmp_path)
    for sheet, frame in (("Runs", lines.runs), ("Cells", lines.cells)):
        rows = [row_of(book, sheet, 2 + row) for row in range(len(frame))]
        assert rows == [pytest.approx([v for v in row if v is not None]) if sheet == "Cells" else
                        [v for v in row if v is not None] for row in frame.iter_rows()]  # fmt: skip
        assert book.frozen[sheet] == "B2"
        assert row_of(book, sheet, 2 + len(frame)) == []


NASTY = ("=1+1", "$x$ & <b>", "nan", "_hidden", "inf", "", "line\nbreak\x07", "'quoted'", "語" * 50, "{=A1}")


@pytest.mark.parametrize("factors", [(GAP, with_levels(TRANSPORT, *NASTY)), (with_levels(TRANSPORT, *NASTY),),
                                     (with_levels(TRANSPORT, "nan", "inf"), SIZE)])  # fmt: skip
def test_nasty_labels_stay_text(factors: tuple[FactorInfo, ...], tmp_path: Path) -> None:
    labels = [
        MetricInfo("a", "=SUM(A1:A9)"),
        MetricInfo("b", "[queue]: max/mean * 'x'?"),
        MetricInfo("c", "!"),
    ]
    file = save_spreadsheet(
        make(*factors, metrics=labels, title="=HYPERLINK(1)\x00"), tmp_path / "study.xlsx"
    )
    book = read_workbook(file)
    assert list(book.cells)[1:4] == ["=SUM(A1-A9)", "-queue-- max-mean - 'x'-", "!"]
    assert book.formulas == 0
    assert row_of(book, "Study", 1) == ["=HYPERLINK(1)\N{REPLACEMENT CHARACTER}"]
    assert len(book.charts) == 3
    with zipfile.ZipFile(file) as archive:
        charts = [archive.read(name) for name in archive.namelist() if "charts/chart" in name]
    numbers = [value for chart in charts for cache in re.findall(rb"<c:numCache>.*?</c:numCache>", chart)
               for value in re.findall(rb"<c:v>(.*?)</c:v>", cache)]  # fmt: skip
    assert len(numbers) > 10
    assert all(math.isfinite(float(value)) for value in numbers)


def test_names_of_sheets_are_such_that_excel_takes_them() -> None:
    long = "share of the time that the bottleneck was busy in %"
    wanted = [(long, "busy_percent"), (long, "busy_percent"), (long, long + " 1"), (long, long + " 2"),
              ("Runs", "runs"), ("History", "h"), ("a/b:c", "x"), ("A-B-C", "x"), ("***", ""), ("", ""),
              ("😀" * 20, "😀" * 20), ("'", "' '")]  # fmt: skip
    names = sheet_names(wanted, ["Study", "Runs"])
    assert len({name.lower() for name in names}) == len(wanted)
    assert not {"runs", "study", "history"} & {name.lower() for name in names}
    for name in names:
        assert 1 <= len(name.encode("utf-16-le")) // 2 <= 31
        assert not re.search(r"[\[\]:*?/\\]|^'|'$", name)
    assert names[:2] == ["busy_percent", "busy_percent (2)"]
    assert names[6:8] == ["a-b-c", "A-B-C (2)"]


@pytest.mark.parametrize(
    ("values", "form"),
    [((1172.17, 184.77), "#,##0.00"), ((3.0, 12.0, 0.0), "#,##0"), ((0.0123,), "#,##0.0000"), ((), "#,##0"),
     ((1e-9, 1.5), "0.000E+00"), ((2.5e12,), "#,##0"), ((2.5e12, 0.5), "0.000E+00"), ((-0.25,), "#,##0.000")],
)  # fmt: skip
def test_numbers_show_three_digits_at_least(values: tuple[float, ...], form: str) -> None:
    assert number_format(values) == form


def test_the_same_study_has_the_same_bytes(blocks: MadeStudy, tmp_path: Path) -> None:
    first = save_spreadsheet(blocks, tmp_path / "a.xlsx").read_bytes()
    assert first == save_spreadsheet(blocks, tmp_path / "b.xlsx").read_bytes()
    changed = replace(blocks, title="another")
    assert first != save_spreadsheet(changed, tmp_path / "c.xlsx").read_bytes()


def test_a_file_in_the_place_of_the_folder_is_an_error_with_a_remedy(
    lines: MadeStudy, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(ResultError, match=r"study\.xlsx: cannot be written: .*; a part of this path"):
        write_outputs(lines, tmp_path / "out")


@pytest.mark.skipif(shutil.which("soffice") is None, reason="not installed: LibreOffice")
def test_libreoffice_reads_the_numbers_and_draws_the_charts(blocks: MadeStudy, tmp_path: Path) -> None:
    file = save_spreadsheet(blocks, tmp_path / "study.xlsx")
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "fods", "--outdir", str(tmp_path), str(file)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603
    text = (tmp_path / "study.fods").read_text(encoding="utf-8")
    tables = re.findall(r'<table:table table:name="([^"]*)"', text)
    assert [name for name in tables if name != "local-table"] == ["Study", FCT, "Cells", "Runs"]
    # One chart for each loss, of lines, with as many series as there are transports.
    assert text.count('chart:class="chart:scatter"') >= 2
    assert text.count("<chart:error-indicator") >= 2 * 3
    values = re.findall(r'office:value="([-+.\dE]+)"', text)
    assert set(blocks.cells["fct_us"].to_list()) <= {float(value) for value in values}
