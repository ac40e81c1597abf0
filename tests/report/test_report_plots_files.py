"""Figures as files and in notebooks, distributions, studies, and the looks that they share with the page."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from made_run import drawn, made_run
from made_study import MadeStudy
from matplotlib.backends.backend_agg import FigureCanvasAgg

from anabranch import Result, ResultError, Scenario, Study, _core
from anabranch.media.page.charts import chart_data, distribution_data, steps_of
from anabranch.media.palette import PALETTE, look_at
from anabranch.report.looks import is_transport, look, looks
from anabranch.report.plots.every import run_figures, save_run_figures
from anabranch.report.plots.study_plots import StudyPlots
from anabranch.report.style import plain
from anabranch.report.views.distributions import completion_distribution
from anabranch.report.views.over_time import every_flow_chart, looks_of

EXAMPLES = Path(__file__).parents[2] / "examples"
QUEUES = EXAMPLES / "studies" / "queues.toml"


# --- distributions


def test_completion_times_are_the_distribution_of_those_that_are_done() -> None:
    result = made_run(["cubic"] * 5 + ["bbr"] * 2, completion_s=[4, 1, 2, 2, np.nan, 3, 3])
    lines = drawn(result.plot.completion_times())
    # Shares are of all that can complete: the curve does not reach 1.
    assert lines["cubic (4 of 5 done)"] == ([1, 1, 2, 4], [0, 0.2, 0.6, 0.8])
    assert lines["bbr (2 done)"] == ([3, 3], [0, 1])


@pytest.mark.parametrize(
    ("times", "log", "scale"),
    [([0.01, 0.5, 2], None, "log"), ([1, 2, 3], None, "linear"), ([1, 2, 3], True, "log"),
     ([0.0, 0.0], True, "linear")],
)  # fmt: skip
def test_times_over_two_decades_are_logarithmic(times: list[float], log: bool | None, scale: str) -> None:
    result = made_run(["cubic"] * len(times), completion_s=times)
    assert result.plot.completion_times(log=log).axes.get_xscale() == scale


def test_reordering_is_the_distribution_of_ratios() -> None:
    result = made_run(["cubic"] * 4, ratios=[0.0, 0.02, 0.02, 0.5])
    assert drawn(result.plot.reordering()) == {"cubic (4)": ([0, 0, 2, 50], [0, 0.25, 0.75, 1])}
    assert drawn(result.plot.reordering(measure="extent")) == {"cubic (4)": ([3, 3], [0, 1])}


def test_drops_by_cause_are_bars_of_the_links() -> None:
    plot = made_run().plot.drop_causes()
    bars = [(round(bar.get_x()), round(bar.get_width())) for bar in plot.axes.patches]
    # c->b dropped 5 at its queue and 3 at random, b->c 4 at its queue; the first has most.
    assert bars == [(0, 5), (0, 4), (5, 3), (4, 0)]
    assert [tick.get_text() for tick in plot.axes.get_yticklabels()] == ["c->b", "b->c"]


# --- notebooks and files


def test_a_plot_shows_itself_in_a_notebook_and_a_figure_alone_does_not() -> None:
    plot = made_run().plot.goodput()
    assert plot._repr_png_().startswith(b"\x89PNG")
    # Why there is a class around it.
    assert plot.figure._repr_html_() is None
    assert not hasattr(plot.figure, "_repr_png_")


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_the_same_run_gives_the_same_bytes_with_letters_of_its_own(tmp_path: Path, ending: str) -> None:
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        result = made_run(names=["$x^2$", "_ü"], completion_s=[1, 2])
        for name in ("goodput", "network", "completion_times"):
            getattr(result.plot, name)(title=True).save(file.with_stem(f"{file.stem}-{name}"))
    for name in ("goodput", "network", "completion_times"):
        first, second = ((tmp_path / f"{stem}-{name}.{ending}").read_bytes() for stem in "ab")
        assert first == second
        assert b"/Type3" not in first


def test_all_figures_that_a_run_has_are_written(tmp_path: Path) -> None:
    result = made_run(completion_s=[1, 2])
    assert result.plot.names() == [
        "goodput", "rtt", "cwnd", "queue", "utilization", "drops", "drop_causes", "completion_times",
        "reordering", "network",
    ]  # fmt: skip
    files = save_run_figures(result, tmp_path, ("svg", "png", "svg"))
    names = [file.relative_to(tmp_path / "figures").as_posix() for file in files]
    expected = [*result.plot.names(), "network-queue", "network-drops"]
    assert names == [f"{name}.{form}" for name in expected for form in ("svg", "png")]
    assert all(file.stat().st_size > 1000 for file in files)


def test_each_recorded_flow_and_each_connection_has_its_figure() -> None:
    result = Scenario.load(EXAMPLES / "semper.toml", {"run.duration": "3 s"}).run()
    names = [name for name, _ in run_figures(result)]
    assert names[-2:] == ["subflows-0-traffic-0-.0", "subflows-1-traffic-0-.1"]
    one = Scenario.load(
        EXAMPLES / "dumbbell.toml", {"run.duration": "1 s", "run.sequences": '["traffic[0].0"]'}
    ).run()
    assert [name for name, _ in run_figures(one)][-1] == "sequence"


def test_a_result_of_captures_has_no_figures_and_says_why() -> None:
    result = Result.from_columns({"subflow_series": {"throughput_mbps": np.ones(2)}}, {})
    assert result.plot.names() == []
    with pytest.raises(
        ResultError, match=r"plot\.network: this result has no table links; it is that of a run"
    ):
        result.plot.network()


# --- the command line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run."""
    scenario = Scenario.load(EXAMPLES / "dumbbell.toml", {"run.duration": "1 s", "traffic[0].flows": "2"})
    scenario.run(out=tmp_path / "run")
    return tmp_path / "run"


