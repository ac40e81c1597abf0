"""Flows that are unfinished, runs that end when all is done, and totals over all kinds of traffic."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anabranch import Factor, Metric, Result, Scenario, ScenarioError, Study, StudyResult
from anabranch.results.censored import Times, statistic

CROWDED = """
[network]
topology = "dumbbell"
links = { capacity = "2 Mbps", delay = "10 ms" }
[[traffic]]
from = "left1"
to = "right1"
flows = 40
inter_arrival = { distribution = "exponential", mean = "100 ms" }
size = { distribution = "empirical", values = ["20 kB", "600 kB"], weights = [1, 3] }
transport = "linux-cubic"
[run]
duration = "6.4 s"
"""

STATISTICS = ("mean", "median", "min", "max", "sum", "first", "p1", "p25", "p90", "p99")


def run(text: str = CROWDED, **changes: str) -> Result:
    return Scenario.loads(text, {name.replace("__", "."): value for name, value in changes.items()}).run()


@pytest.mark.parametrize("seed", range(40))
def test_a_statistic_is_a_number_only_where_no_outcome_changes_it(seed: int) -> None:
    """Whatever becomes of the unfinished flows, the number stays, or is no less than the bound."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 12))
    times = random.exponential(size=count)
    done = random.random(count) < random.choice([0.2, 0.5, 0.95])
    answer = Times.of_columns(np.where(done, times, np.nan), np.where(done, np.nan, times))
    assert (answer.count, answer.done) == (count, done.sum())
    outcomes = [np.where(done, times, times + random.exponential(size=count) * 3) for _ in range(40)]
    outcomes += [np.where(done, times, times), np.where(done, times, 1e9)]
    for name in STATISTICS:
        estimate = answer.statistic(name)
        reached = [statistic(name, outcome.tolist()) for outcome in outcomes]
        if estimate.value is not None:
            assert estimate.more_than is None
            assert set(reached) == {estimate.value}
        else:
            assert estimate.more_than == pytest.approx(min(x for x in reached if x is not None), abs=0)
            assert len(set(reached)) > 1


def test_thirty_nine_of_forty_are_unfinished_and_it_is_said() -> None:
    result = run()
    completion = result.summary["completion"]
    assert (completion["flows"], completion["done"], completion["unfinished"]) == (40, 1, 39)
    (warning,) = result.summary["warnings"]
    assert "39 of 40 unfinished at the end of the run, and known only as more than" in warning
    # What happens to them is seen by a run that goes on, and the bounds hold there.
    whole = run(run__duration="120 s").flows
    assert whole["completion_s"].null_count() == 0
    for name, of_all in (("mean", whole["completion_s"].mean()), ("median", whole["completion_s"].median())):
        outcome = completion[f"{name}_s"]
        assert outcome["value"] is None
        assert outcome["more_than"] < of_all
    bounds = result.flows.filter(pl.col("completion_s").is_null())
    assert bounds["completion_more_than_s"].to_list() == pytest.approx([6.4 - s for s in bounds["start_s"]])
    longer = whole.filter(pl.col("flow").is_in(bounds["flow"].implode()))["completion_s"]
    assert (longer > bounds["completion_more_than_s"]).all()


def test_flows_that_cannot_complete_and_that_have_not_begun_do_not_count() -> None:
    endless = CROWDED.replace(
        "[run]",
        """[[traffic]]
name = "endless"
from = "left1"
to = "right1"
transport = "newreno"
[[traffic]]
name = "late"
from = "left1"
to = "right1"
size = "1 kB"
start = "7 s"
transport = "newreno"
[run]""",
    )
    result = run(endless)
    assert result.summary["completion"]["flows"] == 40
    assert any(
        warning.startswith(
            "late: 1 of 1 flows begins after the end of the run, 6.4 s, and nothing of them is in the results"
        )
        for warning in result.summary["warnings"]
    )
    others = result.flows.filter(~pl.col("name").str.starts_with("traffic"))
    assert others["completion_s"].null_count() == others["completion_more_than_s"].null_count() == 2


