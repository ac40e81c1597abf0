"""Figures of studies: what is drawn is what was measured."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_study import GAP, LOSS, SIZE, TRANSPORT, FactorInfo, MadeStudy, MetricInfo, make, with_levels
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text

from anabranch.errors import ResultError
from anabranch.report.looks import look
from anabranch.report.study import study_figure, write_outputs
from anabranch.report.study_figures import panels_abreast
from anabranch.report.style import save_figure

FCT = "mean flow completion time in us"


def legend_of(figure: Figure) -> list[str]:
    """The entries of the legend, inside or outside."""
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    assert len(legends) <= 1
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def texts_of(figure: Figure) -> list[Text]:
    """Every text that is drawn: titles, names of axes, ticks within the axes, the legend, notes."""
    entries = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in figure.axes:
        # Matplotlib has no public way to the title on the left.
        entries += [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = axis.get_view_interval()
            entries += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in entries if text.get_visible() and text.get_text().strip("\u200b")]


def cut_off(figure: Figure) -> list[str]:
    """Texts that are not wholly inside the figure."""
    FigureCanvasAgg(figure).draw()
    whole = figure.bbox
    texts = texts_of(figure)
    assert len(texts) >= 4
    entries = []
    for text in texts:
        box = text.get_window_extent()
        inside = whole.x0 - 1 < box.x0 and box.x1 < whole.x1 + 1
        if not (inside and whole.y0 - 1 < box.y0 and box.y1 < whole.y1 + 1):
            entries.append(text.get_text())
    return entries


def test_a_line_for_each_level_with_its_intervals(lines: MadeStudy) -> None:
    figure = study_figure(lines, "fct_us")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("inter-arrival time in us", FCT)
    assert figure.get_suptitle() == "Incast at one switch"
    assert legend_of(figure) == ["100", "500", "1000"]
    drawn = [container for container in axes.containers if isinstance(container, ErrorbarContainer)]
    assert len(drawn) == 3
    for container, size in zip(drawn, SIZE.levels, strict=True):
        cells = lines.cells.filter(lines.cells["segments"] == size)
        line, _, (bars,) = container.lines
        assert list(line.get_xdata()) == list(GAP.levels)
        assert list(line.get_ydata()) == cells["fct_us"].to_list()
        heights = [segment[1][1] - segment[0][1] for segment in bars.get_segments()]
        assert heights == pytest.approx([2 * width for width in cells["fct_us_ci"].to_list()])
    assert axes.get_ylim()[0] == 0


def test_groups_of_bars_for_a_categorical_factor(bars: MadeStudy) -> None:
    figure = study_figure(bars, "fct_us")
    (axes,) = figure.axes
    groups = [container for container in axes.containers if isinstance(container, BarContainer)]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == list(TRANSPORT.levels)
    for group, size in zip(groups, SIZE.levels, strict=True):
        cells = bars.cells.filter(bars.cells["segments"] == size)
        assert [bar.get_height() for bar in group] == cells["fct_us"].to_list()
    spans = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for group in groups for bar in group)
    assert all(before[1] <= after[0] + 1e-9 for before, after in itertools.pairwise(spans))


def test_a_panel_for_each_level_of_the_third_factor_on_one_scale(blocks: MadeStudy) -> None:
    figure = study_figure(blocks, "fct_us")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["loss = 0 %", "loss = 0.1 %"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert legend_of(figure) == list(TRANSPORT.levels)
    colors = [container.lines[0].get_color() for container in figure.axes[1].containers]
    assert colors == [look(str(name)).color for name in TRANSPORT.levels]


def test_transports_along_the_axis_have_their_colours_too() -> None:
    (axes,) = study_figure(make(TRANSPORT), "fct_us").axes
    (group,) = [container for container in axes.containers if isinstance(container, BarContainer)]
    faces = [tuple(bar.get_edgecolor()) for bar in group]
    colors = [look(str(name)).color for name in TRANSPORT.levels]
    assert faces == [(*(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)), 1.0) for color in colors]


def test_what_was_not_measured_is_a_gap() -> None:
    figure = study_figure(make(GAP, formula=lambda at: None if at == (100.0,) else 5.0), "fct_us")
    line = figure.axes[0].containers[0].lines[0]
    assert np.isnan(line.get_ydata()).tolist() == [False, True, False, False]


def test_long_lines_have_shaded_intervals() -> None:
    (axes,) = study_figure(make(with_levels(GAP, *map(float, range(30)))), "fct_us").axes
    assert len(axes.collections) == 1
    assert axes.containers[0].lines[2] == ()


def test_loss_over_decades_is_on_a_logarithmic_axis() -> None:
    (axes,) = study_figure(make(with_levels(LOSS, 1e-4, 1e-3, 1e-2)), "fct_us").axes
    assert axes.get_xscale() == "log"


def test_twelve_series_are_all_different_and_beside_the_axes() -> None:
    names = ("newreno", "cubic", "bbr", "linux-reno", "linux-cubic", "linux-bbr", "sdn-paced", "window-clamp",
             "mprc", "tcp-pr", "rr-tcp", "mptcp")  # fmt: skip
    figure = study_figure(make(GAP, with_levels(TRANSPORT, *names)), "fct_us")
    lines = [container.lines[0] for container in figure.axes[0].containers]
    assert len({(line.get_color(), line.get_markerfacecolor(), line.get_marker()) for line in lines}) == 12
    assert len(figure.legends) == 1
    FigureCanvasAgg(figure).draw()
    assert figure.legends[0].get_window_extent().x0 >= figure.axes[0].get_window_extent().x1
    assert cut_off(figure) == []


LONG_NAMES = tuple(f"a very long name of a network, number {number}" for number in range(5))
LONG = FactorInfo(
    "x",
    "how the network is built",
    "categorical",
    None,
    LONG_NAMES,
)
CASES = {
    "lines": (GAP, SIZE),
    "bars": (TRANSPORT, SIZE),
    "panels": (GAP, TRANSPORT, LOSS),
    "long names": (LONG, TRANSPORT),
    "long series": (GAP, LONG),
    "long panels": (GAP, TRANSPORT, LONG),
    "four factors": (GAP, TRANSPORT, LOSS, with_levels(SIZE, 1.0, 2.0)),
    "nasty": (
        with_levels(TRANSPORT, "$x^$", "_a", "", "a\nb", "<b>"),
        with_levels(TRANSPORT, "_y", "$", "=1"),
    ),
    "one level": (with_levels(GAP, 5.0),),
    "none": (),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_cut_off(case: str) -> None:
    factors = tuple(replace(factor, name=f"f{n}") for n, factor in enumerate(CASES[case]))
    title = (
        "A rather long title, as people write them: completion times and queues at one switch, by transport"
    )
    figure = study_figure(make(*factors, title=title), "fct_us")
    assert cut_off(figure) == []
    ticks = {
        tick.label1
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
    }
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts_of(figure) if text not in ticks]
    pairs = itertools.combinations(boxes, 2)
    assert [(one, other) for (one, a), (other, b) in pairs if a.overlaps(b)] == []
    assert min(axes.get_window_extent().height for axes in figure.axes) > 1.4 * figure.dpi


def test_a_study_without_any_cell_has_empty_axes(lines: MadeStudy, blocks: MadeStudy, tmp_path: Path) -> None:
    for result in (lines, blocks):
        figure = study_figure(replace(result, cells=result.cells.clear()), "fct_us")
        save_figure(figure, tmp_path / "a.png")
        assert np.isnan(figure.axes[0].containers[0].lines[0].get_ydata()).all()


def test_values_that_lie_close_together_do_not_start_at_zero() -> None:
    (axes,) = study_figure(make(GAP, formula=lambda at: 99.0 + float(at[0]) / 1000), "fct_us").axes
    assert axes.get_ylim()[0] > 50
    (axes,) = study_figure(make(TRANSPORT, formula=lambda _: 99.0), "fct_us").axes
    assert axes.get_ylim()[0] == 0


def test_files_of_a_study(tmp_path: Path) -> None:
    metrics = (MetricInfo("fct_us", FCT), MetricInfo("queue/max", "largest queue in packets"))
    written = write_outputs(make(GAP, SIZE, metrics=metrics), tmp_path / "out", figures=("png", "svg"))
    names = [file.relative_to(tmp_path / "out").as_posix() for file in written]
    assert names == ["study.xlsx", "figures/fct_us.png", "figures/fct_us.svg", "figures/queue-max.png",
                     "figures/queue-max.svg"]  # fmt: skip
    there = {path for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert there == set(written)
    again = [file.read_bytes() for file in written]
    write_outputs(make(GAP, SIZE, metrics=metrics), tmp_path / "out", figures=("png", "svg"))
    assert [file.read_bytes() for file in written] == again


def test_nothing_is_written_that_was_not_asked_for(lines: MadeStudy, tmp_path: Path) -> None:
    assert write_outputs(lines, tmp_path / "out", spreadsheet=False, figures=()) == []
    assert not (tmp_path / "out").exists()


def test_mistakes_are_answered_with_what_there_is(lines: MadeStudy, tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="no metric queue; it has fct_us"):
        study_figure(lines, "queue")
    with pytest.raises(ResultError, match="no form 'gif'; choose from png, pdf, svg"):
        write_outputs(lines, tmp_path, figures=("gif",))


def marks_of(axes: Axes) -> list[Text]:
    """The marks that are drawn on the axis of the first factor."""
    low, high = axes.get_xlim()
    ticks = [tick for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [tick.label1 for tick in ticks if tick.label1.get_text()]


@pytest.mark.parametrize("width", [None, 3.4])
@pytest.mark.parametrize("panels", [1, 2, 3, 5])
def test_a_sweep_over_zero_and_decades_is_even_and_its_marks_do_not_touch(
    panels: int, width: float | None
) -> None:
    levels = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)
    third = with_levels(SIZE, *(float(10 * size) for size in range(1, panels + 1)))
    figure = study_figure(make(with_levels(LOSS, *levels), TRANSPORT, third), "fct_us", width=width)
    FigureCanvasAgg(figure).draw()
    drawn = [axes for axes in figure.axes if axes.containers]
    assert len(drawn) == panels
    axes = drawn[-1]
    assert axes.get_xscale() == "symlog"
    x = [axes.transData.transform((level, 0))[0] for level in levels]
    steps = np.diff(x)
    assert max(steps) < 1.35 * min(steps)
    boxes = [mark.get_window_extent() for mark in marks_of(axes)]
    assert marks_of(axes)[0].get_text() == "0"
    assert len(boxes) >= 3
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))
    # The panels of a row have nothing beside them but the room that half a mark takes.
    assert max(axes.get_window_extent().x1 for axes in drawn) > 0.93 * figure.bbox.width


def test_values_are_in_the_unit_that_suits_them() -> None:
    rate = MetricInfo("goodput_mbps", "goodput (Mbps)")
    study = make(GAP, metrics=[rate], formula=lambda at: 20_000.0 + float(at[0]))
    (axes,) = study_figure(study, "goodput_mbps").axes
    FigureCanvasAgg(axes.figure).draw()
    assert axes.get_ylabel() == "goodput (Gbps)"
    low, high = axes.get_ylim()
    ticks = [tick for tick in axes.yaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert len(ticks) >= 3
    for tick in ticks:
        assert float(tick.label1.get_text()) == pytest.approx(tick.get_loc(), rel=1e-4)
    line = axes.containers[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), [20 + level / 1000 for level in line.get_xdata()])


@pytest.mark.parametrize(("panels", "abreast"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (7, 3)])
def test_rows_of_panels_are_full_as_far_as_can_be(panels: int, abreast: int) -> None:
    assert panels_abreast(panels) == abreast


def test_the_legend_of_bars_stands_outside_of_them() -> None:
    figure = study_figure(make(TRANSPORT, with_levels(SIZE, 1.0, 2.0)), "fct_us")
    FigureCanvasAgg(figure).draw()
    (legend,) = figure.legends
    assert not legend.get_window_extent().overlaps(figure.axes[0].get_window_extent())


def test_a_bound_is_an_arrow_and_no_point_of_the_line() -> None:
    """Of a cell whose flows are unfinished only a bound is known: no line leads there, and a note says so."""
    study = make(GAP, metrics=[MetricInfo("fct_us", FCT, censored=True)])
    bound = [None, 40.0, *[None] * (study.cells.height - 2)]
    means = [
        value if other is None else None for value, other in zip(study.cells["fct_us"], bound, strict=True)
    ]
    cells = study.cells.with_columns(
        pl.Series("fct_us", means, dtype=pl.Float64), pl.Series("fct_us_more_than", bound, dtype=pl.Float64)
    )
    figure = study_figure(replace(study, cells=cells), "fct_us")
    lines = [line for container in figure.axes[0].containers for line in container.lines[:1] if line]
    (drawn,) = (line.get_ydata() for line in lines if len(line.get_ydata()) == study.cells.height)
    assert np.isnan(np.asarray(drawn)[1])
    assert any("more than that, since flows are unfinished" in text.get_text() for text in figure.texts)