def report(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """``anabranch report`` with these arguments."""
    command = [sys.executable, "-m", "anabranch", "report", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own


def test_the_command_writes_figures_and_says_which(folder: Path) -> None:
    names = Result.load(folder).plot.names()
    done = report(folder, "--figures", "pdf", "--figures", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.split()
    assert said[0] == str(folder / "report.html")
    assert str(folder / "figures" / "goodput.pdf") in said
    assert sorted(map(str, (folder / "figures").iterdir())) == said[1:]
    # The folder is still a result.
    assert Result.load(folder).plot.names() == names


def test_the_command_writes_elsewhere_and_refuses_other_forms(folder: Path, tmp_path: Path) -> None:
    before = sorted(folder.rglob("*"))
    done = report(folder, "--figures", "png", "--out", tmp_path / "other")
    assert done.returncode == 0
    assert (tmp_path / "other" / "report.html").is_file()
    assert (tmp_path / "other" / "figures" / "network.png").is_file()
    assert sorted(folder.rglob("*")) == before
    wrong = report(folder, "--figures", "gif")
    assert wrong.returncode == 2
    assert wrong.stderr.strip() == "figures: no form 'gif'; choose from png, pdf, svg"


def test_a_study_has_its_figures_from_the_command_and_from_python(tmp_path: Path) -> None:
    data = Study.load(QUEUES).data(with_none=True)
    small = {"replications": 2, "scenario": str(EXAMPLES / "dumbbell.toml"), "output": {"figures": []}}
    small["factor"] = [
        {"field": "network.links.queue", "label": "queue", "levels": ["20 packets", "40 packets"]}
    ]
    study = Study.from_data(data | small)
    result = study.run(out=tmp_path / "queues")
    done = report(tmp_path / "queues", "--figures", "svg", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    names = result.plot.names()
    assert names == ["completion_s", "jain_index", "queue_mean_packets"]
    assert [Path(line).name for line in done.stdout.split()] == ["report.html", *(f"{n}.svg" for n in names)]
    (container,) = result.plot.metric("queue_mean_packets").axes.containers
    np.testing.assert_allclose(container[0].get_ydata(), result.cells["queue_mean_packets"])


@pytest.mark.parametrize("width", ["single", "double"])
def test_figures_of_a_study_have_the_width_of_a_column(blocks: MadeStudy, width: str) -> None:
    plots = StudyPlots(blocks)
    figure = plots.metric("fct_us", width=width).figure  # type: ignore[arg-type]
    assert figure.get_figwidth() == {"single": 3.4, "double": 7.0}[width]
    assert figure.get_suptitle() == ""
    FigureCanvasAgg(figure).draw()
    (legend,) = figure.legends
    for axes in figure.axes:
        for other in (axes, axes.xaxis.label):
            assert not legend.get_window_extent().overlaps(other.get_window_extent())
    assert plots.metric("fct_us", title=True).figure.get_suptitle() == "Incast at one switch"
    with pytest.raises(ResultError, match="no metric fct; it has fct_us"):
        plots.metric("fct")


# --- looks


def test_presets_share_looks_only_where_they_do_not_stand_beside_each_other() -> None:
    presets = _core.transport_preset_names()
    assert len(presets) >= 16
    assert [name for name in presets if not is_transport(name)] == [], "give it one in report/looks.py"
    entries: dict[tuple[str, str, bool], list[str]] = {}
    for name, each in zip(presets, looks(presets), strict=True):
        entries.setdefault((each.color, each.marker, each.hollow), []).append(name)
    shared = [names for names in entries.values() if len(names) > 1]
    assert sorted(shared) == [
        ["bbr3", "dctcp-fabric", "sliding-window"],
        ["dctcp", "mptcp-balia"],
        ["mprc-fabric", "sdn-paced"],
        ["mptcp-cubic", "mrc"],
        ["ns2-newreno", "mptcp-olia"],
        ["rr-tcp", "uet-reps"],
        ["tcp-ncr", "linux-mptcp"],
        ["tcp-pr", "uet"],
    ]


def test_lines_of_a_page_have_the_looks_of_print() -> None:
    presets = _core.transport_preset_names()
    result = made_run(presets, completion_s=[1.0] * len(presets))
    chart = every_flow_chart(result, 100)
    assert chart is not None
    lines = {line["label"]: line["look"] for line in chart_data(chart, steps_of(chart))["lines"]}
    completion = distribution_data(completion_distribution(result, result.flows), "")
    curves = {curve["label"]: curve["look"] for curve in completion["curves"]}
    for name in presets:
        page_look, dashed = look(name), [7, 4] if look(name).hollow else []
        for shown in (lines[f"all {name} (1)"], curves[f"{name} (1 done)"]):
            assert PALETTE[shown["color"]] == page_look.color
            assert list(shown["dash"]) == dashed


def test_transports_of_a_users_own_have_a_look_each_wherever_they_are_drawn() -> None:
    # By the letters of their names alone these two would look the same: there are 16 looks.
    first, second = _alike()
    result = made_run([first, second, "cubic"] * 2, completion_s=[1.0, 2.0, 3.0] * 2)
    figure = looks_of(result)
    print_colors = {
        line.get_label().split(" ")[0]: (line.get_color(), line.get_markerfacecolor() == "white")
        for line in result.plot.completion_times().axes.get_lines()
    }
    assert print_colors == {name: (ours.color, ours.hollow) for name, ours in figure.items()}
    page = {
        curve["label"].split(" ")[0]: PALETTE[curve["look"]["color"]]
        for curve in distribution_data(completion_distribution(result, result.flows), "")["curves"]
    }
    assert page == {name: ours.color for name, ours in figure.items()}
    assert len(set(print_colors.values())) == 3


def test_places_have_48_looks_that_differ() -> None:
    assert len({look_at(number) for number in range(48)}) == 48


def _alike() -> tuple[str, str]:
    """Two names that get one look, each for itself."""
    seen: dict[object, str] = {}
    for number in range(17):
        name = f"mine{number}"
        if (other := seen.setdefault(look(name), name)) != name:
            return other, name
    raise AssertionError("17 names cannot have 16 looks")


def test_letters_without_a_shape_are_drawn_as_such_and_without_a_warning(tmp_path: Path) -> None:
    assert (
        plain("node \N{ROCKET} \N{LATIN SMALL LETTER E WITH ACUTE} <b>")
        == "node \N{REPLACEMENT CHARACTER} \u00e9 <b>"
    )
    plot = made_run(names=["\N{ROCKET}", "b"]).plot.goodput()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot.save(tmp_path / "goodput.pdf")


def test_examples_in_the_manual_name_methods_that_exist() -> None:
    text = (EXAMPLES.parent / "docs" / "figures.md").read_text(encoding="utf-8")
    called = set(re.findall(r"\w\.plot\.(\w+)\(", text)) - {"metric"}
    plots = type(made_run().plot)
    assert called >= set(made_run(completion_s=[1, 2]).plot.names())
    assert [name for name in called if not hasattr(plots, name)] == []
