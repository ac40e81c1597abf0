"""An evaluation by RFC 9743: its measures by hand, its verdicts, its scenarios, a control that crashes."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch.errors import ScenarioError
from anabranch.study.evaluation import Extent, Performance, Row, control_of, evaluate
from anabranch.study.evaluation import measures as m
from anabranch.study.evaluation.cases import NOT_RUN, Case, cases
from anabranch.study.evaluation.control import MULTIPATH, OWN, tcp_presets
from anabranch.study.evaluation.evaluate import _lack
from anabranch.study.evaluation.view import MARKDOWN, write

CRASHING = """
from anabranch.own import CongestionControl

class Crash(CongestionControl):
    def on_ack(self, ack):
        self.cwnd_bytes += ack.delivered_bytes
    def on_loss(self, episode):
        raise ZeroDivisionError("no such loss")
"""


def flow_tables(rates_mbps: dict[str, list[float | None]], **columns: list[Any]) -> dict[str, pl.DataFrame]:
    """Tables of flows whose goodput was sampled each 0.5 s; None: the flow was not there."""
    names = list(rates_mbps)
    flows = pl.DataFrame({"flow": range(len(names)), "name": names, **columns})
    rows = [
        {"time_s": (place + 1) * 0.5, "flow": flow, "goodput_mbps": rate}
        for flow, rates in enumerate(rates_mbps.values())
        for place, rate in enumerate(rates)
        if rate is not None
    ]
    return {"flows": flows, "flow_series": pl.DataFrame(rows)}


def link_tables(name: str, **columns: list[float]) -> dict[str, pl.DataFrame]:
    """Tables of two links of which the second one is sampled each 0.5 s; the first one is full of nines."""
    count = len(next(iter(columns.values())))
    times = [(place + 1) * 0.5 for place in range(count)]
    other = {"time_s": times, "link": [0] * count, **{key: [9e9] * count for key in columns}}
    one = {"time_s": times, "link": [1] * count, **columns}
    links = pl.DataFrame({"link": [0, 1], "name": ["elsewhere", name]})
    return {"links": links, "link_series": pl.concat([pl.DataFrame(other), pl.DataFrame(one)])}


def test_goodput_is_of_the_group_and_the_window() -> None:
    tables = flow_tables({"own.0": [9, 4, 6], "own.1": [9, 2, None], "owner.0": [9, 9, 9]})
    # (4 + 6) / 2 + 2 / 2 = 6 of 20 Mbps.
    assert m.goodput("", OWN, (0.5, 1.5), 20).of(tables) == pytest.approx(30)


def test_fairness_is_jains_index_and_none_without_any_goodput() -> None:
    # Jain, Chiu and Hawe 1984: (3 + 1)^2 / (2 (9 + 1)).
    assert m.fairness(OWN, (0, 1)).of(flow_tables({"own.0": [3, 3], "own.1": [1, 1]})) == pytest.approx(0.8)
    assert m.fairness(OWN, (0, 1)).of(flow_tables({"own.0": [0, 0]})) is None


def test_queueing_delay_is_what_waits_over_the_capacity() -> None:
    tables = link_tables(m.BOTTLENECK, queue_bytes=[1e6, 12_500, 25_000])
    # 12,500 bytes at 10 Mbps are 10 ms; the first sample is outside of the window.
    assert m.queue((0.5, 1.5), 10).of(tables) == pytest.approx(15)
    assert m.queue((0.5, 1.5), 10, 50).of(tables) == pytest.approx(15)
    assert m.queue((0.5, 1.5), 10, 100).of(tables) == pytest.approx(20)


def test_lost_segments_are_of_those_sent() -> None:
    counts = {"segments_sent": [90, 10, 7], "drops_data": [4, 1, 7], "spurious_retransmissions": [0, 2, 7]}
    tables = flow_tables({"own.0": [1], "own.1": [1], "other.0": [1]}, **counts)
    assert m.lost("", OWN).of(tables) == pytest.approx(5)
    assert m.spurious(OWN).of(tables) == pytest.approx(2)
    assert m.lost("", "nobody").of(tables) is None


def test_completion_is_open_while_a_transfer_is() -> None:
    rates: dict[str, list[float | None]] = {"t.0": [1], "t.1": [1], "t.2": [1], "own.0": [1]}
    # The last transfer begins when the run is over, and the long flow cannot complete.
    done: dict[str, list[Any]] = {
        "completion_s": [0.2, 0.4, None, None],
        "completion_more_than_s": [None] * 4,
    }
    assert m.completion("", "t", "mean").of(flow_tables(rates, **done)) == pytest.approx(300)
    assert m.completion("", "t", "max").of(flow_tables(rates, **done)) == pytest.approx(400)
    unfinished = {**done, "completion_more_than_s": [None, None, 3.0, None]}
    assert m.completion("", "t", "mean").of(flow_tables(rates, **unfinished)) is None


def test_packets_without_feedback_are_counted_on_the_senders_link() -> None:
    tables = link_tables("left1->router-left", throughput_mbps=[9.0, 0.024, 0.0, 0.048])
    # 0.072 Mbps over half a second are 36,000 bits: three packets of 1500 bytes.
    assert m.sent_without_feedback((0.5, 2)).of(tables) == pytest.approx(3)


def test_it_is_back_when_a_whole_second_has_its_level() -> None:
    # The level before is 10; from 1 s on it has 0, 9, 0, 8, 8: the second from 2.5 s on has 8.
    tables = flow_tables({"own.0": [10, 10, 0, 9, 0, 8, 8]})
    assert m.back(OWN, (0, 1), 1).of(tables) == pytest.approx(1.5)
    assert m.back(OWN, (0, 1), 1).of(flow_tables({"own.0": [10, 10, 0, 9, 0, 8, 7]})) is None
    assert m.back(OWN, (0, 1), 1).of(flow_tables({"own.0": [10, 10, 9, 9]})) == 0


def test_oscillation_is_the_coefficient_of_variation_of_whole_seconds() -> None:
    # Halves of a second do not count: both seconds have 12 and 8 in sum, 20 before the window.
    tables = flow_tables({"own.0": [20, 20, 2, 10, 8, 0]})
    # Mean 10, deviations 2 and -2: sqrt(8) / 10.
    assert m.oscillation(OWN, (1, 3)).of(tables) == pytest.approx(8**0.5 / 10)


def row(ours: list[float | None], cubic: list[float | None], better: str, digits: int = 1) -> Row:
    measure = m.RunMeasure("", "", better, lambda _: None, digits=digits)  # type: ignore[arg-type]
    return Row(cases()[0], measure, Performance(tuple(ours)), Performance(tuple(cubic)))


def test_verdicts_follow_paired_differences() -> None:
    # The values overlap, the differences do not: 1, 1.1 and 0.9 beside t(0.975, 2) 0.1 / sqrt(3) = 0.25.
    apart: tuple[list[float | None], list[float | None]] = ([11, 21.1, 30.9], [10, 20, 30])
    assert row(*apart, "more").verdict == "better"
    assert row(*apart, "less").verdict == "worse"
    assert row(*apart, "").verdict == "higher"
    assert row([9, 21, 30], [10, 20, 30], "more").verdict == "alike"
    # Two runs that differ tell nothing; where all differ by the same, no interval is needed.
    assert row([11, 22], [10, 20], "more").verdict == "unknown"
    assert row([11, 21], [10, 20], "more").verdict == "better"


def test_what_is_printed_the_same_is_alike() -> None:
    assert row([95.21, 95.22, 95.21], [95.20, 95.20, 95.19], "more").verdict == "alike"
    assert row([95.21, 95.22, 95.21], [95.20, 95.20, 95.19], "more", digits=3).verdict == "better"


def test_without_a_value_there_is_no_verdict() -> None:
    open_row = row([1, None, 3], [1, 2, 3], "more")
    assert (open_row.control.mean, open_row.control.ran, open_row.verdict) == (None, True, "unknown")
    without = Row(cases()[0], open_row.measure, Performance((), "it crashed"), Performance((1.0, 2.0, 3.0)))
    assert (without.control.mean, without.control.ran, without.verdict) == (None, False, "unknown")


def test_scenarios_cover_the_sections_that_can_be_simulated() -> None:
    sections = {part for case in cases() for part in case.section.split(", ")}
    evaluated = (
        "5.1.1 5.1.2 5.1.3 5.1.4 5.1.5 5.2.1 5.2.2 5.2.3 6.1 6.3 6.4 7.1 7.3 7.4 7.5 7.7 7.8 7.9 7.10 7.11"
    )
    assert set(evaluated.split()) <= sections
    # Every other section that asks for something is listed with its reason.
    assert {section for section, _ in NOT_RUN} == {"5.3.1", "5.3.2", "6.2", "7.1", "7.2", "7.6"}
    keys = [case.key for case in cases()]
    assert len(keys) == len(set(keys)) == 39


@pytest.mark.parametrize("preset", tcp_presets())
def test_every_preset_can_run_alone_and_beside_others(preset: str) -> None:
    control = control_of(preset)
    lacks = {case.key: reason for case in cases() if (reason := _lack(case, control)) is not None}
    # A preset without SACK or of its own losses may be refused where marks or several paths are.
    assert set(lacks) <= {case.key for case in cases() if case.transports[0] != OWN}


def test_cubic_in_the_place_of_cubic_is_the_same_run(tmp_path: Path) -> None:
    outcome = evaluate(
        control_of("cubic"),
        tmp_path,
        Extent(
            (
                "5.1.2",
                "7.10",
            ),
            1,
        ),
        jobs=1,
    )
    assert len(outcome.rows) == 6
    assert all(each.control == each.cubic and each.verdict == "alike" for each in outcome.rows)
    values = {each.measure.name: each.control.mean for each in outcome.rows if each.case.key == "bufferbloat"}
    # A full queue of ten bandwidth-delay products is 400 ms; payload is 1448 of 1500 bytes.
    assert 280 < (values["queueing delay, mean (ms)"] or 0) < 400
    assert values["goodput of the capacity (%)"] == pytest.approx(100 * 1448 / 1500, abs=0.1)


def test_runs_that_are_done_are_not_repeated(tmp_path: Path) -> None:
    first = evaluate(control_of("newreno"), tmp_path, Extent(("7.7",), 2), jobs=1)
    (journal,) = tmp_path.glob("study/*/journal.jsonl")
    before = journal.read_bytes()
    again = evaluate(control_of("newreno"), tmp_path, Extent(("7.7",), 2), jobs=1)
    assert journal.read_bytes() == before
    assert [each.control for each in again.rows] == [each.control for each in first.rows]
    # Replications draw anew.
    assert len({each for row in again.rows[:1] for each in row.control.values}) == 2


def test_the_row_of_a_crash_says_so_and_the_others_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("crash.py").write_text(CRASHING)
    control = control_of("crash:Crash", trust=True)
    outcome = evaluate(
        control,
        tmp_path / "out",
        Extent(
            (
                "5.1.2",
                "7.1",
            ),
            1,
        ),
        jobs=1,
    )
    crashed = [each for each in outcome.rows if each.control.reason is not None]
    assert outcome.failed == crashed
    assert all("ZeroDivisionError: no such loss" in (each.control.reason or "") for each in crashed)
    assert all("\n" not in (each.control.reason or "") for each in crashed)
    assert all(each.cubic.mean is not None for each in outcome.rows)
    # Where marks are the only signal nothing is lost but by the first overshoot; a crash is no CUBIC's.
    assert {each.case.key for each in crashed} >= {"bufferbloat", "codel"}
    (tmp_path / "report").mkdir()
    write(outcome, tmp_path / "report")
    text = (tmp_path / "report" / MARKDOWN).read_text()
    assert "(1) Crash.on_loss" in text
    assert "| 5.1.2 |" in text
    rows = json.loads((tmp_path / "report" / "evaluation.json").read_text())["rows"]
    assert [each["rfc9743"] for each in rows].count("5.1.2") == 3
    assert all(each["value"] is None and each["verdict"] == "unknown" for each in rows if each["reason"])
    assert "Crash.on_loss" in (tmp_path / "report" / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cubci",), 'CONTROL: "cubci" is not known; nearest: "cubic"'),
        (("uet",), 'CONTROL: "uet" is no TCP'),
        (("nowhere.py:X",), '"nowhere.py" cannot be read'),
        (("cubic", "newreno"), '--preset: is for a class in Python; "cubic" is a preset itself'),
        (("x:Y", "newrneo"), '--preset: "newrneo" is not known; nearest: "newreno"'),
        (("cubic", None, ["beta"]), "--set: 'beta' is not FIELD=VALUE"),
        (("cubic", None, ["beta=0.5"]), "is a parameter of cubic"),
        (("cubic", None, ["congestion_control.beta=7"]), "beta"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        evaluate(control_of(*arguments), tmp_path, Extent(("7.7",), 1), jobs=1)
    assert message in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_section_without_a_scenario_is_told_with_those_that_have_one(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r'section "9" of RFC 9743; there are 5\.1\.1'):
        evaluate(control_of("cubic"), tmp_path, Extent(("9",)))


def test_settings_change_the_control_also_on_several_paths() -> None:
    control = control_of("linux-bbr", settings=["congestion_control.long_term=false"])
    several = control.tables([OWN, MULTIPATH])
    # The burst of the preset, 2^-10 s, stays.
    expected = {"algorithm": "bbr", "burst": "976562.5 ns", "long_term": False, "delivery_rate": "draft"}
    assert several[MULTIPATH] == {"preset": "linux-mptcp", "congestion_control": expected}
    assert several[OWN]["congestion_control"] == expected
    assert control.cubic().transport == {"preset": "linux-cubic"}
    assert control_of("mptcp-olia").tables([MULTIPATH]) == {MULTIPATH: {"preset": "mptcp-olia"}}


def test_what_a_case_measures_is_in_its_traffic() -> None:
    for case in cases():
        assert isinstance(case, Case)
        assert case.measures, case.key
        assert {"network", "traffic", "run"} <= case.scenario.keys()
