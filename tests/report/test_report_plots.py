"""Figures of runs over time: their lines are what the tables hold, and what cannot be drawn is said."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from html_runs import MULTIPATH as MULTIPATH_LINKS
from made_run import TIMES, drawn, goodput, made_run
from matplotlib.backends.backend_agg import FigureCanvasAgg

from anabranch import Result, ResultError, Scenario
from anabranch.media.palette import TOGETHER
from anabranch.report.looks import look
from anabranch.report.plots.plot import fitted, legend_columns, wrapped
from anabranch.text.units import suited

EXAMPLES = Path(__file__).parents[2] / "examples"

MULTIPATH = """
title = "two paths"
[network]
topology = "parallel"
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
queue = "30 packets"
[routing]
scheme = "disjoint"
load_balancing = "hash"
[[traffic]]
name = "m"
from = "source"
to = "sink"
transport = "mptcp"
[transport.mptcp]
path_manager = {{ algorithm = "ndiffports", subflows = {subflows} }}
[run]
duration = "3 s"
"""


@pytest.fixture(scope="module")
def failure() -> Result:
    """One long flow and many short ones over Abilene, with a failure."""
    return Scenario.load(EXAMPLES / "failure.toml", {"run.duration": "15 s"}).run()


@pytest.fixture(scope="module")
def multipath() -> Result:
    """A connection of four subflows."""
    return Scenario.loads(MULTIPATH.format(subflows=4)).run()


# --- flows


def test_few_flows_have_a_line_each_and_their_sum() -> None:
    lines = drawn(made_run().plot.goodput())
    times = list(TIMES)
    assert lines == {
        "t.0 (cubic)": (times, [goodput(0, t) for t in times]),
        "t.1 (bbr)": (times, [goodput(1, t) for t in times]),
        "all 2 flows": (times, [goodput(0, t) + goodput(1, t) for t in times]),
    }


def test_lines_of_a_real_run_are_its_table(failure: Result) -> None:
    (number,) = failure.flows.filter(pl.col("name") == "bulk.0")["flow"]
    ours = failure.flow_series.filter(pl.col("flow") == number)
    assert ours.height > 100
    for name, column, factor, label in (
        ("goodput", "goodput_mbps", 1.0, "goodput in Mbps"), ("rtt", "srtt_ms", 1.0, "smoothed RTT in ms"),
        ("cwnd", "cwnd_bytes", 1e-3, "congestion window in kB"),
    ):  # fmt: skip
        plot = getattr(failure.plot, name)(flows="bulk.0")
        (values,) = drawn(plot).values()
        rows_of_one = ours.drop_nulls(column)
        np.testing.assert_allclose(values[0], rows_of_one["time_s"])
        np.testing.assert_allclose(values[1], rows_of_one[column] * factor)
        assert plot.axes.get_ylabel() == label


def test_many_flows_are_mean_and_band_of_each_transport() -> None:
    result = made_run(["cubic"] * 11 + ["bbr"] * 9)
    plot = result.plot.goodput()
    lines = drawn(plot)
    dash = "\N{EN DASH}"
    # Flows 0 to 10 have t to t + 10, of which the mean is t + 5; flows 11 to 19 have t + 15.
    cubic, bbr = (lines[f"{n}: mean and 5{dash}95 % of {k} flows"][1] for n, k in (("cubic", 11), ("bbr", 9)))
    np.testing.assert_allclose(cubic, [t + 5 for t in TIMES])
    np.testing.assert_allclose(bbr, [t + 15 for t in TIMES])
    # Quantiles of evenly spaced numbers: 5 and 95 % of the way from the first to the last.
    bands = [band.get_paths()[0].get_extents() for band in plot.axes.collections]
    assert sorted((round(band.y0, 9), round(band.y1, 9)) for band in bands) == [(1.5, 13.5), (12.4, 22.6)]
    band, above = plot.notes
    assert (
        band
        == "Lines are means over the flows that are open, bands go from their 5th to their 95th percentile."
    )
    assert "may exceed the rate of a link" in above


def test_the_mean_of_a_real_run_is_that_of_the_open_flows(failure: Result) -> None:
    lines = drawn(failure.plot.goodput())
    (label,) = [label for label in lines if label.startswith("patient: mean")]
    patient = failure.flows.filter(pl.col("transport") == "patient")["flow"].to_list()
    rows = failure.flow_series.filter(pl.col("flow").is_in(patient))
    means: dict[float, list[float]] = {}
    for at, value in rows.select("time_s", "goodput_mbps").iter_rows():
        means.setdefault(at, []).append(value)
    seen = {x: y for x, y in zip(*lines[label], strict=True) if not np.isnan(y)}
    assert seen.keys() == means.keys()
    assert len(seen) > 30
    assert all(seen[at] == pytest.approx(sum(ours) / len(ours)) for at, ours in means.items())


def test_sums_by_transport() -> None:
    lines = drawn(made_run(["cubic"] * 3 + ["bbr"]).plot.goodput(by="sum"))
    assert lines["all cubic (3)"][1] == [3 * t + 3 for t in TIMES]
    assert lines["all bbr (1)"][1] == [t + 3 for t in TIMES]
    assert lines["all 4 flows"][1] == [4 * t + 6 for t in TIMES]


@pytest.mark.parametrize(
    ("flows", "labels"),
    [("bulk", ["bulk"]), ("web.*", ["web.0", "web.1"]), (["web.?", 0], ["bulk", "web.0", "web.1"]),
     ("a[0]*", ["a[0]*"]), (["$x^2$", "_hidden"], ["$x^2$", "_hidden"]), ("ü->é", ["ü->é"])],
)  # fmt: skip
def test_flows_are_chosen_by_name_pattern_and_number(flows: Any, labels: list[str]) -> None:
    names = ["bulk", "web.0", "web.1", "a[0]*", "a0", "$x^2$", "_hidden", "ü->é"]
    result = made_run(["cubic"] * len(names), names=names)
    lines = drawn(result.plot.rtt(flows=flows))
    assert sorted(lines) == sorted(labels)
    legend = result.plot.rtt(flows=flows).figure.legends[0]
    shown = [text.get_text().strip("\u200b").replace("\\$", "$") for text in legend.get_texts()]
    assert set(labels) <= set(shown)


def test_a_transport_has_its_look_in_every_figure() -> None:
    result = made_run(["linux-cubic", "mprc"], completion_s=[1.0, 2.0])
    for plot in (result.plot.goodput(), result.plot.rtt(by="transport"), result.plot.completion_times()):
        for line in plot.axes.get_lines():
            for name in ("linux-cubic", "mprc"):
                if name in line.get_label():
                    assert (line.get_color(), line.get_marker()) == (look(name).color, look(name).marker)
                    assert (line.get_markerfacecolor() == "white") is look(name).hollow
    colors = {line.get_label(): line.get_color() for line in result.plot.goodput().axes.get_lines()}
    assert colors["all 2 flows"] == TOGETHER.color


def test_changes_of_the_network_are_uprights() -> None:
    axes = made_run().plot.goodput().axes
    uprights = {
        line.get_label(): line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 2
    }
    assert uprights == {"link down": 2.0, "link up": 3.0}


def test_a_part_of_the_time() -> None:
    plot = made_run().plot.rtt(start_s=2, end_s=3)
    assert {tuple(x) for x, _ in drawn(plot).values()} == {(2.0, 3.0)}
    assert plot.axes.get_xlim() == (2, 3)


def test_gaps_are_gaps_and_lone_samples_are_marked() -> None:
    result = made_run(["cubic"])
    series = result.flow_series.with_columns(
        srtt_ms=pl.when(pl.col("time_s") == 3).then(None).otherwise(pl.col("srtt_ms"))
    )
    broken = Result({**result.tables, "flow_series": series}, result.summary)
    (line,) = [line for line in broken.plot.rtt(by="transport").axes.get_lines() if "t.0" in line.get_label()]
    np.testing.assert_array_equal(line.get_ydata(), [10, 10, np.nan, 10])
    assert 3 in line.get_markevery()


def test_logarithmic_values_and_values_that_are_all_zero() -> None:
    result = made_run()
    assert result.plot.cwnd(log=True).axes.get_yscale() == "log"
    series = result.flow_series.with_columns(goodput_mbps=pl.lit(0.0))
    nothing = Result({**result.tables, "flow_series": series}, result.summary)
    plot = nothing.plot.goodput(log=True)
    assert plot.axes.get_yscale() == "linear"
    assert plot.axes.get_ylim() == (0, 1)
    assert plot._repr_png_().startswith(b"\x89PNG")


def test_units_suit_the_values() -> None:
    result = made_run(["cubic"], times=(1e-3, 2e-3))
    plot = result.plot.cwnd()
    assert (plot.axes.get_xlabel(), plot.axes.get_ylabel()) == ("time in ms", "congestion window in bytes")
    # Windows are 10 kB a second.
    ((x, y),) = drawn(plot).values()
    np.testing.assert_allclose(x, [1, 2])
    np.testing.assert_allclose(y, [10, 20])
    assert suited(2e4, "Mbps") == (1e-3, "Gbps")
    assert suited(3e-5, "s") == (1e6, "us")
    assert suited(0.0, "ms") == (1.0, "ms")


def test_one_sample_is_a_point() -> None:
    (line, *_) = made_run(["cubic"], times=(1.0,)).plot.goodput().axes.get_lines()
    assert line.get_markevery() == [0]
    assert line.get_marker() not in ("", "None")


def test_ten_thousand_flows_in_five_seconds() -> None:
    result = made_run(
        [("cubic", "bbr")[flow % 2] for flow in range(10_000)],
        completion_s=np.geomspace(1e-3, 10, 10_000).tolist(),
        times=np.arange(1, 51).tolist(),
    )
    assert result.flow_series.height == 500_000
    for name in ("goodput", "rtt", "cwnd", "completion_times", "reordering"):
        begin = time.perf_counter()
        assert getattr(result.plot, name)()._repr_png_()
        assert time.perf_counter() - begin < 5, name


# --- links


def test_the_longest_queues_are_shown_and_the_others_noted() -> None:
    plot = made_run().plot.queue()
    assert drawn(plot) == {
        "c->b": (list(TIMES), [2 * t for t in TIMES]),
        "b->c": (list(TIMES), list(TIMES)),
    }
    assert plot.notes == ("2 of 3 links are shown, those with the longest queues.",)


def test_utilization_is_throughput_over_capacity() -> None:
    lines = drawn(made_run().plot.utilization(links=["a->b", "b->c"]))
    # Throughputs of 3 t and 2 t over 10 and 100 Mbps; more than all is a packet that began before.
    assert lines["a->b"][1] == pytest.approx([0.3, 0.6, 0.9, 1.0])
    assert lines["b->c"][1] == pytest.approx([0.02, 0.04, 0.06, 0.08])


def test_drops_count_from_the_start() -> None:
    lines = drawn(made_run().plot.drops())
    assert lines["c->b"][1] == [2, 4, 6, 8]
    assert lines["b->c"][1] == [1, 2, 3, 4]


def test_queues_of_a_real_run_are_its_table(failure: Result) -> None:
    (link,) = failure.links.filter(pl.col("name") == "Denver->Kansas City")["link"]
    rows_of_one = failure.link_series.filter(pl.col("link") == link)
    ((x, y),) = drawn(failure.plot.queue(links="Denver->Kansas City")).values()
    np.testing.assert_allclose(x, rows_of_one["time_s"])
    np.testing.assert_allclose(y, rows_of_one["queue_packets"])
    assert max(y) > 0


# --- subflows, sequences


@pytest.mark.parametrize(
    ("measure", "column", "factor"),
    [("throughput", "throughput_mbps", 1.0), ("cwnd", "cwnd_bytes", 1e-3), ("rtt", "srtt_ms", 1.0)],
)
def test_subflows_have_a_line_each(multipath: Result, measure: Any, column: str, factor: float) -> None:
    lines = drawn(multipath.plot.subflows("m.0", measure=measure))
    series = multipath.subflow_series.drop_nulls(column)
    for subflow in range(4):
        rows_of_one = series.filter(pl.col("subflow") == subflow)
        np.testing.assert_allclose(lines[f"subflow {subflow}"][0], rows_of_one["time_s"])
        np.testing.assert_allclose(lines[f"subflow {subflow}"][1], rows_of_one[column] * factor)
    assert ("all subflows" in lines) is (measure == "throughput")


def test_many_subflows_are_layers_by_path() -> None:
    result = Scenario.loads(MULTIPATH.format(subflows=12)).run()
    plot = result.plot.subflows()
    assert len(plot.axes.collections) == 12
    tops = [layer.get_paths()[0].get_extents().y1 for layer in plot.axes.collections]
    total = result.subflow_series.group_by("time_s").agg(pl.col("throughput_mbps").sum())
    # The last layer lies on all others.
    assert tops[-1] == pytest.approx(total["throughput_mbps"].max())
    counts = result.subflows.group_by("path").len()["len"].to_list()
    labels = [text.get_text() for text in plot.figure.legends[0].get_texts()]
    assert sorted(labels) == sorted(
        f"via {path.split(' > ')[1]} ({n})" for path, n in result.subflows.group_by("path").len().rows()
    )
    assert sum(counts) == 12
    # Of parallel links only the numbers differ.
    parallel = Scenario.loads(MULTIPATH_LINKS).run().plot.subflows().figure.legends[0].get_texts()
    assert [text.get_text().split(" (")[0] for text in parallel] == [
        "via right", "via right#2", "via right#3", "via right#4",
    ]  # fmt: skip
    band = result.plot.subflows(measure="rtt")
    assert [line.get_label() for line in band.axes.get_lines()] == [
        "mean and 5\N{EN DASH}95 % of 12 subflows"
    ]


def test_the_sequence_of_a_flow(failure: Result) -> None:
    result = Scenario.load(
        EXAMPLES / "failure.toml", {"run.duration": "1 s", "run.sequences": '["bulk.0"]'}
    ).run()
    plot = result.plot.sequence("bulk.0", end_s=0.5, width="single")
    sent = result.sequence.filter((pl.col("kind") == "data") & (pl.col("time_s") <= 0.5))
    (line,) = [line for line in plot.axes.get_lines() if line.get_label() == "data sent"]
    assert len(line.get_xdata()) == sent.height > 50
    with pytest.raises(
        ResultError,
        match=r"flow \"web.0\" was not recorded; name it in run.sequences .*Recorded are \"bulk.0",
    ):
        result.plot.sequence("web.0")
    with pytest.raises(
        ResultError, match=r"plot.sequence: .* no table sequence; name flows in run.sequences"
    ):
        failure.plot.sequence()


# --- what cannot be drawn


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda plot: plot.goodput(flows="t.00"), 'flows: no flow "t.00"; nearest: "t.0"'),
        (lambda plot: plot.rtt(flows=[7]), "flows: no flow 7; numbers go from 0 to 1"),
        (lambda plot: plot.rtt(flows=[]), "flows: an empty list shows nothing"),
        (lambda plot: plot.queue(links="a-b"), r'links: no link "a-b"; nearest: "a->b"'),
        (lambda plot: plot.rtt(by="sum"), "by: a sum says nothing of the smoothed RTT"),
        (lambda plot: plot.rtt(by="mean"), "by: no way 'mean' to draw flows"),
        (lambda plot: plot.cwnd(start_s=7), "no sample of these flows lies .* from 1 s to 4 s"),
        (lambda plot: plot.queue(end_s=0.5), "no sample of the links"),
        (lambda plot: plot.completion_times(), r"none of these flows was completed; give traffic a size"),
        (lambda plot: plot.subflows(), r"no table subflow_series; give a flow a transport of Multipath TCP"),
        (lambda plot: plot.goodput(width="triple"), r"width: no width 'triple'; choose \"single\""),
        (lambda plot: plot.goodput(width=0.5), "width: no width 0.5"),
        (lambda plot: plot.network(by="delay"), "by: no measure 'delay' of links; choose from utilization"),
        (lambda plot: plot.reordering(measure="x"), "measure: no measure 'x' of reordering"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_a_remedy(call: Any, message: str) -> None:
    with pytest.raises(ResultError, match=message):
        call(made_run().plot)


def test_a_run_without_samples_says_which_field_gives_them() -> None:
    scenario = Scenario.load(
        EXAMPLES / "dumbbell.toml",
        {"run.duration": "1 s", "run.flow_series": "false", "run.link_series": "false"},
    )
    result = scenario.run()
    with pytest.raises(ResultError, match=r"plot.goodput: .* flow_series; set run.flow_series = true"):
        result.plot.goodput()
    with pytest.raises(ResultError, match=r"plot.queue: .* link_series; set run.link_series = true"):
        result.plot.queue()
    assert "network" in result.plot.names()
    assert {"goodput", "rtt", "cwnd", "queue", "utilization"}.isdisjoint(result.plot.names())


def test_more_flows_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(ResultError, match="by: 40 flows cannot be told apart; choose at most 32"):
        made_run(["cubic"] * 40).plot.rtt(by="flow")


def test_an_interrupted_run_says_so() -> None:
    result = made_run(summary={"interrupted": True, "ended_s": 4.0})
    assert result.plot.goodput().notes == ("The run was stopped at 4 s, before its end.",)


# --- the sheet


@pytest.mark.parametrize(("width", "inches"), [("single", 3.4), ("double", 7.0), (5, 5.0)])
def test_widths_are_those_of_columns(width: Any, inches: float) -> None:
    result = made_run(completion_s=[1, 2])
    for name in ("goodput", "queue", "completion_times", "drop_causes", "network"):
        assert getattr(result.plot, name)(width=width).figure.get_figwidth() == inches


def test_titles_are_left_to_captions_unless_asked_for() -> None:
    plot = made_run().plot
    assert plot.goodput().figure.get_suptitle() == ""
    assert plot.goodput(title=True).figure.get_suptitle() == r"made \$x\$ _run"
    assert plot.goodput(title="mine").figure.get_suptitle() == "mine"


@pytest.mark.parametrize("width", ["single", "double"])
def test_nothing_is_cut_off_and_the_legend_covers_nothing(failure: Result, width: Any) -> None:
    seen = 0
    for name in failure.plot.names():
        figure = getattr(failure.plot, name)(width=width, title=True).figure
        FigureCanvasAgg(figure).draw()
        if name == "network":
            continue
        axes, whole = figure.axes[0], figure.bbox
        # With all words beside the axes.
        boxes = [axes.get_tightbbox()]
        for legend in figure.legends:
            boxes.append(legend.get_window_extent())
            assert not boxes[-1].overlaps(axes.get_window_extent()), name
            assert not boxes[-1].overlaps(axes.xaxis.label.get_window_extent()), name
        for box in boxes:
            assert min(box.x0 - whole.x0, box.y0 - whole.y0) >= -1, name
            assert min(whole.x1 - box.x1, whole.y1 - box.y1) >= -1, name
            seen += 1
    assert seen >= 12


def test_words_that_do_not_fit_are_folded_or_lose_their_middle() -> None:
    assert wrapped("one two three", 1e3, 9) == "one two three"
    assert wrapped("one two three", 30, 9) == "one\ntwo\nthree"
    long = "host-with-a-very-long-name->another-host"
    cut = fitted(long, 100, 8)
    assert cut.startswith("host")
    assert cut.endswith("host")
    assert "..." in cut
    assert legend_columns(["a", "b", "c", "d"], 500, 8) == 4
    assert legend_columns(["a" * 50, "b" * 50], 300, 8) == 1