DUMBBELL = """
[network]
topology = "dumbbell"
links = { capacity = "10 Mbps", delay = "1 ms" }
"""


def late(entry: str, duration: str = "2 s") -> list[str]:
    """The warnings about flows that begin too late, of one entry beside another that is in time."""
    text = f"""{DUMBBELL}[[traffic]]
name = "in-time"
from = "left1"
to = "right1"
size = "1 kB"
[[traffic]]
name = "arriving"
from = "left1"
to = "right1"
{entry}
[run]
duration = "{duration}"
"""
    sentences = Scenario.loads(text).run().summary["warnings"]
    return [warning.partition(", and nothing")[0] for warning in sentences if "after the end" in warning]


UDP_PACKETS = '{ kind = "udp", rate = "1 Mbps", packet = "500 B" }'


@pytest.mark.parametrize(
    "what", ['size = "1 kB"', f"application = {UDP_PACKETS}", 'application = { kind = "ping" }']
)
def test_flows_that_never_begin_are_counted_though_none_is_made(what: str) -> None:
    # One a second: at 0 and 1 s, and the third one when the run is over.
    arriving = f'{what}\nflows = 30\ninter_arrival = "1 s"\n'
    assert late(arriving) == ["arriving: 28 of 30 flows begin after the end of the run, 2 s"]
    assert late(arriving + 'start = "1.5 s"') == [
        "arriving: 29 of 30 flows begin after the end of the run, 2 s"
    ]
    assert late(arriving + 'start = "2 s"') == [
        "arriving: 30 of 30 flows begin after the end of the run, 2 s"
    ]
    assert late(arriving, "30 s") == []


@pytest.mark.parametrize(
    "what", ['size = "1 kB"', f"application = {UDP_PACKETS}", 'application = { kind = "ping" }']
)
def test_a_flow_that_starts_at_the_end_sends_nothing_as_its_warning_says(what: str) -> None:
    text = f"""{DUMBBELL}[[traffic]]
name = "last"
from = "left1"
to = "right1"
start = "2 s"
{what}
[run]
duration = "2 s"
"""
    result = Scenario.loads(text).run()
    assert result.summary["warnings"][0].startswith("last: 1 of 1 flows begins after the end of the run, 2 s")
    assert result.summary["packet_hops"] == 0
    sent = [result.flows["segments_sent"], *([each["sent"]] if (each := result.tables.get("datagram_flows"))
            is not None else [])]  # fmt: skip
    assert sum(column.sum() for column in sent) == 0


def test_flows_that_nobody_asks_for_are_not_missed() -> None:
    # As many as arrive; and none begins at or after its stop: at 0, 1, 2, 3 and 4 s there are five.
    arriving = 'size = "1 kB"\ninter_arrival = "1 s"\n'
    assert late(arriving + 'flows = "unlimited"') == []
    assert late(arriving + 'flows = 30\nstop = "1.5 s"') == []
    assert late(arriving + 'flows = 30\nstop = "5 s"') == [
        "arriving: 3 of 5 flows begin after the end of the run, 2 s"
    ]


def tables(result: Result) -> dict[str, pl.DataFrame]:
    return dict(result.tables)


def test_a_run_until_done_ends_with_the_last_byte_and_is_a_run_of_that_duration() -> None:
    done = run(run__until="done", run__duration="1000 s")
    ends = (done.flows["start_s"] + done.flows["completion_s"]).max()
    assert isinstance(ends, float)
    assert done.summary["ended_s"] == pytest.approx(ends, abs=1e-9)
    assert not done.summary["interrupted"]
    assert done.summary["completion"]["unfinished"] == 0
    picoseconds = round(done.summary["ended_s"] * 1e12)
    same = run(run__duration=f"{picoseconds} ps")
    assert tables(done).keys() == tables(same).keys()
    assert all(table.equals(same.tables[name]) for name, table in done.tables.items())
    assert done.summary["delivered_mbps"] == same.summary["delivered_mbps"]


