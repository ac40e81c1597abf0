"""Congestion controls in Python: the same numbers as the built-in one, both speeds, and results that stay."""

import textwrap
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from own_runs import DUMBBELL, SIMPLE, scenario

from anabranch import Result, Scenario

OWN = Path(__file__).parents[2] / "examples" / "own"
NEWRENO = '{ python = "newreno:NewReno" }'

LOSSY = DUMBBELL.replace('queue = "30 packets"', 'queue = "30 packets"\nloss = 0.02')
MARKED = DUMBBELL.replace(
    'queue = "30 packets"', 'queue = { algorithm = "red", limit = "60 packets", ecn = true }'
)
CASES = {
    "full queues": (DUMBBELL, {}),
    "random loss and undo": (LOSSY, {"undo": "true", "loss_detection": '"rack"'}),
    "marks": (MARKED, {"ecn": "true"}),
    "messages with pauses": (
        DUMBBELL.replace(
            'transport = "mine"',
            'transport = "mine"\napplication = { kind = "messages", message = "60 kB", gap = "900 ms" }',
        ),
        {},
    ),
    "bursts that are spaced": (DUMBBELL, {"pacing": '"window"'}),
}


@pytest.mark.parametrize("case", CASES)
def test_newreno_in_python_has_the_tables_of_the_built_in_one(case: str) -> None:
    text, transport = CASES[case]
    text += 'log = "*"\n'
    scenario_read = scenario(NEWRENO, OWN, text, **transport).run()
    built_in = scenario('"newreno"', OWN, text, **transport).run()
    assert scenario_read.tables.keys() == built_in.tables.keys()
    for name, table in built_in.tables.items():
        assert scenario_read.tables[name].equals(table), name
    assert scenario_read.flows["retransmissions"].sum() > 0 or "pauses" in case or case == "marks"


def test_a_stepped_run_is_the_same_run() -> None:
    made = scenario(NEWRENO, OWN)
    stepped = made.start()
    while stepped.now < stepped.end:
        stepped.advance("333 ms")
    assert stepped.finish().flows.equals(made.run().flows)


def test_parameters_reach_the_class(module: Callable[[str], Path]) -> None:
    base = module(SIMPLE)
    slow, fast = (scenario(f'{{ python = "mine:Simple", gain = {gain} }}', base).run() for gain in (0.01, 1))
    assert slow.flows["retransmissions"].sum() < fast.flows["retransmissions"].sum()


def test_reports_come_once_in_an_interval_and_add_up(module: Callable[[str], Path], tmp_path: Path) -> None:
    base = module(f"""
        from dataclasses import dataclass
        from anabranch.own import CongestionControl

        @dataclass
        class Reported(CongestionControl):
            report_interval_s: float | None = None

            def on_report(self, report):
                assert report.interval_s > 0
                with open({str(tmp_path / "log")!r}, "a") as log:
                    print(id(self), report.now_s, report.delivered_bytes, report.srtt_s, file=log)
                self.cwnd_bytes = 20 * self.mss_bytes

            def on_loss(self, episode):
                self.reduce(episode)
    """)
    result = scenario('{ python = "mine:Reported", report_interval_s = 0.1 }', base).run()
    rows = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    for flow in {row[0] for row in rows}:
        times = [float(row[1]) for row in rows if row[0] == flow]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert all(0.1 <= gap < 0.15 for gap in gaps)
        assert 30 < len(times) <= 50
    delivered = sum(int(row[2]) for row in rows)
    goodput = result.flows["goodput_mbps"].sum() * 1e6 / 8 * 5
    assert delivered == pytest.approx(goodput, rel=0.05)


def test_the_window_is_what_the_class_says(module: Callable[[str], Path]) -> None:
    base = module("""
        from anabranch.own import CongestionControl

        class Fixed(CongestionControl):
            def start(self):
                self.cwnd_bytes = 4 * self.mss_bytes

            def on_ack(self, ack):
                pass

            def on_loss(self, episode):
                pass
    """)
    flows = scenario('{ python = "mine:Fixed" }', base).run().flows
    # Four segments of 1448 B in 20.4 ms and what serialisation adds: below the share of the link.
    rtt_s = flows["rtt_mean_ms"] / 1e3
    expected = 4 * 1448 * 8 / rtt_s / 1e6
    assert (flows["goodput_mbps"] / expected).to_list() == pytest.approx([1, 1], rel=0.02)


