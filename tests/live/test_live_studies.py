"""Studies whose runs are live: one at a time, gone on with after a stop, and marked."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from live_scenarios import paths

from anabranch import Factor, Metric, Study, StudyResult, live
from anabranch.errors import LiveError, StudyError
from anabranch.plans.routes import plan
from anabranch.setup import resolve
from anabranch.study import live_runs


def study(**given: Any) -> Study:
    """A flow of 200 kB over two rates."""
    traffic = [{"transport": "linux-cubic", "size": "200 kB"}]
    scenario = paths("10 Mbps", [5], traffic, run={"duration": "1 s"})
    metrics = [
        Metric(name="delivered_bytes", column="delivered_bytes"),
        Metric(name="real", column="delivered_bytes", statistic="count", where={"hosts": "kernel"}),
    ]
    factor = Factor(field="network.parameters.paths[0].capacity", label="rate", levels=["10 Mbps", "20 Mbps"])
    return Study.model_validate({"scenario": scenario, "factors": [factor], "metrics": metrics, **given})


@pytest.mark.usefixtures("can_run")
def test_a_study_runs_live_beside_its_simulation_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    result = study(keep="tables").run(live=True, against_simulation=True, out=tmp_path / "out")
    assert result.live
    assert [factor.name for factor in result.factors] == ["rate_mbps", "hosts"]
    if (result.runs["status"] != "ok").any():
        pytest.skip(f"by chance: the machine is too busy: {result.runs['reason'].drop_nulls()[0]}")
    assert result.runs["hosts"].to_list() == ["live", "simulated"] * 2
    assert result.runs["delivered_bytes"].to_list() == [200_000.0] * 4
    assert result.runs["real"].to_list() == [1, 0, 1, 0]
    checks = result.query("select run, tries, lateness_p99_us, kernel from live order by run")
    assert checks["run"].to_list() == [0, 2]
    assert checks["lateness_p99_us"].max() <= 1000  # type: ignore[operator]
    hosts = result.query("select run, hosts from flows order by run")["hosts"].to_list()
    assert hosts == ["kernel", "simulated"] * 2

    # The page says so, in one chart.
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "2 live, 0 failed" in page
    journal = tmp_path / "out" / "journal.jsonl"
    assert len(journal.read_text().splitlines()) == 4
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if json.loads(line)["run"] != 2))
    again = study(keep="tables").run(live=True, against_simulation=True, out=tmp_path / "out")
    assert sorted(json.loads(line)["run"] for line in journal.read_text().splitlines()) == [0, 1, 2, 3]
    assert again.runs.height == 4
    assert StudyResult.load(tmp_path / "out").live
    with pytest.raises(StudyError, match=r"holds another study, with .*live runs"):
        study(keep="tables", metrics=study().metrics[:1]).run(out=tmp_path / "out")


@pytest.mark.usefixtures("can_run")
def test_a_run_that_is_never_valid_fails_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Late(live.Live):
        def __init__(self) -> None:
            super().__init__(latest_us=0.001)
            made.append(self)

    monkeypatch.setattr("anabranch.live.Live", Late)
    scenario = paths(
        "10 Mbps", [5], [{"transport": "linux-cubic", "size": "20 kB"}], run={"duration": "0.2 s"}
    )
    setup = resolve(scenario)
    with pytest.raises(LiveError, match="none of 3 live runs is valid; of the last one 1 % of the packets"):
        live_runs.run_live(scenario, setup, plan(setup, None))
    assert len(made) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"live": True, "jobs": 2}, "jobs: live runs are made one at a time"),
        ({"live": True, "dask": "tcp://here:1"}, "dask: live runs are made on this machine"),
        ({"against_simulation": True}, "against: compares live runs with simulated ones; give live"),
    ],
)
def test_ways_that_are_none_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        study(metrics=[]).run(**given)


def test_a_level_that_the_kernel_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("anabranch.live.run"), "check_machine", lambda *_, **__: None)
    factor = Factor(field="traffic[0].transport", levels=["linux-cubic", "mptcp"])
    with pytest.raises(StudyError, match=r"factor\[0\]\.levels\[1\]: .*couples the subflows"):
        study(factors=[factor], metrics=[]).run(live=True)