def test_a_run_until_done_in_steps_and_on_two_cores_is_the_same() -> None:
    scenario = Scenario.loads(CROWDED, {"run.until": "done", "run.duration": "1000 s"})
    whole = scenario.run()
    simulation = scenario.start()
    while simulation.now < simulation.end:
        simulation.advance("1.7 s")
    stepped = simulation.finish()
    assert not stepped.interrupted
    two = scenario.run(cores=2)
    assert any("run.until" in warning for warning in two.summary["warnings"])
    for other in (stepped, two):
        assert other.summary["ended_s"] == whole.summary["ended_s"]
        assert all(table.equals(other.tables[name]) for name, table in whole.tables.items())


def test_a_run_until_done_has_its_duration_as_the_latest_end_and_wants_flows_that_complete() -> None:
    assert run(run__until="done").summary["ended_s"] == pytest.approx(6.4)
    sized = next(line for line in CROWDED.splitlines() if line.startswith("size"))
    with pytest.raises(ScenarioError, match=r"run.until: .*there are none; give traffic a size or a stop"):
        run(CROWDED.replace(sized, 'size = "unlimited"'), run__until="done")
    # What is wrong with the traffic is told alone.
    with pytest.raises(ScenarioError, match="no node") as caught:
        run(CROWDED.replace('to = "right1"', 'to = "nowhere"'), run__until="done")
    assert "run.until" not in str(caught.value)


UDP = """
[network]
topology = "dumbbell"
parameters = { hosts = 1, bottleneck_capacity = "10 Mbps" }
links = { capacity = "100 Mbps", delay = "1 ms" }
[[traffic]]
from = "left1"
to = "right1"
application = { kind = "udp", rate = "5 Mbps", packet = "1000 B" }
[run]
duration = "2 s"
"""


def test_udp_and_pings_count_in_what_is_delivered_and_lost() -> None:
    alone = run(UDP)
    row = alone.datagram_flows.row(0, named=True)
    assert alone.summary["delivered_mbps"] == pytest.approx(row["received"] * 1000 * 8 / 2 / 1e6)
    assert alone.summary["delivered_mbps"] == pytest.approx(5, rel=0.005)
    crowded = run(UDP.replace('"5 Mbps"', '"15 Mbps"'))
    assert crowded.summary["packets_lost"] == crowded.datagram_flows["lost"].sum() > 1000
    pinged = run(
        UDP.replace(
            "[run]",
            """[[traffic]]
from = "left1"
to = "right1"
application = { kind = "ping", interval = "10 ms", packet = "1000 B" }
[run]""",
        )
    )
    assert pinged.summary["delivered_mbps"] > alone.summary["delivered_mbps"]
    both = run(
        UDP.replace(
            "[run]",
            """[[traffic]]
from = "left1"
to = "right1"
transport = "newreno"
[run]""",
        )
    )
    of_all = both.flows["delivered_bytes"].sum() + 1000 * both.datagram_flows["received"].sum()
    assert both.summary["delivered_mbps"] == pytest.approx(of_all * 8 / 2 / 1e6)
    lost = both.flows["drops_data"].sum() + both.datagram_flows["lost"].sum()
    assert both.summary["packets_lost"] == lost