def test_a_pacing_rate_is_kept(module: Callable[[str], Path]) -> None:
    base = module("""
        from dataclasses import dataclass
        from anabranch.own import CongestionControl

        @dataclass
        class Paced(CongestionControl):
            mbps: float

            def start(self):
                self.cwnd_bytes = 1_000_000
                self.pacing_bps = self.mbps * 1e6

            def on_report(self, report):
                pass

            def on_loss(self, episode):
                pass
    """)
    flows = scenario('{ python = "mine:Paced", mbps = 2 }', base).run().flows
    assert flows["goodput_mbps"].to_list() == pytest.approx([2, 2], rel=0.01)


def test_an_edited_module_is_read_again(module: Callable[[str], Path]) -> None:
    base = module(SIMPLE)
    before = scenario('{ python = "mine:Simple" }', base).run()
    module(SIMPLE.replace("self.reduce(episode)", "self.reduce(episode, 0.9)"))
    after = scenario('{ python = "mine:Simple" }', base).run()
    assert not after.flows.equals(before.flows)


def test_a_kept_result_runs_again_without_the_module(module: Callable[[str], Path], tmp_path: Path) -> None:
    base = module(SIMPLE)
    result = scenario('{ python = "mine:Simple", gain = 0.5 }', base).run(out=tmp_path / "kept", page=False)
    (base / "mine.py").unlink()
    kept = Scenario.load(tmp_path / "kept" / "scenario.toml")
    assert kept.data()["transport"]["mine"]["congestion_control"] == {
        "python": "code/mine.py:Simple",
        "gain": 0.5,
    }
    assert kept.run().flows.equals(result.flows)
    assert Result.load(tmp_path / "kept").flows.equals(result.flows)


def test_a_class_of_an_installed_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    scenario_read = scenario('{ python = "packages.installed:Still" }', Path("/")).run()
    assert scenario_read.flows["goodput_mbps"].min() > 0
    assert isinstance(scenario_read.flows, pl.DataFrame)


def test_random_numbers_follow_the_seed(module: Callable[[str], Path]) -> None:
    base = module(
        SIMPLE.replace("ack.delivered_bytes", "ack.delivered_bytes * self.random.uniform(0.5, 1.5)")
    )
    first, again = (scenario('{ python = "mine:Simple" }', base).run() for _ in range(2))
    other = scenario('{ python = "mine:Simple" }', base, DUMBBELL + "seed = 2\n").run()
    assert first.flows.equals(again.flows)
    assert not first.flows.equals(other.flows)


STUDY = """
scenario = "s.toml"
replications = 2
[[factor]]
field = "transport.mine.congestion_control.gain"
levels = [0.1, 1.0]
[[metric]]
name = "goodput"
table = "flows"
column = "goodput_mbps"
statistic = "mean"
"""


def test_a_study_has_the_same_numbers_in_workers_and_alone(
    module: Callable[[str], Path], tmp_path: Path
) -> None:
    from anabranch import Study  # noqa: PLC0415

    base = module(SIMPLE)
    (base / "s.toml").write_text(
        DUMBBELL
        + textwrap.dedent("""
        [transport.mine]
        preset = "newreno"
        congestion_control = { python = "mine:Simple", gain = 1.0 }
    """)
    )
    (base / "study.toml").write_text(STUDY)
    study = Study.load(base / "study.toml")
    many = study.run(2, out=tmp_path / "many")
    (base / "mine.py").rename(base / "gone.py")
    again = Study.load(tmp_path / "many" / "study.toml").run(1, out=tmp_path / "one")
    assert many.runs["status"].to_list() == ["ok"] * 4
    assert again.runs.equals(many.runs)


def test_the_page_shows_the_example_as_it_is() -> None:
    page = (OWN.parents[1] / "docs" / "own.md").read_text(encoding="utf-8")
    example = (OWN / "gentle.py").read_text(encoding="utf-8").split("\n\n", 1)[1]
    assert f"```python\n{example}```" in page
    flows = scenario('{ python = "gentle:Gentle", beta = 0.8 }', OWN).run().flows
    assert flows["goodput_mbps"].sum() > 9


def test_ten_flows_for_thirty_seconds_take_less_than_two(tmp_path: Path) -> None:
    text = (OWN.parent / "dumbbell.toml").read_text(encoding="utf-8").replace('"cubic"', '"mine"')
    text += f'[transport.mine]\npreset = "newreno"\ncongestion_control = {NEWRENO}\n'
    made = Scenario.loads(text, {"run.duration": "30 s"}, base=OWN)
    begin = time.process_time()
    result = made.run(out=tmp_path / "run", page=False)
    assert time.process_time() - begin < 2
    assert result.flows.height == 10