def test_a_study_says_how_many_of_how_many_and_bounds_no_means(tmp_path: Path) -> None:
    (tmp_path / "crowded.toml").write_text(CROWDED)
    file = tmp_path / "study.toml"
    file.write_text("""
scenario = "crowded.toml"
replications = 3
[[factor]]
field = "network.links.capacity"
label = "capacity"
levels = ["2 Mbps", "200 Mbps"]
""")
    result = Study.load(file).run(jobs=1, out=tmp_path / "out")
    slow, fast = result.cells.to_dicts()
    assert (slow["completion_s"], slow["completion_s_ci"], slow["completion_s_flows"]) == (None, None, 120)
    assert slow["completion_s_done"] < 20
    runs = result.runs.filter(pl.col("cell") == 0)
    assert slow["completion_s_more_than"] == pytest.approx(math.fsum(runs["completion_s_more_than"]) / 3)
    assert (fast["completion_s_more_than"], fast["completion_s_done"]) == (None, 120)
    assert fast["completion_s"] == pytest.approx(
        result.runs.filter(pl.col("cell") == 1)["completion_s"].mean()
    )
    (warning,) = result.warnings
    assert warning.startswith("1 of 2 cells, most of all where capacity = 2 Mbps: completion times: ")
    assert "of 120 unfinished" in warning
    assert warning.partition(";")[0] in (tmp_path / "out" / "report.html").read_text()
    loaded = json.loads((tmp_path / "out" / "study.json").read_text())
    assert [metric["name"] for metric in loaded["metrics"] if metric["censored"]] == [
        "completion_s",
        "completion_p95_s",
    ]


LATE = """
[[traffic]]
name = "late"
from = "left1"
to = "right1"
size = "1 kB"
flows = 10
inter_arrival = "1 s"
transport = "newreno"
[run]
"""


def test_a_study_tells_of_unfinished_and_late_flows_whatever_it_measures(tmp_path: Path) -> None:
    (tmp_path / "crowded.toml").write_text(CROWDED.replace("[run]", LATE))
    file = tmp_path / "study.toml"
    file.write_text("""
scenario = "crowded.toml"
replications = 2
[[metric]]
name = "delivered_mbps"
table = "summary"
column = "delivered_mbps"
[[factor]]
field = "run.duration"
label = "time"
levels = ["6 s", "100 s"]
""")
    out = tmp_path / "out"
    result = Study.load(file).run(jobs=1, out=out)
    # Ten a second from 0 on: 4 of 10 after 6 s, in both replications.
    late, unfinished = result.warnings
    assert late.startswith(
        "1 of 2 cells, most of all where time = 6 s: 8 of 100 flows begin after the end, and "
    )
    assert unfinished.startswith("1 of 2 cells, most of all where time = 6 s: completion times: ")
    assert result.runs["asked_in_run"].to_list() == [50] * 4
    assert result.runs["late_in_run"].to_list() == [4, 4, 0, 0]
    assert StudyResult.load(out).warnings == result.warnings
    page = (out / "report.html").read_text()
    assert all(warning.partition(";")[0] in page for warning in result.warnings)


@pytest.mark.parametrize("column", ["fin_s", "handshake_s", "setup_s"])
def test_times_that_flows_have_not_come_to_bound_means(column: str) -> None:
    """Those that got there first are the fast ones: their mean alone makes overload look fast."""
    metric = Metric(name="time_s", column=column)
    factor = Factor(field="network.links.capacity", levels=["200 kbps", "200 Mbps"])
    scenario = Scenario.loads(CROWDED)
    result = Study(scenario=scenario, factors=[factor], metrics=[metric]).run(jobs=1)
    slow, fast = result.cells.to_dicts()
    flows = run(network__links__capacity="200 kbps").flows
    assert flows[column].null_count() > 0
    had = pl.Series([6.4 - start for start in flows["start_s"]])
    of_all = flows[column].fill_null(had).mean()
    assert (slow["time_s"], slow["time_s_flows"]) == (None, 40)
    assert slow["time_s_more_than"] == pytest.approx(of_all)
    assert slow["time_s_done"] == 40 - flows[column].null_count()
    assert (fast["time_s_done"], fast["time_s_more_than"]) == (40, None)
    assert slow["time_s_more_than"] > fast["time_s"]


def test_a_run_until_done_is_not_told_to_be_one() -> None:
    (until,) = run(run__until="done").summary["warnings"]
    (plain,) = run().summary["warnings"]
    assert "a longer run.duration" in until
    assert 'run.until = "done"' not in until
    assert 'run.until = "done"' in plain
